//! The values of every kind of tensor: plain elements, codes, and blocks of GGUF.

use std::{io::Read, ops::Range};

use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, gguf,
    half::{bf16, f16},
};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::{Checkpoint, Content, little},
    decode::{Decoding, Sink},
    error::{At, invalid, not_finite, request, unsupported},
    source::{Elements, Stored},
};

/// Elements of a plain tensor that are cast at once. The blocks of all formats divide it.
const PART: usize = 1 << 18;

/// The plan of a cast of little-endian elements.
fn plan(from: DType, to: DType) -> Result<CastPlan> {
    Ok(CastPlan::new(little(from), little(to), &CastOptions::RUST)?)
}

/// Elements that fill whole bytes, whatever their dtype is.
pub(crate) const BYTES: usize = 8;

impl Checkpoint {
    /// The elements of a tensor.
    pub(crate) fn elements(&self, content: &Content) -> usize {
        match content {
            Content::Plain(id) | Content::Blocks(id, _) => self.source.tensors[*id].len(),
            Content::Coded(coding) => coding.elements,
        }
    }

    /// Elements of the smallest part of a tensor that can be decoded alone.
    pub(crate) fn unit(&self, content: &Content) -> usize {
        match content {
            Content::Plain(_) => BYTES,
            Content::Blocks(id, _) => match self.source.tensors[*id].elements {
                Elements::Blocks(format) => format.block_elements(),
                _ => BYTES,
            },
            Content::Coded(coding) => coding.unit(),
        }
    }

    /// Bytes of the smallest part of a tensor in elements of `to` that can be decoded alone.
    pub(crate) fn part(&self, content: &Content, to: DType) -> u64 {
        little(to).byte_len(self.unit(content)).map_or(u64::MAX, |bytes| bytes as u64)
    }

    /// Decodes a range of the bytes of a tensor in elements of `to`. It begins at a multiple of the [`part`](Self::part), and ends at one or
    /// with the tensor.
    pub(crate) fn decode_bytes(
        &self,
        content: &Content,
        to: DType,
        range: Range<u64>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let element = |byte: u64| usize::try_from(byte * 8 / u64::from(to.bits())).unwrap_or(usize::MAX);
        let end = element(range.end).min(self.elements(content));
        self.decode_range(content, to, false, element(range.start)..end, sink)
    }

    /// Decodes a tensor to little-endian elements, by the plain decoder only if `plainly` is set.
    pub(crate) fn decode_content(
        &self,
        content: &Content,
        to: DType,
        plainly: bool,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.decode_range(content, to, plainly, 0..self.elements(content), sink)
    }

    /// Decodes elements of a tensor, in C order. The first is a multiple of the [`unit`](Self::unit), and so is the end unless it is that of
    /// the tensor.
    pub(crate) fn decode_range(
        &self,
        content: &Content,
        to: DType,
        plainly: bool,
        range: Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let source = &self.source;
        match content {
            Content::Plain(id) => self.cast_plain(&source.tensors[*id], to, range, sink),
            Content::Coded(coding) => {
                if !matches!(to, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
                    let what = format!("codes decode to float16, bfloat16, float32 or float64, not to {to}");
                    return Err(request(what).tensor(source, &source.tensors[coding.codes]));
                }
                Decoding { source, coding, allow_nan: self.allow_nan, to, plainly }.run(range, sink)
            }
            Content::Blocks(id, scale) => {
                let tensor = &source.tensors[*id];
                match (to, scale) {
                    (_, Some(scale)) => self.scaled_blocks(tensor, &source.tensors[*scale], to, range, sink),
                    (DType::Float32, None) => self.blocks(tensor, range, sink, |x: &f32| x.to_le_bytes()),
                    (DType::Float16, None) => self.blocks(tensor, range, sink, |x: &f16| x.to_le_bytes()),
                    (DType::BFloat16, None) => self.blocks(tensor, range, sink, |x: &bf16| x.to_le_bytes()),
                    _ => Err(request(format!("blocks decode to float16, bfloat16 or float32, not to {to}"))
                        .tensor(source, tensor)),
                }
            }
        }
    }

    fn cast_plain(&self, tensor: &Stored, to: DType, range: Range<usize>, sink: &mut Sink<'_>) -> Result<()> {
        let from = tensor.dtype().unwrap_or(to);
        let place = |e: Error| e.tensor(&self.source, tensor);
        let cast = plan(from, to).map_err(place)?;
        let len = |n| little(from).byte_len(n).unwrap_or(0);
        let mut file = self.source.reader(tensor, len(range.start))?;
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        for first in range.clone().step_by(PART) {
            let count = PART.min(range.end - first);
            bytes.resize(len(count), 0);
            file.read_exact(&mut bytes).map_err(|e| place(Error::reading(&e)))?;
            if from == to {
                sink(&bytes)?;
                continue;
            }
            out.resize(little(to).byte_len(count).unwrap_or(0), 0);
            cast.run(Bytes::new(&bytes, count), BytesMut::new(&mut out, count))?;
            sink(&out)?;
        }
        Ok(())
    }

    /// Decodes blocks to `T`, whose bytes `bytes` returns.
    fn blocks<T: gguf::Float + Default + PartialOrd, const N: usize>(
        &self,
        tensor: &Stored,
        range: Range<usize>,
        sink: &mut Sink<'_>,
        bytes: impl Fn(&T) -> [u8; N],
    ) -> Result<()> {
        let Elements::Blocks(format) = tensor.elements else { return Ok(()) };
        let mut file = self.source.reader(tensor, format.byte_len(range.start).unwrap_or(0))?;
        let mut blocks = Vec::new();
        for first in range.clone().step_by(PART) {
            let count = PART.min(range.end - first);
            blocks.resize(format.byte_len(count).unwrap_or(0), 0);
            file.read_exact(&mut blocks).map_err(|e| Error::reading(&e).tensor(&self.source, tensor))?;
            let mut values = vec![T::default(); count];
            gguf::dequantize(format, &blocks, &mut values)
                .map_err(|e| unsupported(e.to_string()).tensor(&self.source, tensor))?;
            let nan = values.iter().position(|value| value.partial_cmp(value).is_none());
            if let (Some(i), false) = (nan, self.allow_nan) {
                return Err(not_finite(format!("element {} is NaN, by the scale of its block", first + i))
                    .tensor(&self.source, tensor));
            }
            let out: Vec<u8> = values.iter().flat_map(&bytes).collect();
            sink(&out)?;
        }
        Ok(())
    }

    /// Decodes blocks of NVFP4 with a scale for the tensor. The values without it have 6 bits, so that the product in float64 is exact.
    fn scaled_blocks(
        &self,
        tensor: &Stored,
        scale: &Stored,
        to: DType,
        range: Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        if scale.len() != 1 || scale.dtype() != Some(DType::Float32) {
            let what = format!("the scale of a tensor must be one float32, not {}", scale.described());
            return Err(invalid(what).tensor(&self.source, scale));
        }
        let bytes = self.source.read_all(scale)?;
        let factor = f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        if !(factor.is_finite() && factor > 0.0) {
            let what = format!("the scale of a tensor is {factor}, and must be positive and finite");
            return Err(invalid(what).tensor(&self.source, scale));
        }
        let cast = plan(DType::Float64, to)?;
        self.blocks(
            tensor,
            range,
            &mut |values: &[u8]| {
                let n = values.len() / 8;
                let mut out = vec![0; little(to).byte_len(n).unwrap_or(0)];
                cast.run(Bytes::new(values, n), BytesMut::new(&mut out, n))?;
                sink(&out)
            },
            |x: &f32| (f64::from(*x) * factor).to_le_bytes(),
        )
    }
}

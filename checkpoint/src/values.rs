//! The values of every kind of tensor: plain elements, codes, and blocks of GGUF.

use std::io::Read;

use lanecast::{
    Bytes, BytesMut, CastOptions, CastPlan, DType, gguf,
    half::{bf16, f16},
};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::{Checkpoint, Content, little},
    decode::{Decoder, Sink},
    error::{At, invalid, not_finite, request, unsupported},
    source::{Elements, Stored},
};

/// Elements of a plain tensor that are cast at once. The blocks of all formats divide it.
const PART: usize = 1 << 20;

/// The plan of a cast of little-endian elements.
fn plan(from: DType, to: DType) -> Result<CastPlan> {
    Ok(CastPlan::new(little(from), little(to), &CastOptions::RUST)?)
}

impl Checkpoint {
    /// Decodes a tensor to little-endian elements, by the plain decoder only if `plainly` is set.
    pub(crate) fn decode_content(
        &self,
        content: &Content,
        to: DType,
        plainly: bool,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let source = &self.source;
        match content {
            Content::Plain(id) => self.cast_plain(&source.tensors[*id], to, sink),
            Content::Coded(coding) => {
                if !matches!(to, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
                    let what = format!("codes decode to float16, bfloat16, float32 or float64, not to {to}");
                    return Err(request(what).tensor(source, &source.tensors[coding.codes]));
                }
                Decoder::new(source, coding, self.allow_nan)?.run(to, plainly, sink)
            }
            Content::Blocks(id, scale) => {
                let tensor = &source.tensors[*id];
                match (to, scale) {
                    (_, Some(scale)) => self.scaled_blocks(tensor, &source.tensors[*scale], to, sink),
                    (DType::Float32, None) => self.blocks(tensor, sink, |x: &f32| x.to_le_bytes()),
                    (DType::Float16, None) => self.blocks(tensor, sink, |x: &f16| x.to_le_bytes()),
                    (DType::BFloat16, None) => self.blocks(tensor, sink, |x: &bf16| x.to_le_bytes()),
                    _ => Err(request(format!("blocks decode to float16, bfloat16 or float32, not to {to}"))
                        .tensor(source, tensor)),
                }
            }
        }
    }

    fn cast_plain(&self, tensor: &Stored, to: DType, sink: &mut Sink<'_>) -> Result<()> {
        let from = tensor.dtype().unwrap_or(to);
        let place = |e: Error| e.tensor(&self.source, tensor);
        let cast = plan(from, to).map_err(place)?;
        let mut file = self.source.reader(tensor, 0)?;
        let (n, mut bytes, mut out) = (tensor.len(), Vec::new(), Vec::new());
        for first in (0..n).step_by(PART) {
            let count = PART.min(n - first);
            bytes.resize(little(from).byte_len(count).unwrap_or(0), 0);
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
        sink: &mut Sink<'_>,
        bytes: impl Fn(&T) -> [u8; N],
    ) -> Result<()> {
        let Elements::Blocks(format) = tensor.elements else { return Ok(()) };
        let mut file = self.source.reader(tensor, 0)?;
        let (n, mut blocks) = (tensor.len(), Vec::new());
        for first in (0..n).step_by(PART) {
            let count = PART.min(n - first);
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
    fn scaled_blocks(&self, tensor: &Stored, scale: &Stored, to: DType, sink: &mut Sink<'_>) -> Result<()> {
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

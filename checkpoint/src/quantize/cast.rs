//! [`Cast`]: codes and scales of a weight by a scheme of [`lanecast::scaled`], made band by band.
//!
//! *Law.* A tensor of the output has the bytes of a cast of the whole weight: no block of a scheme goes beyond a band.
//!
//! Codes and scales are tensors of their own. A cast for the codes may keep the scales; otherwise each is made by a cast that drops the other.
//! Memory holds a band.

use std::ops::Range;

use lanecast::{
    ByteOrder, Bytes, DType, Encoding,
    scaled::{Granularity, Quantized, Quotient, ScaledError, ScaledPlan, Scheme},
};
use lanecast_files::{Error, Result};

use super::{
    Weight,
    kept::Slot,
    layout::Make,
    matrix::{Band, TILE},
    moved,
};
use crate::{
    checkpoint::{Checkpoint, little},
    coding::{Order, Packing},
    decode::Sink,
    error::{lost, unsupported},
    unpack::swizzle,
};

/// A scheme for a weight.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    pub(super) scheme: Scheme,
    /// The scale of the tensor, beside the scales of the blocks.
    pub(super) global: Option<f32>,
    /// The only scale.
    pub(super) scale: Option<f32>,
    /// Rows and columns are padded with zeros to multiples of this.
    pub(super) pad: usize,
    /// Whether every value must stay as it is.
    pub(super) lossless: bool,
}

/// How the codes of a scheme are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As the library makes them.
    Plain,
    /// 4-bit integers plus 8.
    Offset,
    /// 4-bit codes. The first one of a byte is in the upper bits.
    HighNibbleFirst,
}

impl Form {
    fn apply(self, codes: &mut [u8]) {
        match self {
            Self::Plain => {}
            Self::Offset => codes.iter_mut().for_each(|pair| *pair ^= 0x88),
            Self::HighNibbleFirst => codes.iter_mut().for_each(|pair| *pair = pair.rotate_left(4)),
        }
    }
}

impl Cast {
    /// Without a scale of the tensor and padding.
    pub(super) fn of(scheme: Scheme, lossless: bool) -> Self {
        Self { scheme, global: None, scale: None, pad: 1, lossless }
    }

    /// Rows and columns with padding.
    pub(super) fn padded(&self, rows: usize, cols: usize) -> [usize; 2] {
        [rows, cols].map(|n| n.next_multiple_of(self.pad))
    }

    /// Passes the codes of rows of a weight to a sink. The scales are kept, swizzled or not, if there is a place for them.
    pub(super) fn codes(
        &self,
        checkpoint: &Checkpoint,
        weight: &Weight,
        form: Form,
        rows: Range<usize>,
        mut kept: Option<(Slot<'_>, bool)>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.run(checkpoint, weight, rows, &mut |rows, mut quantized| {
            if let Some((slot, swizzled)) = &mut kept {
                slot.bytes.extend(self.stored(quantized.scales, rows, *swizzled));
            }
            form.apply(&mut quantized.data);
            sink(&quantized.data)
        })?;
        if let Some((slot, _)) = kept {
            slot.finish();
        }
        Ok(())
    }

    /// Passes the scales of rows of a weight to a sink.
    pub(super) fn scales(
        &self,
        checkpoint: &Checkpoint,
        weight: &Weight,
        swizzled: bool,
        rows: Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.run(checkpoint, weight, rows, &mut |rows, quantized| {
            sink(&self.stored(quantized.scales, rows, swizzled))
        })
    }

    /// The scales of rows as files have them.
    fn stored(&self, scales: Vec<u8>, rows: usize, swizzled: bool) -> Vec<u8> {
        match swizzled {
            false => little_endian(scales, &self.scheme),
            true => swizzle_rows(&scales, rows),
        }
    }

    /// Bytes of the codes of a number of rows.
    pub(super) fn codes_len(&self, rows: usize, cols: usize) -> usize {
        let [_, cols] = self.padded(rows, cols);
        rows * cols * self.scheme.element.bits() as usize / 8
    }

    /// Bytes of the scales of a number of rows, which are whole blocks; `None` if all rows share one scale.
    pub(super) fn scales_len(&self, rows: usize, cols: usize, swizzled: bool) -> Option<usize> {
        let [_, cols] = self.padded(rows, cols);
        let [high, wide] = match self.scheme.granularity {
            Granularity::Tensor => return None,
            granularity => granularity.scales_shape(&[rows, cols])[..].try_into().ok()?,
        };
        let wide: usize = if swizzled { usize::next_multiple_of(wide, 4) } else { wide };
        Some(high * wide * self.scheme.scale.dtype(DType::Float32).size())
    }

    /// Calls `take` with the number of rows and the codes and scales of each band of some rows.
    fn run(
        &self,
        checkpoint: &Checkpoint,
        weight: &Weight,
        rows: Range<usize>,
        take: &mut dyn FnMut(usize, Quantized) -> Result<()>,
    ) -> Result<()> {
        let matrix = &weight.matrix;
        let mut padded = Vec::new();
        matrix.bands_of(checkpoint, rows, &mut |band| {
            let last = band.first + band.rows == matrix.all_rows();
            let [_, cols] = self.padded(band.rows, matrix.cols);
            // Only the end is padded.
            let rows = if last { self.padded(band.rows, cols)[0] } else { band.rows };
            let bytes = match [rows, cols] == [band.rows, matrix.cols] {
                true => band.bytes,
                false => {
                    pad(band, matrix.cols, [rows, cols], &mut padded);
                    &padded
                }
            };
            let shape = [rows, cols];
            let quantized = self.quantize(bytes, band.dtype, shape);
            let quantized = quantized.map_err(|e| matrix.at(checkpoint, refused(e, band.first)))?;
            if self.lossless {
                let changed = self.changed(&quantized, bytes, band.dtype, shape);
                let changed = changed.map_err(|e| matrix.at(checkpoint, refused(e, band.first)))?;
                if let Some((i, was, is)) = changed {
                    let (row, col) = (band.first + i / cols, i % cols);
                    let what = format!(
                        "element ({row}, {col}) is {was:e}, and would become {is:e} in {}",
                        weight.scheme
                    );
                    return Err(matrix.at(checkpoint, lost(what)));
                }
            }
            take(rows, quantized)
        })
    }

    fn plan(&self, dtype: DType, shape: [usize; 2]) -> std::result::Result<ScaledPlan, ScaledError> {
        let plan = ScaledPlan::new(Encoding::new(dtype).with_order(ByteOrder::Little), &self.scheme, &shape)?;
        match self.global {
            Some(global) => plan.with_global(global),
            None => Ok(plan),
        }
    }

    fn quantize(
        &self,
        bytes: &[u8],
        dtype: DType,
        shape: [usize; 2],
    ) -> std::result::Result<Quantized, ScaledError> {
        let plan = self.plan(dtype, shape)?;
        let (mut quantized, source) = (plan.alloc(), Bytes::new(bytes, shape[0] * shape[1]));
        match self.scale {
            Some(scale) => {
                quantized.scales.copy_from_slice(&scale.to_ne_bytes());
                plan.quantize_given(source, &mut quantized)?;
            }
            None => {
                plan.quantize(source, &mut quantized)?;
            }
        }
        Ok(quantized)
    }

    /// The first element that codes and scales do not stand for: its index, its value, and what it would become. Zeros are equal, whatever
    /// their signs are.
    fn changed(
        &self,
        quantized: &Quantized,
        bytes: &[u8],
        dtype: DType,
        shape: [usize; 2],
    ) -> std::result::Result<Option<(usize, f64, f64)>, ScaledError> {
        let n = shape[0] * shape[1];
        let mut have = vec![0.0_f64; n];
        self.plan(dtype, shape)?.dequantize(quantized, &mut have[..])?;
        let mut want = vec![0.0_f64; n];
        let widen = lanecast::CastPlan::new(little(dtype), DType::Float64, &lanecast::CastOptions::RUST)?;
        widen.run(Bytes::new(bytes, n), &mut want[..])?;
        Ok((0..n).find(|i| want[*i] != have[*i]).map(|i| (i, want[i], have[i])))
    }
}

/// The rows of a band with zeros behind each and below.
fn pad(band: &Band<'_>, cols: usize, [rows, wide]: [usize; 2], out: &mut Vec<u8>) {
    let size = band.dtype.size();
    out.clear();
    out.resize(rows * wide * size, 0);
    for (to, from) in
        out.chunks_exact_mut((wide * size).max(1)).zip(band.bytes.chunks_exact((cols * size).max(1)))
    {
        to[..from.len()].copy_from_slice(from);
    }
}

/// Scales in the byte order of files.
fn little_endian(mut scales: Vec<u8>, scheme: &Scheme) -> Vec<u8> {
    let size = scheme.scale.dtype(DType::Float32).size();
    if cfg!(target_endian = "big") {
        scales.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    scales
}

/// The scales of rows in tiles of 128 rows by 4 columns, padded with zeros.
pub(super) fn swizzle_rows(scales: &[u8], rows: usize) -> Vec<u8> {
    let cols = scales.len() / rows.max(1);
    let wide = cols.next_multiple_of(4);
    let mut out = vec![0; rows.next_multiple_of(TILE) * wide];
    for (i, scale) in scales.iter().enumerate() {
        out[swizzle(i / cols, i % cols, wide)] = *scale;
    }
    out
}

/// The error of a cast of a band that begins at row `first`.
fn refused(error: ScaledError, first: usize) -> Error {
    match error {
        ScaledError::NonFinite { .. } => {
            lost(format!("a row from row {first} on has a NaN or an infinity, which the codes cannot hold"))
        }
        other => unsupported(other.to_string()),
    }
}

/// The multiplier of NVFP4 for this largest magnitude: the largest code times the largest scale stands for it.
fn multiplier(amax: f32) -> f32 {
    match amax == 0.0 {
        true => 1.0,
        false => ((f64::from(amax) / 2688.0) as f32).max(f32::from_bits(1)),
    }
}

/// The divisor of NVFP4, and the arithmetic that the library has for divisors.
fn divisor(amax: f32) -> f32 {
    match amax == 0.0 {
        true => 1.0,
        false => ((2688.0 / f64::from(amax)) as f32).min(f32::MAX),
    }
}

/// The codes, block scales and the scale of the tensor of NVFP4. The layout divides by the scale of the tensor or multiplies by it, and pads or not.
pub(super) fn nvfp4(weight: &Weight, divides: bool, pad: usize) -> Option<(Make, Make, f32)> {
    let (is_swizzled, order) = match pad {
        1 => (false, Order::LowFirst),
        _ => (true, Order::HighNibbleFirst),
    };
    if let Some(global) = weight.moved_global(divides) {
        let pitch = weight.matrix.cols.next_multiple_of(pad).div_ceil(2);
        let packing = Packing::rows(4, pitch).with_order(order);
        let codes = moved::Part::Codes { packing, transposed: false, pad };
        let scales = moved::Part::Scales { transposed: false, swizzled: is_swizzled };
        return Some((Make::Moved(codes), Make::Moved(scales), global));
    }
    let cast = weight.cast()?;
    let (global, scheme) = match divides {
        true => (divisor(weight.amax), with_divisor(cast.scheme)),
        false => (multiplier(weight.amax), cast.scheme),
    };
    let cast = Cast { scheme, global: Some(global), pad, ..cast };
    let form = if is_swizzled { Form::HighNibbleFirst } else { Form::Plain };
    Some((Make::Codes(cast.clone(), form), Make::Scales(cast, is_swizzled), global))
}

/// The scheme of NVFP4 for a divisor.
fn with_divisor(scheme: Scheme) -> Scheme {
    use lanecast::scaled::{Global, ScaleType};
    Scheme { scale: ScaleType::E4M3(Global::Divisor), quotient: Quotient::Divide, ..scheme }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_of_the_tensor_map_its_largest_magnitude_to_the_largest_product() {
        assert_eq!((multiplier(2688.0), divisor(2688.0)), (1.0, 1.0));
        assert_eq!((multiplier(1.0) * 2688.0, divisor(1.0)), (1.0, 2688.0));
        assert_eq!((multiplier(0.0), divisor(0.0)), (1.0, 1.0));
        let tiny = f32::from_bits(1);
        assert!(multiplier(tiny) > 0.0 && divisor(tiny).is_finite());
    }

    #[test]
    fn forms_are_their_own_inverses() {
        for form in [Form::Plain, Form::Offset, Form::HighNibbleFirst] {
            let mut codes: Vec<u8> = (0..=255).collect();
            form.apply(&mut codes);
            assert!(form == Form::Plain || codes[1] != 1);
            form.apply(&mut codes);
            assert!(codes.iter().enumerate().all(|(i, code)| i == usize::from(*code)));
        }
    }
}

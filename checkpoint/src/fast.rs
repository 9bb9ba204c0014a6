//! The decoder's fast path: layouts that are a [`Scheme`] of [`lanecast::scaled`].
//!
//! *Law.* The bits are the same as with the plain decoder. A test decodes every weight both ways.

use std::ops::Range;

use lanecast::{
    ByteOrder, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding,
    scaled::{
        Empty, Global, Granularity, NonFinite, Pow2, Quantized, Quotient, ScaleRule, ScaleType, ScaledPlan,
        Scheme,
    },
    strided::{Layout, View},
};
use lanecast_files::Result;

use crate::{
    checkpoint::little,
    coding::{Along, Codes, Coding, Factor, Order, ScaleData, Scales, Zeros},
    decode::{Decoder, Emit, WORDS},
    error::{At, unsupported},
};

/// Elements that are decoded at once.
const PART: usize = 1 << 18;

/// A weight whose layout is a scheme.
pub(crate) struct Fast<'d> {
    of: &'d Decoder<'d>,
    scheme: Scheme,
    scales: &'d Scales,
    to: DType,
}

impl<'d> Fast<'d> {
    /// The fast path, if there is one to this dtype. Of a transposed weight, it decodes [`columns`](Self::columns) of the stored matrix.
    pub(crate) fn new(of: &'d Decoder<'_>, to: DType) -> Option<Self> {
        let wide = matches!(to, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64);
        let (scheme, scales) = scheme(of.coding)?;
        if of.coding.transposed && !(scales.block[0] == 1 && scales.block[1].is_multiple_of(WORDS)) {
            return None;
        }
        // The library takes scales in the byte order of the host.
        let fits = wide && cfg!(target_endian = "little");
        fits.then_some(Self { of, scheme, scales, to })
    }

    /// Decodes rows of a matrix.
    pub(crate) fn run(&self, batch: usize, rows: Range<usize>, emit: &mut Emit<'_, '_>) -> Result<()> {
        let Coding { rows: height, cols, .. } = *self.of.coding;
        let [block, _] = self.scales.block;
        // Whole blocks, unless one block has all rows. Rows above the first one are dropped.
        let unit = if block < height { block } else { 1 };
        let start = rows.start / unit * unit;
        emit.skip((rows.start - start) * cols * self.to.size());
        let step = (PART / cols.max(1)).max(1).next_multiple_of(unit);
        let mut out = Vec::new();
        for first in (start..rows.end).step_by(step) {
            let count = step.min(rows.end - first);
            let mut patch = self.of.patch(batch, first..first + count, 0..cols)?;
            if is_offset(self.of.coding) {
                patch.bytes.iter_mut().for_each(|pair| *pair ^= 0x88);
            }
            let line = batch * self.scales.grid[0] + first / block;
            let scales = self.of.stored_scales(line..line + count.div_ceil(block));
            let global =
                matches!(self.scheme.scale, ScaleType::E4M3(_)).then(|| self.of.factor.unwrap_or(1.0));
            let quantized = Quantized { data: &patch.bytes[..], scales, zero_points: None, global };
            out.resize(count * cols * self.to.size(), 0);
            self.dequantize([count, cols], &quantized, &mut out)?;
            emit.bytes(&out)?;
        }
        Ok(())
    }

    /// Decodes columns of a stored matrix, as rows.
    pub(crate) fn columns(&self, batch: usize, cols: Range<usize>, emit: &mut Emit<'_, '_>) -> Result<()> {
        let Coding { rows, cols: width, .. } = *self.of.coding;
        let block = self.scales.block[1];
        // Whole blocks. The columns beside those that are wanted are dropped.
        let whole = cols.start / block * block..cols.end.next_multiple_of(block).min(width);
        let patch = self.of.patch(batch, 0..rows, whole.clone())?;
        let line = batch * self.scales.grid[0];
        let scales = self.of.stored_scales(line..line + rows);
        let quantized = Quantized { data: &patch.bytes[..], scales, zero_points: None, global: None };
        let (shape, column) = ([rows, whole.len()], rows * self.to.size());
        let mut stored = vec![0; whole.len() * column];
        self.dequantize(shape, &quantized, &mut stored)?;
        let to = little(self.to);
        let stored = View::new(&stored, Layout::contiguous(to, &shape).map_err(CastError::from)?);
        let columns = stored.map_err(CastError::from)?.transposed();
        let mut out = vec![0; whole.len() * column];
        CastPlan::new(to, to, &CastOptions::RUST)?
            .run(&columns, BytesMut::new(&mut out, rows * whole.len()))?;
        emit.bytes(&out[(cols.start - whole.start) * column..(cols.end - whole.start) * column])
    }

    fn dequantize(&self, shape: [usize; 2], quantized: &Quantized<&[u8]>, out: &mut [u8]) -> Result<()> {
        let to = Encoding::new(self.to).with_order(ByteOrder::Little);
        let mut run = || {
            let plan = ScaledPlan::new(DType::Float32, &self.scheme, &shape)?.with_output(to);
            plan.dequantize(quantized, BytesMut::new(out, shape[0] * shape[1]))
        };
        run().map_err(|e| unsupported(e.to_string()).tensor(self.of.source, self.of.codes))
    }
}

/// Whether codes are 4-bit integers plus 8: in two's complement, their upper bit is the other one.
fn is_offset(coding: &Coding) -> bool {
    matches!((&coding.values, coding.packing.bits, &coding.zeros), (Codes::Unsigned, 4, Zeros::Constant(8)))
}

/// The scheme of a coding and its scales, if it is one.
fn scheme(coding: &Coding) -> Option<(Scheme, &Scales)> {
    let Coding { packing, rows, cols, .. } = coding;
    let scales = coding.scales.as_ref()?;
    let ScaleData::Tensor(_, dtype) = scales.data else { return None };
    let plain = coding.cut.is_none()
        && coding.biases.is_none()
        && coding.groups.is_none()
        && coding.elements == coding.batches * rows * cols
        && scales.swizzled.is_none()
        && !scales.zero_is_zero
        && packing.along == Along::Rows
        && packing.order == Order::LowFirst
        && packing.pitch * 8 == cols * packing.bits as usize;
    if !plain {
        return None;
    }
    if !(matches!(coding.zeros, Zeros::None) || is_offset(coding)) {
        return None;
    }
    let element = match (&coding.values, packing.bits) {
        (Codes::Float(dtype), _) => *dtype,
        (Codes::Signed, 8) => DType::Int8,
        (Codes::Unsigned, 4) if is_offset(coding) => DType::Int4,
        _ => return None,
    };
    let scale = match (dtype, coding.factor) {
        // Tables are faster than the loop for divisors.
        (DType::Float8E4M3FN, Factor::Times(_) | Factor::None) => ScaleType::E4M3(Global::Multiplier),
        (DType::Float32, Factor::None) => ScaleType::Float32,
        (DType::Float16, Factor::None) => ScaleType::Float16,
        (DType::BFloat16, Factor::None) => ScaleType::BFloat16,
        (DType::Float8E8M0FNU, Factor::None) if element.finfo().is_some() => ScaleType::E8M0,
        _ => return None,
    };
    let granularity = match scales.block {
        [r, c] if r >= *rows && c >= *cols => Granularity::Tensor,
        [1, c] => Granularity::Block { axis: -1, len: c },
        [rows, cols] => Granularity::Tile { rows, cols },
    };
    // Rules and quotients make codes; for values only whether scales are powers of two counts.
    let (rule, quotient) = match scale {
        ScaleType::E8M0 => (ScaleRule::Pow2(Pow2::RoundUp), Quotient::Exact),
        _ => (ScaleRule::Amax { over: 1.0 }, Quotient::Divide),
    };
    let (empty, non_finite) = (Empty::One, NonFinite::Poison);
    Some((Scheme { element, granularity, scale, rule, quotient, empty, non_finite }, scales))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::Packing;

    fn coding(element: DType, scale: DType, block: [usize; 2], factor: Factor) -> Coding {
        let (rows, cols, bits) = (256, 512, element.bits());
        let grid = [256_usize.div_ceil(block[0]), 512_usize.div_ceil(block[1])];
        let scales =
            Scales { data: ScaleData::Tensor(1, scale), block, grid, swizzled: None, zero_is_zero: false };
        let packing = Packing::rows(bits, cols * bits as usize / 8);
        let codes = if element == DType::Int8 { Codes::Signed } else { Codes::Float(element) };
        Coding { scales: Some(scales), factor, ..Coding::packed(0, codes, packing, &[rows, cols]) }
    }

    /// The common layouts of rows, tiles and blocks are schemes that the library accepts.
    #[test]
    fn common_layouts_are_schemes() {
        use DType::{BFloat16, Float4E2M1FN, Float8E4M3FN, Float8E8M0FNU, Float32, Int8};
        for (element, scale, block, factor) in [
            (Float8E4M3FN, Float32, [256, 512], Factor::None),
            (Float8E4M3FN, BFloat16, [1, 512], Factor::None),
            (Float8E4M3FN, Float32, [128, 128], Factor::None),
            (Float8E4M3FN, Float8E8M0FNU, [1, 32], Factor::None),
            (Float4E2M1FN, Float8E8M0FNU, [1, 32], Factor::None),
            (Float4E2M1FN, Float8E4M3FN, [1, 16], Factor::Times(2)),
            (Int8, Float32, [1, 512], Factor::None),
        ] {
            let coding = coding(element, scale, block, factor);
            let (scheme, _) = scheme(&coding).unwrap_or_else(|| panic!("{element} {scale} {block:?}"));
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[256, 512]).expect("a plan");
            let blocks: usize = coding.scales.as_ref().map_or(0, |scales| scales.grid.iter().product());
            assert_eq!(
                (plan.scales(), plan.scale_encoding().dtype()),
                (blocks, scale),
                "{element} {block:?}"
            );
        }
    }
}

//! What codes stand for, exactly.

use super::super::{
    blocks::Piece,
    error::ScaledError,
    kernels::Plain,
    packing::{CHUNK, take},
    resolved::Resolved,
    rule::Rule,
    scheme::{Global, ScaleType},
};
use crate::options::CastOptions;
use core::ops::Range;
use lanecast_kernels::DType;

/// The value of a code. NaN of a code stays as it is; every other one is positive, whatever the arithmetic of the CPU makes.
pub(in crate::scaled) fn positive_nan(code: f64, value: f64) -> f64 {
    match (code.is_nan(), value.is_nan()) {
        (true, _) => code,
        (_, true) => f64::from_bits(0x7FF8 << 48),
        _ => value,
    }
}

impl Resolved {
    /// The cast from codes to double precision, which is exact.
    pub(in crate::scaled) fn decoder(&self) -> Result<Plain, ScaledError> {
        Plain::new(self.scheme.element, DType::Float64, &CastOptions::RUST)
    }

    /// The codes of a range of at most [`CHUNK`] elements.
    pub(in crate::scaled) fn decode_codes(
        &self,
        decoder: &Plain,
        data: &[u8],
        range: Range<usize>,
        values: &mut [f64],
    ) -> Result<(), ScaledError> {
        let (mut codes, n) = ([0_u8; 2 * CHUNK], values.len());
        let codes = &mut codes[..self.scheme.element.size() * n];
        take(self.data, data, range, codes);
        decoder.run(codes, bytemuck::cast_slice_mut(values), n)
    }

    /// The values of a piece of at most [`CHUNK`] elements, from codes and scales.
    pub(in crate::scaled) fn values(
        &self,
        decoder: &Plain,
        rule: &Rule<'_>,
        (data, scales): (&[u8], &[u8]),
        piece: &Piece,
        q: &mut [f64],
    ) -> Result<(), ScaledError> {
        self.decode_codes(decoder, data, piece.elements.clone(), q)?;
        for (i, run) in q.chunks_mut(piece.run).enumerate() {
            let (scale, unit) = (rule.parts(self.scale(scales, piece.block + i)), self.codes.unit);
            // Codes have at most 16 bits and scales 24 and 4: every product is exact, and the last quotient rounded far from the
            // midpoints of the target.
            match self.scheme.scale {
                ScaleType::E4M3(Global::Divisor) => {
                    run.iter_mut().for_each(|q| *q = positive_nan(*q, *q * scale.0 / scale.1));
                }
                _ => run.iter_mut().for_each(|q| *q = positive_nan(*q, *q / unit * scale.0 * scale.1)),
            }
        }
        Ok(())
    }

    /// The runs of consecutive elements of a range that share a block, in order, and their blocks. The range may begin within one.
    pub(in crate::scaled) fn runs(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        let ([_, _, c], [_, _, z]) = (self.blocks.shape, self.blocks.block);
        let mut start = range.start;
        core::iter::from_fn(move || {
            (start < range.end).then(|| {
                let column = start % c;
                let run = start..range.end.min(start + (z - column % z).min(c - column));
                start = run.end;
                (run.clone(), self.blocks.of(run.start))
            })
        })
    }

    /// The values of a range of at most [`CHUNK`] elements, which may begin within a block.
    pub(in crate::scaled) fn values_between(
        &self,
        decoder: &Plain,
        rule: &Rule<'_>,
        of: (&[u8], &[u8]),
        range: Range<usize>,
        values: &mut [f64],
    ) -> Result<(), ScaledError> {
        for (run, block) in self.runs(range.clone()) {
            let values = &mut values[run.start - range.start..run.end - range.start];
            let piece = Piece { run: run.len(), elements: run, block };
            self.values(decoder, rule, of, &piece, values)?;
        }
        Ok(())
    }
}

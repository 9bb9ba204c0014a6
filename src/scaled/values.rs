//! What codes stand for, exactly.

use super::{
    blocks::Piece,
    cast::Buffer,
    error::ScaledError,
    exact_sum::ExactSum,
    packing::{CHUNK, take},
    plan::ScaledPlan,
    rule::Rule,
    scheme::{Global, ScaleType},
};
use crate::{CastOptions, CastPlan, DType};
use core::ops::Range;
use lanecast_kernels::{Bytes, BytesMut};

/// The value of a code. NaN of a code stays as it is; every other one is positive, whatever the arithmetic of the CPU makes.
pub(super) fn positive_nan(code: f64, value: f64) -> f64 {
    match (code.is_nan(), value.is_nan()) {
        (true, _) => code,
        (_, true) => f64::from_bits(0x7FF8 << 48),
        _ => value,
    }
}

impl ScaledPlan {
    /// The cast from codes to double precision, which is exact.
    pub(super) fn decoder(&self) -> Result<CastPlan, ScaledError> {
        Ok(CastPlan::new(self.scheme.element, DType::Float64, &CastOptions::RUST)?)
    }

    /// The values of a piece of at most [`CHUNK`] elements, from codes and scales.
    pub(super) fn values(
        &self,
        decoder: &CastPlan,
        rule: &Rule<'_>,
        (data, scales): (&[u8], &[u8]),
        piece: &Piece,
        q: &mut [f64],
    ) -> Result<(), ScaledError> {
        let (mut codes, n) = ([0_u8; 2 * CHUNK], q.len());
        let codes = &mut codes[..self.scheme.element.size() * n];
        take(self.data, data, piece.elements.clone(), codes);
        decoder.run(Bytes::new(codes, n), BytesMut::new(bytemuck::cast_slice_mut(q), n))?;
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
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
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
    pub(super) fn values_between(
        &self,
        decoder: &CastPlan,
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

    /// The squares of the differences between elements and what their codes stand for, wherever both are finite.
    pub(super) fn squared_errors(
        &self,
        src: &[u8],
        rule: &Rule<'_>,
        of: (&[u8], &[u8]),
    ) -> Result<ExactSum, ScaledError> {
        let decoder = self.decoder()?;
        let (mut sum, mut x, mut q) = (ExactSum::default(), Buffer([[0; 4]; CHUNK]), [0.0; CHUNK]);
        for piece in self.blocks.pieces(0..self.elements(), CHUNK) {
            let x = self.load(src, piece.elements.clone(), &mut x)?;
            let q = &mut q[..x.len()];
            self.values(&decoder, rule, of, &piece, q)?;
            for (x, q) in x.iter().map(|x| f32::from_ne_bytes(*x)).zip(q) {
                if x.is_finite() && q.is_finite() {
                    sum.add_squared_difference(f64::from(x), *q);
                }
            }
        }
        Ok(sum)
    }
}

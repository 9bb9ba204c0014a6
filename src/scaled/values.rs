//! What codes stand for, exactly.

use super::{
    error::ScaledError,
    exact_sum::ExactSum,
    packing::{CHUNK, chunks, take},
    plan::ScaledPlan,
    rule::Rule,
    scheme::{Global, ScaleType},
};
use crate::{CastOptions, CastPlan, DType};
use core::ops::Range;

impl ScaledPlan {
    /// The cast from codes to double precision, which is exact.
    pub(super) fn decoder(&self) -> Result<CastPlan, ScaledError> {
        Ok(CastPlan::new(self.scheme.element, DType::Float64, &CastOptions::RUST)?)
    }

    /// The values of the elements of a range of at most [`CHUNK`], from codes and scales.
    pub(super) fn values(
        &self,
        decoder: &CastPlan,
        rule: &Rule<'_>,
        (data, scales): (&[u8], &[u8]),
        range: Range<usize>,
        q: &mut [f64],
    ) -> Result<(), ScaledError> {
        let mut codes = [0_u8; 2 * CHUNK];
        let codes = &mut codes[..self.scheme.element.size() * range.len()];
        take(self.data, data, range.clone(), codes);
        decoder.run(codes, bytemuck::cast_slice_mut(q), range.len())?;
        let mut rest = q;
        for (len, block) in self.blocks.runs(range) {
            let (run, behind) = rest.split_at_mut(len);
            let (scale, unit) = (rule.parts(self.scale(scales, block)), self.codes.unit);
            // Codes have at most 16 bits and scales 24 and 4: every product is exact, and the last quotient rounded far from the
            // midpoints of the target.
            match self.scheme.scale {
                ScaleType::E4M3(Global::Divisor) => run.iter_mut().for_each(|q| *q = *q * scale.0 / scale.1),
                _ => run.iter_mut().for_each(|q| *q = *q / unit * scale.0 * scale.1),
            }
            rest = behind;
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
        let (mut sum, mut x, mut q) = (ExactSum::default(), [0.0; CHUNK], [0.0; CHUNK]);
        for range in chunks(0..self.elements()) {
            let (x, q) = (self.load(src, range.clone(), &mut x)?, &mut q[..range.len()]);
            self.values(&decoder, rule, of, range, q)?;
            for (x, q) in x.iter().zip(q).filter(|(x, q)| x.is_finite() && q.is_finite()) {
                sum.add_squared_difference(f64::from(*x), *q);
            }
        }
        Ok(sum)
    }
}

//! The error of a scaled cast.

use super::{
    super::{error::ScaledError, packing::CHUNK, resolved::Resolved, rule::Rule},
    exact_sum::ExactSum,
    load::Buffer,
};

impl Resolved {
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

//! The values of integers with zero points.

use super::{
    super::{
        error::ScaledError,
        kernels::Plain,
        packing::{CHUNK, chunks},
        quantized::Parts,
        resolved::Resolved,
        rule::Rule,
    },
    values::positive_nan,
};
use crate::options::CastOptions;
use lanecast_kernels::{DType, Encoding};

impl Resolved {
    /// The values of all codes: `(code - zero) * scale`, rounded once. The zero points belong to a tensor in which the first block
    /// is `first`.
    pub(super) fn decode_with_zero_points(
        &self,
        of: Parts<'_>,
        first: usize,
        to: Encoding,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let (decoder, store) = (self.decoder()?, Plain::new(DType::Float64, to, &CastOptions::RUST)?);
        let rule = Rule::of_global(self, 1.0);
        let (mut q, size) = ([0.0; CHUNK], to.dtype().size());
        for range in chunks(0..self.elements()) {
            let q = &mut q[..range.len()];
            self.decode_codes(&decoder, of.data, range.clone(), q)?;
            for (run, block) in self.runs(range.clone()) {
                let mut zero = [0.0];
                self.decode_codes(&decoder, of.zeros, first + block..first + block + 1, &mut zero)?;
                let (scale, _) = rule.parts(self.scale(of.scales, block));
                q[run.start - range.start..run.end - range.start]
                    .iter_mut()
                    .for_each(|q| *q = positive_nan(*q, (*q - zero[0]) * scale));
            }
            let dst = &mut dst[range.start * size..range.end * size];
            store.run(bytemuck::cast_slice(q), dst, range.len())?;
        }
        Ok(())
    }
}

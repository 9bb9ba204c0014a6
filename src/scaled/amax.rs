//! The largest magnitudes of chunks and shards, which merge to that of all.

use super::{
    error::{ScaledError, check_len},
    plan::{INFINITY, ScaledPlan},
    scheme::Scheme,
};
use crate::Encoding;

/// The largest magnitude of some elements. Those of parts [merge](Self::merge) to that of the whole, in any order, so that chunks, shards, or
/// tensors that share a scale need not be in memory together:
///
/// ```
/// use lanecast::DType;
/// use lanecast::scaled::{Amax, ScaledPlan, Scheme, amax};
/// let bytes = |x: [f32; 16]| x.map(f32::to_ne_bytes).concat();
/// let parts = [bytes([0.5; 16]), bytes([-3.0; 16])];
/// let mut all = Amax::default();
/// for part in &parts {
///     all = all.merge(amax(DType::Float32, part)?);
/// }
/// assert_eq!(all.finite(), 3.0);
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[16])?;
/// let (mut codes, mut scales) = ([0; 8], [0; 1]);
/// for part in &parts {
///     let report = plan.quantize_with_amax(part, all.finite(), &mut codes, &mut scales)?;
///     assert_eq!(report.global, 3.0 / 2688.0);
/// }
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amax {
    /// The bits of the largest finite magnitude.
    finite: u32,
    non_finite: bool,
}

impl Amax {
    /// The largest of both.
    #[must_use]
    pub fn merge(self, other: Amax) -> Amax {
        Amax { finite: self.finite.max(other.finite), non_finite: self.non_finite | other.non_finite }
    }

    /// The largest finite magnitude; 0 of no elements. This is what [`ScaledPlan::quantize_with_amax`] takes.
    pub fn finite(self) -> f32 {
        f32::from_bits(self.finite)
    }

    /// Whether there was a NaN or an infinity.
    pub fn has_non_finite(self) -> bool {
        self.non_finite
    }
}

/// The largest magnitude of elements of float16, bfloat16 or float32.
///
/// # Errors
///
/// [`ScaledError::Source`] if the dtype is another one, [`ScaledError::Length`] if `src` ends within an element.
pub fn amax(from: impl Into<Encoding>, src: &[u8]) -> Result<Amax, ScaledError> {
    let from = from.into();
    let (n, size) = (src.len() / from.dtype().size(), from.dtype().size());
    let plan = ScaledPlan::new(from, &Scheme::FP8_TENSOR, &[n])?;
    check_len("source", n * size, src.len())?;
    Ok(match plan.amax_bits(src, u32::MAX)? {
        bits if bits < INFINITY => Amax { finite: bits, non_finite: false },
        _ => Amax { finite: plan.amax_bits(src, INFINITY)?, non_finite: true },
    })
}

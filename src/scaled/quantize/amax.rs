//! The largest magnitudes of chunks and shards, which merge to that of all.

use super::super::{
    elements::Elements,
    error::ScaledError,
    resolved::{INFINITY, Resolved},
    scheme::Scheme,
    team::Team,
};
use lanecast_kernels::{Encoding, Source};

/// The largest magnitude of some elements. The magnitudes of parts [merge](Self::merge) to the magnitude of the whole, in any order, so that
/// chunks, shards, or tensors that share a scale need not be in memory together:
///
/// ```
/// use lanecast::DType;
/// use lanecast::scaled::{Amax, ScaledPlan, Scheme};
/// let parts = [[0.5_f32; 16], [-3.0; 16]];
/// let mut all = Amax::default();
/// for part in &parts {
///     all = all.merge(Amax::of(DType::Float32, part)?);
/// }
/// assert_eq!(all.finite(), 3.0);
/// let plan = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[16])?.with_amax(all.finite())?;
/// let mut q = plan.alloc();
/// for part in &parts {
///     plan.quantize(part, &mut q)?;
///     assert_eq!(q.global, Some(3.0 / 2688.0));
/// }
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amax {
    /// The bits of the largest finite magnitude, and of the largest of all.
    finite: u32,
    largest: u32,
}

impl Amax {
    /// The largest magnitude of elements of float16, bfloat16 or float32. `source` is what they are if they are bytes.
    ///
    /// # Errors
    ///
    /// [`ScaledError::Source`] if the dtype is another one; [`ScaledError::Cast`] if the operand does not fit it.
    pub fn of<'s>(source: impl Into<Encoding>, src: impl Into<Source<'s>>) -> Result<Amax, ScaledError> {
        let src = src.into();
        let plan = Resolved::new(source.into(), &Scheme::FP8_TENSOR, &[src.elements().unwrap_or(0)])?;
        let from = Elements::new(&plan, src)?;
        let part = if from.in_order().is_some() { plan.elements() } else { plan.panel() };
        plan.amax(&from, &Team::alone(part))
    }

    /// The largest of both.
    #[must_use]
    pub fn merge(self, other: Amax) -> Amax {
        Amax { finite: self.finite.max(other.finite), largest: self.largest.max(other.largest) }
    }

    /// The largest finite magnitude; 0 of no elements. This is what [`ScaledPlan::with_amax`](crate::scaled::ScaledPlan::with_amax) takes.
    pub fn finite(self) -> f32 {
        f32::from_bits(self.finite)
    }

    /// The largest magnitude: infinity if an element is infinite, NaN if one is NaN.
    pub fn largest(self) -> f32 {
        f32::from_bits(self.largest)
    }

    /// Whether there was a NaN or an infinity.
    pub fn has_non_finite(self) -> bool {
        self.largest >= INFINITY
    }
}

impl Resolved {
    /// The largest magnitude of a source.
    pub(in crate::scaled) fn amax(&self, from: &Elements<'_>, team: &Team<'_>) -> Result<Amax, ScaledError> {
        Ok(match self.amax_by_parts(from, team, u32::MAX)? {
            largest if largest < INFINITY => Amax { finite: largest, largest },
            largest => Amax { finite: self.amax_by_parts(from, team, INFINITY)?, largest },
        })
    }
}

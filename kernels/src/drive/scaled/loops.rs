//! The loops of scaled casts: the largest magnitudes of blocks, quotients by their scales, and products with the scales.
//!
//! They work on float32 in the first-level cache; a [`Kernel`](crate::Kernel) casts to this memory and from it. A scheme only supplies data: the
//! factors of each block, computed once. The most common pairs need no such memory (`fused`).
//!
//! Blocks are runs of equal length; the last run may be shorter.

use crate::arch::{Tier, TierToken};
use crate::vector::scaled::{Factors, Loops, PowerRule, Step, StepFn, Word, fits};

/// The loops of a tier that can run here.
#[derive(Clone, Copy)]
pub struct ScaledLoops(&'static Loops);

impl core::fmt::Debug for ScaledLoops {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("ScaledLoops")
    }
}

impl ScaledLoops {
    /// The loops of a tier, if it has vectors and can run here.
    pub fn new(tier: Tier) -> Option<Self> {
        TierToken::new(tier)?.scaled().map(ScaledLoops)
    }

    /// Raises the largest magnitude of each run of `run` elements of float32.
    #[inline]
    pub fn amax_32(self, x: &[Word], run: usize, amaxes: &mut [u32]) {
        // SAFETY: the tier can run here.
        unsafe { (self.0.amax_32)(x, run.max(1), amaxes) }
    }

    /// The same for float16 or bfloat16.
    #[inline]
    pub fn amax_16(self, x: &[[u8; 2]], run: usize, amaxes: &mut [u16]) {
        // SAFETY: the tier can run here.
        unsafe { (self.0.amax_16)(x, run.max(1), amaxes) }
    }

    /// Computes the codes of `float8_e8m0fnu` for magnitudes, and the reciprocals of their values; FF and NaN if a magnitude is not finite.
    #[inline]
    pub fn powers(self, amaxes: &[u32], rule: PowerRule, codes: &mut [u8], factors: &mut [f32]) {
        // SAFETY: the tier can run here.
        unsafe { (self.0.powers)(amaxes, rule, codes, factors) }
    }

    /// Counts the elements of `q` above `max` in magnitude and, among the elements whose `x` is not zero, those not above `tiny` and those that
    /// are NaN.
    #[inline]
    pub fn counts(self, x: &[Word], q: &[Word], max: f32, tiny: f32) -> [u32; 3] {
        // SAFETY: the tier can run here.
        unsafe { (self.0.counts)(x, q, [max, tiny]) }
    }

    /// Applies a step to all elements of `x`. Returns `false`, with nothing done, if the slices do not fit each other or a factor is missing. The
    /// caller must be in the default floating-point environment.
    #[inline]
    #[must_use]
    pub fn step(self, step: Step, x: &[Word], q: &mut [Word], run: usize, factors: &Factors<'_>) -> bool {
        if x.len() != q.len() || !fits(step, x.len(), run, factors) {
            return false;
        }
        // SAFETY: the tier can run here, and the slices and factors were checked.
        unsafe { self.find(step)(x.as_ptr(), q.as_mut_ptr(), x.len(), run, factors) };
        true
    }

    /// [`step`](Self::step) in place.
    #[inline]
    #[must_use]
    pub fn step_in_place(self, step: Step, x: &mut [Word], run: usize, factors: &Factors<'_>) -> bool {
        if !fits(step, x.len(), run, factors) {
            return false;
        }
        let p = x.as_mut_ptr();
        // SAFETY: as in `step`.
        unsafe { self.find(step)(p, p, x.len(), run, factors) };
        true
    }

    fn find(self, step: Step) -> StepFn {
        match step {
            Step::Times => self.0.times,
            Step::Divide => self.0.divide,
            Step::Quotient { block } => self.0.quotient[usize::from(block)],
            Step::Product { block, beside } => self.0.product[usize::from(block)][usize::from(beside)],
        }
    }
}

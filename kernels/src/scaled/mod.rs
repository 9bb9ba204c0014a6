//! The loops of scaled casts: largest magnitudes of blocks, quotients by their scales, products with them.
//!
//! They work on float32 in memory of the first cache; a [`Kernel`](crate::Kernel) casts from there and to there. What a scheme says is
//! data: the factors of a block, which are found once for it. The most common pairs need no such memory (`fused`). `registers` has the
//! loops that round exactly, over the registers that the tiers share, and `plain` those that the compiler makes vector code of, once for
//! each tier.
//!
//! Blocks are runs of as many elements each; the last one may be shorter.

mod fused;
mod plain;
mod registers;
mod streamed;
#[cfg(test)]
mod tests;

pub(crate) use fused::{Fused, FusedFn};
pub use fused::{ProductTable, ScaledCast};
pub(crate) use plain::{amax, counts, powers};
pub(crate) use registers::{
    Divide, Exact, Product, RegisterStep, Times, amax_of_halves, amax_of_runs, by_runs,
};
pub use streamed::ScaledStream;

use crate::arch::{Tier, TierToken};

/// An element of 32 bits, at any address.
pub type Word = [u8; 4];

/// The numbers of each block. A cast reads some of them, and those it reads have to be there for every block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Factors<'a> {
    /// What elements are multiplied by, or divided by.
    pub factor: &'a [f32],
    /// The scale of the block, if it is not the only one: positive, with at most 4 significant bits.
    pub block: &'a [f32],
    /// The scale, or that of the tensor beside those of blocks.
    pub scale: &'a [f32],
}

impl<'a> Factors<'a> {
    /// Those of the blocks from `i` on.
    fn from(&self, i: usize) -> Factors<'a> {
        let rest = |of: &'a [f32]| &of[i.min(of.len())..];
        Factors { factor: rest(self.factor), block: rest(self.block), scale: rest(self.scale) }
    }
}

/// What becomes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `x * factor`, rounded to float32.
    Times,
    /// `x / factor`, rounded to float32.
    Divide,
    /// `x / (block * scale)`: a float32 that every target of at most 16 significant bits rounds as it would round the exact quotient.
    /// `factor` is `1 / (block * scale)` or a float32 beside it, and the scales are from 2^-64 to 2^64. Without `block` it is 1.
    Quotient {
        /// Whether there are scales of blocks beside `scale`.
        block: bool,
    },
    /// `x * block * scale`, rounded once if not `beside`; `x` has at most 8 significant bits.
    Product {
        /// Whether there are scales of blocks beside `scale`.
        block: bool,
        /// Whether the result is a float32 that every target of at most 16 significant bits rounds as it would round the exact product.
        /// The scales are from 2^-64 to 2^64 then, and those of blocks positive.
        beside: bool,
    },
}

/// A loop of [`Step`]: reads `n` words at the first address, writes as many at the second, in runs of the given length.
///
/// # Safety
///
/// The CPU has the tier. The words may be read and written; they are the same or do not overlap. Runs are not empty, and the
/// factors that the step reads are there for each.
pub(crate) type StepFn = unsafe fn(*const Word, *mut Word, usize, usize, &Factors<'_>);

/// What lets the exponent of a magnitude become the code of a scale.
#[derive(Clone, Copy, Debug)]
pub struct PowerRule {
    /// Added to the bits of a magnitude, so that a carry reaches the exponent where it is rounded up.
    pub addend: u32,
    /// Subtracted from the exponent field: at least 2, so that no subnormal magnitude has another code than 0.
    pub exponent: u32,
}

/// A loop of [`ScaledLoops::counts`].
///
/// # Safety
///
/// The CPU has the tier.
pub(crate) type CountsFn = unsafe fn(&[Word], &[Word], [f32; 2]) -> [u32; 3];

/// A loop of [`ScaledLoops::powers`].
///
/// # Safety
///
/// The CPU has the tier.
pub(crate) type PowersFn = unsafe fn(&[u32], PowerRule, &mut [u8], &mut [f32]);

/// The loops of a tier.
///
/// # Safety
///
/// The CPU has the tier; of steps, as of [`StepFn`].
pub(crate) struct Loops {
    pub(crate) amax_32: unsafe fn(&[Word], usize, &mut [u32]),
    pub(crate) amax_16: unsafe fn(&[[u8; 2]], usize, &mut [u16]),
    pub(crate) powers: PowersFn,
    pub(crate) counts: CountsFn,
    pub(crate) times: StepFn,
    pub(crate) divide: StepFn,
    /// Without and with a scale of blocks.
    pub(crate) quotient: [StepFn; 2],
    /// Without and with a scale of blocks; each nearest and beside.
    pub(crate) product: [[StepFn; 2]; 2],
}

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

    /// The same of float16 or bfloat16.
    #[inline]
    pub fn amax_16(self, x: &[[u8; 2]], run: usize, amaxes: &mut [u16]) {
        // SAFETY: the tier can run here.
        unsafe { (self.0.amax_16)(x, run.max(1), amaxes) }
    }

    /// The codes of `float8_e8m0fnu` for magnitudes, and the reciprocals of what they stand for; FF and NaN if it is not finite.
    #[inline]
    pub fn powers(self, amaxes: &[u32], rule: PowerRule, codes: &mut [u8], factors: &mut [f32]) {
        // SAFETY: the tier can run here.
        unsafe { (self.0.powers)(amaxes, rule, codes, factors) }
    }

    /// How many of `q` are above `max` in magnitude, and of those whose `x` is not zero, how many are not
    /// above `tiny` and how many are NaN.
    #[inline]
    pub fn counts(self, x: &[Word], q: &[Word], max: f32, tiny: f32) -> [u32; 3] {
        // SAFETY: the tier can run here.
        unsafe { (self.0.counts)(x, q, [max, tiny]) }
    }

    /// Does a step with all elements of `x`, for callers in the default floating-point environment. `false`, with nothing done, if the
    /// slices do not fit each other or a factor is missing.
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

/// Whether every run has the factors that the step reads.
fn fits(step: Step, n: usize, run: usize, factors: &Factors<'_>) -> bool {
    let runs = n.div_ceil(run.max(1));
    let (factor, block, scale) = match step {
        Step::Times | Step::Divide => (true, false, false),
        Step::Quotient { block } => (true, block, true),
        Step::Product { block, .. } => (false, block, true),
    };
    let there = |read: bool, of: &[f32]| !read || of.len() >= runs;
    run > 0 && there(factor, factors.factor) && there(block, factors.block) && there(scale, factors.scale)
}

/// Makes `scaled`, the loops of a tier: `$function` names its features and `$simd` its registers.
#[allow(unused_macros, reason = "targets without vectors have no such tier")]
macro_rules! define_scaled {
    ($function:ident, $simd:ty) => {
        /// The loops of [`crate::scaled`].
        pub(super) static SCALED: crate::scaled::Loops = {
            use crate::scaled::*;
            $function! {
                unsafe fn amax_32(x: &[Word], run: usize, amaxes: &mut [u32]) {
                    let runs = (x.len() / run).min(amaxes.len());
                    // SAFETY: the caller's promise for the instructions; these runs are whole.
                    let done = unsafe {
                        let m = <$simd as crate::vector::Simd>::new_unchecked();
                        match run {
                            16 => amax_of_runs::<$simd, 16>(m, x.as_ptr(), runs, amaxes.as_mut_ptr()),
                            32 => amax_of_runs::<$simd, 32>(m, x.as_ptr(), runs, amaxes.as_mut_ptr()),
                            _ => 0,
                        }
                    };
                    amax::<4, u32>(&x[done * run..], run, &mut amaxes[done..]);
                }
            }
            $function! {
                unsafe fn amax_16(x: &[[u8; 2]], run: usize, amaxes: &mut [u16]) {
                    const REGISTER: usize = size_of::<<$simd as crate::vector::Simd>::V>() / 2;
                    let runs = (x.len() / run).min(amaxes.len());
                    // SAFETY: the caller's promise for the instructions; these runs are whole.
                    let done = unsafe {
                        let m = <$simd as crate::vector::Simd>::new_unchecked();
                        if run == REGISTER {
                            amax_of_halves::<$simd, 1>(m, x.as_ptr(), runs, amaxes.as_mut_ptr())
                        } else if run == 2 * REGISTER {
                            amax_of_halves::<$simd, 2>(m, x.as_ptr(), runs, amaxes.as_mut_ptr())
                        } else {
                            0
                        }
                    };
                    amax::<2, u16>(&x[done * run..], run, &mut amaxes[done..]);
                }
            }
            $function! {
                unsafe fn powers_of(amaxes: &[u32], rule: PowerRule, codes: &mut [u8], factors: &mut [f32]) {
                    powers(amaxes, rule, codes, factors);
                }
            }
            $function! {
                unsafe fn counts_of(x: &[Word], q: &[Word], bounds: [f32; 2]) -> [u32; 3] {
                    counts(x, q, bounds)
                }
            }
            $function! {
                unsafe fn stepped<S: RegisterStep>(
                    x: *const Word,
                    q: *mut Word,
                    n: usize,
                    run: usize,
                    factors: &Factors<'_>,
                ) {
                    // SAFETY: as the caller's.
                    unsafe { by_runs::<$simd, S>(<$simd as crate::vector::Simd>::new_unchecked(), x, q, n, run, factors) }
                }
            }
            Loops {
                amax_32,
                amax_16,
                powers: powers_of,
                counts: counts_of,
                divide: stepped::<Divide>,
                times: stepped::<Times>,
                quotient: [stepped::<Exact<false>>, stepped::<Exact<true>>],
                product: [
                    [stepped::<Product<false, false>>, stepped::<Product<false, true>>],
                    [stepped::<Product<true, false>>, stepped::<Product<true, true>>],
                ],
            }
        };
    };
}
#[allow(unused_imports, reason = "as of the macro")]
pub(crate) use define_scaled;

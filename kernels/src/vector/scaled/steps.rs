//! The arithmetic steps of a scaled cast, and the loops of a tier that compute them.

use crate::format::data::Data;

/// An element of 32 bits, at any address.
pub type Word = [u8; 4];

/// The numbers of each block. A cast reads some of them, and these must exist for every block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Factors<'a> {
    /// The number that elements are multiplied or divided by.
    pub factor: &'a [f32],
    /// The scale of the block, if there is another scale for the tensor: positive, with at most 4 significant bits.
    pub block: &'a [f32],
    /// The only scale, or the scale of the tensor if blocks have scales as well.
    pub scale: &'a [f32],
}

impl<'a> Factors<'a> {
    /// The factors of the blocks from `i` on.
    pub(crate) fn from(&self, i: usize) -> Factors<'a> {
        let rest = |of: &'a [f32]| &of[i.min(of.len())..];
        Factors { factor: rest(self.factor), block: rest(self.block), scale: rest(self.scale) }
    }
}

/// The arithmetic on an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `x * factor`, rounded to float32.
    Times,
    /// `x / factor`, rounded to float32.
    Divide,
    /// `x / (block * scale)`: a float32 that every target of at most 16 significant bits rounds as it would round the exact quotient. `factor` is
    /// `1 / (block * scale)` or a neighbouring float32, and the scales are from 2^-64 to 2^64. Without `block` it counts as 1.
    Quotient {
        /// Whether blocks have scales in addition to `scale`.
        block: bool,
    },
    /// `x * block * scale`, rounded once unless `beside`; `x` has at most 8 significant bits.
    Product {
        /// Whether blocks have scales in addition to `scale`.
        block: bool,
        /// Whether the result is a float32 that every target of at most 16 significant bits rounds as it would round the exact product. If so, the
        /// scales are from 2^-64 to 2^64, and the scales of blocks are positive.
        beside: bool,
    },
}

/// A loop of [`Step`]: reads `n` words at the first address, and writes `n` words at the second, in runs of the given length.
///
/// # Safety
///
/// The CPU has the tier. The words may be read and written; the two ranges are the same or do not overlap. Runs are not empty, and every run has
/// the factors that the step reads.
pub(crate) type StepFn = unsafe fn(*const Word, *mut Word, usize, usize, &Factors<'_>);

/// How the exponent of a magnitude becomes the code of a scale.
#[derive(Clone, Copy, Debug)]
pub struct PowerRule {
    /// Added to the bits of a magnitude, so that a carry reaches the exponent if it rounds up.
    pub addend: u32,
    /// Subtracted from the exponent field. It is at least 2, so that every subnormal magnitude has the code 0.
    pub exponent: u32,
}

/// A loop of `ScaledLoops::counts`.
///
/// # Safety
///
/// The CPU has the tier.
pub(crate) type CountsFn = unsafe fn(&[Word], &[Word], [f32; 2]) -> [u32; 3];

/// A loop of `ScaledLoops::powers`.
///
/// # Safety
///
/// The CPU has the tier.
pub(crate) type PowersFn = unsafe fn(&[u32], PowerRule, &mut [u8], &mut [f32]);

/// The loops of a tier.
///
/// # Safety
///
/// The CPU has the tier; for loops of steps, as [`StepFn`].
pub(crate) struct Loops {
    pub(crate) amax_32: unsafe fn(&[Word], usize, &mut [u32]),
    pub(crate) amax_16: unsafe fn(&[[u8; 2]], usize, &mut [u16]),
    pub(crate) powers: PowersFn,
    pub(crate) counts: CountsFn,
    pub(crate) times: StepFn,
    pub(crate) divide: StepFn,
    /// Without and with scales of blocks.
    pub(crate) quotient: [StepFn; 2],
    /// Without and with scales of blocks; each rounded to nearest, or `beside`.
    pub(crate) product: [[StepFn; 2]; 2],
}

/// Whether every run has the factors that the step reads.
pub(crate) fn fits(step: Step, n: usize, run: usize, factors: &Factors<'_>) -> bool {
    let runs = n.div_ceil(run.max(1));
    let (factor, block, scale) = match step {
        Step::Times | Step::Divide => (true, false, false),
        Step::Quotient { block } => (true, block, true),
        Step::Product { block, .. } => (false, block, true),
    };
    let there = |read: bool, of: &[f32]| !read || of.len() >= runs;
    run > 0 && there(factor, factors.factor) && there(block, factors.block) && there(scale, factors.scale)
}

/// A loop over whole blocks.
///
/// # Safety
///
/// As [`vector::scaled::run`](crate::vector::scaled::run).
pub(crate) type FusedFn = unsafe fn(*const u8, *mut u8, usize, usize, &Factors<'_>, [&Data; 2]);

/// A loop over whole blocks, and the sizes that it requires.
#[derive(Clone, Copy)]
pub(crate) struct Fused {
    pub(crate) run: FusedFn,
    /// The number of lanes of its registers; four registers are a block.
    pub(crate) lanes: usize,
    /// The unit of runs: runs shorter than a block are multiples of this.
    pub(crate) least: usize,
}

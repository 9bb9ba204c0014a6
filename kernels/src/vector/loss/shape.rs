//! What a block is asked, and what comes back.

use super::exactness::Rounds;
use super::law::Loss;
use crate::vector::machine::BLOCK_BYTES;

/// The most ranges of any pair.
pub(crate) const MOST: usize = 5;

/// The codes `first..=last` after a mask, and their loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) mask: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) loss: Loss,
}

/// What one block is asked. Numbers are in the low bits, as wide as a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossTests {
    /// A lane `x` is in the range if `(x & mask) - first < span`.
    pub(crate) ranges: [InRange; MOST],
    /// The same codes in as few ranges as can be, or the numbers of [`ENDS`] and [`BOUNDS`], each as `first`.
    pub(crate) candidates: [InRange; MOST],
    /// All bits but the sign of a part: whether an imaginary part is zero.
    pub(crate) magnitude: u64,
    /// What `Fraction`, `Digits` or `Differs` has to know.
    pub(crate) exactness: [u64; 4],
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InRange {
    pub(crate) mask: u64,
    pub(crate) first: u64,
    pub(crate) span: u64,
}

impl InRange {
    pub(crate) fn new(range: &Range) -> Self {
        let span = range.last.wrapping_sub(range.first).wrapping_add(1);
        Self { mask: range.mask, first: range.first, span }
    }

    /// As the loops take it.
    pub(crate) const fn numbers(&self) -> [u64; 4] {
        [self.mask, self.first, self.span, 0]
    }
}

/// The losses of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossCounts {
    /// Lanes in each of the ranges.
    pub(crate) ranges: [u64; MOST],
    /// Imaginary parts other than zero.
    pub(crate) imaginary: u64,
    /// Lanes in no range that are rounded.
    pub(crate) inexact: u64,
    /// The result for each lane, in as many bytes as the lane has.
    pub(crate) lost: [u8; BLOCK_BYTES],
}

/// Which loop a pair needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Bytes of a lane.
    pub(crate) width: usize,
    /// Whether lanes alternate between a part that is cast and a part that must be zero.
    pub(crate) pairs: bool,
    /// How [`may_lose`] tests the ranges: their number, or one of the forms such as [`ENDS`] or [`BOUNDS`].
    pub(crate) ranges: usize,
    pub(crate) exactness: Rounds,
}

/// Two ranges: from a code to the largest without a sign, and from another to the largest with one. Maxima find them.
pub(crate) const ENDS: usize = MOST + 1;
/// As [`ENDS`], and one range more, the third candidate.
pub(crate) const ENDS_AND_ONE: usize = MOST + 2;
/// All signed numbers but those from one to another (or more ranges with nothing but NaNs between them).
pub(crate) const BOUNDS: usize = MOST + 3;

/// All integers but those from one to another, a power of two of them: `first` is the first of these and `span` their number.
pub(crate) const BITS: usize = MOST + 4;
/// One range that is all magnitudes from a code to infinity (NaNs, which may belong to it or not, may be lost as well).
pub(crate) const OVER: usize = MOST + 5;

//! What a block is asked, and what comes back.

use super::{exactness::Rounds, ranges};
use crate::{format::typed, machine::BLOCK_BYTES};

/// What one block is asked. Numbers are in the low bits, as wide as a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossTests {
    /// A lane `x` is in the range if `(x & mask) - first < span`.
    pub(super) ranges: [InRange; ranges::MOST],
    /// The same codes in as few ranges as can be, or the numbers of another [`Form`], each as `first`.
    pub(super) candidates: [InRange; ranges::MOST],
    /// All bits but the sign of a part: whether an imaginary part is zero.
    pub(super) magnitude: u64,
    /// What `Fraction`, `Digits` or `Differs` has to know.
    pub(super) exactness: [u64; 4],
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InRange {
    pub(super) mask: u64,
    pub(super) first: u64,
    pub(super) span: u64,
}

impl InRange {
    pub(super) fn new(range: &ranges::Range) -> Self {
        let span = range.last.wrapping_sub(range.first).wrapping_add(1);
        Self { mask: range.mask, first: range.first, span }
    }

    /// As the loops take it.
    pub(super) const fn numbers(&self) -> [u64; 4] {
        [self.mask, self.first, self.span, 0]
    }
}

/// The losses of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossCounts {
    /// Lanes in each of the ranges.
    pub(super) ranges: [u64; ranges::MOST],
    /// Imaginary parts other than zero.
    pub(super) imaginary: u64,
    /// Lanes in no range that are rounded.
    pub(super) inexact: u64,
    /// The result for each lane, in as many bytes as the lane has.
    pub(super) lost: [u8; BLOCK_BYTES],
}

/// Which loop a pair needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Bytes of a lane.
    pub(crate) width: usize,
    /// Whether lanes alternate between a part that is cast and a part that must be zero.
    pub(crate) pairs: bool,
    pub(crate) form: Form,
    pub(crate) exactness: Rounds,
}

/// How [`may_lose`](super::may_lose) tests the ranges of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// So many ranges, one after the other.
    Ranges(usize),
    /// Two ranges: from a code to the largest without a sign, and from another to the largest with one. Maxima find them.
    Ends,
    /// As [`Ends`](Form::Ends), and one range more, the third candidate.
    EndsAndOne,
    /// All signed numbers but those from one to another (or more ranges with nothing but NaNs between them).
    Bounds,
    /// All integers but those from one to another, a power of two of them: `first` is the first of these and `span` their number.
    Bits,
    /// One range that is all magnitudes from a code to infinity (NaNs, which may belong to it or not, may be lost as well).
    Over,
}

impl Form {
    /// How many ranges are tested one after the other.
    pub(crate) const fn count(self) -> usize {
        match self {
            Form::Ranges(count) => count,
            _ => 0,
        }
    }
}

typed! {
    /// A [`Form`] as a parameter of loops.
    trait Tested { FORM: Form }
    One = Form::Ranges(1);
    Two = Form::Ranges(2);
    Three = Form::Ranges(3);
    Ends = Form::Ends;
    EndsAndOne = Form::EndsAndOne;
    Bounds = Form::Bounds;
    Bits = Form::Bits;
    Over = Form::Over;
}

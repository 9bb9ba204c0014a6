//! The loss test of one block: inputs and results.

use super::{exactness::Rounds, law::Loss};
use crate::{format::typed, vector::machine::BLOCK_BYTES};

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

/// The inputs of the loss test of a block. Numbers are in the low bits, as wide as a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossTests {
    /// A lane `x` is in the range if `(x & mask) - first < span`.
    pub(crate) ranges: [InRange; MOST],
    /// The same codes in as few ranges as possible, or the numbers of another [`Form`], each as `first`.
    pub(crate) candidates: [InRange; MOST],
    /// All bits of a part except the sign: tests whether an imaginary part is zero.
    pub(crate) magnitude: u64,
    /// The parameters of `Fraction`, `Digits` or `Differs`.
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

    /// The parameters as the loops take them.
    pub(crate) const fn numbers(&self) -> [u64; 4] {
        [self.mask, self.first, self.span, 0]
    }
}

/// The results of the loss test of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossCounts {
    /// Lanes in each of the ranges.
    pub(crate) ranges: [u64; MOST],
    /// Imaginary parts other than zero.
    pub(crate) imaginary: u64,
    /// Rounded lanes that are in no range.
    pub(crate) inexact: u64,
    /// The result for each lane, as wide as the lane.
    pub(crate) lost: [u8; BLOCK_BYTES],
}

/// The properties of a pair that select its loops.
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
    /// This number of ranges, one after the other.
    Ranges(usize),
    /// Two ranges: from a code to the largest code without the sign bit, and from another to the largest code with it. Maxima find them.
    Ends,
    /// As [`Ends`](Form::Ends), with one more range, the third candidate.
    EndsAndOne,
    /// All signed numbers except one interval (or several ranges with only NaNs between them).
    Bounds,
    /// All integers except an interval whose length is a power of two: `first` is the first excluded integer and `span` their number.
    Bits,
    /// One range: all magnitudes from a code to infinity. (NaNs may be treated as lost, whether they belong to it or not.)
    Over,
}

impl Form {
    /// The number of ranges that are tested one after the other.
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

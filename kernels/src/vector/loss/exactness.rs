//! The tests of a lane: whether it is in a range, and whether a lane in range is rounded.

use super::lane::Lane;
use core::marker::PhantomData;

/// How rounding in range is detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rounds {
    Never,
    /// As `Fraction`, but every value below the normal numbers of the target may be lost, and the low bits decide for all others.
    Low,
    Fraction,
    Digits,
    Differs,
}

/// A test that a loop applies to each lane.
pub(crate) trait LossTest<L: Lane>: Copy {
    /// Whether the test uses the lanes of the result, cast back.
    const LOOKS_BACK: bool = false;
    /// Whether its instructions obey the floating-point environment. Integer instructions do not.
    const OBEYS_ENVIRONMENT: bool = true;
    fn new(numbers: [u64; 4]) -> Self;
}

/// An exact test.
pub(crate) trait Test<L: Lane>: LossTest<L> {
    /// Whether a lane is in the range or, for a lane in no range, whether it is rounded.
    fn holds(self, x: L, back: L) -> bool;
}

/// A test of few instructions, which may have false positives.
pub(crate) trait Residue<L: Lane>: LossTest<L> {
    /// A nonzero number if the lane may be rounded.
    fn residue(self, x: L, back: L) -> L;
}

/// Nothing is ever rounded.
#[derive(Clone, Copy)]
pub(crate) struct Never;

impl<L: Lane> LossTest<L> for Never {
    const OBEYS_ENVIRONMENT: bool = false;
    fn new(_: [u64; 4]) -> Self {
        Self
    }
}

impl<L: Lane> Test<L> for Never {
    #[inline(always)]
    fn holds(self, _: L, _: L) -> bool {
        false
    }
}

impl<L: Lane> Residue<L> for Never {
    #[inline(always)]
    fn residue(self, _: L, _: L) -> L {
        L::ZERO
    }
}

/// A float cast to a narrower float or an integer is rounded if the bits after the last one that the target keeps are not zero. Where
/// the target is subnormal (or an integer) it keeps whole multiples of one step: adding the float whose last bit is that step and
/// subtracting it again rounds to such multiples.
#[derive(Clone, Copy)]
pub(crate) struct Fraction<L> {
    magnitude: L,
    infinity: L,
    low: L,
    step: L,
}

macro_rules! fraction {
    ($($lane:ident $float:ident),*) => {$(
        impl LossTest<$lane> for Fraction<$lane> {
            fn new([magnitude, infinity, low, step]: [u64; 4]) -> Self {
                Self {
                    magnitude: magnitude as $lane,
                    infinity: infinity as $lane,
                    low: low as $lane,
                    step: step as $lane,
                }
            }
        }

        impl Test<$lane> for Fraction<$lane> {
            #[inline(always)]
            fn holds(self, x: $lane, _: $lane) -> bool {
                let x = x & self.magnitude;
                let (value, step) = ($float::from_bits(x), $float::from_bits(self.step));
                let whole = (value + step) - step;
                let between = (x < self.step) & (whole.to_bits() != x);
                (x < self.infinity) & ((x & self.low != 0) | between)
            }
        }

        impl Residue<$lane> for Fraction<$lane> {
            #[inline(always)]
            fn residue(self, x: $lane, _: $lane) -> $lane {
                let step = $float::from_bits(self.step);
                let value = $float::from_bits(x & self.magnitude);
                // NaN, too, becomes the step, which is a multiple of itself.
                let value = if value < step { value } else { step };
                // NaN has low bits as well; the exact test that counts excludes it.
                ((value + step) - step).to_bits() ^ value.to_bits() | x & self.low
            }
        }
    )*};
}
fraction!(u32 f32, u64 f64);

/// The fast test for [`Rounds::Low`], before [`Fraction`] is applied.
#[derive(Clone, Copy)]
pub(crate) struct Low<L>(L);

impl<L: Lane> LossTest<L> for Low<L> {
    const OBEYS_ENVIRONMENT: bool = false;
    fn new([_, _, low, _]: [u64; 4]) -> Self {
        Self(L::from_word(low))
    }
}

impl<L: Lane> Residue<L> for Low<L> {
    #[inline(always)]
    fn residue(self, x: L, _: L) -> L {
        x & self.0
    }
}

/// An integer cast to a float is rounded if it has more significant bits than the target.
#[derive(Clone, Copy)]
pub(crate) struct Digits<L> {
    /// All ones for signed integers.
    signed: L,
    digits: u32,
    lane: PhantomData<L>,
}

impl<L: Lane> LossTest<L> for Digits<L> {
    const OBEYS_ENVIRONMENT: bool = false;
    fn new([signed, digits, ..]: [u64; 4]) -> Self {
        Self { signed: L::from_word(signed), digits: digits as u32, lane: PhantomData }
    }
}

impl<L: Lane> Test<L> for Digits<L> {
    #[inline(always)]
    fn holds(self, x: L, _: L) -> bool {
        // One is subtracted from the lowest set bit, so that zero, which has no set bit, compares correctly.
        let below_lowest = !x & x.minus(L::from(true));
        let signed = (self.signed & x.magnitude()).plus(!self.signed & x);
        signed.shift_right(self.digits) > below_lowest
    }
}

impl<L: Lane> Residue<L> for Digits<L> {
    #[inline(always)]
    fn residue(self, x: L, _: L) -> L {
        // The value has more digits than the target, although the lowest may be zero.
        (self.signed & x.magnitude()).plus(!self.signed & x).shift_right(self.digits)
    }
}

/// A value is rounded if its result, cast back, differs from it. NaN and the sign of zero are not compared.
#[derive(Clone, Copy)]
pub(crate) struct Differs<L> {
    compared: L,
    nan: [L; 3],
}

impl<L: Lane> LossTest<L> for Differs<L> {
    const LOOKS_BACK: bool = true;
    const OBEYS_ENVIRONMENT: bool = false;
    fn new([compared, mask, first, span]: [u64; 4]) -> Self {
        Self { compared: L::from_word(compared), nan: [mask, first, span].map(L::from_word) }
    }
}

impl<L: Lane> Test<L> for Differs<L> {
    #[inline(always)]
    fn holds(self, x: L, back: L) -> bool {
        let [mask, first, span] = self.nan;
        let nan = (x & mask).minus(first) < span;
        !nan & ((x ^ back) & self.compared != L::ZERO)
    }
}

impl<L: Lane> Residue<L> for Differs<L> {
    #[inline(always)]
    fn residue(self, x: L, back: L) -> L {
        (x ^ back) & self.compared
    }
}

/// Whether a lane is in a range.
#[derive(Clone, Copy)]
pub(crate) struct Within<L> {
    pub(crate) mask: L,
    pub(crate) first: L,
    pub(crate) span: L,
}

impl<L: Lane> LossTest<L> for Within<L> {
    const OBEYS_ENVIRONMENT: bool = false;
    #[inline(always)]
    fn new([mask, first, span, _]: [u64; 4]) -> Self {
        Self { mask: L::from_word(mask), first: L::from_word(first), span: L::from_word(span) }
    }
}

impl<L: Lane> Test<L> for Within<L> {
    #[inline(always)]
    fn holds(self, x: L, _: L) -> bool {
        self.above_first(x) < self.span
    }
}

impl<L: Lane> Within<L> {
    #[inline(always)]
    pub(crate) fn above_first(self, x: L) -> L {
        (x & self.mask).minus(self.first)
    }
}

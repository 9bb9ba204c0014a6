//! What a cast does not keep: the law, and how a whole buffer is asked about it.
//!
//! # The law
//!
//! Every cast is total, and [`of_part`] says in exact arithmetic what became of a value: nothing, or one [`Loss`]. A value has at
//! most one; `docs/semantics.md`, section 11.
//!
//! # The method
//!
//! A cast keeps the order of values, so those that are lost in one way are ranges of codes of the source: `ranges` finds
//! their ends from the formats, without looking at any element. Whether a value in range is rounded is seen in its code as well
//! (the low bits of a float, the significant bits of an integer), or, for narrow sources, by casting the result back. So a
//! buffer is asked block by block: `loops` counts what the ranges hold in vector code, beside the cast of the same block, which
//! it leaves as it is; `watch` resolves what is tested, `run` goes over the blocks.
//!
//! # Departures
//!
//! A cast to bool asks whether a value is zero. That has an answer for every value, NaN too, so nothing is ever lost.

mod detector;
mod exactness;
mod lane;
mod loops;
mod loss_tests;
mod ranges;
mod run;

pub use detector::LossDetector;
pub(crate) use exactness::{Differs, Digits, Fraction, LossTest, Low, Never, Residue, Rounds, Test, Within};
pub(crate) use lane::Lane;
pub(crate) use loops::{Loops, MayLoseFn, TestFn, always_may_lose, define_loops, may_lose, pick_loops, test};
pub(crate) use loss_tests::{BITS, BOUNDS, ENDS, LossTests, OVER, Shape};
pub use run::Lost;

use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{self, Class, Exact, Rounding, Rules, rounded, shift_right},
};

/// What became of a value that the target could not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Clamped to an end of the range. (`float8_e8m0fnu`: or brought into it by the loss of its sign.)
    Saturated,
    /// Reduced modulo the range of an integer target.
    Wrapped,
    /// Finite, became infinite.
    Infinite,
    /// A number or an infinity, became NaN.
    MadeNan,
    /// NaN, became a number because the target has no NaN.
    LostNan,
    /// An imaginary part other than zero was dropped.
    Imaginary,
    /// Not zero, became zero in a float target. (The fraction that an integer target drops is [`Inexact`](Loss::Inexact).)
    Underflow,
    /// In range, but rounded.
    Inexact,
}

impl Loss {
    /// All of them, in the order of their numbers.
    pub const ALL: [Loss; 8] = [
        Loss::Saturated,
        Loss::Wrapped,
        Loss::Infinite,
        Loss::MadeNan,
        Loss::LostNan,
        Loss::Imaginary,
        Loss::Underflow,
        Loss::Inexact,
    ];

    /// Whether the value was outside the range of the target, which is more than being rounded.
    pub const fn is_out_of_range(self) -> bool {
        !matches!(self, Loss::Underflow | Loss::Inexact)
    }
}

/// How many values were lost in which way. Parts of complex numbers count one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Losses {
    counts: [u64; Loss::ALL.len()],
}

impl Losses {
    /// How many were lost in this way.
    pub const fn of(&self, loss: Loss) -> u64 {
        self.counts[loss as usize]
    }

    /// Counts `n` more.
    pub const fn add(&mut self, loss: Loss, n: u64) {
        self.counts[loss as usize] += n;
    }

    /// Counts all of `other` as well.
    pub fn merge(&mut self, other: &Losses) {
        Loss::ALL.iter().for_each(|loss| self.add(*loss, other.of(*loss)));
    }
}

/// What is lost of an element, given by its code in the low bits, the real part lowest: of the real part, and of the imaginary
/// one if there is any.
pub const fn loss(from: DType, to: DType, code: u128, rules: &Rules) -> [Option<Loss>; 2] {
    if from as u8 == to as u8 {
        return [None, None];
    }
    let (re, im) = exact::decode(from, code);
    let im = match (from.spec(), to.spec()) {
        (_, Spec::Bool) => None,
        (_, Spec::Complex(_)) => of_part(im, to, rules),
        _ if im.is_zero() => None,
        _ => Some(Loss::Imaginary),
    };
    [of_part(re, to, rules), im]
}

/// What is lost of one value on its way into (a part of) `to`.
pub(crate) const fn of_part(x: Exact, to: DType, rules: &Rules) -> Option<Loss> {
    match to.spec() {
        Spec::Bool => None,
        Spec::Int { bits, signed } => in_int(x, bits, signed, rules),
        Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => in_exponent(f, x, rules),
        Spec::Float(f) | Spec::Complex(f) => in_float(f, x, rules),
    }
}

const fn in_int(x: Exact, bits: u32, signed: bool, rules: &Rules) -> Option<Loss> {
    let outside = Some(if rules.saturate { Loss::Saturated } else { Loss::Wrapped });
    let max = u64::MAX >> (64 - bits + signed as u32);
    let end = match (x.negative, signed) {
        (true, true) => max + 1,
        (true, false) => 0,
        (false, _) => max,
    };
    match x.class {
        Class::Nan => Some(Loss::LostNan),
        Class::Infinite => outside,
        Class::Finite if x.significand == 0 => None,
        Class::Finite if x.exponent >= 0 => {
            if x.log2() >= 64 || x.significand << x.exponent > end {
                outside
            } else {
                None
            }
        }
        Class::Finite => {
            let shift = x.exponent.unsigned_abs();
            if shift_right(rules.rounding, x.negative, x.significand, shift) > end {
                outside
            } else if x.significand.trailing_zeros() < shift {
                Some(Loss::Inexact)
            } else {
                None
            }
        }
    }
}

const fn in_exponent(f: FloatSpec, x: Exact, rules: &Rules) -> Option<Loss> {
    if matches!(x.class, Class::Nan) {
        return None;
    }
    // What is NaN without saturation is what saturates with it.
    let code = exact::to_float(f, x, &Rules { saturate: false, ..*rules });
    if code == f.magnitude_mask() {
        Some(if rules.saturate { Loss::Saturated } else { Loss::MadeNan })
    } else if x.negative || x.significand == 0 || x.log2() < f.min_exponent() {
        Some(Loss::Saturated)
    } else if x.significand.is_power_of_two() {
        None
    } else {
        Some(Loss::Inexact)
    }
}

const fn in_float(f: FloatSpec, x: Exact, rules: &Rules) -> Option<Loss> {
    match x.class {
        Class::Nan if f.nan().is_none() => return Some(Loss::LostNan),
        Class::Nan => return None,
        Class::Finite if x.significand == 0 => return None,
        _ => {}
    }
    let became = Exact::from_float(f, exact::to_float(f, x, rules));
    match (x.class, became.class) {
        (Class::Infinite, Class::Infinite) => return None,
        (_, Class::Nan) => return Some(Loss::MadeNan),
        (_, Class::Infinite) => return Some(Loss::Infinite),
        (Class::Infinite, _) => return Some(Loss::Saturated),
        _ => {}
    }
    if rounded(f, x, rules.rounding) > f.max_finite() {
        Some(Loss::Saturated)
    } else if became.is_zero() {
        Some(Loss::Underflow)
    } else if same_magnitude(x, became) {
        None
    } else {
        Some(Loss::Inexact)
    }
}

/// Whether two finite values other than zero have the same magnitude.
const fn same_magnitude(x: Exact, y: Exact) -> bool {
    matches!(compare(x, y), core::cmp::Ordering::Equal)
}

/// Compares the magnitudes of finite values.
const fn compare(x: Exact, y: Exact) -> core::cmp::Ordering {
    use core::cmp::Ordering::{Equal, Greater, Less};
    match (x.significand == 0, y.significand == 0) {
        (true, true) => return Equal,
        (true, false) => return Less,
        (false, true) => return Greater,
        (false, false) => {}
    }
    let (a, b) = (x.log2(), y.log2());
    let (p, q) =
        (x.significand << x.significand.leading_zeros(), y.significand << y.significand.leading_zeros());
    if a < b || (a == b && p < q) {
        Less
    } else if a == b && p == q {
        Equal
    } else {
        Greater
    }
}

/// Whether a rounding rule sends what is half way between two integers of this parity to the larger magnitude.
const fn half_goes_up(rounding: Rounding, odd: bool) -> bool {
    match rounding {
        Rounding::NearestEven => odd,
        Rounding::NearestAway => true,
        Rounding::TowardZero | Rounding::Floor | Rounding::Ceil | Rounding::ToOdd => false,
    }
}

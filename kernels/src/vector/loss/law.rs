//! What a cast loses: the law, and how losses are detected in a whole buffer.
//!
//! # The law
//!
//! Every cast is total, and [`of_part`] determines in exact arithmetic what happened to a value: nothing, or one [`Loss`]. A value has
//! at most one loss; `docs/semantics.md`, section 11.
//!
//! # The method
//!
//! A cast preserves the order of values, so the values with one kind of loss are ranges of codes of the source: `ranges` computes
//! their ends from the formats, without reading any element. Whether a value in range is rounded also follows from its code (the low
//! bits of a float, the significant bits of an integer) or, for narrow sources, from casting the result back. So a buffer is tested block by
//! block: after the cast of a block, which is not changed, `loops` counts the codes in the ranges in vector code. `drive::loss` resolves the tests
//! and iterates over the blocks.
//!
//! # Departures
//!
//! A cast to bool tests whether a value is zero. Every value, even NaN, has a result, so nothing is ever lost.

use crate::{
    dtype::{DType, Flavor, FloatSpec, Spec},
    exact::{self, Class, Exact, Rounding, Rules, rounded, shift_right},
};

/// What happened to a value that the target could not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Clamped to an end of the range (or, for `float8_e8m0fnu`, brought into range by dropping the sign).
    Saturated,
    /// Reduced modulo the range of an integer target.
    Wrapped,
    /// A finite value became infinite.
    Infinite,
    /// A number or an infinity became NaN.
    MadeNan,
    /// NaN became a number because the target has no NaN.
    LostNan,
    /// An imaginary part other than zero was dropped.
    Imaginary,
    /// A nonzero value in range became zero: it was below the subnormal numbers of a float target, or an integer target dropped all of
    /// it. (A fraction dropped from a result that is not zero is [`Inexact`](Loss::Inexact).)
    Underflow,
    /// In range, but rounded.
    Inexact,
}

impl Loss {
    /// All losses, in the order of their numbers.
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

    /// Whether the value was outside the range of the target, rather than only rounded.
    pub const fn is_out_of_range(self) -> bool {
        !matches!(self, Loss::Underflow | Loss::Inexact)
    }
}

/// The number of values that had each kind of loss. The parts of a complex number count as two values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Losses {
    counts: [u64; Loss::ALL.len()],
}

impl Losses {
    /// The number of values that had this loss.
    pub const fn of(&self, loss: Loss) -> u64 {
        self.counts[loss as usize]
    }

    /// Counts `n` more.
    pub const fn add(&mut self, loss: Loss, n: u64) {
        self.counts[loss as usize] += n;
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Losses) {
        Loss::ALL.iter().for_each(|loss| self.add(*loss, other.of(*loss)));
    }
}

/// The losses of an element, which is given by its code in the low bits with the real part lowest: the loss of the real part, and of the imaginary
/// part if there is one.
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

/// The loss of one value in a cast to (a part of) `to`.
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
            let whole = shift_right(rules.rounding, x.negative, x.significand, shift);
            if whole > end {
                outside
            } else if whole == 0 {
                Some(Loss::Underflow)
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
    // A value saturates exactly if it would become NaN without saturation.
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

/// Whether two finite nonzero values have the same magnitude.
const fn same_magnitude(x: Exact, y: Exact) -> bool {
    matches!(compare(x, y), core::cmp::Ordering::Equal)
}

/// Compares the magnitudes of finite values.
pub(super) const fn compare(x: Exact, y: Exact) -> core::cmp::Ordering {
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

/// Whether a rounding rule rounds the midpoint above an integer of this parity to the larger magnitude.
pub(super) const fn half_goes_up(rounding: Rounding, odd: bool) -> bool {
    match rounding {
        Rounding::NearestEven => odd,
        Rounding::NearestAway => true,
        Rounding::TowardZero | Rounding::Floor | Rounding::Ceil | Rounding::ToOdd => false,
    }
}

//! Parses one element from text; `docs/semantics.md`, section 8.1, defines the grammar and the results.
//!
//! *Law.* [`number`] returns a value of at most 64 bits that compares with the values of every small format, and with the midpoints between them,
//! as the exact decimal does. These values and midpoints are multiples of `2^-127` below `2^130`, so their decimals have at most [`PLACES`] places
//! after the point. Therefore rounding the returned value once rounds the decimal once.
//!
//! *Method.* The decimal is divided exactly and cut to 64 bits; the last bit is set if anything was cut off. Up to 19 digits with a small exponent
//! are divided in 128 bits, others in a number of fixed size; digits after its last place only set the last bit.
//!
//! The module `text` of the crate `lanecast` does the same for columns of text and all dtypes, at high speed. This module is for single values of
//! a byte, and tests compare the two.

use crate::exact::{Rules, float_spec, to_float};
use crate::{
    dtype::{DType, Spec},
    exact::{Class, Exact, Rounding, shift_right},
};
use alloc::string::String;
use core::fmt;

/// The code nearest to a value under the default rules.
pub(super) const fn nearest(to: DType, x: Exact) -> u8 {
    to_float(float_spec(to), x, &Rules::common(to, true)) as u8
}

/// The error for a text that is no element of a dtype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseElementError {
    /// The beginning of the text.
    text: String,
    reason: Reason,
    to: DType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Empty,
    NotANumber,
    OutOfRange,
    Nan,
}

impl ParseElementError {
    #[cold]
    fn new(text: &str, reason: Reason, to: DType) -> Self {
        // The number of characters of the text that the error repeats.
        const SHOWN: usize = 40;
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push_str("...");
        }
        ParseElementError { text: shown, reason, to }
    }

    /// The dtype that does not contain the value.
    pub const fn dtype(&self) -> DType {
        self.to
    }
}

impl fmt::Display for ParseElementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseElementError { text, reason, to } = self;
        match reason {
            Reason::Empty => write!(f, "{text:?} is empty; {to} needs a number"),
            Reason::NotANumber => write!(f, "{text:?} is not a number that {to} can be read from"),
            Reason::OutOfRange => write!(f, "{text:?} is out of the range of {to}"),
            Reason::Nan => write!(f, "{text:?} is a NaN, which {to} does not have"),
        }
    }
}

impl core::error::Error for ParseElementError {}

/// The code of a small float.
pub(super) fn float(text: &str, to: DType) -> Result<u8, ParseElementError> {
    match number(trim(text.as_bytes())) {
        Ok(x) => Ok(nearest(to, x)),
        Err(reason) => Err(ParseElementError::new(text, reason, to)),
    }
}

/// The code of a small integer; the fraction of the text is dropped.
pub(super) fn int(text: &str, to: DType) -> Result<u8, ParseElementError> {
    whole(trim(text.as_bytes()), to).map_err(|reason| ParseElementError::new(text, reason, to))
}

fn whole(text: &[u8], to: DType) -> Result<u8, Reason> {
    let Spec::Int { bits, signed } = to.spec() else { unreachable!("a small integer") };
    let x = number(text)?;
    let magnitude = match x.class {
        Class::Nan => return Err(Reason::Nan),
        Class::Infinite => return Err(Reason::OutOfRange),
        Class::Finite if x.is_zero() || x.log2() < 0 => 0,
        Class::Finite if x.log2() >= 8 => return Err(Reason::OutOfRange),
        Class::Finite if x.exponent >= 0 => x.significand << x.exponent,
        Class::Finite => {
            shift_right(Rounding::TowardZero, x.negative, x.significand, x.exponent.unsigned_abs())
        }
    };
    let limit = match (signed, x.negative) {
        (true, true) => 1 << (bits - 1),
        (true, false) => (1 << (bits - 1)) - 1,
        (false, true) => 0,
        (false, false) => (1 << bits) - 1,
    };
    if magnitude > limit {
        return Err(Reason::OutOfRange);
    }
    let code = if x.negative { magnitude.wrapping_neg() } else { magnitude };
    Ok(code as u8 & (0xFF >> (8 - bits)))
}

/// The text without the white space of the grammar on both sides. The grammar has one more character than ASCII white space in Rust.
fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t'..=b'\r', rest @ ..] | [rest @ .., b' ' | b'\t'..=b'\r'] = text {
        text = rest;
    }
    text
}

/// The value of a text that has no white space around it.
fn number(text: &[u8]) -> Result<Exact, Reason> {
    if text.is_empty() {
        return Err(Reason::Empty);
    }
    let (negative, unsigned) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let is = |word: &[u8]| unsigned.eq_ignore_ascii_case(word);
    let magnitude = if is(b"nan") {
        Exact { class: Class::Nan, ..Exact::ZERO }
    } else if is(b"inf") || is(b"infinity") {
        Exact { class: Class::Infinite, ..Exact::ZERO }
    } else {
        Decimal::read(unsigned).ok_or(Reason::NotANumber)?.value()
    };
    Ok(Exact { negative, ..magnitude })
}

/// A finite unsigned number as it is written.
struct Decimal<'a> {
    /// The digits before the point.
    whole: &'a [u8],
    /// The digits after the point.
    fraction: &'a [u8],
    /// The written exponent, clamped to bounds that zeros in a text that fits in memory cannot offset.
    exponent: i64,
}

/// The leading digits of a text, and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

impl<'a> Decimal<'a> {
    /// Reads a whole text; `None` if it is no number.
    fn read(text: &'a [u8]) -> Option<Self> {
        let (whole, rest) = digits(text);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => digits(rest),
            _ => (&[][..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => {
                let (negative, rest) = match rest {
                    [b'-', rest @ ..] => (true, rest),
                    [b'+', rest @ ..] => (false, rest),
                    _ => (false, rest),
                };
                let (written, rest) = digits(rest);
                if written.is_empty() || !rest.is_empty() {
                    return None;
                }
                let magnitude =
                    written.iter().fold(0, |x: i64, byte| (10 * x + i64::from(byte - b'0')).min(1 << 56));
                if negative { -magnitude } else { magnitude }
            }
            _ => return None,
        };
        Some(Decimal { whole, fraction, exponent })
    }

    /// The value, by the law of the module.
    fn value(&self) -> Exact {
        let all = || self.whole.iter().chain(self.fraction).map(|byte| byte - b'0');
        let zeros = all().take_while(|&digit| digit == 0).count();
        let count = self.whole.len() + self.fraction.len() - zeros;
        let significant = all().skip(zeros);
        // The number is 0.d1 d2 d3 ... * 10^point.
        let point = self.whole.len() as i64 - zeros as i64 + self.exponent;
        match point {
            _ if count == 0 => Exact::ZERO,
            // Out of every format's range.
            MAX_POINT.. => Exact::finite(1, 200),
            ..MIN_POINT => Exact::finite(1, -200),
            _ if count <= 19 && (point - count as i64).abs() <= 27 => {
                let number = significant.fold(0, |x, digit| 10 * x + u64::from(digit));
                scaled(number, (point - count as i64) as i32)
            }
            _ => fixed(significant, (point + PLACES) as usize),
        }
    }
}

/// The digits after the point that a number of a small format may have, and some more.
const PLACES: i64 = 140;
/// No format has a number of `10^49` or more.
const MAX_POINT: i64 = 50;
/// No format has a number below `10^-50`.
const MIN_POINT: i64 = -50;

/// `number * 10^exponent`; the number is not 0.
fn scaled(number: u64, exponent: i32) -> Exact {
    let number = u128::from(number);
    let five = u128::from(5_u64.pow(exponent.unsigned_abs()));
    if exponent >= 0 {
        return odd(number * five, exponent, false);
    }
    // The quotient has more than 64 bits.
    let shift = number.leading_zeros();
    let number = number << shift;
    odd(number / five, exponent - shift as i32, number % five != 0)
}

/// `x * 2^exponent`, cut to 64 bits; the last bit is set if anything was cut off. `more` says that a fraction of `x` was cut off before.
pub(super) const fn odd(x: u128, exponent: i32, more: bool) -> Exact {
    let shift = 64_u32.saturating_sub(x.leading_zeros());
    let more = more || x & ((1 << shift) - 1) != 0;
    Exact::finite((x >> shift) as u64 | more as u64, exponent + shift as i32)
}

/// Limbs of `10^(MAX_POINT + PLACES) * 2^60`, which has 692 bits.
const LIMBS: usize = 11;
/// Units of [`fixed`] are `2^-FRACTION`: less than the distance between any two numbers of a small format.
const FRACTION: i32 = 200;

/// The value of digits, where the first `places` digits go down to `10^-PLACES`.
#[cold]
fn fixed(mut digits: impl Iterator<Item = u8>, places: usize) -> Exact {
    // The lowest limb first.
    let mut limbs = [0_u64; LIMBS];
    let multiply_add = |limbs: &mut [u64; LIMBS], factor: u64, add: u8| {
        let mut carry = u128::from(add);
        for limb in limbs {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
    };
    for _ in 0..places {
        multiply_add(&mut limbs, 10, digits.next().unwrap_or(0));
    }
    let mut more = digits.any(|digit| digit != 0);
    // 10^-PLACES is 5^-PLACES * 2^-PLACES.
    multiply_add(&mut limbs, 1 << (FRACTION - PLACES as i32), 0);
    let mut left = PLACES as u32;
    while left > 0 {
        let step = left.min(27);
        let divisor = u128::from(5_u64.pow(step));
        let mut rest = 0;
        for limb in limbs.iter_mut().rev() {
            let part = rest << 64 | u128::from(*limb);
            *limb = (part / divisor) as u64;
            rest = part % divisor;
        }
        more |= rest != 0;
        left -= step;
    }
    // The highest limb that is not 0, and the limb below it.
    let top = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(0).max(1);
    more |= limbs[..top - 1].iter().any(|&limb| limb != 0);
    let x = u128::from(limbs[top]) << 64 | u128::from(limbs[top - 1]);
    odd(x, 64 * (top as i32 - 1) - FRACTION, more)
}

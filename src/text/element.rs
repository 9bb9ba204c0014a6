//! Parses one text to one element of a stage, the intermediate dtype that is then cast to the target.
//!
//! *Law.* The cast from the result of a [`Reader`] to the target loses nothing but the one rounding that the options specify.

use super::{
    binary::{Stand, stand_in},
    error::BadText,
    exact::integer,
    scan::{Decimal, Visitor, number, trim},
};
use crate::options::IntRound;
use lanecast_kernels::Element;
use num_complex::Complex;

/// Parses texts to elements of a stage.
pub(super) trait Reader: Copy {
    /// The element of the stage.
    type Item: Element + Default;
    /// Reads a text, with white space on both sides or none.
    fn read(self, text: &[u8]) -> Result<Self::Item, BadText>;
    /// The element that is cast to a NaN.
    fn nan() -> Self::Item;
}

/// Visits a text that must be a number as a whole.
#[inline(always)]
fn whole<V: Visitor>(text: &[u8], visitor: V) -> Result<V::Out, BadText> {
    let text = trim(text);
    match number(text, visitor) {
        Some((out, end)) if end == text.len() => Ok(out),
        _ => Err(bad(text)),
    }
}

#[cold]
fn bad(trimmed: &[u8]) -> BadText {
    if trimmed.is_empty() { BadText::Empty } else { BadText::NotANumber }
}

/// `true`, `false`, or whether a number is not 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bools;

impl Reader for Bools {
    type Item = u8;

    #[inline]
    fn read(self, text: &[u8]) -> Result<u8, BadText> {
        let text = trim(text);
        if text.eq_ignore_ascii_case(b"true") {
            return Ok(1);
        }
        if text.eq_ignore_ascii_case(b"false") {
            return Ok(0);
        }
        whole(text, self)
    }

    fn nan() -> u8 {
        1
    }
}

impl Visitor for Bools {
    type Out = u8;
    #[inline(always)]
    fn finite(self, decimal: &Decimal<'_>) -> u8 {
        // There is a significant digit, however small the number is.
        u8::from(decimal.digits != 0)
    }
    fn infinite(self, _: bool) -> u8 {
        1
    }
    fn nan(self, _: bool) -> u8 {
        1
    }
}

/// Integers, as the low bits of their two's complement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ints {
    /// The largest magnitude of a negative number.
    below: u64,
    /// The largest number.
    above: u64,
    round: IntRound,
}

impl Ints {
    pub fn new(bits: u32, signed: bool, round: IntRound) -> Ints {
        let all = u64::MAX >> (64 - bits);
        if signed {
            Ints { below: all / 2 + 1, above: all / 2, round }
        } else {
            Ints { below: 0, above: all, round }
        }
    }
}

impl Reader for Ints {
    type Item = u64;

    #[inline]
    fn read(self, text: &[u8]) -> Result<u64, BadText> {
        whole(text, self)?
    }

    fn nan() -> u64 {
        0
    }
}

impl Visitor for Ints {
    type Out = Result<u64, BadText>;

    #[inline(always)]
    fn finite(self, decimal: &Decimal<'_>) -> Result<u64, BadText> {
        let magnitude = if decimal.is_plain() { Some(decimal.digits) } else { integer(decimal, self.round) };
        let limit = if decimal.negative { self.below } else { self.above };
        match magnitude {
            Some(magnitude) if magnitude <= limit => {
                Ok(if decimal.negative { magnitude.wrapping_neg() } else { magnitude })
            }
            _ => Err(BadText::OutOfRange),
        }
    }
    fn infinite(self, _: bool) -> Result<u64, BadText> {
        Err(BadText::OutOfRange)
    }
    fn nan(self, _: bool) -> Result<u64, BadText> {
        Err(BadText::Nan)
    }
}

/// Floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reals(pub Stand);

/// A quiet NaN; the sign is kept.
const NAN: u64 = 0x7FF8 << 48;
const INFINITY: u64 = 0x7FF0 << 48;

impl Visitor for Reals {
    /// A code: no arithmetic is done on the floats themselves.
    type Out = u64;

    #[inline(always)]
    fn finite(self, decimal: &Decimal<'_>) -> u64 {
        stand_in(decimal, self.0)
    }
    fn infinite(self, negative: bool) -> u64 {
        INFINITY | u64::from(negative) << 63
    }
    fn nan(self, negative: bool) -> u64 {
        NAN | u64::from(negative) << 63
    }
}

impl Reader for Reals {
    type Item = f64;

    #[inline]
    fn read(self, text: &[u8]) -> Result<f64, BadText> {
        whole(text, self).map(f64::from_bits)
    }

    fn nan() -> f64 {
        f64::from_bits(NAN)
    }
}

/// Complex numbers as Python's `complex` reads them: a real number, `bj`, or `a+bj`, with or without parentheses. `b` may be only a
/// sign or, without `a`, empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complexes(pub Reals);

impl Complexes {
    fn parts(self, text: &[u8]) -> Option<Complex<f64>> {
        let text = trim(text);
        let text = match text {
            [b'(', inner @ .., b')'] => trim(inner),
            _ => text,
        };
        // The number at the start of a text and what follows.
        let part = |text: &[u8]| number(text, self.0).map(|(code, end)| (f64::from_bits(code), end));
        let (re, text) = match part(text) {
            Some((re, end)) => match &text[end..] {
                [] => return Some(Complex::new(re, 0.0)),
                [b'j' | b'J'] => return Some(Complex::new(0.0, re)),
                rest @ [b'+' | b'-', ..] => (re, rest),
                _ => return None,
            },
            None => (0.0, text),
        };
        if let Some((im, end)) = part(text) {
            // Two numbers; a single one was handled above.
            return matches!(text[end..], [b'j' | b'J']).then_some(Complex::new(re, im));
        }
        match text {
            [b'j' | b'J'] | [b'+', b'j' | b'J'] => Some(Complex::new(re, 1.0)),
            [b'-', b'j' | b'J'] => Some(Complex::new(re, -1.0)),
            _ => None,
        }
    }
}

impl Reader for Complexes {
    type Item = Complex<f64>;

    #[inline]
    fn read(self, text: &[u8]) -> Result<Complex<f64>, BadText> {
        self.parts(text).ok_or_else(|| bad(trim(text)))
    }

    fn nan() -> Complex<f64> {
        Complex::new(f64::from_bits(NAN), f64::from_bits(NAN))
    }
}

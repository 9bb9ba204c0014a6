//! Decimals: the grammar of section 8.1 and exact arithmetic with big integers.
//!
//! *Law.* A decimal is brought to the rest of the oracle as a [`Value`] with 64 bits, the last of which is set if anything lies below
//! it. Every number that a rule compares with, a value of a target or the middle between two, has 54 bits or fewer, so it lies on
//! the same side of all of them as the decimal. Integers are rounded here, exactly.

use crate::oracle::{
    encode::encode,
    format::{Class, class},
    value::{Dyadic, Nan, Value},
};
use lanecast::{CastOptions, DType, IntRound, text::BadText};
use num_bigint::BigUint;

/// `digits * 10^exponent` with a sign.
#[derive(Clone, Debug)]
pub struct Decimal {
    /// There is a minus.
    pub negative: bool,
    /// All digits as an integer.
    pub digits: BigUint,
    /// The power of ten of the last digit.
    pub exponent: i32,
}

/// What a text says.
#[derive(Clone, Debug)]
pub enum Text {
    /// A number.
    Finite(Decimal),
    /// An infinity.
    Infinite(bool),
    /// A NaN.
    Nan(bool),
}

/// Reads a text by the grammar; exponents of up to nine digits.
pub fn read(text: &[u8]) -> Option<Text> {
    let space = |byte: &u8| b" \t\n\x0b\x0c\r".contains(byte);
    let text: Vec<u8> = text.iter().copied().skip_while(space).collect();
    let text: Vec<u8> = text.into_iter().rev().skip_while(space).collect();
    let text: Vec<u8> = text.into_iter().rev().collect();
    let text = String::from_utf8(text).ok()?.to_ascii_lowercase();
    let (negative, text) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => (false, &text[..]),
    };
    match text {
        "inf" | "infinity" => return Some(Text::Infinite(negative)),
        "nan" => return Some(Text::Nan(negative)),
        _ => {}
    }
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, written) = match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !all_digits(digits) {
                return None;
            }
            (mantissa, exponent.parse().ok()?)
        }
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !all_digits(&digits) {
        return None;
    }
    let digits = digits.parse().expect("digits");
    Some(Text::Finite(Decimal { negative, digits, exponent: written - fraction.len() as i32 }))
}

impl Decimal {
    /// The magnitude as a fraction.
    fn fraction(&self) -> (BigUint, BigUint) {
        if self.digits == BigUint::ZERO {
            return (BigUint::ZERO, BigUint::ZERO + 1_u8);
        }
        let power = BigUint::from(10_u8).pow(self.exponent.unsigned_abs());
        if self.exponent < 0 {
            (self.digits.clone(), power)
        } else {
            (&self.digits * power, BigUint::ZERO + 1_u8)
        }
    }

    /// See the module.
    pub fn value(&self) -> Value {
        let (over, under) = self.fraction();
        if over == BigUint::ZERO {
            return Value::finite(self.negative, 0, 0);
        }
        // 62 or 63 bits and a bit for the rest.
        let shift = 62 - (over.bits() as i64 - under.bits() as i64);
        let (over, under) = match shift {
            0.. => (over << shift, under),
            _ => (over, under << -shift),
        };
        let (quotient, rest) = (&over / &under, &over % &under);
        let sig = u64::try_from(quotient).expect("63 bits") << 1 | u64::from(rest != BigUint::ZERO);
        Value::finite(self.negative, sig, -(shift as i32) - 1)
    }

    /// The magnitude, rounded.
    fn integer(&self, round: IntRound) -> BigUint {
        let (over, under) = self.fraction();
        let (whole, rest) = (&over / &under, &over % &under);
        let half = (rest.clone() * 2_u8).cmp(&under);
        let up = match round {
            IntRound::TowardZero => false,
            IntRound::NearestEven => half.is_gt() || (half.is_eq() && whole.bit(0)),
            IntRound::NearestAway => half.is_ge(),
            IntRound::Floor => self.negative && rest != BigUint::ZERO,
            IntRound::Ceil => !self.negative && rest != BigUint::ZERO,
            other => unreachable!("{other:?} is new, and has no rule here"),
        };
        whole + u8::from(up)
    }
}

/// The element that a text is parsed to; not to complex numbers.
pub fn parse(to: DType, options: &CastOptions, text: &[u8]) -> Result<u128, BadText> {
    if class_is_bool(to) {
        match text.trim_ascii().to_ascii_lowercase().as_slice() {
            b"true" => return Ok(1),
            b"false" => return Ok(0),
            _ => {}
        }
    }
    let blank = text.iter().all(|byte| b" \t\n\x0b\x0c\r".contains(byte));
    let read = read(text).ok_or(if blank { BadText::Empty } else { BadText::NotANumber })?;
    if let Class::Int { bits, signed } = class(to) {
        let decimal = match read {
            Text::Finite(decimal) => decimal,
            Text::Infinite(_) => return Err(BadText::OutOfRange),
            Text::Nan(_) => return Err(BadText::Nan),
        };
        let magnitude =
            u128::try_from(decimal.integer(options.int_round)).map_err(|_| BadText::OutOfRange)?;
        let limit = match (signed, decimal.negative) {
            (true, negative) => (1 << (bits - 1)) - u128::from(!negative),
            (false, true) => 0,
            (false, false) => (1 << bits) - 1,
        };
        if magnitude > limit {
            return Err(BadText::OutOfRange);
        }
        let code = if decimal.negative { magnitude.wrapping_neg() } else { magnitude };
        return Ok(code & (u128::MAX >> (128 - bits)));
    }
    let value = match read {
        Text::Finite(decimal) => decimal.value(),
        Text::Infinite(negative) => Value::Infinite { negative },
        Text::Nan(negative) => Value::Nan(Nan { negative, payload: Some(1 << 63) }),
    };
    Ok(encode(value, DType::Float64, class(to), options).into())
}

fn class_is_bool(to: DType) -> bool {
    matches!(class(to), Class::Bool)
}

/// All digits of a number, without a zero in front, and the power of ten of the last.
pub fn digits(number: Dyadic) -> (String, i32) {
    let sig = BigUint::from(number.sig);
    match number.exp {
        0.. => ((sig << number.exp).to_string(), 0),
        exp => ((sig * BigUint::from(5_u8).pow(exp.unsigned_abs())).to_string(), exp),
    }
}

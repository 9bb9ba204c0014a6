//! The independent exact oracle: what every cast returns, from the definitions of the formats alone.
//!
//! *Law.* An element code stands for an exact value: a dyadic rational `sig * 2^exp` with a sign, an infinity or a
//! NaN. A cast is that value, put into the target by *comparison*: the representable magnitudes of a format grow with
//! their codes, so the two neighbours of a value are found by binary search and the choice between them by comparing
//! the value with their exact midpoint. There is no rounding of bit fields, no floating-point arithmetic and no use
//! of the crate's own definitions here, so that a mistake in the kernels cannot be repeated: [`format`](mod@format)
//! states the formats again, [`value`] holds the exact arithmetic, [`encode`] the rules of `docs/semantics.md`,
//! [`packed`] the packed storages.
//!
//! Element codes are `u128`s with the bits in the low end; of a complex number the real part is the low half.

#![allow(dead_code, reason = "every test binary uses another part of the oracle")]

pub mod encode;
pub mod format;
pub mod loss;
pub mod packed;
pub mod value;

use format::{Class, class};
use lanecast::{CastOptions, DType};
use value::{Nan, Value};

/// The element of `to` that `bits`, an element of `from`, is cast to. Bits above the width of `from` are ignored.
pub fn cast(from: DType, to: DType, options: &CastOptions, bits: u128) -> u128 {
    let bits = bits & mask(from);
    if from == to {
        return if from == DType::Bool { u128::from(bits != 0) } else { bits };
    }
    match (class(from), class(to)) {
        (Class::Complex(part), Class::Bool) => {
            let (re, im) = halves(part, bits);
            u128::from(cast(part, to, options, re) | cast(part, to, options, im) != 0)
        }
        (Class::Complex(part), Class::Complex(to_part)) => {
            let (re, im) = halves(part, bits);
            join(to_part, cast(part, to_part, options, re), cast(part, to_part, options, im))
        }
        // Of a complex number that becomes real only the real part counts.
        (Class::Complex(part), _) => cast(part, to, options, halves(part, bits).0),
        (_, Class::Complex(part)) => join(part, cast(from, part, options, bits), 0),
        (_, target) => {
            // A bfloat16 NaN becomes a float32 by a pure shift, signalling bit untouched; every other pair quietens
            // it.
            if (from, to) == (DType::BFloat16, DType::Float32) && matches!(value(from, bits), Value::Nan(_)) {
                return bits << 16;
            }
            u128::from(encode::encode(value(from, bits), from, target, options))
        }
    }
}

/// The exact value of an element that is not complex.
pub fn value(dtype: DType, bits: u128) -> Value {
    let bits = (bits & mask(dtype)) as u64;
    match class(dtype) {
        Class::Bool => Value::integer(false, u64::from(bits != 0)),
        Class::Int { bits: width, signed } => {
            let negative = signed && bits >> (width - 1) != 0;
            let magnitude = if negative { (1_u128 << width) - u128::from(bits) } else { u128::from(bits) };
            Value::integer(negative, magnitude as u64)
        }
        Class::PowerOfTwo => match bits {
            0xFF => Value::Nan(Nan { negative: false, payload: None }),
            code => Value::finite(false, 1, code as i32 - 127),
        },
        Class::Float(format) => format.decode(bits),
        Class::Complex(_) => panic!("a complex element has two values"),
    }
}

/// The width of an element in bits.
pub fn width(dtype: DType) -> u32 {
    match class(dtype) {
        Class::Bool | Class::PowerOfTwo => 8,
        Class::Int { bits, .. } => bits,
        Class::Float(format) => format.width,
        Class::Complex(part) => 2 * width(part),
    }
}

/// All bits of an element.
pub fn mask(dtype: DType) -> u128 {
    u128::MAX >> (128 - width(dtype))
}

/// The real and the imaginary part of a complex element.
pub fn halves(part: DType, bits: u128) -> (u128, u128) {
    (bits & mask(part), bits >> width(part) & mask(part))
}

/// The complex element of these parts.
pub fn join(part: DType, re: u128, im: u128) -> u128 {
    re | im << width(part)
}

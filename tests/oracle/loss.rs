//! Section 9.1: what a cast loses of a value, by comparison of exact values.

use super::encode::{Whole, overflows_to_infinity, round, saturates, to_whole};
use super::format::{Class, Rules, class};
use super::value::{Dyadic, Value};
use super::{halves, value};
use lanecast::{CastOptions, DType, E8M0Range, E8M0Round, IntOverflow};

/// Why a value does not stay what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Saturated,
    Wrapped,
    Infinite,
    MadeNan,
    LostNan,
    Imaginary,
    Underflow,
    Inexact,
}

impl Loss {
    /// Whether `Level::Range` rejects it.
    pub fn is_out_of_range(self) -> bool {
        !matches!(self, Loss::Underflow | Loss::Inexact)
    }
}

/// What is lost of the real part of an element, and of the imaginary one.
pub fn losses(from: DType, to: DType, options: &CastOptions, bits: u128) -> [Option<Loss>; 2] {
    if from == to || to == DType::Bool {
        return [None; 2];
    }
    match (class(from), class(to)) {
        (Class::Complex(part), Class::Complex(to_part)) => {
            let (re, im) = halves(part, bits);
            [re, im].map(|bits| losses(part, to_part, options, bits)[0])
        }
        (Class::Complex(part), _) => {
            let (re, im) = halves(part, bits);
            let zero = matches!(value(part, im), Value::Finite { magnitude, .. } if magnitude.is_zero());
            [losses(part, to, options, re)[0], (!zero).then_some(Loss::Imaginary)]
        }
        (_, Class::Complex(part)) => losses(from, part, options, bits),
        (_, Class::Int { bits: width, signed }) => {
            let from_int = matches!(class(from), Class::Int { .. } | Class::Bool);
            let overflow = if from_int { options.int_to_int } else { options.float_to_int };
            [to_int(value(from, bits), width, signed, overflow, options), None]
        }
        (_, Class::PowerOfTwo) => [to_power_of_two(value(from, bits), options), None],
        (_, Class::Float(_)) => [to_float(value(from, bits), to, options), None],
        (_, Class::Bool) => [None; 2],
    }
}

fn to_int(x: Value, bits: u32, signed: bool, overflow: IntOverflow, options: &CastOptions) -> Option<Loss> {
    let outside = Some(if overflow == IntOverflow::Wrap { Loss::Wrapped } else { Loss::Saturated });
    let (negative, magnitude) = match x {
        Value::Nan(_) => return Some(Loss::LostNan),
        Value::Infinite { .. } => return outside,
        Value::Finite { negative, magnitude } => (negative, magnitude),
    };
    let end = match (negative, signed) {
        (false, true) => (1_u128 << (bits - 1)) - 1,
        (false, false) => (1_u128 << bits) - 1,
        (true, true) => 1_u128 << (bits - 1),
        (true, false) => 0,
    };
    match to_whole(negative, magnitude, options.int_round) {
        Whole::Small(n) if n <= end => {
            let same = match u64::try_from(n) {
                Ok(n) => Dyadic { sig: n, exp: 0 } == magnitude,
                Err(_) => true,
            };
            match same {
                true => None,
                false if n == 0 => Some(Loss::Underflow),
                false => Some(Loss::Inexact),
            }
        }
        _ => outside,
    }
}

fn to_power_of_two(x: Value, options: &CastOptions) -> Option<Loss> {
    let saturate = saturates(DType::Float8E8M0FNU, options);
    let outside = Some(if saturate { Loss::Saturated } else { Loss::MadeNan });
    let (negative, magnitude) = match x {
        Value::Nan(_) => return None,
        Value::Infinite { .. } => return outside,
        Value::Finite { negative, magnitude } => (negative, magnitude),
    };
    let few = negative || magnitude < Dyadic::power(-127);
    let many = match (options.e8m0_range, options.e8m0_round) {
        (E8M0Range::Exact, _) | (_, E8M0Round::Up) => magnitude > Dyadic::power(127),
        (_, E8M0Round::Nearest) => magnitude >= Dyadic { sig: 3, exp: 126 },
        (_, E8M0Round::Down) => magnitude >= Dyadic::power(128),
        other => unreachable!("{other:?} is new, and has no rule here"),
    };
    // What becomes a power of two all the same.
    let kept = match options.e8m0_range {
        E8M0Range::Exact => false,
        E8M0Range::Rounded => !negative && !magnitude.is_zero(),
        E8M0Range::Magnitude => true,
        other => unreachable!("{other:?} is new, and has no rule here"),
    };
    match (few, many) {
        (_, true) => outside,
        (true, false) => {
            if kept {
                Some(Loss::Saturated)
            } else {
                outside
            }
        }
        (false, false) => (!magnitude.sig.is_power_of_two()).then_some(Loss::Inexact),
    }
}

fn to_float(x: Value, to: DType, options: &CastOptions) -> Option<Loss> {
    let Class::Float(format) = class(to) else { panic!("{to} is no float") };
    let wide = format.rules == Rules::Wide;
    let tiny = format.rules == Rules::Tiny;
    // What becomes of everything above the largest value.
    let special = match format.infinity {
        _ if tiny => Loss::Saturated,
        Some(_) if wide || !saturates(to, options) => Loss::Infinite,
        _ if saturates(to, options) => Loss::Saturated,
        _ => Loss::MadeNan,
    };
    match x {
        Value::Nan(_) => tiny.then_some(Loss::LostNan),
        Value::Infinite { .. } if special == Loss::Infinite => None,
        Value::Infinite { .. } => {
            let literal = format.unsigned_zero() && options.fnuz_inf == lanecast::FnuzInf::Nan;
            Some(if literal { Loss::MadeNan } else { special })
        }
        Value::Finite { magnitude, .. } if magnitude.is_zero() => None,
        Value::Finite { negative, magnitude } => {
            let code = round(negative, magnitude, format, options.float_round);
            let (sig, exp) = format.magnitude(code);
            if code > format.largest {
                let clamped = wide && !overflows_to_infinity(negative, options.float_round);
                Some(if clamped { Loss::Saturated } else { special })
            } else if code == 0 {
                Some(Loss::Underflow)
            } else {
                (Dyadic { sig, exp } != magnitude).then_some(Loss::Inexact)
            }
        }
    }
}

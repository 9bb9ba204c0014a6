//! The rules of `docs/semantics.md`: an exact value becomes a code of the target.

use super::format::{Class, Float, Rules, class};
use super::value::{Dyadic, Value};
use lanecast::{
    CastOptions, DType, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound,
    NanToFinite, Saturate,
};
use std::cmp::Ordering;

/// The code of `value` in a target that is not complex. `from` only tells which overflow option an integer target
/// obeys.
pub fn encode(value: Value, from: DType, to: Class, options: &CastOptions) -> u64 {
    match to {
        Class::Bool => match value {
            Value::Finite { magnitude, .. } => u64::from(!magnitude.is_zero()),
            _ => 1,
        },
        Class::Int { bits, signed } => {
            let overflow = match class(from) {
                Class::Int { .. } | Class::Bool => options.int_to_int,
                _ => options.float_to_int,
            };
            to_int(value, bits, signed, overflow, options.int_round)
        }
        Class::PowerOfTwo => to_power_of_two(value, options),
        Class::Float(format) => match format.rules {
            Rules::Wide => to_wide(value, format, options),
            Rules::Eight => to_eight(value, format, options),
            Rules::Tiny => to_tiny(value, format, options),
        },
        Class::Complex(_) => panic!("a complex element has two values"),
    }
}

/// The magnitude code of `x`, the magnitude of a value with this sign, rounded as if the exponent range were unbounded
/// above; every code above the largest finite one means overflow.
pub fn round(negative: bool, x: Dyadic, format: &Float, mode: FloatRound) -> u64 {
    let number = |code: u64| {
        let (sig, exp) = format.magnitude(code);
        Dyadic { sig, exp }
    };
    let beyond = format.largest + 1;
    if x >= number(beyond) {
        return beyond;
    }
    // number(low) <= x < number(high)
    let (mut low, mut high) = (0, beyond);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if number(middle) <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    if x == number(low) {
        return low;
    }
    // An infinity stands at each end of the line, so a direction is one of magnitudes whose sense depends on the sign.
    let nearest = x.cmp(&number(low).midpoint(number(high)));
    let away = match mode {
        FloatRound::NearestEven => nearest.is_gt() || (nearest.is_eq() && high % 2 == 0),
        FloatRound::NearestAway => nearest.is_ge(),
        FloatRound::TowardZero => false,
        FloatRound::Up => !negative,
        FloatRound::Down => negative,
        FloatRound::ToOdd => high % 2 == 1,
        other => unreachable!("{other:?} is new, and has no rule here"),
    };
    if away { high } else { low }
}

/// IEEE 754, 7.4: whether what is too large for a wide float becomes infinite. The directions that lead back into the range
/// end at the largest finite number, and so does the odd code.
pub fn overflows_to_infinity(negative: bool, mode: FloatRound) -> bool {
    match mode {
        FloatRound::NearestEven | FloatRound::NearestAway => true,
        FloatRound::TowardZero | FloatRound::ToOdd => false,
        FloatRound::Up => !negative,
        FloatRound::Down => negative,
        other => unreachable!("{other:?} is new, and has no rule here"),
    }
}

/// Section 4: `float16`, `bfloat16`, `float32`, `float64`.
fn to_wide(value: Value, format: &Float, options: &CastOptions) -> u64 {
    let signed =
        |negative: bool, magnitude: u64| if negative { magnitude | format.sign() } else { magnitude };
    let infinity = format.infinity.expect("wide formats have an infinity");
    match value {
        Value::Nan(nan) => match nan.payload {
            // The top bits of the payload are kept and the quiet bit, which stands alone in `format.nan`, is forced.
            Some(payload) if format.dtype != DType::BFloat16 => {
                signed(nan.negative, format.nan | payload >> (64 - format.mantissa))
            }
            _ => signed(nan.negative, format.nan),
        },
        Value::Infinite { negative } => signed(negative, infinity),
        Value::Finite { negative, magnitude } => {
            let code = match round(negative, magnitude, format, options.float_round) {
                code if code <= format.largest => code,
                _ if overflows_to_infinity(negative, options.float_round) => infinity,
                _ => format.largest,
            };
            signed(negative, code)
        }
    }
}

/// Section 6.1: the floats of 8 bits with a mantissa.
fn to_eight(value: Value, format: &Float, options: &CastOptions) -> u64 {
    let saturate = saturates(format.dtype, options);
    // FNUZ: zero and NaN have no sign.
    let signed = |negative: bool, magnitude: u64| {
        let unsigned = format.unsigned_zero() && (magnitude == 0 || magnitude == format.nan);
        if negative && !unsigned { magnitude | format.sign() } else { magnitude }
    };
    let nan = match options.e5m2_nan {
        E5M2Nan::Code7F if format.dtype == DType::Float8E5M2 => 0x7F,
        _ => format.nan,
    };
    let overflow = if saturate { format.largest } else { format.infinity.unwrap_or(format.nan) };
    match value {
        Value::Nan(source) => signed(source.negative, nan),
        Value::Infinite { negative } => {
            let literal = saturate && format.unsigned_zero() && options.fnuz_inf == FnuzInf::Nan;
            signed(negative, if literal { format.nan } else { overflow })
        }
        Value::Finite { negative, magnitude } => {
            let code = round(negative, magnitude, format, options.float_round);
            signed(negative, if code > format.largest { overflow } else { code })
        }
    }
}

/// Whether this 8-bit target clamps.
pub fn saturates(to: DType, options: &CastOptions) -> bool {
    match options.saturate {
        Saturate::On => true,
        Saturate::Off => false,
        Saturate::FnOnly => to == DType::Float8E4M3FN,
        other => unreachable!("{other:?} is new, and has no rule here"),
    }
}

/// Section 6.6: the floats of 4 and 6 bits.
fn to_tiny(value: Value, format: &Float, options: &CastOptions) -> u64 {
    let signed =
        |negative: bool, magnitude: u64| if negative { magnitude | format.sign() } else { magnitude };
    match value {
        Value::Nan(nan) => match options.nan_to_finite {
            NanToFinite::Zero => signed(!nan.negative, 0),
            NanToFinite::Max => format.largest,
        },
        Value::Infinite { negative } => signed(negative, format.largest),
        Value::Finite { negative, magnitude } => {
            signed(negative, round(negative, magnitude, format, options.float_round).min(format.largest))
        }
    }
}

/// Section 6.5: `float8_e8m0fnu`.
pub fn to_power_of_two(value: Value, options: &CastOptions) -> u64 {
    const NAN: u64 = 0xFF;
    let saturate = saturates(DType::Float8E8M0FNU, options);
    let low = if saturate { 0x00 } else { NAN };
    let high = if saturate { 0xFE } else { NAN };
    let range = options.e8m0_range;
    let (negative, x) = match value {
        Value::Nan(_) => return NAN,
        Value::Infinite { negative } => (negative, None),
        Value::Finite { negative, magnitude } => (negative, Some(magnitude)),
    };
    if negative && range != E8M0Range::Magnitude {
        return low;
    }
    let Some(x) = x else { return high };
    if x.is_zero() {
        return if range == E8M0Range::Magnitude { 0x00 } else { low };
    }
    if range == E8M0Range::Exact && x > Dyadic::power(127) {
        return high;
    }
    if x < Dyadic::power(-127) {
        return if range == E8M0Range::Exact { low } else { 0x00 };
    }
    let floor = x.top().expect("x is not zero");
    let lower = match range {
        // What is less belongs to the code 00: it counts as zero.
        E8M0Range::Rounded | E8M0Range::Magnitude if floor == -127 => Dyadic { sig: 0, exp: floor },
        _ => Dyadic::power(floor),
    };
    let up = match options.e8m0_round {
        E8M0Round::Up => x > Dyadic::power(floor),
        E8M0Round::Down => false,
        E8M0Round::Nearest => match x.cmp(&lower.midpoint(Dyadic::power(floor + 1))) {
            Ordering::Less => false,
            Ordering::Equal => !lower.is_zero(),
            Ordering::Greater => true,
        },
        other => unreachable!("{other:?} is new, and has no rule here"),
    };
    let code = (floor + 127) as u64 + u64::from(up);
    if floor > 127 || code == NAN { high } else { code }
}

/// Section 5: the integers.
fn to_int(value: Value, bits: u32, signed: bool, overflow: IntOverflow, mode: IntRound) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let (min, max) = match signed {
        true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        false => (0, (1_i128 << bits) - 1),
    };
    let (negative, whole) = match (value, overflow) {
        (Value::Nan(_), _) | (Value::Infinite { .. }, IntOverflow::Wrap) => return 0,
        (Value::Infinite { negative }, IntOverflow::Saturate) => (negative, Whole::Huge { low: 0 }),
        (Value::Finite { negative, magnitude }, _) => (negative, to_whole(negative, magnitude, mode)),
    };
    let code = match (whole, overflow) {
        (Whole::Small(n), IntOverflow::Saturate) => {
            (if negative { -(n as i128) } else { n as i128 }).clamp(min, max) as u64
        }
        (Whole::Huge { .. }, IntOverflow::Saturate) => (if negative { min } else { max }) as u64,
        (Whole::Small(low), IntOverflow::Wrap) | (Whole::Huge { low }, IntOverflow::Wrap) => {
            if negative {
                (low as u64).wrapping_neg()
            } else {
                low as u64
            }
        }
    };
    code & mask
}

/// The magnitude of an integer.
pub enum Whole {
    /// At most `2^100`.
    Small(u128),
    /// More than that; only its low 64 bits are told.
    Huge {
        /// The low bits.
        low: u128,
    },
}

/// The magnitude rounded to an integer. The sign matters to the directed modes.
pub fn to_whole(negative: bool, x: Dyadic, mode: IntRound) -> Whole {
    if x.exp >= 36 {
        // 64 bits of significand above 2^36; from 2^64 on, no bit is left among the low ones.
        return match x.is_zero() {
            true => Whole::Small(0),
            false if x.top() <= Some(99) => Whole::Small(u128::from(x.sig) << x.exp),
            false => Whole::Huge { low: if x.exp < 64 { u128::from(x.sig) << x.exp } else { 0 } },
        };
    }
    if x.exp >= 0 {
        return Whole::Small(u128::from(x.sig) << x.exp);
    }
    // Below 2^-64 of a unit the shift would leave the word: what is left of it then is 0 and a bit.
    let shift = (-x.exp).min(100) as u32;
    let sig = u128::from(x.sig);
    let (whole, rest, half) = (sig >> shift, sig & ((1 << shift) - 1), 1_u128 << (shift - 1));
    let away = match mode {
        IntRound::TowardZero => false,
        IntRound::NearestEven => rest > half || (rest == half && whole % 2 == 1),
        IntRound::NearestAway => rest >= half,
        IntRound::Floor => negative && rest != 0,
        IntRound::Ceil => !negative && rest != 0,
        other => unreachable!("{other:?} is new, and has no rule here"),
    };
    Whole::Small(whole + u128::from(away))
}

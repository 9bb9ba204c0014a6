//! Decimals to `float64`, in integer arithmetic, so that the host's rounding mode has no effect.
//!
//! *Law.* [`nearest`] is the `float64` nearest to the decimal, ties to even; [`rounded`] is the decimal rounded in another direction.
//! [`stand_in`] is a `float64` that every cast to the target rounds as it would round the decimal itself.
//!
//! *Method.* Mantissas of 64 bits are multiplied by 128 bits of the power of five (Lemire 2021; Mushtak and Lemire proved in 2023
//! that this needs no fallback). If a decimal has more digits than fit into 64 bits, both the truncated mantissa and its successor
//! are tried; if the results differ, the decimal is compared exactly with the midpoint of the two.

use super::{
    exact::compare,
    powers::{MAX, MIN, POWERS},
    scan::Decimal,
};
use crate::options::{CastOptions, FloatRound};
use core::cmp::Ordering;
use lanecast_kernels::{DType, FloatSpec};

/// The magnitude code of infinity.
const INFINITY: u64 = 0x7FF << 52;

/// The magnitude code of the `float64` nearest to `w * 10^q`.
#[inline]
pub(super) fn product(mut w: u64, q: i64) -> u64 {
    if w == 0 || q < MIN as i64 {
        return 0;
    }
    if q > MAX as i64 {
        return INFINITY;
    }
    let zeros = w.leading_zeros();
    w <<= zeros;
    let power = POWERS[(q - MIN as i64) as usize];
    let first = u128::from(w) * (power >> 64);
    let (mut low, mut high) = (first as u64, (first >> 64) as u64);
    // The low half of the power matters only if the bits below the 55 that are needed are all ones.
    if high & 0x1FF == 0x1FF {
        let second = ((u128::from(w) * u128::from(power as u64)) >> 64) as u64;
        let (sum, carry) = low.overflowing_add(second);
        low = sum;
        high += u64::from(carry);
    }
    let upper = (high >> 63) as u32;
    let shift = upper + 9;
    // 54 bits: one more than a significand has.
    let mut mantissa = high >> shift;
    // floor(log2(10^q)) + 63, exact in this range.
    let log = ((217_706 * q) >> 16) as i32 + 63;
    let mut exponent = log + upper as i32 - zeros as i32 + 1023;
    if exponent <= 0 {
        // Subnormal: the bits shifted out are not all zero, or `q` is above the range of ties.
        if exponent < -62 {
            return 0;
        }
        mantissa >>= 1 - exponent;
        mantissa += mantissa & 1;
        return mantissa >> 1;
    }
    // An exact tie: `5^q`, or the quotient by it, fits into 64 bits.
    if low <= 1 && (-4..=23).contains(&q) && mantissa & 3 == 1 && mantissa << shift == high {
        mantissa &= !1;
    }
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if mantissa >= 1 << 53 {
        mantissa = 1 << 52;
        exponent += 1;
    }
    if exponent >= 0x7FF {
        return INFINITY;
    }
    mantissa & !(1 << 52) | (exponent as u64) << 52
}

/// The magnitude code of the nearest `float64`, ties to even.
#[inline]
pub(super) fn nearest(decimal: &Decimal<'_>) -> u64 {
    let code = product(decimal.digits, decimal.exponent);
    if decimal.more { settle(decimal, code) } else { code }
}

/// [`nearest`] for a decimal that lies between its truncated digits and their successor.
#[cold]
fn settle(decimal: &Decimal<'_>, below: u64) -> u64 {
    let above = product(decimal.digits + 1, decimal.exponent);
    if above == below {
        return below;
    }
    let (significand, exponent) = parts(below);
    match compare(decimal, 2 * significand + 1, exponent - 1) {
        Ordering::Less => below,
        Ordering::Equal => below + (below & 1),
        Ordering::Greater => above,
    }
}

/// A finite code as `significand * 2^exponent`.
fn parts(code: u64) -> (u64, i32) {
    let (field, fraction) = ((code >> 52) as i32, code & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

/// How a `float64` represents a decimal in casts to a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// The target is `float64` itself.
    Rounded(FloatRound),
    /// It is rounded again. Boundaries of the target (its values and the midpoints of neighbours) have only zeros in the bits of
    /// this mask.
    Odd(u64),
}

impl Stand {
    /// The variant for a target with parts of this format.
    pub fn new(to: DType, part: FloatSpec, options: &CastOptions) -> Stand {
        if !matches!(to, DType::Float64 | DType::Complex128) {
            // A value has `mantissa_bits` after the point, a midpoint one more.
            Stand::Odd((1 << (51 - part.mantissa_bits)) - 1)
        } else {
            Stand::Rounded(options.float_round)
        }
    }
}

/// The code of the `float64` that represents a decimal, with its sign.
#[inline(always)]
pub(super) fn stand_in(decimal: &Decimal<'_>, stand: Stand) -> u64 {
    let mut code = nearest(decimal);
    match stand {
        Stand::Rounded(FloatRound::NearestEven) => {}
        Stand::Odd(mask) if code & mask != 0 => {}
        Stand::Odd(_) => code = adjust(decimal, code),
        Stand::Rounded(round) => code = rounded(decimal, code, round),
    }
    code | u64::from(decimal.negative) << 63
}

/// How the decimal compares with the magnitude that is nearest to it.
fn order(decimal: &Decimal<'_>, nearest: u64) -> Ordering {
    match nearest {
        INFINITY => Ordering::Less,
        0 if decimal.digits == 0 => Ordering::Equal,
        0 => Ordering::Greater,
        _ => {
            let (significand, exponent) = parts(nearest);
            compare(decimal, significand, exponent)
        }
    }
}

/// Moves a code that may be a boundary towards the decimal, if they differ.
#[inline(never)]
fn adjust(decimal: &Decimal<'_>, code: u64) -> u64 {
    match order(decimal, code) {
        Ordering::Less => code - 1,
        Ordering::Equal => code,
        Ordering::Greater => code + 1,
    }
}

/// The magnitude that a decimal is rounded to, from the nearest one, ties to even.
#[inline(never)]
fn rounded(decimal: &Decimal<'_>, nearest: u64, round: FloatRound) -> u64 {
    let order = order(decimal, nearest);
    // The largest magnitude that is not above the decimal.
    let below = nearest - u64::from(order == Ordering::Less);
    let away = match round {
        _ if order == Ordering::Equal => false,
        FloatRound::NearestEven => nearest != below,
        FloatRound::NearestAway => {
            // A tie that was rounded down to even.
            let (significand, exponent) = parts(below);
            nearest != below || compare(decimal, 2 * significand + 1, exponent - 1) == Ordering::Equal
        }
        FloatRound::TowardZero => false,
        FloatRound::Up => !decimal.negative,
        FloatRound::Down => decimal.negative,
        FloatRound::ToOdd => below & 1 == 0,
    };
    below + u64::from(away)
}

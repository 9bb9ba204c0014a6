//! The edges of targets as exact numbers, and the last code of a source below an edge.

use super::super::law::{compare, half_goes_up};
use crate::{
    dtype::{DType, FloatSpec},
    exact::{Exact, Rounding, Rules, to_float},
};
use core::cmp::Ordering;

/// The rounding of magnitudes for values of one sign: `Ceil` is away from zero, and `Floor` does not occur.
pub(super) fn of_magnitudes(rounding: Rounding, negative: bool) -> Rounding {
    match rounding {
        Rounding::Floor if negative => Rounding::Ceil,
        Rounding::Ceil if negative => Rounding::TowardZero,
        Rounding::Floor => Rounding::TowardZero,
        other => other,
    }
}

/// The edge below which magnitudes round into the range of a float target, and whether the edge itself does.
#[inline(never)]
pub(super) fn overflow_edge(f: FloatSpec, of_magnitudes: Rounding) -> (Exact, bool) {
    let digits = f.max_finite() & ((1 << f.mantissa_bits) - 1) | 1 << f.mantissa_bits;
    let ulp = f.max_exponent() - f.mantissa_bits as i32;
    let odd = digits % 2 == 1;
    match of_magnitudes {
        Rounding::NearestEven | Rounding::NearestAway => {
            (Exact::finite(2 * digits + 1, ulp - 1), !half_goes_up(of_magnitudes, odd))
        }
        Rounding::TowardZero | Rounding::Floor => (Exact::finite(digits + 1, ulp), false),
        Rounding::ToOdd if odd => (Exact::finite(digits + 1, ulp), false),
        Rounding::Ceil | Rounding::ToOdd => (Exact::finite(digits, ulp), true),
    }
}

/// The edge below which magnitudes round to zero in a target whose smallest magnitude is `2^least`, and whether the edge itself does; `None` if
/// only zero does.
#[inline(never)]
pub(super) fn underflow_edge(least: i32, of_magnitudes: Rounding) -> Option<(Exact, bool)> {
    match of_magnitudes {
        Rounding::NearestEven | Rounding::NearestAway => {
            Some((Exact::finite(1, least - 1), !half_goes_up(of_magnitudes, false)))
        }
        Rounding::TowardZero | Rounding::Floor => Some((Exact::finite(1, least), false)),
        Rounding::Ceil | Rounding::ToOdd => None,
    }
}

/// The largest integer less than `limit`, or equal to it if `inclusive`.
pub(super) fn whole_at_most(limit: Exact, inclusive: bool) -> u64 {
    if limit.log2() >= 64 {
        return u64::MAX;
    }
    if limit.exponent >= 0 {
        return (limit.significand << limit.exponent) - !inclusive as u64;
    }
    let shift = limit.exponent.unsigned_abs();
    let whole = if shift < 64 { limit.significand >> shift } else { 0 };
    let is_whole = limit.significand.trailing_zeros() >= shift;
    whole - (is_whole && !inclusive) as u64
}

/// The largest magnitude code of a float format whose value is less than `limit`, or equal to `limit` if `inclusive`.
#[inline(never)]
pub(super) fn last_at_most(s: FloatSpec, limit: Exact, inclusive: bool) -> Option<u64> {
    let rules = Rules { rounding: Rounding::TowardZero, ..Rules::common(DType::Float64, true) };
    let code = to_float(s, limit, &rules) & s.magnitude_mask();
    match compare(Exact::from_float(s, code), limit) {
        Ordering::Greater => None,
        Ordering::Equal if !inclusive => code.checked_sub(1),
        _ => Some(code),
    }
}

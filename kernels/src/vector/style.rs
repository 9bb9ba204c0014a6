//! The roundings of the kernels through float32, and which body and direction a rule needs.
//!
//! One body rounds to nearest even and toward zero: it is the same addition in another direction of the environment. The
//! others add what no direction says.

use crate::{
    dtype::{DType, Flavor, Spec},
    exact::{Rounding, Rules},
    format::data::Direction,
};

/// Nearest even, or toward zero in that direction.
pub(crate) const PLAIN: u8 = 0;
/// Ties away from zero ([`Data::sticky`](crate::format::data::Data::sticky)), and infinities that become NaN.
pub(crate) const TIES: u8 = 1;
/// Up or down, in that direction: the sign takes part in the addition.
pub(crate) const DIRECTED: u8 = 2;
/// To odd, in the direction toward zero.
pub(crate) const ODD: u8 = 3;

/// The body and the direction for a target of these kernels under rules.
pub(crate) fn style(to: DType, rules: &Rules) -> (u8, Direction) {
    use Direction::{Down, NearestEven, TowardZero, Up};
    let (flavor, bits, exponent_bits) = match to.spec() {
        Spec::Float(f) => (f.flavor, f.bits(), f.exponent_bits),
        _ => return (PLAIN, NearestEven),
    };
    if matches!(flavor, Flavor::Exponent) {
        return (TIES, NearestEven);
    }
    if exponent_bits == 8 {
        // Added in integers, whatever the direction.
        let style = match rules.rounding {
            Rounding::NearestEven => PLAIN,
            Rounding::NearestAway | Rounding::TowardZero => TIES,
            Rounding::Floor | Rounding::Ceil => DIRECTED,
            Rounding::ToOdd => ODD,
        };
        return (style, NearestEven);
    }
    // The conversion to float16 has a form that obeys the direction.
    let half = bits == 16;
    let special = matches!(flavor, Flavor::Fnuz) && rules.fnuz_inf_nan;
    match rules.rounding {
        Rounding::NearestEven => (if special { TIES } else { PLAIN }, NearestEven),
        Rounding::NearestAway => (TIES, NearestEven),
        Rounding::TowardZero if half => (DIRECTED, TowardZero),
        Rounding::TowardZero => (if special { TIES } else { PLAIN }, TowardZero),
        Rounding::Floor => (DIRECTED, Down),
        Rounding::Ceil => (DIRECTED, Up),
        Rounding::ToOdd => (ODD, TowardZero),
    }
}

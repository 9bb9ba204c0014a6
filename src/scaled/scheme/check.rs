//! Which schemes fit themselves.

use super::super::error::ScaledError;
use super::{Empty, Global, Quotient, ScaleRule, ScaleType, Scheme};

/// Whether a number is positive and finite, by its bits: callers may be in any floating-point environment.
pub(in super::super) fn is_positive(x: f32) -> bool {
    (1..f32::INFINITY.to_bits()).contains(&x.to_bits())
}

/// Refuses arithmetic that does not fit the dtype of the scales.
pub(in super::super) fn arithmetic(scheme: &Scheme) -> Result<(), ScaledError> {
    let powers = matches!(scheme.rule, ScaleRule::Pow2(_));
    let why = match scheme.scale {
        ScaleType::E4M3(Global::Divisor) if scheme.quotient == Quotient::Exact => {
            "an exact quotient needs a scale of the tensor that multiplies; take Quotient::Divide"
        }
        ScaleType::E4M3(_) if powers => {
            "a rule that gives powers of two needs scales of float8_e8m0fnu or a wider float"
        }
        scale if scheme.quotient == Quotient::TimesMultiplier && scale != ScaleType::Float32 => {
            "a multiplier needs scales of float32"
        }
        ScaleType::E8M0 if !powers && scheme.rule != ScaleRule::Given => {
            "scales of float8_e8m0fnu need a rule that gives powers of two"
        }
        _ => return Ok(()),
    };
    Err(ScaledError::Scheme { why })
}

/// Refuses a scheme with a number that is not positive and finite.
pub(in super::super) fn numbers(scheme: &Scheme) -> Result<(), ScaledError> {
    const OVER: &str = "`over` of the scale rule";
    let of_rule = match scheme.rule {
        ScaleRule::Amax { over } | ScaleRule::AmaxTwice { over } | ScaleRule::AmaxOverProduct { over } => {
            [Some((OVER, over)), None]
        }
        ScaleRule::AmaxTimesInverse { over, range } | ScaleRule::AmaxTimesInverseSource { over, range } => {
            [Some((OVER, over)), Some(("`range` of the scale rule", range))]
        }
        ScaleRule::Given | ScaleRule::Pow2(_) | ScaleRule::MinMax => [None; 2],
    };
    let of_empty = match scheme.empty {
        Empty::One | Empty::Epsilon => [None; 2],
        Empty::Floor(least) => [Some(("`Empty::Floor`", least)), None],
        Empty::AtLeast { empty, least } => {
            [Some(("`empty` of `Empty::AtLeast`", empty)), Some(("`least` of `Empty::AtLeast`", least))]
        }
    };
    let mut numbers = of_rule.into_iter().chain(of_empty).flatten();
    match numbers.find(|(_, given)| !is_positive(*given)) {
        Some((which, given)) => Err(ScaledError::Number { which, given }),
        None => Ok(()),
    }
}

/// Refuses zero points of schemes that cannot have them.
pub(in super::super) fn zero_points(scheme: &Scheme) -> Result<(), ScaledError> {
    let float = matches!(scheme.scale, ScaleType::Float32 | ScaleType::Float16 | ScaleType::BFloat16);
    if !scheme.has_zero_points()
        || scheme.element.iinfo().is_some() && float && scheme.quotient == Quotient::Exact
    {
        return Ok(());
    }
    Err(ScaledError::Scheme { why: "zero points need integers, scales of a wide float and Quotient::Exact" })
}

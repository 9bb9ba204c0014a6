//! Which casts a standard allows.

use super::{
    combine::promote,
    error::{PromotionError, Refusal},
    operand::{NumberKind, Operand},
    standard::Standard,
    table,
};
use lanecast_kernels::{DType, Flavor, FloatSpec, Kind, Spec};

/// How much a cast may lose; NumPy's levels and a stricter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Casting {
    /// Every value is kept, including the sign of zero: [`is_lossless`], whatever the standard says.
    Lossless,
    /// The casts that the standard does implicitly.
    Safe,
    /// Also to a narrower dtype of the same kind, and to higher kinds.
    SameKind,
    /// Every cast that exists.
    Unsafe,
}

/// Whether a standard allows a cast.
///
/// | standard | safe | same kind | unsafe |
/// |---|---|---|---|
/// | array API | `can_cast`: the pair promotes to `to` | as below | `astype`: not from complex to real numbers |
/// | NumPy, JAX | `can_cast` of numpy 2.4 with ml_dtypes 0.6, by a table | the same | the same |
/// | PyTorch | the pair promotes to `to` | `can_cast`: not to a lower one of the kinds bool, integer, float, complex | everything |
/// | MindSpore, MegEngine | the pair promotes to `to` | as below | everything |
/// | ONNX | the same dtype | as below | the operator Cast: neither from nor to complex numbers |
///
/// Where a standard has no such level, "same kind" means safe, or to a kind that is not lower in the order bool, unsigned, signed,
/// float, complex. Every safe cast is also allowed as same kind, and every same-kind cast as unsafe, except for complex numbers in
/// ONNX: a cast to the same dtype is safe, although the operator Cast does not have it.
///
/// ```
/// use lanecast::{DType, promote::{Casting, Standard, can_cast}};
/// assert_eq!(can_cast(Standard::NumPy, DType::Int64, DType::Float64, Casting::Safe), Ok(true));
/// assert_eq!(can_cast(Standard::NumPy, DType::Int64, DType::Float64, Casting::Lossless), Ok(false));
/// ```
///
/// # Errors
///
/// [`Refusal::NotInStandard`] if the standard does not have one of the dtypes.
pub const fn can_cast(
    standard: Standard,
    from: DType,
    to: DType,
    casting: Casting,
) -> Result<bool, PromotionError> {
    let absent = if standard.has(from) { to } else { from };
    if !standard.has(absent) {
        return Err(PromotionError::of_one(standard, Operand::Array(absent), Refusal::NotInStandard(absent)));
    }
    let by_promotion = matches!(promote(standard, from, to), Ok(dtype) if dtype.code() == to.code());
    let numpy = table::NUMPY_CAN_CAST[from.code() as usize][to.code() as usize];
    Ok(match (casting, standard) {
        (Casting::Lossless, _) => is_lossless(from, to),
        (Casting::Safe, Standard::NumPy | Standard::Jax | Standard::JaxStrict) => numpy < 1,
        (Casting::SameKind, Standard::NumPy | Standard::Jax | Standard::JaxStrict) => numpy < 2,
        (Casting::Unsafe, Standard::NumPy | Standard::Jax | Standard::JaxStrict) => numpy < 3,
        (Casting::Safe, _) => by_promotion,
        (Casting::SameKind, Standard::Torch) => NumberKind::of(from) as u8 <= NumberKind::of(to) as u8,
        (Casting::SameKind, Standard::Onnx) if is_complex(from) || is_complex(to) => by_promotion,
        (Casting::SameKind, _) => by_promotion || rank(from) <= rank(to),
        (Casting::Unsafe, Standard::ArrayApi) => {
            !is_complex(from) || is_complex(to) || matches!(to.kind(), Kind::Bool)
        }
        (Casting::Unsafe, Standard::Onnx) => !is_complex(from) && !is_complex(to),
        (Casting::Unsafe, _) => true,
    })
}

const fn is_complex(dtype: DType) -> bool {
    matches!(dtype.kind(), Kind::Complex)
}

/// The order of the kinds.
const fn rank(dtype: DType) -> u8 {
    match dtype.kind() {
        Kind::Bool => 0,
        Kind::UnsignedInt => 1,
        Kind::SignedInt => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    }
}

/// Whether a cast keeps every value, infinities, NaN and the sign of zero included.
///
/// This follows from the definitions of the dtypes. It assumes that 8-bit floats do not saturate
/// ([`CastOptions::saturate`](crate::CastOptions::saturate)).
///
/// ```
/// use lanecast::{DType, promote::is_lossless};
/// assert!(is_lossless(DType::Float8E4M3FN, DType::Float16));
/// assert!(!is_lossless(DType::Float8E8M0FNU, DType::Float16));
/// ```
pub const fn is_lossless(from: DType, to: DType) -> bool {
    match (from.spec(), to.spec()) {
        (Spec::Bool, Spec::Bool | Spec::Int { signed: false, .. }) => true,
        (Spec::Bool, Spec::Int { bits, .. }) => bits > 1,
        (_, Spec::Bool) | (Spec::Float(_) | Spec::Complex(_), Spec::Int { .. }) => false,
        (Spec::Complex(_), Spec::Float(_)) => false,
        (Spec::Int { bits: from, signed: a }, Spec::Int { bits: to, signed: b }) => {
            if a == b {
                from <= to
            } else {
                b && from < to
            }
        }
        (Spec::Bool, Spec::Float(to) | Spec::Complex(to)) => has_zero(to),
        (Spec::Int { bits, signed }, Spec::Float(to) | Spec::Complex(to)) => {
            // The magnitudes go up to a power of two, which only signed integers reach.
            let below = bits - signed as u32;
            let largest = (1 << below) - !signed as u128;
            has_zero(to) && below <= to.mantissa_bits + 1 && largest <= floor_of_max(to)
        }
        (Spec::Float(from), Spec::Float(to) | Spec::Complex(to)) => is_lossless_float(from, to),
        (Spec::Complex(from), Spec::Complex(to)) => is_lossless_float(from, to),
    }
}

const fn has_zero(format: FloatSpec) -> bool {
    !matches!(format.flavor, Flavor::Exponent)
}

const fn has_minus_zero(format: FloatSpec) -> bool {
    !matches!(format.flavor, Flavor::Exponent | Flavor::Fnuz)
}

/// The integer part of the largest value, as far as integers reach.
const fn floor_of_max(format: FloatSpec) -> u128 {
    let significand = (top_mantissa(format) | 1 << format.mantissa_bits) as u128;
    let shift = format.max_exponent() - format.mantissa_bits as i32;
    if shift > 64 {
        u128::MAX
    } else if shift >= 0 {
        significand << shift
    } else {
        significand >> -shift
    }
}

const fn is_lossless_float(from: FloatSpec, to: FloatSpec) -> bool {
    let signs = (to.signed() || !from.signed()) && (has_minus_zero(to) || !has_minus_zero(from));
    let specials = (to.infinity().is_some() || from.infinity().is_none())
        && (to.nan().is_some() || from.nan().is_none())
        && (has_zero(to) || !has_zero(from));
    let precision = from.mantissa_bits <= to.mantissa_bits && to.min_exponent() <= from.min_exponent();
    // With no less precision, the codes at the top compare as the values do.
    let shift = to.mantissa_bits - if precision { from.mantissa_bits } else { to.mantissa_bits };
    let range = from.max_exponent() < to.max_exponent()
        || from.max_exponent() == to.max_exponent() && top_mantissa(from) << shift <= top_mantissa(to);
    signs && specials && precision && range
}

/// The mantissa field of the largest finite value.
const fn top_mantissa(format: FloatSpec) -> u64 {
    format.max_finite() & ((1 << format.mantissa_bits) - 1)
}

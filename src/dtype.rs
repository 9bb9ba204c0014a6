//! The limits of dtypes and the kinds of the array API, derived from their definitions.

use crate::{DType, Kind, Spec};

/// The limits of a float dtype, or of the parts of a complex one, all exact in `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FInfo {
    /// Width in bits of the format.
    pub bits: u32,
    /// Width of the exponent field.
    pub exponent_bits: u32,
    /// Width of the mantissa field, without the implicit bit.
    pub mantissa_bits: u32,
    /// What is subtracted from the exponent field.
    pub bias: i32,
    /// The distance from 1 to the next larger value.
    pub eps: f64,
    /// The distance from 1 to the next smaller value.
    pub epsneg: f64,
    /// The largest finite value.
    pub max: f64,
    /// The smallest finite value.
    pub min: f64,
    /// The smallest positive value with full precision.
    pub smallest_normal: f64,
    /// The smallest positive value.
    pub smallest_subnormal: f64,
}

/// Limits of an integer dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IInfo {
    /// Width in bits.
    pub bits: u32,
    /// The smallest value.
    pub min: i128,
    /// The largest value.
    pub max: i128,
}

/// `2^exponent` for the exponents of `f64`, subnormal ones included.
const fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074))
    }
}

/// The limits of a floating or complex dtype; `None` for the others.
///
/// ```
/// use lanecast::{DType, finfo};
/// assert_eq!(finfo(DType::Float8E4M3FN).map(|f| f.max), Some(448.0));
/// ```
pub const fn finfo(dtype: DType) -> Option<FInfo> {
    let Some(f) = dtype.float_spec() else { return None };
    let mantissa = f.max_finite() & ((1 << f.mantissa_bits) - 1);
    let eps = power_of_two(-(f.mantissa_bits as i32));
    let max = (1.0 + mantissa as f64 * eps) * power_of_two(f.max_exponent());
    let smallest_subnormal = power_of_two(f.min_exponent());
    let smallest_normal = power_of_two(f.min_exponent() + f.mantissa_bits as i32);
    Some(FInfo {
        bits: f.bits(),
        exponent_bits: f.exponent_bits,
        mantissa_bits: f.mantissa_bits,
        bias: f.bias,
        eps,
        // Below 1, values are twice as close, unless 1 is already the smallest normal.
        epsneg: if smallest_normal < 1.0 { eps / 2.0 } else { eps },
        max,
        min: if f.signed() { -max } else { smallest_subnormal },
        smallest_normal,
        smallest_subnormal,
    })
}

/// The limits of an integer dtype; `None` for the others, bool included.
///
/// ```
/// use lanecast::{DType, iinfo};
/// assert_eq!(iinfo(DType::Int4).map(|i| (i.min, i.max)), Some((-8, 7)));
/// ```
pub const fn iinfo(dtype: DType) -> Option<IInfo> {
    match dtype.spec() {
        Spec::Int { bits, signed: true } => {
            Some(IInfo { bits, min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 })
        }
        Spec::Int { bits, signed: false } => Some(IInfo { bits, min: 0, max: (1 << bits) - 1 }),
        _ => None,
    }
}

/// A kind of dtypes in the array API, used by [`isdtype`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DTypeKind {
    /// `"bool"`: [`DType::Bool`].
    Bool,
    /// `"signed integer"`
    SignedInteger,
    /// `"unsigned integer"`
    UnsignedInteger,
    /// `"integral"`: signed or unsigned integers.
    Integral,
    /// `"real floating"`
    RealFloating,
    /// `"complex floating"`
    ComplexFloating,
    /// `"numeric"`: everything but bool.
    Numeric,
}

impl DTypeKind {
    /// All kinds.
    pub const ALL: [DTypeKind; 7] = [
        DTypeKind::Bool,
        DTypeKind::SignedInteger,
        DTypeKind::UnsignedInteger,
        DTypeKind::Integral,
        DTypeKind::RealFloating,
        DTypeKind::ComplexFloating,
        DTypeKind::Numeric,
    ];

    /// Its name in the array API, such as `"real floating"`.
    pub const fn name(self) -> &'static str {
        match self {
            DTypeKind::Bool => "bool",
            DTypeKind::SignedInteger => "signed integer",
            DTypeKind::UnsignedInteger => "unsigned integer",
            DTypeKind::Integral => "integral",
            DTypeKind::RealFloating => "real floating",
            DTypeKind::ComplexFloating => "complex floating",
            DTypeKind::Numeric => "numeric",
        }
    }

    /// The kind with this name in the array API.
    pub fn from_name(name: &str) -> Option<DTypeKind> {
        DTypeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Whether a dtype is of a kind, as the function of this name in the array API, NumPy and JAX.
///
/// ```
/// use lanecast::{DType, DTypeKind, isdtype};
/// assert!(isdtype(DType::Float8E5M2, DTypeKind::RealFloating));
/// assert!(!isdtype(DType::Bool, DTypeKind::Numeric));
/// ```
pub const fn isdtype(dtype: DType, kind: DTypeKind) -> bool {
    match kind {
        DTypeKind::Bool => matches!(dtype.kind(), Kind::Bool),
        DTypeKind::SignedInteger => matches!(dtype.kind(), Kind::SignedInt),
        DTypeKind::UnsignedInteger => matches!(dtype.kind(), Kind::UnsignedInt),
        DTypeKind::Integral => matches!(dtype.kind(), Kind::SignedInt | Kind::UnsignedInt),
        DTypeKind::RealFloating => matches!(dtype.kind(), Kind::Float),
        DTypeKind::ComplexFloating => matches!(dtype.kind(), Kind::Complex),
        DTypeKind::Numeric => !matches!(dtype.kind(), Kind::Bool),
    }
}

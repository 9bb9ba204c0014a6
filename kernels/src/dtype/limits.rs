//! The limits of dtypes and the kinds of the array API, derived from their definitions.

use super::{DType, Kind, Spec};
use crate::dtype::UnknownName;
use core::{fmt, str::FromStr};

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
    /// The number that is subtracted from the exponent field.
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

impl DType {
    /// The limits of a floating-point or complex dtype; `None` for the others.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::DType;
    /// assert_eq!(DType::Float8E4M3FN.finfo().map(|f| f.max), Some(448.0));
    /// ```
    pub const fn finfo(self) -> Option<FInfo> {
        let Some(f) = self.float_spec() else { return None };
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
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::DType;
    /// assert_eq!(DType::Int4.iinfo().map(|i| (i.min, i.max)), Some((-8, 7)));
    /// ```
    pub const fn iinfo(self) -> Option<IInfo> {
        match self.spec() {
            Spec::Int { bits, signed: true } => {
                Some(IInfo { bits, min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 })
            }
            Spec::Int { bits, signed: false } => Some(IInfo { bits, min: 0, max: (1 << bits) - 1 }),
            _ => None,
        }
    }

    /// Whether the dtype is of a kind, as `isdtype` in the array API, NumPy and JAX.
    ///
    /// ```
    /// # use lanecast_kernels as lanecast;
    /// use lanecast::{DType, DTypeKind};
    /// assert!(DType::Float8E5M2.is(DTypeKind::RealFloating));
    /// assert!(!DType::Bool.is("numeric".parse()?));
    /// # Ok::<(), lanecast::UnknownName>(())
    /// ```
    pub const fn is(self, kind: DTypeKind) -> bool {
        match kind {
            DTypeKind::Bool => matches!(self.kind(), Kind::Bool),
            DTypeKind::SignedInteger => matches!(self.kind(), Kind::SignedInt),
            DTypeKind::UnsignedInteger => matches!(self.kind(), Kind::UnsignedInt),
            DTypeKind::Integral => matches!(self.kind(), Kind::SignedInt | Kind::UnsignedInt),
            DTypeKind::RealFloating => matches!(self.kind(), Kind::Float),
            DTypeKind::ComplexFloating => matches!(self.kind(), Kind::Complex),
            DTypeKind::Numeric => !matches!(self.kind(), Kind::Bool),
        }
    }
}

/// A kind of dtypes in the array API, used by [`DType::is`].
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
}

impl FromStr for DTypeKind {
    type Err = UnknownName;

    /// The kind with this name in the array API.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = DTypeKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            UnknownName::new("kind of dtypes", name, DTypeKind::ALL.iter().map(|kind| kind.name()).collect())
        })
    }
}

impl fmt::Display for DTypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

//! The floats: constants, conversions, order.
//!
//! *Law.* The methods compute from the definition of the format, never from a table of it, and use no floating-point register. A method returns
//! what the method of the same name of `f32` returns for the same value, if `f32` has one. `MIN_POSITIVE` and normal numbers are the format's own.

use super::parse::nearest;
use crate::exact::{Class, Rules, to_float};
use crate::{
    dtype::{DType, FloatSpec},
    exact::{Exact, float_spec},
};
use core::{cmp::Ordering, num::FpCategory};

/// The code of a value under these rules, which do not saturate; `None` for a value out of the finite range after rounding, and for an infinity or
/// a NaN that the format lacks.
#[cfg(any(feature = "num-traits", feature = "serde"))]
pub(super) const fn checked(to: DType, x: Exact, rules: &Rules) -> Option<u8> {
    use crate::{dtype::Flavor, exact::rounded};
    let f = float_spec(to);
    let code = to_float(f, x, rules);
    let has = match x.class {
        Class::Nan => f.nan().is_some(),
        Class::Infinite => f.infinity().is_some(),
        // Values that this format cannot hold, including zeros and negative numbers, have become NaN.
        Class::Finite if matches!(f.flavor, Flavor::Exponent) => code <= f.max_finite(),
        Class::Finite => x.significand == 0 || rounded(f, x, rules.rounding) <= f.max_finite(),
    };
    if has { Some(code as u8) } else { None }
}

/// `2^exponent`, which the format must contain.
pub(super) const fn power(to: DType, exponent: i32) -> u8 {
    let code = nearest(to, Exact::finite(1, exponent));
    let x = Exact::from_float(float_spec(to), code as u64);
    assert!(
        x.significand.is_power_of_two() && x.log2() == exponent,
        "the format does not have this power of two"
    );
    code
}

/// A special code, which the format must have.
pub(super) const fn special(code: Option<u64>) -> u8 {
    match code {
        Some(code) => code as u8,
        None => panic!("the format has no such code"),
    }
}

pub(super) const fn is_nan(f: FloatSpec, code: u8) -> bool {
    matches!(Exact::from_float(f, code as u64).class, Class::Nan)
}

/// Classifies by the exponent field; in a format that has only an exponent, every number is normal.
pub(super) const fn classify(f: FloatSpec, code: u8) -> FpCategory {
    match Exact::from_float(f, code as u64) {
        Exact { class: Class::Nan, .. } => FpCategory::Nan,
        Exact { class: Class::Infinite, .. } => FpCategory::Infinite,
        Exact { significand: 0, .. } => FpCategory::Zero,
        Exact { significand, .. } if significand < 1 << f.mantissa_bits => FpCategory::Subnormal,
        _ => FpCategory::Normal,
    }
}

/// The code with the opposite sign; the zero and the NaN of a format with only one of each are unchanged.
pub(super) const fn negated(f: FloatSpec, code: u8) -> u8 {
    let only = matches!(f.nan(), Some(nan) if nan == f.sign_mask());
    if only && code as u64 & f.magnitude_mask() == 0 { code } else { code ^ f.sign_mask() as u8 }
}

/// A key that grows with the value and is the same for both zeros; meaningless for NaN.
pub(super) const fn value_key(f: FloatSpec, code: u8) -> i16 {
    let magnitude = (code as u64 & f.magnitude_mask()) as i16;
    if code as u64 & f.sign_mask() != 0 { -magnitude } else { magnitude }
}

/// A key that grows in the total order of IEEE 754.
pub(super) const fn total_key(f: FloatSpec, code: u8) -> i16 {
    let key = value_key(f, code);
    if code as u64 & f.sign_mask() == 0 {
        key
    } else if key == 0 && is_nan(f, code) {
        i16::MIN
    } else {
        key - 1
    }
}

pub(super) fn compare(f: FloatSpec, a: u8, b: u8) -> Option<Ordering> {
    (!is_nan(f, a) && !is_nan(f, b)).then(|| value_key(f, a).cmp(&value_key(f, b)))
}

/// The code of a value in a wider float that contains all values of the format.
pub(super) const fn widen(from: DType, to: DType, code: u8) -> u64 {
    to_float(float_spec(to), Exact::from_float(float_spec(from), code as u64), &Rules::common(to, true))
}

macro_rules! methods {
    ($variant:ident, $format:ident, $flavor:ident) => {
        impl $format {
            const FLOAT: FloatSpec = float_spec(DType::$variant);

            /// 1.
            pub const ONE: Self = Self(floats::power(DType::$variant, 0));
            /// The largest finite value.
            pub const MAX: Self = Self(Self::FLOAT.max_finite() as u8);
            /// The difference between 1 and the next larger value.
            pub const EPSILON: Self =
                Self(floats::power(DType::$variant, -(Self::FLOAT.mantissa_bits as i32)));
            /// The smallest positive normal value.
            pub const MIN_POSITIVE: Self = Self(floats::power(
                DType::$variant,
                Self::FLOAT.min_exponent() + Self::FLOAT.mantissa_bits as i32,
            ));
            /// The number of significant bits, the implicit one included.
            pub const MANTISSA_DIGITS: u32 = Self::FLOAT.mantissa_bits + 1;

            /// The value that [`cast`](https://docs.rs/lanecast/latest/lanecast/fn.cast.html) with the default options makes
            /// of `x`: the nearest one, ties to even (`float8_e8m0fnu`: the next one up); overflow saturates.
            ///
            /// It works in integer arithmetic, so it can be used in constants and no floating-point environment changes it.
            pub const fn from_f32(x: f32) -> Self {
                Self(parse::nearest(DType::$variant, Exact::from_float(FLOAT32, x.to_bits() as u64)))
            }

            /// The nearest value, rounded once from all bits of `x`, by the same rules as [`from_f32`](Self::from_f32).
            pub const fn from_f64(x: f64) -> Self {
                let exact = Exact::from_float(float_spec(DType::Float64), x.to_bits());
                Self(parse::nearest(DType::$variant, exact))
            }

            /// The value; every value is exact in `f32`.
            pub const fn to_f32(self) -> f32 {
                f32::from_bits(floats::widen(DType::$variant, DType::Float32, self.0) as u32)
            }

            /// The value; every value is exact in `f64`.
            pub const fn to_f64(self) -> f64 {
                f64::from_bits(floats::widen(DType::$variant, DType::Float64, self.0))
            }

            /// Whether it is NaN; always false for formats without NaN.
            pub const fn is_nan(self) -> bool {
                floats::is_nan(Self::FLOAT, self.0)
            }

            /// Whether it is an infinity; always false for formats without one.
            pub const fn is_infinite(self) -> bool {
                matches!(self.classify(), FpCategory::Infinite)
            }

            /// Whether it is neither NaN nor an infinity.
            pub const fn is_finite(self) -> bool {
                !matches!(self.classify(), FpCategory::Nan | FpCategory::Infinite)
            }

            /// Whether it is neither zero, subnormal, an infinity nor NaN.
            pub const fn is_normal(self) -> bool {
                matches!(self.classify(), FpCategory::Normal)
            }

            /// The category of the value; normal values have the full precision of this format.
            pub const fn classify(self) -> FpCategory {
                floats::classify(Self::FLOAT, self.to_bits())
            }

            /// Whether the sign bit is set, as it is in -0 and in the NaN of the FNUZ formats. Always false for formats without sign.
            pub const fn is_sign_negative(self) -> bool {
                self.0 as u64 & Self::FLOAT.sign_mask() != 0
            }

            /// Whether the sign bit is not set. Always true for formats without sign.
            pub const fn is_sign_positive(self) -> bool {
                !self.is_sign_negative()
            }

            /// Compares in the total order of IEEE 754: -NaN, negative values, -0, +0, positive values, NaN.
            ///
            /// It orders by value as [`f32::total_cmp`] does, and NaNs of the same sign by their codes.
            pub fn total_cmp(&self, other: &Self) -> Ordering {
                floats::total_key(Self::FLOAT, self.0).cmp(&floats::total_key(Self::FLOAT, other.0))
            }
        }

        floats::methods! { @ flavor $flavor $format }
        floats::methods! { @ into $variant, $format, f32, Float32, u32 }
        floats::methods! { @ into $variant, $format, f64, Float64, u64 }
        floats::methods! { @ into $variant, $format, half::bf16, BFloat16, u16 }
        floats::methods! { @ into_f16 $flavor $variant $format }

        impl PartialEq for $format {
            fn eq(&self, other: &Self) -> bool {
                self.partial_cmp(other) == Some(Ordering::Equal)
            }
        }
        impl PartialOrd for $format {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                floats::compare(Self::FLOAT, self.0, other.0)
            }
        }
        /// Reads a decimal as `lanecast::text` does with the default options: its exact value is rounded once, however many digits it has.
        ///
        /// As in a cast with these options, overflow and `inf` give the largest value, and `float8_e8m0fnu` is rounded up: a decimal slightly
        /// above a power of two, which `Display` may write, gives the next power.
        impl core::str::FromStr for $format {
            type Err = ParseElementError;

            fn from_str(text: &str) -> Result<Self, ParseElementError> {
                parse::float(text, DType::$variant).map(Self)
            }
        }
        impl fmt::Debug for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($format)).field(&self.to_f32()).finish()
            }
        }
        floats::methods! { @ format $format, Display LowerExp UpperExp }
    };
    (@ format $format:ident, $($trait:ident)*) => {$(
        impl fmt::$trait for $format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::$trait::fmt(&self.to_f32(), f)
            }
        }
    )*};
    (@ into $variant:ident, $format:ident, $to:ty, $to_variant:ident, $bits:ty) => {
        const _: () = assert!(crate::exact::hub::parts_fit(DType::$variant, DType::$to_variant));
        impl From<$format> for $to {
            /// The same value.
            fn from(x: $format) -> $to {
                <$to>::from_bits(floats::widen(DType::$variant, DType::$to_variant, x.0) as $bits)
            }
        }
    };
    (@ into_f16 Exponent $variant:ident $format:ident) => {};
    (@ into_f16 $flavor:ident $variant:ident $format:ident) => {
        floats::methods! { @ into $variant, $format, half::f16, Float16, u16 }
    };
    (@ flavor Ieee $format:ident) => {
        floats::methods! { @ signed $format }
        floats::methods! { @ negative_zero $format }
        floats::methods! { @ nan $format }
        impl $format {
            /// Infinity.
            pub const INFINITY: Self = Self(floats::special(Self::FLOAT.infinity()));
            /// Negative infinity.
            pub const NEG_INFINITY: Self = Self(floats::negated(Self::FLOAT, Self::INFINITY.0));
        }
    };
    (@ flavor Fn $format:ident) => {
        floats::methods! { @ signed $format }
        floats::methods! { @ negative_zero $format }
        floats::methods! { @ nan $format }
    };
    (@ flavor Fnuz $format:ident) => {
        floats::methods! { @ signed $format }
        floats::methods! { @ nan $format }
    };
    (@ flavor Finite $format:ident) => {
        floats::methods! { @ signed $format }
        floats::methods! { @ negative_zero $format }
    };
    (@ flavor Exponent $format:ident) => {
        floats::methods! { @ nan $format }
        impl $format {
            /// The smallest value, which is positive: there are no negative ones and no zero.
            pub const MIN: Self = Self::MIN_POSITIVE;
        }
    };
    (@ nan $format:ident) => {
        impl $format {
            /// The NaN that casts make.
            pub const NAN: Self = Self(floats::special(Self::FLOAT.nan()));
        }
    };
    (@ negative_zero $format:ident) => {
        impl $format {
            /// -0.
            pub const NEG_ZERO: Self = Self(Self::FLOAT.sign_mask() as u8);
        }
    };
    (@ signed $format:ident) => {
        impl $format {
            /// 0.
            pub const ZERO: Self = Self(0);
            /// -1.
            pub const NEG_ONE: Self = Self(floats::negated(Self::FLOAT, Self::ONE.0));
            /// The smallest finite value: the negative value of the largest magnitude.
            pub const MIN: Self = Self(floats::negated(Self::FLOAT, Self::MAX.0));
            /// The smallest positive value.
            pub const MIN_POSITIVE_SUBNORMAL: Self = Self(1);
        }
        impl core::ops::Neg for $format {
            type Output = Self;
            /// The value with the opposite sign. In the FNUZ formats zero and NaN have only one sign, and are unchanged.
            fn neg(self) -> Self {
                Self(floats::negated(Self::FLOAT, self.0))
            }
        }
    };
}
pub(super) use methods;

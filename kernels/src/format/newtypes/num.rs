//! The traits of `num-traits`.
//!
//! *Law.* `AsPrimitive` is the cast with the default options: it is total, and casts any element to any other. `FromPrimitive` and `NumCast`
//! return `None` for numbers out of the finite range of the type, and for infinities and NaNs that it lacks; numbers in range are rounded once. If
//! the target is an integer, a fraction is dropped, as in all implementations of these traits.
//!
//! `Zero`, `One`, `Num` and the traits built on them require arithmetic, which these types do not have.

use super::*;
use crate::dtype::DType;
use crate::exact::{Exact, FLOAT32, float_spec};
use crate::{
    dtype::Element,
    exact::{
        Rules,
        one::{cast_one, default_rules},
    },
};
use num_traits::{AsPrimitive, Bounded, FromPrimitive, NumCast, ToPrimitive};

/// An integer of 128 bits.
fn wide(negative: bool, magnitude: u128) -> Exact {
    // Cut to 64 bits if it is longer, such that it rounds as the number itself.
    Exact { negative, ..parse::odd(magnitude, 0, false) }
}

/// Casts by rules that do not saturate.
fn checked(to: DType, x: Exact) -> Option<u8> {
    floats::checked(to, x, &Rules::common(to, false))
}

fn float64(x: f64) -> Exact {
    Exact::from_float(float_spec(DType::Float64), x.to_bits())
}

macro_rules! traits {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, $aliases:tt))*) => {
        $(traits! { @ $kind $format, $variant })*
    };
    (@ native $format:ty, $variant:ident) => {};
    (@ small_int $format:ty, $variant:ident) => {
        traits! { @ common $format }

        impl ToPrimitive for $format {
            fn to_i64(&self) -> Option<i64> {
                Some(self.get().into())
            }
            fn to_u64(&self) -> Option<u64> {
                self.get().try_into().ok()
            }
        }

        /// `None` for numbers out of range.
        impl FromPrimitive for $format {
            fn from_i64(x: i64) -> Option<Self> {
                x.try_into().ok()
            }
            fn from_u64(x: u64) -> Option<Self> {
                x.try_into().ok()
            }
        }

        /// `None` for numbers out of range after the fraction is dropped.
        impl NumCast for $format {
            fn from<T: ToPrimitive>(x: T) -> Option<Self> {
                x.to_i64()?.try_into().ok()
            }
        }
    };
    (@ small_float $format:ty, $variant:ident) => {
        traits! { @ common $format }

        impl ToPrimitive for $format {
            fn to_i64(&self) -> Option<i64> {
                Self::to_f64(*self).to_i64()
            }
            fn to_u64(&self) -> Option<u64> {
                Self::to_f64(*self).to_u64()
            }
            fn to_i128(&self) -> Option<i128> {
                Self::to_f64(*self).to_i128()
            }
            fn to_u128(&self) -> Option<u128> {
                Self::to_f64(*self).to_u128()
            }
            fn to_f32(&self) -> Option<f32> {
                Some(Self::to_f32(*self))
            }
            fn to_f64(&self) -> Option<f64> {
                Some(Self::to_f64(*self))
            }
        }

        /// The nearest value; `None` for numbers out of the finite range, and for infinities and NaNs that the format lacks.
        impl FromPrimitive for $format {
            fn from_i64(x: i64) -> Option<Self> {
                Self::from_i128(x.into())
            }
            fn from_u64(x: u64) -> Option<Self> {
                Self::from_u128(x.into())
            }
            fn from_i128(x: i128) -> Option<Self> {
                checked(DType::$variant, wide(x < 0, x.unsigned_abs())).map(Self::from_bits)
            }
            fn from_u128(x: u128) -> Option<Self> {
                checked(DType::$variant, wide(false, x)).map(Self::from_bits)
            }
            fn from_f32(x: f32) -> Option<Self> {
                let exact = Exact::from_float(FLOAT32, x.to_bits().into());
                checked(DType::$variant, exact).map(Self::from_bits)
            }
            fn from_f64(x: f64) -> Option<Self> {
                checked(DType::$variant, float64(x)).map(Self::from_bits)
            }
        }

        /// Goes through `f64`, and then as `FromPrimitive`.
        impl NumCast for $format {
            fn from<T: ToPrimitive>(x: T) -> Option<Self> {
                <Self as FromPrimitive>::from_f64(x.to_f64()?)
            }
        }
    };
    (@ common $format:ty) => {
        impl Bounded for $format {
            /// `MIN`.
            fn min_value() -> Self {
                Self::MIN
            }
            /// `MAX`.
            fn max_value() -> Self {
                Self::MAX
            }
        }

        traits! {
            @ from $format, bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize half::f16 half::bf16 f32 f64
        }

        /// The cast with the default options.
        impl<D: Element> AsPrimitive<D> for $format {
            fn as_(self) -> D {
                cast_one(self, &default_rules(Self::DTYPE, D::DTYPE))
            }
        }
    };
    // `num-complex` implements the trait for complex sources.
    (@ from $to:ty, $($from:ty)*) => {$(
        /// The cast with the default options.
        impl AsPrimitive<$to> for $from {
            fn as_(self) -> $to {
                cast_one(self, &default_rules(Self::DTYPE, <$to>::DTYPE))
            }
        }
    )*};
}
crate::dtype::for_each_dtype!(traits);

//! The small types in generic tests: traits of what they have in common, and lists of them.

#![allow(dead_code, unused_imports, unused_macros, reason = "every test binary uses another part")]

use lanecast::{
    Element, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2,
    F8E5M2FNUZ, F8E8M0FNU, FInfo, FloatSpec, I2, I4, ParseElementError, U2, U4, half,
};
use std::cmp::Ordering;
use std::fmt::{Debug, Display};
use std::num::FpCategory;
use std::str::FromStr;

/// Runs `$function::<type>()` for the types.
macro_rules! each {
    (floats $function:ident) => {
        each!(signed $function);
        $function::<F8E8M0FNU>();
    };
    (signed $function:ident) => {
        each!($function: F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN F4E2M1FN)
    };
    (ints $function:ident) => {
        each!($function: I2 I4 U2 U4)
    };
    ($function:ident: $($type:ident)*) => {
        $($function::<$type>();)*
    };
}

pub(crate) use each;

/// What all small types have.
pub trait Small:
    Element + Debug + Display + PartialEq + PartialOrd + Default + FromStr<Err = ParseElementError>
{
    const TOP: Self;
    const BOTTOM: Self;
    fn from_bits(code: u8) -> Self;
    fn to_bits(self) -> u8;
}

/// The small floats.
pub trait Float: Small + Into<f32> + Into<f64> + Into<half::bf16> {
    const ONE: Self;
    const EPSILON: Self;
    const MIN_POSITIVE: Self;
    const MANTISSA_DIGITS: u32;
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn is_nan(self) -> bool;
    fn is_infinite(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_normal(self) -> bool;
    fn is_sign_negative(self) -> bool;
    fn is_sign_positive(self) -> bool;
    fn classify(self) -> FpCategory;
    fn total_cmp(&self, other: &Self) -> Ordering;

    fn spec() -> FloatSpec {
        Self::DTYPE.float_spec().expect("a float")
    }
    fn limits() -> FInfo {
        Self::DTYPE.finfo().expect("a float")
    }
}

macro_rules! small {
    ($($type:ident)*) => {$(
        impl Small for $type {
            const TOP: Self = Self::MAX;
            const BOTTOM: Self = Self::MIN;
            fn from_bits(code: u8) -> Self {
                Self::from_bits(code)
            }
            fn to_bits(self) -> u8 {
                self.to_bits()
            }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Float for $type {
            const ONE: Self = Self::ONE;
            const EPSILON: Self = Self::EPSILON;
            const MIN_POSITIVE: Self = Self::MIN_POSITIVE;
            const MANTISSA_DIGITS: u32 = Self::MANTISSA_DIGITS;
            floats! { @ from_f32(x: f32) -> Self, from_f64(x: f64) -> Self, to_f32(self) -> f32, to_f64(self) -> f64,
                is_nan(self) -> bool, is_infinite(self) -> bool, is_finite(self) -> bool, is_normal(self) -> bool,
                is_sign_negative(self) -> bool, is_sign_positive(self) -> bool, classify(self) -> FpCategory }
            fn total_cmp(&self, other: &Self) -> Ordering {
                self.total_cmp(other)
            }
        }
    )*};
    (@ $($method:ident($self:ident $(: $type:ty)?) -> $result:ty),*) => {
        $(floats! { @ one $method($self $(: $type)?) -> $result })*
    };
    (@ one $method:ident(self) -> $result:ty) => {
        fn $method(self) -> $result {
            Self::$method(self)
        }
    };
    (@ one $method:ident($x:ident: $type:ty) -> $result:ty) => {
        fn $method($x: $type) -> $result {
            Self::$method($x)
        }
    };
}

small! {
    I2 I4 U2 U4 F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN F4E2M1FN
}
floats! { F8E4M3FN F8E4M3FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU F8E3M4 F8E4M3 F8E4M3B11FNUZ F6E2M3FN F6E3M2FN F4E2M1FN }

/// Every byte, unused bits set in some.
pub fn all<T: Small>() -> impl Iterator<Item = T> + Clone {
    (0..=255).map(T::from_bits)
}

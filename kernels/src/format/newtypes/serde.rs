//! `Serialize` and `Deserialize`.
//!
//! *Law.* Human-readable formats contain the number: a float as an `f32`, an infinity or a NaN as the text `inf`, `-inf` or `nan`, an integer as
//! an integer. Other formats contain the code as a `u8`. Reading returns the element that was written, except for the sign and the code of a NaN
//! in human-readable formats. A number is rounded to the nearest value, in `float8_e8m0fnu` as well. A number out of range is an error, and so is
//! a code with bits above the format's.

use super::*;
use crate::dtype::DType;
use crate::exact::{Exact, float_spec};
use crate::exact::{Rounding, Rules};
use ::serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor},
};
use core::fmt;
use core::num::FpCategory;

/// Reads the code of a float.
struct Floats {
    to: DType,
    max: f32,
}

impl Floats {
    fn code<E: Error>(&self, x: Exact, shown: Unexpected<'_>) -> Result<u8, E> {
        // A decimal may lie slightly above a power of two, and must not round up to the next power.
        let mut rules = Rules::common(self.to, false);
        if matches!(rules.rounding, Rounding::Ceil) {
            rules.rounding = Rounding::NearestAway;
        }
        floats::checked(self.to, x, &rules).ok_or_else(|| E::invalid_value(shown, self))
    }
}

impl Visitor<'_> for Floats {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = float_spec(self.to);
        let min = if spec.signed() {
            -self.max
        } else {
            f32::from_bits(floats::widen(self.to, DType::Float32, 0) as u32)
        };
        write!(f, "a number from {min:?} to {:?} ({})", self.max, self.to)?;
        f.write_str(if spec.infinity().is_some() { ", \"inf\", \"-inf\"" } else { "" })?;
        f.write_str(if spec.nan().is_some() { ", \"nan\"" } else { "" })
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<u8, E> {
        self.code(Exact::from_float(float_spec(DType::Float64), x.to_bits()), Unexpected::Float(x))
    }
    fn visit_i64<E: Error>(self, x: i64) -> Result<u8, E> {
        self.code(Exact::from_int(64, true, x as u64), Unexpected::Signed(x))
    }
    fn visit_u64<E: Error>(self, x: u64) -> Result<u8, E> {
        self.code(Exact::from_int(64, false, x), Unexpected::Unsigned(x))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<u8, E> {
        let x = match text {
            "nan" => f64::NAN,
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => return Err(E::invalid_value(Unexpected::Str(text), &self)),
        };
        self.code(Exact::from_float(float_spec(DType::Float64), x.to_bits()), Unexpected::Str(text))
    }
}

/// Reads the value of an integer.
struct Ints {
    to: DType,
    min: i64,
    max: i64,
}

impl Visitor<'_> for Ints {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an integer from {} to {} ({})", self.min, self.max, self.to)
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<i64, E> {
        if (self.min..=self.max).contains(&x) {
            Ok(x)
        } else {
            Err(E::invalid_value(Unexpected::Signed(x), &self))
        }
    }
    fn visit_u64<E: Error>(self, x: u64) -> Result<i64, E> {
        match i64::try_from(x) {
            Ok(x) => self.visit_i64(x),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(x), &self)),
        }
    }
}

/// Reads a code, which may have no bits above the format's.
fn code<'de, D: Deserializer<'de>>(deserializer: D, mask: u8, to: DType) -> Result<u8, D::Error> {
    let code = u8::deserialize(deserializer)?;
    if code & !mask == 0 {
        return Ok(code);
    }
    Err(D::Error::invalid_value(Unexpected::Unsigned(code.into()), &Code(mask, to)))
}

/// The description of a valid code, for errors.
struct Code(u8, DType);

impl ::serde::de::Expected for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a code of {} from 0 to {}", self.1, self.0)
    }
}

macro_rules! traits {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, $aliases:tt))*) => {
        $(traits! { @ $kind $format, $variant })*
    };
    (@ native $format:ty, $variant:ident) => {};
    (@ small_float $format:ty, $variant:ident) => {
        /// The number in human-readable formats (an infinity or a NaN as `"inf"`, `"-inf"`, `"nan"`), else the code.
        impl Serialize for $format {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.classify() {
                    _ if !serializer.is_human_readable() => serializer.serialize_u8(self.to_bits()),
                    FpCategory::Nan => serializer.serialize_str("nan"),
                    FpCategory::Infinite if self.is_sign_negative() => serializer.serialize_str("-inf"),
                    FpCategory::Infinite => serializer.serialize_str("inf"),
                    _ => serializer.serialize_f32(self.to_f32()),
                }
            }
        }

        /// The nearest value of a number in range in human-readable formats, else the code.
        impl<'de> Deserialize<'de> for $format {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let code = if deserializer.is_human_readable() {
                    deserializer.deserialize_any(Floats { to: DType::$variant, max: Self::MAX.to_f32() })
                } else {
                    code(deserializer, Self::MASK, DType::$variant)
                };
                code.map(Self)
            }
        }
    };
    (@ small_int $format:ty, $variant:ident) => {
        /// The number in human-readable formats, else the code.
        impl Serialize for $format {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    self.get().serialize(serializer)
                } else {
                    serializer.serialize_u8(self.to_bits())
                }
            }
        }

        /// A number in range in human-readable formats, else the code.
        impl<'de> Deserialize<'de> for $format {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let visitor =
                        Ints { to: DType::$variant, min: Self::MIN.get().into(), max: Self::MAX.get().into() };
                    deserializer.deserialize_i64(visitor).map(|x| Self(x as u8 & Self::MASK))
                } else {
                    code(deserializer, Self::MASK, DType::$variant).map(Self)
                }
            }
        }
    };
}
crate::dtype::for_each_dtype!(traits);

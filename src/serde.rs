//! `Serialize` and `Deserialize` for options.
//!
//! Formats that people read hold the names of [`NAMED`](crate::Saturate::NAMED), other formats the places of the values in these lists. Fields of
//! [`CastOptions`] that are missing have their default; a field that is unknown is an error.

use crate::{
    CastOptions, E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, Level,
    NanToFinite, Saturate,
};
use ::serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
    ser::SerializeStruct,
};
use core::fmt;

lanecast_kernels::named_values! {
    Saturate, "an option `saturate`", Saturate::NAMED;
    E8M0Round, "an option `e8m0_round`", E8M0Round::NAMED;
    E8M0Range, "an option `e8m0_range`", E8M0Range::NAMED;
    IntOverflow, "an overflow of integers", IntOverflow::NAMED;
    IntRound, "an option `int_round`", IntRound::NAMED;
    FloatRound, "an option `float_round`", FloatRound::NAMED;
    E5M2Nan, "an option `e5m2_nan`", E5M2Nan::NAMED;
    NanToFinite, "an option `nan_to_finite`", NanToFinite::NAMED;
    FnuzInf, "an option `fnuz_inf`", FnuzInf::NAMED;
    Level, "a level of checks",
        &[("range", Level::Range), ("underflow", Level::Underflow), ("exact", Level::Exact)];
}

macro_rules! options {
    ($($field:ident),*) => {
        const FIELDS: &[&str] = &[$(stringify!($field)),*];

        /// A struct of all options, by name or in the order of the fields.
        impl Serialize for CastOptions {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut fields = serializer.serialize_struct("CastOptions", FIELDS.len())?;
                $(fields.serialize_field(stringify!($field), &self.$field)?;)*
                fields.end()
            }
        }

        impl<'de> Visitor<'de> for Options {
            type Value = CastOptions;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the options of a cast")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CastOptions, A::Error> {
                $(let mut $field = None;)*
                while let Some(Field(name)) = map.next_key()? {
                    match name {
                        $(stringify!($field) => {
                            if $field.replace(map.next_value()?).is_some() {
                                return Err(A::Error::duplicate_field(name));
                            }
                        })*
                        // `Field` reads no other name.
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                let default = CastOptions::default();
                Ok(CastOptions { $($field: $field.unwrap_or(default.$field)),* })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<CastOptions, A::Error> {
                let default = CastOptions::default();
                Ok(CastOptions { $($field: fields.next_element()?.unwrap_or(default.$field)),* })
            }
        }
    };
}
options!(
    saturate,
    e8m0_round,
    e8m0_range,
    float_to_int,
    int_to_int,
    int_round,
    float_round,
    e5m2_nan,
    nan_to_finite,
    fnuz_inf
);

/// Options that are missing have their default.
impl<'de> Deserialize<'de> for CastOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("CastOptions", FIELDS, Options)
    }
}

/// Reads the options.
struct Options;

/// The name of a field.
struct Field(&'static str);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(Names)
    }
}

/// Reads the name or the number of a field.
struct Names;

impl Visitor<'_> for Names {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an option")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Field, E> {
        let found = FIELDS.iter().find(|field| **field == name);
        found.map(|field| Field(field)).ok_or_else(|| E::unknown_field(name, FIELDS))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Field, E> {
        let found = usize::try_from(number).ok().and_then(|number| FIELDS.get(number));
        found.map(|field| Field(field)).ok_or_else(|| {
            E::custom(format_args!("no option of a cast has the number {number}; there are {}", FIELDS.len()))
        })
    }
}

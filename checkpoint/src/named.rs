//! Values in JSON by their names, for `#[serde(with)]`.

use std::{fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// Writes the name.
pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Reads a name.
pub(crate) fn deserialize<'d, T: FromStr<Err: Display>, D: Deserializer<'d>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Values by names, each with a pattern before it.
pub(crate) mod patterns {
    use super::{Deserialize, Deserializer, Display, Error, FromStr, Serializer};

    /// Writes pairs of texts.
    pub(crate) fn serialize<T: Display, S: Serializer>(
        map: &[(String, T)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map.iter().map(|(pattern, value)| (pattern, value.to_string())))
    }

    /// Reads pairs of texts.
    pub(crate) fn deserialize<'d, T: FromStr<Err: Display>, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        let pairs = Vec::<(String, String)>::deserialize(from)?.into_iter();
        pairs.map(|(pattern, name)| Ok((pattern, name.parse().map_err(D::Error::custom)?))).collect()
    }
}

//! The values that arguments take by name: dtypes, standards, storages and byte orders.

use std::{ffi::OsStr, num::ParseIntError, time::Duration};

use clap::{
    ValueEnum,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use lanecast::{ByteOrder, DType, Storage, onnx::ElementType, promote::Standard, scaled::Scheme};
use lanecast_checkpoint::{Phase, QuantLayout, QuantScheme};

use crate::meant::{self, Targets, UnknownDType};

/// How elements of less than a byte are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StorageArg {
    /// Several elements share a byte
    Packed,
    /// One element per byte
    Byte,
}

impl From<StorageArg> for Storage {
    fn from(storage: StorageArg) -> Self {
        match storage {
            StorageArg::Packed => Storage::Packed,
            StorageArg::Byte => Storage::Byte,
        }
    }
}

/// Which byte of an element comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// The lowest
    Little,
    /// The highest
    Big,
}

impl From<OrderArg> for ByteOrder {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Little => ByteOrder::Little,
            OrderArg::Big => ByteOrder::Big,
        }
    }
}

/// One standard or all of them.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// All standards.
    All,
    /// This standard.
    One(Standard),
}

/// A parser of names, which completions and man pages list.
#[derive(Clone)]
pub(super) struct Named<T, E> {
    parse: fn(&str) -> std::result::Result<T, E>,
    names: fn() -> Vec<&'static str>,
}

impl<T, E> TypedValueParser for Named<T, E>
where
    T: Clone + Send + Sync + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + Clone + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> std::result::Result<T, clap::Error> {
        let parse = self.parse;
        StringValueParser::new().try_map(move |name| parse(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

/// A part of a whole, from 0 to 1 or from 0% to 100%.
pub fn fraction(text: &str) -> Result<f64, String> {
    let (number, of) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let part = number.trim().parse::<f64>().ok().map(|number| number / of);
    part.filter(|part| (0.0..=1.0).contains(part))
        .ok_or_else(|| "not a part from 0 to 1 or from 0% to 100%".to_owned())
}

/// The lengths of axes: `4096,1024` or `4096x1024`.
pub fn axes(text: &str) -> Result<Vec<usize>, String> {
    let parsed = text.split([',', 'x', 'X']).map(|length| length.trim().parse());
    parsed.collect::<Result<_, _>>().map_err(|e: ParseIntError| e.to_string())
}

/// A pattern and the dtype of what it matches: `*.norm.weight=float32`.
pub(super) fn mapping(text: &str) -> Result<(String, DType), Box<dyn std::error::Error + Send + Sync>> {
    let (glob, name) = text.rsplit_once('=').ok_or("not a pattern and a dtype, such as '*norm*=float32'")?;
    Ok((glob.to_owned(), meant::dtype(name)?))
}

/// A number of bytes: `5GB`, `512MiB`, `1000`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS.iter().find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?, bytes)));
    let parsed = unit.and_then(|(number, unit)| number.trim().parse::<u64>().ok()?.checked_mul(*unit));
    parsed.filter(|bytes| *bytes > 0).ok_or_else(|| "not a size such as 5GB or 512MiB".to_owned())
}

/// A time in seconds: `600`, `0.5`.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    parsed.ok_or_else(|| "not a number of seconds such as 600".to_owned())
}

fn dtype_names() -> Vec<&'static str> {
    DType::ALL.iter().map(|dtype| dtype.name()).collect()
}

pub(super) fn targets() -> Named<Targets, UnknownDType> {
    Named {
        parse: meant::targets,
        names: || dtype_names().into_iter().chain(Scheme::NAMED.iter().map(|(name, _)| *name)).collect(),
    }
}

pub(super) fn dtype() -> Named<DType, UnknownDType> {
    Named { parse: meant::dtype, names: dtype_names }
}

pub(super) fn element() -> Named<ElementType, UnknownDType> {
    Named {
        parse: |name| match name.eq_ignore_ascii_case("string") {
            true => Ok(ElementType::String),
            false => meant::dtype(name).map(ElementType::Number),
        },
        names: || [&dtype_names()[..], &["string"]].concat(),
    }
}

fn standard_names() -> Vec<&'static str> {
    Standard::ALL.iter().map(|standard| standard.id()).collect()
}

pub(super) fn standard() -> Named<Standard, String> {
    Named {
        parse: |name| name.parse::<Standard>().map_err(|unknown| unknown.to_string()),
        names: standard_names,
    }
}

pub(super) fn standard_or_all() -> Named<Which, String> {
    Named {
        parse: |name| match name.eq_ignore_ascii_case("all") {
            true => Ok(Which::All),
            false => (standard().parse)(name).map(Which::One),
        },
        names: || [&standard_names()[..], &["all"]].concat(),
    }
}

pub(super) fn scheme() -> Named<QuantScheme, String> {
    Named {
        parse: |name| name.parse().map_err(|e: lanecast_checkpoint::Error| e.to_string()),
        names: || QuantScheme::NAMED.iter().map(|(name, _)| *name).collect(),
    }
}

pub(super) fn layout() -> Named<QuantLayout, String> {
    Named {
        parse: |name| name.parse().map_err(|e: lanecast_checkpoint::Error| e.to_string()),
        names: || QuantLayout::NAMED.iter().map(|(name, _)| *name).collect(),
    }
}

pub(super) fn phase() -> Named<Phase, String> {
    Named {
        parse: |name| name.parse().map_err(|e: lanecast_checkpoint::Error| e.to_string()),
        names: || Phase::ALL.map(Phase::name).to_vec(),
    }
}

/// A pattern of names and a scheme: `*.down_proj=fp8-block`. Patterns may have the sign, too.
pub(super) fn map(text: &str) -> Result<(String, QuantScheme), String> {
    let (glob, name) = text.rsplit_once('=').ok_or("not a pattern, =, and a scheme")?;
    Ok((glob.to_owned(), name.parse().map_err(|e: lanecast_checkpoint::Error| e.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        assert_eq!(
            ["5GB", "512MiB", "1000", "2 kb", "1b"].map(size),
            [5_000_000_000, 512 << 20, 1000, 2000, 1].map(Ok)
        );
        assert!(["", "0", "GB", "-1", "1.5GB", "99999999999TB"].iter().all(|text| size(text).is_err()));
    }

    #[test]
    fn times_are_in_seconds() {
        assert_eq!(["600", " 0.5 ", "0"].map(seconds), [600_000, 500, 0].map(Duration::from_millis).map(Ok));
        assert!(["", "-1", "1 h", "nan", "inf", "src"].iter().all(|text| seconds(text).is_err()));
    }

    #[test]
    fn patterns_are_mapped_to_dtypes() {
        assert_eq!(mapping("a=b*=f32").ok(), Some(("a=b*".to_owned(), DType::Float32)));
        assert!(mapping("f32").is_err() && mapping("a=b").is_err());
    }

    #[test]
    fn parts_and_axes_have_two_spellings() {
        assert_eq!(
            ["0.01", "1%", " 1 %", "1", "100%", "0"].map(fraction),
            [0.01, 0.01, 0.01, 1.0, 1.0, 0.0].map(Ok)
        );
        assert!(
            ["", "%", "1.1", "101%", "-1%", "nan", "inf", "one"].iter().all(|text| fraction(text).is_err())
        );
        assert_eq!(["2816x1024", "2816,1024", "2816X1024"].map(axes), [(); 3].map(|()| Ok(vec![2816, 1024])));
        assert_eq!(axes("4"), Ok(vec![4]));
        assert!(["", "x", "4x", "4,,5", "-1", "4;5"].iter().all(|text| axes(text).is_err()));
    }
}

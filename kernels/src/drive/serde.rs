//! `Serialize` and `Deserialize` for dtypes, encodings and other plain values.
//!
//! *Law.* Human-readable formats contain the name, as [`Display`](fmt::Display) prints it for types that implement it, and other formats contain a
//! `u8`. Neither depends on the host: an encoding of multi-byte elements always includes its byte order. For a name or a number that no value has,
//! the error lists all values.

use crate::{
    arch::Tier,
    dtype::{ByteOrder, DType, Encoding, Storage},
    route::Streaming,
};
use ::serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};
use core::{fmt, marker::PhantomData};

/// A type whose values all have a name and a number.
pub trait Named: Copy + PartialEq + 'static {
    /// The type's word with its article, for error messages: `"a tier"`.
    const WHAT: &'static str;
    /// All values with their names, each at its number. New values come last, so that numbers keep their meaning.
    const VALUES: &'static [(&'static str, Self)];
}

/// Writes a value.
pub fn serialize<T: Named, S: Serializer>(value: T, serializer: S) -> Result<S::Ok, S::Error> {
    let found = T::VALUES.iter().enumerate().find(|(_, (_, other))| *other == value);
    match found {
        Some((_, (name, _))) if serializer.is_human_readable() => serializer.serialize_str(name),
        Some((number, _)) => serializer.serialize_u8(number as u8),
        None => Err(::serde::ser::Error::custom(format_args!("{} without a name", T::WHAT))),
    }
}

/// Reads a value.
pub fn deserialize<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let visitor = Values(PhantomData);
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(visitor)
    } else {
        deserializer.deserialize_u8(visitor)
    }
}

/// Reads a name or a number. Displayed, it is the list of all names.
struct Values<T>(PhantomData<T>);

impl<T: Named> fmt::Display for Values<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::VALUES
            .iter()
            .enumerate()
            .try_for_each(|(i, (name, _))| write!(f, "{}{name:?}", if i == 0 { "" } else { ", " }))
    }
}

impl<T: Named> Visitor<'_> for Values<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", T::WHAT)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let found = T::VALUES.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            E::custom(format_args!("{text:?} is not the name of {}; the names are {self}", T::WHAT))
        })
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        let found = usize::try_from(number).ok().and_then(|number| T::VALUES.get(number));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let last = T::VALUES.len() - 1;
            E::custom(format_args!("{number} is not the number of {}; the numbers are 0 to {last}", T::WHAT))
        })
    }
}

/// Implements both traits for types that are [`Named`].
#[macro_export]
#[doc(hidden)]
macro_rules! named_values {
    ($($type:ty, $what:literal, $values:expr;)*) => {
        $(
            impl $crate::named::Named for $type {
                const WHAT: &'static str = $what;
                const VALUES: &'static [(&'static str, Self)] = $values;
            }

            /// The name in human-readable formats, else a number.
            impl ::serde::Serialize for $type {
                fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    $crate::named::serialize(*self, serializer)
                }
            }

            /// The name in human-readable formats, else a number.
            impl<'de> ::serde::Deserialize<'de> for $type {
                fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    $crate::named::deserialize(deserializer)
                }
            }
        )*
    };
}

named_values! {
    Streaming, "when to use non-temporal stores",
        &[("auto", Streaming::Auto), ("always", Streaming::Always), ("never", Streaming::Never)];
    Tier, "a tier", &{
        let (mut all, mut i) = ([("", Tier::Scalar); Tier::ALL.len()], 0);
        while i < all.len() {
            all[i] = (Tier::ALL[i].name(), Tier::ALL[i]);
            i += 1;
        }
        all
    };
    ByteOrder, "a byte order", &[("little", ByteOrder::Little), ("big", ByteOrder::Big)];
    Storage, "a storage", &[("byte", Storage::Byte), ("packed", Storage::Packed)];
}

/// The canonical name in human-readable formats, else the stable number ([`code`](DType::code)).
impl Serialize for DType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(self.name())
        } else {
            serializer.serialize_u8(self.code())
        }
    }
}

/// A name or an alias in human-readable formats, else the stable number.
impl<'de> Deserialize<'de> for DType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(DTypes)
        } else {
            deserializer.deserialize_u8(DTypes)
        }
    }
}

/// Reads a dtype.
struct DTypes;

impl Visitor<'_> for DTypes {
    type Value = DType;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a dtype, such as \"float32\"")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<DType, E> {
        name.parse().map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<DType, E> {
        let found = u8::try_from(number).ok().and_then(DType::from_code);
        found.ok_or_else(|| E::custom(format_args!("no dtype has the number {number} (DType::code)")))
    }
}

/// What an encoding has besides its dtype, as text; the index is its number.
const FORMS: [(&str, Storage, Option<ByteOrder>); 4] = [
    (" (one per byte)", Storage::Byte, None),
    (" (packed)", Storage::Packed, None),
    (" (little-endian)", Storage::Byte, Some(ByteOrder::Little)),
    (" (big-endian)", Storage::Byte, Some(ByteOrder::Big)),
];

/// The place of an encoding's form in [`FORMS`].
fn form(encoding: Encoding) -> usize {
    match (encoding.storage(), encoding.order()) {
        (Storage::Packed, _) => 1,
        _ if encoding.dtype().alignment() == 1 => 0,
        (Storage::Byte, ByteOrder::Little) => 2,
        (Storage::Byte, ByteOrder::Big) => 3,
    }
}

/// The encoding of a dtype with a form; `None` if the dtype does not have the form.
fn with_form(dtype: DType, form: usize) -> Option<Encoding> {
    let (_, storage, order) = FORMS.get(form)?;
    let encoding = Encoding::with_storage(dtype, *storage);
    let encoding = order.map_or(encoding, |order| encoding.with_order(order));
    (self::form(encoding) == form).then_some(encoding)
}

/// An encoding as text.
struct Shown(Encoding);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.dtype().name())?;
        // Elements of a whole byte have one form.
        if self.0.dtype().bits() == 8 { Ok(()) } else { f.write_str(FORMS[form(self.0)].0) }
    }
}

/// The dtype with its storage or its byte order in human-readable formats, such as `"int4 (packed)"` or `"float32 (little-endian)"`. Else two
/// numbers.
impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(&Shown(*self))
        } else {
            (self.dtype().code(), form(*self) as u8).serialize(serializer)
        }
    }
}

/// Reads an encoding as it is written. A dtype alone means separate bytes in the byte order of the host, as [`Encoding::new`].
impl<'de> Deserialize<'de> for Encoding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Encodings);
        }
        let (dtype, form) = <(DType, u8)>::deserialize(deserializer)?;
        with_form(dtype, form.into())
            .ok_or_else(|| D::Error::custom(format_args!("{dtype} has no encoding with the number {form}")))
    }
}

/// Reads an encoding.
struct Encodings;

impl Visitor<'_> for Encodings {
    type Value = Encoding;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an encoding, such as \"float32\", \"int4 (packed)\" or \"int16 (big-endian)\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Encoding, E> {
        let Some(place) = text.find(" (") else {
            return text.parse::<DType>().map(Encoding::new).map_err(E::custom);
        };
        let (name, suffix) = text.split_at(place);
        let dtype: DType = name.parse().map_err(E::custom)?;
        let found = FORMS.iter().position(|(other, ..)| *other == suffix);
        found.and_then(|form| with_form(dtype, form)).ok_or_else(|| {
            let forms = match (dtype.is_sub_byte(), dtype.alignment()) {
                (true, _) => "(packed) or (one per byte)",
                (false, 1) => "nothing",
                _ => "(little-endian) or (big-endian)",
            };
            E::custom(format_args!("{text:?} is not an encoding: behind {dtype} comes {forms}"))
        })
    }
}

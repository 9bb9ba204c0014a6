//! The header of a `.safetensors` file: read strictly, written as the reference implementation does.
//!
//! The file is a length (`u64`, little-endian), that many bytes of JSON, and the data. The JSON names each
//! tensor with its dtype, its shape and its place in the data, and may have `__metadata__`, a map of text
//! to text. These rules are checked before anything else is trusted: the header lies inside the file and is
//! not longer than the format allows; names are unique, including the keys of the JSON; the size of each
//! tensor follows from its dtype and shape; the tensors cover the data exactly, without gaps or overlaps.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read},
};

use lanecast::{DType, Encoding, names::Namespace};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, Visitor},
    ser::SerializeMap,
};

use crate::{
    error::{Error, Remedy, Result},
    formats::format::{MOST_AXES, elements, quoted},
    pump::byte_len,
    text,
};

/// The longest header that the format allows. It bounds the memory for a header: up to twenty bytes for each of its bytes.
pub const LONGEST: u64 = 100_000_000;

/// The longest text that is read in a header, which has to be held in memory.
const LONGEST_TEXT: usize = 1 << 22;

/// The beginning of the message about this limit.
const TOO_LARGE: &str = "the header is larger than this program reads";

/// The format's name for `dtype`.
pub fn name_of(dtype: DType) -> Option<&'static str> {
    Namespace::Safetensors.name(dtype)
}

/// One tensor, checked.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<u64>,
    /// How many elements it has.
    pub elements: u64,
    /// Where it begins in the data.
    pub begin: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A header, checked against the length of its file.
#[derive(Debug)]
pub struct Header {
    /// `__metadata__`, in the order of the file.
    pub metadata: Option<Vec<(String, String)>>,
    /// The tensors in the order in which the header names them.
    pub tensors: Vec<Tensor>,
    /// Where the data begins in the file.
    pub data_start: u64,
}

impl Header {
    /// Reads and checks the header of a file of `file_len` bytes.
    pub fn read(file: &mut impl Read, file_len: u64) -> Result<Self> {
        let failed = |e: io::Error| Error::reading(&e);
        if file_len < 8 {
            return Err(Error::format(format!("{file_len} bytes are too few for a header")));
        }
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(failed)?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST {
            return Err(Error::format(format!(
                "the header claims {length} bytes; the format allows {LONGEST}"
            )));
        }
        if length > file_len - 8 {
            return Err(Error::format(format!(
                "the header claims {length} bytes, but the file has {file_len}"
            )));
        }
        let mut json = BufReader::new(TextLimit::new(file.take(length)));
        if json.fill_buf().map_err(failed)?.first() != Some(&b'{') {
            return Err(Error::format("the header does not begin with {"));
        }
        let raw: RawHeader = serde_json::from_reader(json).map_err(|e| {
            let what = e.to_string();
            match io::Error::from(e) {
                e if e.raw_os_error().is_some() => Error::reading(&e),
                _ if what.starts_with(TOO_LARGE) => Error::unsupported(what).advise("split the file"),
                _ => Error::format(format!("bad header, {what}")),
            }
        })?;
        let data_start = 8 + length;
        let tensors =
            raw.tensors.into_iter().map(|(name, raw)| raw.check(name)).collect::<Result<Vec<_>>>()?;
        check_cover(&tensors, file_len - data_start)?;
        Ok(Self { metadata: raw.metadata, tensors, data_start })
    }
}

/// Checks that the tensors cover the `data` bytes exactly.
fn check_cover(tensors: &[Tensor], data: u64) -> Result<()> {
    let mut end = 0;
    for tensor in in_order_of_data(tensors) {
        if tensor.begin != end {
            let what = if tensor.begin < end { "overlaps another one" } else { "leaves a gap before it" };
            return Err(Error::format(format!("the tensor {what}")).at(quoted("tensor", &tensor.name)));
        }
        end += tensor.bytes;
        if end > data {
            return Err(Error::format("the tensor extends beyond the end of the file")
                .at(quoted("tensor", &tensor.name)));
        }
    }
    if end != data {
        return Err(Error::format(format!("the file has {data} bytes of data, but the tensors have {end}")));
    }
    Ok(())
}

/// The tensors in the order of their data; empty ones come before the tensor that begins at the same byte.
fn in_order_of_data(tensors: &[Tensor]) -> Vec<&Tensor> {
    let mut order: Vec<&Tensor> = tensors.iter().collect();
    order.sort_by_key(|tensor| (tensor.begin, tensor.bytes));
    order
}

/// A reader of JSON that fails at a text longer than [`LONGEST_TEXT`].
struct TextLimit<R> {
    inner: R,
    /// The length of the current text so far; `None` outside texts.
    text: Option<usize>,
    escaped: bool,
}

impl<R> TextLimit<R> {
    fn new(inner: R) -> Self {
        Self { inner, text: None, escaped: false }
    }
}

impl<R: Read> Read for TextLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        for &c in &buffer[..n] {
            match (self.text, c) {
                (Some(_), _) if self.escaped => self.escaped = false,
                (Some(_), b'\\') => self.escaped = true,
                (Some(_), b'"') => self.text = None,
                (None, b'"') => self.text = Some(0),
                _ => {}
            }
            if let Some(length) = &mut self.text {
                *length += 1;
                if *length > LONGEST_TEXT {
                    return Err(io::Error::other(format!(
                        "{TOO_LARGE}: it has a text of more than {LONGEST_TEXT} bytes"
                    )));
                }
            }
        }
        Ok(n)
    }
}

/// A parsed header, not checked except for duplicate names.
struct RawHeader {
    metadata: Option<Vec<(String, String)>>,
    tensors: Vec<(String, RawTensor)>,
}

#[derive(Deserialize)]
#[serde(expecting = "dtype, shape and data_offsets of a tensor")]
struct RawTensor {
    dtype: String,
    shape: Shape,
    data_offsets: (u64, u64),
}

impl RawTensor {
    fn check(self, name: String) -> Result<Tensor> {
        let bad = |what: String| Error::format(what).at(quoted("tensor", &name));
        let Ok(dtype) = Namespace::Safetensors.parse(&self.dtype) else {
            return Err(Error::unsupported(format!("unknown dtype \"{}\"", text::one_line(&self.dtype)))
                .at(quoted("tensor", &name))
                .advise(Remedy::ListDTypes));
        };
        let (begin, end) = self.data_offsets;
        let Some(bytes) = end.checked_sub(begin) else {
            return Err(bad(format!("the tensor ends at {end}, before it begins at {begin}")));
        };
        let shape = self.shape.0;
        let count = elements(&shape).ok_or_else(|| bad("the shape overflows".into()))?;
        let expected =
            byte_len(Encoding::packed(dtype), count).ok_or_else(|| bad("the size overflows".into()))?;
        if !ends_at_a_byte(dtype, count) {
            return Err(bad(format!("{count} elements of {} do not fill whole bytes", self.dtype)));
        }
        if bytes != expected {
            return Err(bad(format!("dtype and shape need {expected} bytes, the offsets have {bytes}")));
        }
        Ok(Tensor { dtype, shape, elements: count, begin, bytes, name })
    }
}

/// Whether `elements` of `dtype` fill whole bytes when packed, as the format requires.
pub fn ends_at_a_byte(dtype: DType, elements: u64) -> bool {
    (elements % 8 * u64::from(dtype.bits())).is_multiple_of(8)
}

const METADATA: &str = "__metadata__";

impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = RawHeader;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RawHeader, A::Error> {
                let mut header = RawHeader { metadata: None, tensors: Vec::new() };
                let mut has_metadata = false;
                while let Some(name) = map.next_key::<String>()? {
                    if name != METADATA {
                        header.tensors.push((name, map.next_value()?));
                    } else if !has_metadata {
                        has_metadata = true;
                        let texts = map.next_value::<Option<Texts>>()?;
                        header.metadata = texts.map(|texts| texts.0);
                    } else {
                        return Err(twice(METADATA));
                    }
                }
                check_unique(header.tensors.iter().map(|(name, _)| name))?;
                Ok(header)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A map of text to text, in file order.
struct Texts(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of text to text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Texts, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry::<String, String>()? {
                    pairs.push(pair);
                }
                check_unique(pairs.iter().map(|(key, _)| key))?;
                Ok(Texts(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn check_unique<'a, E: de::Error>(names: impl Iterator<Item = &'a String>) -> std::result::Result<(), E> {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(twice(pair[0])),
        None => Ok(()),
    }
}

fn twice<E: de::Error>(name: &str) -> E {
    E::custom(format_args!("the name \"{}\" occurs twice", text::one_line(name)))
}

/// A shape of at most [`MOST_AXES`] axes.
struct Shape(Vec<u64>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Axes;
        impl<'de> Visitor<'de> for Axes {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of dimensions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Shape, A::Error> {
                let mut shape = Vec::new();
                while let Some(dimension) = list.next_element()? {
                    if shape.len() == MOST_AXES {
                        return Err(de::Error::custom(format_args!("more than {MOST_AXES} axes")));
                    }
                    shape.push(dimension);
                }
                Ok(Shape(shape))
            }
        }
        deserializer.deserialize_seq(Axes)
    }
}

/// A header to write.
pub struct NewHeader<'a> {
    /// `__metadata__`.
    pub metadata: Option<&'a [(String, String)]>,
    /// The tensors in header order, with their places and dtypes in the new file.
    pub tensors: Vec<NewTensor<'a>>,
}

/// A tensor of a [`NewHeader`].
#[derive(Serialize)]
pub struct NewTensor<'a> {
    /// Its name, the key of its entry.
    #[serde(skip)]
    pub name: &'a str,
    /// The format's name of its dtype.
    pub dtype: &'static str,
    /// Its shape.
    pub shape: &'a [u64],
    /// The start and end of its data.
    pub data_offsets: (u64, u64),
}

impl NewHeader<'_> {
    /// Fails if a name occurs twice or is `__metadata__`.
    pub fn check(&self) -> Result<()> {
        let mut names: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name).collect();
        names.push(METADATA);
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::request("the name occurs twice")
                .at(quoted("tensor", pair[0]))
                .advise("rename a tensor")),
            None => Ok(()),
        }
    }

    /// The bytes at the start of the file: the length and the JSON, padded with spaces so that the data
    /// begins at a multiple of 8.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec(self)
            .map_err(|e| Error::unsupported(format!("cannot write the header, {e}")))?;
        let length = json.len().next_multiple_of(8);
        if length as u64 > LONGEST {
            return Err(Error::unsupported(format!(
                "the new header has {length} bytes; the format allows {LONGEST}"
            )));
        }
        let mut bytes = (length as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(&json);
        bytes.resize(8 + length, b' ');
        Ok(bytes)
    }
}

impl Serialize for NewHeader<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(metadata) = self.metadata {
            map.serialize_entry(METADATA, &InOrder(metadata))?;
        }
        for tensor in &self.tensors {
            map.serialize_entry(tensor.name, tensor)?;
        }
        map.end()
    }
}

struct InOrder<'a>(&'a [(String, String)]);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, begin: u64, bytes: u64) -> Tensor {
        Tensor { name: name.into(), dtype: DType::UInt8, shape: vec![bytes], elements: bytes, begin, bytes }
    }

    #[test]
    fn empty_tensors_may_share_a_place() {
        let tensors = [tensor("b", 0, 4), tensor("a", 0, 0), tensor("c", 4, 0)];
        let names: Vec<&str> = in_order_of_data(&tensors).iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(check_cover(&tensors, 4).is_ok());
        assert!(check_cover(&tensors, 5).is_err());
    }

    #[test]
    fn every_name_is_the_reference_implementations() {
        let named = DType::ALL.iter().filter_map(|dtype| Some((name_of(*dtype)?, dtype)));
        assert_eq!(named.clone().count(), 22);
        for (name, dtype) in named {
            let reference: safetensors::Dtype = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!(reference.bitsize(), dtype.bits() as usize, "{name}");
        }
        assert!(ends_at_a_byte(DType::Float6E2M3FN, 4) && !ends_at_a_byte(DType::Float6E2M3FN, 2));
        assert!(ends_at_a_byte(DType::Complex64, u64::MAX));
    }
}

//! The header of a `.npy` array, alone in a file or a member of a `.npz` archive.
//!
//! A header is a magic number, a version, a length and a Python literal: a dictionary with exactly the keys
//! `descr`, `fortran_order` and `shape`. Only that literal is parsed, not Python in general. The library parses
//! the list of fields of a structured array; if it cannot, the array is recognised as structured, but its fields are unknown.

use std::io::{self, Read};

use lanecast::{ByteOrder, DType, Encoding, Kind, names::Namespace, structured::StructType};

use crate::{
    error::{Error, Result},
    formats::format::{MOST_AXES, elements},
    pump::byte_len,
    text,
};

pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read. The header of an array of numbers takes about a hundred bytes; only
/// structured arrays of thousands of fields need more.
const LONGEST: u64 = 1 << 20;

/// What a descriptor says of the elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Descr {
    /// A dtype, and whether its elements are big-endian.
    Plain(DType, bool),
    /// Elements of this many opaque bytes, as NumPy writes for dtypes of ml_dtypes, and whether they are
    /// big-endian.
    Lossy(usize, bool),
    /// Items of named fields.
    Struct(StructType),
    /// Text, dates, objects: elements that cannot be cast, described in words.
    Foreign(String),
}

/// A header.
#[derive(Clone, Debug)]
pub struct Header {
    /// What the elements are.
    pub descr: Descr,
    /// The descriptor as written in the file.
    pub descr_text: String,
    /// Whether the first axis varies fastest.
    pub fortran_order: bool,
    /// The shape; empty for a structured array whose fields cannot be parsed.
    pub shape: Vec<u64>,
    /// The bytes of the header, before the data.
    pub bytes: u64,
}

impl Header {
    /// Reads a header from the start of `reader`, which should hold `available` bytes.
    pub fn read(reader: &mut dyn Read, available: u64) -> Result<Self> {
        let mut start = [0; 8];
        fill(reader, &mut start)?;
        if &start[..6] != MAGIC {
            return Err(Error::format("not a NumPy array, the magic number is missing"));
        }
        let (length, before) = match (start[6], start[7]) {
            (1, 0) => {
                let mut length = [0; 2];
                fill(reader, &mut length)?;
                (u64::from(u16::from_le_bytes(length)), 10)
            }
            (2 | 3, 0) => {
                let mut length = [0; 4];
                fill(reader, &mut length)?;
                (u64::from(u32::from_le_bytes(length)), 12)
            }
            (major, minor) => {
                return Err(Error::format(format!("unknown version {major}.{minor} of the NumPy format")));
            }
        };
        if length > available.saturating_sub(before) {
            return Err(Error::format(format!(
                "the header claims {length} bytes, but the array has {available}"
            )));
        }
        if length > LONGEST {
            return Err(Error::format(format!(
                "the header has {length} bytes, more than any array of numbers needs"
            )));
        }
        let mut literal = vec![0; length as usize];
        fill(reader, &mut literal)?;
        // Version 3 is in UTF-8, those before are in Latin-1.
        let literal = match start[6] {
            3 => String::from_utf8(literal).map_err(|_| Error::format("the header is not UTF-8"))?,
            _ => literal.iter().map(|byte| char::from(*byte)).collect(),
        };
        let mut header = Parser { rest: literal.as_bytes() }
            .header()
            .map_err(|what| Error::format(format!("bad header, {what}")))?;
        header.bytes = before + length;
        Ok(header)
    }

    /// The shape, if it is known.
    pub fn known_shape(&self) -> Option<&[u64]> {
        (self.descr_text != STRUCTURED).then_some(&self.shape)
    }

    /// How many elements there are.
    pub fn elements(&self) -> Result<u64> {
        elements(&self.shape).ok_or_else(|| Error::format("the shape overflows"))
    }

    /// How many bytes the elements take, if the descriptor says so.
    pub fn data_bytes(&self) -> Result<Option<u64>> {
        let n = self.elements()?;
        let bytes = match &self.descr {
            Descr::Plain(dtype, _) => byte_len(Encoding::new(*dtype), n),
            Descr::Lossy(size, _) => n.checked_mul(*size as u64),
            Descr::Struct(of) => n.checked_mul(of.item_size() as u64),
            Descr::Foreign(_) => return Ok(None),
        };
        bytes.map(Some).ok_or_else(|| Error::format("the size overflows"))
    }
}

fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> Result<()> {
    reader.read_exact(buffer).map_err(|e: io::Error| match e.kind() {
        io::ErrorKind::UnexpectedEof => Error::format("the array ends inside its header"),
        _ => Error::reading(&e),
    })
}

/// A parser of the header's literal.
struct Parser<'a> {
    rest: &'a [u8],
}

type Parsed<T> = std::result::Result<T, String>;

impl<'a> Parser<'a> {
    fn header(&mut self) -> Parsed<Header> {
        let (mut descr, mut fortran_order, mut shape) = (None::<(Descr, String)>, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            match key {
                b"descr" if descr.is_none() => {
                    self.space();
                    descr = match self.rest.first() {
                        Some(b'[') => match self.structure() {
                            Ok(found) => Some(found),
                            Err(why) => return Ok(structured(&format!("a structured array ({why})"))),
                        },
                        Some(b'(') => return Ok(structured("an array of sub-arrays")),
                        _ => {
                            let text = self.string()?;
                            Some((descriptor(text)?, String::from_utf8_lossy(text).into_owned()))
                        }
                    }
                }
                b"fortran_order" if fortran_order.is_none() => fortran_order = Some(self.boolean()?),
                b"shape" if shape.is_none() => shape = Some(self.shape()?),
                _ => return Err(format!("the key {} is unknown or occurs twice", shown(key))),
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.space();
        if !self.rest.is_empty() {
            return Err(format!("{} after the dictionary", shown(self.rest)));
        }
        let (descr, descr_text) = descr.ok_or("no key 'descr'")?;
        Ok(Header {
            descr,
            descr_text,
            fortran_order: fortran_order.ok_or("no key 'fortran_order'")?,
            shape: shape.ok_or("no key 'shape'")?,
            bytes: 0,
        })
    }

    /// A list of fields, and its text.
    fn structure(&mut self) -> Parsed<(Descr, String)> {
        let text = str::from_utf8(self.rest).map_err(|e| e.to_string())?;
        let (of, rest) = StructType::read_descr(text).map_err(|e| e.to_string())?;
        self.rest = rest.as_bytes();
        Ok((Descr::Struct(of), text[..text.len() - rest.len()].trim_end().to_owned()))
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        match self.rest.split_first() {
            Some((first, rest)) if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.take(byte) {
            return Ok(());
        }
        Err(format!("expected {}, found {}", char::from(byte), shown(self.rest)))
    }

    /// A string without escapes, which may have Python's prefix `u` or `r`.
    fn string(&mut self) -> Parsed<&'a [u8]> {
        self.space();
        if let [b'u' | b'U' | b'r' | b'R', rest @ ..] = self.rest
            && let Some(b'\'' | b'"') = rest.first()
        {
            self.rest = rest;
        }
        let quote = if self.take(b'\'') { b'\'' } else { b'"' };
        if quote == b'"' && !self.take(b'"') {
            return Err(format!("expected a string, found {}", shown(self.rest)));
        }
        let end = self.rest.iter().position(|b| *b == quote || *b == b'\\' || *b == b'\n');
        match end {
            Some(end) if self.rest[end] == quote => {
                let (string, rest) = self.rest.split_at(end);
                self.rest = &rest[1..];
                Ok(string)
            }
            _ => Err("a string without a closing quote".into()),
        }
    }

    fn boolean(&mut self) -> Parsed<bool> {
        self.space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(format!("expected True or False, found {}", shown(self.rest)))
    }

    fn shape(&mut self) -> Parsed<Vec<u64>> {
        let mut shape = Vec::new();
        self.expect(b'(')?;
        while !self.take(b')') {
            if shape.len() == MOST_AXES {
                return Err(format!("more than {MOST_AXES} axes"));
            }
            shape.push(self.dimension()?);
            if !self.take(b',') {
                self.expect(b')')?;
                if shape.len() == 1 {
                    return Err("the shape is a number, not a tuple".into());
                }
                break;
            }
        }
        Ok(shape)
    }

    fn dimension(&mut self) -> Parsed<u64> {
        self.space();
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        if number.is_empty() {
            let what = if rest.first() == Some(&b'-') { "a negative dimension" } else { "not a dimension" };
            return Err(format!("{what} at {}", shown(rest)));
        }
        // Python 2 wrote long integers with this suffix.
        self.rest = rest.strip_prefix(b"L").unwrap_or(rest);
        let overflow = || format!("the dimension {} is too large", shown(number));
        number
            .iter()
            .try_fold(0_u64, |n, digit| n.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
            .ok_or_else(overflow)
    }
}

/// The beginning of `bytes`, quoted.
fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "the end".into();
    }
    let end = bytes.len().min(24);
    format!("\"{}\"", text::one_line(&String::from_utf8_lossy(&bytes[..end])))
}

/// How a structured array is described whose fields cannot be parsed.
const STRUCTURED: &str = "structured";

fn structured(words: &str) -> Header {
    Header {
        descr: Descr::Foreign(words.to_owned()),
        descr_text: STRUCTURED.to_owned(),
        fortran_order: false,
        shape: Vec::new(),
        bytes: 0,
    }
}

/// Parses the descriptor `descr`: a byte order, a kind, a size.
fn descriptor(descr: &[u8]) -> Parsed<Descr> {
    let bad = || format!("unknown descriptor '{}'", text::one_line(&String::from_utf8_lossy(descr)));
    let native_big = cfg!(target_endian = "big");
    let (order, rest) = match descr.split_first().ok_or_else(bad)? {
        (b'<', rest) => (Some(false), rest),
        (b'>', rest) => (Some(true), rest),
        (b'=' | b'|', rest) => (None, rest),
        _ => (None, descr),
    };
    let (kind, size) = rest.split_first().ok_or_else(bad)?;
    let what = |words: &str| Ok(Descr::Foreign(words.to_owned()));
    match kind {
        b'O' => return what("an array of Python objects"),
        b'S' | b'a' | b'U' | b'T' => return what("an array of strings"),
        b'M' | b'm' => return what("an array of dates or times"),
        _ => {}
    }
    if size.is_empty() || size.len() > 4 || !size.iter().all(u8::is_ascii_digit) {
        return Err(bad());
    }
    let size = size.iter().fold(0_usize, |n, digit| n * 10 + usize::from(digit - b'0'));
    let dtype = match (kind, size) {
        (b'V', 1 | 2) | (b'f', 1) => return Ok(Descr::Lossy(size, size > 1 && order == Some(true))),
        (b'V', _) => return what("an array of bytes"),
        (b'W', 4) => return what("an array of complex numbers of 32 bits"),
        (b'b' | b'i' | b'u' | b'f' | b'c', _) => match numeric(*kind, size) {
            Some(dtype) => dtype,
            // `f12`, `f16`, `c24`, `c32`: the C compiler's long double.
            None if matches!((kind, size), (b'f', 12 | 16) | (b'c', 24 | 32)) => {
                return what("an array of long doubles");
            }
            None => return Err(bad()),
        },
        _ => return Err(bad()),
    };
    Ok(Descr::Plain(dtype, dtype.size() > 1 && order.unwrap_or(native_big)))
}

/// NumPy's own dtype of this kind and size.
fn numeric(kind: u8, size: usize) -> Option<DType> {
    let code = format!("{}{size}", char::from(kind));
    // The first character is the byte order.
    DType::ALL.iter().copied().find(|dtype| plain_code(*dtype).is_some_and(|plain| plain[1..] == code))
}

/// The little-endian descriptor of a dtype that NumPy itself has.
fn plain_code(dtype: DType) -> Option<String> {
    Namespace::NumPy.code(Encoding::new(dtype).with_order(ByteOrder::Little))
}

/// The descriptor that NumPy writes for `dtype`.
pub fn descr_of(dtype: DType) -> String {
    match plain_code(dtype) {
        Some(code) => code,
        // ml_dtypes registers this one as a float of one byte, `<f1`, which NumPy writes but does not load.
        None if dtype == DType::Float8E5M2 => "|V1".to_owned(),
        None => format!("<V{}", dtype.size()),
    }
}

/// Whether NumPy's descriptor of `dtype` does not identify it.
pub fn is_lossy(dtype: DType) -> bool {
    plain_code(dtype).is_none()
}

/// Whether `dtype` is an unsigned integer that people use to store other dtypes: `|u1`, `<u2`.
pub fn is_carrier(dtype: DType) -> bool {
    dtype.kind() == Kind::UnsignedInt
}

/// The header of an array of `dtype`, byte for byte as NumPy writes it.
pub fn new_header(dtype: DType, fortran_order: bool, shape: &[u64]) -> Vec<u8> {
    header_of(&format!("'{}'", descr_of(dtype)), fortran_order, shape)
}

/// The header of an array with this descriptor, a string in quotes or a list of fields, as NumPy writes it.
pub fn header_of(descr: &str, fortran_order: bool, shape: &[u64]) -> Vec<u8> {
    let mut literal = format!(
        "{{'descr': {descr}, 'fortran_order': {}, 'shape': {}, }}",
        if fortran_order { "True" } else { "False" },
        text::tuple(shape)
    );
    // Room for the axis that grows when data is appended to the file.
    let growing = if fortran_order { shape.last() } else { shape.first() };
    if let Some(dimension) = growing {
        literal.push_str(&" ".repeat(21_usize.saturating_sub(dimension.to_string().len())));
    }
    // The data begins at a multiple of 64. NumPy pads with at least one space.
    let filled = |mut text: Vec<u8>, before: usize| {
        let unpadded = MAGIC.len() + before + text.len() + 1;
        text.resize(text.len() + 64 - unpadded % 64, b' ');
        text.push(b'\n');
        text
    };
    // Version 1 has a 16-bit length, version 2 a 32-bit one, both with text in Latin-1; version 3 is as 2, in UTF-8.
    let latin: Option<Vec<u8>> = literal.chars().map(|char| u8::try_from(char).ok()).collect();
    let mut bytes = MAGIC.to_vec();
    match latin.map(|text| (filled(text.clone(), 4), text)) {
        Some((header, _)) if u16::try_from(header.len()).is_ok() => {
            bytes.extend_from_slice(&[1, 0]);
            bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
            bytes.extend_from_slice(&header);
        }
        latin => {
            let (version, text) = match latin {
                Some((_, text)) => (2, text),
                None => (3, literal.into_bytes()),
            };
            let header = filled(text, 6);
            bytes.extend_from_slice(&[version, 0]);
            bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&header);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(literal: &str) -> Parsed<Header> {
        Parser { rest: literal.as_bytes() }.header()
    }

    #[test]
    fn literals_of_all_ages_parse() {
        let header = parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n").unwrap();
        assert_eq!((header.descr, header.shape), (Descr::Plain(DType::Float32, false), vec![3, 4]));
        let header = parse("{\"shape\":(3L,),\"fortran_order\":True,\"descr\":\">c16\"}").unwrap();
        assert_eq!((header.descr, header.fortran_order), (Descr::Plain(DType::Complex128, true), true));
        assert_eq!(
            parse("{'descr':'<V2','fortran_order':False,'shape':()}").unwrap().descr,
            Descr::Lossy(2, false)
        );
        let header =
            parse("{'descr': [('a', '<f4'), ('b', 'i1')] , 'fortran_order': False, 'shape': (2,)}").unwrap();
        assert!(matches!(&header.descr, Descr::Struct(of) if of.item_size() == 5));
        assert_eq!(header.descr_text, "[('a', '<f4'), ('b', 'i1')]");
        assert_eq!(header.data_bytes().unwrap(), Some(10));
        // What is in the way is named where the array is refused.
        let header = parse("{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (2,)}").unwrap();
        assert!(matches!(&header.descr, Descr::Foreign(words) if words.contains("objects")));
        assert_eq!(header.known_shape(), None);
    }

    #[test]
    fn garbage_does_not_parse() {
        for bad in [
            "",
            "{",
            "{}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'descr': '<f4'}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4\\'', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn headers_are_numpys() {
        let header = new_header(DType::Float32, false, &[]);
        assert_eq!(header.len(), 128);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00v\x00");
        assert!(header[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (), }  "));
        assert_eq!(header[127], b'\n');
        assert_eq!(new_header(DType::Int4, true, &[5, 0, 3]).len() % 64, 0);
        let version = |descr: &str| {
            let header = header_of(descr, false, &[2]);
            assert_eq!(header.len() % 64, 0);
            let read = Header::read(&mut &header[..], header.len() as u64).unwrap();
            assert_eq!((read.descr_text.as_str(), read.bytes), (descr, header.len() as u64));
            header[6]
        };
        assert_eq!(version("[('ü', '<f4')]"), 1);
        assert_eq!(version("[('名', '<f4')]"), 3);
        assert_eq!(version(&format!("[('{}', '<f4')]", "ü".repeat(65_536))), 2);
        assert_eq!(descr_of(DType::BFloat16), "<V2");
        assert_eq!(descr_of(DType::Bool), "|b1");
    }
}

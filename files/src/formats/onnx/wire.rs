//! Protocol Buffers messages in a file: finding fields without reading their values, and assembling new messages from old pieces.
//!
//! A message is a sequence of fields. Each has a number, a kind and a value whose length is known before it is read. So a field that
//! is not needed costs nothing, and is copied unchanged, whatever it means.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use crate::error::{Error, Result};

/// Bytes read at a time when searching for fields.
const WINDOW: usize = 1 << 16;

/// The longest name that is read. (Names in real models have about a hundred bytes.)
const LONGEST_NAME: u64 = 1 << 20;

/// A range of bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Span {
    /// How many there are.
    pub fn len(self) -> u64 {
        self.end - self.start
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A number of variable length.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Text, bytes, a message or packed numbers.
    Bytes(Span),
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its number.
    pub number: u32,
    /// The bytes of the whole field.
    pub whole: Span,
    /// Its value.
    pub value: Value,
}

impl Field {
    /// The value of a field that must be bytes.
    pub fn bytes(&self, what: &str) -> Result<Span> {
        match self.value {
            Value::Bytes(span) => Ok(span),
            _ => Err(bad(format!("{what} is a number"), self.whole.start)),
        }
    }

    /// The value of a field that must be a number.
    pub fn varint(&self, what: &str) -> Result<u64> {
        match self.value {
            Value::Varint(value) => Ok(value),
            _ => Err(bad(format!("{what} is not a number"), self.whole.start)),
        }
    }
}

/// The error for a defect at a byte of the file.
pub fn bad(what: impl std::fmt::Display, at: u64) -> Error {
    Error::format(format!("{what}, at byte {at}"))
}

/// A file that is read in any order.
#[derive(Debug)]
pub struct Source {
    file: File,
    len: u64,
    window: Vec<u8>,
    window_start: u64,
}

impl Source {
    /// A source of `len` bytes.
    pub fn new(file: File, len: u64) -> Self {
        Self { file, len, window: Vec::new(), window_start: 0 }
    }

    /// The span of the whole file.
    pub fn all(&self) -> Span {
        Span { start: 0, end: self.len }
    }

    /// A reader of these bytes.
    pub fn reader(&mut self, span: Span) -> io::Result<impl Read + '_> {
        self.file.seek(SeekFrom::Start(span.start))?;
        Ok((&mut self.file).take(span.len()))
    }

    /// Reads these bytes, which the caller knows to be few.
    pub fn read(&mut self, span: Span) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader(span).and_then(|mut r| r.read_to_end(&mut bytes)).map_err(|e| Error::reading(&e))?;
        if bytes.len() as u64 != span.len() {
            return Err(Error::format("the file ends early"));
        }
        Ok(bytes)
    }

    /// Reads a name.
    pub fn name(&mut self, span: Span) -> Result<String> {
        if span.len() > LONGEST_NAME {
            return Err(bad(format!("a name of {} bytes", span.len()), span.start));
        }
        String::from_utf8(self.read_small(span)?).map_err(|_| bad("a name that is not UTF-8", span.start))
    }

    /// Reads these bytes, from the window if they are in it.
    fn read_small(&mut self, span: Span) -> Result<Vec<u8>> {
        if span.len() > WINDOW as u64 {
            return self.read(span);
        }
        let len = span.len() as usize;
        Ok(self.look(span.start, len)?[..len].to_vec())
    }

    /// At least `len` bytes from `at` on, or all up to the end of the file.
    fn look(&mut self, at: u64, len: usize) -> Result<&[u8]> {
        let end = at + len as u64;
        if at < self.window_start || end > self.window_start + self.window.len() as u64 {
            let failed = |e: io::Error| Error::reading(&e);
            self.window.clear();
            self.file.seek(SeekFrom::Start(at)).map_err(failed)?;
            (&mut self.file).take(WINDOW as u64).read_to_end(&mut self.window).map_err(failed)?;
            self.window_start = at;
            if (self.window.len() as u64) < len as u64 {
                return Err(Error::format("the file ends early"));
            }
        }
        Ok(&self.window[(at - self.window_start) as usize..])
    }

    /// Reads the number at `at`, and moves `at` past it.
    pub fn varint(&mut self, at: &mut u64, end: u64) -> Result<u64> {
        let start = *at;
        let most = (end - start).min(10) as usize;
        let bytes = self.look(start, most)?;
        let mut value = 0;
        for (i, &byte) in bytes[..most].iter().enumerate() {
            // Only one bit of the tenth byte fits in 64 bits.
            if i == 9 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                *at = start + i as u64 + 1;
                return Ok(value);
            }
        }
        Err(bad("a number that does not end", start))
    }

    /// Reads the field at `at`, and moves `at` past it; `None` at the end of the message.
    pub fn field(&mut self, at: &mut u64, end: u64) -> Result<Option<Field>> {
        if *at >= end {
            return Ok(None);
        }
        let start = *at;
        let tag = self.varint(at, end)?;
        let number = u32::try_from(tag >> 3).ok().filter(|n| (1..1 << 29).contains(n));
        let number = number.ok_or_else(|| bad("not a field", start))?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint(at, end)?),
            1 => Value::Fixed64(u64::from_le_bytes(self.fixed(at, end)?)),
            5 => Value::Fixed32(u32::from_le_bytes(self.fixed(at, end)?)),
            2 => {
                let len = self.varint(at, end)?;
                if len > end - *at {
                    let what = format!("field {number} claims {len} bytes, but {} are left", end - *at);
                    return Err(bad(what, start));
                }
                let span = Span { start: *at, end: *at + len };
                *at = span.end;
                Value::Bytes(span)
            }
            kind => return Err(bad(format!("a field of kind {kind}"), start)),
        };
        Ok(Some(Field { number, whole: Span { start, end: *at }, value }))
    }

    fn fixed<const N: usize>(&mut self, at: &mut u64, end: u64) -> Result<[u8; N]> {
        if end - *at < N as u64 {
            return Err(bad("a number that does not end", *at));
        }
        let bytes = self.look(*at, N)?.first_chunk().copied();
        *at += N as u64;
        bytes.ok_or_else(|| Error::format("the file ends early"))
    }
}

/// A part of a new message.
#[derive(Debug)]
pub enum Piece {
    /// New bytes.
    New(Vec<u8>),
    /// Bytes of the old file.
    Old(Span),
    /// The elements of the tensor with this index, and their new size in bytes.
    Tensor(usize, u64),
}

/// A new message.
#[derive(Debug, Default)]
pub struct Rope {
    /// Its parts in order.
    pub pieces: Vec<Piece>,
    /// Its length in bytes.
    pub len: u64,
}

impl Rope {
    /// Appends bytes of the old file.
    pub fn old(&mut self, start: u64, end: u64) {
        if start == end {
            return;
        }
        self.len += end - start;
        match self.pieces.last_mut() {
            Some(Piece::Old(last)) if last.end == start => last.end = end,
            _ => self.pieces.push(Piece::Old(Span { start, end })),
        }
    }

    fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = match self.pieces.pop() {
            Some(Piece::New(bytes)) => bytes,
            other => {
                self.pieces.extend(other);
                Vec::new()
            }
        };
        let before = bytes.len();
        write(&mut bytes);
        self.len += (bytes.len() - before) as u64;
        self.pieces.push(Piece::New(bytes));
    }

    /// Appends a field that is a number.
    pub fn varint_field(&mut self, number: u32, value: u64) {
        self.append(|bytes| put_varint_field(bytes, number, value));
    }

    /// Appends a field that is text or bytes.
    pub fn bytes_field(&mut self, number: u32, value: &[u8]) {
        self.append(|bytes| put_bytes_field(bytes, number, value));
    }

    /// Appends the tag and the length of a field of bytes.
    pub fn open_field(&mut self, number: u32, len: u64) {
        self.append(|bytes| {
            put_varint(bytes, u64::from(number) << 3 | 2);
            put_varint(bytes, len);
        });
    }

    /// Appends a field that is a message.
    pub fn message_field(&mut self, number: u32, message: Rope) {
        self.open_field(number, message.len);
        for piece in message.pieces {
            match piece {
                Piece::New(new) => self.append(|bytes| bytes.extend(new)),
                Piece::Old(span) => self.old(span.start, span.end),
                Piece::Tensor(index, len) => self.tensor(index, len),
            }
        }
    }

    /// Appends the elements of a tensor.
    pub fn tensor(&mut self, index: usize, len: u64) {
        self.len += len;
        self.pieces.push(Piece::Tensor(index, len));
    }
}

fn put_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Appends a field that is a number to `bytes`.
pub fn put_varint_field(bytes: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(bytes, u64::from(number) << 3);
    put_varint(bytes, value);
}

/// Appends a field that is text, bytes or a message to `bytes`.
pub fn put_bytes_field(bytes: &mut Vec<u8>, number: u32, value: &[u8]) {
    put_varint(bytes, u64::from(number) << 3 | 2);
    put_varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

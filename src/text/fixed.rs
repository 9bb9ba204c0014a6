//! NumPy's strings of a fixed width: `S`, bytes padded with NUL, and `U`, UCS-4 characters padded with NUL.
//!
//! ```
//! use lanecast::{CastOptions, DType, ByteOrder, text::{ParsePlan, TextOptions, fixed}};
//! let plan = ParsePlan::new(DType::UInt8, &TextOptions::DEFAULT, &CastOptions::RUST)?;
//! let mut out = [0; 2];
//! plan.run(fixed::PaddedBytes::new(b"7\0\x00255", 3), &mut out)?;
//! assert_eq!(out, [7, 255]);
//! plan.run(fixed::Ucs4::new(b"\0\0\x008\0\0\x009", 1, ByteOrder::Big), &mut out)?;
//! assert_eq!(out, [8, 9]);
//! # Ok::<(), lanecast::text::TextError>(())
//! ```

use super::{error::TextError, strings::StringsRef};
use crate::error::{CastError, Side};
use alloc::vec::Vec;
use lanecast_kernels::ByteOrder;

/// The texts of an array of NumPy's `S`: each has `width` bytes, and trailing NULs are dropped.
#[derive(Clone, Debug)]
pub struct PaddedBytes<'a> {
    data: &'a [u8],
    width: usize,
}

impl<'a> PaddedBytes<'a> {
    /// The elements of `data`, of `width` bytes each. An incomplete last element is left out; with width 0 there are no elements.
    pub fn new(data: &'a [u8], width: usize) -> PaddedBytes<'a> {
        PaddedBytes { data, width }
    }
}

impl<'a> Iterator for PaddedBytes<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.width == 0 {
            return None;
        }
        let (element, rest) = self.data.split_at_checked(self.width)?;
        self.data = rest;
        let end = element.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Some(&element[..end])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.data.len().checked_div(self.width).unwrap_or(0);
        (left, Some(left))
    }
}

impl ExactSizeIterator for PaddedBytes<'_> {}

/// The texts of an array of NumPy's `U`, as UTF-8.
#[derive(Clone, Debug)]
pub struct Ucs4<'a> {
    data: &'a [u8],
    /// PaddedBytes of an element.
    width: usize,
    order: ByteOrder,
}

impl<'a> Ucs4<'a> {
    /// The elements of `data`, of `width` characters of four bytes each, in this byte order. An incomplete last element is left out;
    /// with width 0 there are no elements. Invalid characters become U+FFFD.
    pub fn new(data: &'a [u8], width: usize, order: ByteOrder) -> Ucs4<'a> {
        // If it is more than the address space, no element is complete.
        Ucs4 { data, width: width.saturating_mul(4), order }
    }
}

impl Iterator for Ucs4<'_> {
    type Item = Utf8;

    fn next(&mut self) -> Option<Utf8> {
        if self.width == 0 {
            return None;
        }
        let (element, rest) = self.data.split_at_checked(self.width)?;
        self.data = rest;
        let end = element.iter().rposition(|&byte| byte != 0).map_or(0, |last| last / 4 + 1);
        let mut text = Utf8 { short: [0; SHORT], len: 0, long: Vec::new() };
        for &code in element.as_chunks().0.iter().take(end) {
            let code = match self.order {
                ByteOrder::Little => u32::from_le_bytes(code),
                ByteOrder::Big => u32::from_be_bytes(code),
            };
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(text)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.data.len().checked_div(self.width).unwrap_or(0);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Ucs4<'_> {}

/// The longest text that needs no allocation, in bytes: longer than any number in its shortest form.
const SHORT: usize = 64;

/// A text decoded from UCS-4.
#[derive(Clone, Debug)]
pub struct Utf8 {
    short: [u8; SHORT],
    /// PaddedBytes in `short`.
    len: usize,
    /// The whole text, if it is not in `short`.
    long: Vec<u8>,
}

impl Utf8 {
    #[inline]
    fn push(&mut self, char: char) {
        if self.long.is_empty() {
            if let (true, Some(place)) = (char.is_ascii(), self.short.get_mut(self.len)) {
                *place = char as u8;
                self.len += 1;
                return;
            }
            self.long.extend_from_slice(&self.short[..self.len]);
        }
        self.long.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

impl AsRef<[u8]> for Utf8 {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        if self.long.is_empty() { &self.short[..self.len] } else { &self.long }
    }
}

/// The first `n * width` bytes of the buffer.
fn room(n: usize, width: usize, dst: &mut [u8]) -> Result<&mut [u8], TextError> {
    let (need, have) = (n.saturating_mul(width), dst.len());
    let short = CastError::BufferTooSmall { which: Side::Destination, need, have };
    Ok(dst.get_mut(..need).ok_or(short)?)
}

impl StringsRef<'_> {
    /// Writes NumPy's `S`: `width` bytes for each text, padded with NUL. `dst` may be longer than that.
    ///
    /// # Errors
    ///
    /// [`TextError::Width`] if a text is longer, [`TextError::Cast`] if the buffer is too small; then nothing is written.
    pub fn write_bytes(&self, width: usize, dst: &mut [u8]) -> Result<(), TextError> {
        if let Some(index) = self.iter().position(|text| text.len() > width) {
            let need = self.get(index).map(<[u8]>::len);
            return Err(self.too_wide(index, need, width));
        }
        let dst = room(self.len(), width, dst)?;
        if width > 0 {
            for (text, element) in self.iter().zip(dst.chunks_exact_mut(width)) {
                let (head, tail) = element.split_at_mut(text.len());
                head.copy_from_slice(text);
                tail.fill(0);
            }
        }
        Ok(())
    }

    /// Writes NumPy's `U`: `width` characters of four bytes for each text, padded with NUL. `dst` may be longer than that.
    ///
    /// # Errors
    ///
    /// [`TextError::Width`] if a text has more characters or is not UTF-8, [`TextError::Cast`] if the buffer is too small; then
    /// nothing is written.
    pub fn write_ucs4(&self, width: usize, order: ByteOrder, dst: &mut [u8]) -> Result<(), TextError> {
        for (index, text) in self.iter().enumerate() {
            match core::str::from_utf8(text).map(|text| text.chars().count()) {
                Ok(chars) if chars <= width => {}
                chars => return Err(self.too_wide(index, chars.ok(), width)),
            }
        }
        let bytes = width.saturating_mul(4);
        let dst = room(self.len(), bytes, dst)?;
        if width > 0 {
            for (text, element) in self.iter().zip(dst.chunks_exact_mut(bytes)) {
                element.fill(0);
                for (place, char) in
                    element.as_chunks_mut().0.iter_mut().zip(core::str::from_utf8(text).unwrap_or("").chars())
                {
                    *place = match order {
                        ByteOrder::Little => (char as u32).to_le_bytes(),
                        ByteOrder::Big => (char as u32).to_be_bytes(),
                    };
                }
            }
        }
        Ok(())
    }
}

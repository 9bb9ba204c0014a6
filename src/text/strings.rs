//! Arrow-style strings: [`Strings`], which owns its text, and [`StringsRef`], which borrows bytes.

use super::error::{TextError, shorten};
use alloc::{vec, vec::Vec};
use core::ops::Index;

/// Texts concatenated in one buffer, with `len + 1` offsets: the layout of Arrow's `LargeUtf8`.
///
/// Text `i` is in the bytes `offsets[i]..offsets[i + 1]`, which are UTF-8; [`FormatPlan`](super::FormatPlan) writes ASCII. A
/// [`StringsRef`] reads other bytes (Arrow's `LargeBinary`) in place.
///
/// ```
/// use lanecast::text::{self, Strings};
/// let texts = text::format(&[0.5_f32, 2.0])?;
/// assert_eq!(&texts[0], "0.5");
/// assert_eq!(texts.iter().collect::<Vec<&str>>(), ["0.5", "2.0"]);
/// assert_eq!(texts, Strings::from_iter(["0.5", "2.0"]));
/// # Ok::<(), lanecast::CastError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strings {
    /// At least one; the first is 0, they do not decrease, the last is `bytes.len()`.
    offsets: Vec<i64>,
    /// The text between two offsets is UTF-8.
    bytes: Vec<u8>,
}

/// A text of [`Strings`], which was checked when it was added.
fn checked(text: &[u8]) -> &str {
    core::str::from_utf8(text).unwrap_or_default()
}

impl Strings {
    /// No texts.
    pub fn new() -> Strings {
        Strings { offsets: vec![0], bytes: Vec::new() }
    }

    /// No texts, with room for `texts` texts of `bytes` bytes in total.
    pub fn with_capacity(texts: usize, bytes: usize) -> Strings {
        let mut offsets = Vec::with_capacity(texts.saturating_add(1));
        offsets.push(0);
        Strings { offsets, bytes: Vec::with_capacity(bytes) }
    }

    /// Texts from their parts, which are checked. `offsets` may start above 0; the bytes before that are dropped.
    ///
    /// # Errors
    ///
    /// [`TextError::Offsets`] if an offset decreases or lies outside the bytes, or there are no offsets;
    /// [`TextError::NotUtf8`] with the first text that is not UTF-8.
    pub fn from_parts(offsets: &[i64], bytes: &[u8]) -> Result<Strings, TextError> {
        StringsRef::new(offsets, bytes)?.to_strings()
    }

    /// The offsets, one more than there are texts, and the bytes.
    pub fn into_parts(self) -> (Vec<i64>, Vec<u8>) {
        (self.offsets, self.bytes)
    }

    /// A view of the texts, which yields them as bytes.
    pub fn view(&self) -> StringsRef<'_> {
        StringsRef { offsets: Offsets::I64(&self.offsets), bytes: &self.bytes }
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The offsets in bytes, one more than there are texts.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The offsets as Arrow's `Utf8` and `Binary` have them; `None` if there are 2 GiB of text or more.
    pub fn offsets_i32(&self) -> Option<Vec<i32>> {
        i32::try_from(self.bytes.len()).ok()?;
        Some(self.offsets.iter().map(|&offset| offset as i32).collect())
    }

    /// The concatenated bytes of all texts.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text at this index.
    pub fn get(&self, index: usize) -> Option<&str> {
        self.view().get(index).map(checked)
    }

    /// All texts in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.view().iter())
    }

    /// Adds a text.
    pub fn push(&mut self, text: impl AsRef<str>) {
        self.bytes.extend_from_slice(text.as_ref().as_bytes());
        self.end();
    }

    /// Removes all texts and keeps the memory.
    pub fn clear(&mut self) {
        self.offsets.truncate(1);
        self.bytes.clear();
    }

    /// The buffer, to which the caller appends a UTF-8 text; then it must call [`end`](Self::end).
    pub(super) fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the current text at the end of the buffer.
    pub(super) fn end(&mut self) {
        self.offsets.push(self.bytes.len() as i64);
    }

    pub(super) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.offsets.reserve(texts);
        self.bytes.reserve(bytes);
    }
}

impl Default for Strings {
    fn default() -> Self {
        Self::new()
    }
}

/// The text at an index. Panics if the index is out of range, as a slice does.
impl Index<usize> for Strings {
    type Output = str;

    fn index(&self, index: usize) -> &str {
        let Some(text) = self.get(index) else { panic!("text {index} of {} texts", self.len()) };
        text
    }
}

impl<T: AsRef<str>> FromIterator<T> for Strings {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut strings = Strings::new();
        strings.extend(texts);
        strings
    }
}

impl<T: AsRef<str>> Extend<T> for Strings {
    fn extend<I: IntoIterator<Item = T>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push(text));
    }
}

impl<'a> IntoIterator for &'a Strings {
    type Item = &'a str;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Borrowed offsets of either width.
#[derive(Clone, Copy, Debug)]
pub enum Offsets<'a> {
    /// The offsets of Arrow's `Utf8` and `Binary`.
    I32(&'a [i32]),
    /// The offsets of Arrow's `LargeUtf8` and `LargeBinary`.
    I64(&'a [i64]),
}

impl Offsets<'_> {
    /// How many offsets there are: one more than texts.
    fn len(&self) -> usize {
        match self {
            Offsets::I32(offsets) => offsets.len(),
            Offsets::I64(offsets) => offsets.len(),
        }
    }

    /// The offset at this index, which must exist and have been checked not to be negative.
    #[inline]
    fn at(&self, index: usize) -> usize {
        match self {
            Offsets::I32(offsets) => offsets[index] as usize,
            Offsets::I64(offsets) => offsets[index] as usize,
        }
    }
}

impl<'a> From<&'a [i32]> for Offsets<'a> {
    fn from(offsets: &'a [i32]) -> Self {
        Offsets::I32(offsets)
    }
}

impl<'a> From<&'a [i64]> for Offsets<'a> {
    fn from(offsets: &'a [i64]) -> Self {
        Offsets::I64(offsets)
    }
}

/// Borrowed texts in the layout of Arrow: arbitrary bytes and offsets of 32 or 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct StringsRef<'a> {
    /// At least one; they are not negative, do not decrease, and do not exceed the length of the bytes.
    offsets: Offsets<'a>,
    bytes: &'a [u8],
}

impl<'a> StringsRef<'a> {
    /// The texts of these offsets and bytes. The first offset need not be 0, nor the last one the end of the bytes, so a slice
    /// of an Arrow array can be passed as it is.
    ///
    /// ```
    /// use lanecast::text::{ParsePlan, StringsRef, TextOptions};
    /// use lanecast::{CastOptions, DType};
    /// let utf8 = StringsRef::new(&[0_i32, 1, 4][..], b"72.5")?;
    /// let plan = ParsePlan::new(DType::UInt8, &TextOptions::DEFAULT, &CastOptions::RUST)?;
    /// let mut out = [0; 2];
    /// plan.run(utf8, &mut out)?;
    /// assert_eq!(out, [7, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TextError::Offsets`] if an offset decreases or lies outside the bytes, or there are no offsets.
    pub fn new(offsets: impl Into<Offsets<'a>>, bytes: &'a [u8]) -> Result<StringsRef<'a>, TextError> {
        fn check<T: Copy + Into<i64>>(offsets: &[T], bytes: usize) -> Result<(), TextError> {
            let mut floor = 0;
            for (index, &offset) in offsets.iter().enumerate() {
                let offset: i64 = offset.into();
                if offset < floor || usize::try_from(offset).map_or(true, |offset| offset > bytes) {
                    return Err(TextError::Offsets { index, offset: Some(offset), floor, bytes });
                }
                floor = offset;
            }
            match offsets {
                [] => Err(TextError::Offsets { index: 0, offset: None, floor, bytes }),
                _ => Ok(()),
            }
        }
        let offsets = offsets.into();
        match offsets {
            Offsets::I32(offsets) => check(offsets, bytes.len())?,
            Offsets::I64(offsets) => check(offsets, bytes.len())?,
        }
        Ok(StringsRef { offsets, bytes })
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text at this index.
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        if index < self.len() {
            self.bytes.get(self.offsets.at(index)..self.offsets.at(index + 1))
        } else {
            None
        }
    }

    /// The text at this index; also `None` if it is not UTF-8.
    pub fn get_str(&self, index: usize) -> Option<&'a str> {
        core::str::from_utf8(self.get(index)?).ok()
    }

    /// All texts in order, as bytes.
    pub fn iter(&self) -> BytesIter<'a> {
        BytesIter { strings: *self, next: 0, start: self.offsets.at(0) }
    }

    /// A copy that owns its text: the cast of strings to strings.
    ///
    /// # Errors
    ///
    /// [`TextError::NotUtf8`] with the first text that is not UTF-8.
    pub fn to_strings(&self) -> Result<Strings, TextError> {
        if let Some(index) = self.iter().position(|text| core::str::from_utf8(text).is_err()) {
            return Err(TextError::NotUtf8 { index });
        }
        let (start, end) = (self.offsets.at(0), self.offsets.at(self.len()));
        let offsets = (0..=self.len()).map(|i| (self.offsets.at(i) - start) as i64).collect();
        Ok(Strings { offsets, bytes: self.bytes[start..end].to_vec() })
    }

    /// The bytes of the longest text: the width that [`write_bytes`](Self::write_bytes) needs (NumPy requires at least 1).
    pub fn max_bytes(&self) -> usize {
        self.iter().map(<[u8]>::len).max().unwrap_or(0)
    }

    /// The characters of the longest text: the width that [`write_ucs4`](Self::write_ucs4) needs. Each byte that is not UTF-8
    /// counts as one character.
    pub fn max_chars(&self) -> usize {
        let chars =
            |text: &[u8]| text.utf8_chunks().map(|c| c.valid().chars().count() + c.invalid().len()).sum();
        self.iter().map(chars).max().unwrap_or(0)
    }

    #[cold]
    pub(super) fn too_wide(&self, index: usize, need: Option<usize>, width: usize) -> TextError {
        TextError::Width { index, text: shorten(self.get(index).unwrap_or_default()), need, width }
    }
}

impl<'a> IntoIterator for StringsRef<'a> {
    type Item = &'a [u8];
    type IntoIter = BytesIter<'a>;
    fn into_iter(self) -> BytesIter<'a> {
        self.iter()
    }
}

/// The texts of [`Strings`] in order.
#[derive(Clone, Debug)]
pub struct Iter<'a>(BytesIter<'a>);

impl<'a> Iterator for Iter<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        self.0.next().map(checked)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// The texts of a [`StringsRef`] in order, as bytes.
#[derive(Clone, Debug)]
pub struct BytesIter<'a> {
    strings: StringsRef<'a>,
    next: usize,
    /// The offset of `next`.
    start: usize,
}

impl<'a> Iterator for BytesIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.next >= self.strings.len() {
            return None;
        }
        self.next += 1;
        let end = self.strings.offsets.at(self.next);
        let text = self.strings.bytes.get(self.start..end);
        self.start = end;
        text
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.strings.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for BytesIter<'_> {}

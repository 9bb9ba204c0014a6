//! The errors of texts and of the buffers around them.

use crate::error::CastError;
use alloc::string::String;
use core::fmt;
use lanecast_kernels::{DType, Encoding};

/// Why a text cannot become an element of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadText {
    /// It is empty, or only white space.
    Empty,
    /// It does not match the grammar of section 8.1.
    NotANumber,
    /// It is a finite number that the integer target cannot hold after rounding, or an infinity.
    OutOfRange,
    /// It is a NaN, and the target is an integer.
    Nan,
}

/// Why texts were not parsed, or not written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError {
    /// A text that does not parse.
    Text {
        /// Its index among the texts.
        index: usize,
        /// Its beginning: at most the first [`SHOWN`](Self::SHOWN) bytes, followed by `...` if that is not all. Bytes that are
        /// not UTF-8 are replaced.
        text: String,
        /// What is wrong with it.
        reason: BadText,
        /// The dtype of the target.
        to: DType,
    },
    /// The buffer has no room for the element of this index.
    BufferTooSmall {
        /// Elements written so far.
        elements: usize,
        /// Total bytes needed up to and including the next element.
        need: usize,
        /// Bytes that the buffer has.
        have: usize,
        /// The encoding of the destination.
        to: Encoding,
    },
    /// The bitmap has no bit for this element.
    MaskTooSmall {
        /// Its index.
        index: usize,
        /// Bytes of the bitmap.
        have: usize,
    },
    /// Bad texts should become null ([`OnBadText::Null`](super::OnBadText::Null)), but there is no bitmap: use
    /// [`ParsePlan::run_masked`](super::ParsePlan::run_masked).
    NoMask,
    /// A text does not fit into the fixed width, or is not UTF-8 where that is required.
    Width {
        /// Its index.
        index: usize,
        /// Its beginning, as in [`TextError::Text`].
        text: String,
        /// The width that it needs: bytes in `S`, characters in `U`; `None` if it is not UTF-8.
        need: Option<usize>,
        /// The width of an element.
        width: usize,
    },
    /// Offsets that are invalid.
    Offsets {
        /// The index of the first invalid offset.
        index: usize,
        /// The offset; `None` if there are no offsets, although even no texts need one.
        offset: Option<i64>,
        /// The smallest valid value: the offset before it.
        floor: i64,
        /// The largest valid value: the number of bytes.
        bytes: usize,
    },
    /// A text that has to be UTF-8, and is not.
    NotUtf8 {
        /// The index of the first such text.
        index: usize,
    },
    /// An error about a buffer or a plan.
    Cast(CastError),
}

impl TextError {
    /// How many bytes of a text are shown.
    pub const SHOWN: usize = 40;

    #[cold]
    pub(super) fn text(index: usize, text: &[u8], reason: BadText, to: DType) -> TextError {
        TextError::Text { index, text: shorten(text), reason, to }
    }
}

/// The beginning of a text.
pub(super) fn shorten(text: &[u8]) -> String {
    let cut = text.len() > TextError::SHOWN;
    let mut shown = String::from_utf8_lossy(if cut { &text[..TextError::SHOWN] } else { text }).into_owned();
    if cut {
        // Drop a character that was cut in two.
        while shown.ends_with(char::REPLACEMENT_CHARACTER) {
            shown.pop();
        }
        shown.push_str("...");
    }
    shown
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::Text { index, text, reason, to } => {
                write!(f, "text {index}, {text:?}, ")?;
                match reason {
                    BadText::Empty => write!(f, "is empty; {to} needs a number"),
                    BadText::NotANumber => write!(f, "is not a number that {to} can be read from"),
                    BadText::OutOfRange => write!(f, "is out of the range of {to}"),
                    BadText::Nan => write!(f, "is a NaN, which {to} does not have"),
                }
            }
            TextError::BufferTooSmall { elements, need, have, to } => write!(
                f,
                "the destination is full after {elements} elements of {to}: the next needs {need} bytes, it has {have}"
            ),
            TextError::MaskTooSmall { index, have } => {
                write!(
                    f,
                    "the validity bitmap has {have} bytes, no bit for element {index}; it needs one bit for each"
                )
            }
            TextError::NoMask => {
                f.write_str("bad texts are to become null, which needs a validity bitmap: use run_masked")
            }
            TextError::Width { index, text, need: Some(need), width } => {
                write!(f, "text {index}, {text:?}, needs a width of {need} but elements have {width}")
            }
            TextError::Width { index, text, need: None, .. } => {
                write!(f, "text {index}, {text:?}, is not UTF-8, so it has no characters to write")
            }
            TextError::Offsets { index, offset: Some(offset), floor, bytes } => write!(
                f,
                "offset {index} is {offset}; it has to lie between {floor} (the one before) and {bytes} (the bytes of text)"
            ),
            TextError::Offsets { offset: None, .. } => {
                f.write_str("there are no offsets; texts have one offset more than there are texts")
            }
            TextError::NotUtf8 { index } => {
                write!(f, "text {index} is not UTF-8; StringsRef reads texts of any bytes")
            }
            TextError::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TextError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            TextError::Cast(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CastError> for TextError {
    fn from(error: CastError) -> Self {
        TextError::Cast(error)
    }
}

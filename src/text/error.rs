//! What can be wrong with a text, or with the buffers around it.

use crate::{BufferType, CastError, DType};
use alloc::string::String;
use core::fmt;

/// Why a text is no element of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BadText {
    /// Nothing, or nothing but white space.
    Empty,
    /// Not of the grammar of section 8.1.
    NotANumber,
    /// A finite number that the integer target cannot hold, after rounding, or an infinity.
    OutOfRange,
    /// A NaN, and the target is an integer.
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
        /// Its beginning: the first [`SHOWN`](Self::SHOWN) bytes at most, with `...` behind if that is not all. Bytes that are
        /// not UTF-8 are replaced.
        text: String,
        /// What is wrong with it.
        reason: BadText,
        /// What it was to become.
        to: DType,
    },
    /// The buffer has no room for the element of this index.
    BufferTooSmall {
        /// What was written so far, in elements.
        elements: usize,
        /// Bytes that the next element would need in all.
        need: usize,
        /// Bytes that the buffer has.
        have: usize,
        /// What the buffer holds.
        to: BufferType,
    },
    /// The bitmap has no bit for this element.
    MaskTooSmall {
        /// Its index.
        index: usize,
        /// Bytes of the bitmap.
        have: usize,
    },
    /// Bad texts are to be null ([`OnBadText::Null`](super::OnBadText::Null)) but there is no bitmap: use
    /// [`ParsePlan::run_masked`](super::ParsePlan::run_masked).
    NoMask,
    /// A text does not fit into the fixed width, or is not UTF-8 where it has to be.
    Width {
        /// Its index.
        index: usize,
        /// Its beginning, as in [`TextError::Text`].
        text: String,
        /// What it needs: bytes in `S`, characters in `U`; `None` if it is not UTF-8.
        need: Option<usize>,
        /// What an element has.
        width: usize,
    },
    /// About a buffer, or a plan.
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
        // A character that the cut went through.
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
            TextError::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TextError {}

impl From<CastError> for TextError {
    fn from(error: CastError) -> Self {
        TextError::Cast(error)
    }
}

//! Errors of encoding and decoding blocks.

use super::BlockFormat;
use core::fmt;

/// Why blocks could not be encoded or decoded.
///
/// Formats and lengths are checked first, before anything is written. The last two errors are found while blocks are written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GgufError {
    /// The elements are not a whole number of blocks.
    PartialBlock {
        /// The format.
        format: BlockFormat,
        /// How many elements there are.
        elements: usize,
    },
    /// The slice of bytes does not have the length of the blocks.
    WrongLength {
        /// The format.
        format: BlockFormat,
        /// How many elements there are.
        elements: usize,
        /// Bytes of their blocks; `usize::MAX` if a `usize` cannot hold that number.
        need: usize,
        /// Bytes of the slice.
        have: usize,
    },
    /// The format can only be decoded ([`BlockFormat::can_encode`]).
    NotEncoded {
        /// The format.
        format: BlockFormat,
    },
    /// An element is NaN or infinite, which no block format can represent. The blocks before it are written, the others are unchanged.
    NonFinite {
        /// The first such element.
        index: usize,
    },
    /// The elements of a block are so large that its scale or its minimum overflows float16. All blocks are written, that one with an
    /// infinite scale or minimum.
    ScaleOverflow {
        /// The format.
        format: BlockFormat,
        /// The first element of the first such block.
        index: usize,
    },
}

impl fmt::Display for GgufError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GgufError::PartialBlock { format, elements } => write!(
                f,
                "{elements} elements are not a whole number of {format} blocks, which have {} elements; \
                 pad every row to a multiple of that",
                format.block_elements()
            ),
            GgufError::WrongLength { format, elements, need, have } => write!(
                f,
                "{elements} elements as {format} are {need} bytes but the slice has {have}; \
                 BlockFormat::byte_len returns the length"
            ),
            GgufError::NotEncoded { format } => write!(
                f,
                "{format} can be decoded but not encoded; BlockFormat::can_encode says which formats can"
            ),
            GgufError::NonFinite { index } => write!(
                f,
                "element {index} is NaN or infinite, which block formats cannot represent; replace it by a finite value"
            ),
            GgufError::ScaleOverflow { format, index } => write!(
                f,
                "the {format} block of elements {index}..{} has a scale or a minimum that is infinite in float16; \
                 divide the tensor by a constant, or use MXFP4",
                index + format.block_elements()
            ),
        }
    }
}

impl core::error::Error for GgufError {}

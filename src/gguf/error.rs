//! Why blocks were not written or not read.

use super::BlockFormat;
use core::fmt;

/// Why blocks were not written or not read.
///
/// Lengths are checked first: nothing is written then. [`NonFinite`](Self::NonFinite) and [`ScaleOverflow`](Self::ScaleOverflow)
/// are found while blocks are written; the blocks before are there then, and those after as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GgufError {
    /// The elements are no whole number of blocks.
    PartialBlock {
        /// The format.
        format: BlockFormat,
        /// How many elements there are.
        elements: usize,
    },
    /// The slice of bytes is not as long as the blocks.
    WrongLength {
        /// The format.
        format: BlockFormat,
        /// How many elements there are.
        elements: usize,
        /// Bytes that their blocks take. `usize::MAX` if they are more than a `usize` counts.
        need: usize,
        /// Bytes of the slice.
        have: usize,
    },
    /// The format is only read ([`BlockFormat::can_encode`]).
    NotEncoded {
        /// The format.
        format: BlockFormat,
    },
    /// An element is NaN or infinite, which no block can say of a single element.
    NonFinite {
        /// The first such element.
        index: usize,
    },
    /// A block spans so much that float16 cannot hold its scale or its minimum.
    ScaleOverflow {
        /// The format.
        format: BlockFormat,
        /// The first element of the block.
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
                "element {index} is NaN or infinite, which block formats cannot hold; replace it by a finite value"
            ),
            GgufError::ScaleOverflow { format, index } => write!(
                f,
                "the {format} block of elements {index}..{} needs a scale or a minimum that overflows float16; \
                 divide the tensor by a constant",
                index + format.block_elements()
            ),
        }
    }
}

impl core::error::Error for GgufError {}

//! Why blocks were not written or not read.

use super::BlockFormat;
use core::fmt;

/// Why blocks were not written or not read.
///
/// Formats and lengths are checked first: nothing is written then. The other two are found while blocks are written.
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
    /// An element is NaN or infinite, which no block can say of a single element. The blocks before its own are written, the others
    /// are as they were.
    NonFinite {
        /// The first such element.
        index: usize,
    },
    /// The elements of a block are so large that its scale or its minimum is infinite in float16. All blocks are written, with that
    /// infinity.
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
                "element {index} is NaN or infinite, which block formats cannot hold; replace it by a finite value"
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

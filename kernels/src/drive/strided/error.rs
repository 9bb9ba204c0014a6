//! The errors of layouts and views.

use super::MAX_AXES;
use crate::dtype::Encoding;
use core::{fmt, ops::Range};

/// The error of a layout or a view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// There are more axes than [`MAX_AXES`].
    TooManyAxes {
        /// The number of axes.
        axes: usize,
    },
    /// The number of strides differs from the number of axes.
    StridesMismatch {
        /// Axes of the shape.
        axes: usize,
        /// Strides given.
        strides: usize,
    },
    /// There are more elements, or elements further apart, than a `usize` can count.
    TooLarge,
    /// Elements lie outside the buffer.
    OutOfBounds {
        /// The first byte of the lowest element, counted from the start of the buffer; negative if before it.
        low: i128,
        /// One past the last byte of the highest element.
        high: i128,
        /// The number of bytes of the buffer.
        have: usize,
    },
    /// Packed elements must be contiguous along the last axis.
    PackedStride {
        /// The stride that was given for this axis.
        stride: isize,
    },
    /// Rows of packed elements that do not end at whole bytes cannot be contiguous or be split there.
    PackedRows {
        /// Elements of a row.
        elements: usize,
    },
    /// Elements of a destination share bytes, or their strides do not rule that out.
    Repeated {
        /// The axis along which they share bytes.
        axis: usize,
    },
    /// There is no such axis.
    NoAxis {
        /// The axis, or the index along an axis.
        axis: usize,
        /// The number of axes, or of elements along the axis.
        axes: usize,
    },
    /// The axes do not name each of 0, 1, ... exactly once.
    NotAPermutation,
    /// The elements cannot be repeated to a shape: each axis must have the new length, or 1.
    NoBroadcast {
        /// The axis of the new shape.
        axis: usize,
        /// Its length in the layout.
        from: usize,
        /// Its length in the new shape.
        to: usize,
    },
    /// Source and destination have different numbers of axes.
    AxesMismatch {
        /// Axes of the source.
        src: usize,
        /// Axes of the destination.
        dst: usize,
    },
    /// Source and destination have axes of different lengths.
    LengthMismatch {
        /// The first such axis.
        axis: usize,
        /// Its length in the source.
        src: usize,
        /// Its length in the destination.
        dst: usize,
    },
    /// Source and destination overlap, other than with each element in the place of its own result.
    Overlap {
        /// Bytes of the source, counted from the lowest of both.
        src: Range<usize>,
        /// Bytes of the destination.
        dst: Range<usize>,
    },
    /// The view has a different encoding from the cast.
    WrongEncoding {
        /// The encoding of the cast.
        plan: Encoding,
        /// The encoding of the view.
        view: Encoding,
    },
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyAxes { axes } => {
                write!(f, "{axes} axes: there can be {MAX_AXES}; join those that continue each other")
            }
            Self::StridesMismatch { axes, strides } => {
                write!(f, "{strides} strides for {axes} axes: give one for each")
            }
            Self::TooLarge => f.write_str("more elements, or further apart, than a buffer can hold"),
            Self::OutOfBounds { low, high, have } => {
                write!(f, "the elements lie in the bytes {low}..{high} of a buffer of {have} bytes")
            }
            Self::PackedStride { stride } => write!(
                f,
                "a stride of {stride} bytes on the last axis: packed elements follow each other there; give 1, or unpack them"
            ),
            Self::PackedRows { elements } => write!(
                f,
                "rows of {elements} packed elements do not end at a whole byte: give them as one axis, or unpack them"
            ),
            Self::Repeated { axis } => {
                write!(
                    f,
                    "elements of the destination share bytes along axis {axis}; write to an array of its own"
                )
            }
            Self::NoAxis { axis, axes } => write!(f, "no {axis} in an axis or shape of {axes}"),
            Self::NotAPermutation => f.write_str("the axes are not each named once"),
            Self::NoBroadcast { axis, from, to } => {
                write!(
                    f,
                    "an axis of {from} elements cannot be repeated to {to} (axis {axis} of the new shape)"
                )
            }
            Self::AxesMismatch { src, dst } => {
                write!(
                    f,
                    "the source has {src} axes and the destination {dst}; repeat the source with `broadcast`"
                )
            }
            Self::LengthMismatch { axis, src, dst } => write!(
                f,
                "axis {axis} has {src} elements in the source and {dst} in the destination; repeat the source with `broadcast`"
            ),
            Self::Overlap { src, dst } => write!(
                f,
                "the source (bytes {}..{}) and the destination (bytes {}..{}) overlap; cast to other memory, or each element to its own place",
                src.start, src.end, dst.start, dst.end
            ),
            Self::WrongEncoding { plan, view } => {
                write!(f, "a view of {view} for a cast of {plan}")
            }
        }
    }
}

impl core::error::Error for ViewError {}

//! What can be wrong with a scaled cast.

use crate::error::{CastError, refused};
use core::{error::Error, fmt};
use lanecast_kernels::{DType, OperandError};

/// Why a scaled cast was not done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScaledError {
    /// The dtype of the source is not float16, bfloat16 or float32.
    Source {
        /// The dtype.
        dtype: DType,
    },
    /// The dtype of the values is not float16, bfloat16, float32 or float64.
    Target {
        /// The dtype.
        dtype: DType,
    },
    /// The codes cannot be of this dtype: it is not an integer of at most 16 bits, float16, or a float of at most 8 bits with a zero.
    Element {
        /// The dtype.
        dtype: DType,
    },
    /// The arithmetic of the scheme does not fit its scales.
    Scheme {
        /// What does not fit, and what would.
        why: &'static str,
    },
    /// A number of the scheme is not positive and finite.
    Number {
        /// Which one.
        which: &'static str,
        /// The number that was given.
        given: f32,
    },
    /// The granularity does not fit the shape.
    Axis {
        /// The axis, as it was given.
        axis: isize,
        /// The number of axes of the shape.
        axes: usize,
    },
    /// A block of no elements.
    EmptyBlock,
    /// A shape with more elements than there can be.
    Shape,
    /// The shape of a view differs from the plan's shape, or two plans are for different numbers of elements.
    OtherShape,
    /// An operand has not the bytes that it should have.
    Length {
        /// The operand.
        which: &'static str,
        /// The bytes of the elements that it should have.
        want: usize,
        /// The bytes of those that it has.
        have: usize,
    },
    /// A block has a NaN or an infinity, which the scheme refuses.
    NonFinite {
        /// The index of the block, in C order.
        block: usize,
    },
    /// A buffer of codes or scales is a view; these are in C order and without gaps.
    Strided {
        /// The buffer.
        which: &'static str,
    },
    /// A scale for the tensor was needed, or one that is finite and positive.
    Global {
        /// The scale that was given.
        given: Option<f32>,
    },
    /// The largest magnitude of the tensor is not finite.
    Amax {
        /// The magnitude that was given.
        given: f32,
    },
    /// A plan that has the scale of the tensor was given a largest magnitude, from which another scale would follow.
    TwoScales,
    /// A cast between two dtypes is not possible, or an operand does not fit one.
    Cast(CastError),
}

impl ScaledError {
    /// The same error of a quantized tensor that is the source of another.
    pub(super) fn of_source(self) -> ScaledError {
        let Self::Length { which, want, have } = self else { return self };
        let which = match which {
            "data" => "source data",
            "scales" => "source scales",
            "zero points" => "source zero points",
            which => which,
        };
        Self::Length { which, want, have }
    }
}

impl fmt::Display for ScaledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source { dtype } => {
                write!(f, "cannot scale {dtype}; cast to float16, bfloat16 or float32 first")
            }
            Self::Target { dtype } => {
                write!(f, "codes stand for floats, not {dtype}; dequantize to float16, bfloat16, float32 or float64, and cast then")
            }
            Self::Element { dtype } => {
                write!(
                    f,
                    "scaled codes cannot be {dtype}: take an integer of at most 16 bits, float16, or a float of at most 8 bits with a zero"
                )
            }
            Self::Scheme { why } => f.write_str(why),
            Self::Number { which, given } => {
                write!(f, "{which} is {given}; give a number that is positive and finite")
            }
            Self::Axis { axis, axes } => write!(f, "axis {axis} does not exist in a shape of {axes} axes"),
            Self::EmptyBlock => f.write_str("a block needs at least one element"),
            Self::Shape => f.write_str("the shape has more elements than memory could hold"),
            Self::OtherShape => f.write_str("the shapes differ: a view needs the shape of its plan, and two plans need shapes of as many elements"),
            Self::Length { which, want, have } => {
                write!(f, "the {which} must have {want} bytes for this shape and scheme, and has {have}")
            }
            Self::NonFinite { block } => {
                write!(f, "block {block} has a NaN or an infinity; choose how to treat them, or remove them")
            }
            Self::Strided { which } => {
                write!(f, "the {which} must be in C order and without gaps; give a slice instead of a view")
            }
            Self::Global { given: Some(given) } => {
                write!(f, "the scale of the tensor must be finite and positive, and is {given}")
            }
            Self::Global { given: None } => {
                f.write_str("the scheme has a scale of the tensor, and none is given; set `Quantized::global`")
            }
            Self::Amax { given } => write!(f, "the largest magnitude must be finite, and is {given}"),
            Self::TwoScales => {
                f.write_str("the plan has the scale of the tensor, so a largest magnitude cannot give it another; give one of the two")
            }
            Self::Cast(error) => error.fmt(f),
        }
    }
}

impl Error for ScaledError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cast(error) => Some(error),
            _ => None,
        }
    }
}

impl ScaledError {
    /// The error of a tensor, from the error of a part that begins with this block.
    pub(super) fn after(self, first: usize) -> Self {
        match self {
            Self::NonFinite { block } => Self::NonFinite { block: first + block },
            other => other,
        }
    }
}

impl From<CastError> for ScaledError {
    fn from(error: CastError) -> Self {
        Self::Cast(error)
    }
}

impl From<OperandError> for ScaledError {
    fn from(error: OperandError) -> Self {
        Self::Cast(refused(error))
    }
}

/// Whether `have` bytes are what an operand should have.
pub(super) fn check_len(which: &'static str, want: usize, have: usize) -> Result<(), ScaledError> {
    if want == have { Ok(()) } else { Err(ScaledError::Length { which, want, have }) }
}

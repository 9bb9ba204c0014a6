//! The errors of casts. When an error is returned, nothing has been written, except by a checked cast that was rejected.

use crate::loss::Rejection;
use core::{fmt, ops::Range};
use lanecast_kernels::{DType, Encoding, OperandError, Tier, TierStatus, UnknownName, ViewError};

/// The source or the destination of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The buffer that is read.
    Source,
    /// The buffer that is written.
    Destination,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Source => "source",
            Side::Destination => "destination",
        })
    }
}

/// Why a cast was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CastError {
    /// The slices have different numbers of elements.
    LengthMismatch {
        /// Elements of the source.
        src: usize,
        /// Elements of the destination.
        dst: usize,
    },
    /// A buffer has fewer bytes than the elements take.
    BufferTooSmall {
        /// The buffer that is too small.
        which: Side,
        /// Bytes that the elements need.
        need: usize,
        /// Bytes that the buffer has.
        have: usize,
    },
    /// There are more elements than any buffer can hold.
    TooLarge {
        /// The number of elements.
        elements: usize,
        /// Their encoding.
        encoding: Encoding,
    },
    /// A typed slice was given to a plan for another dtype, for packed storage or for another byte order than the host's.
    WrongElement {
        /// The slice that does not fit.
        which: Side,
        /// The encoding of the plan.
        plan: Encoding,
        /// The dtype of the slice's elements.
        slice: DType,
    },
    /// The bytes to read and the bytes to write overlap.
    Overlap {
        /// Byte offsets of the source.
        src: Range<usize>,
        /// Byte offsets of the destination.
        dst: Range<usize>,
    },
    /// A slice cannot be cast in place to this dtype: the results are wider, need a larger alignment, or would leave a slice of
    /// bool with bytes other than 0 and 1.
    NotInPlace {
        /// The dtype of the slice's elements.
        from: DType,
        /// The requested dtype.
        to: DType,
    },
    /// A cast in place has a target that is not initialised bytes ([`BytesMut`](crate::BytesMut)), or none at all.
    NoBytes,
    /// There is no stochastic rounding for a pair: the source must be a real float, and the target an integer or a float of at most 16 bits
    /// that has a zero.
    NotStochastic {
        /// The dtype of the source.
        from: DType,
        /// The dtype of the target.
        to: DType,
    },
    /// A view is invalid, or cannot be cast as requested.
    View(ViewError),
    /// A checked cast met an element that its target cannot hold.
    Rejected(Rejection),
    /// A validity bitmap has fewer bits than there are elements.
    ValidityTooSmall {
        /// Bytes that the bits need.
        need: usize,
        /// Bytes that the bitmap has.
        have: usize,
    },
    /// This build leaves out the dtype: its Cargo feature is off ([`DType::feature`]).
    NotBuilt {
        /// The dtype of the source or the destination.
        dtype: DType,
    },
    /// No dtype, or no tier, has this name.
    UnknownName(UnknownName),
    /// The tier cannot run here.
    Unsupported {
        /// The requested tier.
        tier: Tier,
        /// Why it cannot run.
        status: TierStatus,
    },
}

impl fmt::Display for CastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CastError::LengthMismatch { src, dst } => {
                write!(f, "the source has {src} elements but the destination {dst}; make them equal")
            }
            CastError::BufferTooSmall { which, need, have } => {
                write!(f, "the {which} needs {need} bytes but has {have}")
            }
            CastError::TooLarge { elements, encoding: buffer } => {
                write!(f, "{elements} elements of {buffer} do not fit in any buffer")
            }
            CastError::WrongElement { which, plan, slice } => {
                write!(f, "the {which} is a slice of {slice} but the plan is for {plan}")
            }
            CastError::Overlap { src, dst } => write!(
                f,
                "the source (bytes {}..{}) overlaps the destination (bytes {}..{}); cast through another buffer",
                src.start, src.end, dst.start, dst.end
            ),
            CastError::NotInPlace { from: DType::Bool, to } => {
                write!(f, "a slice of bool cannot become {to} in its own memory, which may only hold 0 and 1")
            }
            CastError::NotInPlace { from, to } => write!(
                f,
                "a slice of {from} cannot become {to} in its own memory: that is wider or needs another alignment"
            ),
            CastError::NoBytes => f.write_str(
                "a cast in place needs its elements as initialised bytes: give BytesMut::new as the target",
            ),
            CastError::NotStochastic { from, to } => write!(
                f,
                "cannot round {from} to {to} stochastically: take a real float as the source, and an integer or a float of at most 16 bits \
                 that has a zero as the target"
            ),
            CastError::View(error) => error.fmt(f),
            CastError::Rejected(rejection) => rejection.fmt(f),
            CastError::ValidityTooSmall { need, have } => {
                write!(f, "the validity bitmap needs {need} bytes but has {have}")
            }
            CastError::NotBuilt { dtype } => {
                let feature = dtype.feature().unwrap_or_default();
                write!(f, "this build of lanecast leaves out {dtype}; enable its Cargo feature `{feature}`")
            }
            CastError::UnknownName(name) => name.fmt(f),
            CastError::Unsupported { tier, status } => {
                write!(
                    f,
                    "the tier {tier} cannot run here: {status}; Tier::best() and `lanecast cpu` tell which can"
                )
            }
        }
    }
}

impl core::error::Error for CastError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            CastError::View(error) => Some(error),
            CastError::UnknownName(error) => Some(error),
            _ => None,
        }
    }
}

impl From<UnknownName> for CastError {
    fn from(error: UnknownName) -> Self {
        CastError::UnknownName(error)
    }
}

impl From<ViewError> for CastError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Overlap { src, dst } => CastError::Overlap { src, dst },
            error => CastError::View(error),
        }
    }
}

/// The error of operands that do not fit a cast.
#[cold]
pub(crate) fn refused(error: OperandError) -> CastError {
    let side = |target| if target { Side::Destination } else { Side::Source };
    match error {
        OperandError::Lengths { src, dst } => CastError::LengthMismatch { src, dst },
        OperandError::Bytes { target, need, have } => {
            CastError::BufferTooSmall { which: side(target), need, have }
        }
        OperandError::TooLarge { elements, encoding } => CastError::TooLarge { elements, encoding },
        OperandError::Element { target, plan, slice } => {
            CastError::WrongElement { which: side(target), plan, slice }
        }
        OperandError::NotBytes => CastError::NoBytes,
        OperandError::View(error) => error.into(),
    }
}

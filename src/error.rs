//! What can be wrong with a cast. Nothing is written when an error is returned, but for a checked cast that was rejected.

use crate::Rejection;
use core::{fmt, ops::Range};
use lanecast_kernels::{BufferType, DType, Tier, TierStatus, UnknownName, UnknownTier, ViewError};

/// Which buffer of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that is read.
    Source,
    /// The one that is written.
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
        /// Bytes that the elements take.
        need: usize,
        /// Bytes that the buffer has.
        have: usize,
    },
    /// So many elements that no buffer can hold them.
    TooLarge {
        /// Elements asked for.
        elements: usize,
        /// What each of them is.
        buffer: BufferType,
    },
    /// A typed slice was given to a plan for another dtype, for packed storage or for another byte order than the host's.
    WrongElement {
        /// The slice that does not fit.
        which: Side,
        /// What the plan was made for.
        plan: BufferType,
        /// The dtype of the slice's elements.
        slice: DType,
    },
    /// The bytes to read and the bytes to write have some in common.
    Overlap {
        /// Byte offsets of the source.
        src: Range<usize>,
        /// Byte offsets of the destination.
        dst: Range<usize>,
    },
    /// A slice of these elements cannot become one of those in its own memory: they are wider, need another alignment, or
    /// would leave a slice of bool with other bytes than 0 and 1.
    NotInPlace {
        /// The dtype of the slice's elements.
        from: DType,
        /// What they were to become.
        to: DType,
    },
    /// A view cannot be made, or cannot be cast so.
    View(ViewError),
    /// A checked cast met an element that its target cannot hold.
    Rejected(Rejection),
    /// A validity bitmap has fewer bytes than the elements take, at a bit for each.
    ValidityTooSmall {
        /// Bytes that the bits take.
        need: usize,
        /// Bytes that the bitmap has.
        have: usize,
    },
    /// This build leaves out the dtype: its Cargo feature is off ([`DType::feature`]).
    NotBuilt {
        /// The dtype of the source or the destination.
        dtype: DType,
    },
    /// No dtype has this name.
    UnknownName(UnknownName),
    /// The tier cannot run here.
    Unsupported {
        /// The tier that was asked for.
        tier: Tier,
        /// Why it cannot run.
        status: TierStatus,
    },
    /// No tier has this name.
    UnknownTier(UnknownTier),
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
            CastError::TooLarge { elements, buffer } => {
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
            CastError::UnknownTier(name) => name.fmt(f),
        }
    }
}

impl core::error::Error for CastError {}

impl From<UnknownName> for CastError {
    fn from(error: UnknownName) -> Self {
        CastError::UnknownName(error)
    }
}

impl From<ViewError> for CastError {
    fn from(error: ViewError) -> Self {
        CastError::View(error)
    }
}

impl From<UnknownTier> for CastError {
    fn from(error: UnknownTier) -> Self {
        CastError::UnknownTier(error)
    }
}

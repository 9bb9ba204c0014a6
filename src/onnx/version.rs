//! Which types and attributes each version of the operators has.
//!
//! *Law.* A version of `Cast` takes the same types on both sides, and a later version takes all types of an earlier one. So one
//! number per type is enough: the first version that has it. `CastLike` follows `Cast`, with its own version numbers.

use super::{ElementType, Error, Side};
use crate::DType;
use core::fmt;

/// An operator of the default domain of ONNX that casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `Cast`: the target is the attribute `to`.
    Cast,
    /// `CastLike`: the target is the type of the second input.
    CastLike,
}

impl Operator {
    /// The versions, by the opset that each came with.
    pub const fn versions(self) -> &'static [u32] {
        match self {
            Operator::Cast => &[1, 6, 9, 13, 19, 21, 23, 24, 25, 28],
            Operator::CastLike => &[15, 19, 21, 23, 24, 25],
        }
    }

    /// The version in force in an opset: the latest that is not newer than the opset. Unknown later opsets have the latest
    /// known version.
    ///
    /// ```
    /// use lanecast::onnx::Operator;
    /// assert_eq!(Operator::Cast.version_in(11), Ok(9));
    /// assert_eq!(Operator::CastLike.version_in(28), Ok(25));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchOpset`] if the opset is older than the operator, or 0.
    pub fn version_in(self, opset: u32) -> Result<u32, Error> {
        let versions = self.versions();
        let version = versions.iter().rev().find(|version| **version <= opset);
        version.copied().ok_or(Error::NoSuchOpset { operator: self, opset })
    }

    /// The first version that takes a type, on either side; `None` if none does.
    ///
    /// ```
    /// use lanecast::{DType, onnx::Operator};
    /// assert_eq!(Operator::Cast.since(DType::Float8E5M2), Some(19));
    /// assert_eq!(Operator::Cast.since(DType::Complex64), None);
    /// ```
    pub fn since(self, element: impl Into<ElementType>) -> Option<u32> {
        let first = first_cast(element.into())?;
        self.versions().iter().copied().find(|version| *version >= first)
    }

    /// The first version that has the attribute `saturate`.
    pub(super) const SATURATE: u32 = 19;
    /// The first version that has the attribute `round_mode`.
    pub(super) const ROUND_MODE: u32 = 24;

    /// Refuses a type that the version does not take.
    pub(super) fn check(self, version: u32, side: Side, element: ElementType) -> Result<(), Error> {
        match self.since(element) {
            Some(since) if since <= version => Ok(()),
            since => Err(Error::Type { operator: self, version, side, element, since }),
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Cast => "Cast",
            Operator::CastLike => "CastLike",
        })
    }
}

/// The first version of `Cast` with a type.
const fn first_cast(element: ElementType) -> Option<u32> {
    let ElementType::Number(dtype) = element else { return Some(9) };
    match dtype {
        DType::Bool
        | DType::Int8
        | DType::Int16
        | DType::Int32
        | DType::Int64
        | DType::UInt8
        | DType::UInt16
        | DType::UInt32
        | DType::UInt64
        | DType::Float16
        | DType::Float32
        | DType::Float64 => Some(1),
        DType::BFloat16 => Some(13),
        DType::Float8E4M3FN | DType::Float8E4M3FNUZ | DType::Float8E5M2 | DType::Float8E5M2FNUZ => Some(19),
        DType::Int4 | DType::UInt4 => Some(21),
        DType::Float4E2M1FN => Some(23),
        DType::Float8E8M0FNU => Some(24),
        DType::Int2 | DType::UInt2 => Some(25),
        DType::Float6E2M3FN | DType::Float6E3M2FN => Some(28),
        // ONNX has complex tensors, but no version of Cast takes them; it has no float8_e3m4, float8_e4m3 or float8_e4m3b11fnuz.
        _ => None,
    }
}

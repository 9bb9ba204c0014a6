//! The errors of structs, their descriptions and their casts.

use super::types::{FieldType, MOST_AXES, MOST_DEPTH};
use crate::{
    error::{CastError, Side},
    loss::Rejection,
};
use alloc::{borrow::Cow, boxed::Box, string::String, vec::Vec};
use core::fmt;
use lanecast_kernels::Encoding;

/// Why a struct was not made, read or cast. Nothing is written when a plan is refused or a buffer is too small.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructError {
    /// A description cannot be parsed.
    Descr {
        /// Where, in bytes from its start.
        at: usize,
        /// What is wrong.
        what: Cow<'static, str>,
    },
    /// A field is invalid, or cannot be cast as requested.
    Field {
        /// Its name, qualified by the structs that contain it: `outer.inner`.
        field: String,
        /// What is wrong.
        trouble: Trouble,
    },
    /// An item is larger than any buffer.
    ItemTooLarge,
    /// Casts are by position, and the structs have different numbers of fields.
    FieldCount {
        /// The name of the struct within the destination; empty for the outermost.
        field: String,
        /// Fields of the source.
        src: usize,
        /// Fields of the destination.
        dst: usize,
    },
    /// Two fields of the destination overlap.
    Overlap {
        /// The name of one.
        first: String,
        /// The name of the other.
        second: String,
    },
    /// A buffer has fewer bytes than the items take.
    BufferTooSmall {
        /// The buffer that is too small.
        which: Side,
        /// Bytes that the items take.
        need: usize,
        /// Bytes that the buffer has.
        have: usize,
    },
    /// There are more items than any buffer can hold.
    TooLarge {
        /// The number of items.
        items: usize,
        /// Bytes of each.
        item_size: usize,
    },
    /// A checked cast met an element that its target cannot hold.
    Rejected {
        /// The name of the field.
        field: String,
        /// The index of the item.
        item: usize,
        /// The element; its index counts the elements of this field over all items.
        rejection: Box<Rejection>,
    },
    /// The cast of the elements was refused, for example because the tier cannot run here.
    Cast(CastError),
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// It has no name.
    NoName,
    /// This name or title belongs to another field, too.
    NameTwice(String),
    /// Its sub-array has too many axes.
    TooManyAxes {
        /// The number of axes.
        axes: usize,
    },
    /// Its elements share bytes.
    Packed(Encoding),
    /// It is larger than any buffer.
    TooLarge,
    /// It ends after the end of the item.
    Outside {
        /// The end of the field.
        end: usize,
        /// The size of the item.
        item_size: usize,
    },
    /// It contains structs that are nested too deep.
    TooDeep,
    /// It overlaps the field before it, or begins before it.
    OutOfOrder,
    /// It would change its size.
    Size {
        /// The size of the field.
        src: usize,
        /// The size that it would have.
        dst: usize,
    },
    /// Its sub-array cannot be broadcast to the sub-array of the destination.
    Shape {
        /// The shape in the source.
        src: Vec<usize>,
        /// The shape in the destination.
        dst: Vec<usize>,
    },
    /// A field of this type cannot be cast to the type of the destination.
    Kinds {
        /// The type in the source.
        src: Box<FieldType>,
        /// The type in the destination.
        dst: Box<FieldType>,
    },
}

impl fmt::Display for StructError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StructError::Descr { at, what } => write!(f, "bad descr at byte {at}: {what}"),
            StructError::Field { field, trouble } => write!(f, "field {field:?}: {trouble}"),
            StructError::ItemTooLarge => f.write_str("the items are larger than any buffer"),
            StructError::FieldCount { field, src, dst } => {
                let of = if field.is_empty() { "" } else { " of the struct " };
                write!(
                    f,
                    "{src} fields cannot become the {dst}{of}{field} by position; make them equal or match by name"
                )
            }
            StructError::Overlap { first, second } => write!(
                f,
                "the fields {first:?} and {second:?} of the destination overlap; write to a struct where they do not"
            ),
            StructError::BufferTooSmall { which, need, have } => {
                write!(f, "the {which} needs {need} bytes but has {have}")
            }
            StructError::TooLarge { items, item_size } => {
                write!(f, "{items} items of {item_size} bytes do not fit in any buffer")
            }
            StructError::Rejected { field, item, rejection } => {
                write!(f, "field {field:?} of item {item}: {rejection}")
            }
            StructError::Cast(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NoName => f.write_str("it has no name; give it one"),
            Trouble::NameTwice(name) => {
                write!(f, "the name {name:?} belongs to another field, too; rename one")
            }
            Trouble::TooManyAxes { axes } => {
                write!(f, "{axes} axes, more than {}", MOST_AXES)
            }
            Trouble::Packed(buffer) => {
                write!(f, "{buffer} shares bytes, which elements of structs cannot; store one per byte")
            }
            Trouble::TooLarge => f.write_str("it is larger than any buffer"),
            Trouble::Outside { end, item_size } => {
                write!(f, "it ends at byte {end}, behind the item of {item_size} bytes")
            }
            Trouble::TooDeep => {
                write!(f, "more than {} structs within each other", MOST_DEPTH)
            }
            Trouble::OutOfOrder => f.write_str("it overlaps the field before it or lies before that"),
            Trouble::Size { src, dst } => {
                write!(f, "its {src} bytes cannot be seen as {dst}; cast them")
            }
            Trouble::Shape { src, dst } => {
                write!(f, "a sub-array of shape {src:?} cannot be broadcast to {dst:?}")
            }
            Trouble::Kinds { src, dst } => write!(f, "{} cannot become {}", Words(src), Words(dst)),
        }
    }
}

/// The type of a field, in words.
struct Words<'a>(&'a FieldType);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FieldType::Element(buffer) => buffer.fmt(f),
            FieldType::Bytes(n) => write!(f, "text of {n} bytes (S{n})"),
            FieldType::Ucs4 { chars, .. } => write!(f, "text of {chars} characters (U{chars})"),
            FieldType::Void(n) => write!(f, "{n} bytes of unknown meaning (V{n})"),
            FieldType::Struct(of) => write!(f, "a struct of {} fields", of.fields().len()),
        }
    }
}

impl core::error::Error for StructError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            StructError::Cast(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CastError> for StructError {
    fn from(error: CastError) -> Self {
        StructError::Cast(error)
    }
}

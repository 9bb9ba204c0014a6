//! Casts between arrays of any layout: a shape, and for every axis the distance in bytes from one element to the next, which
//! may be zero or negative.
//!
//! # The law
//!
//! The result is that of casting element by element; nothing outside the elements of the destination is written, and nothing
//! outside those of the source is read. No memory is allocated.
//!
//! # The method
//!
//! The axes of both sides are brought into one loop nest (`nest`): axes of length one fall away, those that the destination
//! counts down are turned round on both sides, the smallest distance of the destination becomes the innermost loop, and axes
//! that continue each other on both sides become one. Then (`run`):
//!
//! * *runs*: elements that follow each other on both sides go to the kernel where they are;
//! * *tiles*: where another axis is innermost in the source (a transposition), squares of both axes are cast row by row as the
//!   source lies, or as they are, and turned on the stack (`tiles`, `tile`), so that memory is read and written in whole lines;
//! * *blocks*: everything else is gathered to a block on the stack unless it lies together, cast, and scattered unless it may
//!   lie together; a value that is repeated is cast once.
//!
//! A cast that detects losses numbers elements in C order and goes through them in that order (`losses`).
//!
//! # Overlap
//!
//! Elements of a destination must not share bytes, which is proved when its view is made. A source and a destination that share
//! bytes are refused, unless every element becomes its own result at its own place (`overlap`).

mod copy;
mod error;
mod layout;
mod losses;
#[cfg(feature = "ndarray")]
mod ndarray;
mod nest;
mod overlap;
mod run;
mod tile;
mod tiles;
mod view;

pub use error::ViewError;
pub use layout::{Layout, MAX_AXES};
pub use view::{View, ViewMut};

#[cfg(doc)]
pub(crate) use tile::Turn;
pub(crate) use tile::{Lanes, SCALAR, Transpose, one_by_one, squares};

//! Casts between arrays of any layout: a shape, and for every axis the distance in bytes from one element to the next, which
//! may be zero or negative.
//!
//! # The law
//!
//! The result equals casting element by element. Nothing is written outside the elements of the destination, and nothing is read outside the
//! elements of the source. No memory is allocated for views of up to eight axes.
//!
//! # The method
//!
//! The axes of both sides are combined into one loop nest (`nest`): axes of length one are dropped, axes with a negative stride in
//! the destination are reversed on both sides, the axis with the smallest stride in the destination becomes the innermost loop, and
//! axes that continue each other on both sides are merged. Then (`run`):
//!
//! * *runs*: elements that are contiguous on both sides are cast directly;
//! * *tiles*: if another axis is innermost in the source (a transposition), squares of both axes are cast row by row in source order and
//!   transposed on the stack, or transposed first and then cast (`tiles`, `tile`). So memory is read and written in whole cache lines;
//! * *blocks*: all other elements are gathered to a block on the stack unless they are contiguous, cast, and scattered unless the
//!   destination is contiguous; a value that is repeated is cast once.
//!
//! A cast that detects losses has the same loops. Each run of contiguous elements is cast and tested (`losses`), and knows the indices of its
//! elements in C order (`places`). A cast without a destination drops its results.
//!
//! # Overlap
//!
//! Elements of a destination must not share bytes, which is checked when its view is made. A source and a destination that share
//! bytes are refused, unless every element is replaced by its own result in place (`overlap`).

mod axes;
mod error;
mod fill;
mod layout;
mod losses;
#[cfg(feature = "ndarray")]
mod ndarray;
mod nest;
mod overlap;
mod places;
mod run;
mod tiles;
mod view;

pub use axes::MAX_AXES;
pub use error::ViewError;
pub use layout::Layout;
pub use view::{View, ViewMut};

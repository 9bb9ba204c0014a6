//! Casts between arrays of any layout: strided, transposed, reversed, repeated.
//!
//! A [`Layout`] is a shape and, for every axis, the distance in bytes from one element to the next, which may be zero or negative;
//! a [`View`] or [`ViewMut`] is a layout on memory, and an operand of a [plan](crate::CastPlan). A cast from one view to another of the same shape gives the same result as
//! casting element by element, but traverses memory in the order that suits both: adjacent axes are merged where possible,
//! contiguous runs are cast directly, transpositions are cast in tiles, and the rest goes through a block on the stack. Nothing is
//! allocated, except for views of more than eight axes; a cast needs less than 112 KiB of stack.
//!
//! The `unsafe` functions [`View::from_raw`] and [`ViewMut::from_raw`] make views of memory at an address. A source and a
//! destination that share memory are refused, unless each element is replaced by its own result in its own place.
//!
//! ```
//! use lanecast::strided::{Layout, View, ViewMut};
//! use lanecast::{CastOptions, CastPlan, DType};
//! // The second column of three rows of four bytes, from the last row to the first.
//! let table = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
//! let column = View::new(&table, Layout::new(DType::UInt8, &[3], &[-4])?.with_offset(9))?;
//! let mut out = [0.0_f32; 3];
//! CastPlan::of::<u8, f32>(&CastOptions::RUST).run(&column, &mut out)?;
//! assert_eq!(out, [10.0, 6.0, 2.0]);
//! # Ok::<(), lanecast::CastError>(())
//! ```

pub use lanecast_kernels::{Layout, MAX_AXES, View, ViewError, ViewMut};

//! The element types that Rust lacks: a byte each, made from the rows of the list.
//!
//! Their own methods work in integer arithmetic (`exact`), so that a single value may be cast anywhere, in any state of the
//! floating-point environment. Buffers go through kernels.
//!
//! `floats` and `ints` have the methods and the traits of the standard library, `parse` reads text, and `num` and `serde` have the traits of the
//! crates of these names.

mod between;
mod floats;
mod ints;
#[cfg(feature = "num-traits")]
mod num;
mod parse;
#[cfg(feature = "serde")]
mod serde;
mod types;

pub use ints::IntRangeError;
pub use parse::ParseElementError;
pub use types::*;

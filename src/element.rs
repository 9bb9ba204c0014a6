//! The Rust types of the dtypes.
//!
//! Rust's own numbers and `bool`, [`half::f16`], [`half::bf16`] and [`num_complex::Complex`] are used as they are. The other dtypes
//! have newtypes over a byte, which holds one element in its low bits.

pub use lanecast_kernels::{Element, newtypes::*};

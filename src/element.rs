//! The typed face of the dtypes.
//!
//! Rust's own numbers and `bool`, [`half::f16`], [`half::bf16`] and [`num_complex::Complex`] are used as they are. The others
//! are newtypes over a byte that holds one element in its low bits, whatever its width.

pub use lanecast_kernels::{Element, newtypes::*};

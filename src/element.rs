//! The typed face of the dtypes.
//!
//! Rust's own numbers and `bool`, [`half::f16`], [`half::bf16`] and [`num_complex::Complex`] are used as they are. The others
//! are newtypes over a byte that holds one element in its low bits, whatever its width.

pub use lanecast_kernels::{
    Element, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2,
    F8E5M2FNUZ, F8E8M0FNU, I2, I4, U2, U4,
};

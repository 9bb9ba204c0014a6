//! Kernels in lanes of 16 bits.

mod kernels;
mod pairs;
mod rounded;
mod run;

pub(crate) use kernels::{WordKernels, kernel, rounded_kernel};
pub(crate) use pairs::Pair;
pub(crate) use rounded::{is_rounded, run_rounded};
pub(crate) use run::*;

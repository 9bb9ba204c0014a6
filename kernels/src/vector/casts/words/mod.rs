//! Kernels in lanes of 16 bits.

mod pairs;
mod rounded;
mod run;

pub(crate) use pairs::{Pair, WordKernels, kernel, rounded_kernel};
pub(crate) use rounded::{is_rounded, run_rounded};
pub(crate) use run::*;

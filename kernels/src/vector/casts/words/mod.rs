//! Kernels in lanes of 16 bits.

mod define;
mod rounded;
mod run;

pub(crate) use define::define_words;
pub(crate) use rounded::{is_rounded, run_rounded};
pub(crate) use run::*;

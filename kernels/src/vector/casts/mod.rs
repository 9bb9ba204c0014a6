//! The kernels through float32, and those from 16-bit floats to narrow ones in lanes of 16 bits.

mod families;
mod load;
mod run;
pub(crate) mod target;
pub(crate) mod words;

pub(crate) use families::{define_families, define_integers, define_styles};
pub(crate) use run::{covers, rounded, rounds, run};

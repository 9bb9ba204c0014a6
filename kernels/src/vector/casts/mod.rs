//! The kernels through float32, and the kernels from 16-bit floats to narrow ones in lanes of 16 bits.

mod families;
mod load;
mod run;
pub(crate) mod target;
pub(crate) mod words;

pub(crate) use families::{Families, common, in_mode, small_in_mode, to_bytes};
pub(crate) use load::Loaded;
pub(crate) use run::{covers, rounded, rounds, run};

//! The tier `avx2`.
//!
//! `table` names the kernels that are written for it, which are those of almost all pairs. The few others are the plain loop of the
//! scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod families;
mod scaled;
mod simd;
mod table;
#[cfg(test)]
mod tests;
mod wide;
mod words;

#[cfg(feature = "avx512")]
pub(super) use families::{small_in_mode, through_float32};
#[cfg(all(test, miri))]
pub(super) use table::rounded;
#[cfg(feature = "avx512")]
pub(super) use {
    bytes::scaled::{decoder, fused},
    table::{TABLE, entry, loops, of_byte, whole},
};

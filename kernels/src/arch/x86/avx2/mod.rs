//! The tier `avx2`.
//!
//! `table` names the kernels of almost all pairs: those of `vector::casts` through float32 and in lanes of 16 bits ([`words`]), those of
//! `vector::lanes` for integers and 64-bit numbers ([`ops`]), and those of sources of a byte ([`bytes`]). The few others are the plain
//! loop of the scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod families;
mod floats;
mod halves;
mod ops;
mod packs;
mod scaled;
mod simd;
mod table;
#[cfg(test)]
mod tests;
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

//! The tier `avx2`.
//!
//! `table` names the kernels of almost all pairs: the kernels of `vector::casts` through float32 and in lanes of 16 bits ([`words`]), the kernels
//! of `vector::lanes` for integers and 64-bit numbers ([`ops`]), and the kernels for sources of a byte ([`bytes`]). The other pairs use the
//! plain loop of the scalar tier, compiled for this tier's instructions: the loop bodies have no branches, so the compiler vectorises them.

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

//! The tier `avx512`.
//!
//! `table` names the kernels that are written for the tier, which cover almost all pairs. The other pairs use the plain loop of the scalar tier,
//! compiled for this tier's instructions: the loop bodies have no branches, so the compiler vectorises them.

pub(in crate::arch) mod backend;
mod bytes;
mod convert;
mod families;
mod halves;
mod packed;
mod scaled;
mod simd;
mod table;
#[cfg(test)]
mod tests;
mod wide;
mod words;

#[cfg(all(test, miri))]
pub(super) use table::TABLES;

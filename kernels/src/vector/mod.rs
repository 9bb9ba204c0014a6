//! Floor 4: the algorithms, over the operations of a token; no file here knows an instruction set.

pub(crate) mod bf16;
mod blocks;
pub(crate) mod casts;
pub(crate) mod kernel;
#[cfg(any(lane_tiers, all(test, target_endian = "little")))]
#[cfg_attr(
    x86_tiers,
    allow(dead_code, reason = "sources of a byte and small floats have kernels of their own there")
)]
pub(crate) mod lanes;
pub(crate) mod loss;
pub mod machine;
pub(crate) mod moves;
pub(crate) mod non_temporal;
pub(crate) mod opaque;
pub(crate) mod pairs;
#[cfg(all(test, target_endian = "little"))]
pub(crate) mod portable;
pub(crate) mod scaled;
pub(crate) mod short;
mod simd;
pub(crate) mod small;
pub(crate) mod style;
pub(crate) mod table;
mod work;

pub(crate) use bf16::bf16;
pub(crate) use blocks::{Blocks, Casts};
pub(crate) use casts::{
    Families, Loaded, common, covers, in_mode, rounded, rounds, run, small_in_mode, to_bytes,
};
pub(crate) use short::{bytes, padded_bits};
pub(crate) use simd::{Simd, each};
pub use work::Work;

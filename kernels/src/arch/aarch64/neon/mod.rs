//! The tier `neon`: it uses the kernels of [`vector::lanes`](crate::vector::lanes), and its own kernels for float16 in lanes of 16 bits
//! ([`halves`]). The encoders of small floats and the scaled casts come from `vector`.

pub(in crate::arch) mod backend;
mod env;
mod halves;
mod ops;
mod pairs;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;

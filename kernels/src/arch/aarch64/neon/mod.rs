//! The tier `neon`: the kernels of [`vector::lanes`](crate::vector::lanes), and those of float16 in lanes of its own width
//! ([`halves`]). Encoders of the small floats are those of `vector`, and so are casts that scale.

pub(in crate::arch) mod backend;
mod env;
mod halves;
mod ops;
mod pairs;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;

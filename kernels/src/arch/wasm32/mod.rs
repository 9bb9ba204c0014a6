//! The tier of WebAssembly, for programs that are compiled with its vectors (`-C target-feature=+simd128`). There is nothing to detect: an
//! engine rejects a module whose instructions it lacks.

pub(in crate::arch) mod backend;
mod floats;
mod moves;
mod ops;
mod packing;
mod pairs;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;

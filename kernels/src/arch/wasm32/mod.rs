//! The tier of WebAssembly, for programs that are compiled with its vectors (`-C target-feature=+simd128`): engines do not run modules
//! that have instructions which they lack, so there is nothing to detect.

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

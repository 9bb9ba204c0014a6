//! Scaled casts: blocks of elements that share a scale, as 8- and 4-bit floats and integers are used.
//!
//! *Law.* A code is the one nearest to the exact quotient of the element by the *stored* scale, rounded once, ties to even; so it is
//! the best one for what a reader will multiply by. Schemes that reproduce the bits of another library state its arithmetic
//! ([`Quotient`]). Finite elements never give a NaN. The specification is `docs/scaled.md`.
//!
//! *The source.* [`ScaledPlan`] is the face of `resolved`: a [`Scheme`] (`scheme`) for a tensor of one shape (`blocks`, `parts`), with the kernels
//! of its plain casts (`kernels`). `rule` and `scale_code` make scales; `quantize` casts elements to codes and `dequantize` codes to values.
//! `elements` and `quantized` match operands with a plan, and `team` runs the parts of a cast.

mod blocks;
mod codes;
mod dequantize;
mod elements;
mod error;
mod kernels;
mod packing;
mod parts;
mod plan;
mod quantize;
mod quantized;
mod report;
mod resolved;
mod rule;
mod scale_code;
mod scheme;
mod team;
#[cfg(test)]
mod tests;

pub use error::ScaledError;
pub use plan::ScaledPlan;
pub use quantize::amax::Amax;
pub use quantized::{Buffer, BufferMut, Quantized};
pub use report::Report;
pub use scheme::{Empty, Global, Granularity, NonFinite, Pow2, Quotient, ScaleRule, ScaleType, Scheme};

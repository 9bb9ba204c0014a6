//! Scaled casts: blocks of elements that share a scale, as 8- and 4-bit floats and integers are used.
//!
//! *Law.* A code is the one nearest to the exact quotient of the element by the *stored* scale, rounded once, ties to even; so it is
//! the best one for what a reader will multiply by. Schemes that reproduce the bits of another library state its arithmetic
//! ([`Quotient`]). Finite elements never give a NaN. The specification is `docs/scaled.md`.

mod amax;
mod blocks;
mod cast;
mod casts;
mod decode;
mod error;
mod exact_sum;
mod factors;
mod global;
mod min_max;
mod packing;
#[cfg(feature = "rayon")]
mod par;
mod parts;
mod plan;
mod report;
mod requantize;
mod rule;
mod scales;
mod scheme;
mod split;
mod uninit;
mod values;
mod view;

pub use amax::{Amax, amax};
pub use error::ScaledError;
pub use plan::ScaledPlan;
pub use report::Report;
pub use requantize::{Quantized, requantize};
pub use rule::{Pow2, ScaleRule};
pub use scheme::{Empty, Global, Granularity, NonFinite, Quotient, ScaleType, Scheme};
pub use uninit::Written;

//! `QuantizeLinear`, `DequantizeLinear` and `DynamicQuantizeLinear`.
//!
//! *Law.* `docs/scaled.md`, section "ONNX": the quotient is rounded to a precision before it becomes an element, as ONNX specifies, so
//! these operators round twice where a `Scheme` of this crate rounds once.
//!
//! *Method.* Chunks of elements go through memory of the stack: a plan decodes them to `float32` (`float64` where the precision
//! requires it), one loop divides or multiplies, and another plan encodes them. The scales of a chunk are laid out beside its
//! elements, one for each, so that the loop is the same for every granularity. `float32` to integers of 8 bits and back needs no such
//! memory (`int8`).

mod attributes;
mod dequantize;
mod dynamic;
mod int8;
mod layout;
mod node;
mod operand;
mod quantize;

pub use attributes::LinearAttributes;
pub use dequantize::DequantizeLinear;
pub use dynamic::{DynamicQuantizeLinear, DynamicScale};
pub use operand::Tensor;
pub use quantize::QuantizeLinear;

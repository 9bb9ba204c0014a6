//! The operators `Cast`, `CastLike`, `QuantizeLinear`, `DequantizeLinear` and `DynamicQuantizeLinear` of ONNX in every version, and
//! the tensors of its files.
//!
//! *Law.* A type or attribute that a version of an operator does not have is refused, and the error names the version that has
//! it. Everything else is cast as the newest version specifies, since later versions only made the text clearer. So a version
//! decides *whether* there is a cast, and [`CastOptions::ONNX`](crate::CastOptions::ONNX) with the attributes of the node decides
//! its result, in the same way for all versions ([`semantics`](crate::semantics), section 10). Where versions specify different
//! results, [`Cast::with_options`] selects the older one.
//!
//! *Method.* [`Cast`] is a node, made from the opset of its graph. It is resolved to a plan once and run often, on the bytes of
//! `TensorProto.raw_data`, or on text through [`text`](crate::text). [`Payload`] reads the value of a `TensorProto` from whichever
//! field holds it, and [`TypedData`] writes it.
//!
//! [`QuantizeLinear`], [`DequantizeLinear`] and [`DynamicQuantizeLinear`] divide by scales and multiply with them, in the arithmetic
//! that `docs/scaled.md` specifies. A node is made from the dtypes and attributes, and runs on tensors of any shape.
//!
//! `BitCast` does not cast values and is not included.

mod attributes;
mod cast;
mod element;
mod error;
mod operator;
mod quantization;
mod tensor;
mod version;

pub use attributes::{AttributeValue, Attributes};
pub use cast::{Cast, CastOutput};
pub use element::ElementType;
pub use error::OnnxError;
pub use operator::{Operator, Port};
pub use quantization::{
    DequantizeLinear, DynamicQuantizeLinear, DynamicScale, LinearAttributes, QuantizeLinear, Tensor,
};
pub use tensor::{Contents, DataField, Payload, TensorError, TypedData, elements};

//! The operators `Cast` and `CastLike` of ONNX in every version, and the tensors of its files.
//!
//! *Law.* What a version of an operator does not have is refused, with the version that has it; what it has is cast by the
//! newest reading of its text, since later versions only made that clearer. So a version decides *whether* there is a cast, and
//! [`CastOptions::ONNX`](crate::CastOptions::ONNX) with the attributes of the node decides what it returns, in all versions
//! alike ([`semantics`](crate::semantics), section 10). Where versions differ in what they say of a value,
//! [`Cast::with_options`] reaches the older reading.
//!
//! *Method.* [`Cast`] is a node, made from the opset of its graph, resolved to a plan once and run often on the bytes of
//! `TensorProto.raw_data`, and on text by way of [`text`](crate::text). [`Payload`] reads the value of a `TensorProto` from whichever field holds it, [`TypedData`] writes it.
//!
//! `BitCast` casts nothing and is not here.

mod attributes;
mod cast;
mod element;
mod error;
mod tensor;
mod version;

pub use attributes::{AttributeValue, Attributes};
pub use cast::{Cast, Value};
pub use element::ElementType;
pub use error::{Error, Side};
pub use tensor::{Contents, Field, Payload, TensorError, TypedData, elements};
pub use version::Operator;

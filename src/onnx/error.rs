//! Why ONNX does not have a node, or why it failed.

use super::{
    element::ElementType,
    operator::{Operator, Port},
};
use crate::{error::CastError, text::TextError};
use alloc::{string::String, vec::Vec};
use core::fmt;
use lanecast_kernels::DType;

/// Why a node was refused. Nothing is written then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OnnxError {
    /// No version of the operator is in force in this opset.
    NoSuchOpset {
        /// The operator.
        operator: Operator,
        /// The opset.
        opset: u32,
    },
    /// The version does not take this type.
    Type {
        /// The operator.
        operator: Operator,
        /// Its version.
        version: u32,
        /// The port that has the type.
        port: Port,
        /// The type.
        element: ElementType,
        /// The first version that takes it, if there is one.
        since: Option<u32>,
    },
    /// No type has this number in `TensorProto.DataType`.
    UnknownCode(i64),
    /// No type has this name in `TensorProto.DataType`.
    UnknownName(String),
    /// The version does not have this attribute.
    NoAttribute {
        /// The operator.
        operator: Operator,
        /// Its version.
        version: u32,
        /// The attribute.
        name: String,
        /// The first version that has it, if there is one.
        since: Option<u32>,
    },
    /// The attribute cannot have this value in this version.
    AttributeValue {
        /// The attribute.
        name: &'static str,
        /// The values that it may have.
        expected: &'static str,
    },
    /// An attribute is given twice.
    Twice(&'static str),
    /// The attribute `to` is missing.
    MissingTo,
    /// Numbers were given to a cast of text, or text to a cast of numbers, or numbers of another type.
    OtherKind {
        /// The type of the input.
        from: ElementType,
        /// The type of the output.
        to: ElementType,
    },
    /// An element of a tensor of strings is not UTF-8, as ONNX requires.
    NotUtf8 {
        /// Its index.
        index: usize,
    },
    /// In this version the scale has the dtype of the input.
    ScaleType {
        /// The operator.
        operator: Operator,
        /// Its version.
        version: u32,
        /// The dtype of the input.
        input: DType,
        /// The dtype of the scale.
        scale: DType,
        /// The first version in which they can differ like this.
        since: u32,
    },
    /// The zero point does not have the dtype of the quantized elements.
    ZeroPointType {
        /// The dtype of the quantized elements.
        want: DType,
        /// The dtype of the zero point.
        have: DType,
    },
    /// A zero point is given to a node that was made without one, or is not given to one that was made with it.
    ZeroPoint {
        /// Whether the node has one.
        expected: bool,
    },
    /// A zero point is not 0, as it has to be for this dtype.
    NotZero {
        /// The dtype.
        dtype: DType,
        /// The index of the zero point.
        index: usize,
    },
    /// The attribute `axis` names no axis of the input.
    Axis {
        /// The attribute.
        axis: i64,
        /// How many axes the input has.
        axes: usize,
    },
    /// A shape does not fit.
    Shape {
        /// The tensor that has it.
        which: &'static str,
        /// The shape.
        have: Vec<usize>,
        /// The shape that fits.
        want: Vec<usize>,
        /// Which rule wants it, and how to change that.
        rule: &'static str,
    },
    /// A shape has more elements than memory could hold.
    TooLarge(Vec<usize>),
    /// The bytes of a tensor are not as many as its shape needs.
    Length {
        /// The tensor.
        which: &'static str,
        /// The bytes that its shape needs.
        need: usize,
        /// The bytes that it has.
        have: usize,
    },
    /// A text was refused.
    Text(TextError),
    /// The cast itself was refused.
    Cast(CastError),
}

impl fmt::Display for OnnxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OnnxError::NoSuchOpset { operator, opset: 0 } => {
                write!(f, "opset 0 does not exist; {operator} begins with opset {}", operator.versions()[0])
            }
            OnnxError::NoSuchOpset { operator, opset } => {
                write!(
                    f,
                    "opset {opset} has no {operator}, which begins with opset {}",
                    operator.versions()[0]
                )
            }
            OnnxError::Type { operator, version, port, element, since } => {
                let (verb, role) = match port {
                    Port::Input => ("take", ""),
                    Port::Scale => ("take", " as a scale"),
                    Port::Output => ("give", ""),
                };
                write!(f, "{operator}-{version} does not {verb} {element}{role}; ")?;
                match since {
                    Some(since) => write!(f, "opset {since} is the first that does"),
                    None => write!(f, "no version of {operator} does"),
                }
            }
            OnnxError::UnknownCode(code) => write!(f, "{code} is no number of a TensorProto.DataType"),
            OnnxError::UnknownName(name) => write!(f, "{name:?} is no name of a TensorProto.DataType"),
            OnnxError::NoAttribute { operator, version, name, since } => {
                write!(f, "{operator}-{version} has no attribute {name:?}")?;
                match since {
                    Some(since) => write!(f, "; opset {since} is the first that has it"),
                    None => Ok(()),
                }
            }
            OnnxError::AttributeValue { name, expected } => {
                write!(f, "the attribute {name} has to be {expected}")
            }
            OnnxError::Twice(name) => write!(f, "the attribute {name} is given twice"),
            OnnxError::MissingTo => f.write_str("Cast needs the attribute to"),
            OnnxError::OtherKind { from, to } => {
                let text = ElementType::String;
                let method = match (*from == text, *to == text) {
                    (false, false) => "run",
                    (false, true) => "format",
                    (true, false) => "parse",
                    (true, true) => "apply",
                };
                write!(f, "the cast is from {from} to {to}, which is for the method {method}")
            }
            OnnxError::NotUtf8 { index } => {
                write!(f, "element {index} of the input is not UTF-8, as strings of ONNX have to be")
            }
            OnnxError::ScaleType { operator, version, input, scale, since } => write!(
                f,
                "the scale of {operator}-{version} has the dtype of its input, which is {input}, but is {scale}; \
                 opset {since} is the first where they may differ so"
            ),
            OnnxError::ZeroPointType { want, have } => {
                write!(f, "the zero point is {have} but the quantized elements are {want}: make them equal")
            }
            OnnxError::ZeroPoint { expected: true } => {
                f.write_str("the node has a zero point, which is missing here; give its tensor")
            }
            OnnxError::ZeroPoint { expected: false } => f.write_str(
                "the node was made without a zero point; make it with the dtype of the zero point",
            ),
            OnnxError::NotZero { dtype, index } => {
                write!(
                    f,
                    "zero point {index} is not 0, as it has to be for {dtype}; leave the zero point out"
                )
            }
            OnnxError::Axis { axis, axes: 0 } => {
                write!(f, "the attribute axis is {axis}, but the input is a scalar: give one scale")
            }
            OnnxError::Axis { axis, axes } => write!(
                f,
                "the attribute axis is {axis}, but the input has {axes} axes: from -{axes} to {} are possible",
                axes - 1
            ),
            OnnxError::Shape { which, have, want, rule } => {
                write!(f, "the {which} has the shape {have:?} but needs {want:?}: {rule}")
            }
            OnnxError::TooLarge(shape) => write!(f, "a tensor of shape {shape:?} is larger than memory"),
            OnnxError::Length { which, need, have } => {
                write!(f, "the {which} has {have} bytes, but its shape and dtype need {need}")
            }
            OnnxError::Text(error) => error.fmt(f),
            OnnxError::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for OnnxError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            OnnxError::Cast(error) => Some(error),
            OnnxError::Text(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CastError> for OnnxError {
    fn from(error: CastError) -> Self {
        OnnxError::Cast(error)
    }
}

impl From<TextError> for OnnxError {
    fn from(error: TextError) -> Self {
        match error {
            TextError::Cast(error) => OnnxError::Cast(error),
            error => OnnxError::Text(error),
        }
    }
}

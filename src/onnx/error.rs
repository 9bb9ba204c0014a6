//! Why ONNX does not have a cast, or why a cast failed.

use super::{ElementType, Operator};
use crate::{CastError, text::TextError};
use alloc::string::String;
use core::fmt;

/// The input or the output of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The input.
    Input,
    /// The output.
    Output,
}

/// Why a cast was refused. Nothing is written then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
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
        /// The side that has the type.
        side: Side,
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
    /// A text was refused.
    Text(TextError),
    /// The cast itself was refused.
    Cast(CastError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoSuchOpset { operator, opset: 0 } => {
                write!(f, "opset 0 does not exist; {operator} begins with opset {}", operator.versions()[0])
            }
            Error::NoSuchOpset { operator, opset } => {
                write!(
                    f,
                    "opset {opset} has no {operator}, which begins with opset {}",
                    operator.versions()[0]
                )
            }
            Error::Type { operator, version, side, element, since } => {
                let verb = match side {
                    Side::Input => "take",
                    Side::Output => "give",
                };
                write!(f, "{operator}-{version} does not {verb} {element}; ")?;
                match since {
                    Some(since) => write!(f, "opset {since} is the first that does"),
                    None => write!(f, "no version of {operator} does"),
                }
            }
            Error::UnknownCode(code) => write!(f, "{code} is no number of a TensorProto.DataType"),
            Error::UnknownName(name) => write!(f, "{name:?} is no name of a TensorProto.DataType"),
            Error::NoAttribute { operator, version, name, since } => {
                write!(f, "{operator}-{version} has no attribute {name:?}")?;
                match since {
                    Some(since) => write!(f, "; opset {since} is the first that has it"),
                    None => Ok(()),
                }
            }
            Error::AttributeValue { name, expected } => {
                write!(f, "the attribute {name} has to be {expected}")
            }
            Error::Twice(name) => write!(f, "the attribute {name} is given twice"),
            Error::MissingTo => f.write_str("Cast needs the attribute to"),
            Error::OtherKind { from, to } => {
                let text = ElementType::String;
                let method = match (*from == text, *to == text) {
                    (false, false) => "run",
                    (false, true) => "format",
                    (true, false) => "parse",
                    (true, true) => "apply",
                };
                write!(f, "the cast is from {from} to {to}, which is for the method {method}")
            }
            Error::NotUtf8 { index } => {
                write!(f, "element {index} of the input is not UTF-8, as strings of ONNX have to be")
            }
            Error::Text(error) => error.fmt(f),
            Error::Cast(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Error::Cast(error) => Some(error),
            Error::Text(error) => Some(error),
            _ => None,
        }
    }
}

impl From<CastError> for Error {
    fn from(error: CastError) -> Self {
        Error::Cast(error)
    }
}

impl From<TextError> for Error {
    fn from(error: TextError) -> Self {
        match error {
            TextError::Cast(error) => Error::Cast(error),
            error => Error::Text(error),
        }
    }
}

//! The types of ONNX tensors.

use crate::names::Namespace;
use core::fmt;
use lanecast_kernels::DType;

/// The type of the elements of an ONNX tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A number or a bool. ONNX does not have all dtypes: see [`code`](Self::code).
    Number(DType),
    /// `STRING`: text in UTF-8.
    String,
}

/// `TensorProto.STRING`.
const STRING: i32 = 8;

impl ElementType {
    /// The number in `TensorProto.DataType`; `None` for dtypes that ONNX does not have.
    ///
    /// ```
    /// use lanecast::{DType, onnx::ElementType};
    /// assert_eq!(ElementType::Number(DType::BFloat16).code(), Some(16));
    /// assert_eq!(ElementType::String.code(), Some(8));
    /// assert_eq!(ElementType::Number(DType::Float8E3M4).code(), None);
    /// ```
    pub const fn code(self) -> Option<i32> {
        match self {
            ElementType::String => Some(STRING),
            ElementType::Number(dtype) => match dtype.onnx() {
                Some(number) => Some(number as i32),
                None => None,
            },
        }
    }

    /// The type with this number in `TensorProto.DataType`.
    pub fn from_code(code: i32) -> Option<Self> {
        match code {
            STRING => Some(ElementType::String),
            _ => u8::try_from(code).ok().and_then(DType::from_onnx).map(ElementType::Number),
        }
    }

    /// The name in `TensorProto.DataType`, `"FLOAT8E4M3FN"`; `None` for dtypes that ONNX does not have.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            ElementType::String => Some("STRING"),
            ElementType::Number(dtype) => Namespace::Onnx.name(dtype),
        }
    }

    /// The type with this name in `TensorProto.DataType`, as used by the attribute `to` of `Cast` in version 1.
    ///
    /// ```
    /// use lanecast::{DType, onnx::ElementType};
    /// assert_eq!(ElementType::from_name("FLOAT"), Some(DType::Float32.into()));
    /// assert_eq!(ElementType::from_name("float"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "STRING" => Some(ElementType::String),
            _ => Namespace::Onnx.parse(name).ok().map(ElementType::Number),
        }
    }

    /// The dtype, if it is not text.
    pub const fn dtype(self) -> Option<DType> {
        match self {
            ElementType::Number(dtype) => Some(dtype),
            ElementType::String => None,
        }
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        ElementType::Number(dtype)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Number(dtype) => dtype.fmt(f),
            ElementType::String => f.write_str("string"),
        }
    }
}

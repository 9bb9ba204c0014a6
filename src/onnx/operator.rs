//! Which types and attributes each version of the operators has.
//!
//! *Law.* A later version takes all types of an earlier one. So one number per type and port is enough: the first version that has
//! it. `Cast` takes the same types on both sides, and `CastLike` follows `Cast`, with its own version numbers.

use super::element::ElementType;
use core::fmt;
use lanecast_kernels::DType;

/// An input or the output of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Port {
    /// The input.
    Input,
    /// The scale of `QuantizeLinear` and `DequantizeLinear`.
    Scale,
    /// The output.
    Output,
}

/// An operator of the default domain of ONNX that casts or quantizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operator {
    /// `Cast`: the target is the attribute `to`.
    Cast,
    /// `CastLike`: the target is the type of the second input.
    CastLike,
    /// `QuantizeLinear`: the input divided by a scale, plus a zero point.
    QuantizeLinear,
    /// `DequantizeLinear`: the input minus a zero point, times a scale.
    DequantizeLinear,
    /// `DynamicQuantizeLinear`: `QuantizeLinear` with the scale and the zero point that the range of the input gives.
    DynamicQuantizeLinear,
}

impl Operator {
    /// The versions, by the opset that each came with.
    pub const fn versions(self) -> &'static [u32] {
        match self {
            Operator::Cast => &[1, 6, 9, 13, 19, 21, 23, 24, 25, 28],
            Operator::CastLike => &[15, 19, 21, 23, 24, 25],
            Operator::QuantizeLinear | Operator::DequantizeLinear => &[10, 13, 19, 21, 23, 24, 25, 28],
            Operator::DynamicQuantizeLinear => &[11],
        }
    }

    /// The first version that takes a type, on any port; `None` if none does.
    ///
    /// ```
    /// use lanecast::{DType, onnx::Operator};
    /// assert_eq!(Operator::Cast.since(DType::Float8E5M2), Some(19));
    /// assert_eq!(Operator::Cast.since(DType::Complex64), None);
    /// ```
    pub fn since(self, element: impl Into<ElementType>) -> Option<u32> {
        let element = element.into();
        [Port::Input, Port::Scale, Port::Output]
            .into_iter()
            .filter_map(|port| self.since_on(port, element))
            .min()
    }

    /// The first version that takes a type on this port; `None` if none does. Casts have no scale.
    ///
    /// ```
    /// use lanecast::{DType, onnx::{Operator, Port}};
    /// assert_eq!(Operator::QuantizeLinear.since_on(Port::Scale, DType::Float8E8M0FNU), Some(24));
    /// assert_eq!(Operator::QuantizeLinear.since_on(Port::Output, DType::Float32), None);
    /// ```
    pub fn since_on(self, port: Port, element: impl Into<ElementType>) -> Option<u32> {
        let first = match (self, element.into(), port) {
            (Operator::Cast | Operator::CastLike, _, Port::Scale) => None,
            (Operator::Cast | Operator::CastLike, element, _) => first_cast(element),
            (_, ElementType::String, _) => None,
            (Operator::QuantizeLinear, ElementType::Number(dtype), port) => first_quantize(port, dtype),
            (Operator::DequantizeLinear, ElementType::Number(dtype), port) => first_dequantize(port, dtype),
            (Operator::DynamicQuantizeLinear, ElementType::Number(dtype), port) => match (port, dtype) {
                (Port::Input, DType::Float32) | (Port::Output, DType::UInt8) => Some(11),
                _ => None,
            },
        }?;
        self.versions().iter().copied().find(|version| *version >= first)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Cast => "Cast",
            Operator::CastLike => "CastLike",
            Operator::QuantizeLinear => "QuantizeLinear",
            Operator::DequantizeLinear => "DequantizeLinear",
            Operator::DynamicQuantizeLinear => "DynamicQuantizeLinear",
        })
    }
}

/// The first version of `Cast` with a type.
const fn first_cast(element: ElementType) -> Option<u32> {
    let ElementType::Number(dtype) = element else { return Some(9) };
    match dtype {
        DType::Bool
        | DType::Int8
        | DType::Int16
        | DType::Int32
        | DType::Int64
        | DType::UInt8
        | DType::UInt16
        | DType::UInt32
        | DType::UInt64
        | DType::Float16
        | DType::Float32
        | DType::Float64 => Some(1),
        DType::BFloat16 => Some(13),
        DType::Float8E4M3FN | DType::Float8E4M3FNUZ | DType::Float8E5M2 | DType::Float8E5M2FNUZ => Some(19),
        DType::Int4 | DType::UInt4 => Some(21),
        DType::Float4E2M1FN => Some(23),
        DType::Float8E8M0FNU => Some(24),
        DType::Int2 | DType::UInt2 => Some(25),
        DType::Float6E2M3FN | DType::Float6E3M2FN => Some(28),
        // ONNX has complex tensors, but no version of Cast takes them; it has no float8_e3m4, float8_e4m3 or float8_e4m3b11fnuz.
        _ => None,
    }
}

/// The first version of `QuantizeLinear` with a dtype on a port.
const fn first_quantize(port: Port, dtype: DType) -> Option<u32> {
    match (port, dtype) {
        (Port::Input, DType::Float32 | DType::Int32) | (Port::Scale, DType::Float32) => Some(10),
        (Port::Input, DType::Float16 | DType::BFloat16) => Some(19),
        (Port::Scale, DType::Float16 | DType::BFloat16 | DType::Int32) => Some(19),
        (Port::Scale, DType::Float8E8M0FNU) => Some(24),
        (Port::Output, dtype) => first_quantized(dtype),
        _ => None,
    }
}

/// The first version of `DequantizeLinear` with a dtype on a port.
const fn first_dequantize(port: Port, dtype: DType) -> Option<u32> {
    match (port, dtype) {
        (Port::Input, DType::Int32) => Some(10),
        (Port::Input, dtype) => first_quantized(dtype),
        (Port::Scale | Port::Output, DType::Float32) => Some(10),
        (Port::Scale | Port::Output, DType::Float16 | DType::BFloat16) => Some(19),
        (Port::Scale, DType::Float8E8M0FNU) => Some(24),
        _ => None,
    }
}

/// The first version of both with a dtype of quantized elements.
const fn first_quantized(dtype: DType) -> Option<u32> {
    match dtype {
        DType::Int8 | DType::UInt8 => Some(10),
        DType::Float8E4M3FN | DType::Float8E4M3FNUZ | DType::Float8E5M2 | DType::Float8E5M2FNUZ => Some(19),
        DType::Int16 | DType::UInt16 | DType::Int4 | DType::UInt4 => Some(21),
        DType::Float4E2M1FN => Some(23),
        DType::Int2 | DType::UInt2 => Some(25),
        DType::Float6E2M3FN | DType::Float6E3M2FN => Some(28),
        _ => None,
    }
}

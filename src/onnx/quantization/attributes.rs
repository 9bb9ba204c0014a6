//! The attributes of `QuantizeLinear` and `DequantizeLinear`.

use crate::onnx::{
    attributes::{AttributeValue, flag, put},
    element::ElementType,
    error::OnnxError,
    operator::Operator,
};
use lanecast_kernels::DType;

/// The attributes of a node `QuantizeLinear` or `DequantizeLinear`; `None` means that the node does not have the attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LinearAttributes {
    /// `axis`, from version 13 on: the axis along which scales differ, from the back if it is negative; 1 if it is not given. A
    /// single scale makes it irrelevant.
    pub axis: Option<i64>,
    /// `block_size`, from version 21 on: how many elements along the axis share a scale; 0, as if it is not given, means that there
    /// are no blocks.
    pub block_size: Option<usize>,
    /// `output_dtype`, from version 21 on (`DequantizeLinear`: 23).
    ///
    /// If it is not given, `QuantizeLinear` returns elements of the dtype of the zero point, or `uint8` without one;
    /// `DequantizeLinear` returns elements of the dtype of the scale.
    pub output_dtype: Option<DType>,
    /// `precision` of `QuantizeLinear`, from version 23 on: the dtype in which the input is divided, one of `float16`, `bfloat16`,
    /// `float32` and `float64`. If it is not given, the scale's dtype is used.
    pub precision: Option<DType>,
    /// `saturate` of `QuantizeLinear`, from version 19 on: whether 8-bit floats saturate; true if it is not given.
    pub saturate: Option<bool>,
}

impl LinearAttributes {
    /// No attribute: each has its default.
    pub const NONE: Self =
        Self { axis: None, block_size: None, output_dtype: None, precision: None, saturate: None };

    /// These attributes with [`axis`](Self::axis).
    #[must_use]
    pub const fn with_axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// These attributes with [`block_size`](Self::block_size).
    #[must_use]
    pub const fn with_block_size(mut self, block_size: usize) -> Self {
        self.block_size = Some(block_size);
        self
    }

    /// These attributes with [`output_dtype`](Self::output_dtype).
    #[must_use]
    pub const fn with_output_dtype(mut self, output_dtype: DType) -> Self {
        self.output_dtype = Some(output_dtype);
        self
    }

    /// These attributes with [`precision`](Self::precision).
    #[must_use]
    pub const fn with_precision(mut self, precision: DType) -> Self {
        self.precision = Some(precision);
        self
    }

    /// These attributes with [`saturate`](Self::saturate).
    #[must_use]
    pub const fn with_saturate(mut self, saturate: bool) -> Self {
        self.saturate = Some(saturate);
        self
    }

    /// Refuses attributes that the version does not have, and a `precision` in which nothing can be divided.
    pub(super) fn check(&self, operator: Operator, version: u32) -> Result<(), OnnxError> {
        let given = [
            ("axis", self.axis.is_some()),
            ("block_size", self.block_size.is_some()),
            ("output_dtype", self.output_dtype.is_some()),
            ("precision", self.precision.is_some()),
            ("saturate", self.saturate.is_some()),
        ];
        for (name, _) in given.into_iter().filter(|(_, given)| *given) {
            let since = since(operator, name);
            if since.is_none_or(|since| version < since) {
                return Err(OnnxError::NoAttribute { operator, version, name: name.into(), since });
            }
        }
        match self.precision {
            None | Some(DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) => Ok(()),
            Some(_) => Err(OnnxError::AttributeValue {
                name: "precision",
                expected: "FLOAT (1), FLOAT16 (10), DOUBLE (11) or BFLOAT16 (16)",
            }),
        }
    }

    /// Reads the attributes of a node.
    pub(super) fn read(
        operator: Operator,
        version: u32,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, OnnxError> {
        let mut read = Self::NONE;
        let (mut output_dtype, mut precision) = (None, None);
        for (name, value) in attributes {
            match (since(operator, name), *name) {
                (Some(_), "axis") => put(&mut read.axis, "axis", axis(*value)?)?,
                (Some(_), "block_size") => put(&mut read.block_size, "block_size", block_size(*value)?)?,
                (Some(_), "output_dtype") => {
                    put(&mut output_dtype, "output_dtype", dtype("output_dtype", *value)?)?;
                }
                (Some(_), "precision") => put(&mut precision, "precision", dtype("precision", *value)?)?,
                (Some(_), "saturate") => put(&mut read.saturate, "saturate", flag(*value)?)?,
                _ => {
                    return Err(OnnxError::NoAttribute {
                        operator,
                        version,
                        name: (*name).into(),
                        since: None,
                    });
                }
            }
        }
        // UNDEFINED stands for an attribute that is not given, but a version that lacks the attribute has not even that.
        for (name, given) in [("output_dtype", output_dtype.is_some()), ("precision", precision.is_some())] {
            let since = since(operator, name);
            if given && since.is_some_and(|since| version < since) {
                return Err(OnnxError::NoAttribute { operator, version, name: name.into(), since });
            }
        }
        (read.output_dtype, read.precision) = (output_dtype.flatten(), precision.flatten());
        read.check(operator, version)?;
        Ok(read)
    }
}

/// The first version of an operator that has an attribute; `None` if none has.
fn since(operator: Operator, name: &str) -> Option<u32> {
    match (operator, name) {
        (Operator::QuantizeLinear | Operator::DequantizeLinear, "axis") => Some(13),
        (Operator::QuantizeLinear | Operator::DequantizeLinear, "block_size") => Some(21),
        (Operator::QuantizeLinear, "saturate") => Some(Operator::SATURATE),
        (Operator::QuantizeLinear, "output_dtype") => Some(21),
        (Operator::DequantizeLinear, "output_dtype") => Some(23),
        (Operator::QuantizeLinear, "precision") => Some(23),
        _ => None,
    }
}

fn axis(value: AttributeValue<'_>) -> Result<i64, OnnxError> {
    match value {
        AttributeValue::Int(axis) => Ok(axis),
        _ => Err(OnnxError::AttributeValue {
            name: "axis",
            expected: "an int, the index of an axis of the input",
        }),
    }
}

fn block_size(value: AttributeValue<'_>) -> Result<usize, OnnxError> {
    let size = match value {
        AttributeValue::Int(size) => usize::try_from(size).ok(),
        _ => None,
    };
    size.ok_or(OnnxError::AttributeValue {
        name: "block_size",
        expected: "an int from 0 on, where 0 is no blocks",
    })
}

/// A dtype by its number; `None` for `UNDEFINED`.
fn dtype(name: &'static str, value: AttributeValue<'_>) -> Result<Option<DType>, OnnxError> {
    let expected = "an int, the number of a TensorProto.DataType of numbers, or 0 for the default";
    let wrong = OnnxError::AttributeValue { name, expected };
    match value {
        AttributeValue::Int(0) => Ok(None),
        AttributeValue::Int(code) => {
            let element = i32::try_from(code).ok().and_then(ElementType::from_code);
            element.ok_or(OnnxError::UnknownCode(code))?.dtype().ok_or(wrong).map(Some)
        }
        _ => Err(wrong),
    }
}

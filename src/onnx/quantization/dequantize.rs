//! [`DequantizeLinear`]: a node that is checked once and run often.

use super::{
    attributes::LinearAttributes,
    node::{self, Call, Inputs, Node},
    operand::{Real, Tensor, raw},
};
use crate::{
    onnx::{
        attributes::AttributeValue,
        error::OnnxError,
        operator::{Operator, Port},
    },
    options::CastOptions,
    plan::CastPlan,
};
use lanecast_kernels::{DType, in_default_environment};

/// A `DequantizeLinear` node, whose dtypes and attributes have been checked against its version.
///
/// ```
/// use lanecast::DType;
/// use lanecast::onnx::{DequantizeLinear, LinearAttributes, Tensor};
/// let node = DequantizeLinear::new(13, DType::UInt8, DType::Float32, Some(DType::UInt8), &LinearAttributes::NONE)?;
/// let (scale, zero_point) = (0.5_f32.to_le_bytes(), [128]);
/// let mut y = [0; 8];
/// node.run(Tensor::new(&[2], &[129, 120]), Tensor::scalar(&scale), Some(Tensor::scalar(&zero_point)), &mut y)?;
/// assert_eq!(y.as_chunks().0, &[0.5_f32.to_le_bytes(), (-4.0_f32).to_le_bytes()]);
/// # Ok::<(), lanecast::onnx::OnnxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DequantizeLinear {
    node: Node,
}

impl DequantizeLinear {
    /// A node in a graph of this opset, whose inputs have these dtypes.
    ///
    /// # Errors
    ///
    /// [`OnnxError::NoSuchOpset`] before opset 10; [`OnnxError::Type`] and [`OnnxError::NoAttribute`] for what the version in force does not
    /// have; [`OnnxError::ZeroPointType`] if the zero point has not the dtype of the input; [`OnnxError::AttributeValue`] if the scale is
    /// `float8_e8m0fnu` and `output_dtype` is not given; [`OnnxError::Cast`] as [`CastPlan::new`].
    pub fn new(
        opset: u32,
        x: DType,
        scale: DType,
        zero_point: Option<DType>,
        attributes: &LinearAttributes,
    ) -> Result<Self, OnnxError> {
        let operator = Operator::DequantizeLinear;
        let inputs = Inputs { x, scale, zero_point };
        let version = inputs.version_in(opset, operator, attributes)?;
        inputs.check_zero_point(x)?;
        if scale == DType::Float8E8M0FNU && attributes.output_dtype.is_none() {
            return Err(OnnxError::AttributeValue {
                name: "output_dtype",
                expected: "given, since the scale is float8_e8m0fnu: FLOAT (1), FLOAT16 (10) or BFLOAT16 (16)",
            });
        }
        let to = attributes.output_dtype.unwrap_or(scale);
        operator.check(version, Port::Output, to.into())?;
        let real = DType::Float32;
        let store = CastPlan::new(real, raw(to), &CastOptions::RUST)?;
        Ok(Self { node: Node::new(version, inputs, attributes, real, store)? })
    }

    node::define_methods!(DequantizeLinear);

    /// Dequantizes `x` and writes the elements to `y`, in the form of [`Tensor`]. Shapes are as in
    /// [`QuantizeLinear::run`](super::QuantizeLinear::run).
    ///
    /// # Errors
    ///
    /// As [`QuantizeLinear::run`](super::QuantizeLinear::run); [`OnnxError::NotZero`] for a zero point of `int32` or 8-bit floats that is
    /// not 0. Nothing is written then.
    pub fn run(
        &self,
        x: Tensor<'_>,
        scale: Tensor<'_>,
        zero_point: Option<Tensor<'_>>,
        y: &mut [u8],
    ) -> Result<(), OnnxError> {
        in_default_environment(Self::run_guarded, self, &mut Call { x, scale, zero_point, y })
    }

    /// [`run`](Self::run), in the default floating-point environment.
    fn run_guarded(&self, call: &mut Call<'_>) -> Result<(), OnnxError> {
        self.node.run::<f32>(call, |chunk| {
            if chunk.shifted {
                f32::subtract(chunk.x, chunk.zero_points);
            }
            f32::multiply(chunk.x, chunk.scales);
            Ok(())
        })
    }
}

//! [`QuantizeLinear`]: a node that is checked once and run often.

use super::{
    attributes::LinearAttributes,
    node::{self, Call, Inputs, Node},
    operand::{CHUNK, Real, Tensor, raw},
};
use crate::{
    error::CastError,
    onnx::{
        attributes::AttributeValue,
        error::OnnxError,
        operator::{Operator, Port},
    },
    options::{CastOptions, Saturate},
    plan::CastPlan,
};
use lanecast_kernels::{Bytes, BytesMut, DType, Kind, in_default_environment};

/// A `QuantizeLinear` node, whose dtypes and attributes have been checked against its version.
///
/// ```
/// use lanecast::DType;
/// use lanecast::onnx::{LinearAttributes, QuantizeLinear, Tensor};
/// // Two rows of four elements, in blocks of two.
/// let attributes = LinearAttributes::NONE.with_block_size(2).with_output_dtype(DType::Int4);
/// let node = QuantizeLinear::new(21, DType::Float32, DType::Float32, None, &attributes)?;
/// let bytes = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
/// let x = bytes(&[1.0, -2.0, 0.5, 0.25, 30.0, 70.0, -1.0, 0.0]);
/// let scale = bytes(&[1.0, 0.25, 10.0, 0.125]);
/// let mut y = [0; 4];
/// node.run(Tensor::new(&[2, 4], &x), Tensor::new(&[2, 2], &scale), None, &mut y)?;
/// assert_eq!(y, [0xE1, 0x12, 0x73, 0x08]); // 1 -2, 2 1, 3 7, -8 0
///
/// let error = QuantizeLinear::new(20, DType::Float32, DType::Float32, None, &attributes).unwrap_err();
/// let message = "QuantizeLinear-19 has no attribute \"block_size\"; opset 21 is the first that has it";
/// assert_eq!(error.to_string(), message);
/// # Ok::<(), lanecast::onnx::OnnxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct QuantizeLinear {
    node: Node,
    precision: DType,
    round: Option<Round>,
}

/// The rounding of a quotient to a precision narrower than `float32`.
type Round = (CastPlan, CastPlan);

impl QuantizeLinear {
    /// A node in a graph of this opset, whose inputs have these dtypes.
    ///
    /// # Errors
    ///
    /// [`OnnxError::NoSuchOpset`] before opset 10; [`OnnxError::Type`], [`OnnxError::ScaleType`] and [`OnnxError::NoAttribute`] for what the version
    /// in force does not have; [`OnnxError::ZeroPointType`] if the zero point has not the dtype of the output; [`OnnxError::AttributeValue`]
    /// for a `precision` that is not a float of at least 16 bits; [`OnnxError::Cast`] as [`CastPlan::new`].
    pub fn new(
        opset: u32,
        x: DType,
        scale: DType,
        zero_point: Option<DType>,
        attributes: &LinearAttributes,
    ) -> Result<Self, OnnxError> {
        let operator = Operator::QuantizeLinear;
        let inputs = Inputs { x, scale, zero_point };
        let version = inputs.version_in(opset, operator, attributes)?;
        // From 19 to 22 both inputs have one type.
        if (19..23).contains(&version) && scale != x {
            return Err(OnnxError::ScaleType { operator, version, input: x, scale, since: 23 });
        }
        let to = attributes.output_dtype.or(zero_point).unwrap_or(DType::UInt8);
        operator.check(version, Port::Output, to.into())?;
        inputs.check_zero_point(to)?;
        let precision = attributes.precision.unwrap_or(match scale {
            // These two are no precision of a quotient.
            DType::Int32 => DType::Float64,
            DType::Float8E8M0FNU => DType::Float32,
            scale => scale,
        });
        let real = if precision == DType::Float64 { DType::Float64 } else { DType::Float32 };
        let options = CastOptions::RUST;
        let saturate = if attributes.saturate.unwrap_or(true) { Saturate::On } else { Saturate::Off };
        let round = match precision == real {
            true => None,
            false => {
                Some((CastPlan::new(real, precision, &options)?, CastPlan::new(precision, real, &options)?))
            }
        };
        let store = CastPlan::new(real, raw(to), &options.with_saturate(saturate))?;
        Ok(Self { node: Node::new(version, inputs, attributes, precision, store)?, precision, round })
    }

    node::define_methods!(QuantizeLinear);

    /// The dtype in which the input is divided by the scale.
    pub const fn precision(&self) -> DType {
        self.precision
    }

    /// Quantizes `x` and writes the elements to `y`, in the form of [`Tensor`]; unused bits of the last byte become 0.
    ///
    /// The shape of the scale decides the granularity: a scalar, or one scale for each index of the axis, or with the attribute
    /// `block_size` the shape of `x` with as many scales along the axis as it has blocks. The zero point has the shape of the scale.
    ///
    /// # Errors
    ///
    /// [`OnnxError::Shape`], [`OnnxError::Axis`] and [`OnnxError::TooLarge`] if the shapes do not fit; [`OnnxError::Length`] if a buffer has not
    /// exactly the bytes of its shape; [`OnnxError::ZeroPoint`] if there is a zero point where the node has none, or none where it has
    /// one; [`OnnxError::NotZero`] for a zero point of 8-bit floats that is not 0. Nothing is written then.
    pub fn run(
        &self,
        x: Tensor<'_>,
        scale: Tensor<'_>,
        zero_point: Option<Tensor<'_>>,
        y: &mut [u8],
    ) -> Result<(), OnnxError> {
        let run = if self.precision == DType::Float64 { Self::run_as::<f64> } else { Self::run_as::<f32> };
        in_default_environment(run, self, &mut Call { x, scale, zero_point, y })
    }

    /// [`run`](Self::run), in the default floating-point environment.
    fn run_as<R: Real>(&self, call: &mut Call<'_>) -> Result<(), OnnxError> {
        let integers = self.node.to.kind() != Kind::Float;
        self.node.run::<R>(call, |chunk| {
            if integers && self.round.is_none() {
                R::divide_round_add(chunk.x, chunk.scales, chunk.zero_points);
                return Ok(());
            }
            R::divide(chunk.x, chunk.scales);
            self.round(chunk.x)?;
            if integers {
                R::round_and_add(chunk.x, chunk.zero_points);
            } else if chunk.shifted {
                R::add(chunk.x, chunk.zero_points);
                self.round(chunk.x)?;
            }
            Ok(())
        })
    }

    /// Rounds results to the precision.
    fn round<R: Real>(&self, chunk: &mut [R]) -> Result<(), CastError> {
        if let Some((to, from)) = &self.round {
            let (mut rounded, n) = ([0; 2 * CHUNK], chunk.len());
            to.run(&*chunk, BytesMut::new(&mut rounded, n))?;
            from.run(Bytes::new(&rounded, n), chunk)?;
        }
        Ok(())
    }
}

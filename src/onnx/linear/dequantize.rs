//! [`DequantizeLinear`]: a node that is checked once and run often.

use super::{
    attributes::LinearAttributes,
    layout::Layout,
    operand::{CHUNK, Load, Real, Tensor, Window, check_len, check_zero_point, chunks, dtype_of, raw},
};
use crate::{
    CastOptions, CastPlan, DType, Kind,
    onnx::{AttributeValue, Error, Operator, Side},
};
use lanecast_kernels::in_default_environment;

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
/// # Ok::<(), lanecast::onnx::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DequantizeLinear {
    version: u32,
    x: DType,
    scale: DType,
    zero_point: Option<DType>,
    to: DType,
    attributes: LinearAttributes,
    load: Load,
    load_scale: Load,
    load_zero_point: Option<Load>,
    store: CastPlan,
}

/// What a node runs on.
struct Call<'a> {
    x: Tensor<'a>,
    scale: Tensor<'a>,
    zero_point: Option<Tensor<'a>>,
    y: &'a mut [u8],
}

impl DequantizeLinear {
    /// A node in a graph of this opset, whose inputs have these dtypes.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchOpset`] before opset 10; [`Error::Type`] and [`Error::NoAttribute`] for what the version in force does not
    /// have; [`Error::ZeroPointType`] if the zero point has not the dtype of the input; [`Error::AttributeValue`] if the scale is
    /// `float8_e8m0fnu` and `output_dtype` is not given; [`Error::Cast`] as [`CastPlan::new`].
    pub fn new(
        opset: u32,
        x: DType,
        scale: DType,
        zero_point: Option<DType>,
        attributes: &LinearAttributes,
    ) -> Result<Self, Error> {
        let operator = Operator::DequantizeLinear;
        let version = operator.version_in(opset)?;
        attributes.check(operator, version)?;
        operator.check(version, Side::Input, x.into())?;
        operator.check(version, Side::Scale, scale.into())?;
        if let Some(have) = zero_point.filter(|have| *have != x) {
            return Err(Error::ZeroPointType { want: x, have });
        }
        if scale == DType::Float8E8M0FNU && attributes.output_dtype.is_none() {
            return Err(Error::AttributeValue {
                name: "output_dtype",
                expected: "given, since the scale is float8_e8m0fnu: FLOAT (1), FLOAT16 (10) or BFLOAT16 (16)",
            });
        }
        let to = attributes.output_dtype.unwrap_or(scale);
        operator.check(version, Side::Output, to.into())?;
        let real = DType::Float32;
        Ok(Self {
            version,
            x,
            scale,
            zero_point,
            to,
            attributes: *attributes,
            load: Load::new(x, real, real)?,
            load_scale: Load::new(scale, real, real)?,
            load_zero_point: zero_point.map(|dtype| Load::new(dtype, real, real)).transpose()?,
            store: CastPlan::new(real, raw(to), &CastOptions::RUST)?,
        })
    }

    /// A node from its attributes, by their names, and the numbers of the types of its inputs in `TensorProto.DataType`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and errors about numbers of no type, attributes that the operator does not have, and values that they
    /// cannot have.
    pub fn from_attributes(
        opset: u32,
        x: i32,
        scale: i32,
        zero_point: Option<i32>,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, Error> {
        let operator = Operator::DequantizeLinear;
        let version = operator.version_in(opset)?;
        let attributes = LinearAttributes::read(operator, version, attributes)?;
        let dtype = |side, code| dtype_of(operator, version, side, code);
        let (x, scale) = (dtype(Side::Input, x)?, dtype(Side::Scale, scale)?);
        let zero_point = zero_point.map(|code| dtype(Side::Input, code)).transpose()?;
        Self::new(opset, x, scale, zero_point, &attributes)
    }

    /// The version in force, such as 10 in opset 12.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The dtype of the input.
    pub const fn from(&self) -> DType {
        self.x
    }

    /// The dtype of the scale.
    pub const fn scale(&self) -> DType {
        self.scale
    }

    /// The dtype of the zero point, if the node has one.
    pub const fn zero_point(&self) -> Option<DType> {
        self.zero_point
    }

    /// The dtype of the output.
    pub const fn to(&self) -> DType {
        self.to
    }

    /// The attributes.
    pub const fn attributes(&self) -> &LinearAttributes {
        &self.attributes
    }

    /// Dequantises `x` and writes the elements to `y`, in the form of [`Tensor`]. Shapes are as in
    /// [`QuantizeLinear::run`](super::QuantizeLinear::run).
    ///
    /// # Errors
    ///
    /// As [`QuantizeLinear::run`](super::QuantizeLinear::run); [`Error::NotZero`] for a zero point of `int32` or 8-bit floats that is
    /// not 0. Nothing is written then.
    pub fn run(
        &self,
        x: Tensor<'_>,
        scale: Tensor<'_>,
        zero_point: Option<Tensor<'_>>,
        y: &mut [u8],
    ) -> Result<(), Error> {
        in_default_environment(Self::run_guarded, self, &mut Call { x, scale, zero_point, y })
    }

    /// [`run`](Self::run), in the default floating-point environment.
    fn run_guarded(&self, call: &mut Call<'_>) -> Result<(), Error> {
        let (x, scale) = (call.x, call.scale);
        let (axis, block) = (self.attributes.axis.unwrap_or(1), self.attributes.block_size.unwrap_or(0));
        let layout = Layout::new(self.version, x.shape, scale.shape, axis, block)?;
        check_len("input", raw(self.x), layout.elements, x.data.len())?;
        check_len("scale", raw(self.scale), layout.scales, scale.data.len())?;
        check_zero_point(call.zero_point, self.load_zero_point.as_ref(), scale.shape, &layout)?;
        check_len("output", raw(self.to), layout.elements, call.y.len())?;
        let mut scales = Window::<f32>::new(&self.load_scale, scale.data, layout.scales);
        let only_zero = self.x == DType::Int32 || self.x.kind() == Kind::Float && self.x.bits() == 8;
        let mut zeros = match (call.zero_point, &self.load_zero_point) {
            (Some(tensor), Some(load)) if only_zero => {
                if let Some(index) = load.first_not_zero::<f32>(tensor.data, layout.scales)? {
                    return Err(Error::NotZero { dtype: self.x, index });
                }
                None
            }
            (Some(tensor), Some(load)) => Some(Window::<f32>::new(load, tensor.data, layout.scales)),
            _ => None,
        };
        let mut chunk = [0.0_f32; CHUNK];
        let (mut scale_of, mut zero_of) = ([0.0; CHUNK], [0.0; CHUNK]);
        let size = self.to.size();
        for range in chunks(layout.elements) {
            let n = range.len();
            self.load.run(x.data, range.clone(), &mut chunk)?;
            if range.start == 0 || !layout.is_one() {
                scales.spread(&layout, range.clone(), &mut scale_of)?;
                if let Some(zeros) = &mut zeros {
                    zeros.spread(&layout, range.clone(), &mut zero_of)?;
                }
            }
            let chunk = &mut chunk[..n];
            if zeros.is_some() {
                f32::subtract(chunk, &zero_of);
            }
            f32::multiply(chunk, &scale_of);
            self.store.run(bytemuck::cast_slice(chunk), &mut call.y[range.start * size..], n)?;
        }
        Ok(())
    }
}

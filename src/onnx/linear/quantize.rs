//! [`QuantizeLinear`]: a node that is checked once and run often.

use super::{
    attributes::LinearAttributes,
    layout::Layout,
    operand::{CHUNK, Load, Real, Tensor, Window, check_len, check_zero_point, chunks, dtype_of, raw},
};
use crate::{
    CastOptions, CastPlan, DType, Kind, Saturate,
    onnx::{AttributeValue, Error, Operator, Side},
};
use lanecast_kernels::in_default_environment;

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
/// # Ok::<(), lanecast::onnx::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QuantizeLinear {
    version: u32,
    x: DType,
    scale: DType,
    zero_point: Option<DType>,
    to: DType,
    precision: DType,
    attributes: LinearAttributes,
    load: Load,
    load_scale: Load,
    load_zero_point: Option<Load>,
    round: Option<Round>,
    store: CastPlan,
}

/// The rounding of a quotient to a precision narrower than `float32`.
type Round = (CastPlan, CastPlan);

/// What a node runs on.
struct Call<'a> {
    x: Tensor<'a>,
    scale: Tensor<'a>,
    zero_point: Option<Tensor<'a>>,
    y: &'a mut [u8],
}

impl QuantizeLinear {
    /// A node in a graph of this opset, whose inputs have these dtypes.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchOpset`] before opset 10; [`Error::Type`], [`Error::ScaleType`] and [`Error::NoAttribute`] for what the version
    /// in force does not have; [`Error::ZeroPointType`] if the zero point has not the dtype of the output; [`Error::AttributeValue`]
    /// for a `precision` that is not a float of at least 16 bits; [`Error::Cast`] as [`CastPlan::new`].
    pub fn new(
        opset: u32,
        x: DType,
        scale: DType,
        zero_point: Option<DType>,
        attributes: &LinearAttributes,
    ) -> Result<Self, Error> {
        let operator = Operator::QuantizeLinear;
        let version = operator.version_in(opset)?;
        attributes.check(operator, version)?;
        operator.check(version, Side::Input, x.into())?;
        operator.check(version, Side::Scale, scale.into())?;
        // From 19 to 22 both inputs have one type.
        if (19..23).contains(&version) && scale != x {
            return Err(Error::ScaleType { operator, version, input: x, scale, since: 23 });
        }
        let to = attributes.output_dtype.or(zero_point).unwrap_or(DType::UInt8);
        operator.check(version, Side::Output, to.into())?;
        if let Some(have) = zero_point.filter(|have| *have != to) {
            return Err(Error::ZeroPointType { want: to, have });
        }
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
        Ok(Self {
            version,
            x,
            scale,
            zero_point,
            to,
            precision,
            attributes: *attributes,
            load: Load::new(x, precision, real)?,
            load_scale: Load::new(scale, precision, real)?,
            load_zero_point: zero_point.map(|dtype| Load::new(dtype, real, real)).transpose()?,
            round,
            store: CastPlan::new(real, raw(to), &options.with_saturate(saturate))?,
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
        let operator = Operator::QuantizeLinear;
        let version = operator.version_in(opset)?;
        let attributes = LinearAttributes::read(operator, version, attributes)?;
        let dtype = |side, code| dtype_of(operator, version, side, code);
        let (x, scale) = (dtype(Side::Input, x)?, dtype(Side::Scale, scale)?);
        let zero_point = zero_point.map(|code| dtype(Side::Output, code)).transpose()?;
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

    /// The dtype in which the input is divided by the scale.
    pub const fn precision(&self) -> DType {
        self.precision
    }

    /// The attributes.
    pub const fn attributes(&self) -> &LinearAttributes {
        &self.attributes
    }

    /// Quantises `x` and writes the elements to `y`, in the form of [`Tensor`]; unused bits of the last byte become 0.
    ///
    /// The shape of the scale decides the granularity: a scalar, or one scale for each index of the axis, or with the attribute
    /// `block_size` the shape of `x` with as many scales along the axis as it has blocks. The zero point has the shape of the scale.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`], [`Error::Axis`] and [`Error::TooLarge`] if the shapes do not fit; [`Error::Length`] if a buffer has not
    /// exactly the bytes of its shape; [`Error::ZeroPoint`] if there is a zero point where the node has none, or none where it has
    /// one; [`Error::NotZero`] for a zero point of 8-bit floats that is not 0. Nothing is written then.
    pub fn run(
        &self,
        x: Tensor<'_>,
        scale: Tensor<'_>,
        zero_point: Option<Tensor<'_>>,
        y: &mut [u8],
    ) -> Result<(), Error> {
        let run = if self.precision == DType::Float64 { Self::run_as::<f64> } else { Self::run_as::<f32> };
        in_default_environment(run, self, &mut Call { x, scale, zero_point, y })
    }

    /// [`run`](Self::run), in the default floating-point environment.
    fn run_as<R: Real>(&self, call: &mut Call<'_>) -> Result<(), Error> {
        let (x, scale) = (call.x, call.scale);
        let (axis, block) = (self.attributes.axis.unwrap_or(1), self.attributes.block_size.unwrap_or(0));
        let layout = Layout::new(self.version, x.shape, scale.shape, axis, block)?;
        check_len("input", raw(self.x), layout.elements, x.data.len())?;
        check_len("scale", raw(self.scale), layout.scales, scale.data.len())?;
        check_zero_point(call.zero_point, self.load_zero_point.as_ref(), scale.shape, &layout)?;
        check_len("output", raw(self.to), layout.elements, call.y.len())?;
        let integers = self.to.kind() != Kind::Float;
        let mut scales = Window::<R>::new(&self.load_scale, scale.data, layout.scales);
        let mut zeros = match (call.zero_point, &self.load_zero_point) {
            // Zero points of 8-bit floats only name the dtype.
            (Some(tensor), Some(load)) if !integers && self.to.bits() == 8 => {
                if let Some(index) = load.first_not_zero::<R>(tensor.data, layout.scales)? {
                    return Err(Error::NotZero { dtype: self.to, index });
                }
                None
            }
            (Some(tensor), Some(load)) => Some(Window::<R>::new(load, tensor.data, layout.scales)),
            _ => None,
        };
        let mut chunk = [R::ZERO; CHUNK];
        let (mut scale_of, mut zero_of) = ([R::ZERO; CHUNK], [R::ZERO; CHUNK]);
        let bits = raw(self.to).bits_per_element() as usize;
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
            if integers && self.round.is_none() {
                R::divide_round_add(chunk, &scale_of, &zero_of);
            } else {
                R::divide(chunk, &scale_of);
                self.round(chunk)?;
                if integers {
                    R::round_and_add(chunk, &zero_of);
                } else if zeros.is_some() {
                    R::add(chunk, &zero_of);
                    self.round(chunk)?;
                }
            }
            self.store.run(bytemuck::cast_slice(chunk), &mut call.y[range.start * bits / 8..], n)?;
        }
        Ok(())
    }

    /// Rounds results to the precision.
    fn round<R: Real>(&self, chunk: &mut [R]) -> Result<(), Error> {
        if let Some((to, from)) = &self.round {
            let mut rounded = [0_u16; CHUNK];
            let rounded: &mut [u8] = bytemuck::cast_slice_mut(&mut rounded);
            let n = chunk.len();
            to.run(bytemuck::cast_slice(chunk), rounded, n)?;
            from.run(rounded, bytemuck::cast_slice_mut(chunk), n)?;
        }
        Ok(())
    }
}

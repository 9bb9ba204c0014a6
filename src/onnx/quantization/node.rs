//! What the nodes of `QuantizeLinear` and `DequantizeLinear` have in common.

use super::{
    attributes::LinearAttributes,
    int8::{self, Direction, Int8},
    layout::Layout,
    operand::{
        CHUNK, Floats, Load, Real, Tensor, Window, check_len, check_zero_point, chunks, dtype_of, raw,
    },
};
use crate::{
    error::CastError,
    onnx::{
        attributes::AttributeValue,
        error::OnnxError,
        operator::{Operator, Port},
    },
    plan::CastPlan,
};
use lanecast_kernels::{BytesMut, DType, Kind};

/// The dtypes of the inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    pub(super) x: DType,
    pub(super) scale: DType,
    pub(super) zero_point: Option<DType>,
}

impl Inputs {
    /// Checks the attributes and the dtypes of `x` and of the scale, and returns the version in force.
    pub(super) fn version_in(
        &self,
        opset: u32,
        operator: Operator,
        attributes: &LinearAttributes,
    ) -> Result<u32, OnnxError> {
        let version = operator.version_in(opset)?;
        attributes.check(operator, version)?;
        operator.check(version, Port::Input, self.x.into())?;
        operator.check(version, Port::Scale, self.scale.into())?;
        Ok(version)
    }

    /// Refuses a zero point that has another dtype than `want`, the dtype of the quantized elements.
    pub(super) fn check_zero_point(&self, want: DType) -> Result<(), OnnxError> {
        match self.zero_point.filter(|have| *have != want) {
            Some(have) => Err(OnnxError::ZeroPointType { want, have }),
            None => Ok(()),
        }
    }
}

/// The inputs and the attributes of a node, from what a graph says of them.
pub(super) fn read(
    operator: Operator,
    opset: u32,
    [x, scale]: [i32; 2],
    zero_point: Option<i32>,
    attributes: &[(&str, AttributeValue<'_>)],
) -> Result<(Inputs, LinearAttributes), OnnxError> {
    let version = operator.version_in(opset)?;
    let attributes = LinearAttributes::read(operator, version, attributes)?;
    let dtype = |port, code| dtype_of(operator, version, port, code);
    let (x, scale) = (dtype(Port::Input, x)?, dtype(Port::Scale, scale)?);
    let zero_point = zero_point.map(|code| dtype(Port::Output, code)).transpose()?;
    Ok((Inputs { x, scale, zero_point }, attributes))
}

/// A node, whose dtypes and attributes have been checked.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) version: u32,
    pub(super) inputs: Inputs,
    pub(super) to: DType,
    pub(super) attributes: LinearAttributes,
    load: Load,
    load_scale: Load,
    load_zero_point: Option<Load>,
    store: CastPlan,
    /// The casts that have loops of their own.
    int8: Option<Direction>,
}

/// What a node runs on.
pub(super) struct Call<'a> {
    pub(super) x: Tensor<'a>,
    pub(super) scale: Tensor<'a>,
    pub(super) zero_point: Option<Tensor<'a>>,
    pub(super) y: &'a mut [u8],
}

/// Some elements, and the scale and the zero point of each.
pub(super) struct Chunk<'a, R> {
    pub(super) x: &'a mut [R],
    pub(super) scales: &'a [R],
    /// Zeros if there are no zero points.
    pub(super) zero_points: &'a [R],
    /// Whether there are zero points other than zero.
    pub(super) shifted: bool,
}

impl Node {
    /// A node that decodes elements and scales to `precision`. `store` encodes floats that hold all its values.
    pub(super) fn new(
        version: u32,
        inputs: Inputs,
        attributes: &LinearAttributes,
        precision: DType,
        store: CastPlan,
    ) -> Result<Self, CastError> {
        let (real, to) = (store.source().dtype(), store.target().dtype());
        let int8 = match (inputs.x, to) {
            _ if precision != DType::Float32 => None,
            (DType::Float32, to) => Int8::new(to).map(Direction::Quantize),
            (x, DType::Float32) => Int8::new(x).map(Direction::Dequantize),
            _ => None,
        };
        Ok(Self {
            version,
            inputs,
            to,
            attributes: *attributes,
            load: Load::new(inputs.x, precision, real)?,
            load_scale: Load::new(inputs.scale, precision, real)?,
            load_zero_point: inputs.zero_point.map(|dtype| Load::new(dtype, real, real)).transpose()?,
            store,
            int8,
        })
    }

    /// The granularity of a call, whose buffers fit.
    fn layout(&self, call: &Call<'_>) -> Result<Layout, OnnxError> {
        let (x, scale) = (call.x, call.scale);
        let (axis, block) = (self.attributes.axis.unwrap_or(1), self.attributes.block_size.unwrap_or(0));
        let layout = Layout::new(self.version, x.shape, scale.shape, axis, block)?;
        check_len("input", raw(self.inputs.x), layout.elements, x.data.len())?;
        check_len("scale", raw(self.inputs.scale), layout.scales, scale.data.len())?;
        check_zero_point(call.zero_point, self.load_zero_point.as_ref(), scale.shape, &layout)?;
        check_len("output", raw(self.to), layout.elements, call.y.len())?;
        Ok(layout)
    }

    /// The zero points of a call. Zero points of `int32` and of 8-bit floats only name the dtype and must be 0.
    fn zero_points<'a, R: Real>(
        &'a self,
        zero_point: Option<Tensor<'a>>,
        layout: &Layout,
    ) -> Result<Option<Window<'a, R>>, OnnxError> {
        let (Some(tensor), Some(load)) = (zero_point, &self.load_zero_point) else {
            return Ok(None);
        };
        let dtype = load.source().dtype();
        if dtype != DType::Int32 && (dtype.kind() != Kind::Float || dtype.bits() != 8) {
            return Ok(Some(Window::new(load, tensor.data, layout.scales)));
        }
        match load.first_not_zero::<R>(tensor.data, layout.scales)? {
            Some(index) => Err(OnnxError::NotZero { dtype, index }),
            None => Ok(None),
        }
    }

    /// Decodes the input in chunks, lets `compute` change the elements of each, and encodes these; or does the same without chunks.
    pub(super) fn run<R: Real>(
        &self,
        call: &mut Call<'_>,
        compute: impl Fn(&mut Chunk<'_, R>) -> Result<(), CastError>,
    ) -> Result<(), OnnxError> {
        let layout = self.layout(call)?;
        if let Some(direction) = self.int8.filter(|_| int8::worthwhile(&layout)) {
            let scales = Window::new(&self.load_scale, call.scale.data, layout.scales);
            let zero_points = self.zero_points(call.zero_point, &layout)?;
            return int8::run(direction, &layout, scales, zero_points, call.x.data, call.y);
        }
        let mut scales = Window::<R>::new(&self.load_scale, call.scale.data, layout.scales);
        let mut zero_points = self.zero_points::<R>(call.zero_point, &layout)?;
        let [mut chunk, mut scale_of, mut zero_of] = [const { Floats([R::ZERO; CHUNK]) }; 3];
        let (chunk, scale_of, zero_of) = (&mut chunk.0, &mut scale_of.0, &mut zero_of.0);
        let bits = raw(self.to).bits_per_element() as usize;
        for range in chunks(layout.elements) {
            let n = range.len();
            self.load.run(call.x.data, range.clone(), chunk)?;
            if range.start == 0 || !layout.is_one() {
                scales.spread(&layout, range.clone(), scale_of)?;
                if let Some(zero_points) = &mut zero_points {
                    zero_points.spread(&layout, range.clone(), zero_of)?;
                }
            }
            let shifted = zero_points.is_some();
            compute(&mut Chunk { x: &mut chunk[..n], scales: scale_of, zero_points: zero_of, shifted })?;
            let encoded = &mut call.y[range.start * bits / 8..];
            self.store.run(&chunk[..n], BytesMut::new(encoded, n))?;
        }
        Ok(())
    }
}

/// The methods that the public nodes share: those that make one from a graph, and those that tell what it is.
macro_rules! define_methods {
    ($operator:ident) => {
        /// A node from its attributes, by their names, and the numbers of the types of its inputs in `TensorProto.DataType`.
        ///
        /// # Errors
        ///
        /// As [`new`](Self::new), and errors about numbers of no type, attributes that the operator does not have, and values that
        /// they cannot have.
        pub fn from_attributes(
            opset: u32,
            x: i32,
            scale: i32,
            zero_point: Option<i32>,
            attributes: &[(&str, AttributeValue<'_>)],
        ) -> Result<Self, OnnxError> {
            let (inputs, attributes) =
                node::read(Operator::$operator, opset, [x, scale], zero_point, attributes)?;
            Self::new(opset, inputs.x, inputs.scale, inputs.zero_point, &attributes)
        }

        /// The version in force, such as 10 in opset 12.
        pub const fn version(&self) -> u32 {
            self.node.version
        }

        /// The dtype of the input.
        pub const fn source(&self) -> DType {
            self.node.inputs.x
        }

        /// The dtype of the scale.
        pub const fn scale(&self) -> DType {
            self.node.inputs.scale
        }

        /// The dtype of the zero point, if the node has one.
        pub const fn zero_point(&self) -> Option<DType> {
            self.node.inputs.zero_point
        }

        /// The dtype of the output.
        pub const fn target(&self) -> DType {
            self.node.to
        }

        /// The attributes.
        pub const fn attributes(&self) -> &LinearAttributes {
            &self.node.attributes
        }
    };
}
pub(super) use define_methods;

//! [`DynamicQuantizeLinear`]: the scale and the zero point follow from the range of the input.

use super::{
    int8::{self, Int8},
    operand::{Real, dtype_of, raw},
};
use crate::{
    error::{CastError, Side as Buffer},
    onnx::{
        attributes::AttributeValue,
        error::OnnxError,
        operator::{Operator, Port},
    },
};
use lanecast_kernels::{DType, in_default_environment};

/// A `DynamicQuantizeLinear` node: `float32` to `uint8`.
///
/// ```
/// use lanecast::onnx::{DynamicQuantizeLinear, DynamicScale};
/// let x: Vec<u8> = [-1.0_f32, 0.0, 1.55].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let mut y = [0; 3];
/// let found = DynamicQuantizeLinear::new(11)?.run(&x, &mut y, 3)?;
/// assert_eq!(found, DynamicScale { scale: 0.01, zero_point: 100 });
/// assert_eq!(y, [0, 100, 255]);
/// # Ok::<(), lanecast::onnx::OnnxError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DynamicQuantizeLinear {
    version: u32,
}

/// The outputs `y_scale` and `y_zero_point` of `DynamicQuantizeLinear`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DynamicScale {
    /// What an element is divided by.
    pub scale: f32,
    /// The element that zero becomes.
    pub zero_point: u8,
}

impl DynamicQuantizeLinear {
    /// A node in a graph of this opset.
    ///
    /// # Errors
    ///
    /// [`OnnxError::NoSuchOpset`] before opset 11.
    pub fn new(opset: u32) -> Result<Self, OnnxError> {
        let version = Operator::DynamicQuantizeLinear.version_in(opset)?;
        Ok(Self { version })
    }

    /// A node from the number of its input's type in `TensorProto.DataType`, and its attributes; the operator has no attributes.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); [`OnnxError::Type`] if the input is not `float32`, [`OnnxError::NoAttribute`] for an attribute.
    pub fn from_attributes(
        opset: u32,
        x: i32,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Result<Self, OnnxError> {
        let operator = Operator::DynamicQuantizeLinear;
        let version = operator.version_in(opset)?;
        let dtype = dtype_of(operator, version, Port::Input, x)?;
        operator.check(version, Port::Input, dtype.into())?;
        if let Some((name, _)) = attributes.first() {
            return Err(OnnxError::NoAttribute { operator, version, name: (*name).into(), since: None });
        }
        Self::new(opset)
    }

    /// The version in force, which is 11.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Quantizes the first `n` elements of `x`, which are little-endian as in `TensorProto.raw_data`, to the first `n` bytes of `y`.
    ///
    /// # Errors
    ///
    /// [`CastError::BufferTooSmall`] or [`CastError::TooLarge`] in [`OnnxError::Cast`]; then nothing is written.
    pub fn run(&self, x: &[u8], y: &mut [u8], n: usize) -> Result<DynamicScale, OnnxError> {
        let from = raw(DType::Float32);
        let need = from.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: from })?;
        for (which, need, have) in [(Buffer::Source, need, x.len()), (Buffer::Destination, n, y.len())] {
            if have < need {
                return Err(CastError::BufferTooSmall { which, need, have }.into());
            }
        }
        in_default_environment(Self::run_guarded, self, &mut (&x[..need], &mut y[..n]))
    }

    /// [`run`](Self::run), in the default floating-point environment.
    fn run_guarded(&self, call: &mut (&[u8], &mut [u8])) -> Result<DynamicScale, OnnxError> {
        let (x, y) = (call.0.as_chunks().0, &mut *call.1);
        let [low, high] = int8::extent(x);
        let scale = if high == low { 1.0 } else { (high - low) / 255.0 };
        let zero = 0.0 - low / scale;
        // Where the range is so small or so large that this is NaN, onnxruntime and ONNX's evaluator have 255.
        let mut zero = [if zero.is_nan() { 255.0 } else { zero.clamp(0.0, 255.0) }];
        f32::round_and_add(&mut zero, &[0.0]);
        int8::quantize(x, Int8::Unsigned, scale, zero[0], y);
        Ok(DynamicScale { scale, zero_point: zero[0] as u8 })
    }
}

//! What a version of the operator Cast of ONNX allows, and the operators that quantize.

use crate::buffer::PyBuffer;
use crate::bytes::{cast, packed};
use crate::cast::check_out;
use crate::dtype;
use crate::errors::{cast_error, dtype_error, overlap_error};
use crate::memory::{self, Array, Mode};
use crate::numpy::Order;
use crate::operand::Operand;
use lanecast::onnx::{
    AttributeValue, Cast, DequantizeLinear, DynamicQuantizeLinear, ElementType, OnnxError, QuantizeLinear,
    Tensor,
};
use lanecast::{ByteOrder, CastOptions, DType, E8M0Round, Encoding, Saturate};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// The options of `astype` that correspond to a Cast node of this opset. Raises DTypeError for what its version does not support.
#[pyfunction]
#[pyo3(signature = (from_, to, opset, saturate, round_mode, /))]
pub fn onnx_attributes(
    from_: &Bound<'_, PyAny>,
    to: &Bound<'_, PyAny>,
    opset: u32,
    saturate: Option<bool>,
    round_mode: Option<&str>,
) -> PyResult<(&'static str, &'static str)> {
    let py = from_.py();
    let code = |of: &Bound<'_, PyAny>| number(py, dtype::of_either(of)?.dtype());
    let (from, to) = (code(from_)?, code(to)?);
    let name;
    // Before version 6, the attribute was the name of the dtype.
    let to = if opset < 6 {
        name = ElementType::from_code(to).and_then(ElementType::name).unwrap_or_default();
        AttributeValue::String(name.as_bytes())
    } else {
        AttributeValue::Int(to.into())
    };
    let mut attributes = vec![("to", to)];
    attributes.extend(saturate.map(|on| ("saturate", AttributeValue::Int(on.into()))));
    attributes.extend(round_mode.map(|mode| ("round_mode", AttributeValue::String(mode.as_bytes()))));
    let cast = Cast::from_attributes(opset, from, &attributes)
        .map_err(|error| dtype_error(py, error.to_string()))?;
    let options = cast.options();
    let saturate = match options.saturate {
        Saturate::On => "on",
        Saturate::Off => "off",
        _ => return Err(PyOverflowError::new_err("ONNX has no such option")),
    };
    let round = match options.e8m0_round {
        E8M0Round::Up => "up",
        E8M0Round::Down => "down",
        E8M0Round::Nearest => "nearest",
        _ => return Err(PyOverflowError::new_err("ONNX has no such rounding")),
    };
    Ok((saturate, round))
}

/// Returns the output of a QuantizeLinear or DequantizeLinear node in a graph of this opset. Raises DTypeError for what the version in
/// force does not support, and ValueError for shapes that do not match.
#[pyfunction]
#[pyo3(signature = (quantize, x, scale, zero_point, opset, axis, block_size, output_dtype, precision, saturate, out, /))]
#[expect(clippy::too_many_arguments, reason = "the attributes of the node")]
pub fn onnx_linear<'py>(
    quantize: bool,
    x: &Bound<'py, PyAny>,
    scale: &Bound<'py, PyAny>,
    zero_point: Option<&Bound<'py, PyAny>>,
    opset: u32,
    axis: Option<i64>,
    block_size: Option<i64>,
    output_dtype: Option<&Bound<'py, PyAny>>,
    precision: Option<&Bound<'py, PyAny>>,
    saturate: Option<bool>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let sources = [Operand::source(x)?, Operand::source(scale)?];
    let zeros = zero_point.map(Operand::source).transpose()?;
    let (x, scale) = (Input::new(py, &sources[0])?, Input::new(py, &sources[1])?);
    let zero_point = zeros.as_ref().map(|zero_point| Input::new(py, zero_point)).transpose()?;
    let code = |dtype: Option<&Bound<'py, PyAny>>| {
        dtype.map(|dtype| number(py, dtype::argument(dtype)?.dtype())).transpose()
    };
    let integers = [
        ("axis", axis),
        ("block_size", block_size),
        ("output_dtype", code(output_dtype)?.map(Into::into)),
        ("precision", code(precision)?.map(Into::into)),
        ("saturate", saturate.map(Into::into)),
    ];
    let given = integers.into_iter().filter_map(|(name, value)| Some((name, AttributeValue::Int(value?))));
    let attributes: Vec<_> = given.collect();
    let (x_code, scale_code) = (number(py, x.dtype())?, number(py, scale.dtype())?);
    let zero_code = zero_point.as_ref().map(|zero_point| number(py, zero_point.dtype())).transpose()?;
    let failed = |error| onnx_error(py, error);
    let others: Vec<_> = sources[1..].iter().chain(&zeros).collect();
    let output = Output { like: &sources[0], others: &others, out };
    let zero_tensor = || zero_point.as_ref().map(Input::tensor);
    if quantize {
        let node = QuantizeLinear::from_attributes(opset, x_code, scale_code, zero_code, &attributes);
        let node = node.map_err(failed)?;
        output.write(py, node.target(), |y| node.run(x.tensor(), scale.tensor(), zero_tensor(), y))
    } else {
        let node = DequantizeLinear::from_attributes(opset, x_code, scale_code, zero_code, &attributes);
        let node = node.map_err(failed)?;
        output.write(py, node.target(), |y| node.run(x.tensor(), scale.tensor(), zero_tensor(), y))
    }
}

/// Returns the three outputs of a DynamicQuantizeLinear node in a graph of this opset, the scale and the zero point as numbers.
#[pyfunction]
#[pyo3(signature = (x, opset, out, /))]
pub fn onnx_dynamic<'py>(
    x: &Bound<'py, PyAny>,
    opset: u32,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, f32, u8)> {
    let py = x.py();
    let source = Operand::source(x)?;
    let x = Input::new(py, &source)?;
    let node = DynamicQuantizeLinear::from_attributes(opset, number(py, x.dtype())?, &[]);
    let node = node.map_err(|error| onnx_error(py, error))?;
    let mut found = None;
    let output = Output { like: &source, others: &[], out };
    let y = output.write(py, DType::UInt8, |y| {
        found = Some(node.run(x.tensor().data, y, y.len())?);
        Ok(())
    })?;
    let found = found.ok_or_else(|| PyValueError::new_err("the node did not run"))?;
    Ok((y, found.scale, found.zero_point))
}

/// An input of a node, as ONNX stores it: the array itself, or a copy.
struct Input<'a> {
    shape: &'a [usize],
    array: &'a Array,
    /// A copy, which owns its memory.
    copy: Option<(PyBuffer, Box<Array>)>,
}

/// The form of `TensorProto.raw_data`.
fn raw(dtype: DType) -> Encoding {
    Encoding::packed(dtype).with_order(ByteOrder::Little)
}

/// Whether the memory of an array is as ONNX stores it.
fn is_raw(array: &Array) -> bool {
    let (have, want) = (array.encoding(), raw(array.encoding().dtype()));
    let same = have.is_swapped() == want.is_swapped()
        && (have.storage() == want.storage() || !have.dtype().is_sub_byte());
    same && array.is_c_contiguous()
}

impl<'a> Input<'a> {
    fn new(py: Python<'_>, operand: &'a Operand<'_>) -> PyResult<Self> {
        let to = raw(operand.array.encoding().dtype());
        let mut copy = None;
        if !is_raw(&operand.array) {
            let buffer = packed(py, operand, to, Mode::Plain, &CastOptions::RUST, None)?;
            let array = Box::new(buffer.array()?);
            copy = Some((buffer, array));
        }
        Ok(Input { shape: &operand.shape, array: &operand.array, copy })
    }

    fn dtype(&self) -> DType {
        self.array.encoding().dtype()
    }

    /// The elements, for a run of the node. No Python code may run while they are in use, since it could write to them.
    fn tensor(&self) -> Tensor<'_> {
        let array = self.copy.as_ref().map_or(self.array, |(_, array)| array);
        // SAFETY: the operand or the copy keeps the memory alive. As for any cast, nobody may write to it meanwhile.
        Tensor::new(self.shape, unsafe { memory::bytes(array) })
    }
}

/// Where the output of a node goes.
struct Output<'a, 'py> {
    /// The input whose shape it has, and whose library a new array is from.
    like: &'a Operand<'py>,
    /// The other inputs.
    others: &'a [&'a Operand<'py>],
    /// The array to write to.
    out: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Output<'_, 'py> {
    /// The array whose elements `run` writes as ONNX stores them.
    fn write(
        &self,
        py: Python<'py>,
        to: DType,
        run: impl FnOnce(&mut [u8]) -> Result<(), OnnxError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(out) = self.out else {
            let answer = self.like.answer(Order::C, Encoding::new(to))?;
            self.write_to(py, &answer.array, to, run)?;
            return answer.finish();
        };
        let destination = Operand::destination(out)?;
        check_out(py, &destination, Encoding::new(to), &self.like.shape)?;
        let mut inputs = self.others.iter().chain([&self.like]);
        if inputs.any(|input| input.array.shares_memory(&destination.array)) {
            return Err(overlap_error(py, "`out` overlaps an input; call without `out`"));
        }
        self.write_to(py, &destination.array, to, run)?;
        Ok(out.clone())
    }

    fn write_to(
        &self,
        py: Python<'_>,
        array: &Array,
        to: DType,
        run: impl FnOnce(&mut [u8]) -> Result<(), OnnxError> + Send,
    ) -> PyResult<()> {
        let copy = match is_raw(array) {
            true => None,
            false => Some(PyBuffer::new(py, raw(to), &self.like.shape)?),
        };
        let written = copy.as_ref().map_or_else(|| Ok(array.clone()), PyBuffer::array)?;
        // SAFETY: nobody else uses this memory, which is contiguous.
        let run = || run(unsafe { memory::bytes_mut(&written) });
        memory::scaled::detached(py, written.elements(), run).map_err(|error| onnx_error(py, error))?;
        if copy.is_some() {
            let joined = array.flattened().unwrap_or_else(|| array.clone());
            cast(py, &written, &joined, Mode::Plain, &CastOptions::RUST, None)?;
        }
        Ok(())
    }
}

/// The number of a dtype in `TensorProto.DataType`.
fn number(py: Python<'_>, dtype: DType) -> PyResult<i32> {
    dtype.onnx().map(Into::into).ok_or_else(|| dtype_error(py, format!("ONNX has no dtype {dtype}")))
}

fn onnx_error(py: Python<'_>, error: OnnxError) -> PyErr {
    match error {
        OnnxError::Cast(error) => cast_error(py, error, &[]),
        OnnxError::Shape { .. }
        | OnnxError::Axis { .. }
        | OnnxError::TooLarge(_)
        | OnnxError::Length { .. }
        | OnnxError::ZeroPoint { .. }
        | OnnxError::NotZero { .. }
        | OnnxError::AttributeValue { .. } => PyValueError::new_err(error.to_string()),
        error => dtype_error(py, error.to_string()),
    }
}

//! What a version of the operator Cast of ONNX allows, and the operators that quantise.

use crate::buffer::PyBuffer;
use crate::bytes::{cast, packed};
use crate::dtype;
use crate::errors::{cast_error, dtype_error};
use crate::memory::Mode;
use crate::numpy::Order;
use crate::operand::Operand;
use lanecast::onnx::{
    AttributeValue, Cast, DequantizeLinear, DynamicQuantizeLinear, ElementType, Error, QuantizeLinear, Tensor,
};
use lanecast::{BufferType, ByteOrder, CastOptions, DType, E8M0Round, Saturate, names};
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
        Saturate::FnOnly => return Err(PyOverflowError::new_err("ONNX has no such option")),
    };
    let round = match options.e8m0_round {
        E8M0Round::Up => "up",
        E8M0Round::Down => "down",
        E8M0Round::Nearest => "nearest",
    };
    Ok((saturate, round))
}

/// Returns the output of a QuantizeLinear or DequantizeLinear node in a graph of this opset. Raises DTypeError for what the version in
/// force does not support, and ValueError for shapes that do not match.
#[pyfunction]
#[pyo3(signature = (quantize, x, scale, zero_point, opset, axis, block_size, output_dtype, precision, saturate, /))]
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
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let source = Operand::source(x)?;
    let x = Input::new(py, &source)?;
    let scale = Input::new(py, &Operand::source(scale)?)?;
    let zero_point =
        zero_point.map(|zero_point| Input::new(py, &Operand::source(zero_point)?)).transpose()?;
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
    let (x_code, scale_code) = (number(py, x.dtype)?, number(py, scale.dtype)?);
    let zero_code = zero_point.as_ref().map(|zero_point| number(py, zero_point.dtype)).transpose()?;
    let failed = |error| onnx_error(py, error);
    let zero_point = zero_point.as_ref().map(Input::tensor);
    let (x_tensor, scale) = (x.tensor(), scale.tensor());
    if quantize {
        let node = QuantizeLinear::from_attributes(opset, x_code, scale_code, zero_code, &attributes);
        let node = node.map_err(failed)?;
        output(py, &source, node.to(), |y| node.run(x_tensor, scale, zero_point, y))
    } else {
        let node = DequantizeLinear::from_attributes(opset, x_code, scale_code, zero_code, &attributes);
        let node = node.map_err(failed)?;
        output(py, &source, node.to(), |y| node.run(x_tensor, scale, zero_point, y))
    }
}

/// Returns the three outputs of a DynamicQuantizeLinear node in a graph of this opset, the scale and the zero point as numbers.
#[pyfunction]
#[pyo3(signature = (x, opset, /))]
pub fn onnx_dynamic<'py>(x: &Bound<'py, PyAny>, opset: u32) -> PyResult<(Bound<'py, PyAny>, f32, u8)> {
    let py = x.py();
    let source = Operand::source(x)?;
    let x = Input::new(py, &source)?;
    let node = DynamicQuantizeLinear::from_attributes(opset, number(py, x.dtype)?, &[]);
    let node = node.map_err(|error| onnx_error(py, error))?;
    let mut found = None;
    let y = output(py, &source, DType::UInt8, |y| {
        found = Some(node.run(x.elements.bytes(), y, y.len())?);
        Ok(())
    })?;
    let found = found.ok_or_else(|| PyValueError::new_err("the node did not run"))?;
    Ok((y, found.scale, found.zero_point))
}

/// An input of a node, as ONNX stores it.
struct Input {
    dtype: DType,
    shape: Vec<usize>,
    elements: PyBuffer,
}

/// The form of `TensorProto.raw_data`.
fn raw(dtype: DType) -> BufferType {
    BufferType::packed(dtype).with_order(ByteOrder::Little)
}

impl Input {
    fn new(py: Python<'_>, source: &Operand<'_>) -> PyResult<Input> {
        let dtype = source.array.buffer().dtype();
        let elements = packed(py, source, raw(dtype), Mode::Plain, &CastOptions::RUST, None)?;
        Ok(Input { dtype, shape: source.shape.clone(), elements })
    }

    fn tensor(&self) -> Tensor<'_> {
        Tensor::new(&self.shape, self.elements.bytes())
    }
}

/// An array with the shape and from the library of `like`, whose elements `run` writes as ONNX stores them.
fn output<'py>(
    py: Python<'py>,
    like: &Operand<'py>,
    to: DType,
    run: impl FnOnce(&mut [u8]) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let n = like.shape.iter().product();
    let mut y = vec![0; raw(to).byte_len(n).unwrap_or_default()];
    py.detach(|| run(&mut y)).map_err(|error| onnx_error(py, error))?;
    let elements = PyBuffer::filled(py, raw(to), &like.shape, &y)?;
    let answer = like.answer(Order::C, BufferType::new(to))?;
    let joined = answer.array.flattened().unwrap_or(answer.array);
    cast(py, &elements.get().array()?, &joined, Mode::Plain, &CastOptions::RUST, None)?;
    answer.finish()
}

/// The number of a dtype in `TensorProto.DataType`.
fn number(py: Python<'_>, dtype: DType) -> PyResult<i32> {
    names::onnx_number(dtype)
        .map(Into::into)
        .ok_or_else(|| dtype_error(py, format!("ONNX has no dtype {dtype}")))
}

fn onnx_error(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Cast(error) => cast_error(py, error, &[]),
        Error::Shape { .. }
        | Error::Axis { .. }
        | Error::TooLarge(_)
        | Error::Length { .. }
        | Error::ZeroPoint { .. }
        | Error::NotZero { .. }
        | Error::AttributeValue { .. } => PyValueError::new_err(error.to_string()),
        error => dtype_error(py, error.to_string()),
    }
}

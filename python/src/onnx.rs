//! The versions of the ONNX operator Cast.

use crate::dtype;
use crate::errors::dtype_error;
use lanecast::onnx::{AttributeValue, Cast};
use lanecast::{E8M0Round, Saturate, names};
use pyo3::exceptions::PyOverflowError;
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
    let number = |of: &Bound<'_, PyAny>| {
        let dtype = dtype::of_either(of)?.dtype();
        names::onnx_number(dtype).ok_or_else(|| dtype_error(py, format!("ONNX does not support {dtype}")))
    };
    let (from, to) = (number(from_)?, number(to)?);
    let name;
    // Before version 6, the attribute was the name of the dtype.
    let to = if opset < 6 {
        name = names::from_onnx_number(to)
            .and_then(|dtype| names::Namespace::Onnx.name(dtype))
            .unwrap_or_default();
        AttributeValue::String(name.as_bytes())
    } else {
        AttributeValue::Int(to.into())
    };
    let mut attributes = vec![("to", to)];
    attributes.extend(saturate.map(|on| ("saturate", AttributeValue::Int(on.into()))));
    attributes.extend(round_mode.map(|mode| ("round_mode", AttributeValue::String(mode.as_bytes()))));
    let from = i32::from(from);
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

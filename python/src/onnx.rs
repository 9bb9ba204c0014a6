//! What a version of the operator Cast of ONNX allows.

use crate::dtype;
use crate::errors::dtype_error;
use lanecast::onnx::{AttributeValue, Cast};
use lanecast::{E8M0Round, Saturate, names};
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// The options of `astype` that a node Cast comes to in a graph of this opset. DTypeError for what the version in force does not have.
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
        names::onnx_number(dtype).ok_or_else(|| dtype_error(py, format!("ONNX has no dtype {dtype}")))
    };
    let (from, to) = (number(from_)?, number(to)?);
    let name;
    // Before version 6 the attribute was the name.
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

//! `parse`, `format`: numbers and text.

use crate::buffer::PyBuffer;
use crate::dtype;
use crate::errors::cast_error;
use crate::memory::Mode;
use crate::numpy::NumpyArray;
use crate::operand::{Operand, given};
use crate::options::{self, choose};
use lanecast::text::{Exponent, FormatPlan, OnBadText, ParsePlan, Special, TextOptions};
use lanecast::{BufferType, CastOptions, CastPlan};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Parses texts to numbers, each rounded once from its exact decimal value.
///
/// Args:
///     texts: an iterable of str or bytes.
///     dtype: the dtype of the result.
///     on_error: "error" raises ValueError for a text that is no number, or none of the dtype; "nan" and "zero" put that instead.
///     profile, **options: as of `astype`; the profile is "numpy" unless given.
///
/// Returns:
///     A NumPy array, or a `Buffer` where NumPy is not installed.
#[pyfunction]
#[pyo3(signature = (texts, dtype, /, *, on_error="error", profile="numpy", **options))]
pub fn parse<'py>(
    texts: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    on_error: &str,
    profile: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = texts.py();
    let to = dtype::argument(dtype)?;
    let choices = [("error", OnBadText::Error), ("nan", OnBadText::Nan), ("zero", OnBadText::Zero)];
    let text = TextOptions::DEFAULT.with_on_error(choose("on_error", &choices, on_error)?);
    let options = options::options(options::profile(profile)?, given(options))?;
    let plan = ParsePlan::new(to, &text, &options).map_err(|error| cast_error(py, error, &[]))?;
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("texts is one text; pass a list of it"));
    }
    let mut read: Vec<Vec<u8>> = Vec::new();
    for (index, item) in texts.try_iter()?.enumerate() {
        let item = item?;
        read.push(if let Ok(text) = item.cast::<PyString>() {
            text.to_str()?.as_bytes().to_vec()
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            bytes.as_bytes().to_vec()
        } else {
            let kind = item.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "element {index} of texts is of the type {kind}, not str or bytes"
            )));
        });
    }
    let n = read.len();
    let mut out = vec![0; to.byte_len(n).unwrap_or(0)];
    plan.run(&read, &mut out).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let bytes = PyBytes::new(py, &out);
    if py.import("numpy").is_ok() {
        let array = NumpyArray::new(py, &[n], to)?;
        let view = array.object().call_method1("view", ("u1",))?;
        view.set_item(
            pyo3::types::PySlice::full(py),
            py.import("numpy")?.call_method1("frombuffer", (bytes, "u1"))?,
        )?;
        return Ok(array.object().clone());
    }
    PyBuffer::filled(py, to, &[n], &out).map(Bound::into_any)
}

/// Formats the elements of an array, each as the shortest text that parses to the same value.
///
/// Args:
///     x: an array, as of `astype`.
///     special: "lower" writes nan, inf, -inf; "onnx" writes NaN, INF, -INF.
///     exponent: "auto" writes exponents as Python does, "never" none.
///     trailing_dot_zero: whether whole numbers of real floating dtypes end in ".0".
///
/// Returns:
///     The texts in C order, a flat list.
#[pyfunction]
#[pyo3(signature = (x, /, *, special="lower", exponent="auto", trailing_dot_zero=true))]
pub fn format<'py>(
    x: &Bound<'py, PyAny>,
    special: &str,
    exponent: &str,
    trailing_dot_zero: bool,
) -> PyResult<Bound<'py, PyList>> {
    let py = x.py();
    let text = TextOptions::DEFAULT
        .with_special(choose("special", &[("lower", Special::Lower), ("onnx", Special::Onnx)], special)?)
        .with_exponent(choose("exponent", &[("auto", Exponent::Auto), ("never", Exponent::Never)], exponent)?)
        .with_trailing_dot_zero(trailing_dot_zero);
    let source = Operand::source(x)?;
    let native = BufferType::new(source.array.buffer().dtype());
    // The elements one after the other.
    let copy = PyBuffer::new(native, &source.shape)?;
    let failed = |error| cast_error(py, error, &source.shape);
    let plan = CastPlan::new(source.array.buffer(), native, &CastOptions::RUST).map_err(failed)?;
    let (src, dst) = match (source.array.flattened(), copy.array()?.flattened()) {
        (Some(src), Some(dst)) => (src, dst),
        _ => (source.array, copy.array()?),
    };
    let serial = crate::memory::threads(Some(1));
    // SAFETY: the object lives until the call returns; the copy is nobody else's.
    unsafe { crate::memory::run(&plan, Mode::Plain, &src, &dst, serial) }.map_err(failed)?;
    let plan = FormatPlan::new(native, &text).map_err(failed)?;
    let texts = plan.run(copy.bytes(), source.array.elements()).map_err(failed)?;
    PyList::new(py, texts.iter().collect::<Vec<_>>())
}

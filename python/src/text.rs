//! `parse`, `format`: numbers and text.

use crate::buffer::PyBuffer;
use crate::dtype;
use crate::errors::cast_error;
use crate::memory::{self, Array, Mode};
use crate::numpy::NumpyArray;
use crate::operand::{Operand, given};
use crate::options::{self, choose};
use lanecast::text::{Exponent, FormatPlan, OnBadText, ParsePlan, Special, TextOptions};
use lanecast::{BufferType, CastOptions, CastPlan};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

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
    let argument = dtype::argument(dtype)?;
    // Of packed elements, too, one to a byte.
    let to = BufferType::new(argument.dtype()).with_order(argument.order());
    let choices = [("error", OnBadText::Error), ("nan", OnBadText::Nan), ("zero", OnBadText::Zero)];
    let text = TextOptions::DEFAULT.with_on_error(choose("on_error", &choices, on_error)?);
    let options = options::options(options::profile(profile)?, given(options))?;
    let plan = ParsePlan::new(to, &text, &options).map_err(|error| cast_error(py, error, &[]))?;
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("texts is one text; pass a list of it"));
    }
    // Texts are read one by one: those of an array exist only while they are looked at.
    let texts = match texts.len() {
        Ok(_) => texts.clone(),
        Err(_) => py.get_type::<PyTuple>().call1((texts.try_iter()?,))?,
    };
    let n = texts.len()?;
    let (array, result) = if py.import("numpy").is_ok() {
        let new = NumpyArray::new(py, &[n], to)?;
        (new.array()?, new.object().clone())
    } else {
        let new = PyBuffer::new(py, to, &[n])?;
        (new.array()?, Bound::new(py, new)?.into_any())
    };
    // SAFETY: the memory of the result, which nobody else knows yet.
    let out = unsafe { memory::bytes_mut(&array) };
    let mut failed = None;
    let read = texts.try_iter()?.enumerate().map_while(|(index, item)| {
        let text = item.and_then(|item| Text::of(index, item));
        text.map_err(|error| failed = Some(error)).ok()
    });
    let written = plan.run(read, out);
    if let Some(error) = failed {
        return Err(error);
    }
    let written = written.map_err(|error| PyValueError::new_err(error.to_string()))?;
    if written != n {
        return Err(PyValueError::new_err(format!("texts has a length of {n}, but yields {written} texts")));
    }
    Ok(result)
}

/// The bytes of a text of Python.
enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    fn of(index: usize, item: Bound<'_, PyAny>) -> PyResult<Text> {
        let item = match item.cast_into::<PyString>() {
            Ok(text) => return Ok(Text::Str(text.try_into()?)),
            Err(other) => other.into_inner(),
        };
        match item.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(Text::Bytes(bytes.into())),
            Err(other) => {
                let kind = other.into_inner().get_type().name()?.to_string();
                Err(PyTypeError::new_err(format!("element {index} of texts is a {kind}, not str or bytes")))
            }
        }
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }
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
    let failed = |error| cast_error(py, error, &source.shape);
    let list = |array: &Array| {
        let plan = FormatPlan::new(array.buffer(), &text).map_err(failed)?;
        // SAFETY: the elements follow each other in memory that lives until the call returns.
        let texts = plan.run(unsafe { memory::bytes(array) }, array.elements()).map_err(failed)?;
        PyList::new(py, texts.iter())
    };
    if let Some(flat) = source.array.flattened() {
        return list(&flat);
    }
    let native = BufferType::new(source.array.buffer().dtype());
    let copy = PyBuffer::new(py, native, &source.shape)?;
    let plan = CastPlan::new(source.array.buffer(), native, &CastOptions::RUST).map_err(failed)?;
    let serial = memory::threads(Some(1));
    // SAFETY: the object lives until the call returns; the copy is nobody else's.
    unsafe { memory::run(&plan, Mode::Plain, &source.array, &copy.array()?, serial) }.map_err(failed)?;
    list(&copy.array()?)
}

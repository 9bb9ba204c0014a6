//! `parse_text` and `format_text`: conversions between numbers and text.

use crate::buffer::PyBuffer;
use crate::dtype;
use crate::errors::cast_error;
use crate::memory::{self, Array, Mode};
use crate::numpy::NumpyArray;
use crate::operand::Operand;
use crate::options::{self, choose};
use lanecast::text::{Exponent, FormatPlan, OnBadText, ParsePlan, Special, TextError, TextOptions};
use lanecast::{Bytes, CastOptions, CastPlan, Encoding};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

/// Parses numbers. Each is rounded once, from its exact decimal value. Many texts are parsed without the GIL, and Ctrl-C ends the call.
///
/// Args:
///     texts: an iterable of str or bytes.
///     dtype: the dtype of the result.
///     on_error: "error" raises ValueError for text that is not a number of the dtype; "nan" and "zero" store NaN or 0 instead.
///     **options: as for `astype`. The default profile is "numpy".
///
/// Returns:
///     A NumPy array, or a `Buffer` if NumPy is not installed.
///
/// Examples:
///     >>> lanecast.parse_text(["0.1", "-2e3", "inf"], "float32")
///     array([ 1.e-01, -2.e+03,     inf], dtype=float32)
#[pyfunction]
#[pyo3(signature = (texts, dtype, /, *, on_error="error", **options))]
pub fn parse_text<'py>(
    texts: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    on_error: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = texts.py();
    let argument = dtype::argument(dtype)?;
    // One element per byte, even if the dtype argument is packed.
    let to = Encoding::new(argument.dtype()).with_order(argument.order());
    let choices = [("error", OnBadText::Error), ("nan", OnBadText::Nan), ("zero", OnBadText::Zero)];
    let text = TextOptions::DEFAULT.with_on_error(choose("on_error", &choices, on_error)?);
    let options = options::options(CastOptions::NUMPY, options)?;
    let plan = ParsePlan::new(to, &text, &options).map_err(|error| cast_error(py, error, &[]))?;
    if texts.is_instance_of::<PyString>() || texts.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("texts must be an iterable of str or bytes, not a single text"));
    }
    // The texts are read one at a time, since an array of text creates them on demand.
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
    // SAFETY: nobody else has access to the result yet.
    let mut out = unsafe { memory::bytes_mut(&array) };
    let mut items = texts.try_iter()?;
    let (size, mut first) = (to.dtype().size(), 0);
    while first < n {
        let mut failed = None;
        let len = BATCH.min(n - first);
        let read = items.by_ref().take(len).enumerate().map_while(|(index, item)| {
            let text = item.and_then(|item| Text::of(first + index, item));
            text.map_err(|error| failed = Some(error)).ok()
        });
        let written = if len > LONG {
            let batch: Vec<Text> = read.collect();
            detached(py, || plan.run(&batch, out))?
        } else {
            plan.run(read, out)
        };
        let written = written.map_err(|error| PyValueError::new_err(after(error, first).to_string()))?;
        if let Some(error) = failed {
            return Err(error);
        }
        if written == 0 {
            break;
        }
        out = &mut out[written * size..];
        first += written;
    }
    // The iterator ended early, or goes on.
    let more = items.next().transpose()?.is_some();
    if first < n || more {
        let yielded = if more { format!("more than {n}") } else { first.to_string() };
        return Err(PyValueError::new_err(format!("texts has length {n}, but yielded {yielded} texts")));
    }
    Ok(result)
}

/// The texts that are parsed or formatted at a time. The GIL is held between batches.
const BATCH: usize = 1 << 16;

/// More texts take longer than it may take to get the GIL back.
const LONG: usize = 1 << 10;

/// Works without the GIL, and then runs the handlers of signals.
fn detached<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let done = py.detach(work);
    py.check_signals().map(|()| done)
}

/// The error about a text of a batch, with its index among all texts.
fn after(mut error: TextError, first: usize) -> TextError {
    if let TextError::Text { index, .. } = &mut error {
        *index += first;
    }
    error
}

/// The bytes of a str or bytes object.
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
                Err(PyTypeError::new_err(format!(
                    "element {index} of texts must be str or bytes, not {kind}"
                )))
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

/// Formats the elements of an array. Each text is the shortest one that parses to the same value. Many elements are formatted without the
/// GIL, and Ctrl-C ends the call.
///
/// Args:
///     x: an array, as for `astype`.
///     special: "lower" writes nan, inf and -inf; "onnx" writes NaN, INF and -INF.
///     exponent: "auto" writes exponents as Python does; "never" writes none.
///     trailing_dot_zero: whether whole numbers of real floating-point dtypes end in ".0".
///
/// Returns:
///     A flat list of texts, in C order.
///
/// Examples:
///     >>> lanecast.format_text(np.array([0.1, 1e16, np.nan]))
///     ['0.1', '1e+16', 'nan']
#[pyfunction]
#[pyo3(signature = (x, /, *, special="lower", exponent="auto", trailing_dot_zero=true))]
pub fn format_text<'py>(
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
        let plan = FormatPlan::new(array.encoding(), &text).map_err(failed)?;
        let (list, n) = (PyList::empty(py), array.elements());
        // SAFETY: the elements are contiguous, in memory that lives until the call returns.
        let src = unsafe { memory::bytes(array) };
        for first in (0..n).step_by(BATCH) {
            let count = BATCH.min(n - first);
            // A batch begins on a whole byte.
            let rest = &src[array.encoding().byte_len(first).unwrap_or(src.len())..];
            let run = || plan.run(Bytes::new(rest, count));
            let texts = if count > LONG { detached(py, run)? } else { run() }.map_err(failed)?;
            texts.iter().try_for_each(|text| list.append(text))?;
        }
        Ok(list)
    };
    if let Some(flat) = source.array.flattened() {
        return list(&flat);
    }
    let native = Encoding::new(source.array.encoding().dtype());
    let copy = PyBuffer::new(py, native, &source.shape)?;
    let plan = CastPlan::new(source.array.encoding(), native, &CastOptions::RUST).map_err(failed)?;
    let elements = copy.array()?;
    // SAFETY: the object lives until the call returns, and nobody else uses the copy.
    let done = unsafe {
        memory::run_detached(py, &plan, Mode::Plain, &source.array, &elements, memory::threads(None))
    };
    done.map_err(|error| cast_error(py, error, &source.shape))?;
    list(&elements)
}

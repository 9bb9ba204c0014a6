//! The exceptions of `lanecast._errors`, and the conversion of errors of the crate to exceptions.

use crate::memory::Axes;
use crate::memory::interrupt::Stopped;
use lanecast::promote::PromotionError;
use lanecast::scaled::ScaledError;
use lanecast::{CastError, DType, Rejection, RejectionReason};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyTuple, PyType};

/// An exception class that is defined in Python.
struct Class {
    name: &'static str,
    class: PyOnceLock<Py<PyType>>,
}

impl Class {
    const fn new(name: &'static str) -> Class {
        Class { name, class: PyOnceLock::new() }
    }

    fn error<A: pyo3::PyErrArguments + Send + Sync + 'static>(&self, py: Python<'_>, arguments: A) -> PyErr {
        match self.class.import(py, "lanecast._errors", self.name) {
            Ok(class) => PyErr::from_type(class.clone(), arguments),
            Err(error) => error,
        }
    }
}

static DTYPE: Class = Class::new("DTypeError");
static OVERLAP: Class = Class::new("OverlapError");
static PROMOTION: Class = Class::new("PromotionError");
static FORMAT: Class = Class::new("FormatError");
static LOSS: Class = Class::new("LossError");

pub fn dtype_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    DTYPE.error(py, message.into())
}

pub fn overlap_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    OVERLAP.error(py, message.into())
}

pub fn format_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    FORMAT.error(py, message.into())
}

pub fn promotion_error(py: Python<'_>, error: &PromotionError) -> PyErr {
    PROMOTION.error(py, error.to_string())
}

/// The exception for a failed cast of an array of this shape.
pub fn cast_error(py: Python<'_>, error: impl Into<Stopped>, shape: &[usize]) -> PyErr {
    let error = match error.into() {
        Stopped::Failed(error) => error,
        Stopped::Raised(error) => return error,
    };
    match error {
        CastError::Rejected(found) => loss_error(py, &found, shape).unwrap_or_else(|error| error),
        CastError::Overlap { .. } => {
            overlap_error(py, "`out` overlaps the source, and the cast is not in place; cast without `out`")
        }
        CastError::TooLarge { .. } => PyMemoryError::new_err(error.to_string()),
        CastError::NotBuilt { .. } | CastError::UnknownName(_) => dtype_error(py, error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for a failed scaled cast.
pub fn scaled_error(py: Python<'_>, error: ScaledError) -> PyErr {
    match error {
        ScaledError::Cast(error) => cast_error(py, error, &[]),
        ScaledError::Source { .. } | ScaledError::Target { .. } | ScaledError::Element { .. } => {
            dtype_error(py, error.to_string())
        }
        error => PyValueError::new_err(error.to_string()),
    }
}

const fn reason(reason: RejectionReason) -> &'static str {
    match reason {
        RejectionReason::Nan => "nan",
        RejectionReason::Overflow => "overflow",
        RejectionReason::Negative => "negative",
        RejectionReason::NoZero => "no_zero",
        RejectionReason::Imaginary => "imaginary",
        RejectionReason::Underflow => "underflow",
        RejectionReason::Inexact => "inexact",
        _ => "other",
    }
}

fn loss_error(py: Python<'_>, found: &Rejection, shape: &[usize]) -> PyResult<PyErr> {
    let mut left = found.index;
    let mut index: Axes<usize> = shape
        .iter()
        .rev()
        .map(|len| {
            let at = left % len.max(&1);
            left /= len.max(&1);
            at
        })
        .collect();
    index.reverse();
    let index = PyTuple::new(py, index)?;
    let Rejection { value, to, .. } = found;
    let place = if shape.len() == 1 { found.index.to_string() } else { index.to_string() };
    let message =
        format!("element {place}, the {} {value}, does not fit in {to}: {}", value.dtype(), found.reason);
    let is_complex = matches!(value.dtype(), DType::Complex64 | DType::Complex128);
    let number = match (value.integer(), value.parts()) {
        (Some(integer), _) if value.dtype() == DType::Bool => {
            PyBool::new(py, integer != 0).to_owned().into_any()
        }
        (Some(integer), _) => integer.into_pyobject(py)?.into_any(),
        (None, Some((re, im))) if is_complex => PyComplex::from_doubles(py, re, im).into_any(),
        (None, Some((re, _))) => re.into_pyobject(py)?.into_any(),
        (None, None) => value.code().into_pyobject(py)?.into_any(),
    };
    Ok(LOSS.error(py, (message, index.unbind(), number.unbind(), reason(found.reason))))
}

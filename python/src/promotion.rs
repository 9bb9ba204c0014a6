//! `result_type`, `promote_types` and `can_cast`.

use crate::dtype::{self, PyDType};
use crate::errors::promotion_error;
use crate::libraries;
use crate::numpy;
use lanecast::promote::{self, Casting, NumberKind, Operand, Promotion, Standard};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyTuple, PyType};

fn standard(name: &str) -> PyResult<Standard> {
    name.parse().map_err(|error: lanecast::UnknownName| PyValueError::new_err(error.to_string()))
}

/// The operand that an argument stands for.
fn operand(value: &Bound<'_, PyAny>) -> PyResult<Operand> {
    let py = value.py();
    if value.is_exact_instance_of::<PyBool>() {
        return Ok(Operand::Number(NumberKind::Bool));
    }
    if value.is_exact_instance_of::<PyInt>() {
        // Values beyond 128 bits are out of range for every dtype, like the largest one.
        return Ok(value.extract().map_or(Operand::Int(i128::MAX), Operand::Int));
    }
    if value.is_exact_instance_of::<PyFloat>() {
        return Ok(Operand::Number(NumberKind::Float));
    }
    if value.is_exact_instance_of::<PyComplex>() {
        return Ok(Operand::Number(NumberKind::Complex));
    }
    let is_dtype = value.is_instance_of::<PyDType>()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyType>()
        || numpy::is_dtype(value);
    if is_dtype || !value.hasattr(intern!(py, "dtype"))? {
        return Ok(Operand::Array(dtype::argument(value)?.dtype()));
    }
    let dtype = dtype::argument(&libraries::dtype_of(value)?)?.dtype();
    if value.getattr_opt(intern!(py, "weak_type"))?.is_some_and(|weak| weak.is_truthy().unwrap_or(false)) {
        return Ok(Operand::Weak(dtype));
    }
    let axes = match value.getattr_opt(intern!(py, "ndim"))? {
        Some(axes) => axes.extract::<usize>()?,
        None => 1,
    };
    Ok(if axes == 0 { Operand::ZeroDim(dtype) } else { Operand::Array(dtype) })
}

/// The dtype that results from combining operands.
///
/// Args:
///     *operands: one or more arrays, dtypes or Python numbers.
///     standard: the rules: "numpy", "array_api", "torch", "jax", "jax_strict", "mindspore", "megengine", "megengine_core" or "onnx".
///     default_float, default_int: the default dtypes of Python numbers, for standards that let programs set them.
///     x64: False selects JAX without 64-bit dtypes.
///
/// Raises:
///     PromotionError: the standard defines no common dtype for the operands, or lacks one of the dtypes.
///
/// Examples:
///     >>> lanecast.result_type("int8", "uint8", standard="numpy")
///     lanecast.int16
///     >>> lanecast.result_type("bfloat16", 2.5, standard="jax")
///     lanecast.bfloat16
#[pyfunction]
#[pyo3(signature = (*operands, standard, default_float=None, default_int=None, x64=None))]
pub fn result_type<'py>(
    py: Python<'py>,
    operands: &Bound<'py, PyTuple>,
    standard: &str,
    default_float: Option<&Bound<'py, PyAny>>,
    default_int: Option<&Bound<'py, PyAny>>,
    x64: Option<bool>,
) -> PyResult<Bound<'py, PyDType>> {
    let failed = |error: promote::PromotionError| promotion_error(py, &error);
    let mut rules = Promotion::new(self::standard(standard)?);
    if let Some(default) = default_float {
        rules = rules.with_float(dtype::argument(default)?.dtype()).map_err(failed)?;
    }
    if let Some(default) = default_int {
        rules = rules.with_int(dtype::argument(default)?.dtype()).map_err(failed)?;
    }
    if let Some(x64) = x64 {
        rules = rules.with_x64(x64).map_err(failed)?;
    }
    let operands: Vec<Operand> = operands.iter().map(|value| operand(&value)).collect::<PyResult<_>>()?;
    let resolved = rules.promote_all(&operands).map_err(failed)?;
    dtype::object(py, resolved.dtype)
}

/// The dtype that results from combining arrays of two dtypes.
///
/// Raises:
///     PromotionError: as for `result_type`.
///
/// Examples:
///     >>> lanecast.promote_types("float16", "bfloat16", standard="torch")
///     lanecast.float32
#[pyfunction]
#[pyo3(signature = (a, b, /, *, standard))]
pub fn promote_types<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    standard: &str,
) -> PyResult<Bound<'py, PyDType>> {
    let py = a.py();
    let (a, b) = (dtype::of_either(a)?.dtype(), dtype::of_either(b)?.dtype());
    let promoted = promote::promote(self::standard(standard)?, a, b);
    dtype::object(py, promoted.map_err(|error| promotion_error(py, &error))?)
}

/// Whether a standard allows a cast.
///
/// Args:
///     source, target: dtypes or arrays.
///     standard: as for `result_type`.
///     casting: "lossless" (keeps every value), "safe", "same_kind" or "unsafe".
///
/// Raises:
///     PromotionError: the standard lacks one of the dtypes.
///
/// Examples:
///     >>> lanecast.can_cast("int16", "int8", standard="numpy"), lanecast.can_cast("int16", "int8", standard="numpy", casting="same_kind")
///     (False, True)
#[pyfunction]
#[pyo3(signature = (source, target, /, *, standard, casting="safe"))]
pub fn can_cast(
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    standard: &str,
    casting: &str,
) -> PyResult<bool> {
    let level = crate::options::choose(
        "casting",
        &[
            ("lossless", Casting::Lossless),
            ("safe", Casting::Safe),
            ("same_kind", Casting::SameKind),
            ("unsafe", Casting::Unsafe),
        ],
        casting,
    )?;
    let (from, to) = (dtype::of_either(source)?.dtype(), dtype::of_either(target)?.dtype());
    promote::can_cast(self::standard(standard)?, from, to, level)
        .map_err(|error| promotion_error(source.py(), &error))
}

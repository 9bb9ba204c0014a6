//! `finfo`, `iinfo` and `isdtype`: the limits and kinds of dtypes.

use crate::dtype::{self, PyDType};
use crate::errors::dtype_error;
use lanecast::{DType, DTypeKind, FInfo, IInfo};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::hash::{Hash, Hasher};

/// The limits of a floating-point dtype, or of the components of a complex dtype, as Python floats. Returned by `finfo`.
///
/// Examples:
///     >>> lanecast.finfo("float16").smallest_normal
///     6.103515625e-05
#[pyclass(frozen, eq, hash, name = "FInfo", module = "lanecast")]
pub struct PyFInfo {
    dtype: DType,
    info: FInfo,
}

impl PartialEq for PyFInfo {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype
    }
}

impl Hash for PyFInfo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
    }
}

#[pymethods]
impl PyFInfo {
    /// The real dtype with these limits.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype)
    }
    /// The size of an element in bits.
    #[getter]
    fn bits(&self) -> u32 {
        self.info.bits
    }
    /// The distance from 1 to the next larger value.
    #[getter]
    fn eps(&self) -> f64 {
        self.info.eps
    }
    /// The distance from 1 to the next smaller value.
    #[getter]
    fn epsneg(&self) -> f64 {
        self.info.epsneg
    }
    /// The largest finite value.
    #[getter]
    fn max(&self) -> f64 {
        self.info.max
    }
    /// The smallest finite value.
    #[getter]
    fn min(&self) -> f64 {
        self.info.min
    }
    /// The smallest positive normal value.
    #[getter]
    fn smallest_normal(&self) -> f64 {
        self.info.smallest_normal
    }
    /// The smallest positive value.
    #[getter]
    fn smallest_subnormal(&self) -> f64 {
        self.info.smallest_subnormal
    }
    /// The width of the exponent field in bits.
    #[getter]
    fn exponent_bits(&self) -> u32 {
        self.info.exponent_bits
    }
    /// The width of the mantissa field in bits.
    #[getter]
    fn mantissa_bits(&self) -> u32 {
        self.info.mantissa_bits
    }
    /// The exponent bias.
    #[getter]
    fn bias(&self) -> i32 {
        self.info.bias
    }
    /// Pickles the call that returns equal limits.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDType>,))> {
        Ok((py.import("lanecast")?.getattr("finfo")?, (self.dtype(py)?,)))
    }
    fn __repr__(&self) -> String {
        let FInfo { bits, eps, max, min, smallest_normal, .. } = self.info;
        format!(
            "finfo(dtype={}, bits={bits}, eps={eps:?}, min={min:?}, max={max:?}, smallest_normal={smallest_normal:?})",
            self.dtype
        )
    }
}

/// The limits of an integer dtype. Returned by `iinfo`.
///
/// Examples:
///     >>> lanecast.iinfo("uint64").max
///     18446744073709551615
#[pyclass(frozen, eq, hash, name = "IInfo", module = "lanecast")]
pub struct PyIInfo {
    dtype: DType,
    info: IInfo,
}

impl PartialEq for PyIInfo {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype
    }
}

impl Hash for PyIInfo {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
    }
}

#[pymethods]
impl PyIInfo {
    /// The dtype.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype)
    }
    /// The size of an element in bits.
    #[getter]
    fn bits(&self) -> u32 {
        self.info.bits
    }
    /// The largest value.
    #[getter]
    fn max(&self) -> i128 {
        self.info.max
    }
    /// The smallest value.
    #[getter]
    fn min(&self) -> i128 {
        self.info.min
    }
    /// Pickles the call that returns equal limits.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyDType>,))> {
        Ok((py.import("lanecast")?.getattr("iinfo")?, (self.dtype(py)?,)))
    }
    fn __repr__(&self) -> String {
        let IInfo { bits, min, max, .. } = self.info;
        format!("iinfo(dtype={}, bits={bits}, min={min}, max={max})", self.dtype)
    }
}

/// The limits of a floating-point or complex dtype or array. Raises DTypeError for other dtypes.
///
/// Examples:
///     >>> lanecast.finfo("float8_e4m3fn").max
///     448.0
#[pyfunction]
#[pyo3(signature = (dtype, /))]
pub fn finfo(dtype: &Bound<'_, PyAny>) -> PyResult<PyFInfo> {
    let py = dtype.py();
    let dtype = dtype::of_either(dtype)?.dtype();
    let info = dtype.finfo().ok_or_else(|| {
        dtype_error(py, format!("{dtype} is not a floating-point dtype; use iinfo for integers"))
    })?;
    let part = match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        real => real,
    };
    Ok(PyFInfo { dtype: part, info })
}

/// The limits of an integer dtype or array. Raises DTypeError for other dtypes, including bool.
///
/// Examples:
///     >>> lanecast.iinfo("int4")
///     iinfo(dtype=int4, bits=4, min=-8, max=7)
#[pyfunction]
#[pyo3(signature = (dtype, /))]
pub fn iinfo(dtype: &Bound<'_, PyAny>) -> PyResult<PyIInfo> {
    let py = dtype.py();
    let dtype = dtype::of_either(dtype)?.dtype();
    let info = dtype.iinfo().ok_or_else(|| {
        dtype_error(py, format!("{dtype} is not an integer dtype; use finfo for floating-point dtypes"))
    })?;
    Ok(PyIInfo { dtype, info })
}

/// Whether a dtype matches a kind of the array API: another dtype, "bool", "signed integer", "unsigned integer", "integral", "real
/// floating", "complex floating", "numeric", or a tuple of these; at least one of them must match.
///
/// Examples:
///     >>> lanecast.isdtype("bfloat16", "real floating"), lanecast.isdtype("int8", ("bool", "unsigned integer"))
///     (True, False)
#[pyfunction]
#[pyo3(signature = (dtype, kind, /))]
pub fn isdtype(dtype: &Bound<'_, PyAny>, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let found = dtype::argument(dtype)?.dtype();
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        // Looks at all of them, so that an invalid one is always reported.
        return kinds.iter().try_fold(false, |any, kind| Ok(is_kind(found, &kind)? || any));
    }
    is_kind(found, kind)
}

fn is_kind(dtype: DType, kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Ok(name) = kind.cast::<PyString>() else {
        return Ok(dtype::argument(kind)?.dtype() == dtype);
    };
    if let Ok(kind) = name.to_str()?.parse::<DTypeKind>() {
        return Ok(dtype.is(kind));
    }
    if name.to_str()? != "bool" && DType::EVERY.iter().any(|dtype| name == dtype.name()) {
        return Ok(dtype::argument(kind)?.dtype() == dtype);
    }
    let names: Vec<_> = DTypeKind::ALL.iter().map(|kind| format!("{:?}", kind.name())).collect();
    Err(PyValueError::new_err(format!("unknown kind {name:?}; pass a dtype or one of {}", names.join(", "))))
}

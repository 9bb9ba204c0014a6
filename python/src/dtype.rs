//! [`PyDType`], and conversions of dtype arguments.

use crate::errors::dtype_error;
use crate::{libraries, numpy, torch};
use lanecast::{DType, Encoding, Kind, names};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyModule, PyString, PyType};

/// The dtype of array elements. Each dtype is a single object, such as `lanecast.float8_e4m3fn`, so `is` and `==` both compare dtypes.
///
/// A `DType` also equals its full name, with which it shares its hash: `lanecast.int8 == "int8"`. It equals the `numpy.dtype` with the same
/// elements, whose hash differs: as keys of one dict, use either kind but not both.
///
/// Examples:
///     >>> lanecast.float8_e4m3fn.bits, lanecast.float8_e4m3fn.kind
///     (8, 'real floating')
///     >>> lanecast.int8 == "int8" == lanecast.int8.name
///     True
#[pyclass(frozen, name = "DType", module = "lanecast")]
pub struct PyDType {
    pub dtype: DType,
}

/// The objects, indexed by code.
static SINGLETONS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// Adds the objects to the module.
pub fn add_singletons(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for dtype in DType::EVERY {
        module.add(attribute(*dtype), object(module.py(), *dtype)?)?;
    }
    Ok(())
}

/// The name of the object in the module. That of bool does not shadow the builtin.
fn attribute(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool_",
        other => other.name(),
    }
}

/// The object of a dtype.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyDType>> {
    let all = SINGLETONS.get_or_try_init(py, || {
        DType::EVERY.iter().map(|dtype| Py::new(py, PyDType { dtype: *dtype })).collect::<PyResult<Vec<_>>>()
    })?;
    Ok(all[usize::from(dtype.code())].bind(py).clone())
}

#[pymethods]
impl PyDType {
    /// The name, as in NumPy and ml_dtypes.
    #[getter]
    fn name(&self) -> &'static str {
        self.dtype.name()
    }

    /// The size of an element in bits.
    #[getter]
    fn bits(&self) -> u32 {
        self.dtype.bits()
    }

    /// The size of an array element in bytes; 1 for sub-byte dtypes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype.size()
    }

    /// The number of the dtype in the C API, which is the same in every version.
    #[getter]
    fn code(&self) -> u8 {
        self.dtype.code()
    }

    /// `"bool"`, `"signed integer"`, `"unsigned integer"`, `"real floating"` or `"complex floating"`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.dtype.kind() {
            Kind::Bool => "bool",
            Kind::SignedInt => "signed integer",
            Kind::UnsignedInt => "unsigned integer",
            Kind::Float => "real floating",
            Kind::Complex => "complex floating",
        }
    }

    /// The `numpy.dtype`, which may be one of ml_dtypes. Raises ImportError if the package is not installed.
    #[getter]
    fn numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        numpy::imported(py)?;
        Ok(numpy::descr(py, Encoding::new(self.dtype))?.unbind())
    }

    /// The `numpy.dtype` for NumPy itself, which reads this attribute in `np.dtype(lanecast.float32)` and wherever it takes a dtype. Raises
    /// DTypeError if ml_dtypes, whose dtype it is, is not installed or lacks it.
    #[getter(dtype)]
    fn for_numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numpy(py).map_err(|error| {
            if !error.is_instance_of::<PyImportError>(py) {
                return error;
            }
            // NumPy expects a TypeError.
            let refused = dtype_error(py, error.value(py).to_string());
            refused.set_cause(py, Some(error));
            refused
        })
    }

    /// The `torch.dtype`. Raises DTypeError if PyTorch lacks the dtype, and ImportError if PyTorch is not installed.
    #[getter]
    fn torch(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        py.import("torch")?;
        Ok(torch::dtype(py, self.dtype)?.unbind())
    }

    fn __repr__(&self) -> String {
        format!("lanecast.{}", attribute(self.dtype))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = other.py();
        let equal = match (other.cast_exact::<PyDType>(), other.cast::<PyString>()) {
            (Ok(other), _) => other.get().dtype == self.dtype,
            (_, Ok(name)) => name.to_str().is_ok_and(|name| name == self.dtype.name()),
            // `numpy.dtype` compares itself.
            _ => return Ok(py.NotImplemented()),
        };
        Ok(PyBool::new(py, equal).to_owned().into_any().unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, self.dtype.name()).hash()
    }

    fn __str__(&self) -> &'static str {
        self.dtype.name()
    }

    /// Pickles the object by its global name.
    fn __reduce__(&self) -> &'static str {
        attribute(self.dtype)
    }
}

/// The `DType` of anything that names a dtype: a full name, `numpy.dtype`, scalar class, `torch.dtype`, `jnp` type or `DType`. A `DType` has
/// no byte order, so the order of a `numpy.dtype` is dropped. Raises DTypeError for other values.
///
/// Examples:
///     >>> lanecast.dtype(np.dtype("i1"))
///     lanecast.int8
#[pyfunction]
#[pyo3(name = "dtype", signature = (value, /))]
pub fn make<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDType>> {
    object(value.py(), argument(value)?.dtype())
}

/// The dtype and byte order of a dtype argument.
pub fn argument(value: &Bound<'_, PyAny>) -> PyResult<Encoding> {
    let py = value.py();
    if let Ok(dtype) = value.cast_exact::<PyDType>() {
        return Ok(Encoding::new(dtype.get().dtype));
    }
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(Encoding::new(by_name(py, name.to_str()?)?));
    }
    if let Some(found) = numpy::dtype_argument(value)? {
        return Ok(found);
    }
    if let Some(found) = torch::dtype_argument(value)? {
        return Ok(found);
    }
    if let Ok(class) = value.cast::<PyType>() {
        // Scalar types of `jax.numpy` have a `numpy.dtype` in this attribute. Classes of NumPy do not.
        if let Ok(dtype) = class.getattr("dtype")
            && let Some(found) = numpy::dtype_argument(&dtype)?
        {
            return Ok(found);
        }
        return Err(refused_class(class)?);
    }
    Err(dtype_error(
        py,
        format!(
            "{} is not a dtype; pass a lanecast.DType, a numpy.dtype, a scalar class, a torch.dtype, or a name such as \"float32\"",
            value.repr()?
        ),
    ))
}

fn by_name(py: Python<'_>, name: &str) -> PyResult<DType> {
    if let Some(dtype) = DType::EVERY.iter().find(|dtype| dtype.name() == name) {
        return Ok(*dtype);
    }
    let mut meanings: Vec<&str> = Vec::new();
    let known = [name.parse::<DType>().ok(), names::Namespace::NumPy.parse(name).ok()];
    let others = names::Namespace::ALL.iter().map(|namespace| namespace.parse(name).ok());
    for dtype in known.into_iter().chain(others).flatten() {
        if !meanings.contains(&dtype.name()) {
            meanings.push(dtype.name());
        }
    }
    let advice = if meanings.is_empty() {
        let all: Vec<_> = DType::EVERY.iter().map(|dtype| dtype.name()).collect();
        format!("the names are {}", all.join(", "))
    } else {
        let full: Vec<_> = meanings.iter().map(|name| format!("{name:?}")).collect();
        format!("short names are ambiguous between libraries; write {} instead", full.join(" or "))
    };
    Err(dtype_error(py, format!("{name:?} is not the name of a dtype: {advice}")))
}

fn refused_class(class: &Bound<'_, PyType>) -> PyResult<PyErr> {
    let py = class.py();
    let name = class.name()?;
    let name = name.to_str()?;
    let builtins = class.getattr("__module__")?.eq("builtins")?;
    let instead = match name {
        "float" => "\"float64\" or \"float32\"",
        "int" => "\"int64\" or \"int32\"",
        "complex" => "\"complex128\" or \"complex64\"",
        _ => "",
    };
    Ok(dtype_error(
        py,
        if builtins && !instead.is_empty() {
            format!("the width of the Python type {name} depends on the library; write {instead}")
        } else {
            format!("the class {} is not a dtype", class.repr()?)
        },
    ))
}

/// The dtype of a dtype or an array.
pub fn of_either(value: &Bound<'_, PyAny>) -> PyResult<Encoding> {
    // A `numpy.str_` has both attributes, too.
    let is_array = !value.is_instance_of::<PyString>()
        && !value.is_instance_of::<PyType>()
        && !value.is_instance_of::<PyDType>()
        && value.hasattr("dtype")?
        && value.hasattr("shape")?
        && !numpy::is_dtype(value);
    if is_array {
        return argument(&libraries::dtype_of(value)?);
    }
    argument(value)
}

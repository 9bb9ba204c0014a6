//! [`PyDType`], and what is understood as a dtype.

use crate::errors::dtype_error;
use crate::{libraries, numpy, torch};
use lanecast::{BufferType, DType, Kind, names};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyModule, PyString, PyType};

/// The dtype of the elements of an array. There is one object for each, `lanecast.float8_e4m3fn`, so dtypes are compared by `is` or
/// `==`.
#[pyclass(frozen, name = "DType", module = "lanecast")]
pub struct PyDType {
    pub dtype: DType,
}

/// The objects, by their codes.
static SINGLETONS: PyOnceLock<Vec<Py<PyDType>>> = PyOnceLock::new();

/// Makes the objects, as attributes of the module.
pub fn add_singletons(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for dtype in DType::EVERY {
        module.add(dtype.name(), object(module.py(), *dtype)?)?;
    }
    Ok(())
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
    /// The name, as NumPy and ml_dtypes have it.
    #[getter]
    fn name(&self) -> &'static str {
        self.dtype.name()
    }

    /// Bits of an element.
    #[getter]
    fn bits(&self) -> u32 {
        self.dtype.bits()
    }

    /// Bytes of an element in an array; 1 for elements of less than a byte.
    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype.size()
    }

    /// The number of the dtype in the C interface; it does not change between versions.
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

    /// The `numpy.dtype`, from ml_dtypes if NumPy does not have it. ImportError if the package is missing.
    #[getter]
    fn numpy(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        numpy::imported(py)?;
        Ok(numpy::descr(py, BufferType::new(self.dtype))?.unbind())
    }

    /// The `torch.dtype`. DTypeError if PyTorch has no such dtype, ImportError if it is missing.
    #[getter]
    fn torch(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        py.import("torch")?;
        Ok(torch::dtype(py, self.dtype)?.unbind())
    }

    fn __repr__(&self) -> String {
        format!("lanecast.{}", self.dtype.name())
    }

    fn __str__(&self) -> &'static str {
        self.dtype.name()
    }

    /// Pickled as the global name.
    fn __reduce__(&self) -> &'static str {
        self.dtype.name()
    }
}

/// The dtype that an argument names, with its byte order.
pub fn argument(value: &Bound<'_, PyAny>) -> PyResult<BufferType> {
    let py = value.py();
    if let Ok(dtype) = value.cast_exact::<PyDType>() {
        return Ok(BufferType::new(dtype.get().dtype));
    }
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(BufferType::new(by_name(py, name.to_str()?)?));
    }
    if let Some(found) = numpy::dtype_argument(value)? {
        return Ok(found);
    }
    if let Some(found) = torch::dtype_argument(value)? {
        return Ok(found);
    }
    if let Ok(class) = value.cast::<PyType>() {
        // A scalar type of `jax.numpy`, whose attribute is an instance; that of a class of NumPy is not.
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
    let known = [DType::from_name(name), names::parse_numpy(name).ok().map(|(dtype, _)| dtype)];
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
        format!("libraries differ about short names; write {} in full", full.join(" or "))
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
            format!(
                "the Python type {name} has no fixed width, and libraries differ about it; write {instead}"
            )
        } else {
            format!("the class {} is not a dtype", class.repr()?)
        },
    ))
}

/// The dtype of an argument that is a dtype or an array.
pub fn of_either(value: &Bound<'_, PyAny>) -> PyResult<BufferType> {
    let is_array = !value.is_instance_of::<PyType>()
        && !value.is_instance_of::<PyDType>()
        && value.hasattr("dtype")?
        && value.hasattr("shape")?
        && !numpy::is_dtype(value);
    if is_array {
        return argument(&libraries::dtype_of(value)?);
    }
    argument(value)
}

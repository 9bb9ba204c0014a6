//! Finds out which library an object belongs to, without importing any of them.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

/// A module, if the program has imported it.
pub fn loaded<'py>(py: Python<'py>, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?.unbind())
    })?;
    Ok(modules.bind(py).get_item(name)?.filter(|module| !module.is_none()))
}

/// Whether the value is an instance of a class of a module. False if the module was not imported.
pub fn is_instance(value: &Bound<'_, PyAny>, module: &Bound<'_, PyString>, class: &str) -> PyResult<bool> {
    let Some(module) = loaded(value.py(), module)? else { return Ok(false) };
    // A module that is still being imported may lack the class.
    let Ok(class) = module.getattr(class) else { return Ok(false) };
    value.is_instance(&class)
}

/// The `dtype` attribute of an array.
pub fn dtype_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value.getattr(intern!(value.py(), "dtype"))
}

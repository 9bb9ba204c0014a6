//! Allows the main interpreter only.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Rejects sub-interpreters. Dtypes and classes are objects of one interpreter, and `PyGILState_Ensure`, which the deleters of DLPack call,
/// attaches threads to the main one. Python itself rejects interpreters with their own GIL.
pub fn claim(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the token proves that this thread is attached to an interpreter.
    let own = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if own == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "lanecast supports the main interpreter only and cannot be imported in a sub-interpreter",
    ))
}

//! The one interpreter that may use the module.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Refuses a second interpreter of the process: dtypes and classes are objects of the first one. Interpreters with a lock of their own
/// are refused by Python itself.
pub fn claim(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the token says that this thread is attached to an interpreter.
    let own = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != own => Err(PyImportError::new_err(
            "lanecast can be used by one interpreter of a process only, not by a sub-interpreter",
        )),
        _ => Ok(()),
    }
}

//! Allows a single interpreter per process.

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};

static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Rejects a second interpreter in the process, because dtypes and classes are objects of the first one. Python itself rejects
/// interpreters with their own GIL.
pub fn claim(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the token proves that this thread is attached to an interpreter.
    let own = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, own, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != own => Err(PyImportError::new_err(
            "lanecast supports one interpreter per process and cannot be imported in a sub-interpreter",
        )),
        _ => Ok(()),
    }
}

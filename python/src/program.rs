//! The program `lanecast`, which the package installs.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::io::Write;

/// Runs the program with these arguments and returns its exit code. It handles signals from then on.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
pub fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = lanecast_cli::run(arguments);
        // Python ends the process, and knows nothing of this buffer. The program has reported what it could not write.
        let _ = std::io::stdout().flush();
        code
    })
}

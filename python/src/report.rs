//! [`PyReport`]: what a cast lost.

use lanecast::CastReport;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How many values a cast lost, and how. Each value is counted once at most; the parts of a complex number are counted one by one.
#[pyclass(frozen, eq, hash, name = "Report", module = "lanecast")]
#[derive(PartialEq, Eq, Hash)]
pub struct PyReport {
    report: CastReport,
}

impl PyReport {
    pub const fn new(report: CastReport) -> PyReport {
        PyReport { report }
    }
}

#[pymethods]
impl PyReport {
    /// Elements that were cast.
    #[getter]
    fn elements(&self) -> u64 {
        self.report.elements
    }

    /// Values clamped to an end of the range, infinities included.
    #[getter]
    fn saturated(&self) -> u64 {
        self.report.saturated
    }

    /// Values reduced modulo the range of an integer dtype.
    #[getter]
    fn wrapped(&self) -> u64 {
        self.report.wrapped
    }

    /// Finite values that became infinite.
    #[getter]
    fn overflowed_to_infinity(&self) -> u64 {
        self.report.overflowed_to_infinity
    }

    /// Numbers and infinities that became NaN.
    #[getter]
    fn became_nan(&self) -> u64 {
        self.report.became_nan
    }

    /// NaNs that became a number.
    #[getter]
    fn nan_lost(&self) -> u64 {
        self.report.nan_lost
    }

    /// Imaginary parts, not zero, that were dropped.
    #[getter]
    fn imaginary_dropped(&self) -> u64 {
        self.report.imaginary_dropped
    }

    /// Values other than zero that became zero in a float dtype.
    #[getter]
    fn underflowed_to_zero(&self) -> u64 {
        self.report.underflowed_to_zero
    }

    /// Values in range that were rounded; 0 unless `exact` was asked for.
    #[getter]
    fn inexact(&self) -> u64 {
        self.report.inexact
    }

    /// Values outside the range of the dtype: all that was counted but what became zero and what was rounded.
    #[getter]
    fn out_of_range(&self) -> u64 {
        self.report.out_of_range()
    }

    /// Whether nothing was counted.
    #[getter]
    fn is_clean(&self) -> bool {
        self.report.is_clean()
    }

    /// The counts by their names, the elements first.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("elements", self.report.elements)?;
        for (name, count) in self.report.counts() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// Both reports together.
    fn __add__(&self, other: &PyReport) -> PyReport {
        PyReport { report: self.report.and(&other.report) }
    }

    fn __repr__(&self) -> String {
        format!("Report({})", self.report)
    }
}

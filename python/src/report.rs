//! [`PyReport`]: the losses of a cast.

use lanecast::CastReport;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Counts of the values that a cast lost, by kind of loss. Each value is counted at most once. The components of a complex number count
/// separately. Returned by `count_losses`.
///
/// Examples:
///     >>> report = lanecast.count_losses(np.array([1.5, 300.0, np.nan]), "int8")
///     >>> report.wrapped, report.nan_lost, report.is_clean
///     (1, 1, False)
///     >>> report + lanecast.Report(elements=7)
///     Report(10 elements, wrapped 1, nan_lost 1)
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
    /// A report with these counts, such as the items of `as_dict`.
    #[new]
    #[pyo3(signature = (*, elements=0, saturated=0, wrapped=0, overflowed_to_infinity=0, became_nan=0, nan_lost=0, imaginary_dropped=0, underflowed_to_zero=0, inexact=0))]
    #[expect(clippy::too_many_arguments, reason = "the counts of a report")]
    fn of_counts(
        elements: u64,
        saturated: u64,
        wrapped: u64,
        overflowed_to_infinity: u64,
        became_nan: u64,
        nan_lost: u64,
        imaginary_dropped: u64,
        underflowed_to_zero: u64,
        inexact: u64,
    ) -> PyReport {
        let mut report = CastReport::default();
        report.elements = elements;
        report.saturated = saturated;
        report.wrapped = wrapped;
        report.overflowed_to_infinity = overflowed_to_infinity;
        report.became_nan = became_nan;
        report.nan_lost = nan_lost;
        report.imaginary_dropped = imaginary_dropped;
        report.underflowed_to_zero = underflowed_to_zero;
        report.inexact = inexact;
        PyReport { report }
    }

    /// Pickles the arguments of the constructor.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.as_dict(py)?))
    }

    /// Elements cast.
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

    /// Nonzero imaginary parts that were dropped.
    #[getter]
    fn imaginary_dropped(&self) -> u64 {
        self.report.imaginary_dropped
    }

    /// Nonzero values in range that became zero, in floating-point and integer dtypes.
    #[getter]
    fn underflowed_to_zero(&self) -> u64 {
        self.report.underflowed_to_zero
    }

    /// Values in range that were rounded. Counted only with `check="exact"`.
    #[getter]
    fn inexact(&self) -> u64 {
        self.report.inexact
    }

    /// Values out of range: all losses except `underflowed_to_zero` and `inexact`.
    #[getter]
    fn out_of_range(&self) -> u64 {
        self.report.out_of_range()
    }

    /// Whether all counts of losses are 0.
    #[getter]
    fn is_clean(&self) -> bool {
        self.report.is_clean()
    }

    /// The counts by name, with `elements` first.
    fn as_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("elements", self.report.elements)?;
        for (name, count) in self.report.counts() {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }

    /// The sum of two reports.
    fn __add__(&self, other: &PyReport) -> PyReport {
        PyReport { report: self.report.and(&other.report) }
    }

    fn __repr__(&self) -> String {
        format!("Report({})", self.report)
    }
}

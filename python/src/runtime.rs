//! The tier, the number of threads, and `explain`.

use crate::encoding;
use crate::errors::cast_error;
use crate::memory;
use crate::options;
use crate::plans;
use lanecast::{CastOptions, CastPlan, Tier};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

/// The instruction-set tier that casts use now: "scalar", "avx2", "avx512", "neon" or "wasm128". All tiers return the same bits.
///
/// Examples:
///     >>> lanecast.active_tier() in ("scalar", "avx2", "avx512", "neon", "wasm128")
///     True
#[pyfunction]
pub fn active_tier() -> &'static str {
    lanecast::tier::active().name()
}

/// The `with` blocks of `lanecast.tier` that have not ended, in the order in which they began, with a number for each.
struct Tiers {
    last: u64,
    open: Vec<(u64, Tier)>,
}

static TIERS: Mutex<Tiers> = Mutex::new(Tiers { last: 0, open: Vec::new() });

impl Tiers {
    /// Makes casts use the tier of the block that began last.
    fn apply(&self) -> PyResult<()> {
        let forced = lanecast::tier::force(self.open.last().map(|(_, tier)| *tier));
        plans::forget();
        forced.map(|_| ()).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Begins a block of `lanecast.tier`. Returns its number.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub fn enter_tier(name: &str) -> PyResult<u64> {
    let tier = name.parse::<Tier>().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut tiers = TIERS.lock().unwrap_or_else(PoisonError::into_inner);
    tiers.last += 1;
    let number = tiers.last;
    tiers.open.push((number, tier));
    if let Err(error) = tiers.apply() {
        tiers.open.pop();
        return Err(error);
    }
    Ok(number)
}

/// Ends the block with this number.
#[pyfunction]
#[pyo3(signature = (number, /))]
pub fn leave_tier(number: u64) -> PyResult<()> {
    let mut tiers = TIERS.lock().unwrap_or_else(PoisonError::into_inner);
    tiers.open.retain(|(other, _)| *other != number);
    tiers.apply()
}

/// Sets the maximum number of threads per cast in this process; 0 means one per CPU. `lanecast.threads` limits one block of code instead.
///
/// Examples:
///     >>> lanecast.set_num_threads(2)
///     >>> lanecast.num_threads()
///     2
///     >>> lanecast.set_num_threads(0)
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_num_threads(n: usize) {
    memory::set_threads(n);
}

/// The maximum number of threads per cast here: the number of the `lanecast.threads` block, or else of `set_num_threads`.
///
/// Examples:
///     >>> with lanecast.threads(3):
///     ...     lanecast.num_threads()
///     3
#[pyfunction]
pub fn num_threads() -> usize {
    match memory::default_threads() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The context variable of `lanecast.threads`. Until the first such block, there is none, and calls look nothing up.
static VARIABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The context variable with the number of threads, or None outside of all blocks.
#[pyfunction]
pub fn threads_variable(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let new = || {
        let keywords = PyDict::new(py);
        keywords.set_item("default", py.None())?;
        let class = py.import("contextvars")?.getattr("ContextVar")?;
        Ok::<_, PyErr>(class.call(("lanecast.threads",), Some(&keywords))?.unbind())
    };
    VARIABLE.get_or_try_init(py, new).map(|variable| variable.clone_ref(py))
}

/// The number of threads that the innermost block of `lanecast.threads` sets.
pub fn scoped_threads() -> Option<usize> {
    Python::attach(|py| {
        let value = VARIABLE.get(py)?.bind(py).call_method0(intern!(py, "get")).ok()?;
        value.extract().ok()
    })
}

/// Describes, in text, the stages of a cast between two dtypes.
///
/// Args:
///     source, target: the dtypes, or an `Encoding` for packed elements and other byte orders.
///     **options: as for `astype`. The default profile is "numpy".
///
/// Examples:
///     >>> print(lanecast.explain("float32", "int8"))  # doctest: +ELLIPSIS
///     float32...
#[pyfunction]
#[pyo3(signature = (source, target, /, **options))]
pub fn explain(
    source: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let options = options::options(CastOptions::NUMPY, options)?;
    let plan = CastPlan::new(encoding::argument(source)?, encoding::argument(target)?, &options);
    plan.map(|plan| plan.explain().to_string()).map_err(|error| cast_error(source.py(), error, &[]))
}

//! `tier`, `force_tier`, `explain`, and how many threads casts use.

use crate::dtype;
use crate::errors::cast_error;
use crate::memory;
use crate::operand::given;
use crate::options;
use crate::plans;
use lanecast::{BufferType, CastPlan, Tier};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The name of the instruction-set tier that casts use: "scalar", "avx2", "avx512" or "neon". All give the same bits.
#[pyfunction]
pub fn tier() -> &'static str {
    lanecast::tier::active().name()
}

/// Makes casts use a tier; None goes back to the best one. ValueError if there is none of this name or it cannot run here.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub fn force_tier(name: Option<&str>) -> PyResult<()> {
    let wrong = |error: String| PyValueError::new_err(error);
    let tier = name.map(|name| name.parse::<Tier>().map_err(|error| wrong(error.to_string()))).transpose()?;
    let forced = lanecast::tier::force(tier).map_err(|error| wrong(error.to_string()));
    plans::forget();
    forced
}

/// Sets how many threads casts use at most; 0 is as many as the machine has.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_num_threads(n: usize) {
    memory::set_threads(n);
}

/// How many threads casts use at most.
#[pyfunction]
pub fn num_threads() -> usize {
    match memory::default_threads() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// What a cast between two dtypes does, stage by stage, as a text for people.
///
/// Args:
///     from_, to: the dtypes.
///     packed: for each side, whether elements of less than a byte share bytes; None is neither.
///     profile, **options: as of `astype`; the profile is "numpy" unless given.
#[pyfunction]
#[pyo3(signature = (from_, to, /, *, packed=None, profile="numpy", **options))]
pub fn explain(
    from_: &Bound<'_, PyAny>,
    to: &Bound<'_, PyAny>,
    packed: Option<(bool, bool)>,
    profile: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let side = |of: &Bound<'_, PyAny>, packed: bool| {
        let argument = dtype::argument(of)?;
        Ok::<_, PyErr>(if packed { BufferType::packed(argument.dtype()) } else { argument })
    };
    let packed = packed.unwrap_or_default();
    let options = options::options(options::profile(profile)?, given(options))?;
    let plan = CastPlan::new(side(from_, packed.0)?, side(to, packed.1)?, &options);
    plan.map(|plan| plan.explain().to_string()).map_err(|error| cast_error(from_.py(), error, &[]))
}

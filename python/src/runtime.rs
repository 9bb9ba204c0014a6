//! `tier`, `force_tier`, `explain`, and the number of threads.

use crate::dtype;
use crate::errors::cast_error;
use crate::memory;
use crate::operand::given;
use crate::options;
use crate::plans;
use lanecast::{CastPlan, Encoding, Tier};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The instruction-set tier that casts use: "scalar", "avx2", "avx512" or "neon". All tiers return the same bits.
#[pyfunction]
pub fn tier() -> &'static str {
    lanecast::tier::active().name()
}

/// Makes casts use a tier; None restores the best one. Raises ValueError if the tier is unknown or unavailable.
#[pyfunction]
#[pyo3(signature = (name, /))]
pub fn force_tier(name: Option<&str>) -> PyResult<()> {
    let wrong = |error: String| PyValueError::new_err(error);
    let tier = name.map(|name| name.parse::<Tier>().map_err(|error| wrong(error.to_string()))).transpose()?;
    let forced = lanecast::tier::force(tier).map_err(|error| wrong(error.to_string()));
    plans::forget();
    forced
}

/// Sets the maximum number of threads per cast; 0 means one per CPU.
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_num_threads(n: usize) {
    memory::set_threads(n);
}

/// The maximum number of threads per cast.
#[pyfunction]
pub fn num_threads() -> usize {
    match memory::default_threads() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Describes, in text, the stages of a cast between two dtypes.
///
/// Args:
///     from_, to: the source and target dtypes.
///     packed: for source and target, whether sub-byte elements share bytes; None means neither.
///     profile, **options: as for `astype`. The default profile is "numpy".
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
        Ok::<_, PyErr>(if packed { Encoding::packed(argument.dtype()) } else { argument })
    };
    let packed = packed.unwrap_or_default();
    let options = options::options(options::profile(profile)?, given(options))?;
    let plan = CastPlan::new(side(from_, packed.0)?, side(to, packed.1)?, &options);
    plan.map(|plan| plan.explain().to_string()).map_err(|error| cast_error(from_.py(), error, &[]))
}

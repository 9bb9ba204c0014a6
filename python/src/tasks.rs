//! `lanecast.checkpoint.Plan`: operations on checkpoints divided into tasks, by the crate `lanecast-checkpoint`.

use crate::checkpoint::{alike, convert_options, experts, named, quantize_options, run};
use crate::files::failed;
use lanecast_checkpoint::{
    ConvertOptions, Operation, Options, Phase, PlanOptions, QuantizeOptions, Task, TaskPlan,
};
use pyo3::prelude::*;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A plan of tasks. The first task that it runs opens the checkpoint.
#[pyclass(frozen, name = "Plan", module = "lanecast._lanecast")]
pub struct PyPlan {
    plan: TaskPlan,
}

/// Phase, bytes, the file that is made or ended, and ranges. A range of weights has no file.
type Described = (&'static str, u64, Option<String>, Vec<(Option<String>, u64, u64)>);

fn new(
    py: Python<'_>,
    src: &Path,
    dst: &Path,
    operation: Operation,
    (range_size, verify): (u64, bool),
) -> PyResult<PyPlan> {
    let plan = py.detach(|| TaskPlan::new(src, dst, operation, PlanOptions { range_size, verify }));
    Ok(PyPlan { plan: plan.map_err(|error| failed(py, &error))? })
}

#[pymethods]
impl PyPlan {
    /// Plans casts.
    #[staticmethod]
    #[pyo3(signature = (src, dst, to, map, include, exclude, max_shard_size, flags, division, /))]
    #[expect(clippy::too_many_arguments, reason = "as many as the options that Python names")]
    fn convert(
        py: Python<'_>,
        src: PathBuf,
        dst: PathBuf,
        to: &Bound<'_, PyAny>,
        map: Vec<(String, Bound<'_, PyAny>)>,
        include: Vec<String>,
        exclude: Vec<String>,
        max_shard_size: Option<u64>,
        flags: (bool, bool),
        division: (u64, bool),
    ) -> PyResult<PyPlan> {
        let (allow_quantized, replace) = flags;
        let options = convert_options(to, map, include, exclude)?;
        let options = ConvertOptions { max_shard_size, allow_quantized, replace, ..options };
        new(py, &src, &dst, Operation::Convert(options), division)
    }

    /// Plans decoding.
    #[staticmethod]
    #[pyo3(signature = (src, dst, to, flags, division, /))]
    fn dequantize(
        py: Python<'_>,
        src: PathBuf,
        dst: PathBuf,
        to: &Bound<'_, PyAny>,
        flags: (bool, bool),
        division: (u64, bool),
    ) -> PyResult<PyPlan> {
        let (allow_nan, replace) = flags;
        let options = Options { allow_nan, replace, ..Options::to(named(to)?) };
        new(py, &src, &dst, Operation::Dequantize(options), division)
    }

    /// Plans quantization, of a quantized checkpoint without loss if the first flag says so.
    #[staticmethod]
    #[pyo3(signature = (src, dst, scheme, layout, map, ignore, like, flags, division, /))]
    #[expect(clippy::too_many_arguments, reason = "as many as the options that Python names")]
    fn quantize(
        py: Python<'_>,
        src: PathBuf,
        dst: PathBuf,
        scheme: &str,
        layout: &str,
        map: Vec<(String, String)>,
        ignore: Vec<String>,
        like: Option<PathBuf>,
        flags: (bool, bool, bool, bool),
        division: (u64, bool),
    ) -> PyResult<PyPlan> {
        let (lossless, double_quant, keep, replace) = flags;
        let options = quantize_options(py, scheme, layout, map)?;
        let options = QuantizeOptions { ignore, double_quant, experts: experts(keep), replace, ..options };
        let options = alike(py, options, &src, like.as_deref())?;
        let operation = if lossless { Operation::Requantize(options) } else { Operation::Quantize(options) };
        new(py, &src, &dst, operation, division)
    }

    /// Reads the file of a plan.
    #[staticmethod]
    #[pyo3(signature = (path, /))]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyPlan> {
        let plan = py.detach(|| TaskPlan::load(&path));
        Ok(PyPlan { plan: plan.map_err(|error| failed(py, &error))? })
    }

    /// Writes the plan to a file.
    #[pyo3(signature = (path, /))]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.plan.save(&path)).map_err(|error| failed(py, &error))
    }

    /// The operation, the source and the output.
    fn described(&self) -> (&'static str, &OsStr, &OsStr) {
        let plan = &self.plan;
        (plan.operation().name(), plan.source().as_os_str(), plan.output().as_os_str())
    }

    /// The tasks.
    fn tasks(&self) -> Vec<Described> {
        let name = |file| self.plan.file(file).map(str::to_owned);
        let described = |task: &Task| {
            let is_file = task.phase != Phase::Amax;
            let ranges = task.ranges.iter();
            let ranges =
                ranges.map(|range| (is_file.then(|| name(range.file)).flatten(), range.from, range.to));
            (task.phase.name(), task.bytes(), task.file.and_then(name), ranges.collect())
        };
        self.plan.tasks().iter().map(described).collect()
    }

    /// The numbers of the tasks that are not done, of all phases or of one.
    #[pyo3(signature = (phase, /))]
    fn pending(&self, py: Python<'_>, phase: Option<&str>) -> PyResult<Vec<usize>> {
        let phase = phase.map(str::parse).transpose().map_err(|error| failed(py, &error))?;
        py.detach(|| self.plan.pending(phase)).map_err(|error| failed(py, &error))
    }

    /// Runs a task.
    #[pyo3(signature = (id, threads, progress, /))]
    fn run(
        &self,
        py: Python<'_>,
        id: usize,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        run(py, progress, |callbacks| self.plan.run(id, threads, callbacks))
    }

    /// Ends files whose ranges are written, and gives the output its name.
    #[pyo3(signature = (threads, progress, /))]
    fn finish(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        run(py, progress, |callbacks| self.plan.finish(threads, callbacks))
    }
}

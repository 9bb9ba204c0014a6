//! `lanecast.checkpoint`: model checkpoints, by the crate `lanecast-checkpoint`. Reports go to Python as JSON, and become dictionaries there.

use crate::bytes::Raw;
use crate::dtype;
use crate::encoding::{self, PyEncoding};
use crate::files::failed;
use crate::memory::interrupt::Signals;
use lanecast::{DType, Encoding};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, ConvertOptions, Experts, Loader, Options, QuantizeOptions, Step,
};
use lanecast_files::{Error, Result};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An opened checkpoint. Only headers and small descriptions are in memory.
#[pyclass(frozen, name = "Checkpoint", module = "lanecast._lanecast")]
pub struct PyCheckpoint {
    checkpoint: Checkpoint,
}

/// Name, shape, the dtype of elements that are no codes, layout, and stored bytes.
type Described = (String, Vec<usize>, Option<PyEncoding>, &'static str, u64);

#[pymethods]
impl PyCheckpoint {
    #[new]
    #[pyo3(signature = (path, allow_nan, threads, /))]
    fn new(py: Python<'_>, path: PathBuf, allow_nan: bool, threads: Option<usize>) -> PyResult<PyCheckpoint> {
        let opened = py.detach(|| Checkpoint::open(&path)).map_err(|error| failed(py, &error))?;
        let checkpoint = if allow_nan { opened.with_nan_allowed() } else { opened };
        let checkpoint = match threads {
            Some(threads) => checkpoint.with_threads(threads),
            None => checkpoint,
        };
        Ok(PyCheckpoint { checkpoint })
    }

    /// The layout of the weights that are quantized, or `"plain"`.
    fn layout(&self) -> &'static str {
        self.checkpoint.layout()
    }

    /// What a reader should know.
    fn warnings(&self) -> Vec<String> {
        self.checkpoint.warnings().to_vec()
    }

    /// The tensors, in the order of the files.
    fn tensors(&self) -> Vec<Described> {
        let described = |tensor: &lanecast_checkpoint::Tensor| {
            let dtype = tensor.dtype.map(|dtype| PyEncoding { encoding: Encoding::new(dtype) });
            (tensor.name.clone(), tensor.shape.clone(), dtype, tensor.layout, tensor.stored_bytes)
        };
        self.checkpoint.tensors().iter().map(described).collect()
    }

    /// Decodes a tensor to little-endian elements of a dtype of whole bytes, into a writable buffer of as many bytes.
    #[pyo3(signature = (name, dtype, out, /))]
    fn read(
        &self,
        py: Python<'_>,
        name: &str,
        dtype: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let to = encoding::argument(dtype)?.dtype();
        if to.is_sub_byte() {
            return Err(PyTypeError::new_err(format!(
                "{to} has less than 8 bits; read a wider dtype and cast it"
            )));
        }
        let out = Raw::get(out, true)?;
        // SAFETY: the buffer is writable and stays valid until `out` is dropped. The program must not access it meanwhile, as for every
        // function here that writes to an argument.
        let bytes = unsafe { out.bytes_mut() };
        py.detach(|| self.checkpoint.read_bytes(name, to, bytes)).map_err(|error| failed(py, &error))
    }
}

/// Runs a job without the GIL. A handler of a signal or the callback that raises ends it. The report comes back as JSON.
pub fn run<R: Serialize + Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    job: impl FnOnce(Callbacks<'_>) -> Result<R> + Send,
) -> PyResult<String> {
    let done: PyResult<std::result::Result<R, Error>> = py.detach(|| {
        let raised: RefCell<Option<PyErr>> = RefCell::new(None);
        let signals = RefCell::new(Signals::new());
        let ended = Cell::new(false);
        let keep = |result: PyResult<()>| {
            if let Err(error) = result {
                raised.borrow_mut().get_or_insert(error);
                ended.set(true);
            }
        };
        let cancelled = || {
            keep(signals.borrow_mut().check());
            ended.get()
        };
        let mut show = |step: Step<'_>| {
            if let (Some(progress), false) = (&progress, ended.get()) {
                let arguments = (step.done, step.total, step.file, step.tensor);
                keep(Python::attach(|py| progress.call1(py, arguments).map(drop)));
            }
        };
        let result = job(Callbacks { progress: Some(&mut show), cancelled: Some(&cancelled) });
        match raised.into_inner() {
            Some(error) => Err(error),
            None => Ok(result),
        }
    });
    let report = done?.map_err(|error| failed(py, &error))?;
    json(&report)
}

fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The dtype that an argument names.
pub fn named(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    Ok(dtype::argument(value)?.dtype())
}

/// The options that name dtypes and tensors.
pub fn convert_options(
    to: &Bound<'_, PyAny>,
    map: Vec<(String, Bound<'_, PyAny>)>,
    include: Vec<String>,
    exclude: Vec<String>,
) -> PyResult<ConvertOptions> {
    let map = map.into_iter().map(|(glob, dtype)| Ok((glob, named(&dtype)?))).collect::<PyResult<_>>()?;
    Ok(ConvertOptions { map, include, exclude, ..ConvertOptions::to(named(to)?) })
}

/// The options that name schemes and the layout.
pub fn quantize_options(
    py: Python<'_>,
    scheme: &str,
    layout: &str,
    map: Vec<(String, String)>,
) -> PyResult<QuantizeOptions> {
    let of = |name: &str| name.parse().map_err(|error| failed(py, &error));
    let layout = layout.parse().map_err(|error| failed(py, &error))?;
    let map = map.iter().map(|(glob, scheme)| Ok((glob.clone(), of(scheme)?))).collect::<PyResult<_>>()?;
    Ok(QuantizeOptions { map, ..QuantizeOptions::new(of(scheme)?, layout) })
}

/// The same options, with the schemes that the layers of another file have.
pub fn alike(
    py: Python<'_>,
    options: QuantizeOptions,
    src: &Path,
    like: Option<&Path>,
) -> PyResult<QuantizeOptions> {
    match like {
        Some(like) => py.detach(|| options.like(src, like)).map_err(|error| failed(py, &error)),
        None => Ok(options),
    }
}

/// What becomes of stacked experts.
pub fn experts(keep: bool) -> Experts {
    if keep { Experts::Keep } else { Experts::Split }
}

/// The time to wait for files.
fn patience(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let duration = |seconds: f64| {
        Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("wait is {seconds}; pass a number of seconds that is not negative"))
        })
    };
    seconds.map(duration).transpose()
}

/// Decodes all weights of a checkpoint.
#[pyfunction]
#[pyo3(signature = (src, dst, to, allow_nan, overwrite, threads, progress, /))]
#[expect(clippy::too_many_arguments, reason = "as many as the options that Python names")]
pub fn checkpoint_dequantize(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    to: &Bound<'_, PyAny>,
    allow_nan: bool,
    overwrite: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = Options { allow_nan, replace: overwrite, threads, ..Options::to(named(to)?) };
    run(py, progress, |callbacks| lanecast_checkpoint::dequantize(&src, &dst, &options, callbacks))
}

/// Casts the tensors of a checkpoint.
#[pyfunction]
#[pyo3(signature = (src, dst, to, map, include, exclude, max_shard_size, wait, flags, threads, progress, /))]
#[expect(clippy::too_many_arguments, reason = "as many as the options that Python names")]
pub fn checkpoint_convert(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    to: &Bound<'_, PyAny>,
    map: Vec<(String, Bound<'_, PyAny>)>,
    include: Vec<String>,
    exclude: Vec<String>,
    max_shard_size: Option<u64>,
    wait: Option<f64>,
    flags: (bool, bool, bool, bool),
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (resume, verify, allow_quantized, replace) = flags;
    let options = convert_options(to, map, include, exclude)?;
    let wait = patience(wait)?;
    let options =
        ConvertOptions { max_shard_size, resume, verify, allow_quantized, replace, threads, wait, ..options };
    run(py, progress, |callbacks| lanecast_checkpoint::convert(&src, &dst, &options, callbacks))
}

/// Quantizes the weights of a plain checkpoint, or of a quantized one without loss.
#[pyfunction]
#[pyo3(signature = (src, dst, scheme, layout, map, ignore, like, flags, threads, progress, /))]
#[expect(clippy::too_many_arguments, reason = "as many as the options that Python names")]
pub fn checkpoint_quantize(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    scheme: &str,
    layout: &str,
    map: Vec<(String, String)>,
    ignore: Vec<String>,
    like: Option<PathBuf>,
    flags: (bool, bool, bool, bool),
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (lossless, double_quant, keep, replace) = flags;
    let options = quantize_options(py, scheme, layout, map)?;
    let options =
        QuantizeOptions { ignore, double_quant, experts: experts(keep), replace, threads, ..options };
    let options = alike(py, options, &src, like.as_deref())?;
    run(py, progress, |callbacks| match lossless {
        true => lanecast_checkpoint::requantize(&src, &dst, &options, callbacks),
        false => lanecast_checkpoint::quantize(&src, &dst, &options, callbacks),
    })
}

/// Checks a checkpoint.
#[pyfunction]
#[pyo3(signature = (path, loader, /))]
pub fn checkpoint_check(py: Python<'_>, path: PathBuf, loader: Option<&str>) -> PyResult<String> {
    let loader = match loader {
        Some(name) => {
            let found = Loader::ALL.iter().copied().find(|loader| loader.name() == name);
            Some(found.ok_or_else(|| {
                let names: Vec<_> = Loader::ALL.iter().map(|loader| loader.name()).collect();
                PyValueError::new_err(format!("no loader is called {name:?}; there are {}", names.join(", ")))
            })?)
        }
        None => None,
    };
    let checked = py.detach(|| lanecast_checkpoint::check(&path, loader));
    json(&checked.map_err(|error| failed(py, &error))?)
}

/// Compares two checkpoints.
#[pyfunction]
#[pyo3(signature = (a, b, progress, /))]
pub fn checkpoint_compare(
    py: Python<'_>,
    a: PathBuf,
    b: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    run(py, progress, |callbacks| {
        let (a, b) = (Checkpoint::open(&a)?, Checkpoint::open(&b)?);
        lanecast_checkpoint::compare(&a, &b, callbacks)
    })
}

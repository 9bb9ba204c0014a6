//! `astype`, `astype_masked`, `count_losses`.

use crate::dtype;
use crate::errors::{cast_error, dtype_error};
use crate::memory::{self, Array, Mode};
use crate::numpy::{self, NumpyArray, Order};
use crate::operand::{Operand, given};
use crate::options;
use crate::plans;
use crate::report::PyReport;
use lanecast::promote::{Casting, can_cast};
use lanecast::{BufferType, CastOptions, CastPlan, DType, Level, Storage};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Casts an array to another dtype.
///
/// Every element is rounded once, from its exact value. The result is a new array of the same library and shape.
///
/// Args:
///     x: an array of NumPy, PyTorch or JAX in memory of the CPU, or another one that has `__dlpack__`.
///     dtype: a `DType`, `numpy.dtype`, scalar class, `torch.dtype` or canonical name.
///     copy: False returns `x` itself if it has the dtype and the order already.
///     order: the axes of the result in memory: "K" as in `x`, "C", "F", or "A" for "F" if `x` is so, else "C".
///     out: an array to write to instead, of any writable kind, the dtype asked for and the same shape.
///     casting: "unsafe", "same_kind", "safe", "lossless", "equiv" or "no", as the library of `x` understands it.
///     profile: whose answers: "numpy", "torch", "jax", "onnx", "rust" or "cuda"; None is the library of `x`.
///     check: "range" or "exact" raises LossError for the first element that the dtype cannot hold.
///     threads: at most so many threads; None is the number of `set_num_threads`.
///     **options: `saturate`, `int_round` and so on, over those of the profile.
///
/// Raises:
///     DTypeError: the dtype is unknown, or `casting` does not allow the cast.
///     LossError: `check` found an element that does not fit.
///     OverlapError: `out` shares memory with `x`, and elements would not stay in their places.
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, copy=true, order="K", out=None, casting="unsafe", profile=None, check=None, threads=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn astype<'py>(
    x: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    copy: bool,
    order: &str,
    out: Option<&Bound<'py, PyAny>>,
    casting: &str,
    profile: Option<&str>,
    check: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let order = Order::parse(order)?;
    let options = given(options);
    if out.is_none() && check.is_none() && copy && casting == "unsafe" {
        let base = match profile {
            None => CastOptions::NUMPY,
            Some(name) => options::profile(name)?,
        };
        if let Some(array) = contiguous(py, x, target, order, &options::options(base, options)?, threads)? {
            return Ok(array);
        }
    }
    let check = check.map(options::level).transpose()?;
    let source = Operand::source(x)?;
    let request = Request { order, profile, threads, options };
    let from = source.array.buffer();
    check_casting(py, &source, target, casting)?;
    if let Some(out) = out {
        let destination = Operand::destination(out)?;
        check_out(&source, &destination, target)?;
        let mode = check.map_or(Mode::Plain, Mode::Checked);
        request.run(py, &source, &destination.array, mode)?;
        return Ok(out.clone());
    }
    if !copy && from == target && source.has_order(order) {
        return Ok(source.object().clone());
    }
    let answer = source.answer(order, target)?;
    request.run_new(py, &source, &answer.array, check.map_or(Mode::Plain, Mode::Checked))?;
    answer.finish()
}

/// The common case, with as little around it as there can be: an array of NumPy without gaps, to a new one.
fn contiguous<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    target: BufferType,
    order: Order,
    options: &CastOptions,
    threads: Option<usize>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(numpy) = numpy::loaded(py)? else { return Ok(None) };
    if !numpy.is_exact_array(x) || order != Order::Keep || target.storage() == Storage::Packed {
        return Ok(None);
    }
    let Some(array) = NumpyArray::of(numpy, x)? else { return Ok(None) };
    let Some((src, n)) = array.dense() else { return Ok(None) };
    let plan = plans::plan(array.buffer()?, target, options).map_err(|error| cast_error(py, error, &[]))?;
    let new = array.new_like(Order::Keep, target)?;
    // An array of the same shape in the order of one without gaps has none.
    let Some((dst, _)) = new.dense() else { return Ok(None) };
    // SAFETY: NumPy vouches for both; the new array is nobody else's. Both objects live until the call returns.
    unsafe { memory::run_fresh(py, &plan, src, dst, n, memory::threads(threads)) }
        .map_err(|error| cast_error(py, error, &[]))?;
    Ok(Some(new.object().clone()))
}

/// The arguments that all functions share.
struct Request<'a, 'py> {
    order: Order,
    profile: Option<&'a str>,
    threads: Option<usize>,
    options: Option<&'a Bound<'py, PyDict>>,
}

impl Request<'_, '_> {
    fn plan(&self, py: Python<'_>, source: &Operand<'_>, to: BufferType) -> PyResult<CastPlan> {
        let base = match self.profile {
            None => source.library.options(),
            Some(name) => options::profile(name)?,
        };
        let options = options::options(base, self.options)?;
        plans::plan(source.array.buffer(), to, &options).map_err(|error| cast_error(py, error, &[]))
    }

    /// Casts to `out`.
    fn run(&self, py: Python<'_>, source: &Operand<'_>, out: &Array, mode: Mode<'_>) -> PyResult<()> {
        let plan = self.plan(py, source, out.buffer())?;
        self.run_plan(py, &plan, source, out, mode)
    }

    /// Casts to memory that was just allocated.
    fn run_new(&self, py: Python<'_>, source: &Operand<'_>, new: &Array, mode: Mode<'_>) -> PyResult<()> {
        let plan = memory::for_new_memory(self.plan(py, source, new.buffer())?, new.elements());
        self.run_plan(py, &plan, source, new, mode)
    }

    fn run_plan(
        &self,
        py: Python<'_>,
        plan: &CastPlan,
        source: &Operand<'_>,
        to: &Array,
        mode: Mode<'_>,
    ) -> PyResult<()> {
        let (src, dst) = same_axes(&source.array, to)?;
        // SAFETY: both objects live until the call returns, and vouch for their memory. The program sees to it that nobody else writes
        // to it meanwhile, as with every library of arrays.
        let outcome =
            unsafe { memory::run_detached(py, plan, mode, &src, &dst, memory::threads(self.threads)) };
        outcome.map(|_| ()).map_err(|error| cast_error(py, error, &source.shape))
    }
}

/// Both arrays with the same axes: where one joins rows of packed elements, so does the other.
fn same_axes(src: &Array, dst: &Array) -> PyResult<(Array, Array)> {
    if src.shape() == dst.shape() {
        return Ok((*src, *dst));
    }
    match (src.flattened(), dst.flattened()) {
        (Some(src), Some(dst)) if src.shape() == dst.shape() => Ok((src, dst)),
        _ => Err(PyValueError::new_err(
            "packed elements whose rows share bytes can be cast from and to arrays in C order only",
        )),
    }
}

fn check_casting(py: Python<'_>, source: &Operand<'_>, target: BufferType, casting: &str) -> PyResult<()> {
    let level = match casting {
        "unsafe" => return Ok(()),
        "same_kind" => Casting::SameKind,
        "safe" => Casting::Safe,
        "lossless" => Casting::Lossless,
        "equiv" | "no" => Casting::Lossless,
        other => {
            return Err(PyValueError::new_err(format!(
                "casting is {other:?}, but has to be one of \"no\", \"equiv\", \"lossless\", \"safe\", \"same_kind\", \"unsafe\""
            )));
        }
    };
    let (from, to) = (source.array.buffer(), target);
    let allowed = match casting {
        "no" => from == to,
        "equiv" => from.dtype() == to.dtype(),
        _ => can_cast(source.library.standard(), from.dtype(), to.dtype(), level)
            .unwrap_or(from.dtype() == to.dtype()),
    };
    if allowed {
        return Ok(());
    }
    Err(dtype_error(
        py,
        format!("a cast from {} to {} is not allowed with casting={casting:?}", from.dtype(), to.dtype()),
    ))
}

fn check_out(source: &Operand<'_>, out: &Operand<'_>, target: BufferType) -> PyResult<()> {
    let dtype = out.array.buffer().dtype();
    if dtype != target.dtype() {
        return Err(dtype_error(
            source.object().py(),
            format!("`out` has the dtype {dtype}, but the cast is to {}", target.dtype()),
        ));
    }
    if source.shape != out.shape {
        return Err(PyValueError::new_err(format!(
            "`out` has the shape {:?}, but the source {:?}",
            out.shape, source.shape
        )));
    }
    Ok(())
}

/// Casts an array and says which elements fit.
///
/// Args:
///     x, dtype, order, out, casting, profile, threads, **options: as of `astype`.
///     check: "range" marks elements outside the range of the dtype, "exact" also those that would be rounded.
///
/// Returns:
///     The array, in which elements that do not fit are what `astype` makes of them, and an array of bool of the same shape: True
///     where an element fits. The second is of the library of the first.
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, check="range", order="K", out=None, casting="unsafe", profile=None, threads=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn astype_masked<'py>(
    x: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    check: &str,
    order: &str,
    out: Option<&Bound<'py, PyAny>>,
    casting: &str,
    profile: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let request = Request { order: Order::parse(order)?, profile, threads, options: given(options) };
    let level = options::level(check)?;
    let source = Operand::source(x)?;
    check_casting(py, &source, target, casting)?;
    let mut bits = Vec::new();
    let bytes = source.array.elements().div_ceil(8);
    bits.try_reserve_exact(bytes).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    bits.resize(bytes, 0_u8);
    let array = match out {
        Some(out) => {
            let destination = Operand::destination(out)?;
            check_out(&source, &destination, target)?;
            request.run(py, &source, &destination.array, Mode::Masked(level, &mut bits))?;
            out.clone()
        }
        None => {
            let answer = source.answer(request.order, target)?;
            request.run_new(py, &source, &answer.array, Mode::Masked(level, &mut bits))?;
            answer.finish()?
        }
    };
    let mask = source.answer(Order::C, BufferType::new(DType::Bool))?;
    let Some(flat) = mask.array.flattened() else {
        return Err(PyTypeError::new_err("the library made an array with gaps"));
    };
    // SAFETY: the new array is nobody else's.
    unsafe { memory::expand_bits(&bits, &flat) };
    Ok((array, mask.finish()?))
}

/// Counts what a cast would lose, without keeping its result.
///
/// Args:
///     x, dtype, profile, threads, **options: as of `astype`.
///     exact: also counts elements that would be rounded.
///
/// Returns:
///     A `Report`.
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, exact=false, profile=None, threads=None, **options))]
pub fn count_losses(
    x: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    exact: bool,
    profile: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyReport> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let request = Request { order: Order::C, profile, threads, options: given(options) };
    let level = if exact { Level::Exact } else { Level::Range };
    let source = Operand::source(x)?;
    let plan = request.plan(py, &source, target)?;
    // SAFETY: the object lives until the call returns, and vouches for its memory.
    let report = unsafe { memory::count(py, &plan, level, &source.array, memory::threads(threads)) };
    report.map(PyReport::new).map_err(|error| cast_error(py, error, &source.shape))
}

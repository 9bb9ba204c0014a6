//! `astype`, `astype_masked`, `count_losses`.

use crate::dtype;
use crate::errors::{cast_error, dtype_error};
use crate::memory::{self, Array, Mode};
use crate::numpy::{self, NumpyArray, Order};
use crate::operand::{Library, Operand};
use crate::options;
use crate::plans;
use crate::report::PyReport;
use crate::torch;
use lanecast::promote::{Casting, can_cast};
use lanecast::{CastPlan, DType, Encoding, Storage};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Casts an array to another dtype.
///
/// Each element is rounded once, from its exact value. The result is a new array of the same library and shape.
///
/// Ctrl-C ends a cast of seconds early, as does any signal whose handler raises an exception. `out` then holds the results of some of its
/// elements, and the others are as before.
///
/// Args:
///     x: a NumPy, PyTorch or JAX array in CPU memory, or any other object with `__dlpack__`.
///     dtype: a `DType`, `numpy.dtype`, scalar class, `torch.dtype` or full name such as "float32".
///     copy: False returns `x` itself if it already has the dtype and the order.
///     order: the memory layout of the result: "K" keeps that of `x`; "C"; "F"; "A" is "F" if `x` is Fortran-contiguous, else "C".
///     out: a writable array of any library to write to, with the target dtype and the shape of `x`.
///     casting: which casts to allow, by the rules of the library of `x`: "no", "equiv", "lossless", "safe", "same_kind" or "unsafe".
///     check: raises LossError for the first element that is out of range ("range"); that is out of range or becomes zero
///         ("underflow"); or that the dtype cannot represent exactly ("exact"). None raises none.
///     threads: the maximum number of threads; None follows `lanecast.threads` and `lanecast.set_num_threads`.
///     **options: the items of a `CastOptions`: `profile`, `saturate`, `int_round` and so on. Without a profile, the result is
///         as in the library of `x`.
///
/// Raises:
///     DTypeError: the dtype is unknown, or `casting` forbids the cast.
///     LossError: `check` found an element that does not fit.
///     OverlapError: `out` overlaps `x`, and the cast is not in place.
///
/// Examples:
///     >>> lanecast.astype(np.array([1.5, 300.0]), "int8")
///     array([ 1, 44], dtype=int8)
///     >>> lanecast.astype(np.array([1.5, 300.0]), "int8", profile="rust", int_round="nearest_even")
///     array([  2, 127], dtype=int8)
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, copy=true, order="K", out=None, casting="unsafe", check=None, threads=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn astype<'py>(
    x: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    copy: bool,
    order: &str,
    out: Option<&Bound<'py, PyAny>>,
    casting: &str,
    check: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let order = Order::parse(order)?;
    if out.is_none() && check.is_none() && copy && casting == "unsafe" {
        let request = Request { order, threads, options };
        if let Some(array) = request.contiguous(x, target)? {
            return Ok(array);
        }
    }
    let check = check.map(options::level).transpose()?;
    let source = Operand::source(x)?;
    let request = Request { order, threads, options };
    let from = source.array.encoding();
    check_casting(py, &source, target, casting)?;
    if let Some(out) = out {
        let destination = Operand::destination(out)?;
        check_out(py, &destination, target, &source.shape)?;
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

/// The arguments common to all functions.
struct Request<'a, 'py> {
    order: Order,
    threads: Option<usize>,
    options: Option<&'a Bound<'py, PyDict>>,
}

impl<'py> Request<'_, 'py> {
    /// The fast path for the common case: a contiguous array of NumPy or PyTorch, cast to a new one.
    fn contiguous(&self, x: &Bound<'py, PyAny>, target: Encoding) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = x.py();
        if self.order != Order::Keep || target.storage() == Storage::Packed {
            return Ok(None);
        }
        if let Some(numpy) = numpy::loaded(py)?
            && numpy.is_exact_array(x)
        {
            let Some(array) = NumpyArray::of(numpy, x)? else { return Ok(None) };
            let Some((src, n)) = array.dense() else { return Ok(None) };
            let plan = self.plan(py, Library::Numpy, array.encoding()?, target)?;
            let new = array.new_like(Order::Keep, target)?;
            // The new array keeps the order of a contiguous one, so it is contiguous.
            let Some((dst, _)) = new.dense() else { return Ok(None) };
            // SAFETY: NumPy guarantees that both arrays are valid, and both objects live until the call returns. Nobody else uses the new one.
            unsafe { memory::run_fresh(py, &plan, src, dst, n, memory::threads(self.threads)) }
                .map_err(|error| cast_error(py, error, &[]))?;
            return Ok(Some(new.object().clone()));
        }
        let Some(tensor) = torch::Dense::source(x)? else { return Ok(None) };
        let plan = self.plan(py, Library::Torch, tensor.buffer, Encoding::new(target.dtype()))?;
        let Some(new) = tensor.new_like(target.dtype())? else { return Ok(None) };
        // SAFETY: as above, by PyTorch.
        unsafe {
            memory::run_fresh(py, &plan, tensor.data, new.data, new.elements, memory::threads(self.threads))
        }
        .map_err(|error| cast_error(py, error, &[]))?;
        Ok(Some(new.object()))
    }

    fn plan(&self, py: Python<'_>, library: Library, from: Encoding, to: Encoding) -> PyResult<CastPlan> {
        let options = options::options(library.options(), self.options)?;
        plans::plan(from, to, &options).map_err(|error| cast_error(py, error, &[]))
    }

    /// Casts to `out`.
    fn run(&self, py: Python<'_>, source: &Operand<'_>, out: &Array, mode: Mode<'_>) -> PyResult<()> {
        let plan = self.plan(py, source.library, source.array.encoding(), out.encoding())?;
        self.run_plan(py, &plan, source, out, mode)
    }

    /// Casts to newly allocated memory.
    fn run_new(&self, py: Python<'_>, source: &Operand<'_>, new: &Array, mode: Mode<'_>) -> PyResult<()> {
        let plan = self.plan(py, source.library, source.array.encoding(), new.encoding())?;
        let plan = memory::for_new_memory(&plan, new.elements());
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
        // SAFETY: both objects keep their memory alive until the call returns. As with every array library, the program must not
        // write to it meanwhile.
        let outcome =
            unsafe { memory::run_detached(py, plan, mode, &src, &dst, memory::threads(self.threads)) };
        outcome.map(|_| ()).map_err(|error| cast_error(py, error, &source.shape))
    }
}

/// Gives both arrays the same axes. Packed elements whose rows share bytes form a single axis.
fn same_axes(src: &Array, dst: &Array) -> PyResult<(Array, Array)> {
    if src.shape() == dst.shape() {
        return Ok((src.clone(), dst.clone()));
    }
    match (src.flattened(), dst.flattened()) {
        (Some(src), Some(dst)) if src.shape() == dst.shape() => Ok((src, dst)),
        _ => Err(PyValueError::new_err(
            "packed elements whose rows share bytes can only be cast from and to C-contiguous arrays",
        )),
    }
}

/// Which casts the argument `casting` allows.
#[derive(Clone, Copy)]
enum Rule {
    /// None: the same dtype in the same byte order.
    No,
    /// The same dtype.
    Equivalent,
    /// Those that the standard of the library allows.
    Standard(Casting),
}

const CASTINGS: [(&str, Rule); 6] = [
    ("no", Rule::No),
    ("equiv", Rule::Equivalent),
    ("lossless", Rule::Standard(Casting::Lossless)),
    ("safe", Rule::Standard(Casting::Safe)),
    ("same_kind", Rule::Standard(Casting::SameKind)),
    ("unsafe", Rule::Standard(Casting::Unsafe)),
];

fn check_casting(py: Python<'_>, source: &Operand<'_>, target: Encoding, casting: &str) -> PyResult<()> {
    if casting == "unsafe" {
        return Ok(());
    }
    let (from, to) = (source.array.encoding(), target);
    let by_standard = |level| {
        can_cast(source.library.standard(), from.dtype(), to.dtype(), level)
            .unwrap_or(from.dtype() == to.dtype())
    };
    let allowed = match options::choose("casting", &CASTINGS, casting)? {
        Rule::No => from == to,
        Rule::Equivalent => from.dtype() == to.dtype(),
        Rule::Standard(level) => by_standard(level),
    };
    if allowed {
        return Ok(());
    }
    Err(dtype_error(
        py,
        format!("casting={casting:?} does not allow a cast from {} to {}", from.dtype(), to.dtype()),
    ))
}

/// Checks that `out` can take a result of this dtype and shape.
pub fn check_out(py: Python<'_>, out: &Operand<'_>, target: Encoding, shape: &[usize]) -> PyResult<()> {
    let dtype = out.array.encoding().dtype();
    if dtype != target.dtype() {
        return Err(dtype_error(
            py,
            format!("`out` has dtype {dtype}, but the target dtype is {}", target.dtype()),
        ));
    }
    if out.shape != shape {
        return Err(PyValueError::new_err(format!(
            "`out` has shape {:?}, but the result has shape {shape:?}",
            out.shape
        )));
    }
    Ok(())
}

/// Casts an array and reports which elements fit.
///
/// Args:
///     x, dtype, order, out, casting, threads, **options: as for `astype`.
///     check: "range" marks elements out of range; "underflow" also marks nonzero elements that become zero; "exact" also marks elements
///         that need rounding.
///
/// Returns:
///     The array that `astype` returns, and a bool array of the same library and shape, which is True where an element fits.
///
/// Examples:
///     >>> array, fits = lanecast.astype_masked(np.array([1.5, 300.0]), "int8")
///     >>> array, fits
///     (array([ 1, 44], dtype=int8), array([ True, False]))
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, order="K", out=None, casting="unsafe", check="range", threads=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn astype_masked<'py>(
    x: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: &str,
    out: Option<&Bound<'py, PyAny>>,
    casting: &str,
    check: &str,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let request = Request { order: Order::parse(order)?, threads, options };
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
            check_out(py, &destination, target, &source.shape)?;
            request.run(py, &source, &destination.array, Mode::Masked(level, &mut bits))?;
            out.clone()
        }
        None => {
            let answer = source.answer(request.order, target)?;
            request.run_new(py, &source, &answer.array, Mode::Masked(level, &mut bits))?;
            answer.finish()?
        }
    };
    let mask = source.answer(Order::C, Encoding::new(DType::Bool))?;
    let Some(flat) = mask.array.flattened() else {
        return Err(PyTypeError::new_err("the library returned a mask that is not contiguous"));
    };
    // SAFETY: nobody else uses the new array.
    unsafe { memory::expand_bits(&bits, &flat) };
    Ok((array, mask.finish()?))
}

/// Counts what a cast would lose, without returning its result.
///
/// Args:
///     x, dtype, threads, **options: as for `astype`.
///     check: "range" and "underflow" count elements out of range and nonzero elements that become zero; "exact" also counts rounded
///         elements, which takes longer.
///
/// Returns:
///     A `Report`.
///
/// Examples:
///     >>> lanecast.count_losses(np.array([1.5, 300.0]), "int8", check="exact")
///     Report(2 elements, wrapped 1, inexact 1)
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, check="range", threads=None, **options))]
pub fn count_losses(
    x: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    check: &str,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyReport> {
    let py = x.py();
    let target = dtype::argument(dtype)?;
    let request = Request { order: Order::C, threads, options };
    let level = options::level(check)?;
    let source = Operand::source(x)?;
    let plan = request.plan(py, source.library, source.array.encoding(), target)?;
    // SAFETY: the object keeps its memory alive until the call returns.
    let report = unsafe { memory::count(py, &plan, level, &source.array, memory::threads(threads)) };
    report.map(PyReport::new).map_err(|error| cast_error(py, error, &source.shape))
}

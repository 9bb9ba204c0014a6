//! The native half of `lanecast.quantization`: scaled casts of arrays.

use crate::buffer::PyBuffer;
use crate::bytes;
use crate::cast::check_out;
use crate::dtype::{self, PyDType};
use crate::errors::{dtype_error, overlap_error, scaled_error};
use crate::memory::scaled::{self, Quantized};
use crate::memory::{self, Array, Mode};
use crate::operand::{Library, Operand};
use crate::options::choose;
use crate::torch;
use lanecast::scaled::{Granularity, NonFinite, ScaleType, ScaledPlan, Scheme};
use lanecast::stochastic::Stochastic;
use lanecast::{CastOptions, DType, Encoding, Storage};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const STORAGES: [(&str, Storage); 2] = [("packed", Storage::Packed), ("byte", Storage::Byte)];

const NON_FINITE: [(&str, NonFinite); 3] =
    [("poison", NonFinite::Poison), ("saturate", NonFinite::Saturate), ("refuse", NonFinite::Refuse)];

/// The dtypes that codes are dequantized to.
const TARGETS: [DType; 4] = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

/// A report: elements, empty blocks, poisoned blocks, clipped elements, underflowed elements, squared error.
type Losses = (u64, u64, u64, Option<u64>, Option<u64>, Option<f64>);

/// The names of the schemes that `quantize` and `dequantize` accept. `docs/scaled.md` specifies them.
///
/// Examples:
///     >>> "mx" in lanecast.quantization_schemes()
///     True
#[pyfunction]
pub fn quantization_schemes(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Scheme::NAMED.iter().map(|(name, _)| *name))
}

/// The arrays of a quantized tensor: codes, scales and zero points.
type Arrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Quantizes an array. Returns the codes, the scales, and the zero points if the scheme has them; the scale of the tensor, the dtype of the
/// codes, the shape, and the report.
#[pyfunction]
#[pyo3(signature = (x, scheme, scales, global_scale, axis, element, storage, non_finite, counts, squared_error, random, threads, /))]
#[expect(clippy::too_many_arguments, reason = "the arguments of `lanecast.quantize`")]
#[expect(clippy::type_complexity, reason = "the fields of `lanecast.Quantized`")]
pub fn quantize_array<'py>(
    x: &Bound<'py, PyAny>,
    scheme: &str,
    scales: Option<&Bound<'py, PyAny>>,
    global_scale: Option<f64>,
    axis: Option<isize>,
    element: Option<&Bound<'py, PyAny>>,
    storage: &str,
    non_finite: &str,
    counts: bool,
    squared_error: bool,
    random: Option<(u64, u64)>,
    threads: Option<usize>,
) -> PyResult<(Arrays<'py>, f32, Bound<'py, PyDType>, Bound<'py, PyTuple>, Losses)> {
    let (py, name) = (x.py(), scheme);
    let scheme = scheme_of(name, axis, element)?;
    let scheme = scheme.with_non_finite(choose("non_finite", &NON_FINITE, non_finite)?);
    let storage = choose("storage", &STORAGES, storage)?;
    let global = given_global(name, &scheme, scales.is_some(), global_scale)?;
    let source = Operand::source(x)?;
    let shape = &source.shape;
    let plan = ScaledPlan::new(source.array.encoding().dtype(), &scheme, shape);
    let mut plan = plan.map_err(|error| scaled_error(py, error))?.with_storage(storage);
    if counts {
        plan = plan.with_counts();
    }
    if squared_error {
        plan = plan.with_squared_error();
    }
    // Without scales of the blocks, which then are made.
    if let (Some(global), None) = (global, scales) {
        plan = plan.with_global(global).map_err(|error| scaled_error(py, error))?;
    }
    if let Some((seed, stream)) = random {
        plan = plan.with_stochastic(Stochastic { seed, stream, ..Stochastic::default() });
    }
    let held = match is_packed(plan.data_encoding()) {
        true => Encoding::new(DType::UInt8),
        false => held_by(py, source.library, scheme.element),
    };
    let data = source.answer_shaped(&data_shape(plan.data_encoding(), shape), held)?;
    let blocks = scheme.granularity.scales_shape(shape);
    let scale_type = held_by(py, source.library, plan.scale_encoding().dtype());
    let by = source.answer_shaped(&blocks, scale_type)?;
    let zeros = match scheme.has_zero_points() {
        true => Some(source.answer_shaped(&data_shape(plan.data_encoding(), &blocks), held)?),
        false => None,
    };
    if let Some(scales) = scales {
        copy_scales(scales, name, plan.scale_encoding().dtype(), &by.array)?;
    }
    // SAFETY: the operand keeps its memory alive, and nobody else uses the new arrays, which are C-contiguous.
    let report = unsafe {
        let zeros = zeros.as_ref().map(|zeros| &zeros.array);
        let to = Quantized { data: &data.array, scales: &by.array, zeros };
        scaled::quantize(py, &plan, &source.array, to, (scales.is_some(), global), memory::threads(threads))
    };
    let report = report.map_err(|error| scaled_error(py, error))?;
    let losses = (
        report.elements,
        report.empty,
        report.poisoned,
        report.clipped,
        report.underflowed,
        report.squared_error,
    );
    let (element, shape) = (dtype::object(py, scheme.element)?, PyTuple::new(py, shape)?);
    let zeros = zeros.map(|zeros| zeros.finish()).transpose()?;
    Ok(((data.finish()?, by.finish()?, zeros), report.global.unwrap_or(1.0), element, shape, losses))
}

/// The scale of the tensor that is given; none if the scheme has none.
fn given_global(name: &str, scheme: &Scheme, scales: bool, global: Option<f64>) -> PyResult<Option<f32>> {
    let has_one = matches!(scheme.scale, ScaleType::E4M3(_));
    let wrong = match global {
        _ if scales && scheme.has_zero_points() => format!(
            "the scheme {name:?} makes its scales and zero points; leave out scales, or give both to lanecast.onnx.quantize_linear"
        ),
        None if !scales || !has_one => return Ok(None),
        None => format!("the scheme {name:?} has a scale of the whole array: give global_scale with scales"),
        // What the attribute of a `Quantized` is.
        Some(1.0) if !has_one => return Ok(None),
        Some(global) if !has_one => {
            format!(
                "the scheme {name:?} has no scale of the whole array, but global_scale is {global}; leave it out"
            )
        }
        Some(global) => match global as f32 {
            single if single > 0.0 && single.is_finite() => return Ok(Some(single)),
            _ => format!("global_scale must be positive and finite in float32, not {global}"),
        },
    };
    Err(PyValueError::new_err(wrong))
}

/// Copies given scales to a new array of the shape of the blocks, which is C-contiguous.
fn copy_scales(scales: &Bound<'_, PyAny>, name: &str, dtype: DType, to: &Array) -> PyResult<()> {
    let py = scales.py();
    let given = Operand::source(scales).map_err(|error| match error.is_instance_of::<PyTypeError>(py) {
        true => PyTypeError::new_err(format!("scales: {}", error.value(py))),
        false => error,
    })?;
    check_dtype(py, "scales", name, dtype, given.array.encoding().dtype())?;
    check_shape("scales", &given.shape, to.shape())?;
    let dense = Dense::of(py, &given)?;
    // SAFETY: the operand or the copy keeps its memory alive, and nobody else uses the new array. The bytes are as many: elements are of
    // one size.
    unsafe { memory::copy(&dense.array, to) };
    Ok(())
}

/// Returns the values that codes and scales stand for, in `out` or as an array of the library of `data`.
#[pyfunction]
#[pyo3(signature = (data, scales, zero_points, global_scale, scheme, shape, axis, element, storage, dtype, out, threads, /))]
#[expect(clippy::too_many_arguments, reason = "the arguments of `lanecast.dequantize`")]
pub fn dequantize_array<'py>(
    data: &Bound<'py, PyAny>,
    scales: &Bound<'py, PyAny>,
    zero_points: Option<&Bound<'py, PyAny>>,
    global_scale: f32,
    scheme: &str,
    shape: Vec<usize>,
    axis: Option<isize>,
    element: Option<&Bound<'py, PyAny>>,
    storage: &str,
    dtype: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let name = scheme;
    let scheme = scheme_of(name, axis, element)?;
    let storage = choose("storage", &STORAGES, storage)?;
    let to = dtype::argument(dtype)?.dtype();
    if !TARGETS.contains(&to) {
        let names = TARGETS.map(DType::name).join(", ");
        return Err(dtype_error(py, format!("dequantize returns one of {names}, not {to}")));
    }
    let (data, scales) = (Operand::source(data)?, Operand::source(scales)?);
    // Scales of the dtype of the source tell which dtype that was.
    let source = match scheme.scale {
        ScaleType::Source => scales.array.encoding().dtype(),
        _ => DType::Float32,
    };
    let plan = ScaledPlan::new(source, &scheme, &shape).map_err(|error| scaled_error(py, error))?;
    let zeros = given_zero_points(name, &scheme, zero_points)?;
    check_dtype(py, "data", name, scheme.element, data.array.encoding().dtype())?;
    check_dtype(py, "scales", name, plan.scale_encoding().dtype(), scales.array.encoding().dtype())?;
    let (codes, by) = (Dense::of(py, &data)?, Dense::of(py, &scales)?);
    // An array of a sub-byte dtype has its own storage. In `uint8`, the caller says which.
    let typed = scheme.element.is_sub_byte() && data.array.encoding().dtype() == scheme.element;
    let plan = plan.with_storage(if typed { codes.array.encoding().storage() } else { storage });
    let want = if typed { shape.clone() } else { data_shape(plan.data_encoding(), &shape) };
    check_shape("data", &data.shape, &want)?;
    let blocks = scheme.granularity.scales_shape(&shape);
    check_shape("scales", &scales.shape, &blocks)?;
    let points = match &zeros {
        Some(zeros) => Some(zero_points_as(py, &plan, zeros, &blocks)?),
        None => None,
    };
    let to = Encoding::new(to);
    let run = |to: &Array| {
        // SAFETY: the operands and the copies keep their memory alive, and nobody else uses that of `to`, which is C-contiguous.
        let done = unsafe {
            let zeros = points.as_ref().map(|points| &points.array);
            let from = Quantized { data: &codes.array, scales: &by.array, zeros };
            scaled::dequantize(py, &plan, from, Some(global_scale), to, memory::threads(threads))
        };
        done.map_err(|error| scaled_error(py, error))
    };
    let Some(out) = out else {
        let answer = data.answer_shaped(&shape, to)?;
        run(&answer.array)?;
        return answer.finish();
    };
    let destination = Operand::destination(out)?;
    check_out(py, &destination, to, &shape)?;
    let sources = [Some(&data), Some(&scales), zeros.as_ref()];
    if sources.iter().flatten().any(|source| source.array.shares_memory(&destination.array)) {
        let wrong = "`out` overlaps the codes, the scales or the zero points; dequantize without `out`";
        return Err(overlap_error(py, wrong));
    }
    match destination.array.flattened() {
        Some(dense) if !dense.encoding().is_swapped() => run(&dense)?,
        _ => {
            let copy = PyBuffer::new(py, to, &shape)?;
            run(&copy.array()?)?;
            bytes::cast(py, &copy.array()?, &destination.array, Mode::Plain, &CastOptions::RUST, threads)?;
        }
    }
    Ok(out.clone())
}

/// The zero points, which are there if and only if the scheme has them.
fn given_zero_points<'py>(
    name: &str,
    scheme: &Scheme,
    given: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Operand<'py>>> {
    let wrong = match (scheme.has_zero_points(), given) {
        (true, None) => format!("the scheme {name:?} has zero points: give zero_points"),
        (false, Some(_)) => format!("the scheme {name:?} has no zero points; leave out zero_points"),
        (_, None) => return Ok(None),
        (_, Some(given)) => {
            let zeros = Operand::source(given)?;
            check_dtype(given.py(), "zero points", name, scheme.element, zeros.array.encoding().dtype())?;
            return Ok(Some(zeros));
        }
    };
    Err(PyValueError::new_err(wrong))
}

/// The zero points in C order, checked to be stored as the plan stores the codes.
fn zero_points_as(
    py: Python<'_>,
    plan: &ScaledPlan,
    zeros: &Operand<'_>,
    blocks: &[usize],
) -> PyResult<Dense> {
    let (stored, buffer) = (plan.data_encoding(), zeros.array.encoding());
    let typed = buffer.dtype() == stored.dtype() && stored.dtype().is_sub_byte();
    if typed && buffer.storage() != stored.storage() {
        let how = if is_packed(stored) { "packed" } else { "one per byte" };
        return Err(PyValueError::new_err(format!(
            "the zero points must be {how}, as the codes are; see lanecast.pack and lanecast.unpack"
        )));
    }
    check_shape(
        "zero points",
        &zeros.shape,
        &if typed { blocks.to_vec() } else { data_shape(stored, blocks) },
    )?;
    Dense::of(py, zeros)
}

/// The scheme of this name, with the axis and the dtype of the codes that a call overrides.
fn scheme_of(name: &str, axis: Option<isize>, element: Option<&Bound<'_, PyAny>>) -> PyResult<Scheme> {
    let mut scheme = Scheme::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Scheme::NAMED.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("scheme must be one of {}, not {name:?}", names.join(", ")))
    })?;
    if let Some(axis) = axis {
        scheme.granularity = match scheme.granularity {
            Granularity::Axis(_) => Granularity::Axis(axis),
            Granularity::Block { len, .. } => Granularity::Block { axis, len },
            Granularity::Tensor | Granularity::Tile { .. } => {
                return Err(PyValueError::new_err(format!(
                    "the scheme {name:?} has no axis to choose, but axis is {axis}; leave it out"
                )));
            }
        };
    }
    match element {
        Some(element) => Ok(scheme.with_element(dtype::argument(element)?.dtype())),
        None => Ok(scheme),
    }
}

fn is_packed(data: Encoding) -> bool {
    data.storage() == Storage::Packed && data.dtype().is_sub_byte()
}

/// The dtype in which a library holds elements, one per byte or wider: `uint8` if it lacks theirs.
fn held_by(py: Python<'_>, library: Library, dtype: DType) -> Encoding {
    let has_it = match library {
        // The sub-byte dtypes of PyTorch hold two elements per byte, or have no operations.
        Library::Torch => !dtype.is_sub_byte() && torch::dtype(py, dtype).is_ok(),
        // JAX names the 6-bit dtypes, but XLA cannot hold them on CPUs.
        Library::Jax => {
            dtype.bits() != 6
                && py.import("jax.numpy").is_ok_and(|jnp| jnp.hasattr(dtype.name()).unwrap_or(false))
        }
        Library::Numpy | Library::NumpyScalar | Library::Other => true,
    };
    Encoding::new(if has_it || dtype.size() > 1 { dtype } else { DType::UInt8 })
}

/// The shape of codes or zero points: the shape of the tensor or of the scales. Its last axis counts bytes if a row is packed in whole bytes.
/// Others that are packed have one axis.
fn data_shape(buffer: Encoding, shape: &[usize]) -> Vec<usize> {
    if !is_packed(buffer) {
        return shape.to_vec();
    }
    let bits = buffer.bits_per_element() as usize;
    match shape.split_last() {
        Some((last, outer)) if (last % 8 * bits).is_multiple_of(8) => {
            let row = last / 8 * bits + last % 8 * bits / 8;
            outer.iter().copied().chain([row]).collect()
        }
        _ => vec![buffer.byte_len(shape.iter().product()).unwrap_or(usize::MAX)],
    }
}

/// Codes and scales have the dtype of the scheme, or are bytes.
fn check_dtype(py: Python<'_>, what: &str, scheme: &str, want: DType, have: DType) -> PyResult<()> {
    if have == want || want.size() == 1 && matches!(have, DType::UInt8 | DType::Int8) {
        return Ok(());
    }
    let or_bytes = if want.size() == 1 { " or uint8" } else { "" };
    Err(dtype_error(py, format!("the {what} of the scheme {scheme:?} must be {want}{or_bytes}, not {have}")))
}

/// Flat arrays are accepted, too. Axes of length 1 do not matter.
fn check_shape(what: &str, have: &[usize], want: &[usize]) -> PyResult<()> {
    let long = |shape: &[usize]| shape.iter().copied().filter(|len| *len != 1).collect::<Vec<_>>();
    let flat = [want.iter().product::<usize>()];
    if have == flat || long(have) == long(want) {
        return Ok(());
    }
    let or_flat = if want.len() == 1 { String::new() } else { format!(", or {flat:?} if they are flat") };
    Err(PyValueError::new_err(format!("the {what} must have the shape {want:?}{or_flat}, not {have:?}")))
}

/// The elements of an operand in C order and in the byte order of the host: its own, or a copy.
struct Dense {
    array: Array,
    /// The copy, which owns the memory.
    _copy: Option<PyBuffer>,
}

impl Dense {
    fn of(py: Python<'_>, operand: &Operand<'_>) -> PyResult<Dense> {
        let buffer = operand.array.encoding();
        if let (Some(array), false) = (operand.array.flattened(), buffer.is_swapped()) {
            return Ok(Dense { array, _copy: None });
        }
        let copy = PyBuffer::new(py, Encoding::new(buffer.dtype()), operand.array.shape())?;
        let array = copy.array()?;
        bytes::cast(py, &operand.array, &array, Mode::Plain, &CastOptions::RUST, Some(1))?;
        Ok(Dense { array, _copy: Some(copy) })
    }
}

//! The native half of `lanecast.quantization`: scaled casts of arrays.

use crate::buffer::PyBuffer;
use crate::bytes;
use crate::dtype::{self, PyDType};
use crate::errors::{dtype_error, scaled_error};
use crate::memory::{self, Array, Mode};
use crate::operand::{Library, Operand};
use crate::options::choose;
use crate::torch;
use lanecast::scaled::{Granularity, NonFinite, ScaledPlan, Scheme};
use lanecast::stochastic::{RandomBits, Stochastic};
use lanecast::{BufferType, CastOptions, DType, Storage};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const STORAGES: [(&str, Storage); 2] = [("packed", Storage::Packed), ("byte", Storage::Byte)];

const NON_FINITE: [(&str, NonFinite); 3] =
    [("poison", NonFinite::Poison), ("saturate", NonFinite::Saturate), ("refuse", NonFinite::Refuse)];

/// The dtypes that codes are dequantized to.
const TARGETS: [DType; 4] = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

/// The counts of a report: elements, empty blocks, poisoned blocks, clipped elements, underflowed elements.
type Counts = (u64, u64, u64, Option<u64>, Option<u64>);

/// The names of the schemes that `quantize` and `dequantize` accept. `docs/scaled.md` specifies them.
#[pyfunction]
pub fn quantization_schemes(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Scheme::NAMED.iter().map(|(name, _)| *name))
}

/// Quantizes an array. Returns the codes, the scales, the scale of the tensor, the dtype of the codes, the shape, and the counts.
#[pyfunction]
#[pyo3(signature = (x, scheme, axis, element, storage, non_finite, counts, random, threads, /))]
#[expect(clippy::too_many_arguments, reason = "the arguments of `lanecast.quantize`")]
#[expect(clippy::type_complexity, reason = "the fields of `lanecast.Quantized`")]
pub fn quantize_array<'py>(
    x: &Bound<'py, PyAny>,
    scheme: &str,
    axis: Option<isize>,
    element: Option<&Bound<'py, PyAny>>,
    storage: &str,
    non_finite: &str,
    counts: bool,
    random: Option<(u64, u64)>,
    threads: Option<usize>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, f32, Bound<'py, PyDType>, Bound<'py, PyTuple>, Counts)> {
    let py = x.py();
    let scheme = scheme_of(scheme, axis, element)?;
    let scheme = scheme.with_non_finite(choose("non_finite", &NON_FINITE, non_finite)?);
    let storage = choose("storage", &STORAGES, storage)?;
    let source = Operand::source(x)?;
    let shape = &source.shape;
    let plan = ScaledPlan::new(source.array.buffer().dtype(), &scheme, shape);
    let mut plan = plan.map_err(|error| scaled_error(py, error))?.with_storage(storage);
    if counts {
        plan = plan.with_counts();
    }
    if let Some((seed, stream)) = random {
        plan = plan.stochastic(Stochastic { seed, stream, bits: RandomBits::default() });
    }
    let held = match is_packed(plan.data_type()) {
        true => BufferType::new(DType::UInt8),
        false => held_by(py, source.library, scheme.element),
    };
    let data = source.answer_shaped(&data_shape(&plan, shape), held)?;
    let scale_type = held_by(py, source.library, scheme.scale.dtype());
    let scales = source.answer_shaped(&scales_shape(&scheme, shape), scale_type)?;
    // SAFETY: the operand keeps its memory alive, and nobody else uses the new arrays, which are C-contiguous.
    let report = unsafe {
        let threads = memory::threads(threads);
        memory::quantize(py, &plan, &source.array, &data.array, &scales.array, threads)
    };
    let report = report.map_err(|error| scaled_error(py, error))?;
    let counts = (report.elements, report.empty, report.poisoned, report.clipped, report.underflowed);
    let (element, shape) = (dtype::object(py, scheme.element)?, PyTuple::new(py, shape)?);
    Ok((data.finish()?, scales.finish()?, report.global, element, shape, counts))
}

/// Returns the values that codes and scales stand for, as an array of the library of `data`.
#[pyfunction]
#[pyo3(signature = (data, scales, global_scale, scheme, shape, axis, element, storage, dtype, threads, /))]
#[expect(clippy::too_many_arguments, reason = "the arguments of `lanecast.dequantize`")]
pub fn dequantize_array<'py>(
    data: &Bound<'py, PyAny>,
    scales: &Bound<'py, PyAny>,
    global_scale: f32,
    scheme: &str,
    shape: Vec<usize>,
    axis: Option<isize>,
    element: Option<&Bound<'py, PyAny>>,
    storage: &str,
    dtype: &Bound<'py, PyAny>,
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
    let plan = ScaledPlan::new(DType::Float32, &scheme, &shape).map_err(|error| scaled_error(py, error))?;
    let (data, scales) = (Operand::source(data)?, Operand::source(scales)?);
    check_dtype(py, "data", name, scheme.element, data.array.buffer().dtype())?;
    check_dtype(py, "scales", name, scheme.scale.dtype(), scales.array.buffer().dtype())?;
    let (codes, by) = (Dense::of(py, &data)?, Dense::of(py, &scales)?);
    // An array of a sub-byte dtype has its own storage. In `uint8`, the caller says which.
    let typed = scheme.element.is_sub_byte() && data.array.buffer().dtype() == scheme.element;
    let plan = plan.with_storage(if typed { codes.array.buffer().storage() } else { storage });
    let want = if typed { shape.clone() } else { data_shape(&plan, &shape) };
    check_shape("data", &data.shape, &want)?;
    check_shape("scales", &scales.shape, &scales_shape(&scheme, &shape))?;
    let answer = data.answer_shaped(&shape, BufferType::new(to))?;
    // SAFETY: the operands and the copies keep their memory alive, and nobody else uses the new array.
    let done = unsafe {
        let threads = memory::threads(threads);
        memory::dequantize(py, &plan, &codes.array, &by.array, global_scale, &answer.array, threads)
    };
    done.map_err(|error| scaled_error(py, error))?;
    answer.finish()
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

fn is_packed(data: BufferType) -> bool {
    data.storage() == Storage::Packed && data.dtype().is_sub_byte()
}

/// The dtype in which a library holds elements, one per byte or wider: `uint8` if it lacks theirs.
fn held_by(py: Python<'_>, library: Library, dtype: DType) -> BufferType {
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
    BufferType::new(if has_it || dtype.size() > 1 { dtype } else { DType::UInt8 })
}

/// The shape of the codes: that of the tensor, whose last axis counts bytes if the codes of a row are packed in whole ones. Other packed
/// codes have one axis.
fn data_shape(plan: &ScaledPlan, shape: &[usize]) -> Vec<usize> {
    let buffer = plan.data_type();
    if !is_packed(buffer) {
        return shape.to_vec();
    }
    let bits = buffer.bits_per_element() as usize;
    match shape.split_last() {
        Some((last, outer)) if (last % 8 * bits).is_multiple_of(8) => {
            let row = last / 8 * bits + last % 8 * bits / 8;
            outer.iter().copied().chain([row]).collect()
        }
        _ => vec![plan.data_len()],
    }
}

/// The number of blocks along each axis. The plan has checked that the axes exist.
fn scales_shape(scheme: &Scheme, shape: &[usize]) -> Vec<usize> {
    let axes = shape.len();
    let place = |axis: isize| if axis < 0 { axis + axes as isize } else { axis } as usize;
    let block = |at: usize| match scheme.granularity {
        Granularity::Tensor => shape[at],
        Granularity::Axis(axis) => {
            if at == place(axis) {
                1
            } else {
                shape[at]
            }
        }
        Granularity::Block { axis, len } => {
            if at == place(axis) {
                len
            } else {
                1
            }
        }
        Granularity::Tile { cols, .. } if at + 1 == axes => cols,
        Granularity::Tile { rows, .. } if at + 2 == axes => rows,
        Granularity::Tile { .. } => 1,
    };
    (0..axes).map(|at| shape[at].div_ceil(block(at).max(1))).collect()
}

/// Codes and scales have the dtype of the scheme, or are bytes.
fn check_dtype(py: Python<'_>, what: &str, scheme: &str, want: DType, have: DType) -> PyResult<()> {
    if have == want || want.size() == 1 && matches!(have, DType::UInt8 | DType::Int8) {
        return Ok(());
    }
    let or_bytes = if want.size() == 1 { " or uint8" } else { "" };
    Err(dtype_error(py, format!("the {what} of the scheme {scheme:?} must be {want}{or_bytes}, not {have}")))
}

/// Flat arrays are accepted, too; the plan checks their length. Axes of length 1 do not matter.
fn check_shape(what: &str, have: &[usize], want: &[usize]) -> PyResult<()> {
    let long = |shape: &[usize]| shape.iter().copied().filter(|len| *len != 1).collect::<Vec<_>>();
    if have.len() == 1 || long(have) == long(want) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the {what} must have the shape {want:?} or be flat, and have the shape {have:?}"
    )))
}

/// The elements of an operand in C order and in the byte order of the host: its own, or a copy.
struct Dense {
    array: Array,
    /// The copy, which owns the memory.
    _copy: Option<PyBuffer>,
}

impl Dense {
    fn of(py: Python<'_>, operand: &Operand<'_>) -> PyResult<Dense> {
        let buffer = operand.array.buffer();
        if let (Some(array), false) = (operand.array.flattened(), buffer.is_swapped()) {
            return Ok(Dense { array, _copy: None });
        }
        let copy = PyBuffer::new(py, BufferType::new(buffer.dtype()), operand.array.shape())?;
        let array = copy.array()?;
        bytes::cast(py, &operand.array, &array, Mode::Plain, &CastOptions::RUST, Some(1))?;
        Ok(Dense { array, _copy: Some(copy) })
    }
}

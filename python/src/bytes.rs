//! `cast_buffer`, `pack` and `unpack`: casts of raw bytes and packed elements.

use crate::buffer::PyBuffer;
use crate::dtype;
use crate::encoding;
use crate::errors::cast_error;
use crate::memory::{self, Array, Mode};
use crate::numpy::NumpyArray;
use crate::operand::Operand;
use crate::options;
use crate::plans;
use lanecast::strided::Layout;
use lanecast::{CastOptions, DType, Encoding};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CStr;

/// The bytes of an object with the buffer protocol.
pub struct Raw(PyUntypedBuffer);

impl Raw {
    pub fn get(value: &Bound<'_, PyAny>, write: bool) -> PyResult<Raw> {
        let buffer = PyUntypedBuffer::get(value)?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("the buffer is not contiguous; copy it first"));
        }
        if write && buffer.readonly() {
            return Err(PyValueError::new_err("`out` is read-only"));
        }
        if write && !holds_numbers(buffer.format(), buffer.item_size()) {
            return Err(PyTypeError::new_err(format!(
                "`out` has items of {} bytes with the buffer format {:?}, which are not numbers; pass a buffer of bytes or numbers",
                buffer.item_size(),
                buffer.format().to_string_lossy()
            )));
        }
        Ok(Raw(buffer))
    }

    fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// All bytes of a buffer that was requested for writing.
    ///
    /// # Safety
    ///
    /// Nothing else accesses the bytes meanwhile.
    #[expect(clippy::mut_from_ref, reason = "the exporter owns the bytes")]
    pub unsafe fn bytes_mut(&self) -> &mut [u8] {
        match self.len() {
            0 => &mut [],
            // SAFETY: the exporter keeps that many bytes valid until the buffer is released, which happens when `self` is dropped.
            len => unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast(), len) },
        }
    }

    /// The first `n` elements.
    fn array(&self, of: Encoding, n: usize, what: &str) -> PyResult<Array> {
        let (need, have) = (of.byte_len(n), self.len());
        if need.is_none_or(|need| need > have) {
            let need = need.map_or("more".into(), |need| need.to_string());
            return Err(PyValueError::new_err(format!(
                "{n} elements of {of} are {need} bytes, but {what} has {have}"
            )));
        }
        let layout =
            Layout::contiguous(of, &[n]).map_err(|error| PyValueError::new_err(error.to_string()))?;
        // SAFETY: the exporter keeps the bytes valid until the buffer is released, which happens when `self` is dropped.
        Ok(unsafe { Array::new(self.0.buf_ptr().cast(), layout) })
    }
}

/// Whether the items of a buffer are numbers or bytes, which any bits may overwrite: `c`, `b`, `B` and `?` of one byte, wider integers, `e`,
/// `f`, `d`, `g` and complex numbers, in any byte order. Others may hold pointers, such as `O`, or have parts, such as `T{...}`.
fn holds_numbers(format: &CStr, item_size: usize) -> bool {
    let format = format.to_bytes();
    let code = match format {
        [b'@' | b'=' | b'<' | b'>' | b'!', code @ ..] => code,
        code => code,
    };
    match code {
        // Of one byte, since ctypes has this format for packed structures and unions, too.
        b"c" | b"b" | b"B" | b"?" => item_size == 1,
        [code] => b"hHiIlLqQnNefdgFD".contains(code),
        _ => matches!(code, b"Zf" | b"Zd" | b"Zg"),
    }
}

/// Casts one array to another of as many elements.
pub fn cast(
    py: Python<'_>,
    src: &Array,
    dst: &Array,
    mode: Mode<'_>,
    options: &CastOptions,
    threads: Option<usize>,
) -> PyResult<()> {
    let plan =
        plans::plan(src.encoding(), dst.encoding(), options).map_err(|error| cast_error(py, error, &[]))?;
    // SAFETY: the objects that own both arrays live until the call returns.
    let done = unsafe { memory::run_detached(py, &plan, mode, src, dst, memory::threads(threads)) };
    done.map(|_| ()).map_err(|error| cast_error(py, error, src.shape()))
}

/// The lengths of a shape argument, an int or a sequence of ints. `available` is the number of elements that the data has.
fn lengths(shape: &Bound<'_, PyAny>, available: impl FnOnce() -> Option<usize>) -> PyResult<Vec<usize>> {
    let given: Vec<isize> = match shape.extract::<isize>() {
        Ok(len) => vec![len],
        Err(_) => shape.extract()?,
    };
    if let Some(negative) = given.iter().find(|len| **len < 0) {
        let available = available().map_or(String::new(), |n| format!("; the data has {n} elements"));
        return Err(PyValueError::new_err(format!(
            "the shape {} has the negative length {negative}; give each length, since none is inferred{available}",
            shape.repr()?
        )));
    }
    Ok(given.iter().map(|len| len.unsigned_abs()).collect())
}

/// The number of elements of a shape.
fn elements(shape: &[usize]) -> PyResult<usize> {
    shape
        .iter()
        .try_fold(1_usize, |n, len| n.checked_mul(*len))
        .ok_or_else(|| PyValueError::new_err(format!("the shape {shape:?} has too many elements")))
}

/// The number of elements in `bytes` bytes.
fn holds(of: Encoding, bytes: usize) -> usize {
    (bytes as u128 * 8 / u128::from(of.bits_per_element())) as usize
}

/// Casts raw bytes to raw bytes. No array library is needed.
///
/// Args:
///     data: a contiguous object with the buffer protocol, such as bytes, memoryview or mmap.
///     source, target: the dtypes, or an `Encoding` for packed elements and other byte orders.
///     count: the number of elements; None takes all of `data`.
///     out: a writable object with the buffer protocol to write to, whose items are bytes or numbers. Bytes after the last element stay
///         unchanged.
///     check, threads, **options: as for `astype`. The default profile is "numpy".
///
/// Returns:
///     New bytes, or `out`.
///
/// Examples:
///     >>> lanecast.cast_buffer(bytes([1, 2, 255]), "uint8", "int16")
///     b'\x01\x00\x02\x00\xff\x00'
#[pyfunction]
#[pyo3(signature = (data, source, target, /, *, count=None, out=None, check=None, threads=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the function in Python")]
pub fn cast_buffer<'py>(
    data: &Bound<'py, PyAny>,
    source: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    count: Option<usize>,
    out: Option<&Bound<'py, PyAny>>,
    check: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let (from, to) = (encoding::argument(source)?, encoding::argument(target)?);
    let options = options::options(CastOptions::NUMPY, options)?;
    let mode = || Ok::<_, PyErr>(check.map(options::level).transpose()?.map_or(Mode::Plain, Mode::Checked));
    let raw = Raw::get(data, false)?;
    let n = count.unwrap_or_else(|| holds(from, raw.len()));
    if count.is_none() && from.byte_len(n) != Some(raw.len()) {
        return Err(PyValueError::new_err(format!(
            "{} bytes is not a whole number of {from} elements; pass count",
            raw.len()
        )));
    }
    let src = raw.array(from, n, "the data")?;
    if let Some(out) = out {
        let destination = Raw::get(out, true)?;
        let dst = destination.array(to, n, "`out`")?;
        cast(py, &src, &dst, mode()?, &options, threads)?;
        return Ok(out.clone());
    }
    let bytes = to
        .byte_len(n)
        .ok_or_else(|| PyMemoryError::new_err(format!("{n} elements of {to} exceed the address space")))?;
    let layout = Layout::contiguous(to, &[n]).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (made, address) = memory::new_bytes(py, bytes)?;
    // SAFETY: nobody else has access to the new bytes yet.
    let dst = unsafe { Array::new(address, layout) };
    cast(py, &src, &dst, mode()?, &options, threads)?;
    Ok(made.into_any())
}

/// Casts an array and packs the result: sub-byte elements share bytes, with the first element in the lowest bits.
///
/// Args:
///     x: an array, as for `astype`.
///     dtype: the target dtype.
///     check, threads, **options: as for `astype`.
///
/// Returns:
///     A `Buffer` with the shape of `x`. Its elements are in C order, and rows are not padded to whole bytes.
///
/// Examples:
///     >>> lanecast.pack(np.arange(6), "int4").nbytes
///     3
#[pyfunction]
#[pyo3(signature = (x, dtype, /, *, check=None, threads=None, **options))]
pub fn pack<'py>(
    x: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    check: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyBuffer>> {
    let py = x.py();
    let target = dtype::argument(dtype)?.dtype();
    let source = Operand::source(x)?;
    let options = options::options(source.library.options(), options)?;
    let mode = check.map(options::level).transpose()?.map_or(Mode::Plain, Mode::Checked);
    Bound::new(py, packed(py, &source, Encoding::packed(target), mode, &options, threads)?)
}

/// The elements of an array, cast to a packed buffer.
pub fn packed(
    py: Python<'_>,
    source: &Operand<'_>,
    to: Encoding,
    mode: Mode<'_>,
    options: &CastOptions,
    threads: Option<usize>,
) -> PyResult<PyBuffer> {
    let packed = PyBuffer::new(py, to, &source.shape)?;
    let dst = packed.array()?;
    if let (Some(src), false) = (source.array.flattened(), matches!(mode, Mode::Checked(_))) {
        let dst = dst.flattened().unwrap_or(dst);
        cast(py, &src, &dst, mode, options, threads)?;
    } else {
        // First cast to one element per byte, which supports strides and checks.
        let apart = PyBuffer::new(py, Encoding::new(to.dtype()), &source.shape)?;
        cast(py, &source.array, &apart.array()?, mode, options, threads)?;
        let joined = |array: Array| array.flattened().unwrap_or(array);
        cast(py, &joined(apart.array()?), &joined(dst), Mode::Plain, options, threads)?;
    }
    Ok(packed)
}

/// Unpacks elements that share bytes.
///
/// Args:
///     data: a contiguous object with the buffer protocol, such as the `Buffer` that `pack` returns.
///     dtype: the dtype of the packed elements. Rows are not padded to whole bytes.
///     shape: the shape of the result.
///     to: the dtype of the result; None means `dtype`.
///     check, threads, **options: as for `astype`, for the cast to `to`. The default profile is "numpy".
///
/// Returns:
///     A NumPy array with one element per byte, or a `Buffer` if NumPy is not installed.
///
/// Examples:
///     >>> lanecast.unpack(bytes([0x21, 0x43]), "uint4", (2, 2), to="int8")
///     array([[1, 2],
///            [3, 4]], dtype=int8)
#[pyfunction]
#[pyo3(signature = (data, dtype, shape, /, *, to=None, check=None, threads=None, **options))]
pub fn unpack<'py>(
    data: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    to: Option<&Bound<'py, PyAny>>,
    check: Option<&str>,
    threads: Option<usize>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let from = dtype::argument(dtype)?.dtype();
    let shape = lengths(shape, || Some(holds(Encoding::packed(from), Raw::get(data, false).ok()?.len())))?;
    let to = to.map_or(Ok(Encoding::new(from)), dtype::argument)?;
    let options = options::options(CastOptions::NUMPY, options)?;
    let n = elements(&shape)?;
    let raw = Raw::get(data, false)?;
    let src = raw.array(Encoding::packed(from), n, "the data")?;
    let mode = check.map(options::level).transpose()?.map_or(Mode::Plain, Mode::Checked);
    unpacked(py, &src, &shape, to, mode, &options, threads)
}

fn unpacked<'py>(
    py: Python<'py>,
    src: &Array,
    shape: &[usize],
    to: Encoding,
    mode: Mode<'_>,
    options: &CastOptions,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let joined = |array: Array| array.flattened().unwrap_or(array);
    if py.import("numpy").is_ok() {
        let new = NumpyArray::new(py, shape, to)?;
        cast(py, src, &joined(new.array()?), mode, options, threads)?;
        return Ok(new.object().clone());
    }
    let buffer = PyBuffer::new(py, to, shape)?;
    cast(py, src, &joined(buffer.array()?), mode, options, threads)?;
    Ok(Bound::new(py, buffer)?.into_any())
}

/// A `Buffer` with a copy of these bytes.
pub fn to_buffer(
    data: &Bound<'_, PyAny>,
    encoding: &Bound<'_, PyAny>,
    shape: &Bound<'_, PyAny>,
) -> PyResult<PyBuffer> {
    let py = data.py();
    let of = encoding::argument(encoding)?;
    let raw = Raw::get(data, false)?;
    let shape = lengths(shape, || Some(holds(of, raw.len())))?;
    let n = elements(&shape)?;
    let from = raw.array(of, n, "the data")?;
    if of.byte_len(n) != Some(raw.len()) {
        return Err(PyValueError::new_err(format!(
            "the data has {} bytes, more than {n} elements of {of} need; pass as many",
            raw.len()
        )));
    }
    let buffer = PyBuffer::new(py, of, &shape)?;
    let to = buffer.array()?;
    // SAFETY: `raw` keeps its bytes valid, and nobody else uses the new memory, which has as many.
    unsafe { memory::bytes_mut(&to).copy_from_slice(memory::bytes(&from)) };
    Ok(buffer)
}

/// Unpacks elements to a NumPy array with one element per byte.
pub fn unpack_array<'py>(
    py: Python<'py>,
    src: &Array,
    shape: &[usize],
    dtype: DType,
) -> PyResult<Bound<'py, PyAny>> {
    crate::numpy::imported(py)?;
    unpacked(py, src, shape, Encoding::new(dtype), Mode::Plain, &CastOptions::RUST, None)
}

//! [`PyBuffer`]: memory that lanecast owns and other libraries can use.

use crate::bytes;
use crate::dlpack::{self, Exported};
use crate::dtype::{self, PyDType};
use crate::encoding::PyEncoding;
use crate::memory::{self, Array};
use lanecast::strided::Layout;
use lanecast::{CastError, Encoding, Storage, names::Namespace};
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use std::ffi::c_int;
use std::ptr::NonNull;

/// JAX copies memory with a smaller alignment.
const ALIGNMENT: usize = 64;

/// A C-contiguous array that owns its memory, aligned to 64 bytes. Other libraries can use it without a copy.
///
/// `importers` names the libraries that take it through `__dlpack__`. NumPy takes none of the dtypes of ml_dtypes, and no library takes
/// sub-byte dtypes: `numpy()` returns an array of any dtype, and the buffer protocol shares the raw bytes.
///
/// The exported memory is writable, and no lock guards it. As with NumPy arrays, a thread must not write to it while another thread reads or
/// writes the same elements, also inside a call of lanecast, which may release the GIL: such a call may read any mixture of old and new bytes.
///
/// A Buffer is pickled with its bytes, which protocol 5 does not copy.
///
/// Examples:
///     >>> packed = lanecast.pack(np.arange(6), "int4")
///     >>> packed
///     lanecast.Buffer(int4, (6,), packed, importers=())
///     >>> bytes(packed).hex()
///     '103254'
#[pyclass(frozen, name = "Buffer", module = "lanecast")]
pub struct PyBuffer {
    /// The allocated block. `data` is the first aligned address in it.
    block: NonNull<u8>,
    data: NonNull<u8>,
    bytes: usize,
    buffer: Encoding,
    shape: Vec<usize>,
}

// SAFETY: the object owns the memory. As in NumPy, programs that write to an exported view must synchronize.
unsafe impl Send for PyBuffer {}
// SAFETY: as above.
unsafe impl Sync for PyBuffer {}

impl Drop for PyBuffer {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the block. The thread is attached to the interpreter: Python deallocates objects on attached threads
        // only, and the functions that hold a buffer before it is an object are attached, too.
        unsafe { ffi::PyMem_Free(self.block.as_ptr().cast()) };
    }
}

impl PyBuffer {
    /// New, uninitialized memory. The caller writes it before anybody reads it.
    pub fn new(_py: Python<'_>, buffer: Encoding, shape: &[usize]) -> PyResult<PyBuffer> {
        let n = shape.iter().try_fold(1_usize, |n, len| n.checked_mul(*len)).unwrap_or(usize::MAX);
        let too_large = || CastError::TooLarge { elements: n, encoding: buffer };
        let bytes = buffer.byte_len(n).ok_or_else(|| PyMemoryError::new_err(too_large().to_string()))?;
        // Python's allocator, so that `tracemalloc` sees the memory, and so that its bytes count as initialized for the language.
        // SAFETY: the thread is attached.
        let block = unsafe { ffi::PyMem_Malloc(bytes.saturating_add(ALIGNMENT)) }.cast::<u8>();
        let block = NonNull::new(block)
            .ok_or_else(|| PyMemoryError::new_err(format!("no memory for {bytes} bytes")))?;
        // SAFETY: the block has `ALIGNMENT` bytes more than needed, so the aligned address and the bytes after it are inside.
        let data = unsafe { block.add(block.align_offset(ALIGNMENT)) };
        memory::prefer_huge_pages(data.addr().get(), bytes);
        Ok(PyBuffer { block, data, bytes, buffer, shape: shape.to_vec() })
    }

    fn is_packed(&self) -> bool {
        self.buffer.storage() == Storage::Packed
    }

    /// The elements. Packed elements form a single axis, since rows may share bytes.
    pub fn array(&self) -> PyResult<Array> {
        let n = self.shape.iter().product();
        let joined = [n];
        let shape = if self.buffer.storage() == Storage::Packed { &joined[..] } else { &self.shape };
        let layout = Layout::contiguous(self.buffer, shape)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        // SAFETY: the object owns the memory of the elements.
        Ok(unsafe { Array::new(self.data.as_ptr(), layout) })
    }
}

#[pymethods]
impl PyBuffer {
    /// A Buffer with a copy of these bytes.
    ///
    /// Args:
    ///     data: a contiguous object with the buffer protocol, such as `bytes(buffer)`.
    ///     encoding: the dtype of the elements, or an `Encoding`.
    ///     shape: the shape, an int or a sequence of ints.
    ///
    /// Raises:
    ///     ValueError: `data` does not have the size that encoding and shape need.
    ///
    /// Examples:
    ///     >>> lanecast.Buffer.from_bytes(bytes([1, 0, 2, 0]), lanecast.Encoding("int16", order="little"), 2).numpy()
    ///     array([1, 2], dtype=int16)
    #[classmethod]
    #[pyo3(signature = (data, encoding, shape, /))]
    fn from_bytes(
        _class: &Bound<'_, PyType>,
        data: &Bound<'_, PyAny>,
        encoding: &Bound<'_, PyAny>,
        shape: &Bound<'_, PyAny>,
    ) -> PyResult<PyBuffer> {
        bytes::to_buffer(data, encoding, shape)
    }

    /// Pickles the arguments of `from_bytes`.
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: u8) -> PyResult<Bound<'py, PyTuple>> {
        let (this, py) = (slf.get(), slf.py());
        let data = match protocol {
            // Other versions copy the bytes.
            5.. => py.import("pickle")?.call_method1("PickleBuffer", (slf,))?,
            _ => py.get_type::<PyBytes>().call1((slf,))?,
        };
        let arguments = (data, this.encoding(), this.shape(py)?);
        (slf.get_type().getattr("from_bytes")?, arguments).into_pyobject(py)
    }

    /// The dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.buffer.dtype())
    }

    /// The shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The size of the elements in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes
    }

    /// The encoding of the bytes: the dtype, whether sub-byte elements share bytes, and the byte order.
    #[getter]
    fn encoding(&self) -> PyEncoding {
        PyEncoding { encoding: self.buffer }
    }

    fn __len__(&self) -> PyResult<usize> {
        self.shape
            .first()
            .copied()
            .ok_or_else(|| pyo3::exceptions::PyTypeError::new_err("len() of a 0-d Buffer"))
    }

    /// The libraries among `"numpy"`, `"torch"` and `"jax"` whose `from_dlpack` takes the Buffer. They lack the other dtypes, or the means to import
    /// them (NumPy 2.5, PyTorch 2.15, JAX 0.12). `numpy()` and the buffer protocol work for all.
    #[getter]
    fn importers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dtype = self.buffer.dtype();
        let is_wide = !dtype.is_sub_byte() && !self.buffer.is_swapped();
        let known = [
            ("numpy", Namespace::MlDtypes.name(dtype).is_none()),
            ("torch", Namespace::Torch.name(dtype).is_some()),
            // All dtypes of ml_dtypes.
            ("jax", true),
        ];
        PyTuple::new(
            py,
            known.iter().filter(|(_, has)| is_wide && *has).map(|(name, _)| *name).collect::<Vec<_>>(),
        )
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let packed = if self.is_packed() { ", packed" } else { "" };
        let (shape, importers) = (self.shape(py)?, self.importers(py)?);
        Ok(format!("lanecast.Buffer({}, {shape}{packed}, importers={importers})", self.buffer.dtype()))
    }

    /// A NumPy array that shares the memory. Packed elements are unpacked into a new array.
    pub fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let this = slf.get();
        let py = slf.py();
        if this.is_packed() {
            return bytes::unpack_array(py, &this.array()?, &this.shape, this.buffer.dtype());
        }
        crate::numpy::imported(py)?;
        let descr = crate::numpy::descr(py, this.buffer)?;
        let flat = py.import("numpy")?.call_method1("frombuffer", (slf, descr))?;
        flat.call_method1("reshape", (this.shape(py)?,))
    }

    /// A DLPack capsule that shares the memory. `max_version` is the newest DLPack version that the importer supports.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        slf: &Bound<'_, Self>,
        stream: Option<&Bound<'_, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        if stream.is_some() || dl_device.is_some_and(|device| device != (1, 0)) {
            return Err(PyBufferError::new_err("a lanecast.Buffer is on the CPU, which has no streams"));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err(
                "a lanecast.Buffer cannot export a copy; copy the imported array",
            ));
        }
        let this = slf.get();
        let exported = Exported {
            data: this.data.as_ptr(),
            buffer: this.buffer,
            shape: this.shape.clone(),
            owner: slf.clone().into_any().unbind(),
        };
        dlpack::export(slf.py(), exported, max_version)
    }

    /// The DLPack device, which is the CPU.
    fn __dlpack_device__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        dlpack::cpu(py)
    }

    /// # Safety
    ///
    /// `view` is writable. Python guarantees it.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        // SAFETY: the memory lives as long as the object, and the view holds a reference to the object.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                this.data.as_ptr().cast(),
                this.bytes as isize,
                0,
                flags,
            )
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

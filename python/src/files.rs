//! `TensorFile` and `save_tensors`: tensor files, read and written by the crate `lanecast-files`.

use crate::encoding::PyEncoding;
use crate::errors::{cast_error, format_error};
use crate::memory::{self, Array, Mode};
use crate::operand::Operand;
use lanecast::strided::Layout;
use lanecast::{ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, Encoding};
use lanecast_files::{Detail, Error, NewTensor, Place};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIndexError, PyOSError, PyPermissionError, PyTimeoutError,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

pub fn failed(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Io(_, ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
        Error::Io(_, ErrorKind::PermissionDenied) => PyPermissionError::new_err(message),
        Error::Io(_, ErrorKind::TimedOut) => PyTimeoutError::new_err(message),
        Error::Io(..) => PyOSError::new_err(message),
        Error::Exists(detail) => {
            let detail = Detail { remedy: "pass overwrite=True to replace it".into(), ..detail.clone() };
            PyFileExistsError::new_err(Error::Exists(detail).to_string())
        }
        Error::Format(_) | Error::Unsupported(_) => format_error(py, message),
        _ => PyValueError::new_err(message),
    }
}

/// A row of `TensorFile.tensors`: name, encoding, the file's spelling of the dtype, shape, size in bytes, offset in the file, and the order of
/// axes in memory, "C" or "F".
type Described =
    (String, Option<PyEncoding>, String, Option<Vec<u64>>, Option<u64>, Option<u64>, &'static str);

/// An open tensor file. Only its headers are in memory.
#[pyclass(frozen, name = "TensorFile", module = "lanecast._lanecast")]
pub struct PyTensorFile {
    file: Mutex<lanecast_files::TensorFile>,
}

#[pymethods]
impl PyTensorFile {
    #[new]
    #[pyo3(signature = (path, /))]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyTensorFile> {
        let file =
            py.detach(|| lanecast_files::TensorFile::open(&path)).map_err(|error| failed(py, &error))?;
        Ok(PyTensorFile { file: Mutex::new(file) })
    }

    /// The tensors, in file order.
    fn tensors(&self) -> Vec<Described> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.tensors()
            .iter()
            .map(|tensor| {
                let offset = match tensor.place {
                    Place::File(ref bytes) => Some(bytes.start),
                    _ => None,
                };
                let bytes = match (tensor.buffer, tensor.elements) {
                    (Some(buffer), Some(n)) => usize::try_from(n).ok().and_then(|n| buffer.byte_len(n)),
                    _ => None,
                };
                (
                    tensor.name.clone(),
                    tensor.buffer.map(|encoding| PyEncoding { encoding }),
                    tensor.described.clone(),
                    tensor.shape.clone(),
                    bytes.map(|bytes| bytes as u64),
                    offset,
                    if tensor.fortran_order { "F" } else { "C" },
                )
            })
            .collect()
    }

    /// The metadata of the file, as pairs of key and text.
    fn metadata(&self) -> Vec<(String, String)> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).metadata().to_vec()
    }

    /// Raises `FormatError` if the tensor holds codes or scales of a quantized checkpoint.
    #[pyo3(signature = (index, /))]
    fn check_plain(&self, py: Python<'_>, index: usize) -> PyResult<()> {
        let checked = py.detach(|| {
            let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            (index < file.tensors().len()).then(|| file.check_plain(index))
        });
        let checked = checked.ok_or_else(|| PyIndexError::new_err(format!("no tensor has index {index}")))?;
        checked.map_err(|error| failed(py, &error))
    }

    /// Reads the bytes of a tensor.
    #[pyo3(signature = (index, /))]
    fn read<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        let read = py.detach(|| {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            (index < file.tensors().len()).then(|| file.read(index))
        });
        let read = read.ok_or_else(|| PyIndexError::new_err(format!("no tensor has index {index}")))?;
        Ok(PyBytes::new(py, &read.map_err(|error| failed(py, &error))?))
    }
}

/// Writes a tensor file. The extension of `path` selects the format.
#[pyfunction]
#[pyo3(signature = (path, tensors, metadata, overwrite, /))]
pub fn save_tensors(
    py: Python<'_>,
    path: PathBuf,
    tensors: Vec<(String, Bound<'_, PyAny>)>,
    metadata: Vec<(String, String)>,
    overwrite: bool,
) -> PyResult<()> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let packs = !matches!(extension, "npy" | "npz");
    let mut sources = Vec::with_capacity(tensors.len());
    for (name, array) in tensors {
        let source = Operand::source(&array)?;
        let shape: Vec<u64> = source.shape.iter().map(|len| *len as u64).collect();
        sources.push((name, source, shape));
    }
    let mut held = Vec::with_capacity(sources.len());
    for (name, source, shape) in &sources {
        let dtype = source.array.encoding().dtype();
        held.push((name, dtype, shape, stored(py, source, packs)?));
    }
    let tensors: Vec<NewTensor<'_>> = held
        .iter()
        .map(|(name, dtype, shape, data)| NewTensor { name, dtype: *dtype, shape, data })
        .collect();
    py.detach(|| lanecast_files::save(&path, &tensors, &metadata, overwrite))
        .map_err(|error| failed(py, &error))
}

/// The elements as a file stores them: C-contiguous and little-endian. Borrowed if the array already has this layout.
fn stored<'a>(py: Python<'_>, source: &'a Operand<'_>, packs: bool) -> PyResult<Cow<'a, [u8]>> {
    let array = &source.array;
    let dtype = array.encoding().dtype();
    let apart = Encoding::new(dtype).with_order(ByteOrder::Little);
    let to = if packs && dtype.is_sub_byte() { Encoding::packed(dtype) } else { apart };
    let flat = array.flattened();
    if let Some(flat) = &flat
        && flat.encoding() == to
    {
        // SAFETY: the operand keeps the memory alive. The program must not write to it meanwhile.
        return Ok(Cow::Borrowed(unsafe { memory::bytes(flat) }));
    }
    if to == apart || flat.is_some() {
        return copied(py, flat.as_ref().unwrap_or(array), to).map(Cow::Owned);
    }
    // Only contiguous elements can be packed.
    let copy = copied(py, array, apart)?;
    let failed = |error| cast_error(py, error, &[]);
    let plan = CastPlan::new(apart, to, &CastOptions::RUST).map_err(failed)?;
    let n = array.elements();
    let mut out = vec![0; to.byte_len(n).unwrap_or(0)];
    plan.run(Bytes::new(&copy, n), BytesMut::new(&mut out, n)).map_err(failed)?;
    Ok(Cow::Owned(out))
}

fn copied(py: Python<'_>, src: &Array, to: Encoding) -> PyResult<Vec<u8>> {
    let failed = |error| cast_error(py, error, &[]);
    let mut out = vec![0; to.byte_len(src.elements()).unwrap_or(0)];
    let layout =
        Layout::contiguous(to, src.shape()).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let plan = CastPlan::new(src.encoding(), to, &CastOptions::RUST).map_err(failed)?;
    // SAFETY: the object of the source lives until the call returns. The vector has as many bytes as the layout, and nobody else uses it.
    let done = unsafe {
        let dst = Array::new(out.as_mut_ptr(), layout);
        memory::run_detached(py, &plan, Mode::Plain, src, &dst, memory::threads(None))
    };
    done.map_err(|error| cast_error(py, error, &[]))?;
    Ok(out)
}

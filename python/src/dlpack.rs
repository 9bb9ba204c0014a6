//! DLPack: imports arrays of other libraries, and exports [`Buffer`](crate::buffer::PyBuffer).
//!
//! The structures are from `dlpack.h` 1.3. Capsules are untrusted, so everything is checked that does not require access to the memory.

use crate::memory::Array;
use lanecast::Encoding;
use lanecast::strided::{Layout, MAX_AXES};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

#[repr(C)]
#[derive(Clone, Copy)]
struct DLDevice {
    device_type: i32,
    device_id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct DLManagedTensor {
    dl_tensor: DLTensor,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

#[repr(C)]
struct DLManagedTensorVersioned {
    version: [u32; 2],
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    flags: u64,
    dl_tensor: DLTensor,
}

const READ_ONLY: u64 = 1;
const PADDED: u64 = 4;
/// Devices with host memory: the CPU, and memory pinned by CUDA or ROCm.
const HOST_DEVICES: [i32; 3] = [CPU, 3, 11];
const CPU: i32 = 1;
const VERSION: (u32, u32) = (1, 3);

const OLD_NAME: &CStr = c"dltensor";
const OLD_USED: &CStr = c"used_dltensor";
const NEW_NAME: &CStr = c"dltensor_versioned";
const NEW_USED: &CStr = c"used_dltensor_versioned";

/// A tensor taken from a capsule. Its deleter runs once, on drop.
enum Owned {
    Old(NonNull<DLManagedTensor>),
    New(NonNull<DLManagedTensorVersioned>),
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the tensor is ours since its capsule was renamed, and it is not used after the drop.
        unsafe {
            match self {
                Owned::Old(tensor) => {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
                Owned::New(tensor) => {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

/// An array of another library. Its memory lives as long as this value.
pub struct Imported {
    /// Packed elements whose rows share bytes form a single axis.
    pub array: Array,
    pub shape: Vec<usize>,
    pub writable: bool,
    _owned: Owned,
}

/// Imports an array through `__dlpack__`.
pub fn import(value: &Bound<'_, PyAny>) -> PyResult<Imported> {
    let py = value.py();
    check_device(value)?;
    let method = value.getattr(intern!(py, "__dlpack__"))?;
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", VERSION)?;
    let capsule = match method.call((), Some(&keywords)) {
        // An exporter older than DLPack 1.0.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0()?,
        called => called?,
    };
    let owned = take(&capsule)?;
    // SAFETY: we own the tensor, so its structure is valid.
    let (tensor, flags) = unsafe {
        match &owned {
            Owned::Old(tensor) => (&(*tensor.as_ptr()).dl_tensor, None),
            Owned::New(tensor) => {
                let tensor = &*tensor.as_ptr();
                if tensor.version[0] != VERSION.0 {
                    return Err(PyBufferError::new_err(format!(
                        "the array was exported with DLPack {}.{}, but only version 1 is supported",
                        tensor.version[0], tensor.version[1]
                    )));
                }
                (&tensor.dl_tensor, Some(tensor.flags))
            }
        }
    };
    let (array, shape) = read(tensor, flags)?;
    // Versions before 1.0 have no read-only flag.
    let writable = flags.is_none_or(|flags| flags & READ_ONLY == 0);
    Ok(Imported { array, shape, writable, _owned: owned })
}

fn check_device(value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let device = value.getattr(intern!(py, "__dlpack_device__"))?.call0()?;
    let (kind, _): (i32, i64) = device.extract()?;
    if HOST_DEVICES.contains(&kind) {
        return Ok(());
    }
    Err(PyBufferError::new_err(format!(
        "the array is on a device of DLPack type {kind}, but lanecast reads host memory only; copy the array to the CPU first"
    )))
}

/// Takes ownership of the tensor in a capsule.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Owned> {
    let py = capsule.py();
    let raw = capsule.as_ptr();
    // SAFETY: `PyCapsule_IsValid` accepts any object. The pointer is read only from a valid capsule, which is renamed at once.
    unsafe {
        let (name, used, new) = if ffi::PyCapsule_IsValid(raw, NEW_NAME.as_ptr()) != 0 {
            (NEW_NAME, NEW_USED, true)
        } else if ffi::PyCapsule_IsValid(raw, OLD_NAME.as_ptr()) != 0 {
            (OLD_NAME, OLD_USED, false)
        } else {
            return Err(PyBufferError::new_err(
                "__dlpack__ did not return an unused capsule named \"dltensor_versioned\" or \"dltensor\"",
            ));
        };
        let pointer = ffi::PyCapsule_GetPointer(raw, name.as_ptr());
        let Some(pointer) = NonNull::new(pointer) else { return Err(PyErr::fetch(py)) };
        if ffi::PyCapsule_SetName(raw, used.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(if new { Owned::New(pointer.cast()) } else { Owned::Old(pointer.cast()) })
    }
}

fn bad(message: impl Into<String>) -> PyErr {
    PyBufferError::new_err(message.into())
}

fn read(tensor: &DLTensor, flags: Option<u64>) -> PyResult<(Array, Vec<usize>)> {
    if !HOST_DEVICES.contains(&tensor.device.device_type) {
        return Err(bad("the capsule holds an array on a different device than __dlpack_device__ returned"));
    }
    let axes = usize::try_from(tensor.ndim).map_err(|_| bad("the number of axes is negative"))?;
    if axes > MAX_AXES {
        return Err(bad(format!("the array has {axes} axes, but the maximum is {MAX_AXES}")));
    }
    if axes > 0 && tensor.shape.is_null() {
        return Err(bad("the shape is NULL"));
    }
    let list = |list: *mut i64| match axes {
        0 => &[][..],
        // SAFETY: DLPack requires one number per axis.
        axes => unsafe { slice::from_raw_parts(list.cast_const(), axes) },
    };
    let mut shape = Vec::with_capacity(axes);
    for len in list(tensor.shape) {
        shape.push(usize::try_from(*len).map_err(|_| bad(format!("an axis has length {len}")))?);
    }
    let strides = (!tensor.strides.is_null()).then(|| list(tensor.strides));
    let buffer = dtype(tensor.dtype, flags.unwrap_or(0), &mut shape)?;
    let too_large = || bad("the array exceeds the address space");
    let layout = if buffer.dtype().is_sub_byte() && buffer != Encoding::new(buffer.dtype()) {
        packed(buffer, &shape, strides)?
    } else {
        let size = buffer.dtype().size() as isize;
        match strides {
            None => Layout::contiguous(buffer, &shape),
            Some(strides) => {
                let bytes = |stride: &i64| isize::try_from(*stride).ok()?.checked_mul(size);
                let strides: Vec<isize> =
                    strides.iter().map(bytes).collect::<Option<_>>().ok_or_else(too_large)?;
                Layout::new(buffer, &shape, &strides)
            }
        }
        .map_err(|error| bad(error.to_string()))?
    };
    let offset = usize::try_from(tensor.byte_offset).map_err(|_| too_large())?;
    if layout.elements() > 0 && tensor.data.is_null() {
        return Err(bad("the data pointer is NULL, but the array has elements"));
    }
    let start = tensor.data.cast::<u8>().wrapping_add(offset);
    if start.addr() < tensor.data.addr() {
        return Err(too_large());
    }
    // SAFETY: the exporter keeps the memory valid until its deleter is called.
    let array = unsafe { Array::new(start, layout) };
    let span = array.span();
    if array.elements() > 0 && (span.end <= span.start || span.start == 0) {
        return Err(too_large());
    }
    Ok((array, shape))
}

/// The encoding of a DLPack dtype. Two lanes of a 4-bit float count as two elements of the last axis.
fn dtype(of: DLDataType, flags: u64, shape: &mut [usize]) -> PyResult<Encoding> {
    let unknown = || {
        bad(format!(
            "the DLPack dtype with code {}, {} bits and {} lanes is not supported",
            of.code, of.bits, of.lanes
        ))
    };
    // Padding is a property of single elements.
    let padded = flags & PADDED != 0 && of.lanes == 1;
    let encoding = Encoding::from_dlpack(of.code, of.bits, of.lanes, padded).ok_or_else(unknown)?;
    if of.lanes == 2 {
        let last = shape.last_mut();
        let last = last.ok_or_else(|| bad("a 4-bit dtype with two lanes needs at least one axis"))?;
        *last = last.checked_mul(2).ok_or_else(unknown)?;
    }
    Ok(encoding)
}

/// The layout of packed elements. Rows are not padded to whole bytes.
fn packed(buffer: Encoding, shape: &[usize], strides: Option<&[i64]>) -> PyResult<Layout> {
    let mut step = 1_i64;
    for (len, stride) in shape.iter().zip(strides.unwrap_or(&[])).rev() {
        if *len > 1 && *stride != step && !shape.contains(&0) {
            return Err(bad("packed sub-byte elements must be C-contiguous"));
        }
        step = step.saturating_mul(*len as i64);
    }
    let rows_share_bytes =
        shape.last().is_some_and(|last| !(last * buffer.dtype().bits() as usize).is_multiple_of(8));
    let joined: &[usize] = &[shape
        .iter()
        .try_fold(1_usize, |n, len| n.checked_mul(*len))
        .ok_or_else(|| bad("the array has too many elements"))?];
    let shape = if shape.is_empty() || rows_share_bytes && shape.len() > 1 { joined } else { shape };
    Layout::contiguous(buffer, shape).map_err(|error| bad(error.to_string()))
}

/// An array to export as a capsule.
pub struct Exported {
    pub data: *mut u8,
    pub buffer: Encoding,
    pub shape: Vec<usize>,
    /// Kept until the importer calls the deleter.
    pub owner: Py<PyAny>,
}

/// The data that the deleter frees.
struct Context {
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// A reference. It is not a `Py`, whose drop trusts PyO3's count of attachments; see [`free`].
    owner: *mut ffi::PyObject,
}

/// A capsule of the newest kind that the importer supports.
pub fn export(py: Python<'_>, array: Exported, max_version: Option<(u32, u32)>) -> PyResult<Py<PyAny>> {
    let dtype = array.buffer.dtype();
    let (code, bits) =
        dtype.dlpack().ok_or_else(|| PyBufferError::new_err(format!("DLPack does not support {dtype}")))?;
    if array.buffer.is_swapped() {
        return Err(PyBufferError::new_err(
            "DLPack supports native byte order only; Buffer.numpy() supports both",
        ));
    }
    let padded = dtype.is_sub_byte() && array.buffer == Encoding::new(dtype);
    let versioned = max_version.is_some_and(|(major, _)| major >= 1);
    if dtype.is_sub_byte() && !versioned {
        return Err(PyBufferError::new_err(format!(
            "{dtype} needs an importer of DLPack 1.0 or newer; Buffer.numpy() and the buffer protocol need none"
        )));
    }
    let shape: Vec<i64> = array.shape.iter().map(|len| *len as i64).collect();
    let mut strides = vec![1_i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    let mut context = Box::new(Context { shape, strides, owner: array.owner.into_ptr() });
    let dl_tensor = DLTensor {
        data: array.data.cast(),
        device: DLDevice { device_type: CPU, device_id: 0 },
        ndim: context.shape.len() as i32,
        dtype: DLDataType { code, bits, lanes: 1 },
        shape: context.shape.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let manager_ctx = Box::into_raw(context).cast::<c_void>();
    let (pointer, name): (*mut c_void, &CStr) = if versioned {
        let tensor = DLManagedTensorVersioned {
            version: VERSION.into(),
            manager_ctx,
            deleter: Some(delete_new),
            flags: if padded { PADDED } else { 0 },
            dl_tensor,
        };
        (Box::into_raw(Box::new(tensor)).cast(), NEW_NAME)
    } else {
        let tensor = DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(delete_old) };
        (Box::into_raw(Box::new(tensor)).cast(), OLD_NAME)
    };
    // SAFETY: the pointer is not null, the name is static, and the destructor frees the tensor if nobody takes it.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy))) }
        .map(Bound::unbind)
}

/// The table of C functions that a class of arrays offers, from DLPack 1.3 on.
#[repr(C)]
struct DLPackExchangeAPI {
    version: [u32; 2],
    previous: *const DLPackExchangeAPI,
    managed_tensor_allocator: *const c_void,
    managed_tensor_from_py_object: *const c_void,
    managed_tensor_to_py_object: *const c_void,
    dltensor_from_py_object: Option<Describe>,
    current_work_stream: *const c_void,
}

/// Describes the array of the first argument in the second, which points into the array. Returns 0, or sets a Python exception.
type Describe = unsafe extern "C" fn(*mut c_void, *mut DLTensor) -> c_int;

/// Describes arrays of a class without a capsule.
pub struct Exchange(Describe);

/// An array in CPU memory.
pub struct Plain {
    /// The first element.
    pub data: *mut u8,
    pub shape: Vec<usize>,
    /// In elements.
    pub strides: Vec<isize>,
}

impl Exchange {
    /// The function of a class, if it has one.
    pub fn of(class: &Bound<'_, PyAny>) -> Option<Exchange> {
        let capsule = class.getattr("__dlpack_c_exchange_api__").ok()?;
        let name = c"dlpack_exchange_api".as_ptr();
        // SAFETY: `PyCapsule_IsValid` accepts any object, and a capsule of this name points to the table, which is static.
        let table = unsafe {
            if ffi::PyCapsule_IsValid(capsule.as_ptr(), name) == 0 {
                return None;
            }
            &*ffi::PyCapsule_GetPointer(capsule.as_ptr(), name).cast::<DLPackExchangeAPI>()
        };
        if table.version[0] != VERSION.0 {
            return None;
        }
        table.dltensor_from_py_object.map(Exchange)
    }

    /// Describes an array, which must be of exactly the class of the function. `None` if it is not in CPU memory, or if DLPack cannot describe
    /// it. The dtype is not returned, since PyTorch describes some of them as others.
    pub fn plain(&self, value: &Bound<'_, PyAny>) -> Option<Plain> {
        let mut tensor = MaybeUninit::<DLTensor>::zeroed();
        // SAFETY: the function takes an array of the class, and writes the structure if it returns 0.
        let tensor = unsafe {
            if (self.0)(value.as_ptr().cast(), tensor.as_mut_ptr()) != 0 {
                ffi::PyErr_Clear();
                return None;
            }
            tensor.assume_init()
        };
        let axes = usize::try_from(tensor.ndim).ok()?;
        if tensor.device.device_type != CPU
            || axes > 0 && (tensor.shape.is_null() || tensor.strides.is_null())
        {
            return None;
        }
        let list = |list: *mut i64| match axes {
            0 => &[][..],
            // SAFETY: there is one number per axis, and the array, which they are in, lives. No Python code runs while they are in use.
            axes => unsafe { slice::from_raw_parts(list.cast_const(), axes) },
        };
        Some(Plain {
            data: tensor.data.cast::<u8>().wrapping_add(usize::try_from(tensor.byte_offset).ok()?),
            shape: list(tensor.shape).iter().map(|len| usize::try_from(*len).ok()).collect::<Option<_>>()?,
            strides: list(tensor.strides)
                .iter()
                .map(|step| isize::try_from(*step).ok())
                .collect::<Option<_>>()?,
        })
    }
}

/// Frees a context. Importers call deleters from any thread, with the GIL or without.
///
/// `Python::try_attach` is no help: during a call of lanecast, PyO3 counts the thread as attached. JAX, called by lanecast, releases the
/// GIL and then calls deleters. `PyGILState_Ensure` looks at the thread itself.
///
/// # Safety
///
/// `context` belongs to a tensor of [`export`] that is not yet freed.
unsafe fn free(context: *mut c_void) {
    // SAFETY: the caller's promise.
    let context = unsafe { Box::from_raw(context.cast::<Context>()) };
    // SAFETY: always sound to call. From the start of finalization on it returns 0.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        // Nobody may take the GIL anymore, so the array is not freed.
        return;
    }
    // SAFETY: the interpreter runs, and it is the main one (see `interpreter`), to which the thread is attached until the release. The context
    // had a reference to the owner.
    unsafe {
        let state = ffi::PyGILState_Ensure();
        ffi::Py_DECREF(context.owner);
        ffi::PyGILState_Release(state);
    }
}

unsafe extern "C" fn delete_new(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the importer calls the deleter once, with the tensor that `export` created.
    unsafe {
        let tensor = Box::from_raw(tensor);
        free(tensor.manager_ctx);
    }
}

unsafe extern "C" fn delete_old(tensor: *mut DLManagedTensor) {
    // SAFETY: as above.
    unsafe {
        let tensor = Box::from_raw(tensor);
        free(tensor.manager_ctx);
    }
}

/// The destructor of a capsule. Frees the tensor if no consumer took it.
unsafe extern "C" fn destroy(capsule: *mut ffi::PyObject) {
    let is = |name: *const c_char| {
        // SAFETY: Python passes the capsule to its destructor.
        unsafe { ffi::PyCapsule_IsValid(capsule, name) != 0 }
    };
    // SAFETY: as above. A capsule with this name still owns its tensor.
    unsafe {
        if is(NEW_NAME.as_ptr()) {
            delete_new(ffi::PyCapsule_GetPointer(capsule, NEW_NAME.as_ptr()).cast());
        } else if is(OLD_NAME.as_ptr()) {
            delete_old(ffi::PyCapsule_GetPointer(capsule, OLD_NAME.as_ptr()).cast());
        }
    }
}

/// The CPU, as `__dlpack_device__` returns it.
pub fn cpu(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    (CPU, 0).into_pyobject(py)
}

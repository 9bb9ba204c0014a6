//! Casts of DLPack tensors. `include/lanecast_dlpack.h` is made from this file.

use crate::array::lanecast_array;
use crate::error::{
    Failure, LANECAST_ERR_BAD_DEVICE, LANECAST_ERR_BAD_LAYOUT, LANECAST_ERR_BAD_OPTION,
    LANECAST_ERR_NULL_POINTER, LANECAST_ERR_TOO_LARGE, LANECAST_OK, guarded, lanecast_error, lanecast_status,
};
use crate::options::lanecast_options;
use crate::plan::{lanecast_plan, lanecast_plan_init};
use crate::run::{lanecast_run, lanecast_run_array};
use crate::threads::lanecast_threads;
use crate::types::{LANECAST_TYPE_PACKED, PADDED, from_dlpack, lanecast_type, number};
use lanecast::Storage;
use lanecast::strided::MAX_AXES;
use std::ffi::c_void;
use std::{ptr, slice};

/// `DLDevice` of `dlpack.h`.
#[repr(C)]
pub struct DLDevice {
    /// A `DLDeviceType`.
    pub device_type: i32,
    /// Which of the devices of this type.
    pub device_id: i32,
}

/// `DLDataType` of `dlpack.h`.
#[repr(C)]
pub struct DLDataType {
    /// A `DLDataTypeCode`.
    pub code: u8,
    /// Bits of a lane.
    pub bits: u8,
    /// Elements of `bits` bits that count as one.
    pub lanes: u16,
}

/// `DLTensor` of `dlpack.h`.
#[repr(C)]
pub struct DLTensor {
    /// Where the memory begins.
    pub data: *mut c_void,
    /// Whose memory it is.
    pub device: DLDevice,
    /// Axes.
    pub ndim: i32,
    /// What an element is.
    pub dtype: DLDataType,
    /// Elements along each axis.
    pub shape: *mut i64,
    /// Elements from one to the next along each axis. NULL (C order) is allowed before DLPack 1.2.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// `kDLCPU`, `kDLCUDAHost`, `kDLROCMHost`: memory that the CPU addresses.
const HOST: [i32; 3] = [1, 3, 11];
/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`, which says nothing to a borrower.
const COPIED: u64 = 2;

/// A tensor as the other functions take arrays: strides in bytes, axes of length 1 left out.
struct Tensor {
    type_: lanecast_type,
    data: *mut c_void,
    axes: usize,
    shape: [i64; MAX_AXES],
    strides: [i64; MAX_AXES],
    elements: usize,
    /// The elements follow each other in C order without a gap.
    contiguous: bool,
}

/// # Safety
///
/// `tensor` is null or can be read, with its shape and strides.
unsafe fn read(side: &'static str, tensor: *const DLTensor, flags: u64) -> Result<Tensor, Failure> {
    let fail =
        |status, what: std::fmt::Arguments<'_>| Err(Failure::Text(status, format!("the {side} {what}")));
    // SAFETY: the caller's promise.
    let Some(tensor) = (unsafe { tensor.as_ref() }) else {
        return fail(LANECAST_ERR_NULL_POINTER, format_args!("tensor is NULL"));
    };
    if flags & !(READ_ONLY | COPIED | PADDED) != 0 {
        return fail(
            LANECAST_ERR_BAD_OPTION,
            format_args!("has flags that DLPack 1.3 does not have: {flags:#x}"),
        );
    }
    let device = tensor.device.device_type;
    if !HOST.contains(&device) {
        let what =
            format_args!("is on a device of type {device}; copy it to the CPU (1) or pinned memory (3, 11)");
        return fail(LANECAST_ERR_BAD_DEVICE, what);
    }
    let DLDataType { code, bits, lanes } = tensor.dtype;
    let buffer = from_dlpack(code, bits, lanes, flags)?;
    let packed = buffer.storage() == Storage::Packed;
    let Ok(axes) = usize::try_from(tensor.ndim) else {
        return fail(LANECAST_ERR_BAD_LAYOUT, format_args!("has {} axes", tensor.ndim));
    };
    if axes > 0 && tensor.shape.is_null() {
        return fail(LANECAST_ERR_NULL_POINTER, format_args!("tensor has no shape: DLTensor.shape is NULL"));
    }
    if axes == 0 && lanes == 2 {
        return fail(
            LANECAST_ERR_BAD_LAYOUT,
            format_args!("has pairs of elements but no axis along which they lie"),
        );
    }
    let list = |list: *const i64| match (axes, list.is_null()) {
        (0, _) | (_, true) => &[][..],
        // SAFETY: the caller's array, which has a number for each axis.
        (axes, false) => unsafe { slice::from_raw_parts(list, axes) },
    };
    let (shape, strides) = (list(tensor.shape), list(tensor.strides));
    let mut out = Tensor {
        type_: number(buffer.dtype()) | if packed { LANECAST_TYPE_PACKED } else { 0 },
        data: tensor.data,
        axes: 0,
        shape: [0; MAX_AXES],
        strides: [0; MAX_AXES],
        elements: 0,
        contiguous: true,
    };
    let empty = shape.contains(&0);
    // Elements, as DLPack counts them, that the axes behind hold.
    let mut behind = 1_i64;
    for (axis, len) in shape.iter().enumerate().rev() {
        let too_large = || Failure::Text(LANECAST_ERR_TOO_LARGE, format!("the {side} has too many elements"));
        if *len < 0 {
            return fail(LANECAST_ERR_BAD_LAYOUT, format_args!("has an axis {axis} of length {len}"));
        }
        let stride = strides.get(axis).copied().unwrap_or(behind);
        if *len != 1 && stride != behind && !empty {
            out.contiguous = false;
        }
        if !empty {
            behind = behind.checked_mul(*len).ok_or_else(too_large)?;
        }
        // Pairs are two elements of the last axis. They are packed, whose strides nobody reads.
        let last = axis + 1 == axes;
        let len = if last { len.checked_mul(i64::from(lanes)).ok_or_else(too_large)? } else { *len };
        if len == 1 {
            continue;
        }
        // From the last axis to the first: they are put in order below.
        if out.axes == MAX_AXES {
            let what = format_args!("has more than {MAX_AXES} axes that are not of length 1");
            return fail(LANECAST_ERR_BAD_LAYOUT, what);
        }
        out.shape[out.axes] = len;
        let step = stride.checked_mul(buffer.dtype().size() as i64);
        out.strides[out.axes] = match (step, strides.get(axis)) {
            (Some(step), _) => step,
            (None, None) => return Err(too_large()),
            (None, Some(stride)) => {
                let what = format_args!("has too large a stride along axis {axis}: {stride}");
                return fail(LANECAST_ERR_BAD_LAYOUT, what);
            }
        };
        out.axes += 1;
    }
    out.shape[..out.axes].reverse();
    out.strides[..out.axes].reverse();
    let elements = if empty { Some(0) } else { behind.checked_mul(i64::from(lanes)) };
    let elements = elements.and_then(|n| usize::try_from(n).ok());
    out.elements = elements
        .filter(|n| buffer.byte_len(*n).is_some())
        .ok_or_else(|| Failure::Text(LANECAST_ERR_TOO_LARGE, format!("the {side} has too many elements")))?;
    if packed && !out.contiguous {
        let what = format_args!(
            "has packed elements that are not C-contiguous; set the padded flag if each has its own byte"
        );
        return fail(LANECAST_ERR_BAD_LAYOUT, what);
    }
    if out.elements > 0 {
        if tensor.data.is_null() {
            return fail(LANECAST_ERR_NULL_POINTER, format_args!("has elements but DLTensor.data is NULL"));
        }
        let Ok(offset) = usize::try_from(tensor.byte_offset) else {
            return fail(
                LANECAST_ERR_TOO_LARGE,
                format_args!("begins {} bytes behind its data", tensor.byte_offset),
            );
        };
        out.data = tensor.data.wrapping_byte_add(offset);
    }
    Ok(out)
}

/// Both tensors of a cast, whose shapes are equal.
///
/// # Safety
///
/// As for `lanecast_run_dlpack`.
unsafe fn pair(
    src: *const DLTensor,
    src_flags: u64,
    dst: *const DLTensor,
    dst_flags: u64,
) -> Result<(Tensor, Tensor), Failure> {
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (read("source", src, src_flags)?, read("destination", dst, dst_flags)?) };
    if dst_flags & READ_ONLY != 0 {
        let text = "the destination is read-only, as its flags say";
        return Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text));
    }
    // SAFETY: `read` found them not to be null, and shapes that have a number for each axis.
    let (src, dst) = unsafe { (&*src, &*dst) };
    if src.ndim != dst.ndim {
        let text = format!("the source has {} axes, the destination {}", src.ndim, dst.ndim);
        return Err(Failure::Text(LANECAST_ERR_BAD_LAYOUT, text));
    }
    for axis in 0..src.ndim as usize {
        let [a, b] = [src, dst].map(|tensor| {
            let lanes = if axis + 1 == tensor.ndim as usize { tensor.dtype.lanes } else { 1 };
            // SAFETY: as above.
            i64::from(lanes) * unsafe { *tensor.shape.add(axis) }
        });
        if a != b {
            let text = format!("axis {axis} has {a} elements in the source and {b} in the destination");
            return Err(Failure::Text(LANECAST_ERR_BAD_LAYOUT, text));
        }
    }
    Ok((from, to))
}

/// Casts every element of a DLPack tensor to the element at the same place of another tensor of the same shape.
///
/// Both tensors are in memory that the CPU addresses: `kDLCPU`, `kDLCUDAHost` or `kDLROCMHost`. The flags are the flags of the
/// `DLManagedTensorVersioned` that holds the tensor, or 0. Strides may be NULL (C order), negative, and 0 in the source.
///
/// Elements of less than 8 bits are packed unless the flags say that they are padded. A packed tensor must be C-contiguous; if the
/// other tensor is not, the last axis of the packed one must fill whole bytes. `lanes` is 1, or 2 for pairs of packed float4, each of
/// which counts as two elements along the last axis.
///
/// `options` works as in `lanecast_plan_init`, `threads` as in `lanecast_run`. C-contiguous tensors at the same address are cast in place;
/// the memory must have room for the wider side. Other tensors must not overlap, unless every element becomes its own result at
/// its own place. The call borrows the tensors and calls no deleter.
///
/// # Safety
///
/// `src` and `dst` are NULL or lead to tensors whose shapes, and strides that are not NULL, have `ndim` numbers. All elements of `src` are readable
/// and all elements of `dst` are writable, and nothing else writes `src` or accesses `dst` until the call returns. `options` and `threads` are
/// NULL or can be read, `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_dlpack(
    src: *const DLTensor,
    src_flags: u64,
    dst: *const DLTensor,
    dst_flags: u64,
    options: *const lanecast_options,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises; those to `from`, `to`, `plan` and the views are to this function's own.
    unsafe {
        let mut tensors = None;
        let status = guarded(error, || {
            tensors = Some(pair(src, src_flags, dst, dst_flags)?);
            Ok(())
        });
        let Some((from, to)) = tensors else {
            return status;
        };
        let mut plan = lanecast_plan { opaque: [0; 16] };
        let status = lanecast_plan_init(&raw mut plan, from.type_, to.type_, options, error);
        if status != LANECAST_OK {
            return status;
        }
        if from.contiguous && to.contiguous {
            return lanecast_run(&raw const plan, from.data, to.data, from.elements, threads, error);
        }
        let array = |tensor: &Tensor| lanecast_array {
            data: tensor.data,
            // Without an axis there is one element.
            n: tensor.elements,
            r#type: tensor.type_,
            ndim: tensor.axes as i32,
            shape: tensor.shape.as_ptr(),
            // Packed rows follow each other.
            strides: if tensor.contiguous { ptr::null() } else { tensor.strides.as_ptr() },
            reserved: [0; 2],
        };
        lanecast_run_array(&raw const plan, &array(&from), &array(&to), threads, error)
    }
}

//! Scaled casts of buffers.

use super::plan::{lanecast_scaled_plan, read};
use crate::error::{Failure, LANECAST_ERR_OVERLAP, guarded, lanecast_error, lanecast_status};
use crate::memory::put_if_wanted;
use crate::memory::{bytes, bytes_mut, overlap};
use crate::threads::lanecast_threads;
use crate::types::{buffer, lanecast_type, put};
use lanecast::scaled::{Amax, Quantized, Report, ScaledError, ScaledPlan};
use lanecast::{Bytes, BytesMut, Encoding};
use std::borrow::Cow;
use std::ffi::c_void;

/// What a scaled cast lost, and the scale of the tensor.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_scaled_report {
    /// Elements that were cast.
    pub elements: u64,
    /// Blocks whose elements are all zero; 0 if the scales are given.
    pub empty: u64,
    /// Blocks whose scale is NaN because an element is NaN or infinite; 0 if the scales are given.
    pub poisoned: u64,
    /// Elements whose quotient is above the largest code; 0 unless the options of the plan count them.
    pub clipped: u64,
    /// Elements other than zero whose code is zero; 0 unless the options of the plan count them.
    pub underflowed: u64,
    /// The scale of the tensor; 1 if the scheme has none.
    pub global: f32,
    /// 1 if clipped and underflowed elements were counted.
    pub counted: u32,
    /// The sum of the squared differences between elements and what their codes stand for, wherever both are finite: the exact sum, rounded
    /// once. 0 unless the options of the plan request it.
    pub squared_error: f64,
    /// Zero.
    pub reserved: [u64; 5],
}

impl From<Report> for lanecast_scaled_report {
    fn from(report: Report) -> Self {
        lanecast_scaled_report {
            elements: report.elements,
            empty: report.empty,
            poisoned: report.poisoned,
            clipped: report.clipped.unwrap_or(0),
            underflowed: report.underflowed.unwrap_or(0),
            global: report.global.unwrap_or(1.0),
            counted: u32::from(report.clipped.is_some()),
            squared_error: report.squared_error.unwrap_or(0.0),
            reserved: [0; 5],
        }
    }
}

/// A buffer of a call: its address, and its bytes.
pub(super) type Buffer = (*const c_void, usize);
/// A buffer that is written.
pub(super) type BufferMut = (*mut c_void, usize);

/// Buffers that are written share no byte with each other, nor with those that are read.
pub(super) fn apart(written: &[Buffer], read: &[Buffer]) -> Result<(), Failure> {
    for (i, a) in written.iter().enumerate() {
        for b in written[i + 1..].iter().chain(read) {
            if overlap(a.0.addr(), a.1, b.0.addr(), b.1) {
                let text = "two buffers of a scaled cast share bytes; give each its own memory";
                return Err(Failure::Argument(LANECAST_ERR_OVERLAP, text));
            }
        }
    }
    Ok(())
}

pub(super) const SOURCE: &str = "the source is NULL";
pub(super) const DATA: &str = "the data is NULL";
pub(super) const SCALES: &str = "the scales are NULL";
pub(super) const DESTINATION: &str = "the destination is NULL";

/// Checks that the bytes hold all elements of a plan.
fn check(which: &'static str, of: Encoding, plan: &ScaledPlan, have: usize) -> Result<(), Failure> {
    match of.byte_len(plan.elements()) {
        Some(want) if want == have => Ok(()),
        want => Err(ScaledError::Length { which, want: want.unwrap_or(usize::MAX), have }.into()),
    }
}

/// The elements of the source of a plan.
///
/// # Safety
///
/// `src` can be read for `src_len` bytes, and nothing writes them.
pub(super) unsafe fn source<'a>(plan: &ScaledPlan, (src, src_len): Buffer) -> Result<Bytes<'a>, Failure> {
    // SAFETY: the caller's promise.
    let src = unsafe { bytes(src.cast(), src_len, SOURCE)? };
    check("source", plan.source(), plan, src_len)?;
    Ok(Bytes::new(src, plan.elements()))
}

/// The place of the values of a plan with this output.
///
/// # Safety
///
/// `dst` can be written for `dst_len` bytes, and nothing else accesses them.
pub(super) unsafe fn destination<'a>(
    plan: &ScaledPlan,
    to: Encoding,
    (dst, dst_len): BufferMut,
) -> Result<BytesMut<'a>, Failure> {
    // SAFETY: the caller's promise.
    let dst = unsafe { bytes_mut(dst.cast(), dst_len, DESTINATION)? };
    check("destination", to, plan, dst_len)?;
    Ok(BytesMut::new(dst, plan.elements()))
}

/// A plan over the threads of a call.
///
/// # Safety
///
/// `threads` is null or can be read for as long as the result is used.
pub(super) unsafe fn shared(
    plan: &ScaledPlan,
    threads: *const lanecast_threads,
) -> Result<Cow<'_, ScaledPlan>, Failure> {
    // SAFETY: the caller's promise.
    match unsafe { lanecast_threads::read(threads)? } {
        _ if threads.is_null() => Ok(Cow::Borrowed(plan)),
        threads => Ok(Cow::Owned(plan.with_threads(threads))),
    }
}

/// Scales and casts a source by the plan that `by` makes of the one behind the pointer, and writes the report.
///
/// # Safety
///
/// As for [`lanecast_scaled_quantize_dynamic`].
unsafe fn quantize_dynamic<'a>(
    plan: *const lanecast_scaled_plan,
    src: Buffer,
    (data, data_len): BufferMut,
    (scales, scales_len): BufferMut,
    report: *mut lanecast_scaled_report,
    error: *mut lanecast_error,
    by: impl FnOnce(&'a ScaledPlan) -> Result<Cow<'a, ScaledPlan>, Failure>,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = by(read(plan)?)?;
            apart(&[(data, data_len), (scales, scales_len)], &[src])?;
            let src = source(&plan, src)?;
            let data = bytes_mut(data.cast(), data_len, DATA)?;
            let scales = bytes_mut(scales.cast(), scales_len, SCALES)?;
            put_if_wanted(report, plan.quantize(src, &mut Quantized::new(data, scales))?.into());
            Ok(())
        })
    }
}

/// Scales and casts a tensor: writes its codes to `data` and its scales to `scales`. If the scheme has a scale for the tensor, it is in
/// `global` of the report, and readers of the codes need it. Unless `report` is NULL, the report goes there. The lengths are in bytes and
/// must equal the lengths that `lanecast_scaled_describe` returns. `threads` is as for `lanecast_run`; the result does not depend on it.
///
/// # Safety
///
/// `src` can be read for `src_len` bytes, `data` and `scales` can be written for `data_len` and `scales_len` bytes, at any alignment, and until
/// the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or readable;
/// `report` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_quantize_dynamic(
    plan: *const lanecast_scaled_plan,
    src: *const c_void,
    src_len: usize,
    data: *mut c_void,
    data_len: usize,
    scales: *mut c_void,
    scales_len: usize,
    report: *mut lanecast_scaled_report,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        let (src, data, scales) = ((src, src_len), (data, data_len), (scales, scales_len));
        quantize_dynamic(plan, src, data, scales, report, error, |plan| shared(plan, threads))
    }
}

/// As `lanecast_scaled_quantize_dynamic`, for a part of a larger tensor or for one of several tensors that share a scale. `amax` is the
/// largest magnitude of all of them, the maximum of what `lanecast_scaled_amax` or `lanecast_scaled_finite_amax` returns for each, and has to
/// be finite. The cast runs on the calling thread.
///
/// # Safety
///
/// As for `lanecast_scaled_quantize_dynamic`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_quantize_with_amax(
    plan: *const lanecast_scaled_plan,
    src: *const c_void,
    src_len: usize,
    amax: f32,
    data: *mut c_void,
    data_len: usize,
    scales: *mut c_void,
    scales_len: usize,
    report: *mut lanecast_scaled_report,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        let (src, data, scales) = ((src, src_len), (data, data_len), (scales, scales_len));
        quantize_dynamic(plan, src, data, scales, report, error, |plan| Ok(Cow::Owned(plan.with_amax(amax)?)))
    }
}

/// Casts a tensor with given scales and writes its codes to `data`. `global` is the scale of the tensor; schemes without one ignore it.
///
/// # Safety
///
/// As for `lanecast_scaled_quantize_dynamic`; `scales` can be read for `scales_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_quantize(
    plan: *const lanecast_scaled_plan,
    src: *const c_void,
    src_len: usize,
    scales: *const c_void,
    scales_len: usize,
    global: f32,
    data: *mut c_void,
    data_len: usize,
    report: *mut lanecast_scaled_report,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = shared(read(plan)?, threads)?;
            apart(&[(data, data_len)], &[(src, src_len), (scales, scales_len)])?;
            let src = source(&plan, (src, src_len))?;
            let scales = bytes(scales.cast(), scales_len, SCALES)?;
            let data = bytes_mut(data.cast(), data_len, DATA)?;
            let mut q = Quantized::new(data, scales).with_global(global);
            put_if_wanted(report, plan.quantize_given(src, &mut q)?.into());
            Ok(())
        })
    }
}

/// Writes the values that codes and scales stand for to `dst`, each the exact product rounded once to the type `to`: float16, bfloat16,
/// float32 or float64, in either byte order. `global` is the scale of the tensor; schemes without one ignore it. `dst_len` is in bytes and must
/// be the size of the elements.
///
/// # Safety
///
/// `data` and `scales` can be read for `data_len` and `scales_len` bytes, `dst` can be written for `dst_len` bytes, at any alignment, and until
/// the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or readable;
/// `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_dequantize(
    plan: *const lanecast_scaled_plan,
    data: *const c_void,
    data_len: usize,
    scales: *const c_void,
    scales_len: usize,
    global: f32,
    to: lanecast_type,
    dst: *mut c_void,
    dst_len: usize,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (plan, to) = (shared(read(plan)?, threads)?, buffer(to)?);
            apart(&[(dst, dst_len)], &[(data, data_len), (scales, scales_len)])?;
            let data = bytes(data.cast(), data_len, DATA)?;
            let scales = bytes(scales.cast(), scales_len, SCALES)?;
            let dst = destination(&plan, to, (dst, dst_len))?;
            let q = Quantized::new(data, scales).with_global(global);
            Ok(plan.with_output(to).dequantize(&q, dst)?)
        })
    }
}

/// The largest magnitude of a tensor, or NaN or infinity if the tensor has one. For several parts, it is the largest of theirs.
///
/// # Safety
///
/// `src` can be read for `src_len` bytes. `plan` is NULL or a plan; `threads` is NULL or readable; `out` and `error` are NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_amax(
    plan: *const lanecast_scaled_plan,
    src: *const c_void,
    src_len: usize,
    out: *mut f32,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = shared(read(plan)?, threads)?;
            put(out, plan.amax(source(&plan, (src, src_len))?)?.largest())
        })
    }
}

/// The largest finite magnitude of `src_len` bytes of elements of the type `from`: float16, bfloat16 or float32, in either byte order. It needs
/// no plan, and the result for several parts is the largest of theirs, which `lanecast_scaled_quantize_with_amax` takes even if some elements
/// are NaN or infinite. Unless `non_finite` is NULL, 1 is written there if there are such elements, and 0 if not. Without a finite element, the
/// result is 0.
///
/// # Safety
///
/// `src` can be read for `src_len` bytes, at any alignment. `out`, `non_finite` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_finite_amax(
    from: lanecast_type,
    src: *const c_void,
    src_len: usize,
    out: *mut f32,
    non_finite: *mut i32,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (from, src) = (buffer(from)?, bytes(src.cast(), src_len, SOURCE)?);
            let n = src_len / from.dtype().size();
            if n * from.dtype().size() != src_len {
                let want = n * from.dtype().size();
                return Err(ScaledError::Length { which: "source", want, have: src_len }.into());
            }
            let amax = Amax::of(from, Bytes::new(src, n))?;
            put(out, amax.finite())?;
            put_if_wanted(non_finite, i32::from(amax.has_non_finite()));
            Ok(())
        })
    }
}

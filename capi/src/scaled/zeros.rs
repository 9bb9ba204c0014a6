//! Scaled casts of integers with zero points.

use super::plan::{lanecast_scaled_plan, read};
use super::run::{DATA, SCALES, apart, destination, lanecast_scaled_report, shared, source};
use crate::error::{guarded, lanecast_error, lanecast_status};
use crate::memory::put_if_wanted;
use crate::memory::{bytes, bytes_mut};
use crate::threads::lanecast_threads;
use crate::types::{buffer, lanecast_type};
use lanecast::scaled::Quantized;
use std::ffi::c_void;

const ZEROS: &str = "the zero points are NULL";

/// Scales and casts a tensor to integers with zero points; the rule of the plan's scheme is `LANECAST_SCALE_RULE_MIN_MAX`. An integer stands for
/// `(code - zero) * scale`. Writes the codes to `data`, the scales to `scales`, and for each scale a zero point, stored as the codes are, to
/// `zeros`. Unless `report` is NULL, the report goes there. The lengths are in bytes and must equal the lengths that `lanecast_scaled_describe`
/// returns. `threads` is as for `lanecast_run`; the result does not depend on it.
///
/// # Safety
///
/// `src` can be read for `src_len` bytes; `data`, `scales` and `zeros` can be written for `data_len`, `scales_len` and `zeros_len` bytes, at any
/// alignment, and until the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or
/// readable; `report` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_quantize_min_max(
    plan: *const lanecast_scaled_plan,
    src: *const c_void,
    src_len: usize,
    data: *mut c_void,
    data_len: usize,
    scales: *mut c_void,
    scales_len: usize,
    zeros: *mut c_void,
    zeros_len: usize,
    report: *mut lanecast_scaled_report,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = shared(read(plan)?, threads)?;
            apart(&[(data, data_len), (scales, scales_len), (zeros, zeros_len)], &[(src, src_len)])?;
            let src = source(&plan, (src, src_len))?;
            let data = bytes_mut(data.cast(), data_len, DATA)?;
            let scales = bytes_mut(scales.cast(), scales_len, SCALES)?;
            let zeros = bytes_mut(zeros.cast(), zeros_len, ZEROS)?;
            let mut q = Quantized::new(data, scales).with_zero_points(zeros);
            put_if_wanted(report, plan.quantize(src, &mut q)?.into());
            Ok(())
        })
    }
}

/// Writes the values that integers with zero points stand for to `dst`: `(code - zero) * scale`, rounded once to the type `to`: float16, bfloat16,
/// float32 or float64, in either byte order. `dst_len` is in bytes and must be the size of the elements. `threads` is as for
/// `lanecast_scaled_quantize_min_max`.
///
/// # Safety
///
/// `data`, `scales` and `zeros` can be read for `data_len`, `scales_len` and `zeros_len` bytes, `dst` can be written for `dst_len` bytes, at any
/// alignment, and until the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or
/// readable; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_dequantize_min_max(
    plan: *const lanecast_scaled_plan,
    data: *const c_void,
    data_len: usize,
    scales: *const c_void,
    scales_len: usize,
    zeros: *const c_void,
    zeros_len: usize,
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
            apart(&[(dst, dst_len)], &[(data, data_len), (scales, scales_len), (zeros, zeros_len)])?;
            let data = bytes(data.cast(), data_len, DATA)?;
            let scales = bytes(scales.cast(), scales_len, SCALES)?;
            let zeros = bytes(zeros.cast(), zeros_len, ZEROS)?;
            let dst = destination(&plan, to, (dst, dst_len))?;
            let q = Quantized::new(data, scales).with_zero_points(zeros);
            Ok(plan.with_output(to).dequantize(&q, dst)?)
        })
    }
}

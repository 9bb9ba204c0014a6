//! Scaled casts from one scheme to another.

use super::plan::{lanecast_scaled_plan, read};
use super::run::{DATA, SCALES, apart, lanecast_scaled_report};
use crate::error::{guarded, lanecast_error, lanecast_status};
use crate::memory::put_if_wanted;
use crate::memory::{bytes, bytes_mut};
use lanecast::scaled::Quantized;
use std::ffi::c_void;

/// Casts codes and scales of the plan `from` to codes and scales of the plan `to`, whose options apply: each value is decoded exactly and rounded
/// once. Both plans are for tensors of the same shape. `global` is the tensor's scale for `from`; schemes without one ignore it. The results go
/// to `data` and `scales`, and unless `report` is NULL, the report goes there, with the tensor's scale for `to`. The scheme of `to` needs
/// `LANECAST_QUOTIENT_EXACT` and the rule `LANECAST_SCALE_RULE_AMAX` or one of the `LANECAST_SCALE_RULE_POW2_` ones; that of `from` has no zero
/// points. The cast runs on the calling thread.
///
/// # Safety
///
/// `src_data` and `src_scales` can be read for `src_data_len` and `src_scales_len` bytes, `data` and `scales` can be written for `data_len` and
/// `scales_len` bytes, at any alignment, and until the call returns nothing else writes the sources or accesses the destinations. `from` and `to` are
/// NULL or plans; `report` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_requantize(
    from: *const lanecast_scaled_plan,
    src_data: *const c_void,
    src_data_len: usize,
    src_scales: *const c_void,
    src_scales_len: usize,
    global: f32,
    to: *const lanecast_scaled_plan,
    data: *mut c_void,
    data_len: usize,
    scales: *mut c_void,
    scales_len: usize,
    report: *mut lanecast_scaled_report,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (from, to) = (read(from)?, read(to)?);
            let sources = [(src_data, src_data_len), (src_scales, src_scales_len)];
            apart(&[(data, data_len), (scales, scales_len)], &sources)?;
            let src = Quantized::new(
                bytes(src_data.cast(), src_data_len, "the source data is NULL")?,
                bytes(src_scales.cast(), src_scales_len, "the source scales are NULL")?,
            );
            let data = bytes_mut(data.cast(), data_len, DATA)?;
            let scales = bytes_mut(scales.cast(), scales_len, SCALES)?;
            let mut q = Quantized::new(data, scales);
            put_if_wanted(report, to.requantize(from, &src.with_global(global), &mut q)?.into());
            Ok(())
        })
    }
}

//! Scaled casts of arrays of any layout.

use super::plan::{lanecast_scaled_plan, read};
use super::run::{Buffer, DATA, SCALES, apart, lanecast_scaled_report, shared};
use crate::array::{Axes, lanecast_array};
use crate::error::{Failure, LANECAST_ERR_NULL_POINTER, guarded, lanecast_error, lanecast_status};
use crate::memory::bytes_mut;
use crate::memory::put_if_wanted;
use crate::threads::lanecast_threads;
use lanecast::scaled::Quantized;
use lanecast::strided::{Layout, View};
use std::ffi::c_void;

/// The bytes from the lowest element of an array to the highest one, with those between them.
fn extent(first: *const c_void, layout: &Layout) -> Buffer {
    if layout.elements() == 0 {
        return (first, 0);
    }
    let (mut low, mut len) = (0_isize, layout.encoding().dtype().size());
    // A layout is only made if these fit.
    for (axis, stride) in layout.shape().iter().zip(layout.strides()) {
        let way = (*axis as isize - 1) * stride;
        low += way.min(0);
        len += way.unsigned_abs();
    }
    (first.wrapping_byte_offset(low), len)
}

/// As `lanecast_scaled_quantize_dynamic`, of elements in any layout, such as a transposed tensor, without a copy of all of it. `src` has the
/// shape of the plan, at most 64 axes, and elements of the plan's type. `data` and `scales` lie outside of the bytes from
/// the lowest element to the highest one.
///
/// # Safety
///
/// All elements of `src` can be read; its shape and strides have `ndim` numbers. The other pointers are as for
/// `lanecast_scaled_quantize_dynamic`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_scaled_quantize_dynamic_view(
    plan: *const lanecast_scaled_plan,
    src: *const lanecast_array,
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
        guarded(error, || {
            let plan = shared(read(plan)?, threads)?;
            let null = Failure::Argument(LANECAST_ERR_NULL_POINTER, "the array is NULL");
            let view = src.as_ref().ok_or(null)?;
            let layout = view.layout(plan.source(), Axes::All)?;
            apart(&[(data, data_len), (scales, scales_len)], &[extent(view.data, &layout)])?;
            let src = View::from_raw(view.data.cast_const().cast(), layout);
            let data = bytes_mut(data.cast(), data_len, DATA)?;
            let scales = bytes_mut(scales.cast(), scales_len, SCALES)?;
            put_if_wanted(report, plan.quantize(&src, &mut Quantized::new(data, scales))?.into());
            Ok(())
        })
    }
}

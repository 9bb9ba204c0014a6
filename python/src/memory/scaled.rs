//! Scaled casts of arrays.

use super::{Array, bytes, bytes_mut};
use lanecast::Threads;
use lanecast::scaled::{Report, ScaledError, ScaledPlan};
use lanecast::strided::View;
use pyo3::prelude::*;

/// A scaled cast of more elements releases the GIL. It takes longer than [`LONG_NANOSECONDS`](super::LONG_NANOSECONDS) if its elements
/// take 3 ns, as they may in double precision.
const LONG_ELEMENTS: usize = 1 << 14;

/// The arrays of a quantized tensor, which are C-contiguous.
#[derive(Clone, Copy)]
pub struct Quantized<'a> {
    pub data: &'a Array,
    pub scales: &'a Array,
    /// The zero points, if the scheme has them.
    pub zeros: Option<&'a Array>,
}

/// Runs a scaled cast of `n` elements, without the GIL if it takes long.
pub fn detached<R: Send>(py: Python<'_>, n: usize, work: impl FnOnce() -> R + Send) -> R {
    if n > LONG_ELEMENTS { py.detach(work) } else { work() }
}

/// Quantizes `src`. With the scale of the tensor, which is `global`, the scales are those that `to` has, and `src` is C-contiguous, too.
///
/// # Safety
///
/// As for [`run`](super::run), with the arrays of `to` as destinations.
pub unsafe fn quantize(
    py: Python<'_>,
    plan: &ScaledPlan,
    src: &Array,
    to: Quantized<'_>,
    global: Option<f32>,
    threads: Threads,
) -> Result<Report, ScaledError> {
    detached(py, src.elements(), || {
        // SAFETY: the caller's promise.
        let (data, scales) = unsafe { (bytes_mut(to.data), bytes_mut(to.scales)) };
        // SAFETY: the caller's promise.
        let zeros = to.zeros.map(|zeros| unsafe { bytes_mut(zeros) });
        let in_order = src.is_c_contiguous() && !src.encoding().is_swapped();
        if global.is_some() || in_order {
            // SAFETY: the caller's promise.
            let src = unsafe { bytes(src) };
            return match (global, zeros) {
                (Some(global), _) => plan.par_quantize(src, scales, global, data, threads),
                (None, Some(zeros)) => plan.par_quantize_min_max(src, data, scales, zeros, threads),
                (None, None) => plan.par_quantize_dynamic(src, data, scales, threads),
            };
        }
        // SAFETY: the caller's promise.
        let view = unsafe { View::from_raw(src.data, src.layout) };
        match zeros {
            Some(zeros) => plan.par_quantize_min_max_view(&view, data, scales, zeros, threads),
            None => plan.par_quantize_dynamic_view(&view, data, scales, threads),
        }
    })
}

/// Dequantizes arrays to `to`, which is C-contiguous.
///
/// # Safety
///
/// As for [`run`](super::run), with the arrays of `from` as sources.
pub unsafe fn dequantize(
    py: Python<'_>,
    plan: &ScaledPlan,
    from: Quantized<'_>,
    global: f32,
    to: &Array,
    threads: Threads,
) -> Result<(), ScaledError> {
    detached(py, to.elements(), || {
        // SAFETY: the caller's promise.
        let (data, scales, dst) = unsafe { (bytes(from.data), bytes(from.scales), bytes_mut(to)) };
        // SAFETY: the caller's promise.
        match from.zeros.map(|zeros| unsafe { bytes(zeros) }) {
            Some(zeros) => plan.par_dequantize_min_max(data, scales, zeros, to.encoding(), dst, threads),
            None => plan.par_dequantize(data, scales, global, to.encoding(), dst, threads),
        }
    })
}

//! Scaled casts of arrays.

use super::{Array, bytes, bytes_mut};
use lanecast::scaled::{self, Report, ScaledError, ScaledPlan};
use lanecast::strided::View;
use lanecast::{BytesMut, Threads};
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

/// Quantizes `src`; by the scales that `to` has if they are `given`. The scale of the tensor is `global`, if the plan does not find it.
///
/// # Safety
///
/// As for [`run`](super::run), with the arrays of `to` as destinations.
pub unsafe fn quantize(
    py: Python<'_>,
    plan: &ScaledPlan,
    src: &Array,
    to: Quantized<'_>,
    (given, global): (bool, Option<f32>),
    threads: Threads,
) -> Result<Report, ScaledError> {
    detached(py, src.elements(), || {
        // SAFETY: the caller's promise.
        let (data, scales) = unsafe { (bytes_mut(to.data), bytes_mut(to.scales)) };
        // SAFETY: the caller's promise.
        let zero_points = to.zeros.map(|zeros| unsafe { bytes_mut(zeros) });
        // SAFETY: the caller's promise.
        let src = unsafe { View::from_raw(src.data, src.layout.clone()) };
        let mut q = scaled::Quantized { data, scales, zero_points, global };
        let plan = plan.with_threads(threads);
        match given {
            true => plan.quantize_given(&src, &mut q),
            false => plan.quantize(&src, &mut q),
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
    global: Option<f32>,
    to: &Array,
    threads: Threads,
) -> Result<(), ScaledError> {
    detached(py, to.elements(), || {
        // SAFETY: the caller's promise.
        let (data, scales, dst) = unsafe { (bytes(from.data), bytes(from.scales), bytes_mut(to)) };
        // SAFETY: the caller's promise.
        let zero_points = from.zeros.map(|zeros| unsafe { bytes(zeros) });
        let q = scaled::Quantized { data, scales, zero_points, global };
        let plan = plan.with_output(to.encoding()).with_threads(threads);
        plan.dequantize(&q, BytesMut::new(dst, to.elements()))
    })
}

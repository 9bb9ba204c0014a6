//! Casts of buffers.

use crate::error::{
    Failure, LANECAST_BAD_OPTION, LANECAST_NULL_POINTER, LANECAST_OVERLAP, guarded, lanecast_error,
    lanecast_status,
};
use crate::memory::{bytes_mut, overlap};
use crate::plan::{self, lanecast_plan};
use crate::threads::lanecast_threads;
use lanecast::bulk::Threads;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{CastError, CastPlan, CastReport, Level};
use std::ffi::c_void;
use std::slice;

/// A level: values out of range count as lost; those that become zero are counted.
pub const LANECAST_RANGE: u32 = 1;
/// A level: rounded values count as lost as well.
pub const LANECAST_EXACT: u32 = 2;
/// A level: values out of range and nonzero values that become zero count as lost.
pub const LANECAST_UNDERFLOW: u32 = 3;

/// What a cast lost.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct lanecast_report {
    /// Elements that were cast.
    pub elements: u64,
    /// Values that became the nearest end of the range.
    pub saturated: u64,
    /// Values of which only the low bits were kept.
    pub wrapped: u64,
    /// Finite values that became infinite.
    pub overflowed_to_infinity: u64,
    /// Numbers that became NaN.
    pub became_nan: u64,
    /// NaNs that became a number.
    pub nan_lost: u64,
    /// Complex numbers that lost an imaginary part other than zero.
    pub imaginary_dropped: u64,
    /// Nonzero values in range that became zero, in float and integer targets.
    pub underflowed_to_zero: u64,
    /// Values in range that were rounded; 0 at the levels `LANECAST_RANGE` and `LANECAST_UNDERFLOW`.
    pub inexact: u64,
    /// Zero.
    pub reserved: [u64; 7],
}

impl From<CastReport> for lanecast_report {
    fn from(report: CastReport) -> Self {
        lanecast_report {
            elements: report.elements,
            saturated: report.saturated,
            wrapped: report.wrapped,
            overflowed_to_infinity: report.overflowed_to_infinity,
            became_nan: report.became_nan,
            nan_lost: report.nan_lost,
            imaginary_dropped: report.imaginary_dropped,
            underflowed_to_zero: report.underflowed_to_zero,
            inexact: report.inexact,
            reserved: [0; 7],
        }
    }
}

pub(crate) fn level(number: u32) -> Result<Level, Failure> {
    match number {
        LANECAST_RANGE => Ok(Level::Range),
        LANECAST_EXACT => Ok(Level::Exact),
        LANECAST_UNDERFLOW => Ok(Level::Underflow),
        other => {
            let text = "a level is LANECAST_RANGE, LANECAST_UNDERFLOW or LANECAST_EXACT, not";
            Err(Failure::Number(LANECAST_BAD_OPTION, text, i64::from(other)))
        }
    }
}

/// The memory of a cast.
#[expect(clippy::large_enum_variant, reason = "it lives for a call, and nothing may be allocated")]
enum Buffers<'a> {
    /// No elements.
    Empty,
    /// Two buffers that share no byte.
    Apart(&'a [u8], &'a mut [u8]),
    /// One buffer: every element is replaced by its result.
    InPlace(View<'a>, ViewMut<'a>),
}

/// # Safety
///
/// As [`lanecast_run`]. What is in the destination comes from C, so nothing says that it is not initialised.
unsafe fn buffers<'a>(
    plan: &CastPlan,
    src: *const u8,
    dst: *mut u8,
    n: usize,
) -> Result<Buffers<'a>, Failure> {
    let (from, to) = (plan.source(), plan.target());
    let read = from.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: from })?;
    let written = to.byte_len(n).ok_or(CastError::TooLarge { elements: n, encoding: to })?;
    if n == 0 {
        return Ok(Buffers::Empty);
    }
    not_null(src, dst)?;
    let (start, end) = (src.addr(), dst.addr());
    if start == end && from.bits_per_element() == to.bits_per_element() {
        let layout = |of| Layout::contiguous(of, &[n]).map_err(CastError::View);
        let (read, written) = (layout(from)?, layout(to)?);
        // SAFETY: the caller's memory: elements of either side at the same places.
        let views =
            unsafe { (View::from_raw(src, read), ViewMut::from_raw(dst, written).map_err(CastError::View)?) };
        return Ok(Buffers::InPlace(views.0, views.1));
    }
    if overlap(start, read, end, written) {
        let text =
            "the source and the destination share bytes; only lanecast_run casts in place between widths";
        return Err(Failure::Argument(LANECAST_OVERLAP, text));
    }
    // SAFETY: the caller's memory, which was just found to be apart.
    Ok(unsafe { Buffers::Apart(slice::from_raw_parts(src, read), slice::from_raw_parts_mut(dst, written)) })
}

fn not_null(src: *const u8, dst: *const u8) -> Result<(), Failure> {
    if src.is_null() {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "the source is NULL"));
    }
    if dst.is_null() {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "the destination is NULL"));
    }
    Ok(())
}

/// Casts `n` elements at `src` to `n` elements at `dst`, at any alignment. If both are the same address, the
/// cast is in place, and the memory must have room for the wider type; other overlap is an error. If `n` is 0, pointers may be NULL.
///
/// # Safety
///
/// `src` is readable and `dst` writable for the bytes of `n` elements (`lanecast_type_bytes`), and until the call returns nobody else writes
/// the former or accesses the latter. `plan` points to a plan; `threads` is NULL or readable; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run(
    plan: *const lanecast_plan,
    src: *const c_void,
    dst: *mut c_void,
    n: usize,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (src, dst) = (src.cast::<u8>(), dst.cast::<u8>());
            if n > 0 {
                not_null(src, dst)?;
            }
            match lanecast_threads::read(threads)? {
                Threads::Serial => Ok(plan.run_ptr(src, dst, n)?),
                // In place there are no two buffers to share.
                _ if src.addr() == dst.addr() => Ok(plan.run_ptr(src, dst, n)?),
                threads => match buffers(plan, src, dst, n)? {
                    Buffers::Apart(src, dst) => Ok(plan.par_run(src, dst, n, threads)?),
                    _ => Ok(()),
                },
            }
        })
    }
}

/// As `lanecast_run`, but fails with LANECAST_REJECTED at the first element that the target cannot represent; `error` gives its index, bits
/// and reason. From that element on the contents of the destination are unspecified. In place both types must have the same width.
///
/// # Safety
///
/// As for `lanecast_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_checked(
    plan: *const lanecast_plan,
    src: *const c_void,
    dst: *mut c_void,
    n: usize,
    level: u32,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (checked, threads) = (plan.checked(self::level(level)?), lanecast_threads::read(threads)?);
            match buffers(plan, src.cast(), dst.cast(), n)? {
                Buffers::Empty => Ok(()),
                Buffers::Apart(src, dst) => Ok(checked.par_run(src, dst, n, threads)?),
                Buffers::InPlace(src, mut dst) => Ok(checked.run_strided(&src, &mut dst)?),
            }
        })
    }
}

/// As `lanecast_run`, and marks which elements the target can represent, as an Arrow validity bitmap does: bit `i % 8` of byte `i / 8` of
/// `validity`, lowest bit first, becomes 1 if element `i` fits and 0 if not; the bits after the last element become 0. Elements that do
/// not fit are cast as by `lanecast_run`. Unless `rejected` is NULL, their number goes there.
///
/// # Safety
///
/// As for `lanecast_run`; `validity` is writable for `(n + 7) / 8` bytes, `rejected` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_masked(
    plan: *const lanecast_plan,
    src: *const c_void,
    dst: *mut c_void,
    n: usize,
    level: u32,
    validity: *mut u8,
    rejected: *mut usize,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (checked, threads) = (plan.checked(self::level(level)?), lanecast_threads::read(threads)?);
            let buffers = buffers(plan, src.cast(), dst.cast(), n)?;
            let validity = bitmap(validity, n)?;
            let lost = match buffers {
                Buffers::Empty => 0,
                Buffers::Apart(src, dst) => checked.par_run_masked(src, dst, validity, n, threads)?,
                Buffers::InPlace(src, mut dst) => checked.run_strided_masked(&src, &mut dst, validity)?,
            };
            put_if_wanted(rejected, lost);
            Ok(())
        })
    }
}

/// Writes a result, unless the caller does not want it.
///
/// # Safety
///
/// `place` is null or can be written.
pub(crate) unsafe fn put_if_wanted<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(value) };
    }
}

/// The bytes of a bitmap of `n` elements.
///
/// # Safety
///
/// `validity` is null or writable for them.
pub(crate) unsafe fn bitmap<'a>(validity: *mut u8, n: usize) -> Result<&'a mut [u8], Failure> {
    // SAFETY: the caller's promise.
    unsafe { bytes_mut(validity, n.div_ceil(8), "the validity bitmap is NULL") }
}

/// As `lanecast_run`, and counts in `report` what was lost.
///
/// # Safety
///
/// As for `lanecast_run`; `report` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_counted(
    plan: *const lanecast_plan,
    src: *const c_void,
    dst: *mut c_void,
    n: usize,
    level: u32,
    report: *mut lanecast_report,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (counted, threads) = (plan.counted(self::level(level)?), lanecast_threads::read(threads)?);
            let place = place(report)?;
            let report = match buffers(plan, src.cast(), dst.cast(), n)? {
                Buffers::Empty => counted.run(&[], &mut [], 0)?,
                Buffers::Apart(src, dst) => counted.par_run(src, dst, n, threads)?,
                Buffers::InPlace(src, mut dst) => counted.run_strided(&src, &mut dst)?,
            };
            place.write(report.into());
            Ok(())
        })
    }
}

/// The place of a report.
pub(crate) fn place(report: *mut lanecast_report) -> Result<*mut lanecast_report, Failure> {
    if report.is_null() {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "the report is NULL"));
    }
    Ok(report)
}

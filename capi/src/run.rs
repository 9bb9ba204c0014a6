//! Casts by a plan.

use crate::array::{Operands, lanecast_array, operands};
use crate::error::{
    Failure, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_NULL_POINTER, LANECAST_ERR_OVERLAP, guarded,
    lanecast_error, lanecast_status,
};
use crate::memory::{bytes_mut, overlap};
use crate::plan::{self, lanecast_plan};
use crate::threads::lanecast_threads;
use lanecast::bulk::Threads;
use lanecast::strided::{Layout, View, ViewMut};
use lanecast::{CastError, CastPlan, CastReport, Level};
use std::ffi::c_void;
use std::slice;

/// Which values count as lost.
pub type lanecast_level = u32;
/// Values out of range.
pub const LANECAST_LEVEL_RANGE: lanecast_level = 1;
/// Also values other than zero that become zero.
pub const LANECAST_LEVEL_UNDERFLOW: lanecast_level = 2;
/// Also values that are rounded.
pub const LANECAST_LEVEL_EXACT: lanecast_level = 3;

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
    /// Values in range that were rounded; 0 unless the level is `LANECAST_LEVEL_EXACT`.
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

pub(crate) fn level(number: lanecast_level) -> Result<Level, Failure> {
    match number {
        LANECAST_LEVEL_RANGE => Ok(Level::Range),
        LANECAST_LEVEL_EXACT => Ok(Level::Exact),
        LANECAST_LEVEL_UNDERFLOW => Ok(Level::Underflow),
        other => {
            let text =
                "a level is LANECAST_LEVEL_RANGE, LANECAST_LEVEL_UNDERFLOW or LANECAST_LEVEL_EXACT, not";
            Err(Failure::Number(LANECAST_ERR_BAD_OPTION, text, i64::from(other)))
        }
    }
}

/// The memory of a cast that checks.
#[expect(clippy::large_enum_variant, reason = "it lives for a call, and nothing may be allocated")]
enum Buffers<'a> {
    /// No elements.
    Empty,
    /// Two buffers of so many elements that share no byte.
    Apart(&'a [u8], &'a mut [u8], usize),
    /// Arrays, or one buffer whose elements are replaced by their results.
    Views(View<'a>, ViewMut<'a>),
}

/// The memory of a cast between arrays.
///
/// # Safety
///
/// As for [`lanecast_run_array`].
unsafe fn arrays<'a>(
    plan: &CastPlan,
    src: *const lanecast_array,
    dst: *const lanecast_array,
) -> Result<Buffers<'a>, Failure> {
    // SAFETY: the caller's promise.
    unsafe {
        match operands(plan, src, dst)? {
            Operands::Flat(src, dst, n) => buffers(plan, src, dst, n),
            Operands::Views(src, dst) => Ok(Buffers::Views(src, dst)),
        }
    }
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
        return Ok(Buffers::Views(views.0, views.1));
    }
    if overlap(start, read, end, written) {
        let text = "the source and the destination share bytes; only lanecast_run and lanecast_run_array cast in place between widths";
        return Err(Failure::Argument(LANECAST_ERR_OVERLAP, text));
    }
    // SAFETY: the caller's memory, which was just found to be apart.
    let (src, dst) = unsafe { (slice::from_raw_parts(src, read), slice::from_raw_parts_mut(dst, written)) };
    Ok(Buffers::Apart(src, dst, n))
}

fn not_null(src: *const u8, dst: *const u8) -> Result<(), Failure> {
    if src.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the source is NULL"));
    }
    if dst.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the destination is NULL"));
    }
    Ok(())
}

/// Casts `n` elements at `src` to `n` elements at `dst`, at any alignment. If both are the same address, the cast is in place, and the
/// memory must have room for the wider type; other overlap is an error. If `n` is 0, pointers may be NULL. `threads` is NULL for the
/// calling thread.
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
            flat(plan, src.cast(), dst.cast(), n, lanecast_threads::read(threads)?)
        })
    }
}

/// The cast of `lanecast_run`.
///
/// # Safety
///
/// As for [`lanecast_run`].
#[inline]
pub(crate) unsafe fn flat(
    plan: &CastPlan,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    threads: Threads<'_>,
) -> Result<(), Failure> {
    if n > 0 {
        not_null(src, dst)?;
    }
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        match threads {
            Threads::Serial => Ok(plan.run_ptr(src, dst, n)?),
            // In place there are no two buffers to share.
            _ if src.addr() == dst.addr() => Ok(plan.run_ptr(src, dst, n)?),
            threads => match buffers(plan, src, dst, n)? {
                Buffers::Apart(src, dst, n) => Ok(plan.par_run(src, dst, n, threads)?),
                _ => Ok(()),
            },
        }
    }
}

/// Casts each element of `src` to the element of `dst` with the same indices; both have the same shape. Elements without a shape are cast
/// in place as by `lanecast_run`. Other arrays that share memory are an error, unless each element is replaced by its own result.
///
/// # Safety
///
/// All elements of `src` are readable and those of `dst` writable, and until the call returns nobody else writes the former or accesses
/// the latter; shapes, and strides that are not NULL, have `ndim` numbers. `plan` points to a plan; `src`, `dst` and `threads` are NULL or
/// readable; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_array(
    plan: *const lanecast_plan,
    src: *const lanecast_array,
    dst: *const lanecast_array,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let threads = lanecast_threads::read(threads)?;
            match operands(plan, src, dst)? {
                Operands::Flat(src, dst, n) => flat(plan, src, dst, n, threads),
                Operands::Views(src, mut dst) => Ok(plan.par_run_strided(&src, &mut dst, threads)?),
            }
        })
    }
}

/// As `lanecast_run_array`, but fails with `LANECAST_ERR_REJECTED` at the first element that the target cannot represent; `error` gives its
/// index, bits and reason. From that element on the contents of the destination are unspecified. In place both types must have the same width.
///
/// # Safety
///
/// As for `lanecast_run_array`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_checked(
    plan: *const lanecast_plan,
    src: *const lanecast_array,
    dst: *const lanecast_array,
    level: lanecast_level,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (checked, threads) = (plan.checked(self::level(level)?), lanecast_threads::read(threads)?);
            match arrays(plan, src, dst)? {
                Buffers::Empty => Ok(()),
                Buffers::Apart(src, dst, n) => Ok(checked.par_run(src, dst, n, threads)?),
                Buffers::Views(src, mut dst) => Ok(checked.run_strided(&src, &mut dst)?),
            }
        })
    }
}

/// As `lanecast_run_array`, and marks which elements the target can represent, as an Arrow validity bitmap does: bit `i % 8` of byte `i / 8`
/// of `validity`, lowest bit first, becomes 1 if element `i` in C order fits and 0 if not; the bits after the last element become 0. Elements
/// that do not fit are cast as by `lanecast_run_array`. Unless `rejected` is NULL, their number goes there. In place both types must have the
/// same width.
///
/// # Safety
///
/// As for `lanecast_run_array`; `validity` is writable for a bit per element, `rejected` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_masked(
    plan: *const lanecast_plan,
    src: *const lanecast_array,
    dst: *const lanecast_array,
    level: lanecast_level,
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
            let lost = match arrays(plan, src, dst)? {
                Buffers::Empty => 0,
                Buffers::Apart(src, dst, n) => {
                    checked.par_run_masked(src, dst, bitmap(validity, n)?, n, threads)?
                }
                Buffers::Views(src, mut dst) => {
                    let validity = bitmap(validity, src.layout().elements())?;
                    checked.run_strided_masked(&src, &mut dst, validity)?
                }
            };
            put_if_wanted(rejected, lost);
            Ok(())
        })
    }
}

/// As `lanecast_run_array`, and counts in `report` what was lost. In place both types must have the same width.
///
/// # Safety
///
/// As for `lanecast_run_array`; `report` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_counted(
    plan: *const lanecast_plan,
    src: *const lanecast_array,
    dst: *const lanecast_array,
    level: lanecast_level,
    report: *mut lanecast_report,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let (counted, threads) = (plan.counted(self::level(level)?), lanecast_threads::read(threads)?);
            if report.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the report is NULL"));
            }
            let counts = match arrays(plan, src, dst)? {
                Buffers::Empty => counted.run(&[], &mut [], 0)?,
                Buffers::Apart(src, dst, n) => counted.par_run(src, dst, n, threads)?,
                Buffers::Views(src, mut dst) => counted.run_strided(&src, &mut dst)?,
            };
            report.write(counts.into());
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
unsafe fn bitmap<'a>(validity: *mut u8, n: usize) -> Result<&'a mut [u8], Failure> {
    // SAFETY: the caller's promise.
    unsafe { bytes_mut(validity, n.div_ceil(8), "the validity bitmap is NULL") }
}

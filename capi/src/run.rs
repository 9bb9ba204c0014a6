//! Casts by a plan.

use crate::array::{Operands, lanecast_array, not_null};
use crate::error::{
    Failure, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_NULL_POINTER, guarded, lanecast_error, lanecast_status,
};
use crate::memory::{bytes_mut, put_if_wanted};
use crate::plan::{self, lanecast_plan};
use crate::threads::lanecast_threads;
use lanecast::{CastPlan, CastReport, Level, Threads};
use std::ffi::c_void;

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
    /// Values that kept only their low bits.
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

/// The plan of a checked run.
///
/// # Safety
///
/// `threads` is null or can be read for as long as the result is used.
unsafe fn at(
    plan: &CastPlan,
    level: lanecast_level,
    threads: *const lanecast_threads,
) -> Result<CastPlan, Failure> {
    // SAFETY: the caller's promise.
    let threads = unsafe { lanecast_threads::read(threads)? };
    Ok(plan.checked_by_each_run(self::level(level)?).with_threads(threads))
}

/// Casts `n` elements at `src` to `n` elements at `dst`, at any alignment. If both are the same address, the cast is in place, and the
/// memory must have room for the wider type; other overlap is an error. If `n` is 0, pointers may be NULL. `threads` is NULL for the
/// calling thread.
///
/// # Safety
///
/// `src` is readable and `dst` writable for the bytes of `n` elements (`lanecast_type_bytes`), and until the call returns nothing else
/// writes the source or accesses the destination. `plan` points to a plan; `threads` is NULL or readable; `error` is NULL or writable.
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
            not_null(src, dst, n)?;
            match lanecast_threads::read(threads)? {
                Threads::Serial => Ok(plan.run_ptr(src.cast(), dst.cast(), n)?),
                threads => Ok(plan.with_threads(threads).run_ptr(src.cast(), dst.cast(), n)?),
            }
        })
    }
}

/// Casts each element of `src` to the element of `dst` with the same indices; both have the same shape. Elements without a shape are cast
/// in place as by `lanecast_run`. Other arrays that share memory are an error, unless each element is replaced by its own result.
///
/// # Safety
///
/// All elements of `src` are readable and all elements of `dst` are writable, and until the call returns nothing else writes the source or
/// accesses the destination; shapes, and strides that are not NULL, have `ndim` numbers. `plan` points to a plan; `src`, `dst` and `threads` are
/// NULL or readable; `error` is NULL or writable.
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
            let plan = plan.with_threads(lanecast_threads::read(threads)?);
            Operands::arrays(&plan, src, dst)?.run(|src, dst| plan.run(src, dst))
        })
    }
}

/// As `lanecast_run_array`, but fails with `LANECAST_ERR_REJECTED` at the first element that the target cannot represent; `error` gives its
/// index, bits and reason. From that element on the contents of the destination are unspecified; memory that is cast in
/// place is unchanged.
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
            let plan = at(plan, level, threads)?;
            Operands::arrays(&plan, src, dst)?.run(|src, dst| plan.run(src, dst))
        })
    }
}

/// As `lanecast_run_array`, and marks which elements the target can represent, as an Arrow validity bitmap does: bit `i % 8` of byte `i / 8`
/// of `validity`, lowest bit first, becomes 1 if element `i` in C order fits and 0 if not; the bits after the last element become 0. Elements
/// that do not fit are cast as by `lanecast_run_array`. Unless `rejected` is NULL, their number goes there.
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
            let plan = at(plan, level, threads)?;
            let operands = Operands::arrays(&plan, src, dst)?;
            let null = "the validity bitmap is NULL";
            let validity = bytes_mut(validity, operands.elements().div_ceil(8), null)?;
            let lost = operands.run(|src, dst| plan.run_masked(src, dst, validity))?;
            put_if_wanted(rejected, lost);
            Ok(())
        })
    }
}

/// As `lanecast_run_array`, and counts in `report` what was lost.
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
            let plan = at(plan, level, threads)?;
            if report.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the report is NULL"));
            }
            let counts = Operands::arrays(&plan, src, dst)?.run(|src, dst| plan.run_counted(src, dst))?;
            report.write(counts.into());
            Ok(())
        })
    }
}

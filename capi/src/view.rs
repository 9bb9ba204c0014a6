//! Casts of arrays of any layout.

use crate::error::{
    Failure, LANECAST_BAD_LAYOUT, LANECAST_NULL_POINTER, guarded, lanecast_error, lanecast_status,
};
use crate::plan::{self, lanecast_plan};
use crate::run::{bitmap, lanecast_report, level, place, put_if_wanted};
use crate::threads::lanecast_threads;
use lanecast::strided::{Layout, MAX_AXES, View, ViewMut};
use lanecast::{CastError, CastPlan, Encoding, Storage};
use std::ffi::c_void;
use std::slice;

/// An array in memory.
#[repr(C)]
pub struct lanecast_view {
    /// The element whose indices are all 0.
    pub data: *mut c_void,
    /// Elements along each axis.
    pub shape: *const i64,
    /// Bytes from one element to the next along each axis; they may be negative, and 0 in a source. NULL if the elements follow each
    /// other in C order. Packed elements share bytes along the last axis, whose stride is 1; each row begins at a whole byte.
    pub strides: *const i64,
    /// Axes. There can be 64, not counting those of length 1; in scaled casts all count.
    pub ndim: i32,
}

fn bad(text: &'static str, number: i64) -> Failure {
    Failure::Number(LANECAST_BAD_LAYOUT, text, number)
}

/// Which axes of a view its layout has. The strides of axes of length 1 have no effect.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Axes {
    /// All of them, for casts that count axes.
    All,
    /// Those of other lengths than 1, so that they are few.
    Long,
}

/// The layout of a view.
///
/// # Safety
///
/// `view` leads to one whose shape and strides can be read for its axes.
pub(crate) unsafe fn layout(view: &lanecast_view, buffer: Encoding, which: Axes) -> Result<Layout, Failure> {
    let axes =
        usize::try_from(view.ndim).map_err(|_| bad("a negative number of axes", i64::from(view.ndim)))?;
    if axes > 0 && view.shape.is_null() {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "lanecast_view.shape is NULL"));
    }
    let read = |list: *const i64| match axes {
        0 => &[][..],
        // SAFETY: the caller's array, which has a number for each axis.
        axes => unsafe { slice::from_raw_parts(list, axes) },
    };
    let shape = read(view.shape);
    let strides = (!view.strides.is_null()).then(|| read(view.strides));
    let (mut lengths, mut steps) = ([0_usize; MAX_AXES], [0_isize; MAX_AXES]);
    let mut kept = 0;
    for (axis, len) in shape.iter().enumerate() {
        let length =
            usize::try_from(*len).map_err(|_| bad("a negative or too large length in a shape", *len))?;
        // Packed elements share bytes along the last axis, whatever its length.
        let shares_bytes = axis + 1 == axes && buffer.storage() == Storage::Packed;
        if length == 1 && !shares_bytes && which == Axes::Long {
            continue;
        }
        if kept == MAX_AXES {
            let text = match which {
                Axes::All => "a view of a scaled cast may have 64 axes; number of axes",
                Axes::Long => "a view may have 64 axes of other lengths than 1; number of axes",
            };
            return Err(bad(text, axes as i64));
        }
        lengths[kept] = length;
        if let Some(strides) = strides.filter(|_| length != 1 || shares_bytes) {
            steps[kept] =
                isize::try_from(strides[axis]).map_err(|_| bad("too large a stride", strides[axis]))?;
        }
        kept += 1;
    }
    let layout = match strides {
        Some(_) => Layout::new(buffer, &lengths[..kept], &steps[..kept]),
        None => Layout::contiguous(buffer, &lengths[..kept]),
    };
    let layout = layout.map_err(CastError::View)?;
    if view.data.is_null() && layout.elements() > 0 {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "lanecast_view.data is NULL"));
    }
    Ok(layout)
}

/// The views of a cast.
///
/// # Safety
///
/// As for `lanecast_run_strided`.
unsafe fn views<'a>(
    plan: &CastPlan,
    src: *const lanecast_view,
    dst: *const lanecast_view,
) -> Result<(View<'a>, ViewMut<'a>), Failure> {
    // SAFETY: the pointers are as the caller promises.
    let (Some(src), Some(dst)) = (unsafe { (src.as_ref(), dst.as_ref()) }) else {
        return Err(Failure::Argument(LANECAST_NULL_POINTER, "a view is NULL"));
    };
    if src.ndim != dst.ndim {
        return Err(bad(
            "the source and the destination differ in their number of axes; the destination's is",
            i64::from(dst.ndim),
        ));
    }
    // SAFETY: as above.
    let (from, to) =
        unsafe { (layout(src, plan.source(), Axes::Long)?, layout(dst, plan.target(), Axes::Long)?) };
    // SAFETY: the elements of both are the caller's memory.
    unsafe {
        let to = ViewMut::from_raw(dst.data.cast(), to).map_err(CastError::View)?;
        Ok((View::from_raw(src.data.cast_const().cast(), from), to))
    }
}

/// Casts each element of `src` to the element of `dst` with the same indices; both have the same shape. Nothing is allocated on the calling
/// thread. Views that share memory are an error, unless each element is replaced by its own result.
///
/// # Safety
///
/// All elements of `src` are readable and those of `dst` writable, and until the call returns nobody else writes the former or accesses
/// the latter; shapes and strides have `ndim` numbers. The other pointers are as for `lanecast_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_strided(
    plan: *const lanecast_plan,
    src: *const lanecast_view,
    dst: *const lanecast_view,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let threads = lanecast_threads::read(threads)?;
            let (src, mut dst) = views(plan, src, dst)?;
            Ok(plan.par_run_strided(&src, &mut dst, threads)?)
        })
    }
}

/// `lanecast_run_checked` between views, on the calling thread; the index is that of the element in C order.
///
/// # Safety
///
/// As for `lanecast_run_strided`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_strided_checked(
    plan: *const lanecast_plan,
    src: *const lanecast_view,
    dst: *const lanecast_view,
    level: u32,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let checked = plan.checked(self::level(level)?);
            let (src, mut dst) = views(plan, src, dst)?;
            Ok(checked.run_strided(&src, &mut dst)?)
        })
    }
}

/// `lanecast_run_masked` between views, on the calling thread; bits are in C order.
///
/// # Safety
///
/// As for `lanecast_run_strided`; `validity` is writable for a bit per element, `rejected` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_strided_masked(
    plan: *const lanecast_plan,
    src: *const lanecast_view,
    dst: *const lanecast_view,
    level: u32,
    validity: *mut u8,
    rejected: *mut usize,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let checked = plan.checked(self::level(level)?);
            let (src, mut dst) = views(plan, src, dst)?;
            let validity = bitmap(validity, src.layout().elements())?;
            let lost = checked.run_strided_masked(&src, &mut dst, validity)?;
            put_if_wanted(rejected, lost);
            Ok(())
        })
    }
}

/// `lanecast_run_counted` between views, on the calling thread.
///
/// # Safety
///
/// As for `lanecast_run_strided`; `report` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_strided_counted(
    plan: *const lanecast_plan,
    src: *const lanecast_view,
    dst: *const lanecast_view,
    level: u32,
    report: *mut lanecast_report,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let plan = plan::read(plan)?;
            let counted = plan.counted(self::level(level)?);
            let place = place(report)?;
            let (src, mut dst) = views(plan, src, dst)?;
            place.write(counted.run_strided(&src, &mut dst)?.into());
            Ok(())
        })
    }
}

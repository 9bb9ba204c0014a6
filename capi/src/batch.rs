//! Many casts as one.

use crate::error::{
    Failure, LANECAST_ERR_NO_MEMORY, LANECAST_ERR_NULL_POINTER, LANECAST_ERR_OVERLAP, guarded,
    lanecast_error, lanecast_status,
};
use crate::memory::overlap;
use crate::plan::{self, lanecast_plan};
use crate::threads::lanecast_threads;
use lanecast::CastError;
use lanecast::bulk::{BatchError, BatchItem, par_cast_batch};
use std::ffi::c_void;
use std::slice;

/// One cast of a batch.
#[repr(C)]
pub struct lanecast_item {
    /// The cast.
    pub plan: *const lanecast_plan,
    /// The elements to cast.
    pub src: *const c_void,
    /// Where the results go.
    pub dst: *mut c_void,
    /// Elements.
    pub n: usize,
}

const _: () =
    assert!(size_of::<BatchItem>() == 6 * size_of::<usize>(), "the README gives the bytes of an item");

/// Runs many casts, which the threads share as if they were one. No destination may overlap another item's memory. If an item is
/// invalid, `error` gives its index, and nothing is written. The call allocates six words an item; if it
/// cannot, it writes nothing and returns `LANECAST_ERR_NO_MEMORY`.
///
/// # Safety
///
/// `items` can be read for `count` items, each of which is as for `lanecast_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_run_batch(
    items: *const lanecast_item,
    count: usize,
    threads: *const lanecast_threads,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let threads = lanecast_threads::read(threads)?;
            if count == 0 {
                return Ok(());
            }
            if items.is_null() {
                return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the items are NULL"));
            }
            let mut batch = Vec::new();
            if batch.try_reserve_exact(count).is_err() {
                let text = "no memory for the list of the batch, which takes six words an item";
                return Err(Failure::Argument(LANECAST_ERR_NO_MEMORY, text));
            }
            for (index, item) in slice::from_raw_parts(items, count).iter().enumerate() {
                let of_item = |failure| Failure::Item(index, Box::new(failure));
                batch.push(self::item(item).map_err(of_item)?);
            }
            par_cast_batch(&mut batch, threads)
                .map_err(|BatchError { index, error }| Failure::Item(index, Box::new(error.into())))
        })
    }
}

/// # Safety
///
/// As for `lanecast_run`.
unsafe fn item<'a>(item: &lanecast_item) -> Result<BatchItem<'a>, Failure> {
    // SAFETY: the caller's promise.
    let plan = unsafe { plan::read(item.plan)? };
    let bytes = |buffer: lanecast::Encoding| {
        buffer.byte_len(item.n).ok_or(CastError::TooLarge { elements: item.n, encoding: buffer })
    };
    let (read, written) = (bytes(plan.source())?, bytes(plan.target())?);
    if item.n == 0 {
        return Ok(BatchItem { src: &[], dst: &mut [], n: 0, plan });
    }
    if item.src.is_null() || item.dst.is_null() {
        return Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, "the source or the destination is NULL"));
    }
    let (start, end) = (item.src.addr(), item.dst.addr());
    if overlap(start, read, end, written) {
        let text = "the source and the destination share bytes; lanecast_run casts in place";
        return Err(Failure::Argument(LANECAST_ERR_OVERLAP, text));
    }
    // SAFETY: the caller's memory, which was just found to be apart.
    let (src, dst) = unsafe {
        (slice::from_raw_parts(item.src.cast(), read), slice::from_raw_parts_mut(item.dst.cast(), written))
    };
    Ok(BatchItem { src, dst, n: item.n, plan })
}

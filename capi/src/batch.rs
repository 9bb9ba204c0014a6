//! Many casts as one.

use crate::array::Operands;
use crate::error::{
    Failure, LANECAST_ERR_NO_MEMORY, LANECAST_ERR_NULL_POINTER, LANECAST_ERR_OVERLAP, guarded,
    lanecast_error, lanecast_status,
};
use crate::plan::{self, lanecast_plan};
use crate::threads::lanecast_threads;
use lanecast::{BatchError, BatchItem, cast_batch};
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

const _: () = assert!(size_of::<BatchItem>() <= 96, "the README gives the bytes of an item");

/// Runs many casts, which the threads share as if they were one. No destination may overlap another item's memory. If an item is
/// invalid, `error` gives its index, and nothing is written. The call allocates
/// at most 96 bytes an item; if it cannot, it writes nothing and returns `LANECAST_ERR_NO_MEMORY`.
///
/// # Safety
///
/// `items` can be read for `count` items, and each item is as for `lanecast_run`.
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
                return Err(Failure::Argument(LANECAST_ERR_NO_MEMORY, "no memory for the list of the batch"));
            }
            for (index, item) in slice::from_raw_parts(items, count).iter().enumerate() {
                let of_item = |failure| Failure::Item(index, Box::new(failure));
                batch.push(self::item(item).map_err(of_item)?);
            }
            cast_batch(batch, &threads)
                .map_err(|BatchError { index, error, .. }| Failure::Item(index, Box::new(error.into())))
        })
    }
}

/// # Safety
///
/// As for `lanecast_run`.
unsafe fn item<'a>(item: &lanecast_item) -> Result<BatchItem<'a>, Failure> {
    // SAFETY: the caller's promise.
    let (plan, operands) = unsafe {
        let plan = plan::read(item.plan)?;
        (plan, Operands::flat(plan, item.src, item.dst, item.n)?)
    };
    match operands {
        Operands::Flat(src, dst, n) if n == 0 || item.src.addr() != item.dst.addr() => {
            Ok(BatchItem::new(plan, src, dst)?)
        }
        _ => {
            let text = "the source and the destination share bytes; lanecast_run casts in place";
            Err(Failure::Argument(LANECAST_ERR_OVERLAP, text))
        }
    }
}

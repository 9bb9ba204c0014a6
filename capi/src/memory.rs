//! Buffers of C programs as slices.

use crate::error::{Failure, LANECAST_ERR_NULL_POINTER};
use std::slice;

/// Whether `a_len` bytes at address `a` share any with `b_len` bytes at address `b`.
pub(crate) fn overlap(a: usize, a_len: usize, b: usize, b_len: usize) -> bool {
    a_len > 0 && b_len > 0 && a < b.wrapping_add(b_len) && b < a.wrapping_add(a_len)
}

/// A buffer that is read.
///
/// # Safety
///
/// `start` is null or can be read for `len` bytes, which nothing writes while the result is used.
pub(crate) unsafe fn bytes<'a>(
    start: *const u8,
    len: usize,
    null: &'static str,
) -> Result<&'a [u8], Failure> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, null)),
        // SAFETY: the caller's promise.
        (false, len) => Ok(unsafe { slice::from_raw_parts(start, len) }),
    }
}

/// A buffer that is written.
///
/// # Safety
///
/// `start` is null or can be written for `len` bytes, which nothing else accesses while the result is used.
pub(crate) unsafe fn bytes_mut<'a>(
    start: *mut u8,
    len: usize,
    null: &'static str,
) -> Result<&'a mut [u8], Failure> {
    match (start.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Failure::Argument(LANECAST_ERR_NULL_POINTER, null)),
        // SAFETY: the caller's promise. What is there comes from C, so nothing says that it is not initialised.
        (false, len) => Ok(unsafe { slice::from_raw_parts_mut(start, len) }),
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

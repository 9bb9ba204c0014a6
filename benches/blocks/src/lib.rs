//! [`lanecast::gguf`] as a shared object, which `python/benches/scaled.py` times beside ggml.

use lanecast::gguf::{BlockFormat, dequantize, quantize};
use std::{ffi::CStr, ffi::c_char, slice};

/// The format of this name, and the bytes of `n` elements; `None` if there is no such format or `n` is no whole number of blocks.
///
/// # Safety
///
/// `name` is a C string.
unsafe fn format(name: *const c_char, n: usize) -> Option<(BlockFormat, usize)> {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let format = BlockFormat::from_name(name.to_str().ok()?)?;
    Some((format, format.byte_len(n)?))
}

/// Encodes `n` elements; returns whether that succeeded.
///
/// # Safety
///
/// `name` is a C string, `x` points to `n` elements, and `blocks` to the bytes of their blocks, which no one else uses meanwhile.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_gguf_quantize(
    name: *const c_char,
    x: *const f32,
    blocks: *mut u8,
    n: usize,
) -> bool {
    // SAFETY: the caller's promise.
    let Some((format, bytes)) = (unsafe { format(name, n) }) else { return false };
    // SAFETY: the caller's promise.
    let (x, blocks) = unsafe { (slice::from_raw_parts(x, n), slice::from_raw_parts_mut(blocks, bytes)) };
    quantize(format, x, blocks).is_ok()
}

/// Decodes `n` elements; returns whether that succeeded.
///
/// # Safety
///
/// As for [`lanecast_gguf_quantize`].
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_gguf_dequantize(
    name: *const c_char,
    blocks: *const u8,
    x: *mut f32,
    n: usize,
) -> bool {
    // SAFETY: the caller's promise.
    let Some((format, bytes)) = (unsafe { format(name, n) }) else { return false };
    // SAFETY: the caller's promise.
    let (blocks, x) = unsafe { (slice::from_raw_parts(blocks, bytes), slice::from_raw_parts_mut(x, n)) };
    dequantize(format, blocks, x).is_ok()
}

//! One element after the other.

use crate::format::{Format, data::Data};

/// `load, decode, encode, store`, one element after the other: the body of every tier that has no better one for a pair.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn), but for the tier, which is that of the caller.
#[inline(always)]
pub(in crate::arch) unsafe fn cast_each<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, D::Code>(src, dst, n, |code| D::encode::<SATURATE>(S::decode(code))) };
}

/// A function of every element.
///
/// # Safety
///
/// `src` is readable and `dst` writable for `n` elements of these sizes, at any alignment; the two do not overlap.
#[inline(always)]
pub(super) unsafe fn map_each<S: Copy, D>(src: *const u8, dst: *mut u8, n: usize, f: impl Fn(S) -> D) {
    let (src, dst) = (src.cast::<S>(), dst.cast::<D>());
    for i in 0..n {
        // SAFETY: `i < n`, so the caller grants both elements; codes are plain integers of the elements' sizes, and nothing
        // is assumed of alignment.
        unsafe { dst.add(i).write_unaligned(f(src.add(i).read_unaligned())) };
    }
}

/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(super) unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
    // SAFETY: as the caller's.
    unsafe { cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// A dtype to itself: the bits, unused ones cleared.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(in crate::arch) unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, S::Code>(src, dst, n, S::clean) };
}

//! Casts one element after the other.

use crate::format::{Format, data::Data};

/// `load, decode, encode, store` for one element after the other: the body of every tier that has no faster one for a pair.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn), except that the code is compiled for the caller's tier.
#[inline(always)]
pub(in crate::arch) unsafe fn cast_each<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { map_each::<S::Code, D::Code>(src, dst, n, |code| D::encode::<SATURATE>(S::decode(code))) };
}

/// Applies a function to every element.
///
/// # Safety
///
/// `src` is readable and `dst` writable for `n` elements of these sizes, at any alignment; the two do not overlap.
#[inline(always)]
pub(super) unsafe fn map_each<S: Copy, D>(src: *const u8, dst: *mut u8, n: usize, f: impl Fn(S) -> D) {
    let (src, dst) = (src.cast::<S>(), dst.cast::<D>());
    for i in 0..n {
        // SAFETY: `i < n`, so the caller grants both elements. Codes are plain integers of the elements' sizes, and no alignment is assumed.
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
    // SAFETY: the caller's promise is the same.
    unsafe { cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// Copies a dtype to itself and clears unused bits.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn).
pub(in crate::arch) unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: the caller's promise is the same.
    unsafe { map_each::<S::Code, S::Code>(src, dst, n, S::clean) };
}

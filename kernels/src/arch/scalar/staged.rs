//! Casts through blocks of float32.

use super::each::map_each;
use crate::{
    exact::hub::Hub,
    format::{Format, data::Data},
    vector::kernel::KernelFn,
};
use core::mem::MaybeUninit;

/// The kernel from float32 to the target of a cast.
pub(super) trait Then {
    fn from_f32(data: &Data) -> KernelFn;
}

/// The kernel from float32 to any target under any rules (`rounded`).
pub(super) struct ByRules;

/// Elements of a block on the stack.
pub(super) const BLOCK: usize = 128;

/// Casts through blocks of `B`: `then` makes the elements of the target from each block.
///
/// # Safety
///
/// As [`KernelFn`]; `then` is a kernel from elements like `B` to the target of `data`.
#[inline(always)]
pub(super) unsafe fn in_blocks<S: Copy, B>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    first: impl Fn(S) -> B,
    then: KernelFn,
) {
    let mut block = [const { MaybeUninit::<B>::uninit() }; BLOCK];
    for done in (0..n).step_by(BLOCK) {
        let count = BLOCK.min(n - done);
        // SAFETY: the caller grants `n` elements on both sides. The block has room for `count` elements, which are written before they are read.
        unsafe {
            map_each(src.add(done * size_of::<S>()), block.as_mut_ptr().cast(), count, &first);
            then(block.as_ptr().cast(), dst.add(done * data.to.size()), count, data);
        }
    }
}

/// To floats of up to 16 bits.
///
/// # Safety
///
/// As [`KernelFn`].
pub(super) unsafe fn through_f32<S: Format, T: Then>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: the caller's promise is the same.
    unsafe { in_blocks(src, dst, n, data, |code| S::decode(code).f32_strict(), T::from_f32(data)) };
}

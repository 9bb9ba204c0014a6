//! Casts in two steps: to float32, rounded to odd, in a block on the stack, and from there to the target.
//!
//! They serve the rules for which only the float32 source has a kernel of its own. Rounding to odd keeps the second rounding
//! single (`hub`), in every direction.

use super::{Blocks, bytes, run, target::F32Odd};
use crate::{data::Data, format::Format, table::KernelFn};
use core::mem::MaybeUninit;

/// Elements of a block: whole bytes of every packed width, and a small part of the first cache.
const BLOCK: usize = 512;

/// `whole` is the kernel from the source to [`F32Odd`].
///
/// # Safety
///
/// As [`KernelFn`] of the pair of the source and the target of `data.second`, a kernel from float32 under the rules of `data`.
#[inline(always)]
pub(crate) unsafe fn two_step<M: Blocks, S: Format, const ODD: bool>(
    mut src: *const u8,
    mut dst: *mut u8,
    mut n: usize,
    data: &Data,
    whole: KernelFn,
) {
    let Some((second, bits)) = data.second else { return };
    #[repr(align(64))]
    struct Stage([MaybeUninit<u32>; BLOCK]);
    let mut stage = Stage([const { MaybeUninit::uninit() }; BLOCK]);
    let hub = stage.0.as_mut_ptr().cast::<u8>();
    while n > 0 {
        let count = n.min(BLOCK);
        // SAFETY: `count` of the caller's elements on either side; the first step writes all that the second reads.
        unsafe {
            run::<M, S, F32Odd<ODD>>(src, hub, count, data, whole);
            second(hub, dst, count, data);
            (src, dst) = (src.add(count * S::DTYPE.size()), dst.add(bytes(count, bits as usize)));
        }
        n -= count;
    }
}

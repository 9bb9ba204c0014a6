//! Changes the byte order of words of 2, 4 and 8 bytes, a register per instruction.

use crate::{
    arch::registers::registers,
    format::data::Data,
    vector::moves::order::{Swaps, swap},
};
use core::arch::aarch64::*;

pub(super) static SWAPS: Swaps = [neon::<2, 1>, neon::<4, 1>, neon::<8, 1>, neon::<4, 2>, neon::<8, 2>];

/// # Safety
///
/// As `KernelFn`.
#[target_feature(enable = "neon")]
unsafe fn neon<const WORD: usize, const PARTS: usize>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    const BYTES: usize = 16;
    let bytes = n * PARTS * WORD;
    if bytes < BYTES {
        // SAFETY: the caller's promise is the same.
        return unsafe { swap::<WORD, PARTS>(src, dst, n, data) };
    }
    // SAFETY: the closure's caller has a register of bytes at `i` on both sides.
    let register = |i: usize| unsafe {
        let x = vld1q_u8(src.add(i));
        let x = match WORD {
            2 => vrev16q_u8(x),
            4 => vrev32q_u8(x),
            _ => vrev64q_u8(x),
        };
        vst1q_u8(dst.add(i), x);
    };
    registers::<BYTES>(bytes, register);
}

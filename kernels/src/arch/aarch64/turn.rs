//! Transposes tiles with vectors of 16 bytes.

use crate::vector::moves::tile::{Lanes, Transpose, one_by_one, squares};
use core::arch::aarch64::*;

/// The transposition with NEON.
pub(super) static TRANSPOSE: Transpose =
    [turn::<B8>, turn::<B16>, turn::<B32>, turn::<B64>, one_by_one::<u128>];

macro_rules! lanes {
    ($($name:ident $element:ty, $vector:ty: $low:ident, $high:ident;)*) => {$(
        struct $name;

        impl Lanes for $name {
            type Element = $element;
            type Vector = $vector;

            #[inline(always)]
            unsafe fn zip(a: $vector, b: $vector) -> ($vector, $vector) {
                // SAFETY: the caller's promise: the CPU has the tier.
                unsafe { ($low(a, b), $high(a, b)) }
            }
        }
    )*};
}

lanes! {
    B8 u8, uint8x16_t: vzip1q_u8, vzip2q_u8;
    B16 u16, uint16x8_t: vzip1q_u16, vzip2q_u16;
    B32 u32, uint32x4_t: vzip1q_u32, vzip2q_u32;
    B64 u64, uint64x2_t: vzip1q_u64, vzip2q_u64;
}

/// # Safety
///
/// As [`Turn`](crate::vector::moves::tile::Turn).
#[target_feature(enable = "neon")]
unsafe fn turn<L: Lanes>(src: *const u8, from: isize, dst: *mut u8, to: isize, rows: usize, cols: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe { squares::<L>(src, from, dst, to, rows, cols) }
}

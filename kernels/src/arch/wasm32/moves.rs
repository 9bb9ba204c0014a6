//! Moves elements unchanged: byte orders and transposition.

use super::simd::{even_64, high_8, high_16, high_32, load, low_8, low_16, low_32, odd_64, store};
use crate::{
    arch::registers::registers,
    format::data::Data,
    vector::moves::{
        order::{Swaps, swap},
        tile::{Lanes, Transpose, one_by_one, squares},
    },
};
use core::arch::wasm32::*;

pub(super) static SWAPS: Swaps =
    [swap_words::<2, 1>, swap_words::<4, 1>, swap_words::<8, 1>, swap_words::<4, 2>, swap_words::<8, 2>];

/// # Safety
///
/// As `KernelFn`.
unsafe fn swap_words<const WORD: usize, const PARTS: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    const BYTES: usize = 16;
    let bytes = n * PARTS * WORD;
    if bytes < BYTES {
        // SAFETY: the caller's promise is the same.
        return unsafe { swap::<WORD, PARTS>(src, dst, n, data) };
    }
    let register = |i: usize| {
        // SAFETY: the closure's caller has a register of bytes at `i` on both sides.
        let x = unsafe { load(src.add(i)) };
        let x = match WORD {
            2 => i8x16_shuffle::<1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14>(x, x),
            4 => i8x16_shuffle::<3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12>(x, x),
            _ => i8x16_shuffle::<7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8>(x, x),
        };
        // SAFETY: as above.
        unsafe { store(dst.add(i), x) };
    };
    registers::<BYTES>(bytes, register);
}

pub(super) static TRANSPOSE: Transpose =
    [transpose::<B8>, transpose::<B16>, transpose::<B32>, transpose::<B64>, one_by_one::<u128>];

macro_rules! lanes {
    ($($name:ident $element:ty: $low:ident, $high:ident;)*) => {$(
        struct $name;

        impl Lanes for $name {
            type Element = $element;
            type Vector = v128;

            #[inline(always)]
            unsafe fn zip(a: v128, b: v128) -> (v128, v128) {
                ($low(a, b), $high(a, b))
            }
        }
    )*};
}

lanes! {
    B8 u8: low_8, high_8;
    B16 u16: low_16, high_16;
    B32 u32: low_32, high_32;
    B64 u64: even_64, odd_64;
}

/// # Safety
///
/// As [`Turn`](crate::vector::moves::tile::Turn).
unsafe fn transpose<L: Lanes>(
    src: *const u8,
    from: isize,
    dst: *mut u8,
    to: isize,
    rows: usize,
    cols: usize,
) {
    // SAFETY: the caller's promise is the same.
    unsafe { squares::<L>(src, from, dst, to, rows, cols) }
}

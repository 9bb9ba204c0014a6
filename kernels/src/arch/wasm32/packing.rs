//! Packed storage in registers: vectors handle blocks of 32 elements, and `format::packed` handles the rest.

use super::simd::{even_8, first_bytes, high_8, load, low_8, store};
use crate::format::packed::{Nibbles, Packing, SCALAR};
use core::arch::wasm32::*;

/// Elements of a block.
const BLOCK: usize = 32;

pub(super) static PACKING: Packing = Packing {
    unpack: [unpack::<2>, unpack::<4>, unpack::<6>],
    pack: [pack::<2>, pack::<4>, pack::<6>],
    map: [map::<2>, map::<4>, map_nibbles],
};

/// The two registers of a block of bytes.
type Codes = [v128; 2];

/// The halves of bytes, the lower one first.
#[inline(always)]
pub(super) fn nibbles(x: v128) -> Codes {
    let (low, high) = (v128_and(x, u8x16_splat(0x0F)), u8x16_shr(x, 4));
    [low_8(low, high), high_8(low, high)]
}

/// Joins half-bytes in the low halves of bytes: two of them in each even byte. The odd bytes are undefined.
#[inline(always)]
pub(super) fn pairs(x: v128) -> v128 {
    v128_or(x, u16x8_shr(x, 4))
}

/// A block of elements of `BITS` bits, one per byte.
///
/// # Safety
///
/// `4 * BITS` bytes can be read.
#[inline(always)]
pub(super) unsafe fn spread<const BITS: usize>(packed: *const u8) -> Codes {
    // SAFETY: the loads read 8 bytes, 16, or twice 16 that overlap by 8, all among the caller's bytes.
    unsafe {
        match BITS {
            2 => {
                let [pairs, _] = nibbles(v128_load64_zero(packed.cast()));
                let (low, high) = (v128_and(pairs, u8x16_splat(3)), u8x16_shr(pairs, 2));
                [low_8(low, high), high_8(low, high)]
            }
            4 => nibbles(load(packed)),
            _ => {
                // Three bytes hold four elements: each group of three becomes a lane of 32 bits.
                let (x, y) = (load(packed), load(packed.add(8)));
                let first = u8x16(0, 1, 2, 99, 3, 4, 5, 99, 6, 7, 8, 99, 9, 10, 11, 99);
                let second = u8x16_add(first, u8x16_splat(4));
                [(x, first), (y, second)].map(|(x, index)| {
                    let x = u8x16_swizzle(x, index);
                    let element = |moved, mask| v128_and(moved, u32x4_splat(mask));
                    let [a, b] = [element(x, 0x3F), element(u32x4_shl(x, 2), 0x3F00)];
                    let [c, d] = [element(u32x4_shl(x, 4), 0x3F_0000), element(u32x4_shl(x, 6), 0x3F00_0000)];
                    v128_or(v128_or(a, b), v128_or(c, d))
                })
            }
        }
    }
}

/// Packs a block of codes that have no bits above `BITS`.
///
/// # Safety
///
/// `4 * BITS` bytes can be written.
#[inline(always)]
pub(super) unsafe fn join<const BITS: usize>(packed: *mut u8, [a, b]: Codes) {
    // SAFETY: the stores write 8 bytes, 16, or 16 and 8, all among the caller's bytes.
    unsafe {
        match BITS {
            2 => {
                let [a, b] = [a, b].map(|x| {
                    let pairs = v128_or(x, u32x4_shr(x, 6));
                    v128_or(pairs, u32x4_shr(pairs, 12))
                });
                v128_store64_lane::<0>(first_bytes(a, b), packed.cast());
            }
            4 => store(packed, even_8(pairs(a), pairs(b))),
            _ => {
                let [a, b] = [a, b].map(|x| {
                    let element = |moved, mask| v128_and(moved, u32x4_splat(mask));
                    let [a, b] = [element(x, 0x3F), element(u32x4_shr(x, 2), 0xFC0)];
                    let [c, d] = [element(u32x4_shr(x, 4), 0x3_F000), element(u32x4_shr(x, 6), 0xFC_0000)];
                    v128_or(v128_or(a, b), v128_or(c, d))
                });
                // Keeps three bytes of every lane.
                store(packed, i8x16_shuffle::<0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20>(a, b));
                let rest = i8x16_shuffle::<5, 6, 8, 9, 10, 12, 13, 14, 5, 6, 8, 9, 10, 12, 13, 14>(b, b);
                v128_store64_lane::<0>(rest, packed.add(16).cast());
            }
        }
    }
}

/// # Safety
///
/// As for `Packing::unpack`.
unsafe fn unpack<const BITS: usize>(packed: *const u8, codes: *mut u8, n: usize) {
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe {
            let [a, b] = spread::<BITS>(packed.add(i / 8 * BITS));
            store(codes.add(i), a);
            store(codes.add(i + 16), b);
        }
    }
    let rest = SCALAR.unpack[BITS / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(packed.add(whole / 8 * BITS), codes.add(whole), n - whole) }
}

/// # Safety
///
/// As for `Packing::pack`.
unsafe fn pack<const BITS: usize>(codes: *const u8, packed: *mut u8, n: usize) {
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe { join::<BITS>(packed.add(i / 8 * BITS), [load(codes.add(i)), load(codes.add(i + 16))]) };
    }
    let rest = SCALAR.pack[BITS / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(codes.add(whole), packed.add(whole / 8 * BITS), n - whole) }
}

/// Looks the elements up while they are unpacked.
///
/// # Safety
///
/// As for `Packing::map`.
unsafe fn map<const BITS: usize>(packed: *const u8, codes: *mut u8, n: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { load(table.as_ptr()) };
    let whole = n - n % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        // SAFETY: a block of the caller's elements.
        unsafe {
            let [a, b] = spread::<BITS>(packed.add(i / 8 * BITS));
            store(codes.add(i), u8x16_swizzle(lut, a));
            store(codes.add(i + 16), u8x16_swizzle(lut, b));
        }
    }
    let rest = SCALAR.map[BITS / 2 - 1];
    // SAFETY: the rest of the caller's elements.
    unsafe { rest(packed.add(whole / 8 * BITS), codes.add(whole), n - whole, table) }
}

/// Looks up both halves of each byte.
///
/// # Safety
///
/// As for `Packing::map`.
unsafe fn map_nibbles(src: *const u8, dst: *mut u8, bytes: usize, table: &Nibbles) {
    // SAFETY: the table has 16 bytes.
    let lut = unsafe { load(table.as_ptr()) };
    let whole = bytes - bytes % 16;
    for i in (0..whole).step_by(16) {
        // SAFETY: 16 of the caller's bytes.
        unsafe {
            let x = load(src.add(i));
            let low = u8x16_swizzle(lut, v128_and(x, u8x16_splat(0x0F)));
            let high = u8x16_swizzle(lut, u8x16_shr(x, 4));
            store(dst.add(i), v128_or(low, u8x16_shl(high, 4)));
        }
    }
    // SAFETY: the rest of the caller's bytes.
    unsafe { (SCALAR.map[2])(src.add(whole), dst.add(whole), bytes - whole, table) }
}

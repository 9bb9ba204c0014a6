//! Scaled casts: the operations on words ([`Words`]).

use super::{
    packing::pairs,
    simd::{self, Wasm128, even_8, load, operations, store},
};
use crate::vector::{
    each,
    scaled::{List, Words},
};
use core::arch::wasm32::*;

impl Words for Wasm128<false> {
    operations! { m:
        add_16(a, b) = u16x8_add(a, b);
        sub_16(a, b) = u16x8_sub_sat(a, b);
        shr_16<const BY: i32>(a) = u16x8_shr(a, BY as u32);
        min_bytes(a, b) = i8x16_min(a, b);
        upper_halves(a, b) = v128_or(u32x4_shr(a, 16), v128_and(b, u32x4_splat(!0xFFFF)));
    }
    #[inline(always)]
    fn less_one(self, a: v128, index: v128, list: &List) -> v128 {
        // The upper bytes of a lane find the number 0, which is in no list.
        let index = v128_and(index, u32x4_splat(15));
        // SAFETY: the list is a register.
        u32x4_sub(a, u8x16_swizzle(unsafe { load(list.bytes.as_ptr()) }, index))
    }
    #[inline(always)]
    fn any_without(self, x: [v128; 4], bits: u32) -> bool {
        let [a, b, c, d] = each!(x, |x| v128_and(x, u32x4_splat(bits)));
        let least = u32x4_min(u32x4_min(a, b), u32x4_min(c, d));
        !u32x4_all_true(least)
    }
    #[inline(always)]
    fn any_equal_16(self, [a, b]: [v128; 2], y: v128) -> bool {
        v128_any_true(v128_or(u16x8_eq(a, y), u16x8_eq(b, y)))
    }
    #[inline(always)]
    fn pack_16<const SIGNED: bool>(self, x: [v128; 2]) -> v128 {
        simd::bytes::<SIGNED>(x)
    }
    #[inline(always)]
    fn any_full(self, x: v128) -> bool {
        v128_any_true(u8x16_eq(x, u8x16_splat(0xFF)))
    }
    #[inline(always)]
    fn renumber(self, x: v128, first: u8, last: u8, by: u8) -> (v128, bool) {
        let some = u8x16_ne(x, u8x16_splat(0));
        // Those below the first one wrap around.
        let above = u8x16_sub(x, u8x16_splat(first));
        let beyond = v128_and(some, u8x16_gt(above, u8x16_splat(last - first)));
        (v128_and(some, u8x16_sub(x, u8x16_splat(by))), !v128_any_true(beyond))
    }
    #[inline(always)]
    fn look_up(self, items: &[u8; 32], x: v128) -> v128 {
        let x = u8x16_min(x, u8x16_splat(31));
        // SAFETY: the items are two registers.
        let (low, high) = unsafe { (load(items.as_ptr()), load(items.as_ptr().add(16))) };
        v128_or(u8x16_swizzle(low, x), u8x16_swizzle(high, u8x16_sub(x, u8x16_splat(16))))
    }
    #[inline(always)]
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(self, dst: *mut u8, mut x: v128) {
        if !APART {
            // The four elements of each of four registers, of which two alternate.
            x = i8x16_shuffle::<0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15>(x, x);
        }
        // SAFETY: the caller's block: a register, or half of one.
        unsafe {
            if PACKED {
                let pairs = pairs(x);
                v128_store64_lane::<0>(even_8(pairs, pairs), dst.cast());
            } else {
                store(dst, x);
            }
        }
    }
}

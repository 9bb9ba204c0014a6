//! Scaled casts: the operations on words ([`Words`]), and loads of codes as float32.

use super::{
    packing::{nibbles, pairs},
    simd::{self, Wasm128, even_8, load, operations, store},
};
use crate::{
    format::{data::Data, lut::Saturating, *},
    vector::{
        each,
        lanes::{
            Lanes,
            ends::Ends16,
            int::Ints8,
            lookup::{Direct, Lookup},
            table::To16,
            upper_halves,
        },
        scaled::{List, Source, Words},
    },
};
use core::{arch::wasm32::*, marker::PhantomData};

type M = Wasm128<false>;

impl Words for M {
    operations! { m:
        add_16(a, b) = u16x8_add(a, b);
        sub_16(a, b) = u16x8_sub_sat(a, b);
        shr_16<const BY: i32>(a) = u16x8_shr(a, BY as u32);
        min_bytes(a, b) = i8x16_min(a, b);
        upper_halves(a, b) = v128_or(u32x4_shr(a, 16), v128_and(b, u32x4_splat(!0xFFFF)));
    }
    #[inline(always)]
    fn splat_8(self, x: u8) -> v128 {
        u8x16_splat(x)
    }
    #[inline(always)]
    fn splat_16(self, x: u16) -> v128 {
        u16x8_splat(x)
    }
    #[inline(always)]
    fn less_one(self, a: v128, index: v128, list: &List) -> v128 {
        // The upper bytes of a lane find the number 0, which no list contains.
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
        // Codes below the first one wrap around.
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
            // Gathers the four elements of each of four registers; two of the registers alternate.
            x = i8x16_shuffle::<0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15>(x, x);
        }
        // SAFETY: the caller's block is a register, or half of one.
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

/// Codes of `BITS` bits, looked up as float32 in the tables of the kernel to float32.
pub(super) struct Codes<S, Q, const E: usize, const BITS: usize>(PhantomData<(S, Q)>);

/// 8-bit floats with a sign.
pub(super) struct Eight<S>(PhantomData<S>);

impl<S: Format> Source<M> for Eight<S> {
    const BITS: usize = 8;
    type Table = [v128; 2];
    #[inline(always)]
    unsafe fn table(m: M, _: &Data) -> [v128; 2] {
        Ends16::<Saturating<S, f32>>::planes(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, planes: &[v128; 2], p: *const u8) -> [v128; 4] {
        // SAFETY: the caller's block is a register.
        upper_halves(m, Ends16::<Saturating<S, f32>>::words(m, *planes, unsafe { load(p) }))
    }
}

/// Packed codes of 4 bits.
pub(super) type Four<S> = Codes<S, Direct<4>, 16, 4>;

impl<S: Format, Q: Lookup<M, E>, const E: usize, const BITS: usize> Source<M> for Codes<S, Q, E, BITS> {
    const BITS: usize = BITS;
    type Table = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn table(m: M, _: &Data) -> Self::Table {
        To16::<Saturating<S, f32>, Q, E, BITS>::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: &Self::Table, p: *const u8) -> [v128; 4] {
        // SAFETY: the caller's block is a register, or half of one if it is packed.
        let codes = unsafe { if BITS == 4 { nibbles(v128_load64_zero(p.cast()))[0] } else { load(p) } };
        upper_halves(m, To16::<Saturating<S, f32>, Q, E, BITS>::found(m, *tables, codes))
    }
}

/// int8.
pub(super) struct Integers;

impl Source<M> for Integers {
    const BITS: usize = 8;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): &(), p: *const u8) -> [v128; 4] {
        // SAFETY: the caller's block is a register.
        Ints8::<M, true>(unsafe { load(p) }).f32(m)
    }
}

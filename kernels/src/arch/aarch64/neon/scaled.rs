//! Scaled casts ([`crate::vector::scaled`]): the operations on words, and codes of a byte or less as blocks of float32.

use super::{
    blocks::{any, store_nibbles},
    lookup::{Direct, Lookup, Magnitude, Sixteen},
    packing::nibbles,
    simd::{bits, bytes, float, operations},
    sources::upper_halves,
    tables::To16,
    widths::narrow_16,
    *,
};
use crate::{
    lut::Saturating,
    vector::{
        Simd,
        scaled::{List, Source, Words},
    },
};
use core::marker::PhantomData;

#[inline(always)]
unsafe fn in_halves(x: uint32x4_t) -> uint16x8_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_u16_u32(x) }
}

#[inline(always)]
unsafe fn of_halves(x: uint16x8_t) -> uint32x4_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_u32_u16(x) }
}

#[inline(always)]
unsafe fn of_bytes(x: uint8x16_t) -> uint32x4_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_u32_u8(x) }
}

impl Words for Neon {
    operations! {
        splat_8(x: u8) = of_bytes(vdupq_n_u8(x));
        splat_16(x: u16) = of_halves(vdupq_n_u16(x));
        mul(a, b) = bits(vmulq_f32(float(a), float(b)));
        less_one(a, index, list: &List) = {
            // The upper bytes of a lane find the number 0, which is in no list.
            let index = bytes(vandq_u32(index, vdupq_n_u32(15)));
            vsubq_u32(a, of_bytes(vqtbl1q_u8(vld1q_u8(list.bytes.as_ptr()), index)))
        };
        upper_halves(a, b) = of_halves(vtrn2q_u16(in_halves(a), in_halves(b)));
        add_16(a, b) = of_halves(vaddq_u16(in_halves(a), in_halves(b)));
        sub_16(a, b) = of_halves(vqsubq_u16(in_halves(a), in_halves(b)));
        min_bytes(a, b) = vreinterpretq_u32_s8(vminq_s8(vreinterpretq_s8_u32(a), vreinterpretq_s8_u32(b)));
        look_up(items: &[u8; 32], x) = {
            let items = uint8x16x2_t(vld1q_u8(items.as_ptr()), vld1q_u8(items.as_ptr().add(16)));
            of_bytes(vqtbl2q_u8(items, vminq_u8(bytes(x), vdupq_n_u8(31))))
        };
    }
    #[inline(always)]
    unsafe fn shr_16<const BY: i32>(a: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe { of_halves(vshrq_n_u16::<BY>(in_halves(a))) }
    }
    #[inline(always)]
    unsafe fn any_without(x: [uint32x4_t; 4], bits: u32) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d] = each!(x, |x| vtstq_u32(x, vdupq_n_u32(bits)));
            vminvq_u32(vandq_u32(vandq_u32(a, b), vandq_u32(c, d))) == 0
        }
    }
    #[inline(always)]
    unsafe fn any_equal_16([a, b]: [uint32x4_t; 2], y: uint32x4_t) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = each!([a, b], |x| vceqq_u16(in_halves(x), in_halves(y)));
            any(of_halves(vorrq_u16(a, b)))
        }
    }
    #[inline(always)]
    unsafe fn pack_16<const SIGNED: bool>([a, b]: [uint32x4_t; 2]) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe { of_bytes(narrow_16::<true, true, SIGNED>(in_halves(a), in_halves(b))) }
    }
    #[inline(always)]
    unsafe fn any_full(x: uint32x4_t) -> bool {
        // SAFETY: the caller's promise.
        unsafe { vmaxvq_u8(bytes(x)) == 0xFF }
    }
    #[inline(always)]
    unsafe fn renumber(x: uint32x4_t, first: u8, last: u8, by: u8) -> (uint32x4_t, bool) {
        // SAFETY: the caller's promise.
        unsafe {
            let x = bytes(x);
            let some = vtstq_u8(x, x);
            // Those below the first one wrap around.
            let above = vsubq_u8(x, vdupq_n_u8(first));
            let beyond = vandq_u8(some, vcgtq_u8(above, vdupq_n_u8(last - first)));
            (of_bytes(vandq_u8(some, vsubq_u8(x, vdupq_n_u8(by)))), !any(of_bytes(beyond)))
        }
    }
    #[inline(always)]
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(dst: *mut u8, mut x: uint32x4_t) {
        /// The four elements of each of four registers, of which two alternate.
        const GATHER: [u8; 16] = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        // SAFETY: the caller's promise; the indices are a register.
        unsafe {
            if !APART {
                x = of_bytes(vqtbl1q_u8(bytes(x), vld1q_u8(GATHER.as_ptr())));
            }
            if PACKED { store_nibbles(dst, x) } else { vst1q_u8(dst, bytes(x)) }
        }
    }
}

/// Codes of `BITS` bits that are looked up in the tables of the kernel to float32.
struct Found<S, Q, const E: usize, const BITS: usize>(PhantomData<(S, Q)>);

/// 8-bit floats with a sign.
type Eight<S> = Found<S, Magnitude, 128, 8>;
/// Packed codes of 4 bits.
type Four<S> = Found<S, Direct<Sixteen>, 16, 4>;

impl<S: Format, Q: Lookup<E>, const E: usize, const BITS: usize> Source<Neon> for Found<S, Q, E, BITS> {
    const BITS: usize = BITS;
    type Table = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn table(data: &Data) -> Self::Table {
        // SAFETY: the caller's promise.
        unsafe { <To16<Saturating<S, f32>, Q, E, BITS> as sources::Source>::tables(data) }
    }
    #[inline(always)]
    unsafe fn load(tables: &Self::Table, p: *const u8) -> [uint32x4_t; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            let codes = if BITS == 4 {
                let [codes, _] = nibbles(vcombine_u8(vld1_u8(p), vdup_n_u8(0)));
                codes
            } else {
                vld1q_u8(p)
            };
            upper_halves(To16::<Saturating<S, f32>, Q, E, BITS>::found(*tables, codes))
        }
    }
}

/// int8.
struct Integers;

impl Source<Neon> for Integers {
    const BITS: usize = 8;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: &Data) {}
    #[inline(always)]
    unsafe fn load((): &(), p: *const u8) -> [uint32x4_t; 4] {
        // SAFETY: the caller's promise.
        unsafe { Ints8::<true>(vld1q_u8(p)).f32() }
    }
}

vector::scaled::define_decoders!(Neon, Eight<F8E4M3FN>, Eight<F8E5M2>, Four<F4E2M1FN>, Four<I4>, Integers);

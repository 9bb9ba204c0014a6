//! Blocks of four registers, for the targets of `vector` that scaled casts store ([`crate::vector::scaled`]).

use super::{
    simd::{bytes, float, operations},
    sources::{halves, upper_halves, words},
    widths::{narrow_16, narrow_32},
    *,
};
use crate::vector::Blocks;

/// 16 codes without bits above the lowest four, packed.
///
/// # Safety
///
/// As of the methods of [`Blocks`]; 8 bytes are writable.
#[inline(always)]
pub(super) unsafe fn store_nibbles(p: *mut u8, codes: uint32x4_t) {
    // SAFETY: the caller's promise.
    unsafe {
        let pairs = vreinterpretq_u16_u32(codes);
        vst1_u8(p, vmovn_u16(vsraq_n_u16::<4>(pairs, pairs)));
    }
}

/// Whether a bit is set.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
pub(super) unsafe fn any(x: uint32x4_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe { vmaxvq_u32(x) != 0 }
}

impl Blocks for Neon {
    const LANES: usize = 4;

    operations! {
        // The environment rounds to nearest; what is out of range is saturated.
        round(x) = vreinterpretq_u32_s32(vcvtnq_s32_f32(float(x)));
        max_bytes(a, b) = vreinterpretq_u32_s8(vmaxq_s8(vreinterpretq_s8_u32(a), vreinterpretq_s8_u32(b)));
    }
    #[inline(always)]
    unsafe fn shl<const BY: u32>(a: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller's promise. The shift is a constant, of which the compiler makes an immediate operand.
        unsafe { vshlq_u32(a, vdupq_n_s32(BY as i32)) }
    }
    #[inline(always)]
    unsafe fn pack_saturated<const APART: bool, const SIGNED: bool>(x: [uint32x4_t; 4]) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = each!([(x[0], x[1]), (x[2], x[3])], |(a, b)| narrow_32::<true, true, true>(a, b));
            vreinterpretq_u32_u8(narrow_16::<true, true, SIGNED>(a, b))
        }
    }
    #[inline(always)]
    unsafe fn any_low_half(x: [uint32x4_t; 4], low: uint32x4_t) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let low = vreinterpretq_u16_u32(low);
            let low = vuzp1q_u16(low, low);
            let [a, b] = each!([(x[0], x[1]), (x[2], x[3])], |(a, b)| {
                vceqq_u16(vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)), low)
            });
            any(vreinterpretq_u32_u16(vorrq_u16(a, b)))
        }
    }

    #[inline(always)]
    unsafe fn load_32<const PART: bool>(p: *const u8, _: usize) -> [uint32x4_t; 4] {
        // SAFETY: the caller's promise.
        unsafe { words(p) }
    }
    #[inline(always)]
    unsafe fn load_16<const PART: bool>(p: *const u8, _: usize) -> [uint32x4_t; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = halves(p);
            each!([a, b], |x| vreinterpretq_u32_u16(x))
        }
    }
    #[inline(always)]
    unsafe fn load_high_16<const PART: bool>(p: *const u8, _: usize) -> [uint32x4_t; 4] {
        // SAFETY: the caller's promise.
        unsafe { upper_halves(halves(p)) }
    }

    #[inline(always)]
    unsafe fn store_8<const PART: bool>(p: *mut u8, x: uint32x4_t, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { vst1q_u8(p, bytes(x)) }
    }
    #[inline(always)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(p: *mut u8, x: uint32x4_t, _: usize) {
        const { assert!(BITS == 4, "no scaled cast packs others") };
        // SAFETY: the caller's promise.
        unsafe { store_nibbles(p, x) }
    }
    #[inline(always)]
    unsafe fn store_16<const PART: bool>(p: *mut u8, x: [uint32x4_t; 2], _: usize) {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1], |k| vst1q_u8(p.add(16 * k), bytes(x[k]))) };
    }
    #[inline(always)]
    unsafe fn store_32<const PART: bool>(p: *mut u8, x: [uint32x4_t; 4], _: usize) {
        // SAFETY: the caller's promise.
        unsafe { each!([0, 1, 2, 3], |k| vst1q_u8(p.add(16 * k), bytes(x[k]))) };
    }
}

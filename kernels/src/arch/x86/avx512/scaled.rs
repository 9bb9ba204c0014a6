//! The operations on words for [`crate::vector::scaled`].

use super::simd::Avx512;
use crate::arch::x86::intrinsics::*;
use crate::vector::{
    each,
    scaled::{List, Words},
};

/// The indices that restore the order of the elements after two registers of words were packed. Each pair of registers alternates its elements,
/// or is lane-split (`apart`). If `even_first`, the bytes of even elements come first.
const fn order(apart: bool, even_first: bool) -> [u8; 64] {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        let of = if even_first { i % 32 * 2 + i / 32 } else { i };
        let word = if apart { of % 32 } else { of % 16 * 2 + of / 16 % 2 };
        // In each 128 bits, packing puts the words of the second register after the words of the first.
        index[i] = (word / 8 * 16 + of / 32 * 8 + word % 8) as u8;
        i += 1;
    }
    index
}

#[inline(always)]
unsafe fn in_order(x: __m512i, order: &[u8; 64]) -> __m512i {
    // SAFETY: the caller's CPU has the features; a register is read.
    unsafe { _mm512_permutexvar_epi8(_mm512_loadu_si512(order.as_ptr().cast()), x) }
}

impl Words for Avx512<true, false> {
    operations! {
        splat_8(x: u8) = _mm512_set1_epi8(x as i8);
        splat_16(x: u16) = _mm512_set1_epi16(x as i16);
        less_one(a, index, list: &List) = {
            let list = _mm512_loadu_si512(list.lanes.as_ptr().cast());
            _mm512_add_epi32(a, _mm512_permutexvar_epi32(index, list))
        };
        upper_halves(a, b) = _mm512_mask_blend_epi16(0xAAAA_AAAA, _mm512_srli_epi32::<16>(a), b);
        add_16(a, b) = _mm512_add_epi16(a, b);
        sub_16(a, b) = _mm512_subs_epu16(a, b);
        min_bytes(a, b) = _mm512_min_epi8(a, b);
        look_up(table: &[u8; 32], x) = {
            let table = _mm512_broadcast_i64x4(_mm256_loadu_si256(table.as_ptr().cast()));
            _mm512_permutexvar_epi8(_mm512_min_epu8(x, _mm512_set1_epi8(31)), table)
        };
    }
    #[inline(always)]
    fn shr_16<const BY: i32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_srl_epi16(a, _mm_cvtsi32_si128(BY)) }
    }
    #[inline(always)]
    fn any_without(self, x: [__m512i; 4], bits: u32) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let [a, b, c, d] = each!(x, |x| _mm512_testn_epi32_mask(x, _mm512_set1_epi32(bits as i32)));
            (a | b) | (c | d) != 0
        }
    }
    #[inline(always)]
    fn any_equal_16(self, [a, b]: [__m512i; 2], y: __m512i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_cmpeq_epi16_mask(a, y) | _mm512_cmpeq_epi16_mask(b, y) != 0 }
    }
    #[inline(always)]
    fn pack_16<const SIGNED: bool>(self, [a, b]: [__m512i; 2]) -> __m512i {
        // SAFETY: the token proves the instructions.
        unsafe { if SIGNED { _mm512_packs_epi16(a, b) } else { _mm512_packus_epi16(a, b) } }
    }
    #[inline(always)]
    fn any_full(self, x: __m512i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe { _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(-1)) != 0 }
    }
    #[inline(always)]
    fn renumber(self, x: __m512i, first: u8, last: u8, by: u8) -> (__m512i, bool) {
        // SAFETY: the token proves the instructions.
        unsafe {
            let some = _mm512_test_epi8_mask(x, x);
            // Codes below the first one wrap around.
            let above = _mm512_sub_epi8(x, _mm512_set1_epi8(first as i8));
            let beyond = _mm512_mask_cmpgt_epu8_mask(some, above, _mm512_set1_epi8((last - first) as i8));
            (_mm512_maskz_sub_epi8(some, x, _mm512_set1_epi8(by as i8)), beyond == 0)
        }
    }
    #[inline(always)]
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(self, dst: *mut u8, x: __m512i) {
        // SAFETY: the caller's promise.
        unsafe {
            let x = in_order(x, const { &order(APART, PACKED) });
            if PACKED {
                let odd = _mm256_slli_epi16::<4>(_mm512_extracti64x4_epi64::<1>(x));
                _mm256_storeu_si256(dst.cast(), _mm256_or_si256(_mm512_castsi512_si256(x), odd));
            } else {
                _mm512_storeu_si512(dst.cast(), x);
            }
        }
    }
}

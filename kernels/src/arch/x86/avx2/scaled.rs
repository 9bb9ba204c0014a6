//! The operations on words for [`crate::vector::scaled`].

use super::simd::{Avx2, store_packed};
use crate::arch::x86::intrinsics::*;
use crate::vector::{
    Simd, each,
    scaled::{List, Words},
};

/// Loads a table of 16 bytes into both halves.
#[inline(always)]
unsafe fn table(bytes: *const u8) -> __m256i {
    // SAFETY: the caller has the tier and 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.cast())) }
}

impl Words for Avx2 {
    operations! {
        splat_8(x: u8) = _mm256_set1_epi8(x as i8);
        splat_16(x: u16) = _mm256_set1_epi16(x as i16);
        less_one(a, index, list: &List) = {
            // The upper bytes of a lane find the number 0, which no list contains.
            let index = _mm256_and_si256(index, _mm256_set1_epi32(15));
            _mm256_sub_epi32(a, _mm256_shuffle_epi8(table(list.bytes.as_ptr()), index))
        };
        upper_halves(a, b) = _mm256_blend_epi16::<0xAA>(_mm256_srli_epi32::<16>(a), b);
        add_16(a, b) = _mm256_add_epi16(a, b);
        sub_16(a, b) = _mm256_subs_epu16(a, b);
        min_bytes(a, b) = _mm256_min_epi8(a, b);
        look_up(items: &[u8; 32], x) = {
            let x = _mm256_min_epu8(x, _mm256_set1_epi8(31));
            // An index whose top bit is set finds 0: indices from 16 on in the first half, indices below 16 in the second.
            let first = _mm256_adds_epu8(x, _mm256_set1_epi8(0x70));
            let second = _mm256_sub_epi8(x, _mm256_set1_epi8(16));
            let [low, high] = [items.as_ptr(), items.as_ptr().add(16)];
            _mm256_or_si256(
                _mm256_shuffle_epi8(table(low), first),
                _mm256_shuffle_epi8(table(high), second),
            )
        };
    }
    #[inline(always)]
    fn shr_16<const BY: i32>(self, a: __m256i) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe { _mm256_srli_epi16::<BY>(a) }
    }
    #[inline(always)]
    fn any_without(self, x: [__m256i; 4], bits: u32) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let [a, b, c, d] = each!(x, |x| _mm256_and_si256(x, _mm256_set1_epi32(bits as i32)));
            let least = _mm256_min_epu32(_mm256_min_epu32(a, b), _mm256_min_epu32(c, d));
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(least, _mm256_setzero_si256())) != 0
        }
    }
    #[inline(always)]
    fn any_equal_16(self, [a, b]: [__m256i; 2], y: __m256i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe {
            let equal = _mm256_or_si256(_mm256_cmpeq_epi16(a, y), _mm256_cmpeq_epi16(b, y));
            _mm256_movemask_epi8(equal) != 0
        }
    }
    #[inline(always)]
    fn pack_16<const SIGNED: bool>(self, [a, b]: [__m256i; 2]) -> __m256i {
        // SAFETY: the token proves the instructions.
        unsafe { if SIGNED { _mm256_packs_epi16(a, b) } else { _mm256_packus_epi16(a, b) } }
    }
    #[inline(always)]
    fn any_full(self, x: __m256i) -> bool {
        // SAFETY: the token proves the instructions.
        unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(-1))) != 0 }
    }
    #[inline(always)]
    fn renumber(self, x: __m256i, first: u8, last: u8, by: u8) -> (__m256i, bool) {
        // SAFETY: the token proves the instructions.
        unsafe {
            let none = _mm256_cmpeq_epi8(x, _mm256_setzero_si256());
            // Codes below the first one wrap around.
            let above = _mm256_sub_epi8(x, _mm256_set1_epi8(first as i8));
            let beyond = _mm256_subs_epu8(above, _mm256_set1_epi8((last - first) as i8));
            let less = _mm256_sub_epi8(x, _mm256_set1_epi8(by as i8));
            (_mm256_andnot_si256(none, less), _mm256_testc_si256(none, beyond) != 0)
        }
    }
    #[inline(always)]
    unsafe fn store_codes<const APART: bool, const PACKED: bool>(self, dst: *mut u8, mut x: __m256i) {
        // SAFETY: the caller's promise.
        unsafe {
            if !APART {
                // Gathers the four elements of each of four registers.
                #[rustfmt::skip]
                let gather = _mm256_setr_epi8(
                    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
                    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
                );
                x = _mm256_shuffle_epi8(x, gather);
            }
            let x = self.in_order::<APART>(x);
            if PACKED { store_packed::<4>(dst, x) } else { _mm256_storeu_si256(dst.cast(), x) }
        }
    }
}

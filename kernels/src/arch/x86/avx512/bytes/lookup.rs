//! Tables in registers: a byte looked up for each of 64 indices.
//!
//! With VBMI one instruction permutes bytes across a whole vector, or two. Without it an instruction looks up 16 entries, and
//! the higher bits of the index choose between them.

use super::*;

/// A table of `E` entries. Bits of an index above those it needs are ignored.
pub(super) trait Table<const E: usize>: Copy {
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and `E` bytes are readable.
    unsafe fn load(entries: *const u8) -> Self;
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn get(&self, index: __m512i) -> __m512i;
}

/// `N` vectors of 64 entries.
#[derive(Clone, Copy)]
pub(super) struct Permuted<const N: usize>([__m512i; N]);

/// `N` times 16 entries, each in all four lanes.
#[derive(Clone, Copy)]
pub(super) struct Shuffled<const N: usize>([__m512i; N]);

impl<const N: usize> Permuted<N> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: the caller grants 64 bytes for each vector, and the features.
        unsafe {
            let mut parts = [_mm512_setzero_si512(); N];
            let mut i = 0;
            while i < N {
                parts[i] = _mm512_loadu_si512(entries.add(64 * i).cast());
                i += 1;
            }
            Self(parts)
        }
    }
}

impl Table<64> for Permuted<1> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe { _mm512_permutexvar_epi8(index, self.0[0]) }
    }
}

impl Table<128> for Permuted<2> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe { _mm512_permutex2var_epi8(self.0[0], index, self.0[1]) }
    }
}

impl Table<256> for Permuted<4> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe {
            let low = _mm512_permutex2var_epi8(self.0[0], index, self.0[1]);
            let high = _mm512_permutex2var_epi8(self.0[2], index, self.0[3]);
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high)
        }
    }
}

impl<const N: usize> Shuffled<N> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: the caller grants 16 bytes for each part, and the features.
        unsafe {
            let mut parts = [_mm512_setzero_si512(); N];
            let mut i = 0;
            while i < N {
                parts[i] = _mm512_broadcast_i32x4(_mm_loadu_si128(entries.add(16 * i).cast()));
                i += 1;
            }
            Self(parts)
        }
    }
    /// The entry in the four parts from `first` on.
    #[inline(always)]
    unsafe fn of_64(&self, first: usize, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe {
            let part = |i: usize| self.0[first + i];
            let low = _mm512_and_si512(index, _mm512_set1_epi8(0x0F));
            let bit_4 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x10));
            let bit_5 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x20));
            let a = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(part(0), low), bit_4, part(1), low);
            let b = _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(part(2), low), bit_4, part(3), low);
            _mm512_mask_blend_epi8(bit_5, a, b)
        }
    }
    /// The entry in the eight parts from `first` on.
    #[inline(always)]
    unsafe fn of_128(&self, first: usize, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe {
            let bit_6 = _mm512_test_epi8_mask(index, _mm512_set1_epi8(0x40));
            _mm512_mask_blend_epi8(bit_6, self.of_64(first, index), self.of_64(first + 4, index))
        }
    }
}

impl Table<64> for Shuffled<4> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: as the caller's.
        unsafe { self.of_64(0, index) }
    }
}

impl Table<128> for Shuffled<8> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: as the caller's.
        unsafe { self.of_128(0, index) }
    }
}

impl Table<256> for Shuffled<16> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: as the caller's.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller has the features.
        unsafe {
            let (low, high) = (self.of_128(0, index), self.of_128(8, index));
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high)
        }
    }
}

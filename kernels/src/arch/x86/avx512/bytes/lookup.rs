//! Tables in registers: one or two instructions that permute the bytes of a vector look up a byte for each of 64 indices.

use crate::arch::x86::intrinsics::*;

/// A table of `E` entries. Higher bits of an index are ignored.
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

pub(super) type T64 = Permuted<1>;
pub(super) type T128 = Permuted<2>;
pub(super) type T256 = Permuted<4>;

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
        // SAFETY: the caller's promise is the same.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller's CPU has the features.
        unsafe { _mm512_permutexvar_epi8(index, self.0[0]) }
    }
}

impl Table<128> for Permuted<2> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller's CPU has the features.
        unsafe { _mm512_permutex2var_epi8(self.0[0], index, self.0[1]) }
    }
}

impl Table<256> for Permuted<4> {
    #[inline(always)]
    unsafe fn load(entries: *const u8) -> Self {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::load(entries) }
    }
    #[inline(always)]
    unsafe fn get(&self, index: __m512i) -> __m512i {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let low = _mm512_permutex2var_epi8(self.0[0], index, self.0[1]);
            let high = _mm512_permutex2var_epi8(self.0[2], index, self.0[3]);
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), low, high)
        }
    }
}

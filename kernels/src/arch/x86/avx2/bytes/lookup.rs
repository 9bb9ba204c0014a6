//! Tables: a byte looked up for each of 32 indices.
//!
//! An instruction looks up 16 entries by the low bits of an index; the higher bits choose between the parts of a table, by
//! blends that look at the top bit of a byte. The parts are read where they are used: there are more than registers.

use super::*;

/// A table of `E` entries. Bits of an index above those it needs are ignored.
#[derive(Clone, Copy)]
pub(super) struct Table<const E: usize>(*const u8);

impl<const E: usize> Table<E> {
    /// # Safety
    ///
    /// `E` bytes are readable as long as the table is used.
    #[inline(always)]
    pub(super) unsafe fn new(entries: *const u8) -> Self {
        const { assert!(matches!(E, 16 | 64 | 128 | 256)) };
        Self(entries)
    }

    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    #[inline(always)]
    pub(super) unsafe fn get(self, index: __m256i) -> __m256i {
        // SAFETY: the caller has the features.
        unsafe {
            // Bits 6, 5 and 4 moved up to the top.
            let by_6 = _mm256_add_epi8(index, index);
            let by_5 = _mm256_add_epi8(by_6, by_6);
            let by_4 = _mm256_add_epi8(by_5, by_5);
            let low = _mm256_and_si256(index, _mm256_set1_epi8(0x0F));
            let high = [by_4, by_5, by_6];
            match E {
                16 => self.part(0, low),
                64 => self.of_64(0, low, high),
                128 => self.of_128(0, low, high),
                _ => _mm256_blendv_epi8(self.of_128(0, low, high), self.of_128(8, low, high), index),
            }
        }
    }

    /// The entries in the four parts from `first` on.
    #[inline(always)]
    unsafe fn of_64(self, first: usize, low: __m256i, [by_4, by_5, _]: [__m256i; 3]) -> __m256i {
        // SAFETY: the caller has the features.
        unsafe {
            let a = _mm256_blendv_epi8(self.part(first, low), self.part(first + 1, low), by_4);
            let b = _mm256_blendv_epi8(self.part(first + 2, low), self.part(first + 3, low), by_4);
            _mm256_blendv_epi8(a, b, by_5)
        }
    }

    /// The entries in the eight parts from `first` on.
    #[inline(always)]
    unsafe fn of_128(self, first: usize, low: __m256i, high: [__m256i; 3]) -> __m256i {
        // SAFETY: the caller has the features.
        unsafe { _mm256_blendv_epi8(self.of_64(first, low, high), self.of_64(first + 4, low, high), high[2]) }
    }

    /// The entries of a part.
    #[inline(always)]
    unsafe fn part(self, part: usize, low: __m256i) -> __m256i {
        // SAFETY: `part` is below `E / 16`; the caller has the features.
        unsafe {
            let entries = _mm_loadu_si128(self.0.add(16 * part).cast());
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), low)
        }
    }
}

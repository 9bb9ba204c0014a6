//! Tables: a byte looked up for each of 32 indices.
//!
//! One instruction looks up 16 entries, and returns 0 for an index whose top bit is set. So each part of a larger table is looked up at indices
//! that count from the start of the part; an index below it is negative and finds 0. An index above a part still finds an entry. Therefore
//! entries are differences ([`Codes::Differences`](crate::format::lut::Codes)), and `^` combines all that is found for an index. That takes more
//! instructions than blending the parts, but instructions that more execution units run.

use crate::arch::x86::intrinsics::*;
use crate::format::lut::Lut;

/// Looks up the planes of 32 indices below `E`. With 16 entries the upper bits of an index are ignored, with 64 the two highest.
///
/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
pub(super) unsafe fn look_up<const E: usize, const P: usize>(
    lut: &Lut<E, P>,
    index: __m256i,
) -> [__m256i; P] {
    const { assert!(matches!(E, 16 | 64 | 256)) };
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let mut found = [_mm256_setzero_si256(); P];
        match E {
            16 => part(lut, 0, _mm256_and_si256(index, _mm256_set1_epi8(0x0F)), &mut found),
            64 => parts(lut, 0, 4, _mm256_and_si256(index, _mm256_set1_epi8(0x3F)), &mut found),
            _ => {
                // Looks both halves up at the same indices, then selects one.
                let mut upper = [_mm256_setzero_si256(); P];
                let low = _mm256_and_si256(index, _mm256_set1_epi8(0x7F));
                parts(lut, 0, 8, low, &mut found);
                parts(lut, 8, 8, low, &mut upper);
                let mut p = 0;
                while p < P {
                    found[p] = _mm256_blendv_epi8(found[p], upper[p], index);
                    p += 1;
                }
            }
        }
        found
    }
}

/// Looks up `count` parts from `first` on.
#[inline(always)]
unsafe fn parts<const E: usize, const P: usize>(
    lut: &Lut<E, P>,
    first: usize,
    count: usize,
    index: __m256i,
    found: &mut [__m256i; P],
) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        part(lut, first, index, found);
        let mut k = 1;
        while k < count {
            // Saturating: a negative index stays negative.
            part(lut, first + k, _mm256_subs_epi8(index, _mm256_set1_epi8(16 * k as i8)), found);
            k += 1;
        }
    }
}

#[inline(always)]
unsafe fn part<const E: usize, const P: usize>(
    lut: &Lut<E, P>,
    part: usize,
    index: __m256i,
    found: &mut [__m256i; P],
) {
    let mut p = 0;
    while p < P {
        // SAFETY: the caller's CPU has the features, and `part` is a part of the table.
        found[p] = unsafe { _mm256_xor_si256(found[p], shuffled(&lut.planes[p], part, index)) };
        p += 1;
    }
}

/// Looks 32 indices up in part `part` of a table.
///
/// # Safety
///
/// The CPU has the features of the kernel, and the table has that part.
#[inline(always)]
pub(super) unsafe fn shuffled(entries: &[u8], part: usize, index: __m256i) -> __m256i {
    debug_assert!(16 * part + 16 <= entries.len());
    // SAFETY: the caller's CPU has the features; the table has the part.
    unsafe {
        let entries = _mm_loadu_si128(entries.as_ptr().add(16 * part).cast());
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(entries), index)
    }
}

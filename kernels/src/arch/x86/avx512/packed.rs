//! Packed storage in registers: converts between 64 codes, one per byte, and 64 codes of `BITS` (2, 4 or 6) bits without gaps.

use crate::arch::x86::intrinsics::*;

/// Packs codes that have no bits above `BITS` into the lowest `8 * BITS` bytes of the result.
///
/// Single instructions multiply neighbours by powers of two and add them.
///
/// # Safety
///
/// The CPU has the tier `avx512`.
#[inline(always)]
pub(super) unsafe fn join<const BITS: u32>(codes: __m512i) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(1 | 1 << (8 + BITS)));
        if BITS == 4 {
            return _mm512_castsi256_si512(_mm512_cvtepi16_epi8(pairs));
        }
        let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | 1 << (16 + 2 * BITS)));
        if BITS == 2 {
            return _mm512_castsi128_si512(_mm512_cvtepi32_epi8(fours));
        }
        // Keeps the lowest three bytes of every dword.
        let within = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
        let lanes = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
        _mm512_permutexvar_epi32(lanes, _mm512_shuffle_epi8(fours, _mm512_broadcast_i32x4(within)))
    }
}

/// Stores the lowest `8 * BITS` bytes of a register.
///
/// # Safety
///
/// The CPU has the tier `avx512`, and the bytes are writable.
#[inline(always)]
pub(super) unsafe fn store<const BITS: u32>(p: *mut u8, x: __m512i) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match BITS {
            2 => _mm_storeu_si128(p.cast(), _mm512_castsi512_si128(x)),
            4 => _mm256_storeu_si256(p.cast(), _mm512_castsi512_si256(x)),
            _ => {
                _mm256_storeu_si256(p.cast(), _mm512_castsi512_si256(x));
                _mm_storeu_si128(p.add(32).cast(), _mm512_extracti32x4_epi32::<2>(x));
            }
        }
    }
}

/// Stores only the packed elements before element `n`.
///
/// # Safety
///
/// The CPU has the tier `avx512`, and the bytes of `n` elements are writable.
#[inline(always)]
pub(super) unsafe fn store_part<const BITS: u32>(p: *mut u8, x: __m512i, n: usize) {
    let bytes = (n * BITS as usize).div_ceil(8);
    // SAFETY: the caller's promise is the same; the mask leaves out the bytes after the end.
    unsafe { _mm512_mask_storeu_epi8(p.cast(), u64::MAX >> (64 - bytes.max(1)), x) }
}

/// Loads the lowest `8 * BITS` bytes of a register, with zeros above.
///
/// # Safety
///
/// The CPU has the tier `avx512`, and the bytes are readable.
#[inline(always)]
pub(super) unsafe fn load<const BITS: u32>(p: *const u8) -> __m512i {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match BITS {
            2 => _mm512_zextsi128_si512(_mm_loadu_si128(p.cast())),
            4 => _mm512_zextsi256_si512(_mm256_loadu_si256(p.cast())),
            _ => _mm512_maskz_loadu_epi32(0x0FFF, p.cast()),
        }
    }
}

/// The byte of a packed block that goes to the lane of an element: the byte in which it begins or, as four elements of 6 bits share three bytes,
/// the next one of these three.
pub(super) const fn first_byte(bits: u32, element: usize) -> u8 {
    (if bits == 6 {
        element / 4 * 3 + if element % 4 < 3 { element % 4 } else { 2 }
    } else {
        element * bits as usize / 8
    }) as u8
}

/// The bit at which the element begins, counted from the dword of 6-bit elements, or from the byte of shorter ones.
pub(super) const fn shift(bits: u32, element: usize) -> u8 {
    (if bits == 6 { element % 4 * 6 } else { element * bits as usize % 8 }) as u8
}

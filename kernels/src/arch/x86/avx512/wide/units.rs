//! Loads and stores of units.

use crate::arch::x86::intrinsics::*;

/// The mask of the elements from `first` on that are among `n`.
#[inline(always)]
pub(super) fn mask(n: usize, first: usize) -> u16 {
    match n.saturating_sub(first) {
        left @ 0..16 => (1 << left) - 1,
        _ => u16::MAX,
    }
}

/// Loads register `k` of the registers that hold `n` elements of 32 bits.
#[inline(always)]
pub(super) unsafe fn load_32<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m512i {
    // SAFETY: as for `Source::load`.
    unsafe {
        let p = p.wrapping_add(64 * k).cast();
        if PART { _mm512_maskz_loadu_epi32(mask(n, 16 * k), p) } else { _mm512_loadu_si512(p.cast()) }
    }
}

/// Loads register `k` of the registers that hold `n` elements of 64 bits.
#[inline(always)]
pub(super) unsafe fn load_64<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m512i {
    // SAFETY: as for `Source::load`.
    unsafe {
        let p = p.wrapping_add(64 * k).cast();
        if PART { _mm512_maskz_loadu_epi64(mask(n, 8 * k) as u8, p) } else { _mm512_loadu_si512(p.cast()) }
    }
}

#[inline(always)]
pub(super) unsafe fn store_32<const PART: bool>(p: *mut u8, x: __m512i, n: usize) {
    // SAFETY: as for `Target::store`.
    unsafe {
        if PART {
            _mm512_mask_storeu_epi32(p.cast(), mask(n, 0), x)
        } else {
            _mm512_storeu_si512(p.cast(), x)
        }
    }
}

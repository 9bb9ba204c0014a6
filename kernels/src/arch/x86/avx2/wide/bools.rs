//! Casts elements of 64 bits and more to bool by testing all bits except the sign. A comparison of floats would take subnormals for zeros if the
//! host flushes them.

use super::{
    targets::store,
    units::{UNIT, few, in_order, load, overlapping, pairs_in_order},
};
use crate::arch::x86::intrinsics::*;
use crate::format::data::Data;
use num_complex::Complex;

/// Elements of a block.
const BLOCK: usize = 32;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn run<S: Bits>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: blocks and units begin at elements and end at the last one or before.
        unsafe {
            let at = |i: usize| (src.add(i * S::SIZE), dst.add(i));
            let four = |src: *const u8, k: usize| S::zeros::<false>(src.add(4 * k * S::SIZE), 4);
            if n >= BLOCK {
                overlapping(n, BLOCK, |i| {
                    let (src, dst) = at(i);
                    let words = |k| pack([four(src, k), four(src, k + 1), four(src, k + 2), four(src, k + 3)]);
                    store(dst, truth(words(0), words(4)), 0);
                });
            } else if n >= UNIT {
                overlapping(n, UNIT, |i| {
                    let (src, dst) = at(i);
                    unit([four(src, 0), four(src, 1)], dst);
                });
            } else {
                let second = src.wrapping_add(4 * S::SIZE);
                let zeros = [S::zeros::<true>(src, n.min(4)), S::zeros::<true>(second, n.saturating_sub(4))];
                few(dst, 1, n, |stack| unit(zeros, stack));
            }
        }
    }
}

/// # Safety
///
/// The CPU has the tier. A unit can be written.
#[inline(always)]
unsafe fn unit([a, b]: [__m256i; 2], dst: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let words = pack([a, b, a, b]);
        _mm_storel_epi64(dst.cast(), _mm256_castsi256_si128(truth(words, words)));
    }
}

/// Packs all ones or all zeros of 64 bits to 16 bits.
#[inline(always)]
unsafe fn pack([a, b, c, d]: [__m256i; 4]) -> __m256i {
    // SAFETY: as for `Bits::zeros`.
    unsafe { _mm256_packs_epi32(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)) }
}

/// Bool from words that are all ones for zero, in the order of the elements.
#[inline(always)]
unsafe fn truth(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: as for `Bits::zeros`.
    unsafe { _mm256_add_epi8(pairs_in_order(_mm256_packs_epi16(a, b)), _mm256_set1_epi8(1)) }
}

/// An element type by the bits that make it nonzero.
pub(super) trait Bits {
    /// Bytes of an element.
    const SIZE: usize;
    /// Loads four elements and returns all ones in the lanes of elements that are zero.
    ///
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be read, four unless `PART`.
    unsafe fn zeros<const PART: bool>(src: *const u8, n: usize) -> __m256i;
}

/// All ones in the lanes that have none of the bits `bits`.
#[inline(always)]
unsafe fn none(x: __m256i, bits: i64) -> __m256i {
    // SAFETY: as for `Bits::zeros`.
    unsafe { _mm256_cmpeq_epi64(_mm256_and_si256(x, _mm256_set1_epi64x(bits)), _mm256_setzero_si256()) }
}

macro_rules! bits {
    ($($type:ty, $bits:literal;)*) => {$(
        impl Bits for $type {
            const SIZE: usize = 8;
            #[inline(always)]
            unsafe fn zeros<const PART: bool>(src: *const u8, n: usize) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe { none(load::<8, PART>(src, n, 0), $bits) }
            }
        }
    )*};
}

bits! {
    u64, -1;
    f64, 0x7FFF_FFFF_FFFF_FFFF;
    Complex<f32>, 0x7FFF_FFFF_7FFF_FFFF;
}

impl Bits for Complex<f64> {
    const SIZE: usize = 16;
    #[inline(always)]
    unsafe fn zeros<const PART: bool>(src: *const u8, n: usize) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [load::<16, PART>(src, n, 0), load::<16, PART>(src, n, 1)];
            let both = _mm256_or_si256(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            in_order(none(both, 0x7FFF_FFFF_FFFF_FFFF))
        }
    }
}

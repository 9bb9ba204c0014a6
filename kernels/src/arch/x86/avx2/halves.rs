//! Casts float16 to bfloat16 in 16-bit lanes.
//!
//! Zeros and normal numbers are shifted by a multiplication that rounds, and get the other bias. A block with subnormal numbers, infinities or
//! NaN goes through float32.

use super::simd::Avx2;
use crate::{
    arch::x86::intrinsics::*,
    format::data::Data,
    vector::{Blocks, Casts, Simd, short::padded},
};

/// Elements of a block.
const BLOCK: usize = 32;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn to_bf16(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: the blocks lie among the caller's `n` elements; the last one overlaps the one before.
        unsafe {
            if n < BLOCK {
                if n > 0 {
                    padded(<Avx2>::new_unchecked(), to_bf16, BLOCK, 2, 2, src, dst, n, data);
                }
                return;
            }
            let m = <Avx2>::new_unchecked();
            overlapping(n, BLOCK, |i| {
                let (src, dst) = (src.add(2 * i), dst.add(2 * i));
                let [a, b] = m.load_16::<false>(src, BLOCK);
                let ((a, rare_a), (b, rare_b)) = (rounded(a), rounded(b));
                let rare =
                    _mm256_subs_epu16(_mm256_max_epu16(rare_a, rare_b), _mm256_set1_epi16(0xEFFF_u16 as i16));
                if _mm256_testz_si256(rare, rare) == 0 {
                    let words = m.to_bf16::<false>(m.load_f16::<false>(src, BLOCK), data);
                    return m.store_16::<false>(dst, words, BLOCK);
                }
                m.store_16::<false>(dst, [a, b], BLOCK);
            });
        }
    }
}

/// Calls `f` for all whole steps of `0..n`, and once more for the last `step` elements if whole steps do not end at `n`.
///
/// `n` is at least `step`.
#[inline(always)]
fn overlapping(n: usize, step: usize, mut f: impl FnMut(usize)) {
    let (mut i, mut end) = (0, n - n % step);
    // One place calls the body, so that its code exists once.
    loop {
        while i < end {
            f(i);
            i += step;
        }
        if end == n {
            return;
        }
        (i, end) = (n - step, n);
    }
}

/// bfloat16 from float16 that are zero or normal; and words of at least 0xF000 for all other lanes.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
unsafe fn rounded(x: __m256i) -> (__m256i, __m256i) {
    // SAFETY: the caller's promise.
    unsafe {
        // Drops the sign.
        let magnitude = _mm256_add_epi16(x, x);
        let zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
        let rare = _mm256_andnot_si256(zero, _mm256_sub_epi16(magnitude, _mm256_set1_epi16(0x800)));
        // The multiplication is (x + 4) >> 3. A tie that would round to odd is made less.
        let low = _mm256_and_si256(x, _mm256_set1_epi16(0xF));
        let even = _mm256_add_epi16(x, _mm256_cmpeq_epi16(low, _mm256_set1_epi16(4)));
        let rounded = _mm256_mulhrs_epi16(even, _mm256_set1_epi16(1 << 12));
        // Clears the copies of the sign.
        let rounded = _mm256_and_si256(rounded, _mm256_set1_epi16(0x8FFF_u16 as i16));
        let bias = _mm256_andnot_si256(zero, _mm256_set1_epi16(112 << 7));
        (_mm256_add_epi16(rounded, bias), rare)
    }
}

//! float16 and bfloat16 to integers of 16 bits.
//!
//! What is too large is brought to the first number out of range before it is widened, in lanes of 16 bits, of which a register
//! holds twice as many; packing saturates the rest. Wrapping needs no limit: from 2^31 on these sources are multiples of
//! 2^16, and so is what the conversion answers then, and for NaN.

use super::simd::Avx512;
use crate::{
    data::Data,
    dtype::DType,
    table::KernelFn,
    vector::{Blocks, each},
};
#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

type Registers = Avx512<false, false>;

/// Elements of a block.
const BLOCK: usize = 64;

/// The kernel of a pair, if it is one of these.
pub(super) const fn kernel(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    match (from, to, saturate) {
        (DType::Float16, DType::Int16 | DType::UInt16, false) => Some(run::<false, false, false>),
        (DType::Float16, DType::Int16, true) => Some(run::<false, true, true>),
        (DType::Float16, DType::UInt16, true) => Some(run::<false, false, true>),
        (DType::BFloat16, DType::Int16 | DType::UInt16, false) => Some(run::<true, false, false>),
        (DType::BFloat16, DType::Int16, true) => Some(run::<true, true, true>),
        (DType::BFloat16, DType::UInt16, true) => Some(run::<true, false, true>),
        _ => None,
    }
}

/// The low words of two registers that are in order, or apart.
const fn low_words(apart: bool) -> [u16; 32] {
    let mut index = [0; 32];
    let mut i = 0;
    while i < 32 {
        let element = i as u16;
        // Of every eight elements, four come from each register.
        let lane = if apart { element / 8 * 4 + element % 4 + element / 4 % 2 * 16 } else { element };
        index[i] = 2 * lane;
        i += 1;
    }
    index
}

/// The 64-bit lanes of two registers packed within their 128-bit lanes, brought into order.
const IN_ORDER: [i64; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn run<const BF16: bool, const SIGNED: bool, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
    let whole = n - n % BLOCK;
    // SAFETY: blocks begin at elements and end at the last one or before, or are a part that ends there.
    unsafe {
        for i in (0..whole).step_by(BLOCK) {
            block::<BF16, SIGNED, SATURATE, false>(src.add(2 * i), dst.add(2 * i), BLOCK);
        }
        if whole < n {
            block::<BF16, SIGNED, SATURATE, true>(src.add(2 * whole), dst.add(2 * whole), n - whole);
        }
    }
}

/// # Safety
///
/// As of the methods of [`Blocks`].
#[inline(always)]
unsafe fn block<const BF16: bool, const SIGNED: bool, const SATURATE: bool, const PART: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe {
        let x = Registers::load_16::<PART>(src, n);
        let index = _mm512_loadu_si512(const { &low_words(BF16) }.as_ptr().cast());
        let order = _mm512_loadu_si512(IN_ORDER.as_ptr().cast());
        if !SATURATE {
            let [a, b, c, d] = each!(widened::<BF16>(x), |x| _mm512_cvttps_epi32(_mm512_castsi512_ps(x)));
            let words = [_mm512_permutex2var_epi16(a, index, b), _mm512_permutex2var_epi16(c, index, d)];
            return Registers::store_16::<PART>(dst, words, n);
        }
        let infinity = _mm512_set1_epi16(if BF16 { 0x7F80 } else { 0x7C00 });
        let numbers = each!([x[0], x[1]], |x| {
            _mm512_cmple_epu16_mask(_mm512_and_si512(x, _mm512_set1_epi16(0x7FFF)), infinity)
        });
        let words = if !SIGNED && !BF16 {
            // No float16 but infinity is too large, and the conversion to uint32 answers that with ones.
            let x = each!([x[0], x[1]], |x| _mm512_max_epi16(x, _mm512_setzero_si512()));
            let [a, b, c, d] = each!(widened::<BF16>(x), |x| _mm512_cvttps_epu32(_mm512_castsi512_ps(x)));
            [
                _mm512_maskz_permutex2var_epi16(numbers[0], a, index, b),
                _mm512_maskz_permutex2var_epi16(numbers[1], c, index, d),
            ]
        } else {
            // 2^15 or 2^16. What is below the range of int32 becomes its low end.
            let above = _mm512_set1_epi16(match (BF16, SIGNED) {
                (false, _) => 0x7800,
                (true, true) => 0x4700,
                (true, false) => 0x4780,
            });
            let x = each!([x[0], x[1]], |x| _mm512_min_epi16(x, above));
            let [a, b, c, d] = each!(widened::<BF16>(x), |x| _mm512_cvttps_epi32(_mm512_castsi512_ps(x)));
            each!([(a, b, numbers[0]), (c, d, numbers[1])], |(a, b, numbers)| {
                match (BF16, SIGNED) {
                    (true, true) => _mm512_maskz_packs_epi32(numbers, a, b),
                    (true, false) => _mm512_maskz_packus_epi32(numbers, a, b),
                    (false, _) => {
                        let words = _mm512_permutexvar_epi64(order, _mm512_packs_epi32(a, b));
                        _mm512_maskz_mov_epi16(numbers, words)
                    }
                }
            })
        };
        Registers::store_16::<PART>(dst, words, n);
    }
}

/// Float32 of two registers: of bfloat16 apart, of float16 in order.
#[inline(always)]
unsafe fn widened<const BF16: bool>(x: [__m512i; 2]) -> [__m512i; 4] {
    // SAFETY: as of the methods of `Blocks`.
    unsafe {
        if BF16 {
            return Registers::lane_split(x);
        }
        let [a, b] = each!([x[0], x[1]], |x| [
            _mm512_cvtph_ps(_mm512_castsi512_si256(x)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(x)),
        ]);
        each!([a[0], a[1], b[0], b[1]], |x| _mm512_castps_si512(x))
    }
}

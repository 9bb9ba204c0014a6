//! Casts float16 and bfloat16 to integers of 16 bits, and float16 to saturated bytes.
//!
//! Values that are too large are clamped to the first number out of range before they are widened, in lanes of 16 bits, where a register holds
//! twice as many elements; packing saturates the rest. Wrapping needs no limit: from 2^31 on these sources are multiples of 2^16, and so is what
//! the conversion then returns, also for NaN.
//!
//! To become bytes, float16 need not be widened: the significand is shifted down by the difference between 2^10's exponent and its own;
//! everything above 2^10 is too large.

use super::simd::Avx512;
use crate::arch::x86::intrinsics::*;
use crate::{
    dtype::DType,
    format::data::Data,
    vector::{Blocks, Casts, Simd, each, kernel::KernelFn},
};

type Registers = Avx512<false, false>;

/// Elements of a block.
const BLOCK: usize = 64;

/// The kernel of a pair, if it is one of these.
pub(super) const fn kernel(from: DType, to: DType, saturate: bool) -> Option<KernelFn> {
    match (from, to, saturate) {
        (DType::Float16, DType::Int16 | DType::UInt16, false) => Some(run::<false, false, false>),
        (DType::Float16, DType::Int16, true) => Some(run::<false, true, true>),
        (DType::Float16, DType::UInt16, true) => Some(run::<false, false, true>),
        (DType::Float16, DType::Int8, true) => Some(bytes::<true>),
        (DType::Float16, DType::UInt8, true) => Some(bytes::<false>),
        (DType::BFloat16, DType::Int16 | DType::UInt16, false) => Some(run::<true, false, false>),
        (DType::BFloat16, DType::Int16, true) => Some(run::<true, true, true>),
        (DType::BFloat16, DType::UInt16, true) => Some(run::<true, false, true>),
        _ => None,
    }
}

/// The indices of the low words of two registers whose elements are in order, or lane-split (`apart`).
const fn low_words(apart: bool) -> [u16; 32] {
    let mut index = [0; 32];
    let mut i = 0;
    while i < 32 {
        let element = i as u16;
        // Of every eight elements, each register holds four.
        let lane = if apart { element / 8 * 4 + element % 4 + element / 4 % 2 * 16 } else { element };
        index[i] = 2 * lane;
        i += 1;
    }
    index
}

/// The order of 64-bit lanes that packing within 128-bit lanes undoes, or that it makes from lanes of two registers.
const IN_ORDER: [i64; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<const BF16: bool, const SIGNED: bool, const SATURATE: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        _: &Data,
    ) {
        let whole = n - n % BLOCK;
        // SAFETY: blocks begin at elements and end at the last element or before, or are a masked tail that ends there.
        unsafe {
            let m = Registers::new_unchecked();
            for i in (0..whole).step_by(BLOCK) {
                block::<BF16, SIGNED, SATURATE, false>(m, src.add(2 * i), dst.add(2 * i), BLOCK);
            }
            if whole < n {
                block::<BF16, SIGNED, SATURATE, true>(m, src.add(2 * whole), dst.add(2 * whole), n - whole);
            }
        }
    }
}

/// # Safety
///
/// As for the methods of [`Blocks`].
#[inline(always)]
unsafe fn block<const BF16: bool, const SIGNED: bool, const SATURATE: bool, const PART: bool>(
    m: Registers,
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let x = m.load_16::<PART>(src, n);
        let index = _mm512_loadu_si512(const { &low_words(BF16) }.as_ptr().cast());
        let order = _mm512_loadu_si512(IN_ORDER.as_ptr().cast());
        if !SATURATE {
            let [a, b, c, d] = each!(widened::<BF16>(m, x), |x| _mm512_cvttps_epi32(_mm512_castsi512_ps(x)));
            let words = [_mm512_permutex2var_epi16(a, index, b), _mm512_permutex2var_epi16(c, index, d)];
            return m.store_16::<PART>(dst, words, n);
        }
        let infinity = _mm512_set1_epi16(if BF16 { 0x7F80 } else { 0x7C00 });
        let numbers = each!([x[0], x[1]], |x| {
            _mm512_cmple_epu16_mask(_mm512_and_si512(x, _mm512_set1_epi16(0x7FFF)), infinity)
        });
        let words = if !SIGNED && !BF16 {
            // No finite float16 is too large, and the conversion to uint32 returns all ones for infinity.
            let x = each!([x[0], x[1]], |x| _mm512_max_epi16(x, _mm512_setzero_si512()));
            let [a, b, c, d] = each!(widened::<BF16>(m, x), |x| _mm512_cvttps_epu32(_mm512_castsi512_ps(x)));
            [
                _mm512_maskz_permutex2var_epi16(numbers[0], a, index, b),
                _mm512_maskz_permutex2var_epi16(numbers[1], c, index, d),
            ]
        } else {
            // 2^15 or 2^16. Values below the range of int32 become its low end.
            let above = _mm512_set1_epi16(match (BF16, SIGNED) {
                (false, _) => 0x7800,
                (true, true) => 0x4700,
                (true, false) => 0x4780,
            });
            let x = each!([x[0], x[1]], |x| {
                let x = _mm512_min_epi16(x, above);
                // Packing restores the order.
                if BF16 { x } else { _mm512_permutexvar_epi64(order, x) }
            });
            let [a, b, c, d] = each!(widened::<BF16>(m, x), |x| _mm512_cvttps_epi32(_mm512_castsi512_ps(x)));
            each!([(a, b, numbers[0]), (c, d, numbers[1])], |(a, b, numbers)| {
                if SIGNED {
                    _mm512_maskz_packs_epi32(numbers, a, b)
                } else {
                    _mm512_maskz_packus_epi32(numbers, a, b)
                }
            })
        };
        m.store_16::<PART>(dst, words, n);
    }
}

/// Widens two registers to float32: bfloat16 lane-split, float16 in order.
#[inline(always)]
unsafe fn widened<const BF16: bool>(m: Registers, x: [__m512i; 2]) -> [__m512i; 4] {
    // SAFETY: as for the methods of `Blocks`.
    unsafe {
        if BF16 {
            return m.lane_split(x);
        }
        let [a, b] = each!([x[0], x[1]], |x| [
            _mm512_cvtph_ps(_mm512_castsi512_si256(x)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(x)),
        ]);
        each!([a[0], a[1], b[0], b[1]], |x| _mm512_castps_si512(x))
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn bytes<const SIGNED: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        let whole = n - n % BLOCK;
        // SAFETY: blocks begin at elements and end at the last element or before, or are a masked tail that ends there.
        unsafe {
            let m = Registers::new_unchecked();
            for i in (0..whole).step_by(BLOCK) {
                let x = m.load_16::<false>(src.add(2 * i), BLOCK);
                m.store_8::<false>(dst.add(i), saturated::<SIGNED>(x), BLOCK);
            }
            if whole < n {
                let x = m.load_16::<true>(src.add(2 * whole), n - whole);
                m.store_8::<true>(dst.add(whole), saturated::<SIGNED>(x), n - whole);
            }
        }
    }
}

/// Casts float16 to bytes.
///
/// # Safety
///
/// As for the methods of [`Blocks`].
#[inline(always)]
unsafe fn saturated<const SIGNED: bool>(x: [__m512i; 2]) -> __m512i {
    // SAFETY: the caller's promise is the same.
    unsafe {
        let [a, b] = each!([x[0], x[1]], |x| {
            let infinity = _mm512_set1_epi16(0x7C00);
            let exponent = _mm512_and_si512(x, infinity);
            let down = _mm512_srli_epi16::<10>(_mm512_subs_epu16(_mm512_set1_epi16(25 << 10), exponent));
            const AND_OR: i32 = (0xF0 & 0xCC) | 0xAA;
            let implicit = _mm512_set1_epi16(0x400);
            let significand = _mm512_ternarylogic_epi32::<AND_OR>(x, _mm512_set1_epi16(0x3FF), implicit);
            // Without a sign in the target, negative numbers become zero.
            let magnitude = if SIGNED { _mm512_and_si512(x, _mm512_set1_epi16(0x7FFF)) } else { x };
            let number = _mm512_cmple_epu16_mask(magnitude, infinity);
            let value = _mm512_maskz_srlv_epi16(number, significand, down);
            if SIGNED {
                _mm512_mask_sub_epi16(value, _mm512_movepi16_mask(x), _mm512_setzero_si512(), value)
            } else {
                value
            }
        });
        let bytes = if SIGNED { _mm512_packs_epi16(a, b) } else { _mm512_packus_epi16(a, b) };
        _mm512_permutexvar_epi64(_mm512_loadu_si512(IN_ORDER.as_ptr().cast()), bytes)
    }
}

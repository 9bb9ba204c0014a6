//! Makes the vectors of a target from the words of 32 results.
//!
//! Unpacking combines two vectors within their two lanes. So that results come out in the order of the elements, one permutation reorders the
//! source bytes before they are looked up. It moves chunks of as many elements as a lane of a result has, so that chunk `j` of lane `l` becomes
//! lane `l` of result `j`.

use super::super::convert::to_f16;
use crate::arch::x86::ClampSigned;
use crate::arch::x86::ClampUnsigned;
use crate::arch::x86::Overflow;
use crate::arch::x86::Overflows;
use crate::arch::x86::Wrap;
use crate::{
    arch::x86::{env, intrinsics::*},
    format::data::Data,
    vector::style::Common,
};
use core::marker::PhantomData;

/// The vectors of a target.
pub(super) trait Shape {
    /// Bytes of an element.
    const SIZE: usize;
    /// Reorders source bytes for [`emit`](Self::emit).
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn order(bytes: __m256i) -> __m256i;
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and 32 elements are writable.
    unsafe fn emit(words: [__m256i; 2], dst: *mut u8, data: &Data);
}

/// Elements of 16 bits.
pub(super) struct W16;
/// Elements of 32 bits; the upper 16 are looked up.
pub(super) struct F32;
/// The same as the real part of a complex number.
pub(super) struct C64;
/// Elements of 64 bits; the upper 16 are looked up.
pub(super) struct F64;
/// The same as the real part of a complex number.
pub(super) struct C128;
/// float16, converted from looked-up float32.
pub(super) struct H16;
/// 16-bit integers from looked-up float32 that are in the range of int32 or infinite: truncated, or with `ROUNDED` rounded in the direction of
/// the environment.
pub(super) struct I16<O: Overflows, const ROUNDED: bool = false>(PhantomData<O>);
/// 32-bit integers from such float32.
pub(super) struct I32<O: Overflows, const ROUNDED: bool = false>(PhantomData<O>);
/// 64-bit integers from such float32.
pub(super) struct I64<O: Overflows, const ROUNDED: bool = false>(PhantomData<O>);

/// Stores vector `i` of a block.
#[inline(always)]
pub(super) unsafe fn put(dst: *mut u8, i: usize, x: __m256i) {
    // SAFETY: the caller's CPU has the features and grants the bytes; the store needs no alignment.
    unsafe { _mm256_storeu_si256(dst.add(32 * i).cast(), x) }
}

impl Shape for W16 {
    const SIZE: usize = 2;
    #[inline(always)]
    unsafe fn order(bytes: __m256i) -> __m256i {
        // SAFETY: the caller's CPU has the features.
        unsafe { eights(bytes) }
    }
    #[inline(always)]
    unsafe fn emit([a, b]: [__m256i; 2], dst: *mut u8, _: &Data) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            put(dst, 0, a);
            put(dst, 1, b);
        }
    }
}

/// The words as the upper halves of 32-bit lanes.
#[inline(always)]
pub(super) unsafe fn dwords([a, b]: [__m256i; 2]) -> [__m256i; 4] {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let zero = _mm256_setzero_si256();
        [
            _mm256_unpacklo_epi16(zero, a),
            _mm256_unpackhi_epi16(zero, a),
            _mm256_unpacklo_epi16(zero, b),
            _mm256_unpackhi_epi16(zero, b),
        ]
    }
}

impl Shape for H16 {
    const SIZE: usize = 2;
    #[inline(always)]
    unsafe fn order(bytes: __m256i) -> __m256i {
        // SAFETY: the caller's CPU has the features.
        unsafe { fours(bytes) }
    }
    #[inline(always)]
    unsafe fn emit(words: [__m256i; 2], dst: *mut u8, _: &Data) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let [a, b, c, d] = dwords(words);
            put(dst, 0, halves(a, b));
            put(dst, 1, halves(c, d));
        }
    }
}

#[inline(always)]
unsafe fn halves(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        _mm256_set_m128i(to_f16::<Common>(_mm256_castsi256_ps(b)), to_f16::<Common>(_mm256_castsi256_ps(a)))
    }
}

impl<O: Overflows, const ROUNDED: bool> Shape for I16<O, ROUNDED> {
    const SIZE: usize = 2;
    // Packing undoes the order of unpacking.
    #[inline(always)]
    unsafe fn order(bytes: __m256i) -> __m256i {
        // SAFETY: the caller's CPU has the features.
        unsafe { eights(bytes) }
    }
    #[inline(always)]
    unsafe fn emit(words: [__m256i; 2], dst: *mut u8, data: &Data) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let [a, b, c, d] = dwords(words);
            put(dst, 0, packed::<O, ROUNDED>(a, b, data));
            put(dst, 1, packed::<O, ROUNDED>(c, d, data));
        }
    }
}

#[inline(always)]
unsafe fn packed<O: Overflows, const ROUNDED: bool>(a: __m256i, b: __m256i, data: &Data) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match O::OVERFLOW {
            Overflow::Signed => {
                _mm256_packs_epi32(saturated::<ROUNDED>(a, data), saturated::<ROUNDED>(b, data))
            }
            Overflow::Unsigned => {
                _mm256_packus_epi32(saturated::<ROUNDED>(a, data), saturated::<ROUNDED>(b, data))
            }
            _ => {
                let low = _mm256_set1_epi32(0xFFFF);
                let a = integers::<ROUNDED>(a, data);
                let b = integers::<ROUNDED>(b, data);
                _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low))
            }
        }
    }
}

macro_rules! through_dwords {
    ($(
        $(const $rounded:ident =>)? $shape:ty, $size:literal, $order:ident,
        |$dst:ident, $i:ident, $x:ident $(, $data:ident)?| $put:block
    )*) => {$(
        impl$(<const $rounded: bool>)? Shape for $shape {
            const SIZE: usize = $size;
            #[inline(always)]
            unsafe fn order(bytes: __m256i) -> __m256i {
                // SAFETY: the caller's CPU has the features.
                unsafe { $order(bytes) }
            }
            #[inline(always)]
            unsafe fn emit(words: [__m256i; 2], $dst: *mut u8, _data: &Data) {
                $(let $data = _data;)?
                // SAFETY: the caller's promise is the same.
                unsafe {
                    let x = dwords(words);
                    { let ($i, $x) = (0, x[0]); $put }
                    { let ($i, $x) = (1, x[1]); $put }
                    { let ($i, $x) = (2, x[2]); $put }
                    { let ($i, $x) = (3, x[3]); $put }
                }
            }
        }
    )*};
}

through_dwords! {
    F32, 4, fours, |dst, i, x| { put(dst, i, x) }
    const ROUNDED => I32<Wrap, ROUNDED>, 4, fours, |dst, i, x, data| { put(dst, i, integers::<ROUNDED>(x, data)) }
    const ROUNDED => I32<ClampSigned, ROUNDED>, 4, fours, |dst, i, x, data| { put(dst, i, saturated::<ROUNDED>(x, data)) }
    const ROUNDED => I32<ClampUnsigned, ROUNDED>, 4, fours, |dst, i, x, data| {
        let (x, infinite) = unsigned::<ROUNDED>(x, data);
        put(dst, i, _mm256_or_si256(x, infinite));
    }
    const ROUNDED => I64<Wrap, ROUNDED>, 8, pairs, |dst, i, x, data| {
        let low = integers::<ROUNDED>(x, data);
        put_halves(dst, i, low, _mm256_srai_epi32::<31>(low));
    }
    // The ends of int32 become the ends of int64: only infinities reach them.
    const ROUNDED => I64<ClampSigned, ROUNDED>, 8, pairs, |dst, i, x, data| {
        let low = saturated::<ROUNDED>(x, data);
        let sign = _mm256_srai_epi32::<31>(low);
        let magnitude = _mm256_xor_si256(low, sign);
        let end = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(i32::MAX));
        let high = _mm256_xor_si256(sign, _mm256_and_si256(end, _mm256_set1_epi32(i32::MAX)));
        put_halves(dst, i, _mm256_xor_si256(sign, _mm256_or_si256(magnitude, end)), high);
    }
    const ROUNDED => I64<ClampUnsigned, ROUNDED>, 8, pairs, |dst, i, x, data| {
        let (x, infinite) = unsigned::<ROUNDED>(x, data);
        put_halves(dst, i, _mm256_or_si256(x, infinite), infinite);
    }
    F64, 8, pairs, |dst, i, x| { put_halves(dst, i, _mm256_setzero_si256(), x) }
    C64, 8, pairs, |dst, i, x| { put_halves(dst, i, x, _mm256_setzero_si256()) }
    C128, 16, singles, |dst, i, x| {
        let zero = _mm256_setzero_si256();
        let (a, b) = (_mm256_unpacklo_epi32(zero, x), _mm256_unpackhi_epi32(zero, x));
        put(dst, 4 * i, _mm256_unpacklo_epi64(a, zero));
        put(dst, 4 * i + 1, _mm256_unpackhi_epi64(a, zero));
        put(dst, 4 * i + 2, _mm256_unpacklo_epi64(b, zero));
        put(dst, 4 * i + 3, _mm256_unpackhi_epi64(b, zero));
    }
}

/// Stores vectors `2 * i` and `2 * i + 1` of 64-bit lanes, given their halves.
#[inline(always)]
unsafe fn put_halves(dst: *mut u8, i: usize, low: __m256i, high: __m256i) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        put(dst, 2 * i, _mm256_unpacklo_epi32(low, high));
        put(dst, 2 * i + 1, _mm256_unpackhi_epi32(low, high));
    }
}

/// int32 of float32 in range, else the lowest integer. Nearest with ties away from zero equals nearest even of a magnitude slightly larger than
/// the tie; the added bit is too low to matter elsewhere.
#[inline(always)]
unsafe fn integers<const ROUNDED: bool>(x: __m256i, data: &Data) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        if ROUNDED {
            let x = _mm256_or_si256(x, _mm256_set1_epi32(data.rounding.correction.sticky() as i32));
            env::_mm256_cvtps_epi32(_mm256_castsi256_ps(x))
        } else {
            _mm256_cvttps_epi32(_mm256_castsi256_ps(x))
        }
    }
}

/// Integers of float32, with negative ones as 0; and the mask of infinities.
#[inline(always)]
unsafe fn unsigned<const ROUNDED: bool>(x: __m256i, data: &Data) -> (__m256i, __m256i) {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let x = _mm256_max_ps(_mm256_castsi256_ps(x), _mm256_setzero_ps());
        let infinite = _mm256_cmp_ps::<_CMP_EQ_OQ>(x, _mm256_set1_ps(f32::INFINITY));
        (integers::<ROUNDED>(_mm256_castps_si256(x), data), _mm256_castps_si256(infinite))
    }
}

/// int32 of float32 that are not NaN. Out of range the instruction returns the lowest integer, whose inverted bits are the highest.
#[inline(always)]
unsafe fn saturated<const ROUNDED: bool>(x: __m256i, data: &Data) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let end = _mm256_set1_ps(2_147_483_648.0);
        let above = _mm256_cmp_ps::<_CMP_GE_OQ>(_mm256_castsi256_ps(x), end);
        _mm256_xor_si256(integers::<ROUNDED>(x, data), _mm256_castps_si256(above))
    }
}

/// Exchanges lanes and chunks, for chunks of eight bytes.
#[inline(always)]
unsafe fn eights(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(bytes) }
}

/// The same for chunks of four bytes.
#[inline(always)]
unsafe fn fours(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe { _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)) }
}

/// The same for chunks of two bytes.
#[inline(always)]
unsafe fn pairs(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let within = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
        eights(_mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(within)))
    }
}

/// The same for single bytes.
#[inline(always)]
unsafe fn singles(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let within = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
        eights(_mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(within)))
    }
}

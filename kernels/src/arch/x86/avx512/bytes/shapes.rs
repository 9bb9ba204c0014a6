//! Makes the vectors of a target from the planes of 64 results.
//!
//! Unpacking combines two planes within their four lanes. So that results come out in the order of the elements, one permutation reorders the
//! source bytes before they are looked up. It moves chunks of as many elements as a lane of a result has, so that chunk `j` of lane `l` becomes
//! lane `l` of result `j`. (Byte permutations instead of unpacking would need no permutation before, but they are slower.)

use super::super::packed;
use crate::arch::x86::ClampSigned;
use crate::arch::x86::ClampUnsigned;
use crate::arch::x86::Overflows;
use crate::arch::x86::Wrap;
use crate::arch::x86::intrinsics::*;
use core::marker::PhantomData;

/// Where result vectors go: to a whole block, or to the bytes before an end.
pub(super) trait Sink: Copy {
    /// Stores vector `i` of the block.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and the bytes that the sink covers are writable.
    unsafe fn put(self, i: usize, x: __m512i);
    /// Stores a whole block of packed elements.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put).
    unsafe fn put_packed<const BITS: u32>(self, x: __m512i);
}

#[derive(Clone, Copy)]
pub(super) struct Whole(pub *mut u8);

#[derive(Clone, Copy)]
pub(super) struct Part(pub *mut u8, pub usize);

impl Sink for Whole {
    #[inline(always)]
    unsafe fn put(self, i: usize, x: __m512i) {
        // SAFETY: the caller's promise is the same; the store needs no alignment.
        unsafe { _mm512_storeu_si512(self.0.add(64 * i).cast(), x) }
    }
    #[inline(always)]
    unsafe fn put_packed<const BITS: u32>(self, x: __m512i) {
        // SAFETY: the caller's promise is the same.
        unsafe { packed::store::<BITS>(self.0, x) }
    }
}

impl Sink for Part {
    #[inline(always)]
    unsafe fn put(self, i: usize, x: __m512i) {
        let Self(start, bytes) = self;
        if let Some(left @ 1..) = bytes.checked_sub(64 * i) {
            // SAFETY: the mask leaves out the bytes after the end; otherwise the caller's promise is the same.
            unsafe { _mm512_mask_storeu_epi8(start.add(64 * i).cast(), first(left), x) }
        }
    }
    #[inline(always)]
    unsafe fn put_packed<const BITS: u32>(self, x: __m512i) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.put(0, x) }
    }
}

/// The mask of the first `n` bytes of a vector.
#[inline(always)]
pub(super) fn first(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// The vectors of a target.
pub(super) trait Shape<const P: usize> {
    /// Bits of an element.
    const BITS: u32;
    /// The number of adjacent source bytes that [`order`](Self::order) keeps together.
    const CHUNK: usize;
    /// Reorders source bytes for [`emit`](Self::emit).
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn order(bytes: __m512i) -> __m512i;
    /// Clears the planes after the first `n` elements, where other elements would show.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    #[inline(always)]
    unsafe fn only(planes: [__m512i; P], _n: usize) -> [__m512i; P] {
        planes
    }
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and the sink has room for the block.
    unsafe fn emit(planes: [__m512i; P], sink: impl Sink);
}

/// Elements of one byte.
pub(super) struct W8;
/// Packed elements.
pub(super) struct WPacked<const ELEMENT_BITS: u32>;
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
/// 32-bit integers from looked-up float32.
pub(super) struct I32<O: Overflows>(PhantomData<O>);
/// 64-bit integers from looked-up float32.
pub(super) struct I64<O: Overflows>(PhantomData<O>);

impl Shape<1> for W8 {
    const BITS: u32 = 8;
    const CHUNK: usize = 64;
    #[inline(always)]
    unsafe fn order(bytes: __m512i) -> __m512i {
        bytes
    }
    #[inline(always)]
    unsafe fn emit([codes]: [__m512i; 1], sink: impl Sink) {
        // SAFETY: the caller's promise is the same.
        unsafe { sink.put(0, codes) }
    }
}

impl<const ELEMENT_BITS: u32> Shape<1> for WPacked<ELEMENT_BITS> {
    const BITS: u32 = ELEMENT_BITS;
    const CHUNK: usize = 64;
    #[inline(always)]
    unsafe fn order(bytes: __m512i) -> __m512i {
        bytes
    }
    /// The last byte has zeros after the last element.
    #[inline(always)]
    unsafe fn only([codes]: [__m512i; 1], n: usize) -> [__m512i; 1] {
        // SAFETY: the caller's CPU has the features.
        [unsafe { _mm512_maskz_mov_epi8(first(n), codes) }]
    }
    #[inline(always)]
    unsafe fn emit([codes]: [__m512i; 1], sink: impl Sink) {
        // SAFETY: the caller's promise is the same.
        unsafe { sink.put_packed::<ELEMENT_BITS>(packed::join::<ELEMENT_BITS>(codes)) }
    }
}

impl Shape<2> for W16 {
    const BITS: u32 = 16;
    const CHUNK: usize = 8;
    #[inline(always)]
    unsafe fn order(bytes: __m512i) -> __m512i {
        // SAFETY: the caller's CPU has the features.
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), bytes) }
    }
    #[inline(always)]
    unsafe fn emit(planes: [__m512i; 2], sink: impl Sink) {
        // SAFETY: the caller's promise is the same.
        unsafe {
            let [a, b] = words(planes);
            sink.put(0, a);
            sink.put(1, b);
        }
    }
}

macro_rules! through_dwords {
    ($($shape:ty, $size:literal, $order:ident($chunk:literal), |$sink:ident, $i:ident, $x:ident| $put:block)*) => {$(
        impl Shape<2> for $shape {
            const BITS: u32 = 8 * $size;
            const CHUNK: usize = $chunk;
            #[inline(always)]
            unsafe fn order(bytes: __m512i) -> __m512i {
                // SAFETY: the caller's CPU has the features.
                unsafe { $order(bytes) }
            }
            #[inline(always)]
            unsafe fn emit(planes: [__m512i; 2], $sink: impl Sink) {
                // SAFETY: the caller's promise is the same.
                unsafe {
                    let x = upper_halves(planes);
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
    F32, 4, fours(4), |sink, i, x| { sink.put(i, x) }
    I32<Wrap>, 4, fours(4), |sink, i, x| { sink.put(i, _mm512_cvttps_epi32(_mm512_castsi512_ps(x))) }
    I32<ClampSigned>, 4, fours(4), |sink, i, x| {
        let x = _mm512_castsi512_ps(x);
        let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm512_set1_ps(2_147_483_648.0));
        let max = _mm512_set1_epi32(i32::MAX);
        sink.put(i, _mm512_mask_mov_epi32(_mm512_cvttps_epi32(x), above, max));
    }
    // The instruction returns all ones for values above the range, too.
    I32<ClampUnsigned>, 4, fours(4), |sink, i, x| {
        let x = _mm512_max_ps(_mm512_castsi512_ps(x), _mm512_setzero_ps());
        sink.put(i, _mm512_cvttps_epu32(x));
    }
    I64<Wrap>, 8, fours(4), |sink, i, x| {
        let [a, b] = halves(x);
        sink.put(2 * i, _mm512_cvttps_epi64(a));
        sink.put(2 * i + 1, _mm512_cvttps_epi64(b));
    }
    I64<ClampSigned>, 8, fours(4), |sink, i, x| {
        let [a, b] = halves(x);
        sink.put(2 * i, saturated(a));
        sink.put(2 * i + 1, saturated(b));
    }
    I64<ClampUnsigned>, 8, fours(4), |sink, i, x| {
        let x = _mm512_max_ps(_mm512_castsi512_ps(x), _mm512_setzero_ps());
        let [a, b] = halves(_mm512_castps_si512(x));
        sink.put(2 * i, _mm512_cvttps_epu64(a));
        sink.put(2 * i + 1, _mm512_cvttps_epu64(b));
    }
    F64, 8, pairs(2), |sink, i, x| {
        let zero = _mm512_setzero_si512();
        sink.put(2 * i, _mm512_unpacklo_epi32(zero, x));
        sink.put(2 * i + 1, _mm512_unpackhi_epi32(zero, x));
    }
    C64, 8, pairs(2), |sink, i, x| {
        let zero = _mm512_setzero_si512();
        sink.put(2 * i, _mm512_unpacklo_epi32(x, zero));
        sink.put(2 * i + 1, _mm512_unpackhi_epi32(x, zero));
    }
    C128, 16, singles(1), |sink, i, x| {
        let zero = _mm512_setzero_si512();
        let (a, b) = (_mm512_unpacklo_epi32(zero, x), _mm512_unpackhi_epi32(zero, x));
        sink.put(4 * i, _mm512_unpacklo_epi64(a, zero));
        sink.put(4 * i + 1, _mm512_unpackhi_epi64(a, zero));
        sink.put(4 * i + 2, _mm512_unpacklo_epi64(b, zero));
        sink.put(4 * i + 3, _mm512_unpackhi_epi64(b, zero));
    }
}

#[inline(always)]
unsafe fn halves(x: __m512i) -> [__m256; 2] {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let high = _mm512_extracti64x4_epi64::<1>(x);
        [_mm256_castsi256_ps(_mm512_castsi512_si256(x)), _mm256_castsi256_ps(high)]
    }
}

#[inline(always)]
unsafe fn saturated(x: __m256) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let above = _mm256_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm256_set1_ps(9_223_372_036_854_775_808.0));
        _mm512_mask_mov_epi64(_mm512_cvttps_epi64(x), above, _mm512_set1_epi64(i64::MAX))
    }
}

#[inline(always)]
unsafe fn words([low, high]: [__m512i; 2]) -> [__m512i; 2] {
    // SAFETY: the caller's CPU has the features.
    unsafe { [_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high)] }
}

/// Results of two bytes as the upper halves of 32-bit lanes.
///
/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
pub(super) unsafe fn upper_halves(planes: [__m512i; 2]) -> [__m512i; 4] {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let ([a, b], zero) = (words(planes), _mm512_setzero_si512());
        [
            _mm512_unpacklo_epi16(zero, a),
            _mm512_unpackhi_epi16(zero, a),
            _mm512_unpacklo_epi16(zero, b),
            _mm512_unpackhi_epi16(zero, b),
        ]
    }
}

/// Exchanges lanes and chunks, for chunks of four bytes.
#[inline(always)]
unsafe fn fours(bytes: __m512i) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_permutexvar_epi32(order, bytes)
    }
}

/// The same for chunks of two bytes: lane `l` gets pair `l` of every eight bytes.
#[inline(always)]
unsafe fn pairs(bytes: __m512i) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let order = _mm512_set_epi16(
            31, 27, 23, 19, 15, 11, 7, 3, 30, 26, 22, 18, 14, 10, 6, 2, 29, 25, 21, 17, 13, 9, 5, 1, 28, 24,
            20, 16, 12, 8, 4, 0,
        );
        _mm512_permutexvar_epi16(order, bytes)
    }
}

/// The same for single bytes: lane `l` gets byte `l` of every four.
#[inline(always)]
unsafe fn singles(bytes: __m512i) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let within = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        fours(_mm512_shuffle_epi8(bytes, _mm512_broadcast_i32x4(within)))
    }
}

//! Extends int8, uint8 and bool, and makes the powers of two of `float8_e8m0fnu` as 64-bit integers by shifts: the instructions for this are
//! faster than any table.
//!
//! Covers the targets that are close to the extended integer: integers of all widths, and the floats that hold the integer after one conversion.

use super::shapes::put;
use crate::arch::x86::Overflow;
use crate::arch::x86::Overflows;
use crate::arch::x86::intrinsics::*;
use crate::format::typed;
use crate::vector::Simd;
use crate::{
    arch::x86::avx2::simd::Avx2,
    format::lut,
    vector::{
        kernel::{WithTable, erased},
        short::padded,
    },
};
use core::marker::PhantomData;

/// The source that is extended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extended {
    /// int8.
    Signed,
    /// int8 whose negative values become 0.
    Clamped,
    /// uint8.
    Unsigned,
    /// bool: any byte but 0 is 1.
    Truth,
    /// The powers of two of exponents. The table is one code; powers from that code on become at least 1. No other source reads it.
    Rounded,
}

typed! {
    /// An [`Extended`] as a parameter of kernels.
    trait Extend { SOURCE: Extended }
    SignedBytes = Extended::Signed;
    ClampedBytes = Extended::Clamped;
    UnsignedBytes = Extended::Unsigned;
    TruthBytes = Extended::Truth;
    RoundedBytes = Extended::Rounded;
}

/// A target of more than a byte.
pub(super) trait Wide {
    /// Bytes of an element.
    const SIZE: usize;
    /// Elements that one step casts: at most 16.
    const STEP: usize;
    /// Stores the results of the first [`STEP`](Self::STEP) bytes.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and that number of elements is writable.
    unsafe fn emit<E: Extend>(bytes: __m128i, dst: *mut u8);
}

pub(super) struct I16;
pub(super) struct I32;
pub(super) struct I64;
pub(super) struct F16;
pub(super) struct BF16;
pub(super) struct F32;
pub(super) struct F64;
pub(super) struct C64;
pub(super) struct C128;
/// Integers of `BYTES` bytes that are powers of two.
pub(super) struct Powers<const BYTES: usize, O: Overflows>(PhantomData<O>);

/// 1 for each byte that is not 0. The upper byte of each word is zero.
#[inline(always)]
unsafe fn first_bit(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        // A minimum with 1 in all bytes would become two instructions: a comparison and a mask.
        _mm256_min_epu8(bytes, _mm256_set1_epi16(0xFF01_u16 as i16))
    }
}

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn words<E: Extend>(bytes: __m128i, one: i16) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match E::SOURCE {
            Extended::Signed => _mm256_cvtepi8_epi16(bytes),
            Extended::Truth if one == 1 => first_bit(_mm256_cvtepu8_epi16(bytes)),
            Extended::Truth => {
                let nonzero = _mm256_cmpgt_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_setzero_si256());
                _mm256_and_si256(nonzero, _mm256_set1_epi16(one))
            }
            _ => _mm256_cvtepu8_epi16(bytes),
        }
    }
}

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn dwords<E: Extend>(bytes: __m128i, one: i32) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match E::SOURCE {
            Extended::Signed => _mm256_cvtepi8_epi32(bytes),
            Extended::Truth if one == 1 => first_bit(_mm256_cvtepu8_epi32(bytes)),
            Extended::Truth => {
                let nonzero = _mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_setzero_si256());
                _mm256_and_si256(nonzero, _mm256_set1_epi32(one))
            }
            _ => _mm256_cvtepu8_epi32(bytes),
        }
    }
}

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn qwords<E: Extend>(bytes: __m128i, one: i64) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match E::SOURCE {
            Extended::Signed => _mm256_cvtepi8_epi64(bytes),
            Extended::Truth if one == 1 => first_bit(_mm256_cvtepu8_epi64(bytes)),
            Extended::Truth => {
                let zero = _mm256_cmpeq_epi64(_mm256_cvtepu8_epi64(bytes), _mm256_setzero_si256());
                _mm256_andnot_si256(zero, _mm256_set1_epi64x(one))
            }
            _ => _mm256_cvtepu8_epi64(bytes),
        }
    }
}

#[inline(always)]
unsafe fn floats<E: Extend>(bytes: __m128i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let x = dwords::<E>(bytes, 1_f32.to_bits() as i32);
        if E::SOURCE == Extended::Truth { x } else { _mm256_castps_si256(_mm256_cvtepi32_ps(x)) }
    }
}

/// Adds an integer behind the point of a large number, which is then subtracted: the conversion instruction is slower.
#[inline(always)]
unsafe fn doubles<E: Extend>(bytes: __m128i) -> __m256i {
    const LARGE: f64 = (3_u64 << 51) as f64;
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let x = qwords::<E>(bytes, 1_f64.to_bits() as i64);
        if E::SOURCE == Extended::Truth {
            return x;
        }
        let x = _mm256_add_epi64(x, _mm256_set1_epi64x(LARGE.to_bits() as i64));
        _mm256_castpd_si256(_mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_set1_pd(LARGE)))
    }
}

/// The second half of a register.
#[inline(always)]
unsafe fn upper(bytes: __m128i) -> __m128i {
    // SAFETY: the caller's CPU has the features.
    unsafe { _mm_unpackhi_epi64(bytes, bytes) }
}

macro_rules! targets {
    ($($name:ty, $size:literal, $step:literal, |$bytes:ident, $dst:ident| $emit:block)*) => {$(
        impl Wide for $name {
            const SIZE: usize = $size;
            const STEP: usize = $step;
            #[inline(always)]
            unsafe fn emit<E: Extend>($bytes: __m128i, $dst: *mut u8) {
                // SAFETY: the caller's promise is the same.
                unsafe { $emit }
            }
        }
    )*};
}

targets! {
    I16, 2, 16, |bytes, dst| { put(dst, 0, words::<E>(bytes, 1)) }
    I32, 4, 8, |bytes, dst| { put(dst, 0, dwords::<E>(bytes, 1)) }
    I64, 8, 4, |bytes, dst| { put(dst, 0, qwords::<E>(bytes, 1)) }
    F16, 2, 16, |bytes, dst| {
        if E::SOURCE == Extended::Truth {
            return put(dst, 0, words::<E>(bytes, 0x3C00));
        }
        // In float32, the integers times 2^16 have exponents whose lower five bits are the exponent of float16. Shifts drop the sign and the
        // upper three exponent bits of the float32, and zero stays zero.
        let (even, odd, sign) = if E::SOURCE == Extended::Signed {
            let x = words::<E>(bytes, 0);
            let odd = _mm256_and_si256(x, _mm256_set1_epi32(-1 << 16));
            (_mm256_slli_epi32::<16>(x), odd, _mm256_and_si256(x, _mm256_set1_epi16(i16::MIN)))
        } else {
            let [even, odd] = even_and_odd::<2>(bytes);
            (even, odd, _mm256_setzero_si256())
        };
        let even = _mm256_srli_epi32::<13>(_mm256_castps_si256(_mm256_cvtepi32_ps(even)));
        let odd = _mm256_slli_epi32::<3>(_mm256_castps_si256(_mm256_cvtepi32_ps(odd)));
        let magnitude = _mm256_blend_epi16::<0b1010_1010>(even, odd);
        put(dst, 0, if E::SOURCE == Extended::Signed { _mm256_or_si256(magnitude, sign) } else { magnitude });
    }
    BF16, 2, 16, |bytes, dst| {
        if E::SOURCE == Extended::Truth {
            put(dst, 0, words::<E>(bytes, 0x3F80));
        } else {
            put(dst, 0, brains::<E>(bytes));
        }
    }
    F32, 4, 8, |bytes, dst| { put(dst, 0, floats::<E>(bytes)) }
    F64, 8, 4, |bytes, dst| { put(dst, 0, doubles::<E>(bytes)) }
    // Zeros between the bytes become the imaginary parts.
    C64, 8, 8, |bytes, dst| {
        let pairs = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
        put(dst, 0, floats::<E>(pairs));
        put(dst, 1, floats::<E>(upper(pairs)));
    }
    C128, 16, 4, |bytes, dst| {
        let pairs = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
        put(dst, 0, doubles::<E>(pairs));
        put(dst, 1, doubles::<E>(_mm_srli_si128::<4>(pairs)));
    }
}

/// bfloat16: the upper half of a float32.
#[inline(always)]
unsafe fn brains<E: Extend>(bytes: __m128i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let [even, odd] = if E::SOURCE == Extended::Signed {
            // bool multiplies by 1 or 0.
            let x = words::<E>(bytes, 0);
            [_mm256_madd_epi16(x, _mm256_set1_epi32(1)), _mm256_madd_epi16(x, _mm256_set1_epi32(1 << 16))]
        } else {
            even_and_odd::<0>(bytes)
        };
        let even = _mm256_srli_epi32::<16>(_mm256_castps_si256(_mm256_cvtepi32_ps(even)));
        // The lower half of every float32 is zero.
        _mm256_or_si256(even, _mm256_castps_si256(_mm256_cvtepi32_ps(odd)))
    }
}

/// The even elements and the odd elements, in byte `AT` of dwords.
#[inline(always)]
unsafe fn even_and_odd<const AT: usize>(bytes: __m128i) -> [__m256i; 2] {
    const fn order(at: usize, first: u8) -> [u8; 32] {
        let mut order = [0x80; 32];
        let mut i = 0;
        while i < 8 {
            order[4 * i + at] = first + 2 * i as u8;
            i += 1;
        }
        order
    }
    let orders = const { [order(AT, 0), order(AT, 1)] };
    // SAFETY: the caller's CPU has the features; each order has the bytes of a register.
    unsafe {
        let both = _mm256_broadcastsi128_si256(bytes);
        let [even, odd] = &orders;
        [
            _mm256_shuffle_epi8(both, _mm256_loadu_si256(even.as_ptr().cast())),
            _mm256_shuffle_epi8(both, _mm256_loadu_si256(odd.as_ptr().cast())),
        ]
    }
}

macro_rules! powers {
    ($($bytes:literal, $step:literal, $lanes:ident;)*) => {$(
        impl<O: Overflows> Wide for Powers<$bytes, O> {
            const SIZE: usize = $bytes;
            const STEP: usize = $step;
            #[inline(always)]
            unsafe fn emit<E: Extend>(bytes: __m128i, dst: *mut u8) {
                // SAFETY: the caller's promise is the same.
                unsafe { put(dst, 0, $lanes::<O>(bytes)) }
            }
        }
    )*};
}
powers! {
    2, 16, power_words;
    4, 8, power_dwords;
    8, 4, power_qwords;
}

/// The lowest exponent field whose power of two is out of range of an integer of `bits` bits, and the largest integer.
const fn end<O: Overflows>(bits: u32) -> (i32, u64) {
    let bits = bits - matches!(O::OVERFLOW, Overflow::Signed) as u32;
    (127 + bits as i32, u64::MAX >> (64 - bits))
}

// Shifts by a negative number or by too many places give 0: for fractions, for powers that wrap, and for NaN, which counts as 2^128.

#[inline(always)]
unsafe fn power_qwords<O: Overflows>(bytes: __m128i) -> __m256i {
    let (end, max) = const { end::<O>(64) };
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let field = _mm256_cvtepu8_epi64(bytes);
        let places = _mm256_sub_epi64(field, _mm256_set1_epi64x(127));
        let power = _mm256_sllv_epi64(_mm256_set1_epi64x(1), places);
        if O::OVERFLOW == Overflow::Wrap {
            return power;
        }
        let above = _mm256_cmpgt_epi64(field, _mm256_set1_epi64x(end as i64 - 1));
        let nan = _mm256_cmpeq_epi64(field, _mm256_set1_epi64x(0xFF));
        _mm256_andnot_si256(nan, _mm256_blendv_epi8(power, _mm256_set1_epi64x(max as i64), above))
    }
}

#[inline(always)]
unsafe fn power_dwords<O: Overflows>(bytes: __m128i) -> __m256i {
    // SAFETY: the caller's promise is the same.
    unsafe { power_of::<O>(bytes, 32) }
}

/// Powers of two in 32-bit lanes, for integers of up to 32 bits.
#[inline(always)]
unsafe fn power_of<O: Overflows>(bytes: __m128i, bits: u32) -> __m256i {
    let (end, max) = end::<O>(bits);
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let field = _mm256_cvtepu8_epi32(bytes);
        let places = _mm256_sub_epi32(field, _mm256_set1_epi32(127));
        let power = _mm256_sllv_epi32(_mm256_set1_epi32(1), places);
        if O::OVERFLOW == Overflow::Wrap {
            return power;
        }
        let above = _mm256_cmpgt_epi32(field, _mm256_set1_epi32(end - 1));
        let nan = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0xFF));
        _mm256_andnot_si256(nan, _mm256_blendv_epi8(power, _mm256_set1_epi32(max as i32), above))
    }
}

#[inline(always)]
unsafe fn power_words<O: Overflows>(bytes: __m128i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let low = _mm256_set1_epi32(0xFFFF);
        let a = _mm256_and_si256(power_of::<O>(bytes, 16), low);
        let b = _mm256_and_si256(power_of::<O>(upper(bytes), 16), low);
        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(a, b))
    }
}

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn widen<W: Wide, E: Extend>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<u8>,
    ) {
        // SAFETY: each step reads and writes whole elements among the `n`; the last step handles some of them again. The block on the stack is
        // cast with the same data.
        unsafe {
            let step = |i: usize| {
                let from = src.add(i);
                let bytes = match W::STEP {
                    16 => _mm_loadu_si128(from.cast()),
                    8 => _mm_loadl_epi64(from.cast()),
                    _ => _mm_cvtsi32_si128(from.cast::<i32>().read_unaligned()),
                };
                let limited = match E::SOURCE {
                    Extended::Clamped => _mm_max_epi8(bytes, _mm_setzero_si128()),
                    Extended::Rounded => {
                        let least = _mm_set1_epi8(*data.table() as i8);
                        let is_one = _mm_cmpeq_epi8(_mm_max_epu8(bytes, least), bytes);
                        _mm_max_epu8(bytes, _mm_and_si128(is_one, _mm_set1_epi8(127)))
                    }
                    _ => bytes,
                };
                W::emit::<E>(limited, dst.add(i * W::SIZE));
            };
            let mut i = 0;
            // The body is often so short that the cost of the loop counts.
            while n - i >= 2 * W::STEP {
                step(i);
                step(i + W::STEP);
                i += 2 * W::STEP;
            }
            if n - i >= W::STEP {
                step(i);
                i += W::STEP;
            }
            if i == n {
            } else if i > 0 {
                step(n - W::STEP);
            } else {
                let whole = erased(widen::<W, E>);
                padded(<Avx2>::new_unchecked(), whole, W::STEP, 1, W::SIZE, src, dst, n, data.data());
            }
        }
    }
}

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn narrow<const SIGNED: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<lut::Limits>,
    ) {
        // SAFETY: as in `widen`; the block on the stack is cast with the same data.
        unsafe {
            let limits = &core::ptr::from_ref(data.table()).read();
            let all = |x: u8| _mm256_set1_epi8(x as i8);
            let (used, bits) = (all(limits.used), all(limits.bits));
            let (min, max) = (all(limits.min), all(limits.max));
            let step = |i: usize| {
                let x = _mm256_and_si256(_mm256_loadu_si256(src.add(i).cast()), used);
                let limited = if SIGNED {
                    _mm256_min_epi8(_mm256_max_epi8(x, min), max)
                } else {
                    _mm256_min_epu8(_mm256_max_epu8(x, min), max)
                };
                _mm256_storeu_si256(dst.add(i).cast(), _mm256_and_si256(limited, bits));
            };
            let mut i = 0;
            while n - i >= 32 {
                step(i);
                i += 32;
            }
            if i == n {
            } else if i > 0 {
                step(n - 32);
            } else {
                let whole = erased(narrow::<SIGNED>);
                padded(<Avx2>::new_unchecked(), whole, 32, 1, 1, src, dst, n, data.data());
            }
        }
    }
}

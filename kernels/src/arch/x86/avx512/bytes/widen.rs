//! Extends integers of a byte and of four bits, and bool: the instructions that widen integers are faster than any table.
//!
//! Covers the targets that are close to the extended integer: integers of all widths, and the floats that hold the integer after one conversion.

use super::shapes;
use super::shapes::first;
use crate::arch::x86::intrinsics::*;
use crate::format::typed;
use crate::format::{data::Data, lut};
use crate::vector::kernel::WithTable;

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
    /// int4, one per byte, whose upper bits do not count.
    Signed4,
    /// uint4, one per byte, whose upper bits do not count.
    Unsigned4,
}

typed! {
    /// An [`Extended`] as a parameter of kernels.
    trait Extend { SOURCE: Extended }
    SignedBytes = Extended::Signed;
    ClampedBytes = Extended::Clamped;
    UnsignedBytes = Extended::Unsigned;
    TruthBytes = Extended::Truth;
    SignedNibbles = Extended::Signed4;
    UnsignedNibbles = Extended::Unsigned4;
}

/// A target of more than a byte.
pub(super) trait Wide {
    /// Bytes of an element.
    const SIZE: usize;
    /// Elements in a vector of extended integers.
    const LANES: usize;
    /// Stores the vectors of [`LANES`](Self::LANES) bytes; targets that need several vectors write the others after the first.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel, and the sink has room for the vectors.
    unsafe fn emit<E: Extend>(bytes: __m256i, sink: impl shapes::Sink);
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

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn words<E: Extend>(bytes: __m256i, one: i16) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match E::SOURCE {
            Extended::Signed | Extended::Signed4 => _mm512_cvtepi8_epi16(bytes),
            Extended::Truth => {
                let x = _mm512_cvtepu8_epi16(bytes);
                _mm512_maskz_set1_epi16(_mm512_test_epi16_mask(x, x), one)
            }
            _ => _mm512_cvtepu8_epi16(bytes),
        }
    }
}

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn dwords<E: Extend>(bytes: __m256i, one: i32) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let bytes = _mm256_castsi256_si128(bytes);
        match E::SOURCE {
            Extended::Signed | Extended::Signed4 => _mm512_cvtepi8_epi32(bytes),
            Extended::Truth => {
                let x = _mm512_cvtepu8_epi32(bytes);
                _mm512_maskz_set1_epi32(_mm512_test_epi32_mask(x, x), one)
            }
            _ => _mm512_cvtepu8_epi32(bytes),
        }
    }
}

/// Integers, and for bool `one` instead of 1.
#[inline(always)]
unsafe fn qwords<E: Extend>(bytes: __m256i, one: i64) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let bytes = _mm256_castsi256_si128(bytes);
        match E::SOURCE {
            Extended::Signed | Extended::Signed4 => _mm512_cvtepi8_epi64(bytes),
            Extended::Truth => {
                let x = _mm512_cvtepu8_epi64(bytes);
                _mm512_maskz_set1_epi64(_mm512_test_epi64_mask(x, x), one)
            }
            _ => _mm512_cvtepu8_epi64(bytes),
        }
    }
}

#[inline(always)]
unsafe fn floats<E: Extend>(bytes: __m256i) -> __m512i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let x = dwords::<E>(bytes, 1_f32.to_bits() as i32);
        if E::SOURCE == Extended::Truth { x } else { _mm512_castps_si512(_mm512_cvtepi32_ps(x)) }
    }
}

/// Adds an integer behind the point of a large number, which is then subtracted: the conversion instruction is slower.
#[inline(always)]
unsafe fn doubles<E: Extend>(bytes: __m256i) -> __m512i {
    const LARGE: f64 = (3_u64 << 51) as f64;
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let x = qwords::<E>(bytes, 1_f64.to_bits() as i64);
        if E::SOURCE == Extended::Truth {
            return x;
        }
        let x = _mm512_add_epi64(x, _mm512_set1_epi64(LARGE.to_bits() as i64));
        _mm512_castpd_si512(_mm512_sub_pd(_mm512_castsi512_pd(x), _mm512_set1_pd(LARGE)))
    }
}

macro_rules! targets {
    ($($name:ident, $size:literal, $lanes:literal, |$bytes:ident, $sink:ident| $emit:block)*) => {$(
        impl Wide for $name {
            const SIZE: usize = $size;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn emit<E: Extend>($bytes: __m256i, $sink: impl shapes::Sink) {
                // SAFETY: the caller's promise is the same.
                unsafe { $emit }
            }
        }
    )*};
}

targets! {
    I16, 2, 32, |bytes, sink| { sink.put(0, words::<E>(bytes, 1)) }
    // For bool only.
    F16, 2, 32, |bytes, sink| { sink.put(0, words::<E>(bytes, 0x3C00)) }
    BF16, 2, 32, |bytes, sink| { sink.put(0, words::<E>(bytes, 0x3F80)) }
    I32, 4, 16, |bytes, sink| { sink.put(0, dwords::<E>(bytes, 1)) }
    I64, 8, 8, |bytes, sink| { sink.put(0, qwords::<E>(bytes, 1)) }
    F32, 4, 16, |bytes, sink| { sink.put(0, floats::<E>(bytes)) }
    F64, 8, 8, |bytes, sink| { sink.put(0, doubles::<E>(bytes)) }
    C64, 8, 16, |bytes, sink| {
        // Every second lane is zero.
        let x = floats::<E>(bytes);
        let first = _mm512_setr_epi32(0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0);
        let second = _mm512_setr_epi32(8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15, 0);
        sink.put(0, _mm512_maskz_permutexvar_epi32(0x5555, first, x));
        sink.put(1, _mm512_maskz_permutexvar_epi32(0x5555, second, x));
    }
    C128, 16, 8, |bytes, sink| {
        // Zeros between the bytes become the imaginary parts.
        let pairs = _mm_unpacklo_epi8(_mm256_castsi256_si128(bytes), _mm_setzero_si128());
        sink.put(0, doubles::<E>(_mm256_castsi128_si256(pairs)));
        sink.put(1, doubles::<E>(_mm256_castsi128_si256(_mm_unpackhi_epi64(pairs, pairs))));
    }
}

/// Clears or extends the upper bits, so that bytes hold the values of their elements.
#[inline(always)]
unsafe fn limited<E: Extend>(bytes: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        match E::SOURCE {
            Extended::Clamped => _mm256_max_epi8(bytes, _mm256_setzero_si256()),
            Extended::Unsigned4 => _mm256_and_si256(bytes, _mm256_set1_epi8(15)),
            Extended::Signed4 => {
                let values = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
                let low = _mm256_and_si256(bytes, _mm256_set1_epi8(15));
                _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(values), low)
            }
            _ => bytes,
        }
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn widen<W: Wide, E: Extend>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
        // SAFETY: each step reads the bytes of whole elements among the `n`, or under a mask the elements that are left, and writes the same
        // elements.
        unsafe {
            let mut i = 0;
            while n - i >= W::LANES {
                let from = src.add(i);
                let bytes = match W::LANES {
                    32 => _mm256_loadu_si256(from.cast()),
                    16 => _mm256_castsi128_si256(_mm_loadu_si128(from.cast())),
                    _ => _mm256_castsi128_si256(_mm_loadl_epi64(from.cast())),
                };
                W::emit::<E>(limited::<E>(bytes), shapes::Whole(dst.add(i * W::SIZE)));
                i += W::LANES;
            }
            if i < n {
                let bytes = _mm256_maskz_loadu_epi8(first(n - i) as u32, src.add(i).cast());
                W::emit::<E>(limited::<E>(bytes), shapes::Part(dst.add(i * W::SIZE), (n - i) * W::SIZE));
            }
        }
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn narrow<const SIGNED: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &WithTable<lut::Limits>,
    ) {
        // SAFETY: as in `widen`.
        unsafe {
            let limits = data.table();
            let all = |x: u8| _mm512_set1_epi8(x as i8);
            let (used, bits) = (all(limits.used), all(limits.bits));
            let (min, max) = (all(limits.min), all(limits.max));
            let cast = |x| {
                let x = _mm512_and_si512(x, used);
                let limited = if SIGNED {
                    _mm512_min_epi8(_mm512_max_epi8(x, min), max)
                } else {
                    _mm512_min_epu8(_mm512_max_epu8(x, min), max)
                };
                _mm512_and_si512(limited, bits)
            };
            let mut i = 0;
            while n - i >= 64 {
                _mm512_storeu_si512(dst.add(i).cast(), cast(_mm512_loadu_si512(src.add(i).cast())));
                i += 64;
            }
            if i < n {
                let left = first(n - i);
                let x = _mm512_maskz_loadu_epi8(left, src.add(i).cast());
                _mm512_mask_storeu_epi8(dst.add(i).cast(), left, cast(x));
            }
        }
    }
}

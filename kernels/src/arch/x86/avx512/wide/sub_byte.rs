//! Saturates integers to codes of 2 and 4 bits. The instructions that narrow and saturate make bytes first; then the bytes are clamped, because
//! a register holds more bytes.

use super::units::{load_32, load_64};
use crate::arch::x86::intrinsics::*;
use crate::{dtype::DType, format::data::Data, vector::kernel::KernelFn};

/// Elements of a step.
const STEP: usize = 32;

/// The kernel to one of these targets.
pub(super) const fn kernel<S: Narrow>(to: DType) -> Option<KernelFn> {
    match to {
        DType::Int2 | DType::Int4 => Some(run::<S, true>),
        DType::UInt2 | DType::UInt4 => Some(run::<S, false>),
        _ => None,
    }
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<S: Narrow, const SIGNED: bool>(
        mut src: *const u8,
        mut dst: *mut u8,
        mut n: usize,
        data: &Data,
    ) {
        // SAFETY: the steps begin at elements and end with the last one.
        unsafe {
            while n >= STEP {
                _mm256_storeu_si256(dst.cast(), codes::<S, SIGNED>(S::bytes::<SIGNED, false>(src, STEP), data));
                (src, dst, n) = (src.add(STEP * S::SIZE), dst.add(STEP), n - STEP);
            }
            if n > 0 {
                let codes = codes::<S, SIGNED>(S::bytes::<SIGNED, true>(src, n), data);
                _mm256_mask_storeu_epi8(dst.cast(), (1 << n) - 1, codes);
            }
        }
    }
}

/// Clamps bytes to codes.
#[inline(always)]
unsafe fn codes<S: Narrow, const SIGNED: bool>(x: __m256i, data: &Data) -> __m256i {
    // SAFETY: as for `Narrow::bytes`.
    unsafe {
        let highest = _mm256_set1_epi8(data.int.highest as i8);
        if S::SIGNED && SIGNED {
            let x = _mm256_max_epi8(_mm256_min_epi8(x, highest), _mm256_set1_epi8(data.int.lowest()));
            _mm256_and_si256(x, _mm256_set1_epi8(data.int.ones() as i8))
        } else {
            _mm256_min_epu8(x, highest)
        }
    }
}

/// An integer type on the source's side.
pub(super) trait Narrow {
    /// Bytes of an element.
    const SIZE: usize;
    const SIGNED: bool;
    /// Saturates to int8 if both the source and the target have a sign, else to uint8.
    ///
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be read, [`STEP`] unless `PART`.
    unsafe fn bytes<const SIGNED: bool, const PART: bool>(src: *const u8, n: usize) -> __m256i;
}

#[inline(always)]
unsafe fn load_words<const PART: bool>(p: *const u8, n: usize) -> __m512i {
    // SAFETY: as for `Narrow::bytes`.
    unsafe {
        if PART { _mm512_maskz_loadu_epi16((1 << n) - 1, p.cast()) } else { _mm512_loadu_si512(p.cast()) }
    }
}

macro_rules! narrow {
    ($($type:ident $signed:literal, $size:tt: $load:ident, $max:ident $to_i8:ident $to_u8:ident;)*) => {$(
        impl Narrow for $type {
            const SIZE: usize = $size;
            const SIGNED: bool = $signed;
            #[inline(always)]
            unsafe fn bytes<const SIGNED: bool, const PART: bool>(src: *const u8, n: usize) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    narrow!(@ $size, $load::<PART>, src, n, |x| {
                        if !$signed {
                            $to_u8(x)
                        } else if SIGNED {
                            $to_i8(x)
                        } else {
                            $to_u8($max(x, _mm512_setzero_si512()))
                        }
                    })
                }
            }
        }
    )*};
    (@ 2, $load:expr, $src:ident, $n:ident, |$x:ident| $narrow:expr) => {{
        let $x = $load($src, $n);
        $narrow
    }};
    (@ 4, $load:expr, $src:ident, $n:ident, |$x:ident| $narrow:expr) => {{
        let low = { let $x = $load($src, $n, 0); $narrow };
        let high = { let $x = $load($src, $n, 1); $narrow };
        _mm256_set_m128i(high, low)
    }};
    (@ 8, $load:expr, $src:ident, $n:ident, |$x:ident| $narrow:expr) => {{
        let a = { let $x = $load($src, $n, 0); $narrow };
        let b = { let $x = $load($src, $n, 1); $narrow };
        let c = { let $x = $load($src, $n, 2); $narrow };
        let d = { let $x = $load($src, $n, 3); $narrow };
        _mm256_set_m128i(_mm_unpacklo_epi64(c, d), _mm_unpacklo_epi64(a, b))
    }};
}

narrow! {
    i16 true, 2: load_words, _mm512_max_epi16 _mm512_cvtsepi16_epi8 _mm512_cvtusepi16_epi8;
    u16 false, 2: load_words, _mm512_max_epi16 _mm512_cvtsepi16_epi8 _mm512_cvtusepi16_epi8;
    i32 true, 4: load_32, _mm512_max_epi32 _mm512_cvtsepi32_epi8 _mm512_cvtusepi32_epi8;
    u32 false, 4: load_32, _mm512_max_epi32 _mm512_cvtsepi32_epi8 _mm512_cvtusepi32_epi8;
    i64 true, 8: load_64, _mm512_max_epi64 _mm512_cvtsepi64_epi8 _mm512_cvtusepi64_epi8;
    u64 false, 8: load_64, _mm512_max_epi64 _mm512_cvtsepi64_epi8 _mm512_cvtusepi64_epi8;
}

//! Conversions for which AVX-512 has no single instruction: to odd, to float16 in a direction, and NaN without its payload.

use crate::{
    arch::x86::{env, intrinsics::*},
    vector::style::{Mode, RoundingMode},
};

const TRUNCATE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

/// 2^-140: less than half of the smallest value of any narrower format, and not zero in float32.
const SMALLEST: i64 = (1023 - 140) << 52;

/// Eight float64 as float32, rounded to odd. Values that are too large become the largest float32; too small ones, zero unless `CLAMPED`.
#[inline(always)]
pub(super) unsafe fn f64_to_odd<const CLAMPED: bool>(mut x: __m512i) -> __m256 {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if CLAMPED {
            let one = _mm512_set1_epi64(1);
            let absolute = _mm512_and_si512(x, _mm512_set1_epi64(i64::MAX));
            // After the subtraction, zero is the greatest number.
            let small = _mm512_sub_epi64(_mm512_set1_epi64(SMALLEST), one);
            let small = _mm512_cmplt_epu64_mask(_mm512_sub_epi64(absolute, one), small);
            let sign = _mm512_xor_si512(x, absolute);
            x = _mm512_mask_or_epi64(x, small, sign, _mm512_set1_epi64(SMALLEST));
        }
        // The lowest 40 bits are gathered into the bit above them (`hub`); the others are truncated.
        let lost = _mm512_test_epi64_mask(x, _mm512_set1_epi64((1 << 40) - 1));
        let mut x = _mm512_mask_or_epi64(x, lost, x, _mm512_set1_epi64(1 << 40));
        if CLAMPED {
            // Cleared so that only values that are too large become the largest float32.
            x = _mm512_andnot_si512(_mm512_set1_epi64((1 << 40) - 1), x);
        }
        _mm512_cvt_roundpd_ps::<TRUNCATE>(_mm512_castsi512_pd(x))
    }
}

/// Eight int64 (or uint64) as float64, rounded to odd.
#[inline(always)]
pub(super) unsafe fn int64_to_odd<const SIGNED: bool>(x: __m512i) -> __m512i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        let (value, back) = if SIGNED {
            let value = _mm512_cvt_roundepi64_pd::<TRUNCATE>(x);
            (value, _mm512_cvttpd_epi64(value))
        } else {
            let value = _mm512_cvt_roundepu64_pd::<TRUNCATE>(x);
            (value, _mm512_cvttpd_epu64(value))
        };
        let lost = _mm512_cmpneq_epi64_mask(x, back);
        let value = _mm512_castpd_si512(value);
        _mm512_mask_or_epi64(value, lost, value, _mm512_set1_epi64(1))
    }
}

/// Sixteen int32 (or uint32) as float32, rounded to odd.
#[inline(always)]
unsafe fn int32_to_odd<const SIGNED: bool>(x: __m512i) -> __m512i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        let (value, back) = if SIGNED {
            let value = _mm512_cvt_roundepi32_ps::<TRUNCATE>(x);
            (value, _mm512_cvttps_epi32(value))
        } else {
            let value = _mm512_cvt_roundepu32_ps::<TRUNCATE>(x);
            (value, _mm512_cvttps_epu32(value))
        };
        let value = _mm512_castps_si512(value);
        _mm512_mask_or_epi32(value, _mm512_cmpneq_epi32_mask(x, back), value, _mm512_set1_epi32(1))
    }
}

/// Sixteen int32 (or uint32) as float32, rounded to nearest or to odd.
#[inline(always)]
pub(super) unsafe fn int32_to_f32<const SIGNED: bool, const ODD: bool>(x: __m512i) -> __m512i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if ODD {
            int32_to_odd::<SIGNED>(x)
        } else if SIGNED {
            _mm512_castps_si512(_mm512_cvtepi32_ps(x))
        } else {
            _mm512_castps_si512(_mm512_cvtepu32_ps(x))
        }
    }
}

/// Sixteen float32 as float16.
#[inline(always)]
pub(super) unsafe fn to_f16<R: RoundingMode>(x: __m512) -> __m256i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if R::MODE == Mode::Common {
            return _mm512_cvt_roundps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x);
        }
        let half = env::_mm512_cvtps_ph::<_MM_FROUND_CUR_DIRECTION>(x);
        if R::MODE != Mode::Odd {
            return half;
        }
        let inexact = _mm512_cmp_ps_mask::<_CMP_NEQ_OQ>(x, _mm512_cvtph_ps(half));
        _mm256_or_si256(half, _mm256_maskz_set1_epi16(inexact, 1))
    }
}

/// The mask of lanes where one of two float32 is NaN.
#[inline(always)]
pub(super) unsafe fn unordered(a: __m512i, b: __m512i) -> __mmask16 {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
        _mm512_cmp_round_ps_mask::<_CMP_UNORD_Q, _MM_FROUND_NO_EXC>(a, b)
    }
}

/// Float32 whose NaN has only its sign, without a payload.
#[inline(always)]
pub(super) unsafe fn without_payload(x: __m512i) -> __m512i {
    const SIGN_OR: i32 = 0xF0 & 0xCC | 0xAA;
    // SAFETY: the caller's promise: the CPU has the tier.
    unsafe {
        let nan = unordered(x, x);
        let (sign, quiet) = (_mm512_set1_epi32(i32::MIN), _mm512_set1_epi32(0x7FC0_0000));
        _mm512_mask_ternarylogic_epi32::<SIGN_OR>(x, nan, sign, quiet)
    }
}

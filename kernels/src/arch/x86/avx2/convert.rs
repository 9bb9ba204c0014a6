//! Conversions for which AVX2 has no single instruction: to odd, from unsigned integers, and to float16 in a direction or to odd.

use crate::{
    arch::x86::{env, intrinsics::*},
    vector::style::{Mode, RoundingMode},
};

/// 2^-140: less than half of the smallest value of any narrower format, and not zero in float32.
const SMALLEST: i64 = (1023 - 140) << 52;
/// The bits of the largest float32, and the least float64 that is too large for float32.
const LARGEST: i64 = (f32::MAX as f64).to_bits() as i64;
const TOO_LARGE: i64 = (1023 + 128) << 52;

/// Four float64 as float32, rounded to odd: the lowest 40 bits are gathered into the bit above them (`hub`); then the conversion is exact.
#[inline(always)]
pub(super) unsafe fn f64_to_odd<const CLAMPED: bool>(mut x: __m256i) -> __m128 {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if CLAMPED {
            let all = |x: i64| _mm256_set1_epi64x(x);
            let absolute = _mm256_and_si256(x, all(i64::MAX));
            let sign = _mm256_xor_si256(x, absolute);
            let zero = _mm256_cmpeq_epi64(absolute, _mm256_setzero_si256());
            let small = _mm256_andnot_si256(zero, _mm256_cmpgt_epi64(all(SMALLEST), absolute));
            x = _mm256_blendv_epi8(x, _mm256_or_si256(sign, all(SMALLEST)), small);
        }
        let below = _mm256_set1_epi64x((1 << 40) - 1);
        let carry = _mm256_add_epi64(_mm256_and_si256(x, below), below);
        // Bit 40 is set by itself or by the carry; the bits below it are dropped.
        let mut odd = _mm256_andnot_si256(below, _mm256_or_si256(x, carry));
        if CLAMPED {
            let (all, absolute) =
                (|x: i64| _mm256_set1_epi64x(x), _mm256_and_si256(x, _mm256_set1_epi64x(i64::MAX)));
            let large = _mm256_cmpgt_epi64(absolute, all(TOO_LARGE - 1));
            let finite = _mm256_cmpgt_epi64(all(f64::INFINITY.to_bits() as i64), absolute);
            let clamped = _mm256_or_si256(_mm256_xor_si256(x, absolute), all(LARGEST));
            odd = _mm256_blendv_epi8(odd, clamped, _mm256_and_si256(large, finite));
        }
        _mm256_cvtpd_ps(_mm256_castsi256_pd(odd))
    }
}

/// Four int64 (or uint64) as float64, rounded to odd.
#[inline(always)]
pub(super) unsafe fn int64_to_odd<const SIGNED: bool>(x: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        // If an integer has more than 53 bits, its lowest 11 are gathered into the bit above them; then float64 holds the integer.
        let low = _mm256_set1_epi64x(0x7FF);
        let carry = _mm256_add_epi64(_mm256_and_si256(x, low), low);
        let gathered = _mm256_andnot_si256(low, _mm256_or_si256(x, carry));
        let (zero, sign) = (_mm256_setzero_si256(), _mm256_cmpgt_epi64(_mm256_setzero_si256(), x));
        let magnitude = if SIGNED { _mm256_xor_si256(x, sign) } else { x };
        let short = _mm256_cmpeq_epi64(_mm256_srli_epi64::<53>(magnitude), zero);
        let x = _mm256_blendv_epi8(gathered, x, short);
        // Both halves become the mantissas of powers of two, whose difference is exact.
        let (exponent, both) = if SIGNED {
            (0x4530_0000_8000_0000, 0x4530_0000_8010_0000)
        } else {
            (0x4530_0000_0000_0000, 0x4530_0000_0010_0000)
        };
        let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(exponent));
        let low = _mm256_blend_epi32::<0b0101_0101>(_mm256_set1_epi64x(0x4330_0000_0000_0000), x);
        let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_castsi256_pd(_mm256_set1_epi64x(both)));
        _mm256_castpd_si256(_mm256_add_pd(high, _mm256_castsi256_pd(low)))
    }
}

/// Eight uint32 as float32, nearest.
#[inline(always)]
unsafe fn uint32_to_f32(x: __m256i) -> __m256 {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        // Both halves become the mantissas of powers of two; the first difference is exact, and the sum rounds once.
        let low = _mm256_blend_epi16::<0b1010_1010>(x, _mm256_set1_epi32(0x4B00_0000));
        let high = _mm256_or_si256(_mm256_srli_epi32::<16>(x), _mm256_set1_epi32(0x5300_0000));
        let both = _mm256_castsi256_ps(_mm256_set1_epi32(0x5300_0080));
        _mm256_add_ps(_mm256_sub_ps(_mm256_castsi256_ps(high), both), _mm256_castsi256_ps(low))
    }
}

/// Eight int32 (or uint32) as float32, rounded to nearest or to odd.
#[inline(always)]
pub(super) unsafe fn int32_to_f32<const SIGNED: bool, const ODD: bool>(mut x: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if ODD {
            // If an integer has more than 24 bits, its lowest 8 are gathered into the bit above them; float32 holds the rest.
            let low = _mm256_set1_epi32(0xFF);
            let carry = _mm256_add_epi32(_mm256_and_si256(x, low), low);
            let gathered = _mm256_andnot_si256(low, _mm256_or_si256(x, carry));
            let magnitude = if SIGNED { _mm256_abs_epi32(x) } else { x };
            let short = _mm256_cmpeq_epi32(_mm256_srli_epi32::<24>(magnitude), _mm256_setzero_si256());
            x = _mm256_blendv_epi8(gathered, x, short);
        }
        _mm256_castps_si256(if SIGNED { _mm256_cvtepi32_ps(x) } else { uint32_to_f32(x) })
    }
}

/// Eight float32 as float16.
///
/// Rounding to nearest is assembly as well: the compiler would fold the conversion into the store, and the form of the instruction that converts
/// into memory is slow.
#[inline(always)]
pub(super) unsafe fn to_f16<R: RoundingMode>(x: __m256) -> __m128i {
    // SAFETY: as for the methods of `Simd`.
    unsafe {
        if R::MODE == Mode::Common {
            return env::_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
        }
        let half = env::_mm256_cvtps_ph::<_MM_FROUND_CUR_DIRECTION>(x);
        if R::MODE != Mode::Odd {
            return half;
        }
        let inexact = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_NEQ_OQ>(x, _mm256_cvtph_ps(half)));
        let inexact =
            _mm_packs_epi32(_mm256_castsi256_si128(inexact), _mm256_extracti128_si256::<1>(inexact));
        _mm_or_si128(half, _mm_srli_epi16::<15>(inexact))
    }
}

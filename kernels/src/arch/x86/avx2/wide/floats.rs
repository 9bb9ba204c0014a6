//! Lanes of float32 and float64.
//!
//! **Float to integer, wrapping**: the low bits of the truncated value. From the truncated value the nearest multiple of 2^32
//! is taken away, `x - round(x / m) * m`, which is exact and leaves at most `m / 2` in magnitude. `m / 2` itself is one too
//! many for the conversion, which answers with the bits of `-m / 2`: right in all bits that are kept. It answers the same for
//! NaN, and that is what infinity has become; those are zeroed if the target keeps that bit.
//!
//! **To 64 bits** there is no instruction. A float64 of less than 2^51 in magnitude has its integer in the low bits after 1.5 *
//! 2^52 is added. If all values of a unit are so, that is all; otherwise each is split into two halves of 32 bits, which are
//! such numbers.
//!
//! **Saturating**: what is too large is clamped before the conversion, or replaced afterwards; the conversion gives the
//! lowest integer for everything out of range, which is right for what is too small, and NaN is masked away.

use super::*;

#[derive(Clone, Copy)]
pub(super) struct F32(pub __m256);
#[derive(Clone, Copy)]
pub(super) struct F64(pub [__m256d; 2]);

const TRUNCATE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

const TWO_32: f64 = (1_u64 << 32) as f64;
const TWO_63: f64 = (1_u64 << 63) as f64;
/// An integer is added to it exactly and stands in the low bits, in two's complement.
const MAGIC: f64 = (3_u64 << 51) as f64;

/// Zero instead of NaN.
#[inline(always)]
unsafe fn number(x: __m256) -> __m256 {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_ORD_Q>(x, x)) }
}

/// Zero instead of NaN.
#[inline(always)]
unsafe fn number_pd(x: __m256d) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_and_pd(x, _mm256_cmp_pd::<_CMP_ORD_Q>(x, x)) }
}

/// Modulo 2^32, if the number has no fraction or is less than half of that. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo(x: __m256) -> __m256 {
    const M: f32 = (1_u64 << 32) as f32;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let multiple = _mm256_round_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(1.0 / M)));
        _mm256_fnmadd_ps(multiple, _mm256_set1_ps(M), x)
    }
}

/// Modulo 2^32, of a number without fraction. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo_pd(x: __m256d) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let multiple = _mm256_round_pd::<NEAREST>(_mm256_mul_pd(x, _mm256_set1_pd(1.0 / TWO_32)));
        _mm256_fnmadd_pd(multiple, _mm256_set1_pd(TWO_32), x)
    }
}

#[inline(always)]
unsafe fn join(low: __m128i, high: __m128i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_set_m128i(high, low) }
}

impl F32 {
    /// Int32 with the low 16 bits, or to be saturated to as many.
    #[inline(always)]
    unsafe fn narrow<const SATURATE: bool>(self) -> __m256i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            if SATURATE {
                _mm256_cvttps_epi32(_mm256_min_ps(number(self.0), _mm256_set1_ps(65535.0)))
            } else {
                _mm256_cvttps_epi32(modulo(self.0))
            }
        }
    }
}

impl Lanes for F32 {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [F32; 2]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_16::<SATURATE, SIGNED>(x[0].narrow::<SATURATE>(), x[1].narrow::<SATURATE>()) }
    }
    #[inline(always)]
    unsafe fn int8<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(x: [F32; 4]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].narrow::<SATURATE>(), x[1].narrow::<SATURATE>()];
            let [c, d] = [x[2].narrow::<SATURATE>(), x[3].narrow::<SATURATE>()];
            pack_8::<BITS, SATURATE, SIGNED>([a, b, c, d])
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        const HALF: f32 = (1_u32 << 31) as f32;
        // SAFETY: the caller's promise.
        unsafe {
            if !SATURATE {
                return _mm256_cvttps_epi32(number(modulo(self.0)));
            }
            let half = _mm256_set1_ps(HALF);
            if SIGNED {
                let above = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(self.0, half));
                // From the lowest integer to the highest.
                return _mm256_xor_si256(_mm256_cvttps_epi32(number(self.0)), above);
            }
            // From 2^31 on the bit of that is what the conversion gives, and the others are the mantissa.
            let x = _mm256_max_ps(self.0, _mm256_setzero_ps());
            let low = _mm256_cvttps_epi32(x);
            let large = _mm256_or_si256(low, _mm256_slli_epi32::<8>(_mm256_castps_si256(x)));
            let select = _mm256_castsi256_ps(low);
            let int = _mm256_blendv_ps(select, _mm256_castsi256_ps(large), select);
            let int = _mm256_castps_si256(int);
            let above = _mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(2.0 * HALF));
            _mm256_or_si256(int, _mm256_castps_si256(above))
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self) -> [__m256i; 2] {
        // SAFETY: the caller's promise.
        unsafe { F64(self.f64()).int64::<SATURATE, SIGNED>() }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        self.0
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        // SAFETY: the caller's promise. The conversions of floats make NaN quiet and keep the rest of it.
        unsafe {
            [
                _mm256_cvtps_pd(_mm256_castps256_ps128(self.0)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)),
            ]
        }
    }
}

/// The low 32 bits of the truncated value, those of -2^31 if it is infinite or NaN.
#[inline(always)]
unsafe fn f64_low(x: __m256d) -> __m128i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_cvttpd_epi32(modulo_pd(_mm256_round_pd::<TRUNCATE>(x))) }
}

/// The low 32 bits of the truncated value.
#[inline(always)]
unsafe fn f64_to_low(x: __m256d) -> __m128i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_cvttpd_epi32(number_pd(modulo_pd(_mm256_round_pd::<TRUNCATE>(x)))) }
}

/// Clamped to int32, NaN as 0.
#[inline(always)]
unsafe fn f64_to_int32(x: __m256d) -> __m128i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_cvttpd_epi32(_mm256_min_pd(number_pd(x), _mm256_set1_pd(i32::MAX as f64))) }
}

/// Clamped to uint32 and in the low halves, NaN as 0.
#[inline(always)]
unsafe fn f64_to_uint32(x: __m256d) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let x = _mm256_max_pd(x, _mm256_setzero_pd());
        let x = _mm256_round_pd::<TRUNCATE>(_mm256_min_pd(x, _mm256_set1_pd(u32::MAX as f64)));
        _mm256_castpd_si256(_mm256_add_pd(x, _mm256_set1_pd(MAGIC)))
    }
}

/// Any float64 to int64 or uint64.
#[inline(always)]
unsafe fn f64_to_int64<const SATURATE: bool, const SIGNED: bool>(x: __m256d) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if SATURATE {
            // The maximum of NaN and the low end is the low end.
            _mm256_max_pd(number_pd(x), _mm256_set1_pd(if SIGNED { -TWO_63 } else { 0.0 }))
        } else {
            x
        };
        let whole = _mm256_round_pd::<TRUNCATE>(x);
        let high = _mm256_round_pd::<FLOOR>(_mm256_mul_pd(whole, _mm256_set1_pd(1.0 / TWO_32)));
        let low = _mm256_fnmadd_pd(high, _mm256_set1_pd(TWO_32), whole);
        let high = if SATURATE { high } else { modulo_pd(high) };
        let high = _mm256_slli_epi64::<32>(_mm256_castpd_si256(_mm256_add_pd(high, magic)));
        let low_bits = _mm256_castpd_si256(_mm256_add_pd(low, magic));
        let int = _mm256_blend_epi32::<0b0101_0101>(high, low_bits);
        if !SATURATE {
            // Infinite less infinite is NaN too.
            return _mm256_and_si256(int, _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_ORD_Q>(low, low)));
        }
        let end = if SIGNED { TWO_63 } else { 2.0 * TWO_63 };
        let above = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GE_OQ>(x, _mm256_set1_pd(end)));
        let max = if SIGNED { i64::MAX } else { -1 };
        _mm256_blendv_epi8(int, _mm256_set1_epi64x(max), above)
    }
}

/// Float64 of less than 2^51 in magnitude.
#[inline(always)]
unsafe fn f64_to_short<const CLAMP: bool>(x: __m256d) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if CLAMP { _mm256_max_pd(x, _mm256_setzero_pd()) } else { x };
        let sum = _mm256_castpd_si256(_mm256_add_pd(_mm256_round_pd::<TRUNCATE>(x), magic));
        _mm256_sub_epi64(sum, _mm256_castpd_si256(magic))
    }
}

impl F64 {
    /// Int32 with the low 16 bits, or to be saturated to as many.
    #[inline(always)]
    unsafe fn narrow<const SATURATE: bool>(self) -> __m256i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            if SATURATE {
                join(f64_to_int32(self.0[0]), f64_to_int32(self.0[1]))
            } else {
                join(f64_low(self.0[0]), f64_low(self.0[1]))
            }
        }
    }
}

impl Lanes for F64 {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [F64; 2]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_16::<SATURATE, SIGNED>(x[0].narrow::<SATURATE>(), x[1].narrow::<SATURATE>()) }
    }
    #[inline(always)]
    unsafe fn int8<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(x: [F64; 4]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].narrow::<SATURATE>(), x[1].narrow::<SATURATE>()];
            let [c, d] = [x[2].narrow::<SATURATE>(), x[3].narrow::<SATURATE>()];
            pack_8::<BITS, SATURATE, SIGNED>([a, b, c, d])
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => join(f64_to_low(self.0[0]), f64_to_low(self.0[1])),
                (true, true) => self.narrow::<true>(),
                (true, false) => even_32(f64_to_uint32(self.0[0]), f64_to_uint32(self.0[1])),
            }
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self) -> [__m256i; 2] {
        const SHORT: f64 = (1_u64 << 51) as f64;
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = self.0;
            let sign = _mm256_set1_pd(-0.0);
            let short = |x| _mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_andnot_pd(sign, x), _mm256_set1_pd(SHORT));
            if _mm256_movemask_pd(_mm256_and_pd(short(a), short(b))) == 0b1111 {
                if SATURATE && !SIGNED {
                    [f64_to_short::<true>(a), f64_to_short::<true>(b)]
                } else {
                    [f64_to_short::<false>(a), f64_to_short::<false>(b)]
                }
            } else {
                [f64_to_int64::<SATURATE, SIGNED>(a), f64_to_int64::<SATURATE, SIGNED>(b)]
            }
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set_m128(_mm256_cvtpd_ps(self.0[1]), _mm256_cvtpd_ps(self.0[0])) }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        self.0
    }
}

//! Lanes of float32 and float64.
//!
//! **Float to integer, wrapping**: the result is the low bits of the truncated value. The kernel subtracts the nearest multiple of 2^32 from the
//! truncated value, `x - round(x / m) * m`. The difference is exact, and its magnitude is at most `m / 2`. `m / 2` itself is too large by one
//! for the conversion, which returns the bits of `-m / 2`: they are right in all bits that are kept. The conversion returns the same bits for
//! NaN, and infinity has become NaN; both are zeroed if the target keeps that bit.
//!
//! **To 64 bits** there is no instruction. Adding 1.5 * 2^52 to a float64 of less than 2^51 in magnitude puts its integer into the low bits. If
//! all values of a unit are below 2^51, that is all; otherwise each value is split into two halves of 32 bits, which are below it.
//!
//! **Saturating**: values that are too large are clamped before the conversion, or replaced afterwards. The conversion gives the lowest integer
//! for everything out of range, which is right for values that are too small. NaN is masked away.
//!
//! **Rounding** (`R`): integers are rounded in the direction of the environment, by the conversions that do not truncate. For ties away from
//! zero, a half is added first and the environment rounds toward zero. Clamped values and subtracted multiples have no fraction, so clamping and
//! subtracting may come first. All other steps are exact. Floats with ties away: see [`past_tie`]. Floats to odd: the last bit is set if the
//! float, converted back, differs from the source.

use super::{
    targets::{pack_8, pack_16},
    units::{Lanes, even_32},
};
use crate::arch::x86::intrinsics::*;
use crate::vector::style::Common;
use crate::vector::style::Mode;
use crate::vector::style::RoundingMode;
use crate::{arch::x86::env, format::data::Data};
use core::marker::PhantomData;

#[derive(Clone, Copy)]
pub(super) struct F32<R: RoundingMode>(pub __m256, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct F64<R: RoundingMode>(pub [__m256d; 2], pub PhantomData<R>);

const TRUNCATE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// Rounds as the environment says.
const CURRENT: i32 = _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC;

const TWO_32: f64 = (1_u64 << 32) as f64;
const TWO_63: f64 = (1_u64 << 63) as f64;
/// Adding an integer to this number is exact and puts the integer into the low bits, in two's complement.
const MAGIC: f64 = (3_u64 << 51) as f64;

/// A conversion to int32: `$truncate` or, in the direction of the environment, `$round`.
macro_rules! convert {
    ($truncate:ident env::$round:ident ($x:expr)) => {
        if R::MODE == Mode::Common { $truncate($x) } else { env::$round($x) }
    };
}

/// Prepares a conversion to integers: adds a half if ties go away from zero.
#[inline(always)]
unsafe fn aside<R: RoundingMode>(x: __m256, data: &Data) -> __m256 {
    if R::MODE == Mode::Common {
        return x;
    }
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let half = _mm256_set1_ps(f32::from_bits(data.rounding.half));
        env::_mm256_add_ps(x, _mm256_or_ps(half, _mm256_and_ps(x, _mm256_set1_ps(-0.0))))
    }
}

/// Prepares a conversion to integers: adds a half if ties go away from zero.
#[inline(always)]
unsafe fn aside_pd<R: RoundingMode>(x: __m256d, data: &Data) -> __m256d {
    if R::MODE == Mode::Common {
        return x;
    }
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let half = _mm256_set1_pd(f32::from_bits(data.rounding.half).into());
        env::_mm256_add_pd(x, _mm256_or_pd(half, _mm256_and_pd(x, _mm256_set1_pd(-0.0))))
    }
}

/// Removes the fraction.
#[inline(always)]
unsafe fn whole<R: RoundingMode>(x: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        if R::MODE == Mode::Common {
            _mm256_round_pd::<TRUNCATE>(x)
        } else {
            env::_mm256_round_pd::<CURRENT>(x)
        }
    }
}

/// Replaces NaN by zero.
#[inline(always)]
unsafe fn number(x: __m256) -> __m256 {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_ORD_Q>(x, x)) }
}

/// Replaces NaN by zero.
#[inline(always)]
unsafe fn number_pd(x: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_and_pd(x, _mm256_cmp_pd::<_CMP_ORD_Q>(x, x)) }
}

/// Reduces modulo 2^32, if the number has no fraction or is less than 2^31. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo(x: __m256) -> __m256 {
    const M: f32 = (1_u64 << 32) as f32;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let multiple = _mm256_round_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(1.0 / M)));
        _mm256_fnmadd_ps(multiple, _mm256_set1_ps(M), x)
    }
}

/// Reduces a number without a fraction modulo 2^32. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo_pd(x: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let multiple = _mm256_round_pd::<NEAREST>(_mm256_mul_pd(x, _mm256_set1_pd(1.0 / TWO_32)));
        _mm256_fnmadd_pd(multiple, _mm256_set1_pd(TWO_32), x)
    }
}

#[inline(always)]
unsafe fn join(low: __m128i, high: __m128i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_set_m128i(high, low) }
}

impl<R: RoundingMode> F32<R> {
    /// Int32 whose low 8 or 16 bits (`BITS`) are the result, or that saturates to them.
    #[inline(always)]
    unsafe fn narrow<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(
        self,
        data: &Data,
    ) -> __m256i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            let x = aside::<R>(self.0, data);
            let max = _mm256_set1_ps(65535.0);
            let x = match (SATURATE, SIGNED) {
                (true, true) => _mm256_min_ps(number(x), max),
                // NaN stays and becomes the lowest integer.
                (true, false) => _mm256_min_ps(max, x),
                // All numbers out of range of int32 are multiples of 2^8.
                (false, _) if BITS == 8 => x,
                (false, _) => modulo(x),
            };
            convert!(_mm256_cvttps_epi32 env::_mm256_cvtps_epi32(x))
        }
    }
}

impl<R: RoundingMode> Lanes for F32<R> {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], data: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            pack_16::<SATURATE, SIGNED>(
                x[0].narrow::<16, SATURATE, SIGNED>(data),
                x[1].narrow::<16, SATURATE, SIGNED>(data),
            )
        }
    }
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].narrow::<8, SATURATE, SIGNED>(data), x[1].narrow::<8, SATURATE, SIGNED>(data)];
            let [c, d] = [x[2].narrow::<8, SATURATE, SIGNED>(data), x[3].narrow::<8, SATURATE, SIGNED>(data)];
            pack_8::<SATURATE, SIGNED, NARROW>([a, b, c, d], data)
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m256i {
        const HALF: f32 = (1_u32 << 31) as f32;
        // SAFETY: the caller's promise.
        unsafe {
            let x = aside::<R>(self.0, data);
            if !SATURATE {
                let x = number(modulo(x));
                return convert!(_mm256_cvttps_epi32 env::_mm256_cvtps_epi32(x));
            }
            let half = _mm256_set1_ps(HALF);
            if SIGNED {
                let above = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(x, half));
                let x = number(x);
                // Turns the lowest integer into the highest.
                return _mm256_xor_si256(convert!(_mm256_cvttps_epi32 env::_mm256_cvtps_epi32(x)), above);
            }
            // From 2^31 on, the conversion returns that bit, and the mantissa has the other bits.
            let x = _mm256_max_ps(x, _mm256_setzero_ps());
            let low = convert!(_mm256_cvttps_epi32 env::_mm256_cvtps_epi32(x));
            let large = _mm256_or_si256(low, _mm256_slli_epi32::<8>(_mm256_castps_si256(x)));
            let select = _mm256_castsi256_ps(low);
            let int = _mm256_blendv_ps(select, _mm256_castsi256_ps(large), select);
            let int = _mm256_castps_si256(int);
            let above = _mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(2.0 * HALF));
            _mm256_or_si256(int, _mm256_castps_si256(above))
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> [__m256i; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0);
            // False for NaN. The conversion may still add a half.
            let long = _mm256_cmp_ps::<_CMP_GE_OQ>(magnitude, _mm256_set1_ps(SHORT as f32 / 2.0));
            if _mm256_movemask_ps(long) != 0 {
                return F64::<R>(self.f64(), PhantomData).aside(data).long::<SATURATE, SIGNED>();
            }
            // Clamping turns NaN into zero.
            let numbers = if SATURATE && !SIGNED { self.0 } else { number(self.0) };
            F64::<R>(F32::<R>(numbers, PhantomData).f64(), PhantomData)
                .aside(data)
                .short::<SATURATE, SIGNED>()
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        self.0
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        // SAFETY: the caller's promise. The conversions of floats make NaN quiet and keep its other bits.
        unsafe {
            [
                _mm256_cvtps_pd(_mm256_castps256_ps128(self.0)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)),
            ]
        }
    }
}

/// The low 32 bits of the truncated or rounded value; the bits of -2^31 if the value is infinite or NaN.
#[inline(always)]
unsafe fn f64_low<R: RoundingMode>(x: __m256d) -> __m128i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_cvttpd_epi32(modulo_pd(whole::<R>(x))) }
}

/// The low 32 bits of the truncated or rounded value.
#[inline(always)]
unsafe fn f64_to_low<R: RoundingMode>(x: __m256d) -> __m128i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm256_cvttpd_epi32(number_pd(modulo_pd(whole::<R>(x)))) }
}

/// Clamps to int32; NaN becomes 0.
#[inline(always)]
unsafe fn f64_to_int32<R: RoundingMode>(x: __m256d) -> __m128i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let x = _mm256_min_pd(number_pd(x), _mm256_set1_pd(i32::MAX as f64));
        convert!(_mm256_cvttpd_epi32 env::_mm256_cvtpd_epi32(x))
    }
}

/// Clamps to uint32, in the low halves of lanes; NaN becomes 0.
#[inline(always)]
unsafe fn f64_to_uint32<R: RoundingMode>(x: __m256d) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let x = _mm256_max_pd(x, _mm256_setzero_pd());
        let x = whole::<R>(_mm256_min_pd(x, _mm256_set1_pd(u32::MAX as f64)));
        _mm256_castpd_si256(_mm256_add_pd(x, _mm256_set1_pd(MAGIC)))
    }
}

/// Converts any float64 to int64 or uint64.
#[inline(always)]
unsafe fn f64_to_int64<R: RoundingMode, const SATURATE: bool, const SIGNED: bool>(x: __m256d) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if SATURATE {
            // The maximum of NaN and the low end is the low end.
            _mm256_max_pd(number_pd(x), _mm256_set1_pd(if SIGNED { -TWO_63 } else { 0.0 }))
        } else {
            x
        };
        let whole = whole::<R>(x);
        let high = _mm256_round_pd::<FLOOR>(_mm256_mul_pd(whole, _mm256_set1_pd(1.0 / TWO_32)));
        let low = _mm256_fnmadd_pd(high, _mm256_set1_pd(TWO_32), whole);
        let high = if SATURATE { high } else { modulo_pd(high) };
        let high = _mm256_slli_epi64::<32>(_mm256_castpd_si256(_mm256_add_pd(high, magic)));
        let low_bits = _mm256_castpd_si256(_mm256_add_pd(low, magic));
        let int = _mm256_blend_epi32::<0b0101_0101>(high, low_bits);
        if !SATURATE {
            // Infinity minus infinity is NaN too.
            return _mm256_and_si256(int, _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_ORD_Q>(low, low)));
        }
        let end = if SIGNED { TWO_63 } else { 2.0 * TWO_63 };
        let above = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_GE_OQ>(x, _mm256_set1_pd(end)));
        let max = if SIGNED { i64::MAX } else { -1 };
        _mm256_blendv_epi8(int, _mm256_set1_epi64x(max), above)
    }
}

/// The least magnitude of float64 that is too large for [`f64_to_short`].
const SHORT: f64 = (1_u64 << 51) as f64;

/// Converts float64 of less than 2^51 in magnitude.
#[inline(always)]
unsafe fn f64_to_short<R: RoundingMode, const CLAMP: bool>(x: __m256d) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if CLAMP { _mm256_max_pd(x, _mm256_setzero_pd()) } else { x };
        let sum = _mm256_castpd_si256(_mm256_add_pd(whole::<R>(x), magic));
        _mm256_sub_epi64(sum, _mm256_castpd_si256(magic))
    }
}

/// Moves float64 that are ties of float32 past the middle, away from zero, by setting the last bit. Zeros, which would become subnormal, and
/// infinities are left out: they are equal to their own doubles.
#[inline(always)]
unsafe fn past_tie(x: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let others = _mm256_cmp_pd::<_CMP_NEQ_OQ>(_mm256_add_pd(x, x), x);
        _mm256_or_pd(x, _mm256_and_pd(others, _mm256_set1_pd(f64::from_bits(1))))
    }
}

impl<R: RoundingMode> F64<R> {
    /// See [`aside_pd`].
    #[inline(always)]
    unsafe fn aside(self, data: &Data) -> Self {
        // SAFETY: as for the methods of `Lanes`.
        unsafe { Self([aside_pd::<R>(self.0[0], data), aside_pd::<R>(self.0[1], data)], PhantomData) }
    }

    /// Int64 or uint64 from values below [`SHORT`]; clamped to uint64, NaN becomes 0.
    #[inline(always)]
    unsafe fn short<const SATURATE: bool, const SIGNED: bool>(self) -> [__m256i; 2] {
        let [a, b] = self.0;
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            if SATURATE && !SIGNED {
                [f64_to_short::<R, true>(a), f64_to_short::<R, true>(b)]
            } else {
                [f64_to_short::<R, false>(a), f64_to_short::<R, false>(b)]
            }
        }
    }

    /// Int64 or uint64 from any values.
    #[inline(always)]
    unsafe fn long<const SATURATE: bool, const SIGNED: bool>(self) -> [__m256i; 2] {
        let [a, b] = self.0;
        // SAFETY: as for the methods of `Lanes`.
        unsafe { [f64_to_int64::<R, SATURATE, SIGNED>(a), f64_to_int64::<R, SATURATE, SIGNED>(b)] }
    }

    /// Int32 whose low 16 bits are the result, or that saturates to 16 bits.
    #[inline(always)]
    unsafe fn narrow<const SATURATE: bool>(self, data: &Data) -> __m256i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            let [a, b] = [aside_pd::<R>(self.0[0], data), aside_pd::<R>(self.0[1], data)];
            if SATURATE {
                join(f64_to_int32::<R>(a), f64_to_int32::<R>(b))
            } else {
                join(f64_low::<R>(a), f64_low::<R>(b))
            }
        }
    }
}

impl<R: RoundingMode> Lanes for F64<R> {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], data: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_16::<SATURATE, SIGNED>(x[0].narrow::<SATURATE>(data), x[1].narrow::<SATURATE>(data)) }
    }
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].narrow::<SATURATE>(data), x[1].narrow::<SATURATE>(data)];
            let [c, d] = [x[2].narrow::<SATURATE>(data), x[3].narrow::<SATURATE>(data)];
            pack_8::<SATURATE, SIGNED, NARROW>([a, b, c, d], data)
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [aside_pd::<R>(self.0[0], data), aside_pd::<R>(self.0[1], data)];
            match (SATURATE, SIGNED) {
                (false, _) => join(f64_to_low::<R>(a), f64_to_low::<R>(b)),
                (true, true) => join(f64_to_int32::<R>(a), f64_to_int32::<R>(b)),
                (true, false) => even_32(f64_to_uint32::<R>(a), f64_to_uint32::<R>(b)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> [__m256i; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            let short = |x| _mm256_cmp_pd::<_CMP_LT_OQ>(_mm256_andnot_pd(sign, x), _mm256_set1_pd(SHORT));
            let [a, b] = self.aside(data).0;
            if _mm256_movemask_pd(_mm256_and_pd(short(a), short(b))) == 0b1111 {
                Self([a, b], PhantomData).short::<SATURATE, SIGNED>()
            } else {
                Self([a, b], PhantomData).long::<SATURATE, SIGNED>()
            }
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = self.0;
            if R::MODE == Mode::Away {
                return _mm256_set_m128(_mm256_cvtpd_ps(past_tie(b)), _mm256_cvtpd_ps(past_tie(a)));
            }
            if R::MODE == Mode::Common {
                return _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
            }
            let value = _mm256_set_m128(env::_mm256_cvtpd_ps(b), env::_mm256_cvtpd_ps(a));
            if R::MODE == Mode::Odd {
                let [low, high] = F32::<Common>(value, PhantomData).f64();
                let lost = [_mm256_cmp_pd::<_CMP_NEQ_OQ>(low, a), _mm256_cmp_pd::<_CMP_NEQ_OQ>(high, b)];
                let lost = even_32(_mm256_castpd_si256(lost[0]), _mm256_castpd_si256(lost[1]));
                let one = _mm256_and_si256(lost, _mm256_set1_epi32(1));
                return _mm256_or_ps(value, _mm256_castsi256_ps(one));
            }
            value
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        self.0
    }
}

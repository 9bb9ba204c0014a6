//! Sixteen elements in registers, by kind, and the results that each kind becomes.
//!
//! **Float to integer, wrapping**: the result is the low bits of the truncated value. A float32 of 2^31 and more, or a float64 of 2^63 and more,
//! has no fraction, so the kernel may subtract a multiple of 2^32 (2^64) before it truncates: the nearest one, `x - round(x / m) * m`. The
//! difference is exact, and its magnitude is at most `m / 2`. If the multiple is zero, `x` stays the same. `m / 2` itself is too large by one
//! for the conversion, which returns the bits of `-m / 2`: they are right in all bits that are kept. The conversion returns the same bits for
//! NaN, and infinity has become NaN; both are zeroed if the target keeps that bit.
//!
//! **Saturating**: a maximum turns negative numbers and NaN into zero, and then the conversion to unsigned integers returns all ones for values
//! that are too large. The conversion to signed integers returns the lowest integer for everything out of range. So values that are too large
//! are clamped before it, or replaced afterwards, and NaN is masked away.
//!
//! **Rounding** (`R`): integers are rounded in the direction of the environment, by the conversions that do not truncate. For ties away from
//! zero, a half is added first and the environment rounds toward zero. Clamped values and subtracted multiples have no fraction, so clamping and
//! subtracting may come first. Floats are rounded in the direction of the environment; to odd and with ties away, see [`f64_to_f32`] and `ints`.

use super::units::store_32;
use crate::arch::x86::intrinsics::*;
use crate::vector::style::Mode;
use crate::vector::style::RoundingMode;
use crate::{arch::x86::env, format::data::Data};
use core::marker::PhantomData;

/// What a kind of lanes becomes; only the methods that `kernel` uses for it are defined.
///
/// # Safety
///
/// For every method: the CPU has the tier, and the floating-point environment is the one that the rounding mode requires.
pub(super) trait Lanes: Copy {
    /// Bytes: the low 8 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m128i {
        never::<Self, _>()
    }
    /// The low 16 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m256i {
        never::<Self, _>()
    }
    /// The low 32 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m512i {
        never::<Self, _>()
    }
    /// The low 64 bits, or the saturated value.
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> [__m512i; 2] {
        never::<Self, _>()
    }
    /// The lanes as float32.
    #[inline(always)]
    unsafe fn f32(self) -> __m512 {
        never::<Self, _>()
    }
    /// The lanes as float64.
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        never::<Self, _>()
    }
    /// The mask of lanes that are not zero, of either sign.
    #[inline(always)]
    unsafe fn nonzero(self) -> __mmask16 {
        never::<Self, _>()
    }
    /// Stores float32: all, or if `PART`, the first `n`.
    #[inline(always)]
    unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise is the same.
        unsafe { store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n) }
    }
}

/// The body of a method that no kernel uses for a kind of lanes: using it does not compile.
fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "`kernel` asks for a pair that has no method") };
    unreachable!()
}

#[derive(Clone, Copy)]
pub(super) struct F32<R: RoundingMode>(pub __m512, pub PhantomData<R>);
/// Float32 that will be widened.
#[derive(Clone, Copy)]
pub(super) struct Halves<R: RoundingMode>(pub [__m256; 2], pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct F64<R: RoundingMode>(pub [__m512d; 2], pub PhantomData<R>);

#[inline(always)]
pub(super) unsafe fn join(low: __m256i, high: __m256i) -> __m512i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
}

/// Rounds to nearest whatever the environment says.
pub(super) const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// Reduces modulo 2^32, if the number has no fraction or is less than 2^31. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo_f32(x: __m512) -> __m512 {
    const M: f32 = (1_u64 << 32) as f32;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let multiple = _mm512_roundscale_ps::<NEAREST>(_mm512_mul_ps(x, _mm512_set1_ps(1.0 / M)));
        _mm512_fnmadd_ps(multiple, _mm512_set1_ps(M), x)
    }
}

/// Reduces modulo 2^64, as [`modulo_f32`].
#[inline(always)]
unsafe fn modulo_f64(x: __m512d) -> __m512d {
    const M: f64 = (1_u128 << 64) as f64;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let multiple = _mm512_roundscale_pd::<NEAREST>(_mm512_mul_pd(x, _mm512_set1_pd(1.0 / M)));
        _mm512_fnmadd_pd(multiple, _mm512_set1_pd(M), x)
    }
}

/// A conversion to integers: `$truncate` or, in the direction of the environment, `$round`.
macro_rules! convert {
    ($truncate:ident env::$round:ident ($($argument:expr),*)) => {
        if R::MODE == Mode::Common { $truncate($($argument),*) } else { env::$round($($argument),*) }
    };
}

/// Prepares a conversion to integers: adds a half if ties go away from zero.
#[inline(always)]
pub(super) unsafe fn aside_ps<R: RoundingMode>(x: __m512, data: &Data) -> __m512 {
    if R::MODE == Mode::Common {
        return x;
    }
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let half = _mm512_set1_ps(f32::from_bits(data.rounding.half));
        env::_mm512_add_ps(x, _mm512_or_ps(half, _mm512_and_ps(x, _mm512_set1_ps(-0.0))))
    }
}

/// Prepares a conversion to integers: adds a half if ties go away from zero.
#[inline(always)]
unsafe fn aside_pd<R: RoundingMode>(x: __m512d, data: &Data) -> __m512d {
    if R::MODE == Mode::Common {
        return x;
    }
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let half = _mm512_set1_pd(f32::from_bits(data.rounding.half).into());
        env::_mm512_add_pd(x, _mm512_or_pd(half, _mm512_and_pd(x, _mm512_set1_pd(-0.0))))
    }
}

impl<R: RoundingMode> F32<R> {
    /// Truncates or rounds, and clamps to int32, at most `max`, or to uint32 regardless of `max`; NaN becomes 0.
    #[inline(always)]
    pub(super) unsafe fn clamped<const SIGNED: bool>(self, max: f32, data: &Data) -> __m512i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            let x = aside_ps::<R>(self.0, data);
            if SIGNED {
                let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(x, x);
                let x = _mm512_min_ps(x, _mm512_set1_ps(max));
                convert!(_mm512_maskz_cvttps_epi32 env::_mm512_maskz_cvtps_epi32(number, x))
            } else {
                let x = _mm512_max_ps(x, _mm512_setzero_ps());
                convert!(_mm512_cvttps_epu32 env::_mm512_cvtps_epu32(x))
            }
        }
    }
    /// Truncates or rounds; the lowest integer if the value is out of range.
    #[inline(always)]
    unsafe fn low(x: __m512) -> __m512i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe { convert!(_mm512_cvttps_epi32 env::_mm512_cvtps_epi32(x)) }
    }
}

impl<R: RoundingMode> Lanes for F32<R> {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                // All numbers out of range of int32 are multiples of 2^8.
                (false, _) => _mm512_cvtepi32_epi8(Self::low(aside_ps::<R>(self.0, data))),
                (true, true) => _mm512_cvtsepi32_epi8(self.clamped::<SIGNED>(127.0, data)),
                (true, false) => _mm512_cvtusepi32_epi8(self.clamped::<SIGNED>(255.0, data)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi16(Self::low(modulo_f32(aside_ps::<R>(self.0, data)))),
                (true, true) => _mm512_cvtsepi32_epi16(self.clamped::<SIGNED>(32767.0, data)),
                (true, false) => _mm512_cvtusepi32_epi16(self.clamped::<SIGNED>(65535.0, data)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m512i {
        const ABOVE: f32 = (1_u32 << 31) as f32;
        // SAFETY: the caller's promise.
        unsafe {
            if !SATURATE {
                let x = modulo_f32(aside_ps::<R>(self.0, data));
                let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(x, x);
                return convert!(_mm512_maskz_cvttps_epi32 env::_mm512_maskz_cvtps_epi32(number, x));
            }
            let int = self.clamped::<SIGNED>(ABOVE, data);
            if !SIGNED {
                return int;
            }
            let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, _mm512_set1_ps(ABOVE));
            _mm512_mask_mov_epi32(int, above, _mm512_set1_epi32(i32::MAX))
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m512 {
        self.0
    }
    #[inline(always)]
    unsafe fn nonzero(self) -> __mmask16 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_test_epi32_mask(_mm512_castps_si512(self.0), _mm512_set1_epi32(i32::MAX)) }
    }
}

impl<R: RoundingMode> Lanes for Halves<R> {
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> [__m512i; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            [
                f32_to_int64::<R, SATURATE, SIGNED>(self.0[0], data),
                f32_to_int64::<R, SATURATE, SIGNED>(self.0[1], data),
            ]
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        // SAFETY: the caller's promise. The conversions of floats make NaN quiet and keep its other bits.
        unsafe { [_mm512_cvtps_pd(self.0[0]), _mm512_cvtps_pd(self.0[1])] }
    }
}

/// Converts eight lanes.
#[inline(always)]
unsafe fn f32_to_int64<R: RoundingMode, const SATURATE: bool, const SIGNED: bool>(
    x: __m256,
    data: &Data,
) -> __m512i {
    const ABOVE: f32 = (1_u64 << 63) as f32;
    const M: f32 = (1_u128 << 64) as f32;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let mut x = x;
        if R::MODE != Mode::Common {
            let half = _mm256_set1_ps(f32::from_bits(data.rounding.half));
            x = env::_mm256_add_ps(x, _mm256_or_ps(half, _mm256_and_ps(x, _mm256_set1_ps(-0.0))));
        }
        if SATURATE && !SIGNED {
            let x = _mm256_max_ps(x, _mm256_setzero_ps());
            return convert!(_mm512_cvttps_epu64 env::_mm512_cvtps_epu64(x));
        }
        if !SATURATE {
            let multiple = _mm256_roundscale_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(1.0 / M)));
            x = _mm256_fnmadd_ps(multiple, _mm256_set1_ps(M), x);
        }
        let number = _mm256_cmp_ps_mask::<_CMP_ORD_Q>(x, x);
        let int = convert!(_mm512_maskz_cvttps_epi64 env::_mm512_maskz_cvtps_epi64(number, x));
        if !SATURATE {
            return int;
        }
        let above = _mm256_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm256_set1_ps(ABOVE));
        _mm512_mask_mov_epi64(int, above, _mm512_set1_epi64(i64::MAX))
    }
}

/// Truncates or rounds, and clamps to int32 or uint32; NaN becomes 0.
#[inline(always)]
unsafe fn clamp_f64<R: RoundingMode, const SIGNED: bool>(x: __m512d, data: &Data) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let x = aside_pd::<R>(x, data);
        if SIGNED {
            let number = _mm512_cmp_pd_mask::<_CMP_ORD_Q>(x, x);
            let x = _mm512_min_pd(x, _mm512_set1_pd(i32::MAX as f64));
            convert!(_mm512_maskz_cvttpd_epi32 env::_mm512_maskz_cvtpd_epi32(number, x))
        } else {
            let x = _mm512_max_pd(x, _mm512_setzero_pd());
            convert!(_mm512_cvttpd_epu32 env::_mm512_cvtpd_epu32(x))
        }
    }
}

#[inline(always)]
unsafe fn f64_to_int64<R: RoundingMode, const SATURATE: bool, const SIGNED: bool>(
    x: __m512d,
    data: &Data,
) -> __m512i {
    const ABOVE: f64 = (1_u64 << 63) as f64;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let x = aside_pd::<R>(x, data);
        if SATURATE && !SIGNED {
            let x = _mm512_max_pd(x, _mm512_setzero_pd());
            return convert!(_mm512_cvttpd_epu64 env::_mm512_cvtpd_epu64(x));
        }
        let x = if SATURATE { x } else { modulo_f64(x) };
        let number = _mm512_cmp_pd_mask::<_CMP_ORD_Q>(x, x);
        let int = convert!(_mm512_maskz_cvttpd_epi64 env::_mm512_maskz_cvtpd_epi64(number, x));
        if !SATURATE {
            return int;
        }
        let above = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, _mm512_set1_pd(ABOVE));
        _mm512_mask_mov_epi64(int, above, _mm512_set1_epi64(i64::MAX))
    }
}

/// Converts eight lanes. To round to nearest with ties away, setting the last bit moves a tie past the middle; zeros, which would become
/// subnormal, and infinities are left out.
#[inline(always)]
unsafe fn f64_to_f32<R: RoundingMode>(x: __m512d) -> __m256 {
    const ZERO_OR_INFINITE: i32 = 0x1E;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        if R::MODE == Mode::Away {
            let others = !_mm512_fpclass_pd_mask::<ZERO_OR_INFINITE>(x);
            let bits = _mm512_castpd_si512(x);
            let past = _mm512_mask_or_epi64(bits, others, bits, _mm512_set1_epi64(1));
            return _mm512_cvtpd_ps(_mm512_castsi512_pd(past));
        }
        if R::MODE == Mode::Common {
            return _mm512_cvtpd_ps(x);
        }
        let value = env::_mm512_cvtpd_ps(x);
        if R::MODE == Mode::Odd {
            let lost = _mm512_cmp_pd_mask::<_CMP_NEQ_OQ>(_mm512_cvtps_pd(value), x);
            let bits = _mm256_castps_si256(value);
            let odd = _mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1));
            return _mm256_castsi256_ps(odd);
        }
        value
    }
}

impl<R: RoundingMode> F64<R> {
    /// Truncates or rounds, and clamps to int32 or uint32; NaN becomes 0.
    #[inline(always)]
    unsafe fn clamped<const SIGNED: bool>(self, data: &Data) -> __m512i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            let [a, b] = self.0;
            join(clamp_f64::<R, SIGNED>(a, data), clamp_f64::<R, SIGNED>(b, data))
        }
    }
    /// The low 32 bits, truncated or rounded.
    #[inline(always)]
    unsafe fn low(self, data: &Data) -> __m512i {
        // SAFETY: as for the methods of `Lanes`.
        unsafe {
            let [a, b] =
                [modulo_f64(aside_pd::<R>(self.0[0], data)), modulo_f64(aside_pd::<R>(self.0[1], data))];
            let [a, b] = [
                convert!(_mm512_cvttpd_epi64 env::_mm512_cvtpd_epi64(a)),
                convert!(_mm512_cvttpd_epi64 env::_mm512_cvtpd_epi64(b)),
            ];
            join(_mm512_cvtepi64_epi32(a), _mm512_cvtepi64_epi32(b))
        }
    }
}

impl<R: RoundingMode> Lanes for F64<R> {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi8(self.low(data)),
                (true, true) => _mm512_cvtsepi32_epi8(self.clamped::<SIGNED>(data)),
                (true, false) => _mm512_cvtusepi32_epi8(self.clamped::<SIGNED>(data)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi16(self.low(data)),
                (true, true) => _mm512_cvtsepi32_epi16(self.clamped::<SIGNED>(data)),
                (true, false) => _mm512_cvtusepi32_epi16(self.clamped::<SIGNED>(data)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { self.clamped::<SIGNED>(data) } else { self.low(data) } }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, data: &Data) -> [__m512i; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            [
                f64_to_int64::<R, SATURATE, SIGNED>(self.0[0], data),
                f64_to_int64::<R, SATURATE, SIGNED>(self.0[1], data),
            ]
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [f64_to_f32::<R>(self.0[0]), f64_to_f32::<R>(self.0[1])];
            _mm512_castsi512_ps(join(_mm256_castps_si256(a), _mm256_castps_si256(b)))
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        self.0
    }
    /// Stores each half on its own: joining the halves takes the execution unit that the conversion needs.
    #[inline(always)]
    unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if PART {
                store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n);
            } else {
                _mm256_storeu_ps(dst.cast(), f64_to_f32::<R>(self.0[0]));
                _mm256_storeu_ps(dst.add(32).cast(), f64_to_f32::<R>(self.0[1]));
            }
        }
    }
}

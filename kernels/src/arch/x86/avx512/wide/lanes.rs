//! Sixteen elements in registers, by kind, and what each kind becomes.
//!
//! **Float to integer, wrapping**: the low bits of the truncated value. A float32 of 2^31 and more, or a float64 of 2^63
//! and more, has no fraction, so a multiple of 2^32 (2^64) may be taken away from it before it is truncated: the nearest
//! one, `x - round(x / m) * m`, which leaves at most `m / 2` in magnitude, exactly. Where nothing is to be taken away `x`
//! stays what it is. `m / 2` itself is one too many for the conversion, which answers with the bits of `-m / 2`: right in all
//! bits that are kept. It answers the same for NaN, and that is what infinity has become; those are zeroed if the target
//! keeps that bit.
//!
//! **Saturating**: the conversion to unsigned integers gives all ones for what is too large, after negative numbers and NaN
//! were made zero by a maximum. The one to signed integers gives the lowest integer for everything out of range; so what is too large
//! is clamped before, or replaced afterwards, and NaN is masked away.

use super::{targets::store_32, *};

/// What a kind of lanes becomes, as far as `kernel` asks it.
///
/// # Safety
///
/// Of every method: the CPU has the tier, and the floating-point environment is the default.
pub(super) trait Lanes: Copy {
    /// Bytes: the low 8 bits, or saturated.
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self) -> __m128i {
        never::<Self, _>()
    }
    /// The low 16 bits, or saturated.
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        never::<Self, _>()
    }
    /// The low 32 bits, or saturated.
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m512i {
        never::<Self, _>()
    }
    /// The low 64 bits, or saturated.
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self) -> [__m512i; 2] {
        never::<Self, _>()
    }
    /// Float32, nearest.
    #[inline(always)]
    unsafe fn f32(self) -> __m512 {
        never::<Self, _>()
    }
    /// Float64, nearest.
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        never::<Self, _>()
    }
    /// Which are not zero, of either sign.
    #[inline(always)]
    unsafe fn nonzero(self) -> __mmask16 {
        never::<Self, _>()
    }
    /// Stores float32, nearest: all, or if `PART`, the first `n`.
    #[inline(always)]
    unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
        // SAFETY: as the caller's.
        unsafe { store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n) }
    }
}

/// The body of a method that is not asked of a kind of lanes: using it does not compile.
fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "`kernel` asks for a pair that has no method") };
    unreachable!()
}

#[derive(Clone, Copy)]
pub(super) struct F32(pub __m512);
/// Float32 to be widened.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub [__m256; 2]);
#[derive(Clone, Copy)]
pub(super) struct F64(pub [__m512d; 2]);

#[derive(Clone, Copy)]
pub(super) struct I32(pub __m512i);
#[derive(Clone, Copy)]
pub(super) struct U32(pub __m512i);
#[derive(Clone, Copy)]
pub(super) struct I64(pub [__m512i; 2]);
#[derive(Clone, Copy)]
pub(super) struct U64(pub [__m512i; 2]);

/// To nearest and without exceptions, whatever the environment says.
const ROUND: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

macro_rules! from_32 {
    ($($lanes:ident, $to_f32:ident;)*) => {$(
        impl Lanes for $lanes {
            #[inline(always)]
            unsafe fn f32(self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe { $to_f32::<ROUND>(self.0) }
            }
        }
    )*};
}
from_32! { I32, _mm512_cvt_roundepi32_ps; U32, _mm512_cvt_roundepu32_ps; }

macro_rules! from_64 {
    ($($lanes:ident, $to_f32:ident, $to_f64:ident;)*) => {$(
        impl Lanes for $lanes {
            #[inline(always)]
            unsafe fn f32(self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe {
                    let [a, b] = [$to_f32::<ROUND>(self.0[0]), $to_f32::<ROUND>(self.0[1])];
                    _mm512_castsi512_ps(join(_mm256_castps_si256(a), _mm256_castps_si256(b)))
                }
            }
            #[inline(always)]
            unsafe fn f64(self) -> [__m512d; 2] {
                // SAFETY: the caller's promise.
                unsafe { [$to_f64::<ROUND>(self.0[0]), $to_f64::<ROUND>(self.0[1])] }
            }
            #[inline(always)]
            unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
                // SAFETY: the caller's promise.
                unsafe {
                    if PART {
                        store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n);
                    } else {
                        _mm256_storeu_ps(dst.cast(), $to_f32::<ROUND>(self.0[0]));
                        _mm256_storeu_ps(dst.add(32).cast(), $to_f32::<ROUND>(self.0[1]));
                    }
                }
            }
        }
    )*};
}
from_64! {
    I64, _mm512_cvt_roundepi64_ps, _mm512_cvt_roundepi64_pd;
    U64, _mm512_cvt_roundepu64_ps, _mm512_cvt_roundepu64_pd;
}

#[inline(always)]
unsafe fn join(low: __m256i, high: __m256i) -> __m512i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
}

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

/// Modulo 2^32, if the number has no fraction or is less than half of that. Infinity becomes NaN.
#[inline(always)]
unsafe fn modulo_f32(x: __m512) -> __m512 {
    const M: f32 = (1_u64 << 32) as f32;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let multiple = _mm512_roundscale_ps::<NEAREST>(_mm512_mul_ps(x, _mm512_set1_ps(1.0 / M)));
        _mm512_fnmadd_ps(multiple, _mm512_set1_ps(M), x)
    }
}

/// Modulo 2^64, as [`modulo_f32`].
#[inline(always)]
unsafe fn modulo_f64(x: __m512d) -> __m512d {
    const M: f64 = (1_u128 << 64) as f64;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let multiple = _mm512_roundscale_pd::<NEAREST>(_mm512_mul_pd(x, _mm512_set1_pd(1.0 / M)));
        _mm512_fnmadd_pd(multiple, _mm512_set1_pd(M), x)
    }
}

impl F32 {
    /// Truncated and clamped between the ends of int32 and `max` (uint32 from 0 on, without `max`), NaN as 0.
    #[inline(always)]
    unsafe fn clamped<const SIGNED: bool>(self, max: f32) -> __m512i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            if SIGNED {
                let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(self.0, self.0);
                _mm512_maskz_cvttps_epi32(number, _mm512_min_ps(self.0, _mm512_set1_ps(max)))
            } else {
                _mm512_cvttps_epu32(_mm512_max_ps(self.0, _mm512_setzero_ps()))
            }
        }
    }
}

impl Lanes for F32 {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                // Out of the range of int32 all numbers are multiples of 2^8.
                (false, _) => _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(self.0)),
                (true, true) => _mm512_cvtsepi32_epi8(self.clamped::<SIGNED>(127.0)),
                (true, false) => _mm512_cvtusepi32_epi8(self.clamped::<SIGNED>(255.0)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi16(_mm512_cvttps_epi32(modulo_f32(self.0))),
                (true, true) => _mm512_cvtsepi32_epi16(self.clamped::<SIGNED>(32767.0)),
                (true, false) => _mm512_cvtusepi32_epi16(self.clamped::<SIGNED>(65535.0)),
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m512i {
        const ABOVE: f32 = (1_u32 << 31) as f32;
        // SAFETY: the caller's promise.
        unsafe {
            if !SATURATE {
                let x = modulo_f32(self.0);
                return _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask::<_CMP_ORD_Q>(x, x), x);
            }
            let int = self.clamped::<SIGNED>(ABOVE);
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

impl Lanes for Halves {
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self) -> [__m512i; 2] {
        // SAFETY: the caller's promise.
        unsafe { [f32_to_int64::<SATURATE, SIGNED>(self.0[0]), f32_to_int64::<SATURATE, SIGNED>(self.0[1])] }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        // SAFETY: the caller's promise. The conversions of floats make NaN quiet and keep the rest of it.
        unsafe { [_mm512_cvtps_pd(self.0[0]), _mm512_cvtps_pd(self.0[1])] }
    }
}

/// Eight lanes.
#[inline(always)]
unsafe fn f32_to_int64<const SATURATE: bool, const SIGNED: bool>(x: __m256) -> __m512i {
    const ABOVE: f32 = (1_u64 << 63) as f32;
    const M: f32 = (1_u128 << 64) as f32;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if SATURATE && !SIGNED {
            return _mm512_cvttps_epu64(_mm256_max_ps(x, _mm256_setzero_ps()));
        }
        let mut x = x;
        if !SATURATE {
            let multiple = _mm256_roundscale_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(1.0 / M)));
            x = _mm256_fnmadd_ps(multiple, _mm256_set1_ps(M), x);
        }
        let int = _mm512_maskz_cvttps_epi64(_mm256_cmp_ps_mask::<_CMP_ORD_Q>(x, x), x);
        if !SATURATE {
            return int;
        }
        let above = _mm256_cmp_ps_mask::<_CMP_GE_OQ>(x, _mm256_set1_ps(ABOVE));
        _mm512_mask_mov_epi64(int, above, _mm512_set1_epi64(i64::MAX))
    }
}

/// Truncated and clamped between the ends of int32 or uint32, NaN as 0.
#[inline(always)]
unsafe fn clamp_f64<const SIGNED: bool>(x: __m512d) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if SIGNED {
            let number = _mm512_cmp_pd_mask::<_CMP_ORD_Q>(x, x);
            _mm512_maskz_cvttpd_epi32(number, _mm512_min_pd(x, _mm512_set1_pd(i32::MAX as f64)))
        } else {
            _mm512_cvttpd_epu32(_mm512_max_pd(x, _mm512_setzero_pd()))
        }
    }
}

#[inline(always)]
unsafe fn f64_to_int64<const SATURATE: bool, const SIGNED: bool>(x: __m512d) -> __m512i {
    const ABOVE: f64 = (1_u64 << 63) as f64;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if SATURATE && !SIGNED {
            return _mm512_cvttpd_epu64(_mm512_max_pd(x, _mm512_setzero_pd()));
        }
        let x = if SATURATE { x } else { modulo_f64(x) };
        let int = _mm512_maskz_cvttpd_epi64(_mm512_cmp_pd_mask::<_CMP_ORD_Q>(x, x), x);
        if !SATURATE {
            return int;
        }
        let above = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, _mm512_set1_pd(ABOVE));
        _mm512_mask_mov_epi64(int, above, _mm512_set1_epi64(i64::MAX))
    }
}

impl F64 {
    /// Truncated and clamped between the ends of int32 or uint32, NaN as 0.
    #[inline(always)]
    unsafe fn clamped<const SIGNED: bool>(self) -> __m512i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe { join(clamp_f64::<SIGNED>(self.0[0]), clamp_f64::<SIGNED>(self.0[1])) }
    }
    /// The low 32 bits, truncated.
    #[inline(always)]
    unsafe fn low(self) -> __m512i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            let low =
                [_mm512_cvttpd_epi64(modulo_f64(self.0[0])), _mm512_cvttpd_epi64(modulo_f64(self.0[1]))];
            join(_mm512_cvtepi64_epi32(low[0]), _mm512_cvtepi64_epi32(low[1]))
        }
    }
}

impl Lanes for F64 {
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool>(self) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi8(self.low()),
                (true, true) => _mm512_cvtsepi32_epi8(self.clamped::<SIGNED>()),
                (true, false) => _mm512_cvtusepi32_epi8(self.clamped::<SIGNED>()),
            }
        }
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            match (SATURATE, SIGNED) {
                (false, _) => _mm512_cvtepi32_epi16(self.low()),
                (true, true) => _mm512_cvtsepi32_epi16(self.clamped::<SIGNED>()),
                (true, false) => _mm512_cvtusepi32_epi16(self.clamped::<SIGNED>()),
            }
        }
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { if SATURATE { self.clamped::<SIGNED>() } else { self.low() } }
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self) -> [__m512i; 2] {
        // SAFETY: the caller's promise.
        unsafe { [f64_to_int64::<SATURATE, SIGNED>(self.0[0]), f64_to_int64::<SATURATE, SIGNED>(self.0[1])] }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [_mm512_cvtpd_ps(self.0[0]), _mm512_cvtpd_ps(self.0[1])];
            _mm512_castsi512_ps(join(_mm256_castps_si256(a), _mm256_castps_si256(b)))
        }
    }
    #[inline(always)]
    unsafe fn f64(self) -> [__m512d; 2] {
        self.0
    }
    /// Half by half: to put them together takes the unit that the conversion needs.
    #[inline(always)]
    unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if PART {
                store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n);
            } else {
                _mm256_storeu_ps(dst.cast(), _mm512_cvtpd_ps(self.0[0]));
                _mm256_storeu_ps(dst.add(32).cast(), _mm512_cvtpd_ps(self.0[1]));
            }
        }
    }
}

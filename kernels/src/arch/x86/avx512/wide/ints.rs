//! Lanes of integers, which become floats.
//!
//! Values that the environment rounds toward zero are corrected by the amount that was lost; the float is converted back to find it. *Ties
//! away*: twice the loss is added, again rounding toward zero. The sum reaches the next float if and only if at least half of the step to it was
//! lost, because less than the whole step is lost. *To odd*: the last bit is set if anything was lost.

use super::{
    lanes::{Lanes, NEAREST, join},
    units::store_32,
};
use crate::arch::x86::env;
use crate::arch::x86::intrinsics::*;
use crate::vector::style::Mode;
use crate::vector::style::RoundingMode;
use core::marker::PhantomData;

#[derive(Clone, Copy)]
pub(super) struct I32<R: RoundingMode>(pub __m512i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U32<R: RoundingMode>(pub __m512i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct I64<R: RoundingMode>(pub [__m512i; 2], pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U64<R: RoundingMode>(pub [__m512i; 2], pub PhantomData<R>);

macro_rules! from_32 {
    ($($lanes:ident: $nearest:ident, $directed:path, $back:ident;)*) => {$(
        impl<R: RoundingMode> Lanes for $lanes<R> {
            #[inline(always)]
            unsafe fn f32(self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe {
                    if R::MODE == Mode::Common {
                        return $nearest::<NEAREST>(self.0);
                    }
                    let value = $directed(self.0);
                    if R::MODE == Mode::Directed {
                        return value;
                    }
                    let lost = _mm512_sub_epi32(self.0, $back(value));
                    if R::MODE == Mode::Away {
                        return env::_mm512_fmadd_ps(_mm512_cvtepi32_ps(lost), _mm512_set1_ps(2.0), value);
                    }
                    let bits = _mm512_castps_si512(value);
                    let lost = _mm512_test_epi32_mask(lost, lost);
                    _mm512_castsi512_ps(_mm512_mask_or_epi32(bits, lost, bits, _mm512_set1_epi32(1)))
                }
            }
        }
    )*};
}
from_32! {
    I32: _mm512_cvt_roundepi32_ps, env::_mm512_cvtepi32_ps, _mm512_cvttps_epi32;
    U32: _mm512_cvt_roundepu32_ps, env::_mm512_cvtepu32_ps, _mm512_cvttps_epu32;
}

macro_rules! from_64 {
    ($(
        $lanes:ident:
        $f32_nearest:ident, $f32_directed:path, $f32_back:ident,
        $f64_nearest:ident, $f64_directed:path, $f64_back:ident;
    )*) => {$(
        impl<R: RoundingMode> $lanes<R> {
            #[inline(always)]
            unsafe fn half(x: __m512i) -> __m256 {
                // SAFETY: the caller's promise.
                unsafe {
                    if R::MODE == Mode::Common {
                        return $f32_nearest::<NEAREST>(x);
                    }
                    let value = $f32_directed(x);
                    if R::MODE == Mode::Directed {
                        return value;
                    }
                    let lost = _mm512_sub_epi64(x, $f32_back(value));
                    if R::MODE == Mode::Away {
                        let lost = env::_mm512_cvtepi64_ps(lost);
                        return env::_mm256_fmadd_ps(lost, _mm256_set1_ps(2.0), value);
                    }
                    let bits = _mm256_castps_si256(value);
                    let lost = _mm512_test_epi64_mask(lost, lost);
                    _mm256_castsi256_ps(_mm256_mask_or_epi32(bits, lost, bits, _mm256_set1_epi32(1)))
                }
            }
            #[inline(always)]
            unsafe fn whole(x: __m512i) -> __m512d {
                // SAFETY: the caller's promise.
                unsafe {
                    if R::MODE == Mode::Common {
                        return $f64_nearest::<NEAREST>(x);
                    }
                    let value = $f64_directed(x);
                    if R::MODE == Mode::Directed {
                        return value;
                    }
                    let lost = _mm512_sub_epi64(x, $f64_back(value));
                    if R::MODE == Mode::Away {
                        return env::_mm512_fmadd_pd(_mm512_cvtepi64_pd(lost), _mm512_set1_pd(2.0), value);
                    }
                    let bits = _mm512_castpd_si512(value);
                    let lost = _mm512_test_epi64_mask(lost, lost);
                    _mm512_castsi512_pd(_mm512_mask_or_epi64(bits, lost, bits, _mm512_set1_epi64(1)))
                }
            }
        }

        impl<R: RoundingMode> Lanes for $lanes<R> {
            #[inline(always)]
            unsafe fn f32(self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe {
                    let [a, b] = [Self::half(self.0[0]), Self::half(self.0[1])];
                    _mm512_castsi512_ps(join(_mm256_castps_si256(a), _mm256_castps_si256(b)))
                }
            }
            #[inline(always)]
            unsafe fn f64(self) -> [__m512d; 2] {
                // SAFETY: the caller's promise.
                unsafe { [Self::whole(self.0[0]), Self::whole(self.0[1])] }
            }
            #[inline(always)]
            unsafe fn store_f32<const PART: bool>(self, dst: *mut u8, n: usize) {
                // SAFETY: the caller's promise.
                unsafe {
                    if PART {
                        store_32::<PART>(dst, _mm512_castps_si512(self.f32()), n);
                    } else {
                        _mm256_storeu_ps(dst.cast(), Self::half(self.0[0]));
                        _mm256_storeu_ps(dst.add(32).cast(), Self::half(self.0[1]));
                    }
                }
            }
        }
    )*};
}
from_64! {
    I64: _mm512_cvt_roundepi64_ps, env::_mm512_cvtepi64_ps, _mm512_cvttps_epi64,
        _mm512_cvt_roundepi64_pd, env::_mm512_cvtepi64_pd, _mm512_cvttpd_epi64;
    U64: _mm512_cvt_roundepu64_ps, env::_mm512_cvtepu64_ps, _mm512_cvttps_epu64,
        _mm512_cvt_roundepu64_pd, env::_mm512_cvtepu64_pd, _mm512_cvttpd_epu64;
}

//! Targets: how units of lanes are packed and stored.

use super::units::{Lanes, Source, UNIT, in_order};
use crate::arch::x86::intrinsics::*;
use crate::format::data::Data;
use crate::vector::style::RoundingMode;
use core::marker::PhantomData;
use num_complex::Complex;

/// An element type on the destination's side.
pub(super) trait Target {
    /// Bytes of an element.
    const SIZE: usize;
    /// Number of units in a block.
    const UNITS: usize;
    /// # Safety
    ///
    /// The CPU has the tier. `UNITS` units can be read and written.
    unsafe fn block<S: Source, const SATURATE: bool, R: RoundingMode>(
        src: *const u8,
        dst: *mut u8,
        data: &Data,
    );
    /// # Safety
    ///
    /// The CPU has the tier. A unit can be written. A unit can be read unless `PART`; then `n` elements can be read.
    unsafe fn unit<S: Source, const SATURATE: bool, R: RoundingMode, const PART: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    );
}

#[inline(always)]
pub(super) unsafe fn store(p: *mut u8, x: __m256i, k: usize) {
    // SAFETY: as for `Target::unit`.
    unsafe { _mm256_storeu_si256(p.add(32 * k).cast(), x) }
}

/// The low bits of two units of 32-bit lanes, or the saturated values, as 16 bits.
#[inline(always)]
pub(super) unsafe fn pack_16<const SATURATE: bool, const SIGNED: bool>(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let low = _mm256_set1_epi32(0xFFFF);
        in_order(match (SATURATE, SIGNED) {
            (false, _) => _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)),
            (true, false) => _mm256_packus_epi32(a, b),
            (true, true) => _mm256_packs_epi32(a, b),
        })
    }
}

/// The low bits of four units of 32-bit lanes, or the saturated values, as codes.
#[inline(always)]
pub(super) unsafe fn pack_8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
    x: [__m256i; 4],
    data: &Data,
) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let low = _mm256_set1_epi32(data.int.ones().into());
        let [a, b, c, d] = x;
        let words = if SATURATE {
            [_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d)]
        } else {
            let words = |a, b| _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low));
            [words(a, b), words(c, d)]
        };
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        let codes = pack_words::<SATURATE, SIGNED, NARROW>(words[0], words[1], data);
        _mm256_permutevar8x32_epi32(codes, order)
    }
}

/// Packs words to codes of 8 bits, or fewer if `NARROW`, each half of the register on its own. Wrapped words have no other bits.
#[inline(always)]
pub(super) unsafe fn pack_words<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
    a: __m256i,
    b: __m256i,
    data: &Data,
) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let highest = _mm256_set1_epi8(data.int.highest as i8);
        let bytes = if SATURATE && SIGNED { _mm256_packs_epi16(a, b) } else { _mm256_packus_epi16(a, b) };
        match (SATURATE && NARROW, SIGNED) {
            (false, _) => bytes,
            (true, false) => _mm256_min_epu8(bytes, highest),
            (true, true) => {
                let bytes =
                    _mm256_max_epi8(_mm256_min_epi8(bytes, highest), _mm256_set1_epi8(data.int.lowest()));
                _mm256_and_si256(bytes, _mm256_set1_epi8(data.int.ones() as i8))
            }
        }
    }
}

/// An integer of up to 8 bits, one per byte. If it saturates, it has 8 bits unless `NARROW`.
pub(super) struct Int8<const SIGNED: bool, const NARROW: bool>;

impl<const SIGNED: bool, const NARROW: bool> Target for Int8<SIGNED, NARROW> {
    const SIZE: usize = 1;
    const UNITS: usize = 4;
    #[inline(always)]
    unsafe fn block<S: Source, const SATURATE: bool, R: RoundingMode>(
        src: *const u8,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let units = S::load_four::<R>(src);
            store(dst, S::Lanes::<R>::int8::<SATURATE, SIGNED, NARROW>(units, data), 0);
        }
    }
    #[inline(always)]
    unsafe fn unit<S: Source, const SATURATE: bool, R: RoundingMode, const PART: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let units = [S::load::<R, PART>(src, n); 4];
            let codes = S::Lanes::<R>::int8::<SATURATE, SIGNED, NARROW>(units, data);
            _mm_storel_epi64(dst.cast(), _mm256_castsi256_si128(codes));
        }
    }
}

/// An integer of 16 bits.
pub(super) struct Int16<const SIGNED: bool>;

impl<const SIGNED: bool> Target for Int16<SIGNED> {
    const SIZE: usize = 2;
    const UNITS: usize = 2;
    #[inline(always)]
    unsafe fn block<S: Source, const SATURATE: bool, R: RoundingMode>(
        src: *const u8,
        dst: *mut u8,
        data: &Data,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let second = src.add(const { UNIT * S::SIZE });
            let units = [S::load::<R, false>(src, UNIT), S::load::<R, false>(second, UNIT)];
            store(dst, S::Lanes::<R>::int16::<SATURATE, SIGNED>(units, data), 0);
        }
    }
    #[inline(always)]
    unsafe fn unit<S: Source, const SATURATE: bool, R: RoundingMode, const PART: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let words = S::Lanes::<R>::int16::<SATURATE, SIGNED>([S::load::<R, PART>(src, n); 2], data);
            _mm_storeu_si128(dst.cast(), _mm256_castsi256_si128(words));
        }
    }
}

/// An integer of 32 bits.
pub(super) struct Int32<const SIGNED: bool>;
/// An integer of 64 bits.
pub(super) struct Int64<const SIGNED: bool>;
/// A float.
pub(super) struct Real<T>(PhantomData<T>);

/// Defines targets where one unit fills whole registers.
macro_rules! targets {
    ($($type:ty $([$signed:ident])?, $size:literal, |$x:ident, $dst:ident, $saturate:ident, $data:ident| $body:expr;)*) => {$(
        impl$(<const $signed: bool>)? Target for $type {
            const SIZE: usize = $size;
            const UNITS: usize = 1;
            #[inline(always)]
            unsafe fn block<S: Source, const $saturate: bool, R: RoundingMode>(
                src: *const u8,
                dst: *mut u8,
                data: &Data,
            ) {
                // SAFETY: the caller's promise.
                unsafe { Self::unit::<S, $saturate, R, false>(src, dst, UNIT, data) }
            }
            #[inline(always)]
            unsafe fn unit<S: Source, const $saturate: bool, R: RoundingMode, const PART: bool>(
                src: *const u8,
                $dst: *mut u8,
                n: usize,
                $data: &Data,
            ) {
                // SAFETY: the caller's promise.
                unsafe {
                    let $x = S::load::<R, PART>(src, n);
                    $body
                }
            }
        }
    )*};
}

targets! {
    Int32<SIGNED> [SIGNED], 4, |x, dst, SATURATE, data| store(dst, x.int32::<SATURATE, SIGNED>(data), 0);
    Int64<SIGNED> [SIGNED], 8, |x, dst, SATURATE, data| {
        let [a, b] = x.int64::<SATURATE, SIGNED>(data);
        store(dst, a, 0);
        store(dst, b, 1);
    };
    Real<f32>, 4, |x, dst, SATURATE, _data| store(dst, _mm256_castps_si256(x.f32()), 0);
    Real<f64>, 8, |x, dst, SATURATE, _data| {
        let [a, b] = x.f64();
        store(dst, _mm256_castpd_si256(a), 0);
        store(dst, _mm256_castpd_si256(b), 1);
    };
    // A complex number with an imaginary part of zero is the zero-extended real part.
    Complex<f32>, 8, |x, dst, SATURATE, _data| {
        let x = _mm256_castps_si256(x.f32());
        store(dst, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(x)), 0);
        store(dst, _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(x)), 1);
    };
    Complex<f64>, 16, |x, dst, SATURATE, _data| {
        let [a, b] = x.f64();
        let [a, b] = [_mm256_permute4x64_pd::<0b11_01_10_00>(a), _mm256_permute4x64_pd::<0b11_01_10_00>(b)];
        let zero = _mm256_setzero_pd();
        store(dst, _mm256_castpd_si256(_mm256_unpacklo_pd(a, zero)), 0);
        store(dst, _mm256_castpd_si256(_mm256_unpackhi_pd(a, zero)), 1);
        store(dst, _mm256_castpd_si256(_mm256_unpacklo_pd(b, zero)), 2);
        store(dst, _mm256_castpd_si256(_mm256_unpackhi_pd(b, zero)), 3);
    };
}

//! Targets: how lanes are stored.

use super::{
    lanes::Lanes,
    units::{mask, store_32},
};
use crate::arch::x86::intrinsics::*;
use crate::format::data::Data;
use core::marker::PhantomData;
use num_complex::Complex;

/// An element type on the destination's side.
pub(super) trait Target {
    /// Bytes of an element.
    const SIZE: usize;
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be written, [`STEP`] unless `PART`.
    unsafe fn store<L: Lanes, const SATURATE: bool, const PART: bool>(
        dst: *mut u8,
        x: L,
        n: usize,
        data: &Data,
    );
}

/// Stores register `k` of the registers that hold `n` elements of 64 bits.
#[inline(always)]
unsafe fn store_64<const PART: bool>(p: *mut u8, x: __m512i, n: usize, k: usize) {
    // SAFETY: as for `Target::store`.
    unsafe {
        let p = p.wrapping_add(64 * k).cast();
        if PART {
            _mm512_mask_storeu_epi64(p, mask(n, 8 * k) as u8, x)
        } else {
            _mm512_storeu_si512(p.cast(), x)
        }
    }
}

/// An integer of up to 8 bits, one per byte. If it saturates, it has 8 bits unless `NARROW`.
pub(super) struct Int8<const SIGNED: bool, const NARROW: bool>;
/// An integer of 16 bits.
pub(super) struct Int16<const SIGNED: bool>;
/// An integer of 32 bits.
pub(super) struct Int32<const SIGNED: bool>;
/// An integer of 64 bits.
pub(super) struct Int64<const SIGNED: bool>;
/// A bool.
pub(super) struct Truth;
/// A float.
pub(super) struct Real<T>(PhantomData<T>);

/// Makes codes from bytes that were wrapped or saturated to 8 bits.
#[inline(always)]
unsafe fn codes<const SATURATE: bool, const SIGNED: bool>(x: __m128i, data: &Data) -> __m128i {
    // SAFETY: as for `Target::store`.
    unsafe {
        let (lowest, highest) = (_mm_set1_epi8(data.int.lowest()), _mm_set1_epi8(data.int.highest as i8));
        let ones = _mm_set1_epi8(data.int.ones() as i8);
        match (SATURATE, SIGNED) {
            (false, _) => _mm_and_si128(x, ones),
            (true, false) => _mm_min_epu8(x, highest),
            (true, true) => _mm_and_si128(_mm_max_epi8(_mm_min_epi8(x, highest), lowest), ones),
        }
    }
}

macro_rules! targets {
    ($([$($generic:tt)*] $type:ty, $size:literal => |$x:ident, $dst:ident, $n:ident, $data:ident| $body:expr;)*) => {$(
        impl<$($generic)*> Target for $type {
            const SIZE: usize = $size;
            #[inline(always)]
            unsafe fn store<L: Lanes, const SATURATE: bool, const PART: bool>(
                $dst: *mut u8,
                $x: L,
                $n: usize,
                $data: &Data,
            ) {
                // SAFETY: the caller's promise.
                unsafe { $body }
            }
        }
    )*};
}

targets! {
    [const SIGNED: bool, const NARROW: bool] Int8<SIGNED, NARROW>, 1 => |x, dst, n, data| {
        let bytes = x.int8::<SATURATE, SIGNED>(data);
        let codes = if NARROW { codes::<SATURATE, SIGNED>(bytes, data) } else { bytes };
        if PART { _mm_mask_storeu_epi8(dst.cast(), mask(n, 0), codes) } else { _mm_storeu_si128(dst.cast(), codes) }
    };
    [const SIGNED: bool] Int16<SIGNED>, 2 => |x, dst, n, data| {
        let x = x.int16::<SATURATE, SIGNED>(data);
        if PART { _mm256_mask_storeu_epi16(dst.cast(), mask(n, 0), x) } else { _mm256_storeu_si256(dst.cast(), x) }
    };
    [const SIGNED: bool] Int32<SIGNED>, 4 => |x, dst, n, data| store_32::<PART>(dst, x.int32::<SATURATE, SIGNED>(data), n);
    [const SIGNED: bool] Int64<SIGNED>, 8 => |x, dst, n, data| {
        let [a, b] = x.int64::<SATURATE, SIGNED>(data);
        store_64::<PART>(dst, a, n, 0);
        store_64::<PART>(dst, b, n, 1);
    };
    [] Truth, 1 => |x, dst, n, _data| {
        let codes = _mm_maskz_set1_epi8(x.nonzero(), 1);
        if PART { _mm_mask_storeu_epi8(dst.cast(), mask(n, 0), codes) } else { _mm_storeu_si128(dst.cast(), codes) }
    };
    [] Real<f32>, 4 => |x, dst, n, _data| x.store_f32::<PART>(dst, n);
    [] Real<f64>, 8 => |x, dst, n, _data| {
        let [a, b] = x.f64();
        store_64::<PART>(dst, _mm512_castpd_si512(a), n, 0);
        store_64::<PART>(dst, _mm512_castpd_si512(b), n, 1);
    };
    // A complex number with an imaginary part of zero is the zero-extended real part.
    [] Complex<f32>, 8 => |x, dst, n, _data| {
        let x = _mm512_castps_si512(x.f32());
        store_64::<PART>(dst, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(x)), n, 0);
        store_64::<PART>(dst, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(x)), n, 1);
    };
    [] Complex<f64>, 16 => |x, dst, n, _data| {
        let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        let spread = |x, index| _mm512_castpd_si512(_mm512_permutex2var_pd(x, index, _mm512_setzero_pd()));
        let [a, b] = x.f64();
        store_64::<PART>(dst, spread(a, low), 2 * n, 0);
        store_64::<PART>(dst, spread(a, high), 2 * n, 1);
        store_64::<PART>(dst, spread(b, low), 2 * n, 2);
        store_64::<PART>(dst, spread(b, high), 2 * n, 3);
    };
}

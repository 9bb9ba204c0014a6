//! bfloat16 rounded to integers of up to 8 bits. Unpacked with zeros below it is float32, in an order that packing restores.

use super::{
    lanes::{F32, aside_ps},
    *,
};

/// Elements of a step.
const STEP: usize = 64;

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    pub(super) unsafe fn run<const SATURATE: bool, const SIGNED: bool>(
        mut src: *const u8,
        mut dst: *mut u8,
        mut n: usize,
        data: &Data,
    ) {
        // SAFETY: the steps begin where elements do and end with the last one.
        unsafe {
            while n >= STEP {
                let x = [_mm512_loadu_si512(src.cast()), _mm512_loadu_si512(src.add(STEP).cast())];
                _mm512_storeu_si512(dst.cast(), codes::<SATURATE, SIGNED>(x, data));
                (src, dst, n) = (src.add(2 * STEP), dst.add(STEP), n - STEP);
            }
            if n > 0 {
                let mask = (1_u64 << n) - 1;
                let x = [
                    _mm512_maskz_loadu_epi16(mask as u32, src.cast()),
                    _mm512_maskz_loadu_epi16((mask >> 32) as u32, src.wrapping_add(STEP).cast()),
                ];
                _mm512_mask_storeu_epi8(dst.cast(), mask, codes::<SATURATE, SIGNED>(x, data));
            }
        }
    }
}

#[inline(always)]
unsafe fn codes<const SATURATE: bool, const SIGNED: bool>(x: [__m512i; 2], data: &Data) -> __m512i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let words = [words::<SATURATE, SIGNED>(x[0], data), words::<SATURATE, SIGNED>(x[1], data)];
        let bytes = if SATURATE && SIGNED {
            _mm512_packs_epi16(words[0], words[1])
        } else {
            _mm512_packus_epi16(words[0], words[1])
        };
        let bytes = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), bytes);
        let highest = _mm512_set1_epi8(data.highest as i8);
        match (SATURATE, SIGNED) {
            (false, _) => bytes,
            (true, false) => _mm512_min_epu8(bytes, highest),
            (true, true) => {
                let bytes = _mm512_max_epi8(_mm512_min_epi8(bytes, highest), _mm512_set1_epi8(data.lowest));
                _mm512_and_si512(bytes, _mm512_set1_epi8(data.ones as i8))
            }
        }
    }
}

/// The low bits, or what saturates to 16.
#[inline(always)]
unsafe fn words<const SATURATE: bool, const SIGNED: bool>(x: __m512i, data: &Data) -> __m512i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let zero = _mm512_setzero_si512();
        let low = integers::<SATURATE, SIGNED>(_mm512_unpacklo_epi16(zero, x), data);
        let high = integers::<SATURATE, SIGNED>(_mm512_unpackhi_epi16(zero, x), data);
        if SATURATE {
            return _mm512_packs_epi32(low, high);
        }
        let ones = _mm512_set1_epi32(data.ones.into());
        _mm512_packus_epi32(_mm512_and_si512(low, ones), _mm512_and_si512(high, ones))
    }
}

/// Int32 with the low 8 bits, or to be saturated to as many.
#[inline(always)]
unsafe fn integers<const SATURATE: bool, const SIGNED: bool>(x: __m512i, data: &Data) -> __m512i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let x = _mm512_castsi512_ps(x);
        if SATURATE && SIGNED {
            return F32::<DIRECTED>(x).clamped::<SIGNED>(127.0, data);
        }
        let x = aside_ps::<DIRECTED>(x, data);
        // NaN stays and becomes the lowest integer. Wrapping, all numbers out of the range of int32 are multiples of 2^8.
        _mm512_cvtps_epi32(if SATURATE { _mm512_min_ps(_mm512_set1_ps(255.0), x) } else { x })
    }
}

//! From 32 source bytes to the planes of their results.

use super::{lookup::Table, *};
use crate::lut::{Choice, Codes};

/// How `P` planes are made of source bytes, with a table of `E` entries.
pub(super) trait Planes<const E: usize, const P: usize>: Choice {
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn of(lut: &Lut<E, P>, bytes: __m256i) -> [__m256i; P];
}

/// The bytes are the indices.
pub(super) struct Direct;
/// bool: any byte but 0 is 1.
pub(super) struct Truth;
/// A sign and a magnitude, with a negative zero.
pub(super) struct Signed;
/// A sign and a magnitude, with NaN in the place of negative zero.
pub(super) struct Fnuz;
/// `float8_e8m0fnu` to the upper half of a float32, whose exponent field it is: only the lowest code, a subnormal, and the
/// highest, NaN, have a bit below the field. No table.
pub(super) struct Exponent;

macro_rules! choices {
    ($($name:ident $codes:ident;)*) => {$(
        impl Choice for $name {
            const CODES: Codes = Codes::$codes;
        }
    )*};
}
choices! {
    Direct All;
    Truth All;
    Signed Magnitudes;
    Fnuz Patched;
    Exponent All;
}

impl<const E: usize, const P: usize> Planes<E, P> for Direct {
    #[inline(always)]
    unsafe fn of(lut: &Lut<E, P>, bytes: __m256i) -> [__m256i; P] {
        // SAFETY: a plane has `E` entries; the caller has the features. (A loop, not `array::from_fn`: a closure there is not
        // always inlined, and then no instruction of a vector is.)
        unsafe {
            let mut planes = [_mm256_setzero_si256(); P];
            let mut p = 0;
            while p < P {
                planes[p] = Table::<E>::new(lut.planes[p].as_ptr()).get(bytes);
                p += 1;
            }
            planes
        }
    }
}

impl<const P: usize> Planes<16, P> for Truth {
    #[inline(always)]
    unsafe fn of(lut: &Lut<16, P>, bytes: __m256i) -> [__m256i; P] {
        // SAFETY: the caller has the features.
        unsafe { Direct::of(lut, _mm256_min_epu8(bytes, _mm256_set1_epi8(1))) }
    }
}

impl Planes<128, 2> for Signed {
    #[inline(always)]
    unsafe fn of(lut: &Lut<128, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe {
            let [low, high] = Direct::of(lut, bytes);
            let sign = _mm256_and_si256(bytes, _mm256_set1_epi8(0x80_u8 as i8));
            [low, _mm256_or_si256(high, sign)]
        }
    }
}

impl Planes<128, 2> for Fnuz {
    #[inline(always)]
    unsafe fn of(lut: &Lut<128, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe {
            let [low, high] = Signed::of(lut, bytes);
            let at = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x80_u8 as i8));
            let patch = |p: usize| _mm256_set1_epi8(lut.patch[p] as i8);
            [_mm256_blendv_epi8(low, patch(0), at), _mm256_blendv_epi8(high, patch(1), at)]
        }
    }
}

impl Planes<0, 2> for Exponent {
    #[inline(always)]
    unsafe fn of(_: &Lut<0, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe {
            let byte = |x: u8| _mm256_set1_epi8(x as i8);
            let high = _mm256_and_si256(_mm256_srli_epi16::<1>(bytes), byte(0x7F));
            let low = _mm256_and_si256(_mm256_slli_epi16::<7>(bytes), byte(0x80));
            let after = _mm256_add_epi8(bytes, byte(1));
            let ends = _mm256_cmpeq_epi8(_mm256_min_epu8(after, byte(1)), after);
            [_mm256_or_si256(low, _mm256_and_si256(ends, byte(0x40))), high]
        }
    }
}

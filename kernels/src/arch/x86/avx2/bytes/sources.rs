//! From 32 source bytes to 16-bit words of their results ([`Words`]).

use super::{
    lookup::{look_up, shuffled},
    *,
};
use crate::{
    linear::{self, Line, Top},
    lut::choice,
};

/// How words are made of source bytes.
pub(super) trait Source {
    /// What is to be known of a pair for it.
    type Data: 'static;
    /// The words of the first halves of both lanes, and of the second halves.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn words(data: &Self::Data, bytes: __m256i) -> [__m256i; 2];
}

/// The source whose data for these words are known.
pub(super) trait Of<T>: Source {
    const DATA: &'static Self::Data;
}

/// Sources of at most 6 bits: a table of `E` entries in two planes.
pub(super) struct Table<const E: usize>;

/// 8-bit floats: a line and the corrections at its ends. `TOP` is a [`Top`].
pub(super) struct Linear<const TOP: u8>;

pub(super) const SIGN: u8 = Top::Sign as u8;
pub(super) const FNUZ: u8 = Top::Fnuz as u8;
pub(super) const MAGNITUDE: u8 = Top::Magnitude as u8;

impl<T: Words, const E: usize> Of<T> for Table<E> {
    const DATA: &'static Lut<E, 2> = lut::Of::<T, choice::Differences, E, 2>::LUT;
}

impl<const E: usize> Source for Table<E> {
    type Data = Lut<E, 2>;
    #[inline(always)]
    unsafe fn words(data: &Lut<E, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe {
            let [low, high] = look_up(data, bytes);
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        }
    }
}

impl<T: Words, const TOP: u8> Of<T> for Linear<TOP> {
    const DATA: &'static Line = {
        assert!(Top::of(T::FROM) as u8 == TOP);
        linear::Of::<T>::LINE
    };
}

impl<const TOP: u8> Source for Linear<TOP> {
    type Data = Line;
    #[inline(always)]
    unsafe fn words(line: &Line, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller has the features.
        unsafe {
            let highest = splat(if TOP == MAGNITUDE { 0xFF } else { 0x7F });
            let magnitude = _mm256_and_si256(bytes, highest);
            // From 16 on the top bit is set, and nothing found.
            let from_zero = _mm256_adds_epu8(magnitude, splat(0x70));
            let mut low = shuffled(&line.low[0], 0, from_zero);
            let mut high = shuffled(&line.low[1], 0, from_zero);
            if TOP == FNUZ {
                let nan = _mm256_cmpeq_epi8(bytes, splat(0x80));
                low = _mm256_xor_si256(low, _mm256_and_si256(nan, splat(line.patch[0])));
                high = _mm256_xor_si256(high, _mm256_and_si256(nan, splat(line.patch[1])));
            } else {
                let from_highest = _mm256_adds_epu8(_mm256_xor_si256(magnitude, highest), splat(0x70));
                low = _mm256_xor_si256(low, shuffled(&line.high[0], 0, from_highest));
                high = _mm256_xor_si256(high, shuffled(&line.high[1], 0, from_highest));
            }
            if TOP != MAGNITUDE {
                high = _mm256_xor_si256(high, _mm256_xor_si256(bytes, magnitude));
            }
            let zero = _mm256_setzero_si256();
            [
                on_line(line, _mm256_unpacklo_epi8(magnitude, zero), _mm256_unpacklo_epi8(low, high)),
                on_line(line, _mm256_unpackhi_epi8(magnitude, zero), _mm256_unpackhi_epi8(low, high)),
            ]
        }
    }
}

#[inline(always)]
unsafe fn on_line(line: &Line, magnitude: __m256i, correction: __m256i) -> __m256i {
    // SAFETY: the caller has the features.
    unsafe {
        let product = _mm256_mullo_epi16(magnitude, _mm256_set1_epi16(line.multiplier as i16));
        let word = _mm256_add_epi16(product, _mm256_set1_epi16(line.addend as i16));
        _mm256_xor_si256(word, correction)
    }
}

#[inline(always)]
unsafe fn splat(x: u8) -> __m256i {
    // SAFETY: the caller has the features.
    unsafe { _mm256_set1_epi8(x as i8) }
}

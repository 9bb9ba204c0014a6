//! Makes the 16-bit words of results ([`Words`]) from 32 source bytes.

use super::lookup::{look_up, shuffled};
use crate::arch::x86::intrinsics::*;
use crate::format::lut::{Codes, Lut};
use crate::format::typed;
use crate::format::{
    linear::{Ends, Entry, Line, Top},
    lut::Magnitudes,
};
use core::marker::PhantomData;

/// How words are made from source bytes.
pub(super) trait Source {
    /// The data that the source needs of a pair.
    type Data: 'static;
    /// The words of the first halves of both lanes, and of the second halves.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the kernel.
    unsafe fn words(data: &Self::Data, bytes: __m256i) -> [__m256i; 2];
}

/// Sources of at most 6 bits: a table of `E` entries in two planes.
pub(super) struct Table<const E: usize>;

/// Sources of 6 bits whose sign is the sign of the word: a table of half the codes in two planes.
pub(super) struct Signed;

/// bool.
pub(super) struct Truth;

/// Exponents where only [`WINDOW`](Self::SIZE) codes from `BASE` on matter, and NaN: a table in two planes and its patch.
pub(super) struct Window;

impl Window {
    pub(super) const SIZE: usize = 64;
    /// As many codes are below the code of 1 as above it.
    pub(super) const BASE: usize = 127 - Self::SIZE / 2;
    pub(super) const NAN: usize = 0xFF;

    /// The table of these words, if no other codes matter.
    pub(super) fn table(words: &[u16; 256]) -> Option<Lut<64, 2>> {
        let (below, rest) = words.split_at(Self::BASE);
        let (window, above) = rest.split_at(Self::SIZE);
        let (first, last) = (window[0], window[Self::SIZE - 1]);
        let (nan, above) = above.split_last()?;
        if below.iter().any(|word| *word != first) || above.iter().any(|word| *word != last) {
            return None;
        }
        let mut moved = [0; 256];
        moved[..Self::SIZE].copy_from_slice(window);
        Some(Lut { patch: nan.to_le_bytes(), ..Lut::new(&moved, Codes::Differences) })
    }
}

impl Source for Window {
    type Data = Lut<64, 2>;
    #[inline(always)]
    unsafe fn words(data: &Lut<64, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let index = _mm256_subs_epu8(bytes, splat(Self::BASE as u8));
            let [low, high] = look_up(data, _mm256_min_epu8(index, splat(Self::SIZE as u8 - 1)));
            let nan = _mm256_cmpeq_epi8(bytes, splat(Self::NAN as u8));
            let low = _mm256_blendv_epi8(low, splat(data.patch[0]), nan);
            let high = _mm256_blendv_epi8(high, splat(data.patch[1]), nan);
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        }
    }
}

typed! {
    /// A [`Top`] as a parameter of sources.
    trait TopBit { TOP: Top }
    Sign = Top::Sign;
    Magnitude = Top::Magnitude;
}

typed! {
    /// An [`Entry`] as a parameter of sources.
    trait Beyond { ENTRY: Entry }
    Last = Entry::Last;
    Nothing = Entry::None;
    Fnuz = Entry::Fnuz;
}

/// 8-bit floats: an affine map and corrections at its ends.
pub(super) struct Linear<T: TopBit>(PhantomData<T>);

/// 8-bit floats with so few codes at both ends that one table holds them all. Unless `MOVED`, words begin with the code itself.
pub(super) struct Shifted<B: Beyond, const MOVED: bool>(PhantomData<B>);

impl<const E: usize> Source for Table<E> {
    type Data = Lut<E, 2>;
    #[inline(always)]
    unsafe fn words(data: &Lut<E, 2>, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let [low, high] = look_up(data, bytes);
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        }
    }
}

impl Source for Signed {
    type Data = Magnitudes;
    #[inline(always)]
    unsafe fn words(data: &Magnitudes, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let magnitude = _mm256_and_si256(bytes, splat(0x1F));
            let upper = _mm256_subs_epi8(magnitude, splat(16));
            let [low, high] = &data.planes;
            let low = _mm256_xor_si256(shuffled(low, 0, magnitude), shuffled(low, 1, upper));
            let high = _mm256_xor_si256(shuffled(high, 0, magnitude), shuffled(high, 1, upper));
            let sign = _mm256_and_si256(_mm256_slli_epi16::<2>(bytes), splat(0x80));
            let high = _mm256_or_si256(high, sign);
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        }
    }
}

impl Source for Truth {
    type Data = [u8; 2];
    #[inline(always)]
    unsafe fn words(one: &[u8; 2], bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
            let low = _mm256_andnot_si256(zero, splat(one[0]));
            let high = _mm256_andnot_si256(zero, splat(one[1]));
            [_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)]
        }
    }
}

impl<B: Beyond, const MOVED: bool> Source for Shifted<B, MOVED> {
    type Data = Ends;
    #[inline(always)]
    unsafe fn words(ends: &Ends, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let highest = splat(0x7F);
            let index = if B::ENTRY == Entry::Fnuz {
                let nan = _mm256_cmpeq_epi8(bytes, splat(0x80));
                let index = _mm256_min_epu8(_mm256_and_si256(bytes, highest), splat(14));
                _mm256_blendv_epi8(index, splat(15), nan)
            } else {
                let from_end = _mm256_and_si256(_mm256_add_epi8(bytes, splat(ends.high)), highest);
                if B::ENTRY == Entry::Last {
                    _mm256_min_epu8(from_end, splat(15))
                } else {
                    // From 16 on the top bit is set, and the look-up finds 0.
                    _mm256_adds_epu8(from_end, splat(0x70))
                }
            };
            let (low, high) = (shuffled(&ends.planes[0], 0, index), shuffled(&ends.planes[1], 0, index));
            let zero = _mm256_setzero_si256();
            [
                shifted::<B, MOVED>(ends, _mm256_unpacklo_epi8(zero, bytes), _mm256_unpacklo_epi8(low, high)),
                shifted::<B, MOVED>(ends, _mm256_unpackhi_epi8(zero, bytes), _mm256_unpackhi_epi8(low, high)),
            ]
        }
    }
}

/// # Safety
///
/// The CPU has the features of the kernel.
#[inline(always)]
unsafe fn shifted<B: Beyond, const MOVED: bool>(ends: &Ends, codes: __m256i, found: __m256i) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let line = if MOVED {
            // Multiplies to shift right: the shift instructions compete with the shuffles.
            let shifted = _mm256_mulhrs_epi16(codes, _mm256_set1_epi16(ends.factor as i16));
            _mm256_and_si256(shifted, _mm256_set1_epi16(ends.mask as i16))
        } else {
            codes
        };
        let word = _mm256_add_epi16(line, found);
        if B::ENTRY == Entry::None {
            _mm256_add_epi16(word, _mm256_set1_epi16(ends.addend as i16))
        } else {
            word
        }
    }
}

impl<T: TopBit> Source for Linear<T> {
    type Data = Line;
    #[inline(always)]
    unsafe fn words(line: &Line, bytes: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller's CPU has the features.
        unsafe {
            let highest = splat(if T::TOP == Top::Magnitude { 0xFF } else { 0x7F });
            let magnitude = _mm256_and_si256(bytes, highest);
            // From 16 on the top bit is set, and the look-up finds 0.
            let from_zero = _mm256_adds_epu8(magnitude, splat(0x70));
            let mut low = shuffled(&line.low[0], 0, from_zero);
            let mut high = shuffled(&line.low[1], 0, from_zero);
            let from_highest = _mm256_adds_epu8(_mm256_xor_si256(magnitude, highest), splat(0x70));
            low = _mm256_xor_si256(low, shuffled(&line.high[0], 0, from_highest));
            high = _mm256_xor_si256(high, shuffled(&line.high[1], 0, from_highest));
            if T::TOP != Top::Magnitude {
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
    // SAFETY: the caller's CPU has the features.
    unsafe {
        let product = _mm256_mullo_epi16(magnitude, _mm256_set1_epi16(line.multiplier as i16));
        let word = _mm256_add_epi16(product, _mm256_set1_epi16(line.addend as i16));
        _mm256_xor_si256(word, correction)
    }
}

#[inline(always)]
unsafe fn splat(x: u8) -> __m256i {
    // SAFETY: the caller's CPU has the features.
    unsafe { _mm256_set1_epi8(x as i8) }
}

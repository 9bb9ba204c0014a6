//! Packing of lanes, and the orders that it leaves. The instructions pack each half of a register separately.
//!
//! **64 bits to 16 and 8**, saturating: the packing instructions saturate both halves of every element, each as a signed integer, and the two
//! results are again the halves of an element. If the high half only repeats the sign of the low half, the low half was saturated as the element
//! requires. Otherwise the high half stays a number that repeats no sign, and the next packing saturates because of it. So no comparison is
//! necessary. Unsigned halves are first limited to values that packing does not take for negative.

use super::floats::{functions, ps, si};
use crate::{
    arch::x86::intrinsics::*,
    vector::{each, lanes::Limits},
};

functions! {
    /// Restores the order of elements that were packed from two registers: 64 bits from each half of each.
    in_order(x: __m256i) -> __m256i = _mm256_permute4x64_epi64::<0b11_01_10_00>(x);
    /// Restores the order of elements that were packed from four registers: 32 bits from each half of each.
    quarters_in_order(x: __m256i) -> __m256i = {
        _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
    };
    /// Restores the order of bytes that were packed from eight registers of 64-bit lanes: pairs of elements, where every second pair is in the
    /// other half of the register.
    pairs_in_order(x: __m256i) -> __m256i = {
        let order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
        _mm256_shuffle_epi8(in_order(x), _mm256_broadcastsi128_si256(order))
    };
    /// The low halves and the high halves of lanes of 64 bits.
    split(a: __m256i, b: __m256i) -> [__m256i; 2] = {
        let (a, b) = (ps(a), ps(b));
        [si(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)), si(_mm256_shuffle_ps::<0b11_01_11_01>(a, b))]
    };
    /// Packs lanes of 32 bits to 16 bits: the low bits that `ones` selects, or saturated.
    pack_32<const SATURATE: bool, const TO: bool>(a: __m256i, b: __m256i, ones: i32) -> __m256i = {
        let low = _mm256_set1_epi32(ones);
        match (SATURATE, TO) {
            (false, _) => _mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)),
            (true, false) => _mm256_packus_epi32(a, b),
            (true, true) => _mm256_packs_epi32(a, b),
        }
    };
    /// Packs signed lanes of 16 bits to bytes, or to codes of fewer bits if `NARROW`. Lanes that wrap have no other bits.
    pack_codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(a: __m256i, b: __m256i, limits: Limits) -> __m256i = {
        let bytes = if SATURATE && TO { _mm256_packs_epi16(a, b) } else { _mm256_packus_epi16(a, b) };
        let highest = _mm256_set1_epi8(limits.highest as i8);
        match (SATURATE && NARROW, TO) {
            (false, _) => bytes,
            (true, false) => _mm256_min_epu8(bytes, highest),
            (true, true) => {
                let lowest = _mm256_set1_epi8(limits.lowest as i8);
                let ones = _mm256_set1_epi8(limits.ones as i8);
                _mm256_and_si256(_mm256_max_epi8(_mm256_min_epi8(bytes, highest), lowest), ones)
            }
        }
    };
    /// Saturates the halves of lanes of 64 bits to 16 bits each, for the next packing: to int16 if `TO`, otherwise to uint16.
    pack_64<const FROM: bool, const TO: bool>(a: __m256i, b: __m256i) -> __m256i = {
        if !FROM {
            // Limits the high halves below the sign bit, and the low halves as well if the result is signed.
            let max = _mm256_set1_epi64x(if TO { 0x7FFF_0000_7FFF } else { 0x7FFF_0000_FFFF });
            return _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max));
        }
        let both = _mm256_packs_epi32(a, b);
        if TO {
            return both;
        }
        // The low halves are unsigned then.
        let max = _mm256_set1_epi64x((-1 << 32) | 0xFFFF);
        let low = _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max));
        _mm256_blend_epi16::<0b1010_1010>(low, both)
    };
    /// Packs four registers of lanes of 64 bits to one of 16 bits: saturated if `SATURATE`, otherwise the bits that `ones` selects.
    halves_of_64<const SATURATE: bool, const FROM: bool, const TO: bool>(x: [__m256i; 4], ones: i64) -> __m256i = {
        let [a, b, c, d] = x;
        if SATURATE {
            let (low, high) = (pack_64::<FROM, TO>(a, b), pack_64::<FROM, TO>(c, d));
            if TO { _mm256_packs_epi32(low, high) } else { _mm256_packus_epi32(low, high) }
        } else {
            let low = _mm256_set1_epi64x(ones);
            let [a, b, c, d] = each!(x, |x| _mm256_and_si256(x, low));
            _mm256_packus_epi32(_mm256_packus_epi32(a, b), _mm256_packus_epi32(c, d))
        }
    };
}

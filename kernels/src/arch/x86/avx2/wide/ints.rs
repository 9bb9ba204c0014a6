//! Lanes of integers. Those of 32 bits are only narrowed; those of 64 bits become floats too.
//!
//! **64 bits to 16 and 8**, saturating: packing instructions saturate halves of the elements, each as a signed integer, and
//! the two halves of the result are again such an element. If the high half only repeats the sign of the low one, the low
//! one was saturated as the element should be. If not, the high half survives as a number that repeats no sign, and the next
//! packing saturates by it. So packing alone does it. Unsigned halves are brought below what packing takes for a sign first.
//!
//! **64 bits to float64**: the two halves are put into the mantissas of two powers of two; the difference of the high one
//! to its power is exact, and the sum with the low one rounds once.
//!
//! **64 bits to float32**: through float64. If all elements of a unit have at most 51 bits, adding them to the bits of 1.5 *
//! 2^52 makes float64 of them. If not, the lowest 11 bits of those that have more than 53 are gathered into the one above
//! them, so that float64 holds what float32 needs to know.

use super::*;

#[derive(Clone, Copy)]
pub(super) struct I32(pub __m256i);
#[derive(Clone, Copy)]
pub(super) struct U32(pub __m256i);
#[derive(Clone, Copy)]
pub(super) struct I64(pub [__m256i; 2]);
#[derive(Clone, Copy)]
pub(super) struct U64(pub [__m256i; 2]);

impl Lanes for I32 {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [I32; 2]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_16::<SATURATE, SIGNED>(x[0].0, x[1].0) }
    }
    #[inline(always)]
    unsafe fn int8<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(x: [I32; 4]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_8::<BITS, SATURATE, SIGNED>([x[0].0, x[1].0, x[2].0, x[3].0]) }
    }
}

impl U32 {
    /// At most `max` if saturating: then nothing is left to do for packing, and the sign of the target does not matter.
    #[inline(always)]
    unsafe fn limited<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe {
            let max = _mm256_set1_epi32((1 << (BITS - SIGNED as u32)) - 1);
            if SATURATE { _mm256_min_epu32(self.0, max) } else { self.0 }
        }
    }
}

impl Lanes for U32 {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [U32; 2]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].limited::<16, SATURATE, SIGNED>(), x[1].limited::<16, SATURATE, SIGNED>()];
            pack_16::<SATURATE, false>(a, b)
        }
    }
    #[inline(always)]
    unsafe fn int8<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(x: [U32; 4]) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [x[0].limited::<BITS, SATURATE, SIGNED>(), x[1].limited::<BITS, SATURATE, SIGNED>()];
            let [c, d] = [x[2].limited::<BITS, SATURATE, SIGNED>(), x[3].limited::<BITS, SATURATE, SIGNED>()];
            // Codes of 8 bits need no limit more.
            if SATURATE {
                pack_8::<8, true, false>([a, b, c, d])
            } else {
                pack_8::<BITS, false, false>([a, b, c, d])
            }
        }
    }
}

/// The low and the high halves of the elements of two registers. [`in_order`] is left to do.
#[inline(always)]
unsafe fn split(x: [__m256i; 2]) -> (__m256i, __m256i) {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let (a, b) = (_mm256_castsi256_ps(x[0]), _mm256_castsi256_ps(x[1]));
        (
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)),
            _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)),
        )
    }
}

/// The low half, or all ones if the high one is not zero.
#[inline(always)]
unsafe fn limit_u32(low: __m256i, high: __m256i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let short = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
        _mm256_or_si256(low, _mm256_xor_si256(short, _mm256_set1_epi32(-1)))
    }
}

/// Four elements as float64, nearest.
#[inline(always)]
unsafe fn to_f64<const SIGNED: bool>(x: __m256i) -> __m256d {
    // The sign bit is turned around in the high half, which adds 2^63 to what is taken away again.
    let (exponent, both) = if SIGNED {
        (0x4530_0000_8000_0000, 0x4530_0000_8010_0000)
    } else {
        (0x4530_0000_0000_0000, 0x4530_0000_0010_0000)
    };
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(exponent));
        let low = _mm256_blend_epi32::<0b0101_0101>(_mm256_set1_epi64x(0x4330_0000_0000_0000), x);
        let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_castsi256_pd(_mm256_set1_epi64x(both)));
        _mm256_add_pd(high, _mm256_castsi256_pd(low))
    }
}

/// The lowest 11 bits gathered into the one above them if there are more than 53.
#[inline(always)]
unsafe fn gather<const SIGNED: bool>(x: __m256i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let zero = _mm256_setzero_si256();
        let magnitude = if SIGNED { _mm256_xor_si256(x, _mm256_cmpgt_epi64(zero, x)) } else { x };
        let short = _mm256_cmpeq_epi64(_mm256_srli_epi64::<53>(magnitude), zero);
        let low = _mm256_andnot_si256(short, _mm256_set1_epi64x(0x7FF));
        // Bit 11 is set by itself or by the carry.
        let carry = _mm256_add_epi64(_mm256_and_si256(x, low), low);
        let carry = _mm256_and_si256(carry, _mm256_set1_epi64x(0x800));
        _mm256_andnot_si256(low, _mm256_or_si256(x, carry))
    }
}

/// Eight elements as float32, nearest.
#[inline(always)]
unsafe fn to_f32<const SIGNED: bool>([a, b]: [__m256i; 2]) -> __m256 {
    const EXPONENT: i64 = 0xFFF << 52;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let join = |a, b| _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
        let magic = _mm256_set1_epi64x(0x4338 << 48);
        let sums = [_mm256_add_epi64(a, magic), _mm256_add_epi64(b, magic)];
        let exponent = _mm256_set1_epi64x(0x4330 << 48);
        let others =
            _mm256_or_si256(_mm256_xor_si256(sums[0], exponent), _mm256_xor_si256(sums[1], exponent));
        // Without a sign the largest integers would wrap to small negative ones.
        let others = if SIGNED { others } else { _mm256_or_si256(others, _mm256_or_si256(a, b)) };
        if _mm256_testz_si256(others, _mm256_set1_epi64x(EXPONENT)) != 0 {
            let value = |x| _mm256_sub_pd(_mm256_castsi256_pd(x), _mm256_castsi256_pd(magic));
            join(value(sums[0]), value(sums[1]))
        } else {
            join(to_f64::<SIGNED>(gather::<SIGNED>(a)), to_f64::<SIGNED>(gather::<SIGNED>(b)))
        }
    }
}

/// `$pair` are the halves of the elements of two registers saturated to 16 bits each: to be packed to int16 by the next
/// packing, or (`UNSIGNED`) to uint16. `$int32` are the low and high halves saturated.
macro_rules! int64 {
    (
        $lanes:ident, $signed:literal,
        |$a:ident, $b:ident, $unsigned:ident| $pair:expr,
        |$low:ident, $high:ident, $target_signed:ident| $int32:expr
    ) => {
        impl $lanes {
            /// Two units as 16 bits, each half of a register for itself; the low `BITS` of them if not `SATURATE`.
            #[inline(always)]
            unsafe fn words<const BITS: u32, const SATURATE: bool, const UNSIGNED: bool>(
                a: $lanes,
                b: $lanes,
            ) -> __m256i {
                // SAFETY: as of the methods of `Lanes`.
                unsafe {
                    let pair = |[$a, $b]: [__m256i; 2]| {
                        if SATURATE {
                            let $unsigned = UNSIGNED;
                            $pair
                        } else {
                            let low = _mm256_set1_epi64x((1 << BITS) - 1);
                            _mm256_packus_epi32(_mm256_and_si256($a, low), _mm256_and_si256($b, low))
                        }
                    };
                    let (a, b) = (pair(a.0), pair(b.0));
                    if SATURATE && !UNSIGNED { _mm256_packs_epi32(a, b) } else { _mm256_packus_epi32(a, b) }
                }
            }
        }

        impl Lanes for $lanes {
            #[inline(always)]
            unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [$lanes; 2]) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    let words = if SIGNED {
                        $lanes::words::<16, SATURATE, false>(x[0], x[1])
                    } else {
                        $lanes::words::<16, SATURATE, true>(x[0], x[1])
                    };
                    _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
                }
            }
            #[inline(always)]
            unsafe fn int8<const BITS: u32, const SATURATE: bool, const SIGNED: bool>(
                x: [$lanes; 4],
            ) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    let a = $lanes::words::<BITS, SATURATE, false>(x[0], x[1]);
                    let b = $lanes::words::<BITS, SATURATE, false>(x[2], x[3]);
                    pairs_in_order(pack_words::<BITS, SATURATE, SIGNED>(a, b))
                }
            }
            #[inline(always)]
            unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    if !SATURATE {
                        return even_32(self.0[0], self.0[1]);
                    }
                    let $target_signed = SIGNED;
                    let ($low, $high) = split(self.0);
                    in_order($int32)
                }
            }
            #[inline(always)]
            unsafe fn f32(self) -> __m256 {
                // SAFETY: the caller's promise.
                unsafe { to_f32::<$signed>(self.0) }
            }
            #[inline(always)]
            unsafe fn f64(self) -> [__m256d; 2] {
                // SAFETY: the caller's promise.
                unsafe { [to_f64::<$signed>(self.0[0]), to_f64::<$signed>(self.0[1])] }
            }
        }
    };
}

int64!(
    I64,
    true,
    |a, b, unsigned| {
        let both = _mm256_packs_epi32(a, b);
        if unsigned {
            // The low halves are not signed then.
            let max = _mm256_set1_epi64x((-1 << 32) | 0xFFFF);
            let low = _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max));
            _mm256_blend_epi16::<0b1010_1010>(low, both)
        } else {
            both
        }
    },
    |low, high, signed| {
        // Comparisons, because shifts compete with the shuffles.
        let zero = _mm256_setzero_si256();
        let high_sign = _mm256_cmpgt_epi32(zero, high);
        if signed {
            // In range if the high half repeats the sign of the low one.
            let short = _mm256_cmpeq_epi32(_mm256_cmpgt_epi32(zero, low), high);
            let end = _mm256_xor_si256(high_sign, _mm256_set1_epi32(i32::MAX));
            _mm256_blendv_epi8(end, low, short)
        } else {
            _mm256_andnot_si256(high_sign, limit_u32(low, high))
        }
    }
);

int64!(
    U64,
    false,
    |a, b, unsigned| {
        // Below the signs, the high halves always, the low ones if those of the result are signed.
        let max = _mm256_set1_epi64x(if unsigned { 0x7FFF_0000_FFFF } else { 0x7FFF_0000_7FFF });
        _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max))
    },
    |low, high, signed| {
        let int = limit_u32(low, high);
        if signed { _mm256_min_epu32(int, _mm256_set1_epi32(i32::MAX)) } else { int }
    }
);

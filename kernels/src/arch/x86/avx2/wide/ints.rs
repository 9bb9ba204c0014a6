//! Lanes of integers.
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
//!
//! **Rounding** (`R`): the one inexact step is an addition or a conversion, which obeys the environment. A difference that is
//! zero is negative if the environment rounds down, so the sign is that of the integer. What is rounded toward zero is
//! corrected by what is lost. *Ties away*: twice that is added, again toward zero. It reaches the next float if and
//! only if at least half of the way to it is lost, for less than the whole way is. *To odd*: the last bit is set if anything
//! is lost.

use super::*;

#[derive(Clone, Copy)]
pub(super) struct I32<R: RoundingMode>(pub __m256i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U32<R: RoundingMode>(pub __m256i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct I64<R: RoundingMode>(pub [__m256i; 2], pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U64<R: RoundingMode>(pub [__m256i; 2], pub PhantomData<R>);

/// A value rounded toward zero, corrected by what is lost.
#[inline(always)]
unsafe fn corrected<R: RoundingMode>(value: __m256, lost: __m256) -> __m256 {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if R::MODE == Mode::Away {
            return env::_mm256_fmadd_ps(lost, _mm256_set1_ps(2.0), value);
        }
        let inexact = _mm256_cmp_ps::<_CMP_NEQ_OQ>(lost, _mm256_setzero_ps());
        _mm256_or_ps(value, _mm256_and_ps(inexact, _mm256_set1_ps(f32::from_bits(1))))
    }
}

/// A value rounded toward zero, corrected by what is lost.
#[inline(always)]
unsafe fn corrected_pd<R: RoundingMode>(value: __m256d, lost: __m256d) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        if R::MODE == Mode::Away {
            return env::_mm256_fmadd_pd(lost, _mm256_set1_pd(2.0), value);
        }
        let inexact = _mm256_cmp_pd::<_CMP_NEQ_OQ>(lost, _mm256_setzero_pd());
        _mm256_or_pd(value, _mm256_and_pd(inexact, _mm256_set1_pd(f64::from_bits(1))))
    }
}

impl<R: RoundingMode> Lanes for I32<R> {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], _: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_16::<SATURATE, SIGNED>(x[0].0, x[1].0) }
    }
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { pack_8::<SATURATE, SIGNED, NARROW>([x[0].0, x[1].0, x[2].0, x[3].0], data) }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe {
            let value = env::_mm256_cvtepi32_ps(self.0);
            if R::MODE == Mode::Away || R::MODE == Mode::Odd {
                let lost = _mm256_sub_epi32(self.0, _mm256_cvttps_epi32(value));
                return corrected::<R>(value, _mm256_cvtepi32_ps(lost));
            }
            value
        }
    }
}

impl<R: RoundingMode> U32<R> {
    /// At most `highest` if saturating: then nothing is left to do for packing, and the sign of the target does not matter.
    #[inline(always)]
    unsafe fn limited<const SATURATE: bool>(self, highest: __m256i) -> __m256i {
        // SAFETY: as of the methods of `Lanes`.
        unsafe { if SATURATE { _mm256_min_epu32(self.0, highest) } else { self.0 } }
    }
}

impl<R: RoundingMode> Lanes for U32<R> {
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], _: &Data) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let highest = _mm256_set1_epi32(if SIGNED { 0x7FFF } else { 0xFFFF });
            let [a, b] = [x[0].limited::<SATURATE>(highest), x[1].limited::<SATURATE>(highest)];
            pack_16::<SATURATE, false>(a, b)
        }
    }
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe {
            let highest = _mm256_set1_epi32(data.int.highest.into());
            let [a, b] = [x[0].limited::<SATURATE>(highest), x[1].limited::<SATURATE>(highest)];
            let [c, d] = [x[2].limited::<SATURATE>(highest), x[3].limited::<SATURATE>(highest)];
            pack_8::<SATURATE, false, false>([a, b, c, d], data)
        }
    }
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(self.0));
            let low = _mm256_cvtepi32_ps(_mm256_and_si256(self.0, _mm256_set1_epi32(0xFFFF)));
            let high = _mm256_mul_ps(high, _mm256_set1_ps(65536.0));
            let value = env::_mm256_add_ps(high, low);
            if R::MODE == Mode::Away || R::MODE == Mode::Odd {
                let lost = _mm256_sub_ps(low, _mm256_sub_ps(value, high));
                return corrected::<R>(value, lost);
            }
            value
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

/// With the sign of the integer that was converted: a difference that is zero may have another one.
#[inline(always)]
unsafe fn signed_as<const SIGNED: bool>(value: __m256d, x: __m256i) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let others = _mm256_set1_epi64x(i64::MAX);
        let keep = if SIGNED { _mm256_or_si256(x, others) } else { others };
        _mm256_and_pd(value, _mm256_castsi256_pd(keep))
    }
}

/// Four elements as float64.
#[inline(always)]
unsafe fn to_f64<R: RoundingMode, const SIGNED: bool>(x: __m256i) -> __m256d {
    // The sign bit is turned around in the high half, which adds 2^63 to what is taken away again.
    let (exponent, both) = if SIGNED {
        (0x4530_0000_8000_0000, 0x4530_0000_8010_0000)
    } else {
        (0x4530_0000_0000_0000, 0x4530_0000_0010_0000)
    };
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(exponent));
        let high = _mm256_castsi256_pd(high);
        let low = _mm256_blend_epi32::<0b0101_0101>(_mm256_set1_epi64x(0x4330_0000_0000_0000), x);
        let low = _mm256_castsi256_pd(low);
        if R::MODE == Mode::Away || R::MODE == Mode::Odd {
            // The halves for themselves: what is lost is what the low one has beyond the difference of the sum to the high one.
            let high = _mm256_sub_pd(high, _mm256_castsi256_pd(_mm256_set1_epi64x(exponent)));
            let low = _mm256_sub_pd(low, _mm256_set1_pd((1_u64 << 52) as f64));
            let value = env::_mm256_add_pd(high, low);
            let lost = _mm256_sub_pd(low, _mm256_sub_pd(value, high));
            return corrected_pd::<R>(value, lost);
        }
        let high = _mm256_sub_pd(high, _mm256_castsi256_pd(_mm256_set1_epi64x(both)));
        if R::MODE == Mode::Directed {
            return signed_as::<SIGNED>(env::_mm256_add_pd(high, low), x);
        }
        _mm256_add_pd(high, low)
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

/// Float64 that float32 takes with ties away from zero if it rounds toward zero: half of the last place of float32 is added.
#[inline(always)]
unsafe fn past_half(x: __m256d) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let power = _mm256_and_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(-1 << 52)));
        env::_mm256_fmadd_pd(power, _mm256_set1_pd(1.0 / (1 << 24) as f64), x)
    }
}

/// Eight elements as float32.
#[inline(always)]
unsafe fn to_f32<R: RoundingMode, const SIGNED: bool>([a, b]: [__m256i; 2]) -> __m256 {
    const EXPONENT: i64 = 0xFFF << 52;
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_epi64x(0x4338 << 48);
        let sums = [_mm256_add_epi64(a, magic), _mm256_add_epi64(b, magic)];
        let exponent = _mm256_set1_epi64x(0x4330 << 48);
        let others =
            _mm256_or_si256(_mm256_xor_si256(sums[0], exponent), _mm256_xor_si256(sums[1], exponent));
        // Without a sign the largest integers would wrap to small negative ones.
        let others = if SIGNED { others } else { _mm256_or_si256(others, _mm256_or_si256(a, b)) };
        let values = if _mm256_testz_si256(others, _mm256_set1_epi64x(EXPONENT)) != 0 {
            let magic = _mm256_castsi256_pd(magic);
            [
                _mm256_sub_pd(_mm256_castsi256_pd(sums[0]), magic),
                _mm256_sub_pd(_mm256_castsi256_pd(sums[1]), magic),
            ]
        } else {
            [to_f64::<Common, SIGNED>(gather::<SIGNED>(a)), to_f64::<Common, SIGNED>(gather::<SIGNED>(b))]
        };
        match R::MODE {
            Mode::Away => F64::<Directed>([past_half(values[0]), past_half(values[1])], PhantomData).f32(),
            Mode::Directed => F64::<Directed>(
                [signed_as::<SIGNED>(values[0], a), signed_as::<SIGNED>(values[1], b)],
                PhantomData,
            )
            .f32(),
            _ => F64::<R>(values, PhantomData).f32(),
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
        impl<R: RoundingMode> $lanes<R> {
            /// Two units as 16 bits, each half of a register for itself; the bits of `low` if not `SATURATE`.
            #[inline(always)]
            unsafe fn words<const SATURATE: bool, const UNSIGNED: bool>(
                a: Self,
                b: Self,
                low: __m256i,
            ) -> __m256i {
                // SAFETY: as of the methods of `Lanes`.
                unsafe {
                    let pair = |[$a, $b]: [__m256i; 2]| {
                        if SATURATE {
                            let $unsigned = UNSIGNED;
                            $pair
                        } else {
                            _mm256_packus_epi32(_mm256_and_si256($a, low), _mm256_and_si256($b, low))
                        }
                    };
                    let (a, b) = (pair(a.0), pair(b.0));
                    if SATURATE && !UNSIGNED { _mm256_packs_epi32(a, b) } else { _mm256_packus_epi32(a, b) }
                }
            }
        }

        impl<R: RoundingMode> Lanes for $lanes<R> {
            #[inline(always)]
            unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], _: &Data) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    let low = _mm256_set1_epi64x(0xFFFF);
                    let words = if SIGNED {
                        Self::words::<SATURATE, false>(x[0], x[1], low)
                    } else {
                        Self::words::<SATURATE, true>(x[0], x[1], low)
                    };
                    _mm256_permutevar8x32_epi32(words, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
                }
            }
            #[inline(always)]
            unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
                x: [Self; 4],
                data: &Data,
            ) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    let low = _mm256_set1_epi64x(data.int.ones().into());
                    let a = Self::words::<SATURATE, false>(x[0], x[1], low);
                    let b = Self::words::<SATURATE, false>(x[2], x[3], low);
                    pairs_in_order(pack_words::<SATURATE, SIGNED, NARROW>(a, b, data))
                }
            }
            #[inline(always)]
            unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m256i {
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
                unsafe { to_f32::<R, $signed>(self.0) }
            }
            #[inline(always)]
            unsafe fn f64(self) -> [__m256d; 2] {
                // SAFETY: the caller's promise.
                unsafe { [to_f64::<R, $signed>(self.0[0]), to_f64::<R, $signed>(self.0[1])] }
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

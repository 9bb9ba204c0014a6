//! Lanes of integers.
//!
//! **64 bits to 16 and 8**, saturating: the packing instructions saturate each half of an element as a signed integer, and the two halves of the
//! result again form one element. If the high half only repeats the sign of the low half, the low half was saturated like the whole element. If
//! not, the high half survives as a number that repeats no sign, and the next packing saturates by it. So packing alone suffices. Unsigned
//! halves are first clamped below the bit that packing takes for a sign.
//!
//! **64 bits to float64**: the two halves become the mantissas of two powers of two. Subtracting the power from the high half is exact, and
//! adding the low half rounds once.
//!
//! **64 bits to float32**: through float64. If all elements of a unit have at most 51 bits, adding them to the bits of 1.5 * 2^52 makes float64.
//! If not, elements with more than 53 bits gather the lowest 11 into the bit above them, so that float64 holds everything that float32 depends
//! on.
//!
//! **Rounding** (`R`): the one inexact step is an addition or a conversion, which obeys the environment. A difference that is zero is negative
//! if the environment rounds down, so the result takes the sign of the integer. Values rounded toward zero are corrected by the amount that was
//! lost. *Ties away*: twice the loss is added, again rounding toward zero. The sum reaches the next float if and only if at least half of the
//! step to it was lost, because less than the whole step is lost. *To odd*: the last bit is set if anything was lost.

use super::{
    floats::F64,
    targets::{pack_8, pack_16, pack_words},
    units::{Lanes, even_32, in_order, pairs_in_order},
};
use crate::arch::x86::intrinsics::*;
use crate::vector::style::Common;
use crate::vector::style::Directed;
use crate::vector::style::Mode;
use crate::vector::style::RoundingMode;
use crate::{arch::x86::env, format::data::Data};
use core::marker::PhantomData;

#[derive(Clone, Copy)]
pub(super) struct I32<R: RoundingMode>(pub __m256i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U32<R: RoundingMode>(pub __m256i, pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct I64<R: RoundingMode>(pub [__m256i; 2], pub PhantomData<R>);
#[derive(Clone, Copy)]
pub(super) struct U64<R: RoundingMode>(pub [__m256i; 2], pub PhantomData<R>);

/// A value that was rounded toward zero, corrected by the amount `lost`.
#[inline(always)]
unsafe fn corrected<R: RoundingMode>(value: __m256, lost: __m256) -> __m256 {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        if R::MODE == Mode::Away {
            return env::_mm256_fmadd_ps(lost, _mm256_set1_ps(2.0), value);
        }
        let inexact = _mm256_cmp_ps::<_CMP_NEQ_OQ>(lost, _mm256_setzero_ps());
        _mm256_or_ps(value, _mm256_and_ps(inexact, _mm256_set1_ps(f32::from_bits(1))))
    }
}

/// A value that was rounded toward zero, corrected by the amount `lost`.
#[inline(always)]
unsafe fn corrected_pd<R: RoundingMode>(value: __m256d, lost: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
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
    /// At most `highest` if saturating: then packing clamps nothing, and the sign of the target does not matter.
    #[inline(always)]
    unsafe fn limited<const SATURATE: bool>(self, highest: __m256i) -> __m256i {
        // SAFETY: as for the methods of `Lanes`.
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

/// The low halves and the high halves of the elements of two registers. The caller still has to apply [`in_order`].
#[inline(always)]
unsafe fn split(x: [__m256i; 2]) -> (__m256i, __m256i) {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let (a, b) = (_mm256_castsi256_ps(x[0]), _mm256_castsi256_ps(x[1]));
        (
            _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b)),
            _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b)),
        )
    }
}

/// The low half, or all ones if the high half is not zero.
#[inline(always)]
unsafe fn limit_u32(low: __m256i, high: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let short = _mm256_cmpeq_epi32(high, _mm256_setzero_si256());
        _mm256_or_si256(low, _mm256_xor_si256(short, _mm256_set1_epi32(-1)))
    }
}

/// Restores the sign of the converted integer: a difference that is zero may have another sign.
#[inline(always)]
unsafe fn signed_as<const SIGNED: bool>(value: __m256d, x: __m256i) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let others = _mm256_set1_epi64x(i64::MAX);
        let keep = if SIGNED { _mm256_or_si256(x, others) } else { others };
        _mm256_and_pd(value, _mm256_castsi256_pd(keep))
    }
}

/// Four elements as float64.
#[inline(always)]
unsafe fn to_f64<R: RoundingMode, const SIGNED: bool>(x: __m256i) -> __m256d {
    // Flipping the sign bit in the high half adds 2^63, and the subtracted constant includes it.
    let (exponent, both) = if SIGNED {
        (0x4530_0000_8000_0000, 0x4530_0000_8010_0000)
    } else {
        (0x4530_0000_0000_0000, 0x4530_0000_0010_0000)
    };
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(exponent));
        let high = _mm256_castsi256_pd(high);
        let low = _mm256_blend_epi32::<0b0101_0101>(_mm256_set1_epi64x(0x4330_0000_0000_0000), x);
        let low = _mm256_castsi256_pd(low);
        if R::MODE == Mode::Away || R::MODE == Mode::Odd {
            // Adds the halves themselves. The loss is the low half minus the difference between the sum and the high half.
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

/// Gathers the lowest 11 bits into the bit above them if there are more than 53.
#[inline(always)]
unsafe fn gather<const SIGNED: bool>(x: __m256i) -> __m256i {
    // SAFETY: as for the methods of `Lanes`.
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

/// Adds half of the last place of float32 to float64, so that rounding toward zero to float32 rounds ties away from zero.
#[inline(always)]
unsafe fn past_half(x: __m256d) -> __m256d {
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let power = _mm256_and_pd(x, _mm256_castsi256_pd(_mm256_set1_epi64x(-1 << 52)));
        env::_mm256_fmadd_pd(power, _mm256_set1_pd(1.0 / (1 << 24) as f64), x)
    }
}

/// Eight elements as float32.
#[inline(always)]
unsafe fn to_f32<R: RoundingMode, const SIGNED: bool>([a, b]: [__m256i; 2]) -> __m256 {
    const EXPONENT: i64 = 0xFFF << 52;
    // SAFETY: as for the methods of `Lanes`.
    unsafe {
        let magic = _mm256_set1_epi64x(0x4338 << 48);
        let sums = [_mm256_add_epi64(a, magic), _mm256_add_epi64(b, magic)];
        let exponent = _mm256_set1_epi64x(0x4330 << 48);
        let others =
            _mm256_or_si256(_mm256_xor_si256(sums[0], exponent), _mm256_xor_si256(sums[1], exponent));
        // Large unsigned integers would wrap to small negative ones.
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

/// `$pair` makes the halves of the elements of two registers, saturated to 16 bits each; the next packing makes them int16 or, if `UNSIGNED`,
/// uint16. `$int32` makes the saturated low and high halves.
macro_rules! int64 {
    (
        $lanes:ident, $signed:literal,
        |$a:ident, $b:ident, $unsigned:ident| $pair:expr,
        |$low:ident, $high:ident, $target_signed:ident| $int32:expr
    ) => {
        impl<R: RoundingMode> $lanes<R> {
            /// Two units as 16 bits, each half of a register on its own; unless `SATURATE`, the bits of `low`.
            #[inline(always)]
            unsafe fn words<const SATURATE: bool, const UNSIGNED: bool>(
                a: Self,
                b: Self,
                low: __m256i,
            ) -> __m256i {
                // SAFETY: as for the methods of `Lanes`.
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
            // The low halves are unsigned in that case.
            let max = _mm256_set1_epi64x((-1 << 32) | 0xFFFF);
            let low = _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max));
            _mm256_blend_epi16::<0b1010_1010>(low, both)
        } else {
            both
        }
    },
    |low, high, signed| {
        // Comparisons, because shifts would compete with the shuffles.
        let zero = _mm256_setzero_si256();
        let high_sign = _mm256_cmpgt_epi32(zero, high);
        if signed {
            // An element is in range if the high half repeats the sign of the low half.
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
        // Clamps halves below the sign bit: the high halves always, the low ones if the low halves of the result are signed.
        let max = _mm256_set1_epi64x(if unsigned { 0x7FFF_0000_FFFF } else { 0x7FFF_0000_7FFF });
        _mm256_packus_epi32(_mm256_min_epu32(a, max), _mm256_min_epu32(b, max))
    },
    |low, high, signed| {
        let int = limit_u32(low, high);
        if signed { _mm256_min_epu32(int, _mm256_set1_epi32(i32::MAX)) } else { int }
    }
);

//! Conversions of float32, float64 and 64-bit integers for which AVX2 has no single instruction.
//!
//! **Float to integer, wrapping**: the result is the low bits of the truncated value. The kernel subtracts the nearest multiple of 2^32 from the
//! truncated value, `x - round(x / m) * m`. The difference is exact, and its magnitude is at most `m / 2`. `m / 2` itself is too large by one
//! for the conversion, which returns the bits of `-m / 2`: they are right in all bits that are kept. The conversion returns the same bits for
//! NaN, and infinity has become NaN; both are zeroed if the target keeps that bit.
//!
//! **To 64 bits** there is no instruction. Adding 1.5 * 2^52 to a float64 of less than 2^51 in magnitude puts its integer into the low bits. If
//! all values are below 2^51, that is all; otherwise each value is split into two halves of 32 bits, which are below it.
//!
//! **Saturating**: values that are too large are clamped before the conversion, or replaced afterwards. The conversion gives the lowest integer
//! for everything out of range, which is right for values that are too small. NaN is masked away.
//!
//! **64 bits to float64**: the two halves are put into the mantissas of two powers of two. The difference of the high one and its power is exact,
//! and the sum with the low one rounds once. A sum that is zero is negative if the environment rounds down, so the sign of the integer replaces
//! the sign of the sum.
//!
//! **64 bits to float32**: through float64. If all integers are among the 2^52 integers from -2^51 on (unsigned: from 0 on), their distances from
//! the first become mantissas of 2^52, and a subtraction makes float64 of these. Otherwise, if an integer has more than 53 bits, its lowest 11
//! are gathered into the bit above them, so that float64 holds all that float32 needs to know.
//!
//! If `DIRECTED`, conversions round in the direction of the environment; otherwise the environment rounds to nearest even.

use crate::{
    arch::x86::{env, intrinsics::*},
    vector::{each, lanes::eight},
};

const TRUNCATE: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

const TWO_32: f64 = (1_u64 << 32) as f64;
pub(super) const TWO_63: f64 = (1_u64 << 63) as f64;
/// Adding an integer to this number is exact and puts the integer into the low bits, in two's complement.
const MAGIC: f64 = (3_u64 << 51) as f64;
/// The least magnitude of float64 that is too large for [`short_int64`].
const SHORT: f64 = (1_u64 << 51) as f64;

/// The first short integer, negated.
const fn start<const SIGNED: bool>() -> i64 {
    if SIGNED { 1 << 51 } else { 0 }
}

/// Functions of registers, for the operations of a token.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $(<$(const $c:ident: $type:ty),+>)? ($($arg:ident: $arg_type:ty),*) -> $result:ty = $body:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name $(<$(const $c: $type),+>)? ($($arg: $arg_type),*) -> $result {
            // SAFETY: only operations of the token, which proves the instructions, call this.
            unsafe { $body }
        }
    )*};
}
pub(super) use functions;

functions! {
    ps(x: __m256i) -> __m256 = _mm256_castsi256_ps(x);
    pd(x: __m256i) -> __m256d = _mm256_castsi256_pd(x);
    si(x: __m256) -> __m256i = _mm256_castps_si256(x);
    si_pd(x: __m256d) -> __m256i = _mm256_castpd_si256(x);
    halves(x: __m256i) -> [__m128i; 2] = [_mm256_castsi256_si128(x), _mm256_extracti128_si256::<1>(x)];
    abs(x: __m256) -> __m256 = _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
    abs_pd(x: __m256d) -> __m256d = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);

    /// To the nearest integral value, ties away from zero, in every direction of the environment: all steps are exact.
    round_away(x: __m256) -> __m256 = {
        let whole = _mm256_round_ps::<TRUNCATE>(x);
        let sign = _mm256_and_ps(x, _mm256_set1_ps(-0.0));
        let half = _mm256_cmp_ps::<_CMP_GE_OQ>(abs(_mm256_sub_ps(x, whole)), _mm256_set1_ps(0.5));
        let step = _mm256_or_ps(_mm256_and_ps(half, _mm256_set1_ps(1.0)), sign);
        _mm256_or_ps(_mm256_add_ps(whole, step), sign)
    };
    round_away_pd(x: __m256d) -> __m256d = {
        let whole = _mm256_round_pd::<TRUNCATE>(x);
        let sign = _mm256_and_pd(x, _mm256_set1_pd(-0.0));
        let half = _mm256_cmp_pd::<_CMP_GE_OQ>(abs_pd(_mm256_sub_pd(x, whole)), _mm256_set1_pd(0.5));
        let step = _mm256_or_pd(_mm256_and_pd(half, _mm256_set1_pd(1.0)), sign);
        _mm256_or_pd(_mm256_add_pd(whole, step), sign)
    };
    /// Replaces NaN by zero.
    number(x: __m256) -> __m256 = _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_ORD_Q>(x, x));
    number_pd(x: __m256d) -> __m256d = _mm256_and_pd(x, _mm256_cmp_pd::<_CMP_ORD_Q>(x, x));
    /// Reduces modulo 2^32, if the number has no fraction or is less than 2^31. Infinity becomes NaN.
    modulo(x: __m256) -> __m256 = {
        let multiple = _mm256_round_ps::<NEAREST>(_mm256_mul_ps(x, _mm256_set1_ps(1.0 / TWO_32 as f32)));
        _mm256_fnmadd_ps(multiple, _mm256_set1_ps(TWO_32 as f32), x)
    };
    /// Reduces a number without a fraction modulo 2^32. Infinity becomes NaN.
    modulo_pd(x: __m256d) -> __m256d = {
        let multiple = _mm256_round_pd::<NEAREST>(_mm256_mul_pd(x, _mm256_set1_pd(1.0 / TWO_32)));
        _mm256_fnmadd_pd(multiple, _mm256_set1_pd(TWO_32), x)
    };

    /// Clamps to int32 or uint32; NaN becomes 0.
    int32_of_f32<const SIGNED: bool>(x: __m256) -> __m256i = {
        const HALF: f32 = (1_u32 << 31) as f32;
        if SIGNED {
            let above = si(_mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(HALF)));
            // Turns the lowest integer into the highest.
            return _mm256_xor_si256(_mm256_cvttps_epi32(number(x)), above);
        }
        // From 2^31 on, the conversion returns that bit, and the mantissa has the other bits.
        let x = _mm256_max_ps(x, _mm256_setzero_ps());
        let low = _mm256_cvttps_epi32(x);
        let large = _mm256_or_si256(low, _mm256_slli_epi32::<8>(si(x)));
        let int = si(_mm256_blendv_ps(ps(low), ps(large), ps(low)));
        let above = _mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(2.0 * HALF));
        _mm256_or_si256(int, si(above))
    };
    /// Int32 that packing saturates to 16 bits, with a sign or without.
    short_of_f32<const SIGNED: bool>(x: __m256) -> __m256i = {
        let max = _mm256_set1_ps(65535.0);
        // Unsigned: NaN stays and becomes the lowest integer.
        _mm256_cvttps_epi32(if SIGNED { _mm256_min_ps(number(x), max) } else { _mm256_min_ps(max, x) })
    };
    /// Clamps to int32, where NaN becomes 0; or returns the low 32 bits. Only `BITS` of them count.
    int32_of_f64<const BITS: u32, const SATURATE: bool>(x: __m256d) -> __m128i = {
        _mm256_cvttpd_epi32(if SATURATE {
            _mm256_min_pd(number_pd(x), _mm256_set1_pd(i32::MAX as f64))
        } else {
            let low = modulo_pd(_mm256_round_pd::<TRUNCATE>(x));
            // Infinity and NaN become the bits of -2^31.
            if BITS <= 16 { low } else { number_pd(low) }
        })
    };
    /// Clamps to uint32, in the low halves of lanes; NaN becomes 0.
    uint32_of_f64(x: __m256d) -> __m256i = {
        let x = _mm256_min_pd(_mm256_max_pd(x, _mm256_setzero_pd()), _mm256_set1_pd(u32::MAX as f64));
        si_pd(_mm256_add_pd(_mm256_round_pd::<TRUNCATE>(x), _mm256_set1_pd(MAGIC)))
    };
    /// Converts any float64 to int64 or uint64.
    int64_of_f64<const SATURATE: bool, const SIGNED: bool>(x: __m256d) -> __m256i = {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if SATURATE {
            // The maximum of NaN and the low end is the low end.
            _mm256_max_pd(number_pd(x), _mm256_set1_pd(if SIGNED { -TWO_63 } else { 0.0 }))
        } else {
            x
        };
        let whole = _mm256_round_pd::<TRUNCATE>(x);
        let high = _mm256_round_pd::<FLOOR>(_mm256_mul_pd(whole, _mm256_set1_pd(1.0 / TWO_32)));
        let low = _mm256_fnmadd_pd(high, _mm256_set1_pd(TWO_32), whole);
        let high = if SATURATE { high } else { modulo_pd(high) };
        let high = _mm256_slli_epi64::<32>(si_pd(_mm256_add_pd(high, magic)));
        let int = _mm256_blend_epi32::<0b0101_0101>(high, si_pd(_mm256_add_pd(low, magic)));
        if !SATURATE {
            // Infinity minus infinity is NaN too.
            return _mm256_and_si256(int, si_pd(_mm256_cmp_pd::<_CMP_ORD_Q>(low, low)));
        }
        let end = if SIGNED { TWO_63 } else { 2.0 * TWO_63 };
        let above = si_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(x, _mm256_set1_pd(end)));
        _mm256_blendv_epi8(int, _mm256_set1_epi64x(if SIGNED { i64::MAX } else { -1 }), above)
    };
    /// Converts float64 of less than [`SHORT`] in magnitude. If `CLAMP`, negative values and NaN become 0.
    short_int64<const CLAMP: bool>(x: __m256d) -> __m256i = {
        let magic = _mm256_set1_pd(MAGIC);
        let x = if CLAMP { _mm256_max_pd(x, _mm256_setzero_pd()) } else { x };
        let sum = _mm256_add_pd(_mm256_round_pd::<TRUNCATE>(x), magic);
        _mm256_sub_epi64(si_pd(sum), si_pd(magic))
    };
    /// Converts a unit of float32 to int64 or uint64.
    int64s_of_f32<const SATURATE: bool, const SIGNED: bool>(x: [__m256i; 4]) -> [__m256i; 8] = {
        let x = each!(x, |x| ps(x));
        let [a, b, c, d] = each!(x, |x| _mm256_cmp_ps::<_CMP_GE_OQ>(abs(x), _mm256_set1_ps(SHORT as f32)));
        if _mm256_movemask_ps(_mm256_or_ps(_mm256_or_ps(a, b), _mm256_or_ps(c, d))) != 0 {
            return eight!(doubles(x), |x| int64_of_f64::<SATURATE, SIGNED>(x));
        }
        // Clamping turns NaN into 0.
        let clamp = SATURATE && !SIGNED;
        eight!(doubles(each!(x, |x| if clamp { x } else { number(x) })), |x| {
            if clamp { short_int64::<true>(x) } else { short_int64::<false>(x) }
        })
    };
    /// Converts a unit of float64 to int64 or uint64.
    int64s_of_f64<const SATURATE: bool, const SIGNED: bool>(x: [__m256i; 8]) -> [__m256i; 8] = {
        let x = eight!(x, |x| pd(x));
        let [a, b, c, d, e, f, g, h] = eight!(x, |x| _mm256_cmp_pd::<_CMP_LT_OQ>(abs_pd(x), _mm256_set1_pd(SHORT)));
        let [a, b, c, d] = each!([(a, b), (c, d), (e, f), (g, h)], |(a, b)| _mm256_and_pd(a, b));
        if _mm256_movemask_pd(_mm256_and_pd(_mm256_and_pd(a, b), _mm256_and_pd(c, d))) != 0b1111 {
            return eight!(x, |x| int64_of_f64::<SATURATE, SIGNED>(x));
        }
        eight!(x, |x| if SATURATE && !SIGNED { short_int64::<true>(x) } else { short_int64::<false>(x) })
    };
    /// Converts float32 to float64.
    doubles(x: [__m256; 4]) -> [__m256d; 8] = {
        let [a, b, c, d] = each!(x, |x| [
            _mm256_cvtps_pd(_mm256_castps256_ps128(x)),
            _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x)),
        ]);
        [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
    };
    /// Rounds float64 to float32, to odd, in every direction of the environment: a result that is too great is one unit too great.
    f32_of_f64_odd(a: __m256i, b: __m256i) -> __m256i = {
        let (a, b) = (pd(a), pd(b));
        let [low, high] = [_mm256_cvtpd_ps(a), _mm256_cvtpd_ps(b)];
        let back = [_mm256_cvtps_pd(low), _mm256_cvtps_pd(high)];
        let great = [
            _mm256_cmp_pd::<_CMP_GT_OQ>(abs_pd(back[0]), abs_pd(a)),
            _mm256_cmp_pd::<_CMP_GT_OQ>(abs_pd(back[1]), abs_pd(b)),
        ];
        let inexact = [_mm256_cmp_pd::<_CMP_NEQ_OQ>(back[0], a), _mm256_cmp_pd::<_CMP_NEQ_OQ>(back[1], b)];
        let [great, inexact] = [even_masks(great), even_masks(inexact)];
        // All ones are -1.
        let truncated = _mm256_add_epi32(si(_mm256_set_m128(high, low)), great);
        _mm256_or_si256(truncated, _mm256_srli_epi32::<31>(inexact))
    };
    /// Narrows masks of 64 bits to 32 bits.
    even_masks(x: [__m256d; 2]) -> __m256i = {
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castpd_ps(x[0]), _mm256_castpd_ps(x[1]));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(si(even))
    };

    f32_of_int32<const DIRECTED: bool, const SIGNED: bool>(x: __m256i) -> __m256i = {
        if SIGNED {
            return si(if DIRECTED { env::_mm256_cvtepi32_ps(x) } else { _mm256_cvtepi32_ps(x) });
        }
        let high = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(x));
        let low = _mm256_cvtepi32_ps(_mm256_and_si256(x, _mm256_set1_epi32(0xFFFF)));
        let high = _mm256_mul_ps(high, _mm256_set1_ps(65536.0));
        si(if DIRECTED { env::_mm256_add_ps(high, low) } else { _mm256_add_ps(high, low) })
    };
    /// Gives a value the sign of the integer that it came from: a difference that is zero may have the other sign.
    signed_as<const SIGNED: bool>(value: __m256d, x: __m256i) -> __m256d = {
        let others = _mm256_set1_epi64x(i64::MAX);
        _mm256_and_pd(value, pd(if SIGNED { _mm256_or_si256(x, others) } else { others }))
    };
    f64_of_int64<const DIRECTED: bool, const SIGNED: bool>(x: __m256i) -> __m256i = {
        // Flipping the sign bit in the high half adds 2^63, which the subtraction removes.
        let (exponent, both) = if SIGNED {
            (0x4530_0000_8000_0000, 0x4530_0000_8010_0000)
        } else {
            (0x4530_0000_0000_0000, 0x4530_0000_0010_0000)
        };
        let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(x), _mm256_set1_epi64x(exponent));
        let low = _mm256_blend_epi32::<0b0101_0101>(_mm256_set1_epi64x(0x4330_0000_0000_0000), x);
        let high = _mm256_sub_pd(pd(high), pd(_mm256_set1_epi64x(both)));
        si_pd(if DIRECTED {
            signed_as::<SIGNED>(env::_mm256_add_pd(high, pd(low)), x)
        } else {
            _mm256_add_pd(high, pd(low))
        })
    };
    /// If an integer has more than 53 bits, gathers its lowest 11 into the bit above them.
    gather<const SIGNED: bool>(x: __m256i) -> __m256i = {
        let zero = _mm256_setzero_si256();
        let magnitude = if SIGNED { _mm256_xor_si256(x, _mm256_cmpgt_epi64(zero, x)) } else { x };
        let short = _mm256_cmpeq_epi64(_mm256_srli_epi64::<53>(magnitude), zero);
        let low = _mm256_andnot_si256(short, _mm256_set1_epi64x(0x7FF));
        // Bit 11 stays set, or the carry sets it.
        let carry = _mm256_add_epi64(_mm256_and_si256(x, low), low);
        let carry = _mm256_and_si256(carry, _mm256_set1_epi64x(0x800));
        _mm256_andnot_si256(low, _mm256_or_si256(x, carry))
    };
    /// Converts a unit of integers to float64 that float32 rounds as it would round the integers.
    odd_f64_of_int64<const DIRECTED: bool, const SIGNED: bool>(x: [__m256i; 8]) -> [__m256i; 8] = {
        let first = _mm256_set1_epi64x(start::<SIGNED>());
        let places = eight!(x, |x| if SIGNED { _mm256_add_epi64(x, first) } else { x });
        if _mm256_testz_si256(any(places), _mm256_set1_epi64x(0xFFF << 52)) == 0 {
            return eight!(x, |x| f64_of_int64::<DIRECTED, SIGNED>(gather::<SIGNED>(x)));
        }
        let (power, zero) = ((1_u64 << 52) as f64, start::<SIGNED>() as f64);
        eight!(places, |place| {
            let sum = _mm256_or_si256(place, si_pd(_mm256_set1_pd(power)));
            let value = _mm256_sub_pd(pd(sum), _mm256_set1_pd(power + zero));
            si_pd(if DIRECTED { signed_as::<SIGNED>(value, _mm256_sub_epi64(place, first)) } else { value })
        })
    };
    any(x: [__m256i; 8]) -> __m256i = {
        let [a, b, c, d] = each!([0, 2, 4, 6], |k| _mm256_or_si256(x[k], x[k + 1]));
        _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d))
    };
}

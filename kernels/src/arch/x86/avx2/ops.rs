//! AVX2's operations on lanes of every width ([`LaneOps`]). [`floats`] has the conversions that take several instructions.
//!
//! Packing instructions work within halves of a register ([`packs`]). An operation restores the order of its results once, at the end: that is why
//! compositions that pack more than once are overridden.

use super::{
    super::packing,
    floats::{self, pd, ps, si},
    packs::{self, in_order, pack_32, pack_codes, pairs_in_order, quarters_in_order, split},
    simd::{Avx2, store_packed},
};
use crate::{
    arch::x86::{env, intrinsics::*},
    format::data::Data,
    vector::{
        Simd, each,
        kernel::KernelFn,
        lanes::{Bytes, Doubles, Function, Halves, Kernel, LaneOps, Limits, Pace, Words, eight, two},
    },
};
use core::marker::PhantomData;

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn with_avx2<const DIRECTED: bool, K: Kernel<Avx2<DIRECTED>>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: this function has the instructions of the token; the buffers are the caller's.
        unsafe { K::run(Avx2::new_unchecked(), src, dst, n, data) };
        // The compiler adds this where a register of 256 bits is written, but not where one is only read from memory, as by the conversion
        // of float64 to float32. Without it, a call took 110 ns rather than 5 ns on an Intel Xeon if the caller used instructions of SSE.
        _mm256_zeroupper();
    }
}

/// The function of a kernel.
pub(super) struct WithAvx2<const DIRECTED: bool, K>(PhantomData<K>);

impl<const DIRECTED: bool, K: Kernel<Avx2<DIRECTED>>> Function for WithAvx2<DIRECTED, K> {
    const FUNCTION: KernelFn = with_avx2::<DIRECTED, K>;
}

/// Rounds as the environment says.
const CURRENT: i32 = _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC;

/// Defines operations that map registers to registers; `$m` is the token.
macro_rules! lane_operations {
    ($m:ident: $($name:ident $(<$(const $c:ident: $type:ty),+>)? ($($arg:ident $(: $arg_type:ty)?),*) $(-> $result:ty)? = $body:expr;)*) => {$(
        #[inline(always)]
        #[allow(unused_variables, unused_unsafe, reason = "some need neither the token nor its proof")]
        fn $name $(<$(const $c: $type),+>)? (self, $($arg: operations!(@ $($arg_type)?)),*) -> operations!(@ $($result)?) {
            let $m = self;
            // SAFETY: the token proves the instructions.
            unsafe { $body }
        }
    )*};
}

impl<const DIRECTED: bool> LaneOps for Avx2<DIRECTED> {
    type Function<K: Kernel<Self>> = WithAvx2<DIRECTED, K>;

    // For rare rules, less machine code counts more than the speed of short calls.
    const PACE: Pace = if DIRECTED { Pace::Parts } else { Pace::PartsAndFew };

    #[inline(always)]
    unsafe fn vectorize<K: Kernel<Self>>(self, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: the token proves the features; the rest is the caller's.
        unsafe { with_avx2::<DIRECTED, K>(src, dst, n, data) }
    }

    lane_operations! { m:
        and_not(a, b) = _mm256_andnot_si256(b, a);
        select(mask, yes, no) = _mm256_or_si256(_mm256_and_si256(mask, yes), _mm256_andnot_si256(mask, no));
        any(a) -> bool = _mm256_testz_si256(a, a) == 0;

        splat_8(x: u8) = _mm256_set1_epi8(x as i8);
        add_8(a, b) = _mm256_add_epi8(a, b);
        sub_8(a, b) = _mm256_sub_epi8(a, b);
        // AVX2 has products of 16 bits only.
        mul_add_8(c, a, b) = {
            let odd = _mm256_mullo_epi16(_mm256_srli_epi16::<8>(a), _mm256_srli_epi16::<8>(b));
            let (even, low) = (_mm256_mullo_epi16(a, b), _mm256_set1_epi16(0xFF));
            _mm256_add_epi8(c, _mm256_blendv_epi8(_mm256_slli_epi16::<8>(odd), even, low))
        };
        min_u8(a, b) = _mm256_min_epu8(a, b);
        max_u8(a, b) = _mm256_max_epu8(a, b);
        min_i8(a, b) = _mm256_min_epi8(a, b);
        max_i8(a, b) = _mm256_max_epi8(a, b);
        eq_8(a, b) = _mm256_cmpeq_epi8(a, b);
        ge_u8(a, b) = _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a);
        signs_8(a) = _mm256_cmpgt_epi8(_mm256_setzero_si256(), a);
        shl_8<const BY: i32>(a) = _mm256_and_si256(_mm256_slli_epi16::<BY>(a), m.splat_8(0xFF << BY));
        shr_8<const BY: i32>(a) = _mm256_and_si256(_mm256_srli_epi16::<BY>(a), m.splat_8(0xFF >> BY));
        zip_8(a, b) -> [Self::V; 2] = {
            let (low, high) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
            [_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high)]
        };
        even_8(a, b) = m.narrow_16::<false, false, false>(a, b);
        odd_8(a, b) = in_order(_mm256_packus_epi16(_mm256_srli_epi16::<8>(a), _mm256_srli_epi16::<8>(b)));

        table_16(entries: &[u8; 16]) = _mm256_broadcastsi128_si256(_mm_loadu_si128(entries.as_ptr().cast()));
        table_64(entries: &[u8; 64]) -> [__m256i; 4] = {
            let (tables, _) = entries.as_chunks::<16>();
            each!([0, 1, 2, 3], |k| m.table_16(&tables[k]))
        };
        look_up_16(table, index) = _mm256_shuffle_epi8(table, index);
        look_up_64(table: [__m256i; 4], index) = {
            // An index whose top bit is set finds 0. The saturating sum sets it from 16 on.
            let [a, b, c, d] = each!([0, 1, 2, 3], |k| {
                let index = _mm256_sub_epi8(index, m.splat_8(16 * k as u8));
                _mm256_shuffle_epi8(table[k], _mm256_adds_epu8(index, m.splat_8(0x70)))
            });
            _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d))
        };
        look_up_64_or(found, table: [__m256i; 4], index) = {
            let others = _mm256_and_si256(found, m.ge_u8(index, m.splat_8(64)));
            _mm256_or_si256(m.look_up_64(table, index), others)
        };

        splat_16(x: u16) = _mm256_set1_epi16(x as i16);
        add_16(a, b) = _mm256_add_epi16(a, b);
        min_u16(a, b) = _mm256_min_epu16(a, b);
        max_i16(a, b) = _mm256_max_epi16(a, b);
        gt_u16(a, b) = {
            let sign = m.splat_16(0x8000);
            _mm256_cmpgt_epi16(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign))
        };
        nonzero_16(a) = _mm256_xor_si256(_mm256_cmpeq_epi16(a, _mm256_setzero_si256()), _mm256_set1_epi32(-1));
        shl_16<const BY: i32>(a) = _mm256_slli_epi16::<BY>(a);
        shr_16<const BY: i32>(a) = _mm256_srli_epi16::<BY>(a);
        signs_16(a) = _mm256_srai_epi16::<15>(a);
        shift_16(a, by) = {
            let even = m.shift_32(_mm256_and_si256(a, _mm256_set1_epi32(0xFFFF)), by);
            let odd = m.shift_32(_mm256_srli_epi32::<16>(a), _mm256_srli_epi32::<16>(by));
            _mm256_blend_epi16::<0b1010_1010>(even, _mm256_slli_epi32::<16>(odd))
        };

        gt_u32(a, b) = {
            let sign = _mm256_set1_epi32(i32::MIN);
            _mm256_cmpgt_epi32(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign))
        };
        nonzero_32(a) = _mm256_xor_si256(_mm256_cmpeq_epi32(a, _mm256_setzero_si256()), _mm256_set1_epi32(-1));
        signs_32(a) = _mm256_srai_epi32::<31>(a);
        // A count of 32 or more shifts everything out. Of a byte and 256 minus the byte, one is such a count, unless the byte is 0.
        shift_32(a, by) = {
            let left = _mm256_and_si256(by, _mm256_set1_epi32(0xFF));
            let right = _mm256_sub_epi32(_mm256_set1_epi32(256), left);
            _mm256_or_si256(_mm256_sllv_epi32(a, left), _mm256_srlv_epi32(a, right))
        };
        even_32(a, b) = in_order(split(a, b)[0]);
        odd_32(a, b) = in_order(split(a, b)[1]);

        splat_64(x: u64) = _mm256_set1_epi64x(x as i64);
        add_64(a, b) = _mm256_add_epi64(a, b);
        sub_64(a, b) = _mm256_sub_epi64(a, b);
        nonzero_64(a) = _mm256_xor_si256(_mm256_cmpeq_epi64(a, _mm256_setzero_si256()), _mm256_set1_epi32(-1));
        signs_64(a) = _mm256_cmpgt_epi64(_mm256_setzero_si256(), a);
        shift_64(a, by) = {
            let left = _mm256_and_si256(by, _mm256_set1_epi64x(0xFF));
            let right = _mm256_sub_epi64(_mm256_set1_epi64x(256), left);
            _mm256_or_si256(_mm256_sllv_epi64(a, left), _mm256_srlv_epi64(a, right))
        };
        even_64(a, b) = in_order(_mm256_unpacklo_epi64(a, b));
        odd_64(a, b) = in_order(_mm256_unpackhi_epi64(a, b));
        zip_64(a, b) -> [Self::V; 2] = {
            let [a, b] = two!([a, b], |x| in_order(x));
            [_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)]
        };

        widen_8<const SIGNED: bool>(x) -> [Self::V; 2] = two!(floats::halves(x), |x| {
            if SIGNED { _mm256_cvtepi8_epi16(x) } else { _mm256_cvtepu8_epi16(x) }
        });
        widen_16<const SIGNED: bool>(x) -> [Self::V; 2] = two!(floats::halves(x), |x| {
            if SIGNED { _mm256_cvtepi16_epi32(x) } else { _mm256_cvtepu16_epi32(x) }
        });
        widen_32<const SIGNED: bool>(x) -> [Self::V; 2] = two!(floats::halves(x), |x| {
            if SIGNED { _mm256_cvtepi32_epi64(x) } else { _mm256_cvtepu32_epi64(x) }
        });
        narrow_16<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            m.codes_of_16::<false, SATURATE, FROM, TO>([a, b], Limits::byte(TO))
        };
        narrow_32<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = in_order(if SATURATE && !FROM {
            // After the minimum, packing changes no value, whatever the sign of the target.
            let highest = _mm256_set1_epi32(if TO { 0x7FFF } else { 0xFFFF });
            pack_32::<true, false>(_mm256_min_epu32(a, highest), _mm256_min_epu32(b, highest), 0)
        } else {
            pack_32::<SATURATE, TO>(a, b, 0xFFFF)
        });
        narrow_64<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            let [low, high] = split(a, b);
            let zero = _mm256_setzero_si256();
            // A comparison, because shifts compete with the shuffles.
            let high_signs = _mm256_cmpgt_epi32(zero, high);
            // The low half, or all ones if the high half is not zero.
            let limited = _mm256_or_si256(low, m.nonzero_32(high));
            in_order(match (SATURATE, FROM, TO) {
                (false, ..) => low,
                (true, true, true) => {
                    // In range if the high half repeats the sign of the low half.
                    let short = _mm256_cmpeq_epi32(_mm256_cmpgt_epi32(zero, low), high);
                    let end = _mm256_xor_si256(high_signs, _mm256_set1_epi32(i32::MAX));
                    _mm256_blendv_epi8(end, low, short)
                }
                (true, true, false) => _mm256_andnot_si256(high_signs, limited),
                (true, false, true) => _mm256_min_epu32(limited, _mm256_set1_epi32(i32::MAX)),
                (true, false, false) => limited,
            })
        };
        codes_of_16<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(x: Halves<Self>, limits: Limits) = {
            in_order(match (SATURATE, FROM) {
                (true, true) => pack_codes::<NARROW, true, TO>(x[0], x[1], limits),
                (true, false) => {
                    let highest = m.splat_16(limits.highest.into());
                    let [a, b] = two!(x, |x| _mm256_min_epu16(x, highest));
                    _mm256_packus_epi16(a, b)
                }
                (false, _) => {
                    let [a, b] = two!(x, |x| _mm256_and_si256(x, m.splat_16(limits.ones.into())));
                    _mm256_packus_epi16(a, b)
                }
            })
        };
        codes_of_32<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(x: Words<Self>, limits: Limits) = {
            let ones = limits.ones.into();
            let [a, b, c, d] = if SATURATE && !FROM {
                let highest = m.splat(limits.highest.into());
                each!(x, |x| _mm256_min_epu32(x, highest))
            } else {
                x
            };
            let (low, high) = (pack_32::<SATURATE, true>(a, b, ones), pack_32::<SATURATE, true>(c, d, ones));
            quarters_in_order(if FROM {
                pack_codes::<NARROW, SATURATE, TO>(low, high, limits)
            } else {
                _mm256_packus_epi16(low, high)
            })
        };
        codes_of_64<const NARROW: bool, const SATURATE: bool, const FROM: bool, const TO: bool>(x: Doubles<Self>, limits: Limits) = {
            let ones = limits.ones.into();
            let [a, b, c, d, e, f, g, h] = x;
            let low = packs::halves_of_64::<SATURATE, FROM, true>([a, b, c, d], ones);
            let high = packs::halves_of_64::<SATURATE, FROM, true>([e, f, g, h], ones);
            pairs_in_order(pack_codes::<NARROW, SATURATE, TO>(low, high, limits))
        };
        halves_of_64<const SATURATE: bool, const FROM: bool, const TO: bool>(x: Doubles<Self>) -> Halves<Self> = {
            let [a, b, c, d, e, f, g, h] = x;
            two!([[a, b, c, d], [e, f, g, h]], |x| {
                quarters_in_order(packs::halves_of_64::<SATURATE, FROM, TO>(x, 0xFFFF))
            })
        };
        low_bytes_32(x: Words<Self>) = m.codes_of_32::<false, false, true, true>(x, Limits::byte(true));
        low_bytes_64(x: Doubles<Self>) = m.codes_of_64::<false, false, true, true>(x, Limits::byte(true));
        low_halves_64(x: Doubles<Self>) -> Halves<Self> = m.halves_of_64::<false, true, true>(x);
        truths_32(x: Words<Self>) = {
            let [a, b, c, d] = each!(x, |x| _mm256_cmpeq_epi32(x, _mm256_setzero_si256()));
            let zeros = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            _mm256_add_epi8(quarters_in_order(zeros), m.splat_8(1))
        };
        truths_64(x: Doubles<Self>) = {
            let [a, b, c, d, e, f, g, h] = eight!(x, |x| _mm256_cmpeq_epi64(x, _mm256_setzero_si256()));
            let [a, b, c, d] = each!([(a, b), (c, d), (e, f), (g, h)], |(a, b)| _mm256_packs_epi32(a, b));
            let zeros = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            _mm256_add_epi8(pairs_in_order(zeros), m.splat_8(1))
        };
        bytes_in_doubles<const AT: usize>(x: Bytes<Self>) -> Doubles<Self> = {
            let [a, b, c, d] = each!(m.bytes_in_words::<0>(x), |x| m.widen_32::<false>(x));
            let up = _mm_cvtsi32_si128(8 * AT as i32);
            eight!([a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]], |x| _mm256_sll_epi64(x, up))
        };
        halves_in_doubles<const AT: usize>(x: Halves<Self>) -> Doubles<Self> = {
            let [[a, b], [c, d]] = two!(x, |x| m.widen_16::<false>(x));
            let [a, b, c, d] = each!([a, b, c, d], |x| m.widen_32::<false>(x));
            let up = _mm_cvtsi32_si128(8 * AT as i32);
            eight!([a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]], |x| _mm256_sll_epi64(x, up))
        };

        eq_f32(a, b) = si(_mm256_cmp_ps::<_CMP_EQ_OQ>(ps(a), ps(b)));
        abs_ge_f32(a, b) = si(_mm256_cmp_ps::<_CMP_GE_OQ>(floats::abs(ps(a)), floats::abs(ps(b))));
        abs_gt_f32(a, b) = si(_mm256_cmp_ps::<_CMP_GT_OQ>(floats::abs(ps(a)), floats::abs(ps(b))));
        // These instructions return their second operand if either is NaN.
        min_nan_f32(a, b) = si(_mm256_min_ps(ps(b), ps(a)));
        max_nan_f32(a, b) = si(_mm256_max_ps(ps(b), ps(a)));
        mul_sub_f32(c, a, b) = si(_mm256_fnmadd_ps(ps(a), ps(b), ps(c)));
        round_env_f32(x) = si(env::_mm256_round_ps::<CURRENT>(ps(x)));
        round_away_f32(x) = si(floats::round_away(ps(x)));
        int32_of_f32<const SIGNED: bool>(x) = floats::int32_of_f32::<SIGNED>(ps(x));
        int8_of_f32<const SIGNED: bool>(x: Words<Self>) -> Bytes<Self> = {
            m.codes_of_32::<false, true, true, SIGNED>(each!(x, |x| floats::short_of_f32::<SIGNED>(ps(x))), Limits::byte(SIGNED))
        };
        int16_of_f32<const SIGNED: bool>(x: Words<Self>) -> Halves<Self> = {
            let [a, b, c, d] = each!(x, |x| floats::short_of_f32::<SIGNED>(ps(x)));
            [m.narrow_32::<true, true, SIGNED>(a, b), m.narrow_32::<true, true, SIGNED>(c, d)]
        };
        low_32_of_f32(x) = _mm256_cvttps_epi32(floats::number(floats::modulo(ps(x))));
        // Infinity and NaN become the bits of -2^31.
        low_16_of_f32(x) = _mm256_cvttps_epi32(floats::modulo(ps(x)));
        int32_or_0_of_f32(x) = {
            let int = _mm256_cvttps_epi32(ps(x));
            _mm256_andnot_si256(_mm256_cmpeq_epi32(int, _mm256_set1_epi32(i32::MIN)), int)
        };
        int64s_of_f32<const SATURATE: bool, const TO: bool>(x: Words<Self>) -> Doubles<Self> = {
            floats::int64s_of_f32::<SATURATE, TO>(x)
        };
        f32_of_int32_env<const SIGNED: bool>(x) = floats::f32_of_int32::<DIRECTED, SIGNED>(x);
        f32_of_f16(x) -> [Self::V; 2] = two!(floats::halves(x), |x| si(_mm256_cvtph_ps(x)));
        f16_of_f32_env(a, b) = {
            let [a, b] = two!([a, b], |x| env::_mm256_cvtps_ph::<CURRENT>(ps(x)));
            _mm256_set_m128i(b, a)
        };
        bf16_of_f32(a, b) = {
            let [a, b] = two!([a, b], |x| {
                let last = _mm256_and_si256(_mm256_srli_epi32::<16>(x), _mm256_set1_epi32(1));
                // Just under half a unit, plus the last kept bit.
                let sum = _mm256_add_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(0x7FFF)), last);
                let nan = _mm256_or_si256(x, _mm256_set1_epi32(0x7FC0_0000));
                let nan = _mm256_and_si256(nan, _mm256_set1_epi32(0xFFC0_0000_u32 as i32));
                _mm256_srli_epi32::<16>(m.select_nan(x, nan, sum))
            });
            in_order(_mm256_packus_epi32(a, b))
        };

        abs_ge_f64(a, b) = floats::si_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(floats::abs_pd(pd(a)), floats::abs_pd(pd(b))));
        add_env_f64(a, b) = floats::si_pd(env::_mm256_add_pd(pd(a), pd(b)));
        round_env_f64(x) = floats::si_pd(env::_mm256_round_pd::<CURRENT>(pd(x)));
        round_away_f64(x) = floats::si_pd(floats::round_away_pd(pd(x)));
        int64_of_f64<const SIGNED: bool>(x) = floats::int64_of_f64::<true, SIGNED>(pd(x));
        low_64_of_f64(x) = floats::int64_of_f64::<false, true>(pd(x));
        int64_or_0_of_f64(x) = {
            let short = _mm256_cmp_pd::<_CMP_LT_OQ>(floats::abs_pd(pd(x)), _mm256_set1_pd(floats::TWO_63));
            _mm256_and_si256(m.low_64_of_f64(x), floats::si_pd(short))
        };
        int64s_of_f64<const SATURATE: bool, const TO: bool>(x: Doubles<Self>) -> Doubles<Self> = {
            floats::int64s_of_f64::<SATURATE, TO>(x)
        };
        int32s_of_f64<const BITS: u32, const SATURATE: bool, const TO: bool>(x: Doubles<Self>) -> Words<Self> = {
            each!([0, 2, 4, 6], |k| match (SATURATE, TO) {
                (true, false) => {
                    m.even_32(floats::uint32_of_f64(pd(x[k])), floats::uint32_of_f64(pd(x[k + 1])))
                }
                _ => {
                    let [a, b] = two!([x[k], x[k + 1]], |x| floats::int32_of_f64::<BITS, SATURATE>(pd(x)));
                    _mm256_set_m128i(b, a)
                }
            })
        };
        f64_of_int64_env<const SIGNED: bool>(x) = floats::f64_of_int64::<DIRECTED, SIGNED>(x);
        odd_f64_of_int64<const SIGNED: bool>(x: Doubles<Self>) -> Doubles<Self> = {
            floats::odd_f64_of_int64::<DIRECTED, SIGNED>(x)
        };
        f64_of_int32<const SIGNED: bool>(x) -> [Self::V; 2] = two!(floats::halves(x), |x| {
            floats::si_pd(if SIGNED {
                _mm256_cvtepi32_pd(x)
            } else {
                // A difference that is zero may be negative.
                let magic = m.splat_64(0x4330 << 48);
                let both = _mm256_or_si256(_mm256_cvtepu32_epi64(x), magic);
                floats::abs_pd(_mm256_sub_pd(pd(both), pd(magic)))
            })
        });
        f64_of_bytes<const SIGNED: bool>(x: Bytes<Self>) -> Doubles<Self> = {
            m.f64_of_halves::<SIGNED>(m.widen_8::<SIGNED>(x))
        };
        f64_of_halves<const SIGNED: bool>(x: Halves<Self>) -> Doubles<Self> = {
            let [[a, b], [c, d]] = two!(x, |x| m.widen_16::<SIGNED>(x));
            let [a, b, c, d] = each!([a, b, c, d], |x| m.f64_of_int32::<true>(x));
            [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
        };
        f64_of_f32(x) -> [Self::V; 2] = {
            two!(floats::halves(x), |x| floats::si_pd(_mm256_cvtps_pd(_mm_castsi128_ps(x))))
        };
        f32_of_f64_env(a, b) = {
            let [a, b] = two!([a, b], |x| if DIRECTED { env::_mm256_cvtpd_ps(pd(x)) } else { _mm256_cvtpd_ps(pd(x)) });
            si(_mm256_set_m128(b, a))
        };
        f32_of_f64_odd(a, b) = floats::f32_of_f64_odd(a, b);
    }

    type Table64 = [__m256i; 4];

    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> __m256i {
        // SAFETY: the caller's register.
        unsafe { _mm256_loadu_si256(p.cast()) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, x: __m256i) {
        // SAFETY: the caller's register.
        unsafe { _mm256_storeu_si256(p.cast(), x) }
    }
    #[inline(always)]
    unsafe fn load_half(self, p: *const u8) -> __m256i {
        // SAFETY: the caller's half.
        unsafe {
            let low = _mm_loadu_si128(p.cast());
            _mm256_set_m128i(low, low)
        }
    }
    #[inline(always)]
    unsafe fn load_few<const SIZE: usize>(self, p: *const u8, n: usize, k: usize) -> __m256i {
        // SAFETY: all bytes that are read belong to the caller's elements. The masks are 8 of the 16 lanes.
        unsafe {
            if SIZE == 2 {
                let low = few_halves(p, n);
                return _mm256_set_m128i(low, low);
            }
            let lanes = (n * (SIZE / 4)).saturating_sub(8 * k).min(8);
            let masks: &[i32; 16] = &[-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
            let mask = _mm256_loadu_si256(masks.as_ptr().add(8 - lanes).cast());
            _mm256_maskload_epi32(p.wrapping_add(32 * k).cast(), mask)
        }
    }
    #[inline(always)]
    unsafe fn store_low<const QUARTERS: usize>(self, p: *mut u8, x: __m256i) {
        // SAFETY: the caller's quarters.
        unsafe {
            let low = _mm256_castsi256_si128(x);
            if QUARTERS == 1 { _mm_storel_epi64(p.cast(), low) } else { _mm_storeu_si128(p.cast(), low) }
        }
    }
    #[inline(always)]
    unsafe fn unpack<const BITS: usize>(self, p: *const u8) -> [__m256i; 2] {
        // SAFETY: two units, of `4 * BITS` of the caller's bytes each.
        two!([p, p.wrapping_add(4 * BITS)], |p| unsafe {
            match BITS {
                2 => packing::spread::<2>(p),
                4 => packing::spread::<4>(p),
                _ => packing::spread::<6>(p),
            }
        })
    }
    #[inline(always)]
    unsafe fn pack<const BITS: usize>(self, p: *mut u8, x: [__m256i; 2]) {
        // SAFETY: two units, of `4 * BITS` of the caller's bytes each.
        two!([(p, x[0]), (p.wrapping_add(4 * BITS), x[1])], |(p, x)| unsafe {
            match BITS {
                2 => store_packed::<2>(p, x),
                4 => store_packed::<4>(p, x),
                _ => store_packed::<6>(p, x),
            }
        });
    }
}

/// Loads fewer than 8 elements of 16 bits, with zeros behind them. AVX2 has no masks for 16 bits.
///
/// # Safety
///
/// The `n` elements can be read.
#[inline(always)]
unsafe fn few_halves(p: *const u8, n: usize) -> __m128i {
    // SAFETY: all elements that are read are among the `n`.
    unsafe {
        let u64_at = |i: usize| p.add(2 * i).cast::<u64>().read_unaligned();
        let u32_at = |i: usize| p.add(2 * i).cast::<u32>().read_unaligned();
        let u16_at = |i: usize| p.add(2 * i).cast::<u16>().read_unaligned();
        let (low, high) = match n {
            0 => (0, 0),
            1 => (u16_at(0) as u64, 0),
            2 | 3 => (u32_at(0) as u64 | (u16_at(n - 1) as u64) << (16 * (n - 1)), 0),
            // The last four overlap the first.
            _ => (u64_at(0), (u64_at(n - 4) as u128 >> (16 * (8 - n))) as u64),
        };
        _mm_set_epi64x(high as i64, low as i64)
    }
}

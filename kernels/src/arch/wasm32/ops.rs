//! Lanes of every width on registers of WebAssembly: [`LaneOps`].

use super::{
    floats::{self, by_lanes, f64_of_int32, upper},
    packing,
    simd::{self, *},
};
use crate::{
    exact::hub::{F64, Hub},
    format::data::Data,
    vector::{
        each,
        lanes::{Bytes, Doubles, Halves, Kernel, LaneOps, Vectorized, Words, rounded::mode, two},
    },
};
use core::arch::wasm32::*;

/// 12582912 = 1.5 * 2^23. Adding an integer of up to 22 bits to this float32 puts the integer into the last bits.
const UNITS: f32 = 12_582_912.0;

/// Shifts lanes by the low bytes of `by`, one lane after the other: the instructions shift all lanes alike.
macro_rules! shifted {
    ($lane:ident, $vector:ident, $extract:ident, $($i:literal)*, $a:ident, $by:ident) => {
        $vector($({
            let (x, by) = ($extract::<$i>($a) as $lane, $extract::<$i>($by) as i8);
            let shifted = if by < 0 { x.checked_shr(by.unsigned_abs() as u32) } else { x.checked_shl(by as u32) };
            shifted.unwrap_or(0)
        }),*)
    };
}

/// Clamps int64 to a range.
#[inline(always)]
fn limited_64(x: v128, min: i64, max: i64) -> v128 {
    let (min, max) = (i64x2_splat(min), i64x2_splat(max));
    let x = v128_bitselect(max, x, i64x2_gt(x, max));
    v128_bitselect(min, x, i64x2_lt(x, min))
}

impl<const DIRECTED: bool> LaneOps for Wasm128<DIRECTED> {
    type Function<K: Kernel<Self>> = Vectorized<Self, K>;
    #[inline(always)]
    fn under(mut self, data: &Data) -> Self {
        if DIRECTED {
            (_, self.direction) = mode(&data.rules);
        }
        self
    }

    operations! { m:
        and_not(a, b) = v128_andnot(a, b);
        select(mask, yes, no) = v128_bitselect(yes, no, mask);

        add_8(a, b) = u8x16_add(a, b);
        sub_8(a, b) = u8x16_sub(a, b);
        // WebAssembly multiplies lanes of 16 bits, not bytes.
        mul_add_8(c, a, b) = {
            let even = u16x8_mul(a, b);
            let odd = u16x8_shl(u16x8_mul(u16x8_shr(a, 8), u16x8_shr(b, 8)), 8);
            u8x16_add(c, v128_bitselect(even, odd, u16x8_splat(0xFF)))
        };
        min_u8(a, b) = u8x16_min(a, b);
        max_u8(a, b) = u8x16_max(a, b);
        min_i8(a, b) = i8x16_min(a, b);
        max_i8(a, b) = i8x16_max(a, b);
        eq_8(a, b) = u8x16_eq(a, b);
        ge_u8(a, b) = u8x16_ge(a, b);
        signs_8(a) = i8x16_shr(a, 7);
        shl_8<const BY: i32>(a) = u8x16_shl(a, BY as u32);
        shr_8<const BY: i32>(a) = u8x16_shr(a, BY as u32);
        even_8(a, b) = simd::even_8(a, b);
        odd_8(a, b) = simd::odd_8(a, b);

        look_up_16(table, index) = u8x16_swizzle(table, index);

        add_16(a, b) = u16x8_add(a, b);
        min_u16(a, b) = u16x8_min(a, b);
        max_i16(a, b) = i16x8_max(a, b);
        gt_u16(a, b) = u16x8_gt(a, b);
        nonzero_16(a) = u16x8_ne(a, u16x8_splat(0));
        shl_16<const BY: i32>(a) = u16x8_shl(a, BY as u32);
        shr_16<const BY: i32>(a) = u16x8_shr(a, BY as u32);
        signs_16(a) = i16x8_shr(a, 15);
        shift_16(a, by) = shifted!(u16, u16x8, u16x8_extract_lane, 0 1 2 3 4 5 6 7, a, by);

        gt_u32(a, b) = u32x4_gt(a, b);
        nonzero_32(a) = u32x4_ne(a, u32x4_splat(0));
        signs_32(a) = i32x4_shr(a, 31);
        shift_32(a, by) = shifted!(u32, u32x4, u32x4_extract_lane, 0 1 2 3, a, by);
        even_32(a, b) = simd::even_32(a, b);
        odd_32(a, b) = simd::odd_32(a, b);

        add_64(a, b) = u64x2_add(a, b);
        sub_64(a, b) = u64x2_sub(a, b);
        nonzero_64(a) = u64x2_ne(a, u64x2_splat(0));
        signs_64(a) = i64x2_shr(a, 63);
        shift_64(a, by) = shifted!(u64, u64x2, u64x2_extract_lane, 0 1, a, by);
        even_64(a, b) = simd::even_64(a, b);
        odd_64(a, b) = simd::odd_64(a, b);

        eq_f32(a, b) = f32x4_eq(a, b);
        abs_ge_f32(a, b) = f32x4_ge(f32x4_abs(a), f32x4_abs(b));
        abs_gt_f32(a, b) = f32x4_gt(f32x4_abs(a), f32x4_abs(b));
        min_nan_f32(a, b) = f32x4_pmin(a, b);
        max_nan_f32(a, b) = f32x4_pmax(a, b);
        mul_sub_f32(c, a, b) = f32x4_sub(c, f32x4_mul(a, b));
        round_env_f32(x) = m.round_env_32(x);
        round_away_f32(x) = {
            let truncated = f32x4_trunc(x);
            let sign = v128_and(x, f32x4_splat(-0.0));
            let half = f32x4_ge(f32x4_abs(f32x4_sub(x, truncated)), f32x4_splat(0.5));
            let step = v128_and(half, f32x4_splat(1.0));
            v128_or(f32x4_add(truncated, v128_or(step, sign)), sign)
        };
        int32_of_f32<const SIGNED: bool>(x) = {
            if SIGNED { i32x4_trunc_sat_f32x4(x) } else { u32x4_trunc_sat_f32x4(x) }
        };
        // The remainder of the magnitude, which is exact, with the sign. The remainder of infinity is NaN, which becomes 0.
        low_32_of_f32(x) = {
            const RANGE: f32 = (1_u64 << 32) as f32;
            let magnitude = f32x4_abs(x);
            let multiple = f32x4_trunc(f32x4_mul(magnitude, f32x4_splat(1.0 / RANGE)));
            let rest = u32x4_trunc_sat_f32x4(f32x4_sub(magnitude, f32x4_mul(multiple, f32x4_splat(RANGE))));
            let sign = i32x4_shr(x, 31);
            u32x4_sub(v128_xor(rest, sign), sign)
        };
        int32_or_0_of_f32(x) = {
            let short = f32x4_lt(f32x4_abs(x), f32x4_splat(2_147_483_648.0));
            v128_and(i32x4_trunc_sat_f32x4(x), short)
        };
        f32_of_int32_env<const SIGNED: bool>(x) = m.f32_of_int32::<SIGNED>(x);
        f16_of_f32_env(a, b) = m.f16_of_f32(a, b);
        bf16_of_f32(a, b) = floats::bf16_of_f32(a, b);

        abs_ge_f64(a, b) = f64x2_ge(f64x2_abs(a), f64x2_abs(b));
        add_env_f64(a, b) = m.add_env_64(a, b);
        round_env_f64(x) = m.round_env_64(x);
        round_away_f64(x) = {
            let truncated = f64x2_trunc(x);
            let sign = v128_and(x, f64x2_splat(-0.0));
            let half = f64x2_ge(f64x2_abs(f64x2_sub(x, truncated)), f64x2_splat(0.5));
            let step = v128_and(half, f64x2_splat(1.0));
            v128_or(f64x2_add(truncated, v128_or(step, sign)), sign)
        };
        int64_of_f64<const SIGNED: bool>(x) = {
            by_lanes(x, |x| if SIGNED { f64::from_bits(x) as i64 as u64 } else { f64::from_bits(x) as u64 })
        };
        low_64_of_f64(x) = by_lanes(x, |x| F64(x).int::<false>(64, true));
        int64_or_0_of_f64(x) = {
            let short = f64x2_lt(f64x2_abs(x), f64x2_splat(9_223_372_036_854_775_808.0));
            v128_and(self::by_lanes(x, |x| f64::from_bits(x) as i64 as u64), short)
        };
        f64_of_int64_env<const SIGNED: bool>(x) = m.f64_of_int64::<SIGNED>(x);
        f32_of_f64_env(a, b) = m.f32_of_f64(a, b);
        f32_of_f64_odd(a, b) = floats::f32_of_f64_odd(a, b);

        narrow_16<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = match (SATURATE, FROM) {
            (false, _) => simd::even_8(a, b),
            (true, true) => simd::bytes::<TO>([a, b]),
            (true, false) => {
                let max = u16x8_splat(if TO { 0x7F } else { 0xFF });
                simd::even_8(u16x8_min(a, max), u16x8_min(b, max))
            }
        };
        narrow_32<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = match (SATURATE, FROM, TO) {
            (false, ..) => even_16(a, b),
            (true, true, true) => i16x8_narrow_i32x4(a, b),
            (true, true, false) => u16x8_narrow_i32x4(a, b),
            (true, false, _) => {
                let max = u32x4_splat(if TO { 0x7FFF } else { 0xFFFF });
                even_16(u32x4_min(a, max), u32x4_min(b, max))
            }
        };
        narrow_64<const SATURATE: bool, const FROM: bool, const TO: bool>(a, b) = {
            let (min, max) = if TO { (i32::MIN as i64, i32::MAX as i64) } else { (0, u32::MAX as i64) };
            let [a, b] = two!([a, b], |x| match (SATURATE, FROM) {
                (false, _) => x,
                (true, true) => limited_64(x, min, max),
                // An unsigned number with its top bit set is too large.
                (true, false) => limited_64(v128_bitselect(i64x2_splat(max), x, i64x2_shr(x, 63)), 0, max),
            });
            simd::even_32(a, b)
        };
    }

    #[inline(always)]
    fn any(self, a: v128) -> bool {
        v128_any_true(a)
    }
    #[inline(always)]
    fn splat_8(self, x: u8) -> v128 {
        u8x16_splat(x)
    }
    #[inline(always)]
    fn splat_16(self, x: u16) -> v128 {
        u16x8_splat(x)
    }
    #[inline(always)]
    fn splat_64(self, x: u64) -> v128 {
        u64x2_splat(x)
    }
    #[inline(always)]
    fn zip_8(self, a: v128, b: v128) -> [v128; 2] {
        [low_8(a, b), high_8(a, b)]
    }
    #[inline(always)]
    fn zip_64(self, a: v128, b: v128) -> [v128; 2] {
        [simd::even_64(a, b), simd::odd_64(a, b)]
    }

    const ENDS: bool = true;
    type Table64 = [v128; 4];
    #[inline(always)]
    fn table_16(self, entries: &[u8; 16]) -> v128 {
        // SAFETY: the entries are a register.
        unsafe { load(entries.as_ptr()) }
    }
    #[inline(always)]
    fn table_64(self, entries: &[u8; 64]) -> [v128; 4] {
        // SAFETY: the entries are four registers.
        each!([0, 1, 2, 3], |k| unsafe { load(entries.as_ptr().add(16 * k)) })
    }
    #[inline(always)]
    fn look_up_64(self, table: [v128; 4], index: v128) -> v128 {
        // An index of 16 or more finds 0.
        let [a, b, c, d] =
            each!([0, 1, 2, 3], |k| u8x16_swizzle(table[k], u8x16_sub(index, u8x16_splat(16 * k as u8))));
        v128_or(v128_or(a, b), v128_or(c, d))
    }
    #[inline(always)]
    fn look_up_64_or(self, found: v128, table: [v128; 4], index: v128) -> v128 {
        let other = v128_and(found, u8x16_gt(index, u8x16_splat(63)));
        v128_or(self.look_up_64(table, index), other)
    }

    #[inline(always)]
    fn widen_8<const SIGNED: bool>(self, x: v128) -> [v128; 2] {
        if SIGNED {
            [i16x8_extend_low_i8x16(x), i16x8_extend_high_i8x16(x)]
        } else {
            [u16x8_extend_low_u8x16(x), u16x8_extend_high_u8x16(x)]
        }
    }
    #[inline(always)]
    fn widen_16<const SIGNED: bool>(self, x: v128) -> [v128; 2] {
        if SIGNED {
            [i32x4_extend_low_i16x8(x), i32x4_extend_high_i16x8(x)]
        } else {
            [u32x4_extend_low_u16x8(x), u32x4_extend_high_u16x8(x)]
        }
    }
    #[inline(always)]
    fn widen_32<const SIGNED: bool>(self, x: v128) -> [v128; 2] {
        if SIGNED {
            [i64x2_extend_low_i32x4(x), i64x2_extend_high_i32x4(x)]
        } else {
            [u64x2_extend_low_u32x4(x), u64x2_extend_high_u32x4(x)]
        }
    }
    #[inline(always)]
    fn low_bytes_32(self, x: Words<Self>) -> Bytes<Self> {
        low_bytes(x)
    }
    #[inline(always)]
    fn bytes_in_doubles<const AT: usize>(self, x: Bytes<Self>) -> Doubles<Self> {
        let [a, b, c, d] = self.bytes_in_words::<0>(x);
        let [[a, b], [c, d], [e, f], [g, h]] = each!([a, b, c, d], |x| self.widen_32::<false>(x));
        [a, b, c, d, e, f, g, h].map(|x| u64x2_shl(x, 8 * AT as u32))
    }
    #[inline(always)]
    fn halves_in_doubles<const AT: usize>(self, [x, y]: Halves<Self>) -> Doubles<Self> {
        let ([a, b], [c, d]) = (self.widen_16::<false>(x), self.widen_16::<false>(y));
        let [[a, b], [c, d], [e, f], [g, h]] = each!([a, b, c, d], |x| self.widen_32::<false>(x));
        [a, b, c, d, e, f, g, h].map(|x| u64x2_shl(x, 8 * AT as u32))
    }

    const NAN_KEEPS_SIGN: bool = false;
    /// Clamps as floats: integers of up to 16 bits are then the last bits of sums, because conversions that saturate are slow on x86.
    #[inline(always)]
    fn int8_of_f32<const SIGNED: bool>(self, x: Words<Self>) -> Bytes<Self> {
        low_bytes(each!(x, |x| units::<SIGNED>(x, if SIGNED { 127.0 } else { 255.0 })))
    }
    #[inline(always)]
    fn int16_of_f32<const SIGNED: bool>(self, x: Words<Self>) -> Halves<Self> {
        let [a, b, c, d] = each!(x, |x| units::<SIGNED>(x, if SIGNED { 32_767.0 } else { 65_535.0 }));
        [even_16(a, b), even_16(c, d)]
    }
    #[inline(always)]
    fn f32_of_f16(self, x: v128) -> [v128; 2] {
        floats::f32_of_f16(x)
    }
    #[inline(always)]
    fn in_upper_halves(self, x: v128) -> [v128; 2] {
        let zero = u16x8_splat(0);
        [low_16(zero, x), high_16(zero, x)]
    }
    #[inline(always)]
    fn f64_of_int32<const SIGNED: bool>(self, x: v128) -> [v128; 2] {
        f64_of_int32::<SIGNED>(x)
    }
    #[inline(always)]
    fn f64_of_bytes<const SIGNED: bool>(self, x: Bytes<Self>) -> Doubles<Self> {
        let [[a, b], [c, d]] = two!(self.widen_8::<SIGNED>(x), |x| self.widen_16::<SIGNED>(x));
        let [[a, b], [c, d], [e, f], [g, h]] = each!([a, b, c, d], |x| f64_of_int32::<true>(x));
        [a, b, c, d, e, f, g, h]
    }
    #[inline(always)]
    fn f64_of_halves<const SIGNED: bool>(self, x: Halves<Self>) -> Doubles<Self> {
        let [[a, b], [c, d]] = two!(x, |x| self.widen_16::<SIGNED>(x));
        let [[a, b], [c, d], [e, f], [g, h]] = each!([a, b, c, d], |x| f64_of_int32::<true>(x));
        [a, b, c, d, e, f, g, h]
    }
    #[inline(always)]
    fn f64_of_f32(self, x: v128) -> [v128; 2] {
        floats::f64_of_f32(x)
    }

    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> v128 {
        // SAFETY: the caller grants the register.
        unsafe { load(p) }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, x: v128) {
        // SAFETY: the caller grants the register.
        unsafe { store(p, x) }
    }
    #[inline(always)]
    unsafe fn unpack<const BITS: usize>(self, p: *const u8) -> [v128; 2] {
        // SAFETY: the caller grants the bytes of two units.
        unsafe { packing::spread::<BITS>(p) }
    }
    #[inline(always)]
    unsafe fn pack<const BITS: usize>(self, p: *mut u8, x: [v128; 2]) {
        // SAFETY: the caller grants the bytes of two units.
        unsafe { packing::join::<BITS>(p, x) }
    }
}

/// Truncates float32 and clamps to integers of up to `max`, with or without a sign, in the last bits of lanes. NaN becomes 0.
#[inline(always)]
fn units<const SIGNED: bool>(x: v128, max: f32) -> v128 {
    let above = if SIGNED {
        f32x4_pmax(f32x4_splat(-max - 1.0), v128_and(x, f32x4_eq(x, x)))
    } else {
        f32x4_pmax(f32x4_splat(0.0), x)
    };
    f32x4_add(f32x4_trunc(f32x4_pmin(above, f32x4_splat(max))), f32x4_splat(UNITS))
}

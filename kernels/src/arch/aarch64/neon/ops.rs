//! NEON's operations on lanes of every width ([`LaneOps`]).

use super::{
    super::packing,
    simd::{Neon, operations},
};
use crate::{
    arch::aarch64::fine,
    format::data::Data,
    vector::{
        Simd, each,
        lanes::{Bytes, Doubles, Halves, Kernel, LaneOps, Vectorized, Words},
    },
};
use bytemuck::must_cast as cast;
use core::arch::aarch64::*;

/// The look-up indices of the bytes that lie `step` apart in other registers. The first byte goes to entry `first`; the entries before find 0.
const fn every(step: usize, first: usize) -> [u8; 16] {
    let mut index = [0xFF; 16];
    let mut i = first;
    while i < 16 && (i - first) * step < 64 {
        index[i] = ((i - first) * step) as u8;
        i += 1;
    }
    index
}

/// The look-up indices that spread integers of `from` bytes over registers: each integer goes to byte `at` of a lane of `size` bytes. All other
/// bytes become zero.
const fn spread<const N: usize>(from: usize, size: usize, at: usize) -> [[u8; 16]; N] {
    let mut index = [[0xFF; 16]; N];
    let mut i = 0;
    while i < 16 {
        let lane = i / from * size;
        index[lane / 16][lane % 16 + at + i % from] = i as u8;
        i += 1;
    }
    index
}

/// Narrows two registers into one: it keeps the low halves of their lanes, or rounds to nearest.
macro_rules! narrow {
    ($name:ident, $fit:ident, $low:ident, $signed:ident, $signed_high:ident, $to_unsigned:ident, $to_unsigned_high:ident,
        $unsigned:ident, $unsigned_high:ident) => {
        #[inline(always)]
        fn $name<const SATURATE: bool, const FROM: bool, const TO: bool>(
            self,
            a: Self::V,
            b: Self::V,
        ) -> Self::V {
            let n = self.neon;
            match (SATURATE, FROM, TO) {
                (false, ..) => cast(n.$low(cast(a), cast(b))),
                (true, true, true) => cast(n.$signed_high(n.$signed(cast(a)), cast(b))),
                (true, true, false) => cast(n.$to_unsigned_high(n.$to_unsigned(cast(a)), cast(b))),
                (true, false, _) => {
                    self.$fit::<false, TO>(cast(n.$unsigned_high(n.$unsigned(cast(a)), cast(b))))
                }
            }
        }
    };
}

/// Widens one register to two.
macro_rules! widen {
    ($name:ident, $signed_low:ident, $signed:ident, $signed_high:ident, $unsigned_low:ident, $unsigned:ident,
        $unsigned_high:ident) => {
        #[inline(always)]
        fn $name<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2] {
            let n = self.neon;
            if SIGNED {
                [cast(n.$signed(n.$signed_low(cast(x)))), cast(n.$signed_high(cast(x)))]
            } else {
                [cast(n.$unsigned(n.$unsigned_low(cast(x)))), cast(n.$unsigned_high(cast(x)))]
            }
        }
    };
}

impl<const BF16: bool, const FP16: bool> Neon<BF16, FP16> {
    /// Looks sixteen bytes up in four registers.
    #[inline(always)]
    fn pick<T: bytemuck::Pod>(self, [a, b, c, d]: [T; 4], index: [u8; 16]) -> uint8x16_t
    where
        Self: Simd,
    {
        self.neon.vqtbl4q_u8(uint8x16x4_t(cast(a), cast(b), cast(c), cast(d)), cast(index))
    }
}

impl<const BF16: bool, const FP16: bool> LaneOps for Neon<BF16, FP16> {
    type Function<K: Kernel<Self>> = Vectorized<Self, K>;
    #[inline(always)]
    unsafe fn vectorize<K: Kernel<Self>>(self, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        /// # Safety
        ///
        /// The CPU has FEAT_FP16; all else is as for [`Kernel::run`].
        #[target_feature(enable = "neon,fp16")]
        unsafe fn with_fp16<M, K: Kernel<M>>(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller grants the buffers.
            unsafe { K::run(m, src, dst, n, data) }
        }
        /// # Safety
        ///
        /// The CPU has FEAT_BF16; all else is as for [`Kernel::run`].
        #[target_feature(enable = "neon,bf16")]
        unsafe fn with_bf16<M, K: Kernel<M>>(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller grants the buffers.
            unsafe { K::run(m, src, dst, n, data) }
        }
        // SAFETY: the token stands for these features; the caller grants the buffers.
        unsafe {
            if FP16 {
                with_fp16::<Self, K>(self, src, dst, n, data)
            } else if BF16 {
                with_bf16::<Self, K>(self, src, dst, n, data)
            } else {
                K::run(self, src, dst, n, data)
            }
        }
    }

    operations! { n:
        and_not(a, b) = n.vbicq_u8(cast(a), cast(b));
        select(mask, yes, no) = n.vbslq_u8(cast(mask), cast(yes), cast(no));

        add_8(a, b) = n.vaddq_u8(cast(a), cast(b));
        sub_8(a, b) = n.vsubq_u8(cast(a), cast(b));
        mul_add_8(c, a, b) = n.vmlaq_u8(cast(c), cast(a), cast(b));
        min_u8(a, b) = n.vminq_u8(cast(a), cast(b));
        max_u8(a, b) = n.vmaxq_u8(cast(a), cast(b));
        min_i8(a, b) = n.vminq_s8(cast(a), cast(b));
        max_i8(a, b) = n.vmaxq_s8(cast(a), cast(b));
        eq_8(a, b) = n.vceqq_u8(cast(a), cast(b));
        ge_u8(a, b) = n.vcgeq_u8(cast(a), cast(b));
        signs_8(a) = n.vcltzq_s8(cast(a));
        <const BY: i32> shl_8(a) = n.vshlq_n_u8::<BY>(cast(a));
        <const BY: i32> shl_insert_8(a, b) = n.vsliq_n_u8::<BY>(cast(a), cast(b));
        <const BY: i32> shr_8(a) = n.vshrq_n_u8::<BY>(cast(a));
        even_8(a, b) = n.vuzp1q_u8(cast(a), cast(b));
        odd_8(a, b) = n.vuzp2q_u8(cast(a), cast(b));

        look_up_16(table, index) = n.vqtbl1q_u8(cast(table), cast(index));

        add_16(a, b) = n.vaddq_u16(cast(a), cast(b));
        min_u16(a, b) = n.vminq_u16(cast(a), cast(b));
        max_i16(a, b) = n.vmaxq_s16(cast(a), cast(b));
        gt_u16(a, b) = n.vcgtq_u16(cast(a), cast(b));
        nonzero_16(a) = n.vtstq_u16(cast(a), cast(a));
        <const BY: i32> shl_16(a) = n.vshlq_n_u16::<BY>(cast(a));
        <const BY: i32> shr_16(a) = n.vshrq_n_u16::<BY>(cast(a));
        signs_16(a) = n.vshrq_n_s16::<15>(cast(a));
        shift_16(a, by) = n.vshlq_u16(cast(a), cast(by));
        <const BY: i32> shr_narrow_16(a, b) = n.vshrn_high_n_u16::<BY>(n.vshrn_n_u16::<BY>(cast(a)), cast(b));

        gt_u32(a, b) = n.vcgtq_u32(cast(a), cast(b));
        nonzero_32(a) = n.vtstq_u32(cast(a), cast(a));
        signs_32(a) = n.vshrq_n_s32::<31>(cast(a));
        shift_32(a, by) = n.vshlq_u32(cast(a), cast(by));
        even_32(a, b) = n.vuzp1q_u32(cast(a), cast(b));
        odd_32(a, b) = n.vuzp2q_u32(cast(a), cast(b));

        add_64(a, b) = n.vaddq_u64(cast(a), cast(b));
        sub_64(a, b) = n.vsubq_u64(cast(a), cast(b));
        nonzero_64(a) = n.vtstq_u64(cast(a), cast(a));
        signs_64(a) = n.vcltzq_s64(cast(a));
        shift_64(a, by) = n.vshlq_u64(cast(a), cast(by));
        even_64(a, b) = n.vuzp1q_u64(cast(a), cast(b));
        odd_64(a, b) = n.vuzp2q_u64(cast(a), cast(b));

        eq_f32(a, b) = n.vceqq_f32(cast(a), cast(b));
        abs_ge_f32(a, b) = n.vcageq_f32(cast(a), cast(b));
        abs_gt_f32(a, b) = n.vcagtq_f32(cast(a), cast(b));
        min_nan_f32(a, b) = n.vminq_f32(cast(a), cast(b));
        max_nan_f32(a, b) = n.vmaxq_f32(cast(a), cast(b));
        f32_of_short_int32(x) = n.vcvtq_f32_s32(cast(x));
        mul_sub_f32(c, a, b) = n.vfmsq_f32(cast(c), cast(a), cast(b));
        round_away_f32(x) = n.vrndaq_f32(cast(x));
        int32_or_0_of_f32(x) = {
            // All numbers out of range are multiples of 2^8, or infinite.
            let beyond = n.vcageq_f32(cast(x), n.vdupq_n_f32(2_147_483_648.0));
            let int: uint32x4_t = cast(n.vcvtq_s32_f32(cast(x)));
            n.vbicq_u32(int, beyond)
        };

        abs_ge_f64(a, b) = n.vcageq_f64(cast(a), cast(b));
        round_away_f64(x) = n.vrndaq_f64(cast(x));
        int64_or_0_of_f64(x) = {
            let beyond = n.vcageq_f64(cast(x), n.vdupq_n_f64(9_223_372_036_854_775_808.0));
            let int: uint64x2_t = cast(n.vcvtq_s64_f64(cast(x)));
            n.vbicq_u64(int, beyond)
        };
        // The low bits are the remainder of the magnitude, with the sign. The remainder is exact because a fused multiply-add subtracts the
        // multiple of the divisor. Infinity becomes NaN, and NaN becomes 0.
        low_32_of_f32(x) = {
            const RANGE: f32 = (1_u64 << 32) as f32;
            let magnitude = n.vabsq_f32(cast(x));
            let multiple = n.vrndq_f32(n.vmulq_f32(magnitude, n.vdupq_n_f32(1.0 / RANGE)));
            let rest = n.vcvtq_u32_f32(n.vfmsq_f32(magnitude, multiple, n.vdupq_n_f32(RANGE)));
            let sign: uint32x4_t = cast(n.vshrq_n_s32::<31>(cast(x)));
            n.vsubq_u32(n.veorq_u32(rest, sign), sign)
        };
        low_64_of_f64(x) = {
            const RANGE: f64 = (1_u128 << 64) as f64;
            let magnitude = n.vabsq_f64(cast(x));
            let multiple = n.vrndq_f64(n.vmulq_f64(magnitude, n.vdupq_n_f64(1.0 / RANGE)));
            let rest = n.vcvtq_u64_f64(n.vfmsq_f64(magnitude, multiple, n.vdupq_n_f64(RANGE)));
            let sign: uint64x2_t = cast(n.vshrq_n_s64::<63>(cast(x)));
            n.vsubq_u64(n.veorq_u64(rest, sign), sign)
        };
    }

    #[inline(always)]
    fn any(self, a: Self::V) -> bool {
        self.neon.vmaxvq_u32(cast(a)) != 0
    }
    #[inline(always)]
    fn splat_8(self, x: u8) -> Self::V {
        cast(self.neon.vdupq_n_u8(x))
    }
    #[inline(always)]
    fn splat_16(self, x: u16) -> Self::V {
        cast(self.neon.vdupq_n_u16(x))
    }
    #[inline(always)]
    fn splat_64(self, x: u64) -> Self::V {
        cast(self.neon.vdupq_n_u64(x))
    }
    #[inline(always)]
    fn zip_8(self, a: Self::V, b: Self::V) -> [Self::V; 2] {
        [cast(self.neon.vzip1q_u8(cast(a), cast(b))), cast(self.neon.vzip2q_u8(cast(a), cast(b)))]
    }
    #[inline(always)]
    fn zip_64(self, a: Self::V, b: Self::V) -> [Self::V; 2] {
        [cast(self.neon.vzip1q_u64(cast(a), cast(b))), cast(self.neon.vzip2q_u64(cast(a), cast(b)))]
    }

    type Table64 = uint8x16x4_t;
    #[inline(always)]
    fn table_16(self, entries: &[u8; 16]) -> Self::V {
        cast(*entries)
    }
    #[inline(always)]
    fn table_64(self, entries: &[u8; 64]) -> uint8x16x4_t {
        let [a, b, c, d] = cast::<[u8; 64], [uint8x16_t; 4]>(*entries);
        uint8x16x4_t(a, b, c, d)
    }
    #[inline(always)]
    fn look_up_64(self, table: uint8x16x4_t, index: Self::V) -> Self::V {
        cast(self.neon.vqtbl4q_u8(table, cast(index)))
    }
    #[inline(always)]
    fn look_up_64_or(self, found: Self::V, table: uint8x16x4_t, index: Self::V) -> Self::V {
        cast(self.neon.vqtbx4q_u8(cast(found), table, cast(index)))
    }

    widen!(widen_8, vget_low_s8, vmovl_s8, vmovl_high_s8, vget_low_u8, vmovl_u8, vmovl_high_u8);
    widen!(widen_16, vget_low_s16, vmovl_s16, vmovl_high_s16, vget_low_u16, vmovl_u16, vmovl_high_u16);
    widen!(widen_32, vget_low_s32, vmovl_s32, vmovl_high_s32, vget_low_u32, vmovl_u32, vmovl_high_u32);
    narrow!(
        narrow_16,
        fit_8,
        vuzp1q_u8,
        vqmovn_s16,
        vqmovn_high_s16,
        vqmovun_s16,
        vqmovun_high_s16,
        vqmovn_u16,
        vqmovn_high_u16
    );
    narrow!(
        narrow_32,
        fit_16,
        vuzp1q_u16,
        vqmovn_s32,
        vqmovn_high_s32,
        vqmovun_s32,
        vqmovun_high_s32,
        vqmovn_u32,
        vqmovn_high_u32
    );
    narrow!(
        narrow_64,
        fit_32,
        vuzp1q_u32,
        vqmovn_s64,
        vqmovn_high_s64,
        vqmovun_s64,
        vqmovun_high_s64,
        vqmovn_u64,
        vqmovn_high_u64
    );
    #[inline(always)]
    fn fit_64<const FROM: bool, const TO: bool>(self, x: Self::V) -> Self::V {
        let n = self.neon;
        match (FROM, TO) {
            (true, false) => self.and_not(x, self.signs_64(x)),
            // All ones where the top bit is set, shifted back.
            (false, true) => cast(n.vshrq_n_u64::<1>(n.vqshlq_n_u64::<1>(cast(x)))),
            _ => x,
        }
    }
    #[inline(always)]
    fn low_bytes_32(self, x: Words<Self>) -> Bytes<Self> {
        cast(self.pick(x, const { every(4, 0) }))
    }
    #[inline(always)]
    fn low_bytes_64(self, [a, b, c, d, e, f, g, h]: Doubles<Self>) -> Bytes<Self> {
        let low = self.pick([a, b, c, d], const { every(8, 0) });
        let high = uint8x16x4_t(cast(e), cast(f), cast(g), cast(h));
        cast(self.neon.vqtbx4q_u8(low, high, cast(const { every(8, 8) })))
    }
    #[inline(always)]
    fn low_halves_64(self, [a, b, c, d, e, f, g, h]: Doubles<Self>) -> Halves<Self> {
        const LOW: [u8; 16] = [0, 1, 8, 9, 16, 17, 24, 25, 32, 33, 40, 41, 48, 49, 56, 57];
        [cast(self.pick([a, b, c, d], LOW)), cast(self.pick([e, f, g, h], LOW))]
    }
    #[inline(always)]
    fn bytes_in_words<const AT: usize>(self, x: Bytes<Self>) -> Words<Self> {
        let index = const { spread::<4>(1, 4, AT) };
        each!([0, 1, 2, 3], |k| cast(self.neon.vqtbl1q_u8(cast(x), cast(index[k]))))
    }
    #[inline(always)]
    fn bytes_in_doubles<const AT: usize>(self, x: Bytes<Self>) -> Doubles<Self> {
        let index = const { spread::<8>(1, 8, AT) };
        crate::vector::lanes::eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| {
            cast(self.neon.vqtbl1q_u8(cast(x), cast(index[k])))
        })
    }
    #[inline(always)]
    fn halves_in_doubles<const AT: usize>(self, [low, high]: Halves<Self>) -> Doubles<Self> {
        let index = const { spread::<4>(2, 8, AT) };
        let [a, b, c, d] = each!([0, 1, 2, 3], |k| cast(self.neon.vqtbl1q_u8(cast(low), cast(index[k]))));
        let [e, f, g, h] = each!([0, 1, 2, 3], |k| cast(self.neon.vqtbl1q_u8(cast(high), cast(index[k]))));
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn round_env_f32(self, x: Self::V) -> Self::V {
        self.round_f32(x)
    }
    #[inline(always)]
    fn int32_of_f32<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        let n = self.neon;
        if SIGNED { cast(n.vcvtq_s32_f32(cast(x))) } else { n.vcvtq_u32_f32(cast(x)) }
    }
    #[inline(always)]
    fn f32_of_int32_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        if SIGNED { self.f32_of_i32(x) } else { self.f32_of_u32(x) }
    }
    /// Converts by way of fractions: the byte moves to the top of the lane, and the point is behind it.
    #[inline(always)]
    fn f32_of_bytes<const SIGNED: bool>(self, x: Bytes<Self>) -> Words<Self> {
        let n = self.neon;
        each!(self.bytes_in_words::<3>(x), |x| {
            cast(if SIGNED { n.vcvtq_n_f32_s32::<24>(cast(x)) } else { n.vcvtq_n_f32_u32::<24>(x) })
        })
    }

    const BF16_IN_DIRECTION: bool = BF16;
    #[inline(always)]
    fn f32_of_f16(self, x: Self::V) -> [Self::V; 2] {
        [self.f32_of_low_f16(x), self.f32_of_high_f16(x)]
    }
    #[inline(always)]
    fn f16_of_f32_env(self, a: Self::V, b: Self::V) -> Self::V {
        self.f16_of_f32(a, b)
    }
    #[inline(always)]
    fn bf16_of_f32(self, a: Self::V, b: Self::V) -> Self::V {
        let n = self.neon;
        let rounded: uint16x8_t = if BF16 {
            cast(self.bf16_by_instruction(a, b))
        } else {
            // The last kept bit plus just under half a unit carries exactly when nearest-even rounds up.
            let up =
                |x| n.vaddq_u32(n.vandq_u32(n.vshrq_n_u32::<16>(x), n.vdupq_n_u32(1)), n.vdupq_n_u32(0x7FFF));
            n.vaddhn_high_u32(n.vaddhn_u32(a, up(a)), b, up(b))
        };
        let ordered = |x: uint32x4_t| cast(n.vceqq_f32(cast(x), cast(x)));
        let ordered = n.vuzp1q_u16(ordered(a), ordered(b));
        let sign = n.vuzp2q_u16(cast(a), cast(b));
        let nan = n.vorrq_u16(n.vandq_u16(sign, n.vdupq_n_u16(0x8000)), n.vdupq_n_u16(0x7FC0));
        cast(n.vbslq_u16(ordered, rounded, nan))
    }
    #[inline(always)]
    fn f16_of_int16_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        if FP16 {
            return if SIGNED { self.f16_of_i16(x) } else { self.f16_of_u16(x) };
        }
        let [a, b] = self.widen_16::<SIGNED>(x);
        self.f16_of_f32_env(self.f32_of_int32_env::<SIGNED>(a), self.f32_of_int32_env::<SIGNED>(b))
    }
    #[inline(always)]
    fn add_upper_halves(self, [a, b]: [Self::V; 2], [x, y]: [Self::V; 2]) -> Self::V {
        cast(self.neon.vaddhn_high_u32(self.neon.vaddhn_u32(a, x), b, y))
    }
    /// Shifts the lanes rather than interleaving them with zeros: the compiler would turn that into interleaving stores.
    #[inline(always)]
    fn in_upper_halves(self, x: Self::V) -> [Self::V; 2] {
        self.widen_16::<false>(x).map(|x| self.neon.vshlq_n_u32::<16>(x))
    }

    #[inline(always)]
    fn add_env_f64(self, a: Self::V, b: Self::V) -> Self::V {
        self.add_f64(a, b)
    }
    #[inline(always)]
    fn round_env_f64(self, x: Self::V) -> Self::V {
        self.round_f64(x)
    }
    #[inline(always)]
    fn int64_of_f64<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        let n = self.neon;
        if SIGNED { cast(n.vcvtq_s64_f64(cast(x))) } else { cast(n.vcvtq_u64_f64(cast(x))) }
    }
    #[inline(always)]
    fn f64_of_int64_env<const SIGNED: bool>(self, x: Self::V) -> Self::V {
        if SIGNED { self.f64_of_i64(x) } else { self.f64_of_u64(x) }
    }
    #[inline(always)]
    fn f64_of_int32<const SIGNED: bool>(self, x: Self::V) -> [Self::V; 2] {
        let n = self.neon;
        self.widen_32::<SIGNED>(x)
            .map(|x| cast(if SIGNED { n.vcvtq_f64_s64(cast(x)) } else { n.vcvtq_f64_u64(cast(x)) }))
    }
    #[inline(always)]
    fn f64_of_bytes<const SIGNED: bool>(self, x: Bytes<Self>) -> Doubles<Self> {
        let n = self.neon;
        crate::vector::lanes::eight!(self.bytes_in_doubles::<7>(x), |x| {
            cast(if SIGNED { n.vcvtq_n_f64_s64::<56>(cast(x)) } else { n.vcvtq_n_f64_u64::<56>(cast(x)) })
        })
    }
    #[inline(always)]
    fn f64_of_halves<const SIGNED: bool>(self, x: Halves<Self>) -> Doubles<Self> {
        let n = self.neon;
        crate::vector::lanes::eight!(self.halves_in_doubles::<6>(x), |x| {
            cast(if SIGNED { n.vcvtq_n_f64_s64::<48>(cast(x)) } else { n.vcvtq_n_f64_u64::<48>(cast(x)) })
        })
    }
    #[inline(always)]
    fn f64_of_f32(self, x: Self::V) -> [Self::V; 2] {
        let n = self.neon;
        [cast(n.vcvt_f64_f32(n.vget_low_f32(cast(x)))), cast(n.vcvt_high_f64_f32(cast(x)))]
    }
    #[inline(always)]
    fn f32_of_f64_env(self, a: Self::V, b: Self::V) -> Self::V {
        self.f32_of_f64(a, b)
    }
    #[inline(always)]
    fn f32_of_f64_odd(self, a: Self::V, b: Self::V) -> Self::V {
        cast(self.neon.vcvtx_high_f32_f64(self.neon.vcvtx_f32_f64(cast(a)), cast(b)))
    }

    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> Self::V {
        // SAFETY: the caller grants the register.
        cast(unsafe { vld1q_u8(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, x: Self::V) {
        // SAFETY: the caller grants the register.
        unsafe { vst1q_u8(p, cast(x)) }
    }
    #[inline(always)]
    unsafe fn unpack<const BITS: usize>(self, p: *const u8) -> [Self::V; 2] {
        // SAFETY: the caller grants the bytes of two units; the token proves NEON.
        unsafe {
            match BITS {
                2 => packing::spread::<2>(p),
                4 => packing::spread::<4>(p),
                _ => packing::spread::<6>(p),
            }
        }
        .map(|x| cast(x))
    }
    #[inline(always)]
    unsafe fn pack<const BITS: usize>(self, p: *mut u8, x: [Self::V; 2]) {
        let x = x.map(|x| cast(x));
        // SAFETY: the caller grants the bytes of two units; the token proves NEON.
        unsafe {
            match BITS {
                2 => packing::join::<2>(p, x),
                4 => packing::join::<4>(p, x),
                _ => packing::join::<6>(p, x),
            }
        }
    }
}

//! The registers of NEON: its operations on lanes of 32 bits, and blocks of four registers, for the kernels of `vector`.

use super::super::packing::store_nibbles;
use crate::vector::{
    Blocks, Simd, each,
    lanes::{LaneOps, high_halves, low_halves, two},
};
use bytemuck::must_cast as cast;
use core::arch::aarch64::*;

/// Proves NEON, and FEAT_BF16 and FEAT_FP16 if the parameters are set.
#[derive(Clone, Copy)]
pub(super) struct Neon<const BF16: bool = false, const FP16: bool = false> {
    pub(super) neon: pulp::core_arch::aarch64::Neon,
}

/// Methods that map registers to a register, written with `$n`, the token of the instructions.
macro_rules! operations {
    ($n:ident: $($(<const $c:ident: $type:ty>)? $name:ident($($arg:ident),*) = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name $(<const $c: $type>)? (self, $($arg: Self::V),*) -> Self::V {
            let $n = self.neon;
            cast($body)
        }
    )*};
}
pub(super) use operations;

impl<const BF16: bool, const FP16: bool> Simd for Neon<BF16, FP16> {
    type V = uint32x4_t;

    #[inline(always)]
    unsafe fn new_unchecked() -> Self {
        // SAFETY: the caller's CPU has NEON.
        Self { neon: unsafe { pulp::core_arch::aarch64::Neon::new_unchecked() } }
    }

    operations! { n:
        and(a, b) = n.vandq_u32(a, b);
        or(a, b) = n.vorrq_u32(a, b);
        xor(a, b) = n.veorq_u32(a, b);
        add(a, b) = n.vaddq_u32(a, b);
        sub(a, b) = n.vsubq_u32(a, b);
        // The shift is a constant, so the compiler makes it an immediate operand.
        <const BY: u32> shr(a) = n.vshlq_u32(a, n.vdupq_n_s32(-(BY as i32)));
        min_u(a, b) = n.vminq_u32(a, b);
        max_u(a, b) = n.vmaxq_u32(a, b);
        min_i(a, b) = n.vminq_s32(cast(a), cast(b));
        max_i(a, b) = n.vmaxq_s32(cast(a), cast(b));
        fma(a, b, c) = n.vfmaq_f32(cast(c), cast(a), cast(b));
        mul(a, b) = n.vmulq_f32(cast(a), cast(b));
        div(a, b) = n.vdivq_f32(cast(a), cast(b));
        // All ones are -1.
        nudge(x, excess) = n.vaddq_u32(n.vsubq_u32(x, n.vcltzq_f32(cast(excess))), n.vcgtzq_f32(cast(excess)));
        <const K: u32> max_across(a, b) = n.vpmaxq_u32(a, b);
        min_f(a, b) = n.vminq_f32(cast(a), cast(b));
        select_nan(x, yes, no) = n.vbslq_u32(n.vceqq_f32(cast(x), cast(x)), no, yes);
        select_eq(a, b, yes, no) = n.vbslq_u32(n.vceqq_u32(a, b), yes, no);
        pack_high_halves(a, b) = n.vuzp2q_u16(cast(a), cast(b));
        sign_nonzero(code, sign) = n.vorrq_u8(cast(code), n.vbicq_u8(cast(sign), n.vceqzq_u8(cast(code))));


    }

    #[inline(always)]
    fn fma_env(self, a: uint32x4_t, b: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        self.mul_add_f32(c, a, b)
    }
    #[inline(always)]
    fn splat(self, x: u32) -> uint32x4_t {
        self.neon.vdupq_n_u32(x)
    }
    /// Packing already keeps the order.
    #[inline(always)]
    fn in_order<const APART: bool>(self, x: uint32x4_t) -> uint32x4_t {
        x
    }
    #[inline(always)]
    fn any_nan(self, x: [uint32x4_t; 4]) -> bool {
        let n = self.neon;
        // Integer comparisons: the compiler merges comparisons of floats with themselves into pairs, which take two instructions each.
        let [a, b, c, d] = each!(x, |x| n.vandq_u32(x, n.vdupq_n_u32(0x7FFF_FFFF)));
        n.vmaxvq_u32(n.vmaxq_u32(n.vmaxq_u32(a, b), n.vmaxq_u32(c, d))) > 0x7F80_0000
    }
    #[inline(always)]
    fn pack_low<const APART: bool>(self, x: [uint32x4_t; 4]) -> uint32x4_t {
        self.low_bytes_32(x)
    }
    #[inline(always)]
    fn pack_counts<const APART: bool>(self, x: [uint32x4_t; 4], mantissa: u32, field: u32) -> uint32x4_t {
        let n = self.neon;
        // One instruction shifts the exponent to its place and adds it to the count.
        let x = match mantissa {
            1 => each!(x, |x| n.vsraq_n_u32::<22>(x, x)),
            2 => each!(x, |x| n.vsraq_n_u32::<21>(x, x)),
            3 => each!(x, |x| n.vsraq_n_u32::<20>(x, x)),
            _ => each!(x, |x| n.vsraq_n_u32::<19>(x, x)),
        };
        self.sub_8(self.low_bytes_32(x), self.splat_8((field << mantissa) as u8))
    }
    #[inline(always)]
    fn pack_sign<const APART: bool>(self, x: [uint32x4_t; 4]) -> uint32x4_t {
        let [a, b] = high_halves(self, x);
        self.odd_8(a, b)
    }
}

impl<const BF16: bool, const FP16: bool> Blocks for Neon<BF16, FP16> {
    const LANES: usize = 4;

    operations! { n:
        // The environment rounds to nearest; values out of range saturate.
        round(x) = n.vcvtnq_s32_f32(cast(x));
        max_bytes(a, b) = n.vmaxq_s8(cast(a), cast(b));
        <const BY: u32> shl(a) = n.vshlq_u32(a, n.vdupq_n_s32(BY as i32));
    }
    #[inline(always)]
    fn pack_saturated<const APART: bool, const SIGNED: bool>(
        self,
        [a, b, c, d]: [uint32x4_t; 4],
    ) -> uint32x4_t {
        let [x, y] = two!([(a, b), (c, d)], |(a, b)| self.narrow_32::<true, true, true>(a, b));
        self.narrow_16::<true, true, SIGNED>(x, y)
    }
    #[inline(always)]
    fn any_low_half(self, x: [uint32x4_t; 4], low: uint32x4_t) -> bool {
        let n = self.neon;
        let low = self.narrow_32::<false, false, false>(low, low);
        let [a, b] = two!(low_halves(self, x), |x| n.vceqq_u16(cast(x), cast(low)));
        self.any(cast(n.vorrq_u16(a, b)))
    }

    #[inline(always)]
    unsafe fn load_32<const PART: bool>(self, p: *const u8, _: usize) -> [uint32x4_t; 4] {
        // SAFETY: the caller's block is four registers.
        each!([0, 1, 2, 3], |k| unsafe { self.load(p.add(16 * k)) })
    }
    #[inline(always)]
    unsafe fn load_16<const PART: bool>(self, p: *const u8, _: usize) -> [uint32x4_t; 2] {
        // SAFETY: the caller's block is two registers.
        two!([0, 1], |k| unsafe { self.load(p.add(16 * k)) })
    }
    #[inline(always)]
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [uint32x4_t; 4] {
        // SAFETY: the caller grants the block.
        crate::vector::lanes::upper_halves(self, unsafe { self.load_16::<PART>(p, n) })
    }

    #[inline(always)]
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: uint32x4_t, _: usize) {
        // SAFETY: the caller's block is a register.
        unsafe { self.store(p, x) }
    }
    #[inline(always)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: uint32x4_t, _: usize) {
        const { assert!(BITS == 4, "no scaled cast packs others") };
        // SAFETY: the caller's block is half a register.
        unsafe { store_nibbles(p, cast(x)) }
    }
    #[inline(always)]
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [uint32x4_t; 2], _: usize) {
        // SAFETY: the caller's block is two registers.
        two!([0, 1], |k| unsafe { self.store(p.add(16 * k), x[k]) });
    }
    #[inline(always)]
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [uint32x4_t; 4], _: usize) {
        // SAFETY: the caller's block is four registers.
        each!([0, 1, 2, 3], |k| unsafe { self.store(p.add(16 * k), x[k]) });
    }
}

/// A function compiled with the features of the tier.
macro_rules! neon_fn {
    ($($item:tt)*) => { #[target_feature(enable = "neon")] $($item)* };
}
pub(super) use neon_fn;

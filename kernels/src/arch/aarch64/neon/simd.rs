//! The registers of NEON for the encoders of `vector`.

use super::env;
use crate::vector::{Simd, each};
use core::arch::aarch64::*;

/// NEON.
#[derive(Clone, Copy)]
pub(super) struct Neon;

#[inline(always)]
pub(super) unsafe fn float(x: uint32x4_t) -> float32x4_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_f32_u32(x) }
}

#[inline(always)]
pub(super) unsafe fn bits(x: float32x4_t) -> uint32x4_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_u32_f32(x) }
}

#[inline(always)]
pub(super) unsafe fn bytes(x: uint32x4_t) -> uint8x16_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vreinterpretq_u8_u32(x) }
}

/// The low byte of every lane.
#[inline(always)]
pub(super) unsafe fn low_bytes(x: [uint32x4_t; 4]) -> uint8x16_t {
    const LOW: [u8; 16] = every(4, 0);
    // SAFETY: as of the methods of `Simd`; the indices are a register.
    unsafe {
        let [a, b, c, d] = each!(x, |x| bytes(x));
        vqtbl4q_u8(uint8x16x4_t(a, b, c, d), vld1q_u8(LOW.as_ptr()))
    }
}

/// The indices of the first byte of every `step`, from the entry `first` on; before that none.
pub(super) const fn every(step: usize, first: usize) -> [u8; 16] {
    let mut index = [0xFF; 16];
    let mut i = first;
    while i < 16 && (i - first) * step < 64 {
        index[i] = ((i - first) * step) as u8;
        i += 1;
    }
    index
}

/// The high half of every lane.
#[inline(always)]
pub(super) unsafe fn high_halves(x: [uint32x4_t; 4]) -> [uint16x8_t; 2] {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let x = each!(x, |x| vreinterpretq_u16_u32(x));
        [vuzp2q_u16(x[0], x[1]), vuzp2q_u16(x[2], x[3])]
    }
}

/// All ones in the lanes that are not NaN.
#[inline(always)]
unsafe fn ordered(x: uint32x4_t) -> uint32x4_t {
    // SAFETY: as of the methods of `Simd`.
    unsafe { vceqq_f32(float(x), float(x)) }
}

/// Methods of traits that map registers, or arguments of other types, to a register.
macro_rules! operations {
    ($($name:ident($($arg:ident $(: $type:ty)?),*) = $body:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: operations!(@ $($type)?)),*) -> Self::V {
            // SAFETY: the caller's promise: the CPU has the tier.
            unsafe { $body }
        }
    )*};
    (@) => { Self::V };
    (@ $type:ty) => { $type };
}
pub(super) use operations;

impl Simd for Neon {
    type V = uint32x4_t;
    operations! {
        and(a, b) = vandq_u32(a, b);
        or(a, b) = vorrq_u32(a, b);
        xor(a, b) = veorq_u32(a, b);
        add(a, b) = vaddq_u32(a, b);
        sub(a, b) = vsubq_u32(a, b);
        min_u(a, b) = vminq_u32(a, b);
        max_u(a, b) = vmaxq_u32(a, b);
        min_i(a, b) = vreinterpretq_u32_s32(vminq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)));
        max_i(a, b) = vreinterpretq_u32_s32(vmaxq_s32(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b)));
        fma(a, b, c) = bits(vfmaq_f32(float(c), float(a), float(b)));
        fma_env(a, b, c) = env::fma_f32_env(a, b, c);
        div(a, b) = bits(vdivq_f32(float(a), float(b)));
        nudge(x, excess) = {
            // All ones are -1.
            vaddq_u32(vsubq_u32(x, vcltzq_f32(float(excess))), vcgtzq_f32(float(excess)))
        };
        min_f(a, b) = bits(vminq_f32(float(a), float(b)));
        select_nan(x, yes, no) = vbslq_u32(ordered(x), no, yes);
        select_eq(a, b, yes, no) = vbslq_u32(vceqq_u32(a, b), yes, no);
        pack_high_halves(a, b) = {
            vreinterpretq_u32_u16(vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)))
        };
        sign_nonzero(code, sign) = {
            let zero = vceqzq_u8(bytes(code));
            vorrq_u32(code, vreinterpretq_u32_u8(vbicq_u8(bytes(sign), zero)))
        };
    }

    #[inline(always)]
    unsafe fn splat(x: u32) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vdupq_n_u32(x) }
    }
    #[inline(always)]
    unsafe fn shr<const BY: u32>(a: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller's promise. The shift is a constant, of which the compiler makes an immediate operand.
        unsafe { vshlq_u32(a, vdupq_n_s32(-(BY as i32))) }
    }
    #[inline(always)]
    unsafe fn max_across<const K: u32>(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vpmaxq_u32(a, b) }
    }
    #[inline(always)]
    unsafe fn any_nan(x: [uint32x4_t; 4]) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b, c, d] = each!(x, |x| ordered(x));
            vminvq_u32(vandq_u32(vandq_u32(a, b), vandq_u32(c, d))) == 0
        }
    }

    #[inline(always)]
    unsafe fn pack_low<const APART: bool>(x: [uint32x4_t; 4]) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe { vreinterpretq_u32_u8(low_bytes(x)) }
    }
    #[inline(always)]
    unsafe fn pack_counts<const APART: bool>(x: [uint32x4_t; 4], mantissa: u32, field: u32) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe {
            // One instruction shifts the exponent to its place and adds it to the count.
            let x = match mantissa {
                1 => each!(x, |x| vsraq_n_u32::<22>(x, x)),
                2 => each!(x, |x| vsraq_n_u32::<21>(x, x)),
                3 => each!(x, |x| vsraq_n_u32::<20>(x, x)),
                _ => each!(x, |x| vsraq_n_u32::<19>(x, x)),
            };
            let excess = vdupq_n_u8((field << mantissa) as u8);
            vreinterpretq_u32_u8(vsubq_u8(low_bytes(x), excess))
        }
    }
    #[inline(always)]
    unsafe fn pack_sign<const APART: bool>(x: [uint32x4_t; 4]) -> uint32x4_t {
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = high_halves(x);
            vreinterpretq_u32_u8(vuzp2q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b)))
        }
    }
    /// Packing keeps the order.
    #[inline(always)]
    unsafe fn in_order<const APART: bool>(x: uint32x4_t) -> uint32x4_t {
        x
    }
}

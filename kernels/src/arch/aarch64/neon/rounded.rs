//! Kernels for rules that are not the common ones.
//!
//! Where the one inexact instruction of a kernel obeys the direction of the environment, the kernel of the common rules serves
//! every direction. The others are here: ties away from zero and to odd, integers rounded otherwise than toward zero, and the small
//! floats ([`small`](super::small)), whose formats and rules are data.

use super::{
    floats::{double, single},
    halves::Plain,
    integral::{Integral, Rounding as Integers},
    small::{self, AWAY, DIRECTED, ODD, Power, Signed, SignedOfHalf},
    tables::{Exponents, Given},
    targets::{self, BF16, Found, f16_of_singles},
    *,
};
use crate::{
    data::Direction,
    exact::Rounding,
    hub::parts_fit,
};

/// A float32 as float16, with bits that round it.
struct F16Rounded<const MODE: u8>;
/// Bfloat16 by an addition to the bits.
struct BF16Rounded<const MODE: u8>;
/// Float32 and float64 of what has more bits, alone and with a zero behind them.
struct F32Rounded<const MODE: u8>;
struct F64Rounded<const MODE: u8>;
struct C64Rounded<const MODE: u8>;
struct C128Rounded<const MODE: u8>;

targets::targets! {
    <const MODE: u8> F16Rounded<MODE>, 2, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u16, 2, f16::<MODE>(x.f32_odd::<false>()), dst)
    };
    <const MODE: u8> BF16Rounded<MODE>, 2, SATURATE, |x, dst, data| {
        targets::put!(vreinterpretq_u8_u16, 2, bf16::<MODE>(x.f32_odd::<true>(), data), dst)
    };
    <const MODE: u8> F32Rounded<MODE>, 4, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u32, 4, f32::<L, MODE>(x), dst)
    };
    <const MODE: u8> F64Rounded<MODE>, 8, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u64, 8, x.f64_rounded::<MODE>(), dst)
    };
    <const MODE: u8> C64Rounded<MODE>, 8, SATURATE, |x, dst, _data| {
        targets::put!(vreinterpretq_u8_u64, 8, widths::widen_32::<false>(f32::<L, MODE>(x)), dst)
    };
    <const MODE: u8> C128Rounded<MODE>, 16, SATURATE, |x, dst, _data| {
        targets::store_complex(x.f64_rounded::<MODE>(), dst)
    };
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn f16<const MODE: u8>(x: Words) -> Halves {
    let infinity = f32::INFINITY;
    // SAFETY: the caller's promise.
    unsafe {
        if MODE == AWAY {
            // A last bit that moves ties, but would make infinity NaN.
            return f16_of_singles(each!(x, |x| {
                let infinite = vcageq_f32(single(x), vdupq_n_f32(infinity));
                vaddq_u32(vorrq_u32(x, vdupq_n_u32(1)), infinite)
            }));
        }
        let truncated = f16_of_singles(x);
        let back = sources::singles_of_f16(truncated);
        let pairs = [(x[0], back[0]), (x[1], back[1]), (x[2], back[2]), (x[3], back[3])];
        // False for NaN.
        let inexact = each!(pairs, |(x, back)| vreinterpretq_u16_u32(vcagtq_f32(single(x), single(back))));
        let inexact = [vuzp1q_u16(inexact[0], inexact[1]), vuzp1q_u16(inexact[2], inexact[3])];
        each!([0, 1], |k| vorrq_u16(truncated[k], vandq_u16(inexact[k], vdupq_n_u16(1))))
    }
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn bf16<const MODE: u8>(x: Words, data: &Data) -> Halves {
    let [positive, negative] = data.increments;
    // SAFETY: the caller's promise.
    unsafe {
        let all = |x: u32| vdupq_n_u32(x);
        each!([(x[0], x[1]), (x[2], x[3])], |(a, b)| {
            let [high, low] = [
                vuzp2q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)),
                vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b)),
            ];
            let rounded = if MODE == ODD {
                vorrq_u16(high, vandq_u16(vtstq_u16(low, low), vdupq_n_u16(1)))
            } else {
                let [up_a, up_b] = each!([a, b], |x| {
                    let sign = vreinterpretq_u32_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u32(x)));
                    veorq_u32(vandq_u32(sign, all(positive ^ negative)), all(positive))
                });
                vaddhn_high_u32(vaddhn_u32(a, up_a), b, up_b)
            };
            let ordered = |x| vreinterpretq_u16_u32(vceqq_f32(single(x), single(x)));
            let nan = vorrq_u16(vandq_u16(high, vdupq_n_u16(0x8000)), vdupq_n_u16(0x7FC0));
            vbslq_u16(vuzp1q_u16(ordered(a), ordered(b)), rounded, nan)
        })
    }
}

/// # Safety
///
/// As of the methods of [`Lanes`].
#[inline(always)]
unsafe fn f32<L: Lanes, const MODE: u8>(x: L) -> Words {
    // SAFETY: the caller's promise.
    unsafe {
        if MODE == ODD {
            return x.f32_odd::<true>();
        }
        // A last bit that moves ties, but would make infinity NaN.
        let moved = eight!(x.f64_odd(), |x| {
            let moved = vorrq_u64(x, vdupq_n_u64(1));
            if L::INTEGERS {
                moved
            } else {
                vaddq_u64(moved, vcageq_f64(double(x), vdupq_n_f64(f64::INFINITY)))
            }
        });
        Doubles64(moved).f32()
    }
}

/// What the CPU has beyond the tier.
#[derive(Clone, Copy)]
struct Finer {
    bf16: bool,
    fp16: bool,
}

/// A kernel of each mode.
macro_rules! by_mode {
    ($mode:expr, $run:ident::<$source:ty, $($target:ident)::+ $(in $byte:ident)?>) => {
        match $mode {
            AWAY => by_mode!(@ $run, $source, $($target)::+, AWAY $(, $byte)?),
            ODD => by_mode!(@ $run, $source, $($target)::+, ODD $(, $byte)?),
            _ => by_mode!(@ $run, $source, $($target)::+, DIRECTED $(, $byte)?),
        }
    };
    (@ $run:ident, $source:ty, $target:path, $mode:ident) => { $run::<$source, $target<{ $mode }>, true> };
}


//! The floats of 8 bits and less under any rules: the formats and the rules are numbers in [`Data`].
//!
//! The algorithm is that of `vector::small`, with these differences: the addition that rounds has the sign of the value, so that
//! it obeys every direction of the environment; NaN is put in among the bytes, where all formats have it in one way; the exponent is
//! brought to its place by a multiplication of bytes.

use super::{
    floats::single,
    halves::{is_at_most, maximum, minimum, multiply_add, multiply_subtract},
    targets::Codes,
    *,
};

/// The direction of the environment.
pub(super) const DIRECTED: u8 = 0;
/// To the nearest, ties away from zero, in an environment that rounds to nearest even.
pub(super) const AWAY: u8 = 1;
/// To odd, in an environment that rounds toward zero.
pub(super) const ODD: u8 = 2;

/// Small floats with a sign.
pub(super) struct Signed<const MODE: u8>;

impl<const MODE: u8> Codes for Signed<MODE> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, data: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let x = x.f32_odd::<false>();
            let e = &data.encoder;
            let all = |x: u32| vdupq_n_u32(x);
            let (limit, unit) = (single(all(e.limit)), all((127 + e.shift) << 23));
            let limited = each!(x, |x| {
                let x = vminq_f32(single(x), limit);
                let x = if L::UNSIGNED { x } else { vmaxq_f32(x, vnegq_f32(limit)) };
                let x = vreinterpretq_u32_f32(x);
                if MODE == AWAY { vorrq_u32(x, all(1)) } else { x }
            });
            let powers = each!(limited, |x| {
                let power = vmaxq_u32(vandq_u32(x, all(0x7F80_0000)), all(e.min_field << 23));
                if L::UNSIGNED { power } else { vbslq_u32(all(0x7FFF_FFFF), power, x) }
            });
            let [a, b, c, d] = limited;
            let [i, j, k, l] = powers;
            let pairs = [(a, i), (b, j), (c, k), (d, l)];
            let sums = each!(pairs, |(x, power)| env::fma_f32_env(power, unit, x));
            let high = simd::high_halves(sums);
            let exponents = vshrn_high_n_u16::<7>(vshrn_n_u16::<7>(high[0]), high[1]);
            let mut codes = place(simd::low_bytes(sums), exponents, data, 0);
            if MODE == ODD {
                // What was dropped was not zero.
                let [m, n, o, p] = sums;
                let inexact = each!([(a, i, m), (b, j, n), (c, k, o), (d, l, p)], |(x, power, sum)| {
                    vcagtq_f32(single(x), vfmsq_f32(single(sum), single(power), single(unit)))
                });
                codes = vorrq_u8(codes, truths(simd::low_bytes(inexact)));
            }
            let numbers = if L::INTEGERS {
                None
            } else {
                let largest = single(all(data.code.largest));
                Some(simd::low_bytes(each!(x, |x| vcaleq_f32(single(x), largest))))
            };
            let signs = if L::UNSIGNED { None } else { Some(halves::high_bytes(high)) };
            signed(codes, signs, numbers, data)
        }
    }
}

/// The magnitudes of counts of units, and the exponents of the sums, of which those of float32 are greater by `bias`.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
unsafe fn place(counts: Bytes, exponents: Bytes, data: &Data, bias: u8) -> Bytes {
    let e = &data.encoder;
    // SAFETY: the caller's promise.
    unsafe {
        let factor = 1 << ((23 - e.shift) & 7);
        let excess = (e.excess as u8).wrapping_sub(bias.wrapping_mul(factor));
        vmlaq_u8(vsubq_u8(counts, vdupq_n_u8(excess)), exponents, vdupq_n_u8(factor))
    }
}

/// The codes of magnitudes: `signs` are the top bits of bytes, `numbers` those that do not become NaN.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
unsafe fn signed(codes: Bytes, signs: Option<Bytes>, numbers: Option<Bytes>, data: &Data) -> Bytes {
    let code = &data.code;
    // SAFETY: the caller's promise.
    unsafe {
        let all = |x: u8| vdupq_n_u8(x);
        let mut result = codes;
        let mut nan = all(code.nan);
        if let Some(signs) = signs {
            let negative = vcltzq_s8(vreinterpretq_s8_u8(signs));
            let sign = vandq_u8(negative, all(code.sign));
            result = vorrq_u8(codes, vandq_u8(sign, vcgeq_u8(codes, all(code.signed_from))));
            nan = veorq_u8(nan, vandq_u8(negative, all(code.nan_sign)));
        }
        match numbers {
            Some(numbers) => vbslq_u8(numbers, result, nan),
            None => result,
        }
    }
}

/// The same of float16 whose exponents the format has, in lanes of their own width ([`halves::is_for`]).
pub(super) struct SignedOfHalf<const MODE: u8>;

impl<const MODE: u8> Codes for SignedOfHalf<MODE> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, data: &Data) -> Bytes {
        // SAFETY: the caller's promise; the CPU has FEAT_FP16.
        unsafe {
            let x = x.halves();
            let e = &data.encoder;
            let all = |x: u16| vdupq_n_u16(x);
            let limit = (e.limit >> 13).wrapping_sub(112 << 10) as u16;
            let unit = all(((15 + e.shift - 13) << 10) as u16);
            let limited = each!([x[0], x[1]], |x| {
                let x = maximum(minimum(x, all(limit)), all(limit | 0x8000));
                if MODE == AWAY { vorrq_u16(x, all(1)) } else { x }
            });
            let powers = each!([limited[0], limited[1]], |x| {
                let power = vmaxq_u16(vandq_u16(x, all(0x7C00)), all(((e.min_field - 112) << 10) as u16));
                vbslq_u16(all(0x7FFF), power, x)
            });
            let sums = each!([0, 1], |k| multiply_add(powers[k], unit, limited[k]));
            let high = halves::high_bytes(sums);
            let exponents = vshrq_n_u8::<3>(vaddq_u8(high, high));
            let mut codes = place(halves::low_bytes(sums), exponents, data, 112 + 13);
            if MODE == ODD {
                let inexact = each!([0, 1], |k| {
                    vmvnq_u16(is_at_most(limited[k], multiply_subtract(powers[k], unit, sums[k])))
                });
                codes = vorrq_u8(codes, truths(halves::low_bytes(inexact)));
            }
            let largest = all(if data.code.largest == 0x7F80_0000 { 0x7C00 } else { 0x7BFF });
            let numbers = halves::low_bytes(each!([x[0], x[1]], |x| is_at_most(x, largest)));
            signed(codes, Some(high), Some(numbers), data)
        }
    }
}

/// `float8_e5m2` of float16: without its last eight bits.
pub(super) struct E5m2<const MODE: u8>;

impl<const MODE: u8> Codes for E5m2<MODE> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, data: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let x = x.halves();
            let all = |x: u16| vdupq_n_u16(x);
            let [positive, negative] = data.increments.map(|x| (x >> 8) as u16);
            // Infinity is the first magnitude that is not finite, in both formats.
            let limit = if data.encoder.limit < 65536_f32.to_bits() { 0x7B00 } else { 0x7C00 };
            let to_even = all((data.increments[0] == 0x7FFF) as u16);
            let sums = each!([x[0], x[1]], |x| {
                let limited = vminq_u16(vandq_u16(x, all(0x7FFF)), all(limit));
                if MODE == ODD {
                    vorrq_u16(limited, vandq_u16(vtstq_u16(limited, all(0xFF)), all(0x100)))
                } else {
                    let sign = vreinterpretq_u16_s16(vshrq_n_s16::<15>(vreinterpretq_s16_u16(x)));
                    let last = vandq_u16(vshrq_n_u16::<8>(limited), to_even);
                    vaddq_u16(
                        vaddq_u16(limited, last),
                        veorq_u16(vandq_u16(sign, all(positive ^ negative)), all(positive)),
                    )
                }
            });
            let numbers =
                halves::low_bytes(each!([x[0], x[1]], |x| vcleq_u16(vandq_u16(x, all(0x7FFF)), all(0x7C00))));
            signed(halves::high_bytes(sums), Some(halves::high_bytes(x)), Some(numbers), data)
        }
    }
}

/// `float8_e8m0fnu`: `data::Power`. `BEYOND` if the largest float32 and what is beyond differ.
pub(super) struct Power<const BEYOND: bool>;

impl<const BEYOND: bool> Codes for Power<BEYOND> {
    #[inline(always)]
    unsafe fn codes<L: Lanes, const SATURATE: bool>(x: L, data: &Data) -> Bytes {
        // SAFETY: the caller's promise.
        unsafe {
            let x = if BEYOND { x.f32_odd_or_infinite() } else { x.f32_odd::<true>() };
            let power = &data.power;
            let all = |x: u32| vdupq_n_u32(x);
            let codes = each!(x, |x| {
                // Negative values are negative integers.
                let x = vreinterpretq_s32_u32(vandq_u32(x, all(power.magnitude)));
                let x = vreinterpretq_u32_s32(vmaxq_s32(x, vdupq_n_s32(0)));
                let x = vminq_u32(x, all(power.largest));
                let field = vshrq_n_u32::<23>(vaddq_u32(x, all(power.addend)));
                vandq_u32(field, vcgeq_u32(x, all(power.second)))
            });
            let nan = each!(x, |x| {
                let place = vsubq_u32(vandq_u32(x, all(power.number)), all(power.start));
                vcgtq_u32(place, all(power.span))
            });
            vorrq_u8(simd::low_bytes(codes), simd::low_bytes(nan))
        }
    }
}

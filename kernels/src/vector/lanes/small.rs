//! The floats of 8 bits and less under any rules: formats and rules are numbers in [`Data`].
//!
//! The algorithm is the one of `vector::small`, with these differences. The addition that rounds has the sign of the value, so that it obeys every
//! direction of the environment. NaN is inserted among the bytes, in one way for all formats. A multiplication of bytes moves the exponent to its
//! place.

use super::{Bytes, LaneOps, Lanes, high_halves, target::Codes, truths, two};
use crate::{
    format::data::Data,
    vector::{
        each,
        style::{Mode, RoundingMode},
    },
};
use core::marker::PhantomData;

/// Small floats with a sign.
pub(crate) struct Signed<R: RoundingMode>(PhantomData<R>);

impl<M: LaneOps, R: RoundingMode> Codes<M> for Signed<R> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V {
        let x = x.f32_odd::<false>(m);
        let e = &data.float.encoder;
        let all = |x: u32| m.splat(x);
        let (limit, unit) = (all(e.limit), all((127 + e.shift) << 23));
        let limited = each!(x, |x| {
            let x = m.min_nan_f32(x, limit);
            let x = if L::UNSIGNED { x } else { m.max_nan_f32(x, all(e.limit | 1 << 31)) };
            if R::MODE == Mode::Away { m.or(x, all(1)) } else { x }
        });
        let powers = each!(limited, |x| {
            let power = m.max_u(m.and(x, all(0x7F80_0000)), all(e.min_field << 23));
            if L::UNSIGNED { power } else { m.select(all(0x7FFF_FFFF), power, x) }
        });
        let sums = each!([0, 1, 2, 3], |k| m.fma_env(powers[k], unit, limited[k]));
        let high = high_halves(m, sums);
        let exponents = m.shr_narrow_16::<7>(high[0], high[1]);
        let mut codes = place(m, m.low_bytes_32(sums), exponents, data, 0);
        if R::MODE == Mode::Odd {
            // A nonzero part was dropped.
            let inexact = each!([0, 1, 2, 3], |k| {
                m.abs_gt_f32(limited[k], m.mul_sub_f32(sums[k], powers[k], unit))
            });
            codes = m.or(codes, truths(m, m.low_bytes_32(inexact)));
        }
        let numbers = if L::INTEGERS {
            None
        } else {
            let largest = all(data.float.code.largest);
            Some(m.low_bytes_32(each!(x, |x| m.abs_ge_f32(largest, x))))
        };
        let signed_high = if L::INTEGERS || M::NAN_KEEPS_SIGN { high } else { high_halves(m, x) };
        let signs = if L::UNSIGNED { None } else { Some(m.odd_8(signed_high[0], signed_high[1])) };
        signed(m, codes, signs, numbers, data)
    }
}

/// Combines the counts of units with the exponents of the sums to magnitudes; `exponents` are greater than float32's by `bias`.
#[inline(always)]
pub(crate) fn place<M: LaneOps>(
    m: M,
    counts: Bytes<M>,
    exponents: Bytes<M>,
    data: &Data,
    bias: u8,
) -> Bytes<M> {
    let e = &data.float.encoder;
    let factor = 1 << ((23 - e.shift) & 7);
    let excess = (e.excess as u8).wrapping_sub(bias.wrapping_mul(factor));
    m.mul_add_8(m.sub_8(counts, m.splat_8(excess)), exponents, m.splat_8(factor))
}

/// Adds signs and NaN to magnitudes: `signs` are the top bits of bytes, and `numbers` is the mask of lanes that do not become NaN.
#[inline(always)]
pub(crate) fn signed<M: LaneOps>(
    m: M,
    codes: Bytes<M>,
    signs: Option<Bytes<M>>,
    numbers: Option<Bytes<M>>,
    data: &Data,
) -> Bytes<M> {
    let code = &data.float.code;
    let all = |x: u8| m.splat_8(x);
    let mut result = codes;
    let mut nan = all(code.nan);
    if let Some(signs) = signs {
        let negative = m.signs_8(signs);
        let sign = m.and(negative, all(code.sign));
        result = m.or(codes, m.and(sign, m.ge_u8(codes, all(code.signed_from))));
        nan = m.xor(nan, m.and(negative, all(code.nan_sign)));
    }
    match numbers {
        Some(numbers) => m.select(numbers, result, nan),
        None => result,
    }
}

/// `float8_e5m2` from float16, by dropping the last eight bits.
pub(crate) struct E5m2<R: RoundingMode>(PhantomData<R>);

impl<M: LaneOps, R: RoundingMode> Codes<M> for E5m2<R> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V {
        let x = x.halves(m);
        let all = |x: u16| m.splat_16(x);
        let [positive, negative] = data.rounding.dropping_16.map(|x| (x >> 8) as u16);
        // In both formats, infinity is the first magnitude that is not finite.
        let limit = if data.float.encoder.limit < 65536_f32.to_bits() { 0x7B00 } else { 0x7C00 };
        let to_even = all((data.rounding.dropping_16[0] == 0x7FFF) as u16);
        let sums = two!(x, |x| {
            let limited = m.min_u16(m.and(x, all(0x7FFF)), all(limit));
            if R::MODE == Mode::Odd {
                m.or(limited, m.and(m.nonzero_16(m.and(limited, all(0xFF))), all(0x100)))
            } else {
                let sign = m.signs_16(x);
                let last = m.and(m.shr_16::<8>(limited), to_even);
                let increment = m.xor(m.and(sign, all(positive ^ negative)), all(positive));
                m.add_16(m.add_16(limited, last), increment)
            }
        });
        let nan = two!(x, |x| m.gt_u16(m.and(x, all(0x7FFF)), all(0x7C00)));
        let numbers = m.xor(m.even_8(nan[0], nan[1]), m.splat_8(0xFF));
        signed(m, m.odd_8(sums[0], sums[1]), Some(m.odd_8(x[0], x[1])), Some(numbers), data)
    }
}

/// `float8_e8m0fnu`, as in `data::Power`. `BEYOND` if the largest float32 differs from values out of its range.
pub(crate) struct Power<const BEYOND: bool>;

impl<M: LaneOps, const BEYOND: bool> Codes<M> for Power<BEYOND> {
    #[inline(always)]
    fn codes<L: Lanes<M>, const SATURATE: bool>(m: M, x: L, data: &Data) -> M::V {
        let x = if BEYOND { x.f32_odd_or_infinite(m) } else { x.f32_odd::<true>(m) };
        let power = &data.power;
        let all = |x: u32| m.splat(x);
        let codes = each!(x, |x| {
            // Negative floats compare as negative integers.
            let x = m.min_u(m.max_i(m.and(x, all(power.magnitude)), all(0)), all(power.largest));
            let field = m.shr::<23>(m.add(x, all(power.addend)));
            m.and_not(field, m.gt_u32(all(power.second), x))
        });
        let nan = each!(x, |x| {
            let place = m.sub(m.and(x, all(power.number)), all(power.start));
            m.gt_u32(place, all(power.span))
        });
        m.or(m.low_bytes_32(codes), m.low_bytes_32(nan))
    }
}

//! Conversions of floats, and arithmetic in a direction of rounding.
//!
//! *Directions.* The instructions round to nearest even. Where a result may differ from the exact one, the kernel computes the error of the
//! nearest result exactly, as the rest of a sum of two floats or by converting back. The sign of the error selects the next float above or below
//! ([`Wasm128::directed`]). Kernels without a direction compile to none of this.
//!
//! *NaN.* WebAssembly does not define the bits of a NaN that an instruction computes, not even the sign. So integer instructions make the NaN of
//! a result from the bits of the NaN in the source.

use super::simd::{Wasm128, even_16, even_32, high_16, low_16, odd_16, odd_32};
use crate::{
    exact::{
        Rounding,
        hub::{Hub, Unsigned, Wide},
        round::Correction,
    },
    format::data::Direction,
    vector::each,
};
use core::arch::wasm32::*;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7F80_0000;

/// Moves the upper two lanes of float32 to the lower two.
#[inline(always)]
pub(super) fn upper(x: v128) -> v128 {
    i64x2_shuffle::<1, 1>(x, x)
}

/// Converts float64 to the nearest float32. NaN may become any NaN.
#[inline(always)]
fn demoted(a: v128, b: v128) -> v128 {
    i32x4_shuffle::<0, 1, 4, 5>(f32x4_demote_f64x2_zero(a), f32x4_demote_f64x2_zero(b))
}

/// Converts float32 to float64. NaN may become any NaN.
#[inline(always)]
fn promoted(x: v128) -> [v128; 2] {
    [f64x2_promote_low_f32x4(x), f64x2_promote_low_f32x4(upper(x))]
}

/// The masks of the float32 lanes whose magnitude is less, and greater, than the magnitude of the float64 that they were rounded from.
#[inline(always)]
fn errors(rounded: v128, a: v128, b: v128) -> [v128; 2] {
    let [x, y] = promoted(rounded);
    let [a, b, x, y] = each!([a, b, x, y], |x| f64x2_abs(x));
    [even_32(f64x2_lt(x, a), f64x2_lt(y, b)), even_32(f64x2_gt(x, a), f64x2_gt(y, b))]
}

/// Applies a function to lanes of 64 bits, one after the other.
#[inline(always)]
pub(super) fn by_lanes(x: v128, result: impl Fn(u64) -> u64) -> v128 {
    u64x2(result(u64x2_extract_lane::<0>(x)), result(u64x2_extract_lane::<1>(x)))
}

impl<const DIRECTED: bool> Wasm128<DIRECTED> {
    /// The rounding direction, unless it is to nearest.
    #[inline(always)]
    fn direction(self) -> Option<Direction> {
        (DIRECTED && self.direction != Direction::NearestEven).then_some(self.direction)
    }

    /// Moves nearest results to the results of the direction: `negative` is all ones in lanes with a sign, `short` in lanes whose magnitude is
    /// less than the exact one, `long` in lanes whose magnitude is greater. (All ones are -1.)
    #[inline(always)]
    fn directed<const BITS: u32>(
        self,
        to: Direction,
        nearest: v128,
        negative: v128,
        [short, long]: [v128; 2],
    ) -> v128 {
        let away = match to {
            Direction::Down => negative,
            Direction::Up => v128_not(negative),
            Direction::TowardZero | Direction::NearestEven => u32x4_splat(0),
        };
        let (short, long) = (v128_and(short, away), v128_andnot(long, away));
        if BITS == 64 {
            u64x2_add(u64x2_sub(nearest, short), long)
        } else {
            u32x4_add(u32x4_sub(nearest, short), long)
        }
    }

    /// The nearest `a + b` of float64, and exactly what it lacks. For a sum that overflows, the second is infinity with the other sign.
    #[inline(always)]
    fn sum(self, a: v128, b: v128) -> [v128; 2] {
        let swapped = f64x2_lt(f64x2_abs(a), f64x2_abs(b));
        let (large, small) = (v128_bitselect(b, a, swapped), v128_bitselect(a, b, swapped));
        let sum = f64x2_add(a, b);
        let rest = f64x2_sub(small, f64x2_sub(sum, large));
        if self.direction() != Some(Direction::Down) {
            return [sum, rest];
        }
        // If the direction is down, a sum that cancels becomes negative zero.
        let sign = v128_and(v128_or(a, b), f64x2_splat(-0.0));
        [v128_or(sum, v128_and(sign, f64x2_eq(sum, f64x2_splat(0.0)))), rest]
    }

    /// `a * b + c`, rounded once in the direction: through float64, where the product is exact and the sum is rounded to odd.
    #[inline(always)]
    pub(super) fn fused(self, a: v128, b: v128, c: v128) -> v128 {
        let ([a, x], [b, y], [c, z]) = (promoted(a), promoted(b), promoted(c));
        let [low, high] = each!([(a, b, c), (x, y, z)], |(a, b, c)| {
            let [sum, rest] = self.sum(f64x2_mul(a, b), c);
            let inexact = f64x2_gt(f64x2_abs(rest), f64x2_splat(0.0));
            // A lane that was rounded away from zero loses one unit. (All ones are -1.)
            let long = v128_and(inexact, i64x2_shr(v128_xor(sum, rest), 63));
            v128_or(u64x2_add(sum, long), u64x2_shr(inexact, 63))
        });
        self.f32_of_f64(low, high)
    }

    /// `a * b + c` where the product is exact, in the direction.
    #[inline(always)]
    pub(super) fn mul_add_env(self, a: v128, b: v128, c: v128) -> v128 {
        if self.direction().is_some() { self.fused(a, b, c) } else { f32x4_add(f32x4_mul(a, b), c) }
    }

    /// `a + b` of float64, in the direction.
    #[inline(always)]
    pub(super) fn add_env_64(self, a: v128, b: v128) -> v128 {
        let Some(to) = self.direction() else { return f64x2_add(a, b) };
        let [sum, rest] = self.sum(a, b);
        let rest = v128_xor(rest, v128_and(sum, f64x2_splat(-0.0)));
        let zero = f64x2_splat(0.0);
        self.directed::<64>(to, sum, i64x2_shr(sum, 63), [f64x2_gt(rest, zero), f64x2_lt(rest, zero)])
    }

    /// Rounds float32 to integral values, in the direction.
    #[inline(always)]
    pub(super) fn round_env_32(self, x: v128) -> v128 {
        match self.direction() {
            None | Some(Direction::NearestEven) => f32x4_nearest(x),
            Some(Direction::Down) => f32x4_floor(x),
            Some(Direction::Up) => f32x4_ceil(x),
            Some(Direction::TowardZero) => f32x4_trunc(x),
        }
    }

    /// Rounds float64 to integral values, in the direction.
    #[inline(always)]
    pub(super) fn round_env_64(self, x: v128) -> v128 {
        match self.direction() {
            None | Some(Direction::NearestEven) => f64x2_nearest(x),
            Some(Direction::Down) => f64x2_floor(x),
            Some(Direction::Up) => f64x2_ceil(x),
            Some(Direction::TowardZero) => f64x2_trunc(x),
        }
    }

    /// Float32 of int32 (or uint32), in the direction.
    #[inline(always)]
    pub(super) fn f32_of_int32<const SIGNED: bool>(self, x: v128) -> v128 {
        let nearest = if SIGNED { f32x4_convert_i32x4(x) } else { f32x4_convert_u32x4(x) };
        let Some(to) = self.direction() else { return nearest };
        let [a, b] = f64_of_int32::<SIGNED>(x);
        self.directed::<32>(to, nearest, i32x4_shr(nearest, 31), errors(nearest, a, b))
    }

    /// Float64 of int64 (or uint64), in the direction.
    #[inline(always)]
    pub(super) fn f64_of_int64<const SIGNED: bool>(self, x: v128) -> v128 {
        let correction = Correction::new(match self.direction() {
            None | Some(Direction::NearestEven) => Rounding::NearestEven,
            Some(Direction::Down) => Rounding::Floor,
            Some(Direction::Up) => Rounding::Ceil,
            Some(Direction::TowardZero) => Rounding::TowardZero,
        });
        by_lanes(
            x,
            |x| if SIGNED { Wide(x as i64).f64_in(correction) } else { Unsigned(x).f64_in(correction) },
        )
    }

    /// Float32 of float64, in the direction.
    #[inline(always)]
    pub(super) fn f32_of_f64(self, a: v128, b: v128) -> v128 {
        let nearest = demoted(a, b);
        let rounded = match self.direction() {
            None => nearest,
            Some(to) => self.directed::<32>(to, nearest, i32x4_shr(nearest, 31), errors(nearest, a, b)),
        };
        nan_of_f64(rounded, a, b)
    }

    /// Float16 of float32, in the direction.
    ///
    /// Uses the addition of `vector::small`, whose sums are `exponent << 23 | count`: the upper halves of lanes contain the exponent, the lower
    /// halves the count.
    #[inline(always)]
    pub(super) fn f16_of_f32(self, a: v128, b: v128) -> v128 {
        let magnitudes = each!([a, b], |x| v128_and(x, u32x4_splat(!SIGN)));
        let [x, y] = each!([(a, magnitudes[0]), (b, magnitudes[1])], |(x, magnitude)| {
            // 2^16 becomes infinity.
            let limited = match self.direction() {
                None => u32x4_min(magnitude, u32x4_splat(0x4780_0000)),
                // Finite numbers stay below 2^16; the direction decides whether they become infinite.
                Some(_) => {
                    let finite = u32x4_min(magnitude, u32x4_splat(0x477F_FFFF));
                    u32x4_sub(finite, u32x4_eq(magnitude, u32x4_splat(INFINITY)))
                }
            };
            let power = u32x4_max(v128_and(limited, u32x4_splat(INFINITY)), u32x4_splat(113 << 23));
            let unit = u32x4_add(power, u32x4_splat(13 << 23));
            let sum = f32x4_add(limited, unit);
            match self.direction() {
                None => sum,
                Some(to) => {
                    let rest = f32x4_sub(limited, f32x4_sub(sum, unit));
                    let zero = f32x4_splat(0.0);
                    self.directed::<32>(
                        to,
                        sum,
                        i32x4_shr(x, 31),
                        [f32x4_gt(rest, zero), f32x4_lt(rest, zero)],
                    )
                }
            }
        });
        let count = u16x8_add(even_16(x, y), u16x8_splat(0_u16.wrapping_sub(126 << 10)));
        let codes = u16x8_add(count, u16x8_shl(odd_16(x, y), 3));
        let signs = v128_and(odd_16(a, b), u16x8_splat(0x8000));
        let [x, y] = magnitudes;
        let codes = if v128_any_true(i32x4_gt(i32x4_max(x, y), i32x4_splat(INFINITY as i32))) {
            let nan = each!([x, y], |x| i32x4_gt(x, i32x4_splat(INFINITY as i32)));
            let upper_bits = v128_or(u16x8_shl(odd_16(x, y), 3), u16x8_shr(even_16(x, y), 13));
            let quiet = v128_or(v128_and(upper_bits, u16x8_splat(0x1FF)), u16x8_splat(0x7E00));
            v128_bitselect(quiet, codes, even_16(nan[0], nan[1]))
        } else {
            codes
        };
        v128_or(codes, signs)
    }
}

/// Float64 of int32 (or uint32).
#[inline(always)]
pub(super) fn f64_of_int32<const SIGNED: bool>(x: v128) -> [v128; 2] {
    each!([x, upper(x)], |x| if SIGNED { f64x2_convert_low_i32x4(x) } else { f64x2_convert_low_u32x4(x) })
}

/// Float64 of float32.
#[inline(always)]
pub(super) fn f64_of_f32(x: v128) -> [v128; 2] {
    let numbers = promoted(x);
    let nan = f32x4_ne(x, x);
    if !v128_any_true(nan) {
        return numbers;
    }
    each!([(x, nan, numbers[0]), (upper(x), upper(nan), numbers[1])], |(x, nan, number)| {
        let x = i64x2_extend_low_i32x4(x);
        let mantissa = v128_and(u64x2_shl(x, 29), u64x2_splat(0x000F_FFFF_E000_0000));
        let sign = v128_and(x, f64x2_splat(-0.0));
        let quiet = v128_or(v128_or(mantissa, sign), u64x2_splat(0x7FF8_0000_0000_0000));
        v128_bitselect(quiet, number, i64x2_extend_low_i32x4(nan))
    })
}

/// Converts float64 to float32, rounded to odd; a value out of range becomes the largest magnitude.
#[inline(always)]
pub(super) fn f32_of_f64_odd(a: v128, b: v128) -> v128 {
    let nearest = demoted(a, b);
    let [short, long] = errors(nearest, a, b);
    let inexact = u32x4_shr(v128_or(short, long), 31);
    nan_of_f64(v128_or(u32x4_add(nearest, long), inexact), a, b)
}

/// Replaces the float32 of each float64 NaN by a quiet NaN with the sign and the upper bits of the source.
#[inline(always)]
fn nan_of_f64(x: v128, a: v128, b: v128) -> v128 {
    let (nan_a, nan_b) = (f64x2_ne(a, a), f64x2_ne(b, b));
    if !v128_any_true(v128_or(nan_a, nan_b)) {
        return x;
    }
    let (low, high) = (even_32(a, b), odd_32(a, b));
    let mantissa = v128_or(v128_and(u32x4_shl(high, 3), u32x4_splat(0x007F_FFF8)), u32x4_shr(low, 29));
    let sign = v128_and(high, u32x4_splat(SIGN));
    let quiet = v128_or(v128_or(mantissa, sign), u32x4_splat(0x7FC0_0000));
    v128_bitselect(quiet, x, even_32(nan_a, nan_b))
}

/// Float32 of float16.
///
/// Moves exponents in lanes of 16 bits, the upper halves of the results. A subnormal gets an exponent that is too large by one, and subtracting
/// that power of two leaves its value. (No instruction reads or makes a subnormal float32.)
#[inline(always)]
pub(super) fn f32_of_f16(x: v128) -> [v128; 2] {
    let signs = v128_and(x, u16x8_splat(0x8000));
    let magnitudes = v128_xor(x, signs);
    // The exponents of infinity and NaN move by the same distance again.
    let special = u16x8_ge(magnitudes, u16x8_splat(0x7C00));
    let quiet = v128_and(u16x8_gt(magnitudes, u16x8_splat(0x7C00)), u16x8_splat(0x40));
    let bias = u16x8_add(u16x8_splat(112 << 7), v128_and(special, u16x8_splat(112 << 7)));
    let high = v128_or(u16x8_add(u16x8_shr(magnitudes, 3), bias), quiet);
    let low = u16x8_shl(x, 13);
    let subnormal = u16x8_lt(magnitudes, u16x8_splat(0x400));
    let halves = [
        (low_16(low, high), low_16(subnormal, subnormal)),
        (high_16(low, high), high_16(subnormal, subnormal)),
    ];
    let zero = u16x8_splat(0);
    let signs = [low_16(zero, signs), high_16(zero, signs)];
    each!([(halves[0], signs[0]), (halves[1], signs[1])], |((x, subnormal), sign)| {
        let moved = u32x4_add(x, u32x4_splat(1 << 23));
        let value = f32x4_sub(moved, u32x4_splat(113 << 23));
        v128_or(v128_bitselect(value, x, subnormal), sign)
    })
}

/// Bfloat16 of float32, nearest; NaN becomes the canonical one with its sign.
#[inline(always)]
pub(super) fn bf16_of_f32(a: v128, b: v128) -> v128 {
    // The last kept bit plus just under half a unit carries exactly when nearest even rounds up.
    let [x, y] = each!([a, b], |x| {
        let last = v128_and(u32x4_shr(x, 16), u32x4_splat(1));
        u32x4_add(u32x4_add(x, u32x4_splat(0x7FFF)), last)
    });
    let rounded = odd_16(x, y);
    let (nan_a, nan_b) = (f32x4_ne(a, a), f32x4_ne(b, b));
    if !v128_any_true(v128_or(nan_a, nan_b)) {
        return rounded;
    }
    let nan = v128_or(v128_and(odd_16(a, b), u16x8_splat(0x8000)), u16x8_splat(0x7FC0));
    v128_bitselect(nan, rounded, even_16(nan_a, nan_b))
}

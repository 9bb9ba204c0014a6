//! The results that a kind of lanes becomes, and functions that the kinds share.

use super::{
    ops::LaneOps,
    unit::{Bytes, Doubles, Halves, Limits, Words},
};
use crate::vector::{each, style::RoundingMode};

/// The results that a kind of lanes becomes, as far as the table of pairs needs them. The first argument is the token of the tier.
///
/// "In the direction" means the rounding direction of the floating-point environment; under the common rules it is to nearest even.
pub(crate) trait Lanes<M: LaneOps>: Copy {
    /// Whether no lane is NaN.
    const INTEGERS: bool = false;
    /// Whether no lane is negative.
    const UNSIGNED: bool = false;
    /// The low bits of truncated numbers or, if `SATURATE`, the nearest integers, with a sign if `TO`.
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// The same as codes of fewer bits within these limits, if `NARROW`. Otherwise they are the limits of a byte.
    #[inline(always)]
    fn codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(
        self,
        m: M,
        limits: Limits,
    ) -> Bytes<M> {
        if Self::UNSIGNED && NARROW {
            m.codes_of_8::<true, SATURATE, false, TO>(self.int8::<SATURATE, false>(m), limits)
        } else {
            m.codes_of_8::<NARROW, SATURATE, true, TO>(self.int8::<SATURATE, TO>(m), limits)
        }
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, _: M) -> Halves<M> {
        never::<Self, _>()
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, _: M) -> Words<M> {
        never::<Self, _>()
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Float32, rounded in the direction.
    #[inline(always)]
    fn f32(self, _: M) -> Words<M> {
        never::<Self, _>()
    }
    /// Float32 that narrower floats round as they would round the numbers themselves; unless `ODD`, only floats with at most the exponents of
    /// float16.
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, _: M) -> Words<M> {
        never::<Self, _>()
    }
    /// The same, but values out of range of float32 become infinite.
    #[inline(always)]
    fn f32_odd_or_infinite(self, m: M) -> Words<M> {
        self.f32_odd::<true>(m)
    }
    /// Bytes whose top bits are the signs, if they cost less than the signs of float32.
    #[inline(always)]
    fn signs(self, _: M) -> Option<Bytes<M>> {
        None
    }
    /// Float64, rounded in the direction.
    #[inline(always)]
    fn f64(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Float64, rounded by [`Mode::Away`](crate::vector::style::Mode) or `Mode::Odd` in an environment that rounds toward zero.
    #[inline(always)]
    fn f64_rounded<R: RoundingMode>(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Float64 that float32 rounds as it would round the numbers themselves.
    #[inline(always)]
    fn f64_odd(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Bfloat16, rounded as by [`LaneOps::bf16_of_f32`].
    #[inline(always)]
    fn bf16(self, m: M) -> Halves<M> {
        let [a, b, c, d] = self.f32_odd::<true>(m);
        [m.bf16_of_f32(a, b), m.bf16_of_f32(c, d)]
    }
    /// Float16, rounded in the direction.
    #[inline(always)]
    fn f16(self, m: M) -> Halves<M> {
        f16_of_words(m, self.f32_odd::<false>(m))
    }
    /// The lanes themselves, which are float16.
    #[inline(always)]
    fn halves(self, _: M) -> Halves<M> {
        never::<Self, _>()
    }
    /// 1 where a number is not zero.
    #[inline(always)]
    fn truth(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// Looked-up results of a byte.
    #[inline(always)]
    fn found_8(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// Looked-up results of two bytes.
    #[inline(always)]
    fn found_16(self, _: M) -> Halves<M> {
        never::<Self, _>()
    }
}

/// The body of a method that a kind of lanes does not have: using it does not compile.
fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "the table asks for a pair that has no method") };
    unreachable!()
}

/// Float32 rounded to float16, in the direction.
#[inline(always)]
pub(crate) fn f16_of_words<M: LaneOps>(m: M, [a, b, c, d]: Words<M>) -> Halves<M> {
    [m.f16_of_f32_env(a, b), m.f16_of_f32_env(c, d)]
}

/// 1 for bytes that are all ones.
#[inline(always)]
pub(crate) fn truths<M: LaneOps>(m: M, x: Bytes<M>) -> Bytes<M> {
    m.and(x, m.splat_8(1))
}

/// Float32 with these upper halves.
#[inline(always)]
pub(crate) fn upper_halves<M: LaneOps>(m: M, [x, y]: Halves<M>) -> Words<M> {
    let ([a, b], [c, d]) = (m.in_upper_halves(x), m.in_upper_halves(y));
    [a, b, c, d]
}

/// The high half of every lane.
#[inline(always)]
pub(crate) fn high_halves<M: LaneOps>(m: M, [a, b, c, d]: Words<M>) -> Halves<M> {
    [m.pack_high_halves(a, b), m.pack_high_halves(c, d)]
}

/// The low half of every lane.
#[inline(always)]
pub(crate) fn low_halves<M: LaneOps>(m: M, [a, b, c, d]: Words<M>) -> Halves<M> {
    [m.narrow_32::<false, false, false>(a, b), m.narrow_32::<false, false, false>(c, d)]
}

/// Float64 rounded to float32, in the direction.
#[inline(always)]
pub(super) fn f32_of_doubles<M: LaneOps>(m: M, x: Doubles<M>) -> Words<M> {
    each!([0, 2, 4, 6], |k| m.f32_of_f64_env(x[k], x[k + 1]))
}

/// Float64 rounded to float32, to odd.
#[inline(always)]
pub(super) fn f32_odd_of_doubles<M: LaneOps>(m: M, x: Doubles<M>) -> Words<M> {
    each!([0, 2, 4, 6], |k| m.f32_of_f64_odd(x[k], x[k + 1]))
}

#[inline(always)]
pub(super) fn widen_32<M: LaneOps, const SIGNED: bool>(m: M, x: Words<M>) -> Doubles<M> {
    let [[a, b], [c, d], [e, f], [g, h]] = each!(x, |x| m.widen_32::<SIGNED>(x));
    [a, b, c, d, e, f, g, h]
}

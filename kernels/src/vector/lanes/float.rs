//! Floats in registers of lanes of 32 or 64 bits.
//!
//! Conversions to integers saturate, and NaN becomes 0, as `docs/semantics.md` requires of a cast that saturates.

use super::{
    Bytes, Doubles, Halves, LaneOps, Lanes, Limits, Words, eight, f32_odd_of_doubles, f32_of_doubles,
    int::Ints32,
};
use crate::{format::typed, vector::each};
use core::marker::PhantomData;

/// A unit of float32 whose values are known to be in a range.
#[derive(Clone, Copy)]
pub(crate) struct F32<M: LaneOps, G: Limited>(pub(crate) Words<M>, PhantomData<G>);

impl<M: LaneOps, G: Limited> F32<M, G> {
    #[inline(always)]
    pub(crate) fn new(x: Words<M>) -> Self {
        Self(x, PhantomData)
    }
}

/// What is known about float32 values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// They may be anything.
    Any,
    /// They are in the range of int32, infinite or NaN.
    ShortOrInfinite,
    /// Truncated for a wrapping cast, they are in the range of int32.
    Short,
}

typed! {
    /// A [`Range`] as a parameter of lanes.
    trait Limited { RANGE: Range }
    /// [`Range::Any`].
    Any = Range::Any;
    /// [`Range::ShortOrInfinite`].
    ShortOrInfinite = Range::ShortOrInfinite;
    /// [`Range::Short`].
    Short = Range::Short;
}

/// A unit of float64.
#[derive(Clone, Copy)]
pub(crate) struct F64<M: LaneOps>(pub(crate) Doubles<M>);

impl<M: LaneOps, G: Limited> Lanes<M> for F32<M, G> {
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        if SATURATE {
            m.int8_of_f32::<TO>(self.0)
        } else if G::RANGE == Range::Short {
            m.low_bytes_32(each!(self.0, |x| m.int32_of_f32::<true>(x)))
        } else {
            m.low_bytes_32(each!(self.0, |x| m.int32_or_0_of_f32(x)))
        }
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        if SATURATE {
            m.int16_of_f32::<TO>(self.0)
        } else {
            let x = match G::RANGE {
                Range::Any => each!(self.0, |x| m.low_16_of_f32(x)),
                _ => self.int32::<false, TO>(m),
            };
            Ints32::<M, true>(x).int16::<false, TO>(m)
        }
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        if SATURATE {
            each!(self.0, |x| m.int32_of_f32::<TO>(x))
        } else {
            match G::RANGE {
                Range::Short => each!(self.0, |x| m.int32_of_f32::<true>(x)),
                Range::ShortOrInfinite => each!(self.0, |x| m.int32_or_0_of_f32(x)),
                Range::Any => each!(self.0, |x| m.low_32_of_f32(x)),
            }
        }
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if G::RANGE != Range::Any && !SATURATE {
            Ints32::<M, true>(self.int32::<false, true>(m)).int64::<false, TO>(m)
        } else {
            m.int64s_of_f32::<SATURATE, TO>(self.0)
        }
    }
    #[inline(always)]
    fn f32(self, _: M) -> Words<M> {
        self.0
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, _: M) -> Words<M> {
        self.0
    }
    #[inline(always)]
    fn f64(self, m: M) -> Doubles<M> {
        let [[a, b], [c, d], [e, f], [g, h]] = each!(self.0, |x| m.f64_of_f32(x));
        [a, b, c, d, e, f, g, h]
    }
    #[inline(always)]
    fn truth(self, m: M) -> Bytes<M> {
        // Every bit except the sign counts.
        let magnitude = m.splat(0x7FFF_FFFF);
        m.truths_32(each!(self.0, |x| m.and(x, magnitude)))
    }
}

impl<M: LaneOps> Lanes<M> for F64<M> {
    #[inline(always)]
    fn codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(
        self,
        m: M,
        limits: Limits,
    ) -> Bytes<M> {
        let x = m.int32s_of_f64::<8, SATURATE, true>(self.0);
        m.codes_of_32::<NARROW, SATURATE, true, TO>(x, limits)
    }
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        self.codes::<false, SATURATE, TO>(m, Limits::byte(TO))
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        Ints32::<M, true>(m.int32s_of_f64::<16, SATURATE, true>(self.0)).int16::<SATURATE, TO>(m)
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        m.int32s_of_f64::<32, SATURATE, TO>(self.0)
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        m.int64s_of_f64::<SATURATE, TO>(self.0)
    }
    #[inline(always)]
    fn f32(self, m: M) -> Words<M> {
        f32_of_doubles(m, self.0)
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        f32_odd_of_doubles(m, self.0)
    }
    #[inline(always)]
    fn f32_odd_or_infinite(self, m: M) -> Words<M> {
        let beyond = m.splat_64(((1_u128 << 127) as f64 * 2.0).to_bits());
        let beyond = low_words(m, eight!(self.0, |x| m.abs_ge_f64(x, beyond)));
        let odd = self.f32_odd::<true>(m);
        each!([0, 1, 2, 3], |k| {
            // Except for the sign.
            let beyond = m.and(beyond[k], m.splat(0x7FFF_FFFF));
            m.select(beyond, m.splat(0x7F80_0000), odd[k])
        })
    }
    #[inline(always)]
    fn f64(self, _: M) -> Doubles<M> {
        self.0
    }
    #[inline(always)]
    fn f64_odd(self, _: M) -> Doubles<M> {
        self.0
    }
    #[inline(always)]
    fn truth(self, m: M) -> Bytes<M> {
        // Every bit except the sign counts.
        let magnitude = m.splat_64(u64::MAX >> 1);
        m.truths_64(eight!(self.0, |x| m.and(x, magnitude)))
    }
}

/// The low half of every lane of 64 bits.
#[inline(always)]
fn low_words<M: LaneOps>(m: M, x: Doubles<M>) -> Words<M> {
    each!([0, 2, 4, 6], |k| m.even_32(x[k], x[k + 1]))
}

//! Floats in registers of lanes of 32 or 64 bits.
//!
//! Conversions to integers saturate, and NaN becomes 0: what the specification wants of a cast that saturates.

use super::{Bytes, Doubles, Halves, LaneOps, Lanes, Words, int::Ints32, int::Ints64, nearest_codes};

/// A unit of float32.
#[derive(Clone, Copy)]
pub(crate) struct F32<M: LaneOps, const RANGE: u8>(pub(crate) Words<M>);

/// They may be anything.
pub(crate) const ANY: u8 = 0;
/// They are in the range of int32, infinite or NaN.
pub(crate) const SHORT_OR_INFINITE: u8 = 1;
/// Truncated to wrap, they are in the range of int32.
pub(crate) const SHORT: u8 = 2;

/// A unit of float64.
#[derive(Clone, Copy)]
pub(crate) struct F64<M: LaneOps>(pub(crate) Doubles<M>);

impl<M: LaneOps, const RANGE: u8> Lanes<M> for F32<M, RANGE> {
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        if SATURATE {
            m.int8_of_f32::<TO>(self.0)
        } else if RANGE == SHORT {
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
            let x = match RANGE {
                ANY => each!(self.0, |x| m.low_16_of_f32(x)),
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
            match RANGE {
                SHORT => each!(self.0, |x| m.int32_of_f32::<true>(x)),
                SHORT_OR_INFINITE => each!(self.0, |x| m.int32_or_0_of_f32(x)),
                _ => each!(self.0, |x| m.low_32_of_f32(x)),
            }
        }
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if RANGE != ANY && !SATURATE {
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
        // Every bit but the sign counts.
        let magnitude = m.splat(0x7FFF_FFFF);
        m.truths_32(each!(self.0, |x| m.and(x, magnitude)))
    }
}

impl<M: LaneOps> F64<M> {
    /// Integers of which the low 16 bits are right, or (`SATURATE`) int32.
    #[inline(always)]
    fn short<const SATURATE: bool>(self, m: M) -> Ints32<M, true> {
        Ints32(m.int32s_of_f64::<16, SATURATE, true>(self.0))
    }
}

impl<M: LaneOps> Lanes<M> for F64<M> {
    #[inline(always)]
    fn codes<const WIDTH: u32, const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        if M::SHORT_F64 {
            self.short::<SATURATE>(m).codes::<WIDTH, SATURATE, TO>(m)
        } else {
            nearest_codes::<M, _, WIDTH, SATURATE, TO>(m, self)
        }
    }
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        if SATURATE {
            Ints64::<M, TO>(self.int64::<true, TO>(m)).int8::<true, TO>(m)
        } else {
            // Even lanes first, as from there the bytes are those of integers of 32 bits.
            Ints32::<M, TO>(low_words(m, eight!(self.0, |x| m.int64_or_0_of_f64(x)))).int8::<false, TO>(m)
        }
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        if M::SHORT_F64 {
            return self.short::<SATURATE>(m).int16::<SATURATE, TO>(m);
        }
        let x = Ints64::<M, TO>(self.int64::<SATURATE, TO>(m));
        Ints32::<M, TO>(x.int32::<SATURATE, TO>(m)).int16::<SATURATE, TO>(m)
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
        let x = self.0;
        each!([0, 2, 4, 6], |k| m.f32_of_f64_env(x[k], x[k + 1]))
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        let x = self.0;
        each!([0, 2, 4, 6], |k| m.f32_of_f64_odd(x[k], x[k + 1]))
    }
    #[inline(always)]
    fn f32_odd_or_infinite(self, m: M) -> Words<M> {
        let beyond = m.splat_64(((1_u128 << 127) as f64 * 2.0).to_bits());
        let beyond = low_words(m, eight!(self.0, |x| m.abs_ge_f64(x, beyond)));
        let odd = self.f32_odd::<true>(m);
        each!([0, 1, 2, 3], |k| {
            // But for the sign.
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
        // Every bit but the sign counts.
        let magnitude = m.splat_64(u64::MAX >> 1);
        m.truths_64(eight!(self.0, |x| m.and(x, magnitude)))
    }
}

/// The low half of every lane of 64 bits.
#[inline(always)]
fn low_words<M: LaneOps>(m: M, x: Doubles<M>) -> Words<M> {
    each!([0, 2, 4, 6], |k| m.even_32(x[k], x[k + 1]))
}

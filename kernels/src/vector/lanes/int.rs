//! Integers of 8, 16, 32 and 64 bits in registers.
//!
//! An integer wider than the target narrows through the widths between them, keeping its own sign.

use super::{
    Bytes, Doubles, Halves, LaneOps, Lanes, Limits, Words, eight, f32_odd_of_doubles, f32_of_doubles, truths,
    two, widen_32,
};
use crate::vector::{
    each,
    style::{Mode, RoundingMode},
};

/// A unit of integers of 8 bits, signed or unsigned.
#[derive(Clone, Copy)]
pub(crate) struct Ints8<M: LaneOps, const SIGNED: bool>(pub(crate) Bytes<M>);
/// A unit of integers of 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct Ints16<M: LaneOps, const SIGNED: bool>(pub(crate) Halves<M>);
/// A unit of integers of 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Ints32<M: LaneOps, const SIGNED: bool>(pub(crate) Words<M>);
/// A unit of integers of 64 bits.
#[derive(Clone, Copy)]
pub(crate) struct Ints64<M: LaneOps, const SIGNED: bool>(pub(crate) Doubles<M>);

#[inline(always)]
fn widen_8<M: LaneOps, const SIGNED: bool>(m: M, x: Bytes<M>) -> Halves<M> {
    m.widen_8::<SIGNED>(x)
}

#[inline(always)]
fn widen_16<M: LaneOps, const SIGNED: bool>(m: M, [x, y]: Halves<M>) -> Words<M> {
    let ([a, b], [c, d]) = (m.widen_16::<SIGNED>(x), m.widen_16::<SIGNED>(y));
    [a, b, c, d]
}

impl<M: LaneOps, const SIGNED: bool> Lanes<M> for Ints8<M, SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        if SATURATE { m.fit_8::<SIGNED, TO>(self.0) } else { self.0 }
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        // Zeroing negative integers is cheap.
        if SATURATE && SIGNED && !TO {
            widen_8::<M, false>(m, self.int8::<true, false>(m))
        } else {
            widen_8::<M, SIGNED>(m, self.0)
        }
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        // For unsigned integers, one step may suffice.
        if SIGNED && (TO || !SATURATE) {
            widen_16::<M, true>(m, widen_8::<M, true>(m, self.0))
        } else {
            m.bytes_in_words::<0>(self.int8::<SATURATE, false>(m))
        }
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if SIGNED && (TO || !SATURATE) {
            widen_32::<M, true>(m, widen_16::<M, true>(m, widen_8::<M, true>(m, self.0)))
        } else {
            m.bytes_in_doubles::<0>(self.int8::<SATURATE, false>(m))
        }
    }
    #[inline(always)]
    fn f32(self, m: M) -> Words<M> {
        m.f32_of_bytes::<SIGNED>(self.0)
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        self.f32(m)
    }
    #[inline(always)]
    fn f64(self, m: M) -> Doubles<M> {
        m.f64_of_bytes::<SIGNED>(self.0)
    }
    #[inline(always)]
    fn f16(self, m: M) -> Halves<M> {
        Ints16::<M, SIGNED>(widen_8::<M, SIGNED>(m, self.0)).f16(m)
    }
    #[inline(always)]
    fn bf16(self, m: M) -> Halves<M> {
        // Eight bits fit in bfloat16.
        super::high_halves(m, self.f32(m))
    }
}

impl<M: LaneOps, const SIGNED: bool> Lanes<M> for Ints16<M, SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    fn codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(
        self,
        m: M,
        limits: Limits,
    ) -> Bytes<M> {
        m.codes_of_16::<NARROW, SATURATE, SIGNED, TO>(self.0, limits)
    }
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        m.narrow_16::<SATURATE, SIGNED, TO>(self.0[0], self.0[1])
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        if SATURATE { two!(self.0, |x| m.fit_16::<SIGNED, TO>(x)) } else { self.0 }
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        // Zeroing negative integers is cheap.
        if SATURATE && SIGNED && !TO {
            widen_16::<M, false>(m, self.int16::<true, false>(m))
        } else {
            widen_16::<M, SIGNED>(m, self.0)
        }
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if SIGNED && (TO || !SATURATE) {
            widen_32::<M, true>(m, widen_16::<M, true>(m, self.0))
        } else {
            m.halves_in_doubles::<0>(self.int16::<SATURATE, false>(m))
        }
    }
    #[inline(always)]
    fn f32(self, m: M) -> Words<M> {
        let [low, high] = two!(self.0, |x| m.widen_16::<SIGNED>(x));
        each!([low[0], low[1], high[0], high[1]], |x| m.f32_of_short_int32(x))
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        self.f32(m)
    }
    #[inline(always)]
    fn f64(self, m: M) -> Doubles<M> {
        m.f64_of_halves::<SIGNED>(self.0)
    }
    #[inline(always)]
    fn f16(self, m: M) -> Halves<M> {
        two!(self.0, |x| m.f16_of_int16_env::<SIGNED>(x))
    }
    #[inline(always)]
    fn truth(self, m: M) -> Bytes<M> {
        let [a, b] = two!(self.0, |x| m.nonzero_16(x));
        truths(m, m.narrow_16::<false, false, false>(a, b))
    }
}

impl<M: LaneOps, const SIGNED: bool> Ints32<M, SIGNED> {
    #[inline(always)]
    fn narrow<const SATURATE: bool, const TO: bool>(self, m: M) -> Ints16<M, TO> {
        let [a, b, c, d] = self.0;
        Ints16([m.narrow_32::<SATURATE, SIGNED, TO>(a, b), m.narrow_32::<SATURATE, SIGNED, TO>(c, d)])
    }
}

impl<M: LaneOps, const SIGNED: bool> Lanes<M> for Ints32<M, SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    fn codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(
        self,
        m: M,
        limits: Limits,
    ) -> Bytes<M> {
        m.codes_of_32::<NARROW, SATURATE, SIGNED, TO>(self.0, limits)
    }
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        self.codes::<false, SATURATE, TO>(m, Limits::byte(TO))
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        self.narrow::<SATURATE, TO>(m).0
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        if SATURATE { each!(self.0, |x| m.fit_32::<SIGNED, TO>(x)) } else { self.0 }
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if SATURATE && SIGNED && !TO {
            widen_32::<M, false>(m, self.int32::<true, false>(m))
        } else {
            widen_32::<M, SIGNED>(m, self.0)
        }
    }
    #[inline(always)]
    fn f32(self, m: M) -> Words<M> {
        each!(self.0, |x| m.f32_of_int32_env::<SIGNED>(x))
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        // If the last bits do not matter, integers that would be rounded here are out of range of the target.
        if ODD { f32_odd_of_doubles(m, self.f64(m)) } else { self.f32(m) }
    }
    #[inline(always)]
    fn f64(self, m: M) -> Doubles<M> {
        let [[a, b], [c, d], [e, f], [g, h]] = each!(self.0, |x| m.f64_of_int32::<SIGNED>(x));
        [a, b, c, d, e, f, g, h]
    }
    #[inline(always)]
    fn f64_odd(self, m: M) -> Doubles<M> {
        self.f64(m)
    }
    #[inline(always)]
    fn truth(self, m: M) -> Bytes<M> {
        m.truths_32(self.0)
    }
}

impl<M: LaneOps, const SIGNED: bool> Ints64<M, SIGNED> {
    #[inline(always)]
    fn narrow<const SATURATE: bool, const TO: bool>(self, m: M) -> Ints32<M, TO> {
        let x = self.0;
        Ints32(each!([0, 2, 4, 6], |k| m.narrow_64::<SATURATE, SIGNED, TO>(x[k], x[k + 1])))
    }
}

impl<M: LaneOps, const SIGNED: bool> Lanes<M> for Ints64<M, SIGNED> {
    const INTEGERS: bool = true;
    const UNSIGNED: bool = !SIGNED;
    #[inline(always)]
    fn codes<const NARROW: bool, const SATURATE: bool, const TO: bool>(
        self,
        m: M,
        limits: Limits,
    ) -> Bytes<M> {
        m.codes_of_64::<NARROW, SATURATE, SIGNED, TO>(self.0, limits)
    }
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        self.codes::<false, SATURATE, TO>(m, Limits::byte(TO))
    }
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        m.halves_of_64::<SATURATE, SIGNED, TO>(self.0)
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        self.narrow::<SATURATE, TO>(m).0
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        if SATURATE { eight!(self.0, |x| m.fit_64::<SIGNED, TO>(x)) } else { self.0 }
    }
    #[inline(always)]
    fn f32(self, m: M) -> Words<M> {
        f32_of_doubles(m, self.f64_odd(m))
    }
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, m: M) -> Words<M> {
        if ODD {
            f32_odd_of_doubles(m, self.f64_odd(m))
        } else {
            // Integers of more than 32 bits are out of range of the target, and stay out of range.
            self.narrow::<true, SIGNED>(m).f32(m)
        }
    }
    #[inline(always)]
    fn f64(self, m: M) -> Doubles<M> {
        eight!(self.0, |x| m.f64_of_int64_env::<SIGNED>(x))
    }
    #[inline(always)]
    fn f64_rounded<R: RoundingMode>(self, m: M) -> Doubles<M> {
        eight!(self.0, |x| {
            let truncated = m.f64_of_int64_env::<SIGNED>(x);
            let dropped = m.sub_64(x, m.int64_of_f64::<SIGNED>(truncated));
            after::<M, R>(m, truncated, dropped)
        })
    }
    #[inline(always)]
    fn f64_odd(self, m: M) -> Doubles<M> {
        m.odd_f64_of_int64::<SIGNED>(self.0)
    }
    #[inline(always)]
    fn truth(self, m: M) -> Bytes<M> {
        m.truths_64(self.0)
    }
}

/// Rounds a truncated float64 by the dropped part, an integer of the same sign. The environment rounds toward zero.
#[inline(always)]
fn after<M: LaneOps, R: RoundingMode>(m: M, truncated: M::V, dropped: M::V) -> M::V {
    if R::MODE == Mode::Odd {
        return m.or(truncated, m.and(m.nonzero_64(dropped), m.splat_64(1)));
    }
    // Doubled, half a unit is one unit.
    let dropped = m.f64_of_int64_env::<true>(dropped);
    m.add_env_f64(truncated, m.add_env_f64(dropped, dropped))
}

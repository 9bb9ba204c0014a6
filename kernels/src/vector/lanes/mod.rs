//! Kernels for all pairs, written once over the operations of a tier ([`LaneOps`]): every pair is a [`Source`], which brings
//! elements into [`Lanes`], and a [`Target`], which takes them from there.
//!
//! A kernel goes in blocks of one unit or two. A unit is as many elements as a register has bytes, so that it fills one register with
//! elements of a byte and eight with those of 64 bits. Sources of a byte or less are looked up ([`table`], [`ends`]) or need no table
//! ([`byte`]); the others are loaded as they are ([`source`]). [`int`] and [`float`] are the kinds of lanes: how they become
//! integers of any width, floats, and truth values. [`target`] stores those under the common rules, [`rounded`] and [`small`]
//! under all others. [`select`] says which kernel takes a pair.

/// An expression of each of two registers.
macro_rules! two {
    ($two:expr, |$x:pat_param| $result:expr) => {{
        let [a, b] = $two;
        $crate::vector::each!([a, b], |$x| $result)
    }};
}

/// An expression of each of eight registers.
macro_rules! eight {
    ([$($element:expr),*], |$x:pat_param| $result:expr) => {
        $crate::vector::each!([$($element),*], |$x| $result)
    };
    ($eight:expr, |$x:pat_param| $result:expr) => {{
        let [a, b, c, d, e, f, g, h] = $eight;
        $crate::vector::each!([a, b, c, d, e, f, g, h], |$x| $result)
    }};
}
#[allow(unused_imports, reason = "for the operations of tiers")]
pub(crate) use {eight, two};

pub(crate) mod byte;
pub(crate) mod ends;
pub(crate) mod float;
pub(crate) mod int;
pub(crate) mod lookup;
pub(crate) mod ops;
pub(crate) mod rounded;
pub(crate) mod run;
pub(crate) mod select;
pub(crate) mod small;
pub(crate) mod source;
pub(crate) mod table;
pub(crate) mod target;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use ops::{Bytes, Doubles, Halves, LaneOps, Words};

/// What a kind of lanes becomes, as far as the table of pairs needs it. The token of the tier goes first.
///
/// "In the direction" means that of the floating-point environment; it is to nearest even under the common rules.
pub(crate) trait Lanes<M: LaneOps>: Copy {
    /// Whether none is NaN.
    const INTEGERS: bool = false;
    /// Whether none is negative.
    const UNSIGNED: bool = false;
    /// The low bits of truncated numbers, or the nearest integers `TO` a type with a sign or without.
    #[inline(always)]
    fn int8<const SATURATE: bool, const TO: bool>(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// The same with codes of `WIDTH` bits, which have no bits above.
    #[inline(always)]
    fn codes<const WIDTH: u32, const SATURATE: bool, const TO: bool>(self, m: M) -> Bytes<M> {
        nearest_codes::<M, _, WIDTH, SATURATE, TO>(m, self)
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
    /// Float32, in the direction.
    #[inline(always)]
    fn f32(self, _: M) -> Words<M> {
        never::<Self, _>()
    }
    /// Float32 that narrower floats round as the numbers themselves; if not `ODD`, only those that have no more exponents than
    /// float16.
    #[inline(always)]
    fn f32_odd<const ODD: bool>(self, _: M) -> Words<M> {
        never::<Self, _>()
    }
    /// The same with infinity for what is beyond the range of float32.
    #[inline(always)]
    fn f32_odd_or_infinite(self, m: M) -> Words<M> {
        self.f32_odd::<true>(m)
    }
    /// Bytes of which the top bits are the signs, if they are had for less than those of float32.
    #[inline(always)]
    fn signs(self, _: M) -> Option<Bytes<M>> {
        None
    }
    /// Float64, in the direction.
    #[inline(always)]
    fn f64(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Float64, by `small::AWAY` or `small::ODD`, in an environment that rounds toward zero.
    #[inline(always)]
    fn f64_rounded<const MODE: u8>(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Float64 that float32 rounds as the numbers themselves.
    #[inline(always)]
    fn f64_odd(self, _: M) -> Doubles<M> {
        never::<Self, _>()
    }
    /// Bfloat16, as [`LaneOps::bf16_of_f32`] rounds.
    #[inline(always)]
    fn bf16(self, m: M) -> Halves<M> {
        let [a, b, c, d] = self.f32_odd::<true>(m);
        [m.bf16_of_f32(a, b), m.bf16_of_f32(c, d)]
    }
    /// Float16, in the direction.
    #[inline(always)]
    fn f16(self, m: M) -> Halves<M> {
        f16_of_words(m, self.f32_odd::<false>(m))
    }
    /// The float16 that they are.
    #[inline(always)]
    fn halves(self, _: M) -> Halves<M> {
        never::<Self, _>()
    }
    /// 1 where a number is not zero.
    #[inline(always)]
    fn truth(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// Results of a byte.
    #[inline(always)]
    fn found_8(self, _: M) -> Bytes<M> {
        never::<Self, _>()
    }
    /// Results of two bytes.
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

/// Codes of `WIDTH` bits from integers of a byte.
#[inline(always)]
pub(crate) fn nearest_codes<
    M: LaneOps,
    L: Lanes<M>,
    const WIDTH: u32,
    const SATURATE: bool,
    const TO: bool,
>(
    m: M,
    x: L,
) -> Bytes<M> {
    if WIDTH == 8 {
        return x.int8::<SATURATE, TO>(m);
    }
    // From the range of a byte to that of fewer bits.
    let mask = (1_u8 << WIDTH) - 1;
    let max = m.splat_8(mask >> TO as u32);
    if SATURATE && L::UNSIGNED {
        return m.min_u8(x.int8::<true, false>(m), max);
    }
    let x = x.int8::<SATURATE, TO>(m);
    let x = match (SATURATE, TO) {
        (false, _) => x,
        (true, false) => return m.min_u8(x, max),
        (true, true) => m.max_i8(m.min_i8(x, max), m.splat_8(!(mask >> 1))),
    };
    m.and(x, m.splat_8(mask))
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

/// The upper halves of float32.
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

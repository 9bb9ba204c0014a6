//! Sources of one byte per element or less that need no table: powers of two, integers and truth values.

use super::{
    Bytes, Doubles, Halves, LaneOps, Lanes, Words,
    float::{Any, F32},
    int::Ints8,
    source::Source,
    table::{Found8, Found16, codes},
    upper_halves,
};
use super::{eight, two};
use crate::format::{
    Format,
    data::Data,
    lut::{self, Limits},
};
use crate::vector::each;
use core::marker::PhantomData;

/// `float8_e8m0fnu`, whose codes are exponents of float32.
pub(crate) struct Exponents;
/// The same as bfloat16, which are the results themselves.
pub(crate) struct ExponentsToBf16;

impl<M: LaneOps> Source<M> for ExponentsToBf16 {
    const BITS: usize = 8;
    type Lanes = Found16<M>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): (), src: [*const u8; 2]) -> [Found16<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, 8>(m, src) }, |codes| {
            // The lowest code is a subnormal, the highest NaN: both set the bit below the field.
            let one = m.splat_8(1);
            let ends = m.ge_u8(one, m.add_8(codes, one));
            let low = m.shl_insert_8::<7>(m.and(ends, m.splat_8(0x40)), codes);
            Found16(m.zip_8(low, m.shr_8::<1>(codes)))
        })
    }
}

impl<M: LaneOps> Source<M> for Exponents {
    const BITS: usize = 8;
    type Lanes = F32<M, Any>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): (), src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { ExponentsToBf16::load(m, (), src) }, |x| F32::new(upper_halves(m, x.0)))
    }
}

/// Powers of two as integers that wrap: 1, shifted by the bytes. Shifts by a negative number or by too many places give 0: for fractions, for
/// powers that wrap, and for NaN, which counts as 2^128.
#[derive(Clone, Copy)]
pub(crate) struct Shifts<M: LaneOps>(Bytes<M>);

impl<M: LaneOps> Lanes<M> for Shifts<M> {
    #[inline(always)]
    fn int16<const SATURATE: bool, const TO: bool>(self, m: M) -> Halves<M> {
        two!(m.widen_8::<true>(self.0), |x| m.shift_16(m.splat_16(1), x))
    }
    #[inline(always)]
    fn int32<const SATURATE: bool, const TO: bool>(self, m: M) -> Words<M> {
        each!(m.bytes_in_words::<0>(self.0), |x| m.shift_32(m.splat(1), x))
    }
    #[inline(always)]
    fn int64<const SATURATE: bool, const TO: bool>(self, m: M) -> Doubles<M> {
        eight!(m.bytes_in_doubles::<0>(self.0), |x| m.shift_64(m.splat_64(1), x))
    }
}

/// `float8_e8m0fnu` that will become integers that wrap.
pub(crate) struct PowersOfTwo;

impl<M: LaneOps> Source<M> for PowersOfTwo {
    const BITS: usize = 8;
    type Lanes = Shifts<M>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): (), src: [*const u8; 2]) -> [Shifts<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, 8>(m, src) }, |codes| Shifts(m.sub_8(codes, m.splat_8(127))))
    }
}

/// Integers and truth values by limits, without a table.
pub(crate) struct Limited<S, D, const SATURATE: bool, const BITS: usize>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool, const BITS: usize> Limited<S, D, SATURATE, BITS> {
    const LIMITS: Limits = match lut::limits(S::DTYPE, D::DTYPE, SATURATE) {
        Some(limits) => limits,
        None => panic!("not a pair of limits"),
    };
}

impl<M: LaneOps, S: Format, D: Format, const SATURATE: bool, const BITS: usize> Source<M>
    for Limited<S, D, SATURATE, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Found8<M>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): (), src: [*const u8; 2]) -> [Found8<M>; 2] {
        let Limits { signed, used, min, max, bits } = const { Self::LIMITS };
        let all = |x: u8| m.splat_8(x);
        // SAFETY: the caller grants the units. Steps that change nothing compile to no instruction.
        two!(unsafe { codes::<M, BITS>(m, src) }, |x| {
            let x = if used == 0xFF { x } else { m.and(x, all(used)) };
            let x = match signed {
                _ if (signed, min, max) == (true, 0x80, 0x7F) || (signed, min, max) == (false, 0, 0xFF) => x,
                true => m.min_i8(m.max_i8(x, all(min)), all(max)),
                false if min == 0 => m.min_u8(x, all(max)),
                false => m.min_u8(m.max_u8(x, all(min)), all(max)),
            };
            Found8(if bits == 0xFF { x } else { m.and(x, all(bits)) })
        })
    }
}

/// Unsigned integers of a byte or less, whose bits in `MASK` count.
pub(crate) struct Masked<const MASK: u8, const BITS: usize>;

impl<M: LaneOps, const MASK: u8, const BITS: usize> Source<M> for Masked<MASK, BITS> {
    const BITS: usize = BITS;
    type Lanes = Ints8<M, false>;
    type Tables = ();
    #[inline(always)]
    unsafe fn tables(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): (), src: [*const u8; 2]) -> [Ints8<M, false>; 2] {
        // SAFETY: the caller grants the units. Unpacked codes have no bits above theirs.
        two!(unsafe { codes::<M, BITS>(m, src) }, |x| Ints8(m.and(x, m.splat_8(MASK))))
    }
}

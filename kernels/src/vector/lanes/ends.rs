//! 8-bit floats that become wider floats by a shift and an addend from one table of 16 entries ([`Ends`]). For tiers that look up 16 entries in a
//! register much faster than 128 ([`LaneOps::ENDS`]).

use super::{
    Bytes, Halves, LaneOps,
    float::{F32, Short},
    source::Source,
    table::Found16,
    two, upper_halves,
};
use crate::format::{
    data::Data,
    linear::{Ends, EndsOf, Entry},
    lut::Words,
};
use core::marker::PhantomData;

/// The words of `T` as the results.
pub(crate) struct Ends16<T>(PhantomData<T>);
/// Float32 whose upper halves are the words of `T`.
pub(crate) struct EndsF32<T>(PhantomData<T>);

impl<T: Words> Ends16<T> {
    const ENDS: &'static Ends = EndsOf::<T>::ENDS;
    const ENTRY: Entry = match Entry::of(T::FROM) {
        Some(entry) => entry,
        None => panic!("the ends are too long"),
    };

    /// The planes of the table.
    #[inline(always)]
    pub(crate) fn planes<M: LaneOps>(m: M) -> [Bytes<M>; 2] {
        two!(&Self::ENDS.planes, |plane| m.table_16(plane))
    }

    /// Makes the words of codes.
    #[inline(always)]
    pub(crate) fn words<M: LaneOps>(m: M, planes: [Bytes<M>; 2], codes: Bytes<M>) -> Halves<M> {
        // The mantissa is longer by at most four bits.
        const { assert!(Self::ENDS.shift <= 4) };
        let ends = Self::ENDS;
        let all = |x: u8| m.splat_8(x);
        let magnitudes = m.and(codes, all(0x7F));
        // The same index as `Entry::index`.
        let index = match const { Self::ENTRY } {
            Entry::Fnuz => m.select(m.eq_8(codes, all(0x80)), all(15), m.min_u8(magnitudes, all(14))),
            _ => m.and(m.add_8(codes, all(ends.high)), all(0x7F)),
        };
        let within = m.min_u8(index, all(15));
        let mut found = two!(planes, |plane| m.look_up_16(plane, within));
        if const { matches!(Self::ENTRY, Entry::None) } {
            let is_end = m.eq_8(index, within);
            found = two!(found, |x| m.and(x, is_end));
        }
        // A sign in the upper byte of the addend becomes the sign of the sum.
        let [low, high] = found;
        let addends = m.zip_8(low, m.add_8(high, m.and(codes, all(0x80))));
        let shifted = two!(m.zip_8(all(0), magnitudes), |x| match const { Self::ENDS.shift } {
            0 => x,
            1 => m.shr_16::<1>(x),
            2 => m.shr_16::<2>(x),
            3 => m.shr_16::<3>(x),
            _ => m.shr_16::<4>(x),
        });
        two!([0, 1], |k| m.add_16(m.add_16(shifted[k], addends[k]), m.splat_16(ends.addend)))
    }
}

impl<M: LaneOps, T: Words> Source<M> for Ends16<T> {
    const BITS: usize = 8;
    type Lanes = Found16<M>;
    type Tables = [Bytes<M>; 2];
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> Self::Tables {
        Self::planes(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, planes: Self::Tables, src: [*const u8; 2]) -> [Found16<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { two!(src, |p| m.load(p)) }, |codes| Found16(Self::words(m, planes, codes)))
    }
}

impl<M: LaneOps, T: Words> Source<M> for EndsF32<T> {
    const BITS: usize = 8;
    type Lanes = F32<M, Short>;
    type Tables = [Bytes<M>; 2];
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> Self::Tables {
        Ends16::<T>::planes(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, planes: Self::Tables, src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { Ends16::<T>::load(m, planes, src) }, |x| F32::new(upper_halves(m, x.0)))
    }
}

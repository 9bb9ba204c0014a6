//! Sources of one byte per element or less, looked up ([`lookup`](super::lookup)).
//!
//! A table gives the results themselves ([`Found8`], [`Found16`]), or values from which the results are easily made: short integers, or the upper
//! halves of float32. Tables of the common rules are constants; tables of other rules come with the cast (`Data::table`).

use super::two;
use super::{
    Bytes, Halves, LaneOps, Lanes,
    float::{F32, Short, ShortOrInfinite},
    int::Ints8,
    lookup::{Entries, Fnuz, Lookup, Quads},
    run::kernel,
    source::Source,
    target::Target,
    upper_halves,
};
use crate::{
    format::{
        data::Data,
        lut::{self, Lut},
    },
    vector::kernel::{KernelFn, TableFn},
};
use core::marker::PhantomData;

/// Looked-up results of a byte.
#[derive(Clone, Copy)]
pub(crate) struct Found8<M: LaneOps>(pub(crate) Bytes<M>);

/// Looked-up results of two bytes.
#[derive(Clone, Copy)]
pub(crate) struct Found16<M: LaneOps>(pub(crate) Halves<M>);

impl<M: LaneOps> Lanes<M> for Found8<M> {
    #[inline(always)]
    fn found_8(self, _: M) -> Bytes<M> {
        self.0
    }
}

impl<M: LaneOps> Lanes<M> for Found16<M> {
    #[inline(always)]
    fn found_16(self, _: M) -> Halves<M> {
        self.0
    }
}

/// Loads two units of codes of `BITS` bits: one per byte if `BITS` is 8, else packed, both at the first place.
///
/// # Safety
///
/// The units can be read.
#[inline(always)]
pub(crate) unsafe fn codes<M: LaneOps, const BITS: usize>(
    m: M,
    [first, second]: [*const u8; 2],
) -> [M::V; 2] {
    // SAFETY: a unit of bytes is a register; packed units are the caller's, as `unpack` requires.
    unsafe { if BITS < 8 { m.unpack::<BITS>(first) } else { [m.load(first), m.load(second)] } }
}

/// Looks up the results themselves, of a byte. The source is packed if `BITS` is less than 8.
pub(crate) struct To8<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// Looks up the results themselves, of two bytes.
pub(crate) struct To16<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// Looks up integers of a byte, from which the results are made.
pub(crate) struct ToInts<T, Q, const SIGNED: bool, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);
/// Looks up float32, from which the results are made.
pub(crate) struct ToF32<T, Q, const E: usize, const BITS: usize>(PhantomData<(T, Q)>);

impl<T, Q, const E: usize, const BITS: usize> To8<T, Q, E, BITS> {
    #[inline(always)]
    fn entries<M: LaneOps>(m: M) -> Q::Entries
    where
        T: lut::Words,
        Q: Lookup<M, E>,
    {
        Q::Entries::new(m, &lut::Of::<T, Q::Codes, E, 1>::LUT.planes[0])
    }
}

impl<M: LaneOps, T: lut::Words, Q: Lookup<M, E>, const E: usize, const BITS: usize> Source<M>
    for To8<T, Q, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Found8<M>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> Q::Entries {
        Self::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: Q::Entries, src: [*const u8; 2]) -> [Found8<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, BITS>(m, src) }, |codes| Found8(tables.get(m, Q::index(m, codes))))
    }
}

impl<M: LaneOps, T: lut::Words, Q: Lookup<M, E>, const SIGNED: bool, const E: usize, const BITS: usize>
    Source<M> for ToInts<T, Q, SIGNED, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Ints8<M, SIGNED>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> Q::Entries {
        To8::<T, Q, E, BITS>::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: Q::Entries, src: [*const u8; 2]) -> [Ints8<M, SIGNED>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { To8::<T, Q, E, BITS>::load(m, tables, src) }, |x| Ints8(x.0))
    }
}

impl<T, Q, const E: usize, const BITS: usize> To16<T, Q, E, BITS> {
    #[inline(always)]
    pub(crate) fn entries<M: LaneOps>(m: M) -> [Q::Entries; 2]
    where
        T: lut::Words,
        Q: Lookup<M, E>,
    {
        let [low, high] = &lut::Of::<T, Q::Codes, E, 2>::LUT.planes;
        [Q::Entries::new(m, low), Q::Entries::new(m, high)]
    }

    /// The looked-up results of codes, one code per byte.
    #[inline(always)]
    pub(crate) fn found<M: LaneOps>(m: M, tables: [Q::Entries; 2], codes: M::V) -> Halves<M>
    where
        T: lut::Words,
        Q: Lookup<M, E>,
    {
        let [low, high] = Q::planes(m, tables, lut::Of::<T, Q::Codes, E, 2>::LUT.patch, codes);
        m.zip_8(low, high)
    }
}

impl<M: LaneOps, T: lut::Words, Q: Lookup<M, E>, const E: usize, const BITS: usize> Source<M>
    for To16<T, Q, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Found16<M>;
    type Tables = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> [Q::Entries; 2] {
        Self::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: [Q::Entries; 2], src: [*const u8; 2]) -> [Found16<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, BITS>(m, src) }, |codes| Found16(Self::found(m, tables, codes)))
    }
}

impl<M: LaneOps, T: lut::Words, Q: Lookup<M, E>, const E: usize, const BITS: usize> Source<M>
    for ToF32<T, Q, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = F32<M, Short>;
    type Tables = [Q::Entries; 2];
    #[inline(always)]
    unsafe fn tables(m: M, _: &Data) -> [Q::Entries; 2] {
        To16::<T, Q, E, BITS>::entries(m)
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: [Q::Entries; 2], src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { To16::<T, Q, E, BITS>::load(m, tables, src) }, |x| F32::new(upper_halves(m, x.0)))
    }
}

/// A source whose table comes with the cast.
pub(crate) trait Tabled {
    type Table: 'static;

    /// # Safety
    ///
    /// `data` belongs to a kernel of this source ([`with_table`](with_table)).
    #[inline(always)]
    unsafe fn table(data: &Data) -> &Self::Table {
        // SAFETY: such a kernel has a table of this type.
        unsafe { &*data.table.cast() }
    }
}

impl<Q, const E: usize, const BITS: usize> Tabled for Given<Q, E, BITS> {
    type Table = Lut<E, 1>;
}
impl<Q, const SIGNED: bool, const E: usize, const BITS: usize> Tabled for GivenInts<Q, SIGNED, E, BITS> {
    type Table = Lut<E, 1>;
}
impl Tabled for GivenF32 {
    type Table = Lut<128, 2>;
}

/// Looks up results of a byte in a table that comes with the cast.
pub(crate) struct Given<Q, const E: usize, const BITS: usize>(PhantomData<Q>);
/// The same for integers of a byte, from which the results are made.
pub(crate) struct GivenInts<Q, const SIGNED: bool, const E: usize, const BITS: usize>(PhantomData<Q>);
/// 8-bit floats as float32, whose upper halves come with the cast in a [`Lut`].
pub(crate) struct GivenF32;

impl<M: LaneOps, Q: Lookup<M, E>, const E: usize, const BITS: usize> Source<M> for Given<Q, E, BITS> {
    const BITS: usize = BITS;
    type Lanes = Found8<M>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> Q::Entries {
        // SAFETY: the caller vouches for the data.
        Q::Entries::new(m, unsafe { &Self::table(data).planes[0] })
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: Q::Entries, src: [*const u8; 2]) -> [Found8<M>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, BITS>(m, src) }, |codes| Found8(tables.get(m, Q::index(m, codes))))
    }
}

impl<M: LaneOps, Q: Lookup<M, E>, const SIGNED: bool, const E: usize, const BITS: usize> Source<M>
    for GivenInts<Q, SIGNED, E, BITS>
{
    const BITS: usize = BITS;
    type Lanes = Ints8<M, SIGNED>;
    type Tables = Q::Entries;
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> Q::Entries {
        // SAFETY: the caller vouches for the data.
        unsafe { Given::<Q, E, BITS>::tables(m, data) }
    }
    #[inline(always)]
    unsafe fn load(m: M, tables: Q::Entries, src: [*const u8; 2]) -> [Ints8<M, SIGNED>; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { Given::<Q, E, BITS>::load(m, tables, src) }, |x| Ints8(x.0))
    }
}

impl<M: LaneOps> Source<M> for GivenF32 {
    const BITS: usize = 8;
    type Lanes = F32<M, ShortOrInfinite>;
    type Tables = ([Quads<M, 2>; 2], [u8; 2]);
    #[inline(always)]
    unsafe fn tables(m: M, data: &Data) -> Self::Tables {
        // SAFETY: the caller vouches for the data.
        let Lut { planes: [low, high], patch } = unsafe { Self::table(data) };
        ([Quads::new(m, low), Quads::new(m, high)], *patch)
    }
    #[inline(always)]
    unsafe fn load(m: M, (tables, patch): Self::Tables, src: [*const u8; 2]) -> [Self::Lanes; 2] {
        // SAFETY: the caller grants the units.
        two!(unsafe { codes::<M, 8>(m, src) }, |codes| {
            let [low, high] = Fnuz::planes(m, tables, patch, codes);
            F32::new(upper_halves(m, m.zip_8(low, high)))
        })
    }
}

/// Gives a kernel the type of the table that it reads.
///
/// # Safety
///
/// The kernel reads `data.table` as a `T`, or does not read it.
pub(crate) unsafe fn reading<T>(run: KernelFn) -> TableFn<T> {
    // SAFETY: the two types differ only in the type behind one reference, and `WithTable` is `Data` in memory.
    unsafe { core::mem::transmute::<KernelFn, TableFn<T>>(run) }
}

/// The kernel of a source whose table comes with the cast.
pub(crate) fn with_table<M: LaneOps, S: Source<M> + Tabled, D: Target<M>, const SATURATE: bool>()
-> TableFn<S::Table> {
    // SAFETY: only the source reads a table, and it reads the table as its own type.
    unsafe { reading(kernel::<M, S, D, SATURATE>()) }
}

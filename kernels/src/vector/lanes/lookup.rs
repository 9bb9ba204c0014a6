//! Tables in registers, and how the codes of a source become indices into them.

use super::{LaneOps, two};
use crate::format::lut::choice::{self, Choice};

/// A table of `E` entries in registers.
pub(crate) trait Entries<M: LaneOps, const E: usize>: Copy {
    fn new(m: M, entries: &[u8; E]) -> Self;
    /// The entries of indices less than `E`.
    fn get(self, m: M, index: M::V) -> M::V;
}

/// Sixteen entries.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen<M: LaneOps>(M::V);

/// `N` times 64 entries.
#[derive(Clone, Copy)]
pub(crate) struct Quads<M: LaneOps, const N: usize>([M::Table64; N]);

impl<M: LaneOps> Entries<M, 16> for Sixteen<M> {
    #[inline(always)]
    fn new(m: M, entries: &[u8; 16]) -> Self {
        Self(m.table_16(entries))
    }
    #[inline(always)]
    fn get(self, m: M, index: M::V) -> M::V {
        m.look_up_16(self.0, index)
    }
}

macro_rules! quads {
    ($($entries:literal: [$($n:literal)*], [$($more:literal)*];)*) => {$(
        impl<M: LaneOps> Entries<M, $entries> for Quads<M, { $entries / 64 }> {
            #[inline(always)]
            fn new(m: M, entries: &[u8; $entries]) -> Self {
                let (tables, _) = entries.as_chunks::<64>();
                Self([$(m.table_64(&tables[$n])),*])
            }
            #[inline(always)]
            fn get(self, m: M, index: M::V) -> M::V {
                // An index beyond these 64 entries keeps what the other tables have found.
                #[allow(unused_mut, reason = "64 entries are one table")]
                let mut found = m.look_up_64(self.0[0], index);
                $(found = m.look_up_64_or(found, self.0[$more], m.sub_8(index, m.splat_8(64 * $more)));)*
                found
            }
        }
    )*};
}
quads! {
    64: [0], [];
    128: [0 1], [1];
    256: [0 1 2 3], [1 2 3];
}

/// How codes are looked up in tables of `E` entries.
pub(crate) trait Lookup<M: LaneOps, const E: usize> {
    /// The codes that the tables contain.
    type Codes: Choice;
    type Entries: Entries<M, E>;
    fn index(m: M, codes: M::V) -> M::V;
    /// The words of two planes; `patch` is the patch of the table.
    #[inline(always)]
    fn planes(m: M, tables: [Self::Entries; 2], _: [u8; 2], codes: M::V) -> [M::V; 2] {
        let index = Self::index(m, codes);
        two!(tables, |table| table.get(m, index))
    }
}

/// Every code of `BITS` bits has an entry.
pub(crate) struct Direct<const BITS: u32>;
/// bool: 0 or 1.
pub(crate) struct Nonzero;
/// Codes without the sign; the sign of the code becomes the sign of the word.
pub(crate) struct Magnitude;
/// The same with NaN in place of -0.
pub(crate) struct Fnuz;

impl<const BITS: u32> Direct<BITS> {
    /// Clears the bits that the source does not use.
    #[inline(always)]
    fn used<M: LaneOps>(m: M, codes: M::V) -> M::V {
        if BITS == 8 { codes } else { m.and(codes, m.splat_8((1 << BITS) - 1)) }
    }
}

macro_rules! direct {
    ($($bits:literal, $entries:literal => $type:ty;)*) => {$(
        impl<M: LaneOps> Lookup<M, $entries> for Direct<$bits> {
            type Codes = choice::All;
            type Entries = $type;
            #[inline(always)]
            fn index(m: M, codes: M::V) -> M::V {
                Self::used(m, codes)
            }
        }
    )*};
}
direct! {
    4, 16 => Sixteen<M>;
    6, 64 => Quads<M, 1>;
    8, 256 => Quads<M, 4>;
}

impl<M: LaneOps> Lookup<M, 16> for Nonzero {
    type Codes = choice::All;
    type Entries = Sixteen<M>;
    #[inline(always)]
    fn index(m: M, codes: M::V) -> M::V {
        m.min_u8(codes, m.splat_8(1))
    }
}

impl Magnitude {
    #[inline(always)]
    fn planes<M: LaneOps>(m: M, tables: [Quads<M, 2>; 2], codes: M::V) -> [M::V; 2] {
        let index = m.and(codes, m.splat_8(0x7F));
        let [low, high] = two!(tables, |table| table.get(m, index));
        [low, m.select(m.splat_8(0x80), codes, high)]
    }
}

impl<M: LaneOps> Lookup<M, 128> for Magnitude {
    type Codes = choice::Magnitudes;
    type Entries = Quads<M, 2>;
    #[inline(always)]
    fn index(m: M, codes: M::V) -> M::V {
        m.and(codes, m.splat_8(0x7F))
    }
    #[inline(always)]
    fn planes(m: M, tables: [Quads<M, 2>; 2], _: [u8; 2], codes: M::V) -> [M::V; 2] {
        Magnitude::planes(m, tables, codes)
    }
}

impl<M: LaneOps> Lookup<M, 128> for Fnuz {
    type Codes = choice::Patched;
    type Entries = Quads<M, 2>;
    #[inline(always)]
    fn index(m: M, codes: M::V) -> M::V {
        m.and(codes, m.splat_8(0x7F))
    }
    #[inline(always)]
    fn planes(m: M, tables: [Quads<M, 2>; 2], patch: [u8; 2], codes: M::V) -> [M::V; 2] {
        let nan = m.eq_8(codes, m.splat_8(0x80));
        let [low, high] = Magnitude::planes(m, tables, codes);
        [m.select(nan, m.splat_8(patch[0]), low), m.select(nan, m.splat_8(patch[1]), high)]
    }
}

//! Tables of casts from dtypes of one byte per element, made at compile time by `exact`.
//!
//! A cast of 256 codes is data. A table holds one byte of every result in a *plane*: looking up a vector of codes in each plane gives the bytes of
//! the results, which are then combined. One plane serves targets of a byte, and two planes serve all other targets, because the values of these
//! sources are short: in a wider float they need only the upper 16 bits ([`Words`]).
//!
//! Which codes a table holds depends on the source ([`Codes`]). Compile-time assertions check for every code that the shorter forms lose nothing.
//!
//! * `words`: the results of all codes, from which tables are made;
//! * this file: tables of these results in planes;
//! * `fold`: shorter tables for targets of a byte;
//! * `limits`: the casts that need no table;
//! * `sets`: the dtypes of a byte per element, and how their tables differ.

mod fold;
mod limits;
mod sets;
mod words;

pub(crate) use fold::{Fold, Folded, FoldedOf, Rule, fold, folds, rules};
#[cfg(any(lane_tiers, all(test, target_endian = "little")))]
pub(crate) use limits::limits;
pub(crate) use limits::{Limits, limits_of};
pub(crate) use sets::{BYTES, Set, byte_place, count, is_in, places};
pub(crate) use words::{Saturating, Truncating, Words, Wrapping, words};

use crate::{dtype::DType, format::typed};
use core::marker::PhantomData;

/// A table of `E` entries in `P` planes.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Lut<const E: usize, const P: usize> {
    pub(crate) planes: [[u8; E]; P],
    /// The result of [`Codes::PATCH`].
    pub(crate) patch: [u8; P],
}

/// The codes whose results a table holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codes {
    /// All codes; for a source narrower than the index, including codes with unused bits set.
    All,
    /// All codes, stored as the difference (`^`) from the entry 16 places before. The first 16 entries of each half are stored unchanged.
    Differences,
    /// Codes without a sign: bit 7 of the code becomes the sign of the result.
    Magnitudes,
    /// The same with NaN in place of -0, which is the patch.
    Patched,
    /// Codes without a sign of a two's complement source, indexed by the absolute value; -128 is the patch.
    Absolutes,
}

impl Codes {
    /// The code of the patch.
    const PATCH: u8 = 0x80;

    /// Whether a table without signs determines all of these words.
    pub(crate) const fn tell(self, words: &[u16; 256]) -> bool {
        let mut code = 0;
        while code < 256 {
            if self.read(words, code as u8) != words[code] {
                return false;
            }
            code += 1;
        }
        true
    }

    /// The result of any code, read from a table without signs.
    const fn read(self, words: &[u16; 256], code: u8) -> u16 {
        let sign = (code as u16 & 0x80) << 8;
        match self {
            Codes::All | Codes::Differences => words[code as usize],
            Codes::Patched | Codes::Absolutes if code == Self::PATCH => words[code as usize],
            Codes::Magnitudes | Codes::Patched => words[code as usize & 0x7F] | sign,
            Codes::Absolutes => words[(code as i8).unsigned_abs() as usize] | sign,
        }
    }
}

impl<const E: usize, const P: usize> Lut<E, P> {
    /// An empty table, for kernels that look nothing up, or to be filled.
    pub(crate) const EMPTY: Self = Lut { planes: [[0; E]; P], patch: [0; P] };

    /// The table of `words` in the form `codes`, which must be able to represent them.
    pub(crate) const fn new(words: &[u16; 256], codes: Codes) -> Self {
        let mut lut = Self::EMPTY;
        let mut p = 0;
        while p < P {
            let mut i = 0;
            while i < E {
                let before =
                    if matches!(codes, Codes::Differences) && i % 128 >= 16 { words[i - 16] } else { 0 };
                lut.planes[p][i] = ((words[i] ^ before) >> (8 * p)) as u8;
                i += 1;
            }
            lut.patch[p] = (words[Codes::PATCH as usize] >> (8 * p)) as u8;
            p += 1;
        }
        lut
    }
}

const fn build<const E: usize, const P: usize>(from: DType, words: &[u16; 256], codes: Codes) -> Lut<E, P> {
    let lut = Lut::<E, P>::new(words, codes);
    // The proof that the table determines the results of all codes.
    if matches!(codes, Codes::All | Codes::Differences) {
        assert!(E == 0 || E >> from.bits() > 0 || matches!(from, DType::Bool));
    } else {
        assert!(E == 128 && P == 2);
        // So only the upper plane needs the patch.
        assert!(!matches!(codes, Codes::Absolutes) || lut.patch[0] == lut.planes[0][0]);
        assert!(codes.tell(words));
    }
    lut
}

/// The table of words, as a constant of a type.
pub(crate) struct Of<T, C, const E: usize, const P: usize>(PhantomData<(T, C)>);

impl<T: Words, C: choice::Choice, const E: usize, const P: usize> Of<T, C, E, P> {
    pub(crate) const LUT: &'static Lut<E, P> = &build(T::FROM, T::ALL, C::CODES);
}

/// The types of [`Codes`].
pub(crate) mod choice {
    use super::{Codes, typed};

    typed! {
        /// Which codes a kernel looks up.
        trait Choice { CODES: Codes }
        All = Codes::All;
        Differences = Codes::Differences;
        Magnitudes = Codes::Magnitudes;
        Patched = Codes::Patched;
        Absolutes = Codes::Absolutes;
    }
}

/// A table of a source of 6 bits with a sign: the sign of a result is the sign of the code.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Magnitudes {
    /// The entries, as with [`Codes::Differences`].
    pub(crate) planes: [[u8; 32]; 2],
}

/// The table of words, as a constant of a type.
pub(crate) struct MagnitudesOf<T>(PhantomData<T>);

impl<T: Words> MagnitudesOf<T> {
    pub(crate) const TABLE: &'static Magnitudes = &match magnitudes(T::FROM, T::ALL) {
        Some(table) => table,
        None => panic!("the sign is not that of the code"),
    };
}

pub(crate) const fn magnitudes(from: DType, words: &[u16; 256]) -> Option<Magnitudes> {
    assert!(from.bits() == 6);
    let mut planes = [[0; 32]; 2];
    let mut i = 0;
    while i < 32 {
        let [low, high] = (words[i] ^ if i < 16 { 0 } else { words[i - 16] }).to_le_bytes();
        planes[0][i] = low;
        planes[1][i] = high;
        i += 1;
    }
    let mut code = 0;
    while code < 256 {
        if words[code] != words[code & 0x1F] | ((code & 0x20) << 10) as u16 {
            return None;
        }
        code += 1;
    }
    Some(Magnitudes { planes })
}

//! Tables of casts from 8 or 6 bits to a byte with at most 128 entries instead of 256.
//!
//! A code is folded to an index ([`Fold`]), and a rule restores in the entry what folding removed ([`Rule`]). One code may be an exception, the
//! patch. [`fold`] proposes combinations for a pair of dtypes; [`Folded::of`] accepts a combination only if it gives the right result for every
//! code.

use super::Words;
use crate::{
    dtype::{DType, Flavor, Spec},
    format::typed,
};
use core::marker::PhantomData;

/// How the codes of an 8-bit source are reduced to at most half as many indices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The sign is removed.
    Sign,
    /// The sign is removed from 6 bits.
    Six,
    /// The absolute value of an integer; -128 counts as -127.
    Absolute,
    /// Unsigned integers from 128 on are halved and rounded to odd: then they round as before.
    Halved,
    /// Only the codes that matter, from `Folded::base` on.
    Window,
}

impl Fold {
    /// The bit of the sign, or the top bit.
    const fn sign(self) -> u8 {
        if matches!(self, Fold::Six) { 0x20 } else { 0x80 }
    }
}

/// How the top bit of the code changes an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The entry is the result.
    Same,
    /// If the top bit is set, the `mask` is flipped.
    Flip,
    /// The same unless the entry is zero.
    FlipNonzero,
    /// If the top bit is set, the `mask` is added.
    Add,
    /// The same, but the sum is at most `max`.
    AddLimited,
    /// The entry, or its negative if the top bit is set, under the `mask`.
    Negate,
    /// The entry, or its negative if the top bit is set.
    NegateByte,
    /// The entry belongs to the negative number. If the code is not negative, the entry is negated and clamped to `max`. The result is under the
    /// `mask`.
    Clamp,
    /// If the top bit is set, the result is the `mask`.
    Replace,
    /// If the top bit is set, the result is 0, unless the entry is all ones, which stays.
    ReplaceNumber,
}

/// The types of [`Fold`].
pub(crate) mod folds {
    use super::{Fold, typed};

    typed! {
        /// A [`Fold`] as a parameter of kernels.
        trait Folds { FOLD: Fold }
        Sign = Fold::Sign;
        Six = Fold::Six;
        Absolute = Fold::Absolute;
        Halved = Fold::Halved;
        Window = Fold::Window;
    }
}

/// The types of [`Rule`].
pub(crate) mod rules {
    use super::{Rule, typed};

    typed! {
        /// A [`Rule`] as a parameter of kernels.
        trait Ruled { RULE: Rule }
        Same = Rule::Same;
        Flip = Rule::Flip;
        FlipNonzero = Rule::FlipNonzero;
        Add = Rule::Add;
        AddLimited = Rule::AddLimited;
        Negate = Rule::Negate;
        NegateByte = Rule::NegateByte;
        Clamp = Rule::Clamp;
        Replace = Rule::Replace;
        ReplaceNumber = Rule::ReplaceNumber;
    }
}

/// A cast from 8 or 6 bits to a byte by a table of at most half as many entries.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(crate) struct Folded {
    /// The entries, as with [`Codes::Differences`](super::Codes::Differences).
    pub(crate) differences: [u8; 128],
    pub(crate) base: u8,
    pub(crate) mask: u8,
    pub(crate) max: u8,
    /// A code whose result is flipped by `patch`; `patch` is zero if there is none.
    pub(crate) patched: u8,
    pub(crate) patch: u8,
    pub(crate) fold: Fold,
    pub(crate) rule: Rule,
}

impl Folded {
    /// A table to be filled.
    pub(crate) const EMPTY: Self = Folded {
        differences: [0; 128],
        base: 0,
        mask: 0,
        max: 0,
        patched: 0,
        patch: 0,
        fold: Fold::Sign,
        rule: Rule::Same,
    };

    /// The number of entries of a window.
    pub(crate) const WINDOW: u8 = 64;

    /// The index of a code's entry.
    const fn index(&self, code: u8) -> u8 {
        match self.fold {
            Fold::Sign => code & 0x7F,
            Fold::Six => code & 0x1F,
            Fold::Absolute if code == 0x80 => 0x7F,
            Fold::Absolute => (code as i8).unsigned_abs(),
            Fold::Halved if code >= 0x80 => code >> 1 | code & 1,
            Fold::Halved => code,
            Fold::Window => {
                let i = code.saturating_sub(self.base);
                if i < Self::WINDOW { i } else { Self::WINDOW - 1 }
            }
        }
    }

    /// The result of a kernel for a code and its entry.
    const fn read(&self, code: u8, entry: u8) -> u8 {
        let top = code & self.fold.sign() != 0;
        let x = match self.rule {
            Rule::Flip if top => entry ^ self.mask,
            Rule::FlipNonzero if top && entry != 0 => entry | self.mask,
            Rule::Add if top => entry.wrapping_add(self.mask),
            Rule::AddLimited if top => {
                let sum = entry.wrapping_add(self.mask);
                if sum < self.max { sum } else { self.max }
            }
            Rule::Negate | Rule::NegateByte if code == 0 => 0,
            Rule::Negate | Rule::NegateByte if top => entry.wrapping_neg() & self.mask,
            Rule::Negate | Rule::NegateByte => entry & self.mask,
            Rule::Clamp if top => entry & self.mask,
            Rule::Clamp => {
                let x = 0_i8.saturating_sub(entry as i8);
                (if x < self.max as i8 { x } else { self.max as i8 }) as u8 & self.mask
            }
            Rule::Replace if top => self.mask,
            Rule::ReplaceNumber if top && entry != 0xFF => 0,
            _ => entry,
        };
        if code == self.patched { x ^ self.patch } else { x }
    }

    /// The table of words, if this fold and this rule give the result of every code.
    const fn of(mut self, words: &[u16; 256]) -> Option<Folded> {
        let mut entries = [0; 128];
        let mut i = 0;
        while i < 128 {
            entries[i] = match (self.fold, self.rule) {
                (Fold::Window, _) if i >= Self::WINDOW as usize => 0,
                (Fold::Window, _) => words[self.base as usize + i] as u8,
                // The entry includes the bits that the target lacks.
                (_, Rule::Clamp) => {
                    let unused = self.mask.leading_zeros();
                    (((words[self.fold.sign() as usize | i] as u8) << unused) as i8 >> unused) as u8
                }
                _ => words[i] as u8,
            };
            i += 1;
        }
        self.patch = 0;
        let entry = entries[self.index(self.patched) as usize];
        self.patch = words[self.patched as usize] as u8 ^ self.read(self.patched, entry);
        let mut code = 0;
        while code < 256 {
            let entry = entries[self.index(code as u8) as usize];
            if self.read(code as u8, entry) as u16 != words[code] {
                return None;
            }
            code += 1;
        }
        let mut i = 0;
        while i < 128 {
            self.differences[i] = entries[i] ^ if i < 16 { 0 } else { entries[i - 16] };
            i += 1;
        }
        Some(self)
    }
}

/// The short table of a pair of dtypes of a byte, if there is one.
pub(crate) const fn fold(from: DType, to: DType, words: &[u16; 256]) -> Option<Folded> {
    let mask = 0xFF >> (8 - to.bits());
    let folded = Folded { mask, max: mask >> 1, patched: 0x80, ..Folded::EMPTY };
    let sign = mask ^ mask >> 1;
    let negate = if mask == 0xFF { Rule::NegateByte } else { Rule::Negate };
    let fold = match from.spec() {
        Spec::Int { bits: 8, signed: true } => Fold::Absolute,
        Spec::Int { bits: 8, signed: false } => {
            let mask = words[0x80].wrapping_sub(words[0x40]) as u8;
            let folded = Folded { fold: Fold::Halved, rule: Rule::Add, mask, ..folded };
            return match folded.of(words) {
                None => Folded { rule: Rule::AddLimited, max: words[0xFF] as u8, ..folded }.of(words),
                found => found,
            };
        }
        Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => {
            // Codes that are not numbers are outside the window.
            let base = 127 - Folded::WINDOW / 2;
            return Folded { fold: Fold::Window, base, patched: 0xFF, ..folded }.of(words);
        }
        Spec::Float(f) if f.bits() == 8 => Fold::Sign,
        Spec::Float(f) if f.bits() == 6 => Fold::Six,
        _ => return None,
    };
    let folded = Folded { fold, ..folded };
    let rules = match to.spec() {
        Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => [
            // The entries of negative numbers.
            Folded {
                rule: Rule::Replace,
                mask: words[(fold.sign() | fold.sign() >> 1) as usize] as u8,
                ..folded
            },
            Folded { rule: Rule::ReplaceNumber, ..folded },
        ],
        Spec::Float(f) if matches!(f.flavor, Flavor::Fnuz) => {
            [Folded { rule: Rule::FlipNonzero, mask: sign, ..folded }, folded]
        }
        Spec::Float(_) => [Folded { rule: Rule::Flip, mask: sign, ..folded }, folded],
        Spec::Int { signed: true, .. } => {
            [Folded { rule: negate, ..folded }, Folded { rule: Rule::Clamp, ..folded }]
        }
        Spec::Int { .. } => {
            [Folded { rule: negate, ..folded }, Folded { rule: Rule::Replace, mask: 0, ..folded }]
        }
        _ => return None,
    };
    match rules[0].of(words) {
        None => rules[1].of(words),
        found => found,
    }
}

/// The short table of words, as a constant of a type.
pub(crate) struct FoldedOf<T>(PhantomData<T>);

impl<T: Words> FoldedOf<T> {
    pub(crate) const TABLE: &'static Option<Folded> = &fold(T::FROM, T::OF, T::ALL);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{
        lut::{Saturating, Wrapping},
        *,
    };

    /// The tables prove themselves; this test checks that the pairs have one.
    #[test]
    fn casts_of_8_and_6_bits_have_a_short_table() {
        fn is_short<S: Format, D: Format>() -> bool {
            FoldedOf::<Saturating<S, D>>::TABLE.is_some() && FoldedOf::<Wrapping<S, D>>::TABLE.is_some()
        }
        fn to_all<S: Format>() -> bool {
            is_short::<S, I2>()
                && is_short::<S, I4>()
                && is_short::<S, i8>()
                && is_short::<S, U2>()
                && is_short::<S, U4>()
                && is_short::<S, u8>()
                && to_floats::<S>()
                && is_short::<S, F8E8M0FNU>()
        }
        fn to_floats<S: Format>() -> bool {
            is_short::<S, F8E4M3FN>()
                && is_short::<S, F8E5M2>()
                && is_short::<S, F8E5M2FNUZ>()
                && is_short::<S, F8E3M4>()
                && is_short::<S, F8E4M3B11FNUZ>()
                && is_short::<S, F8E4M3FNUZ>()
                && is_short::<S, F8E4M3>()
                && is_short::<S, F6E2M3FN>()
                && is_short::<S, F6E3M2FN>()
                && is_short::<S, F4E2M1FN>()
        }
        assert!(to_all::<F8E4M3FN>() && to_all::<F8E4M3FNUZ>() && to_all::<F8E5M2>());
        assert!(to_all::<F8E5M2FNUZ>() && to_all::<F8E3M4>() && to_all::<F8E4M3>());
        assert!(to_all::<F8E4M3B11FNUZ>() && to_floats::<F8E8M0FNU>());
        assert!(to_floats::<i8>() && to_floats::<u8>());
        assert!(to_all::<F6E2M3FN>() && to_all::<F6E3M2FN>());
    }
}

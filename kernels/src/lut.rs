//! Tables of casts from dtypes of one byte per element, made at compile time by `exact`.
//!
//! A cast of 256 codes is data. A table holds one byte of every result in a *plane*: a vector of codes looked up in each plane
//! gives the bytes of the results, which are then put together. One plane serves targets of a byte, two all others, because
//! the values of these sources are short: what they need of a wider float are its upper 16 bits ([`Words`]).
//!
//! Which codes stand in a table depends on the source ([`Codes`]). That nothing is lost by the short forms is asserted at
//! compile time for every code.

use crate::{
    dtype::{COUNT, DType, Flavor, Spec},
    exact::{Class, Exact, FLOAT32, Rules, decode, shift_right, to_bool, to_float, to_int},
    format::Format,
};
use core::marker::PhantomData;

/// The values of all codes of a source.
struct Values<S>(PhantomData<S>);

impl<S: Format> Values<S> {
    const ALL: &'static [Exact; 256] = &{
        let mut values = [Exact::ZERO; 256];
        let mut code = 0;
        while code < 256 {
            values[code] = decode(S::DTYPE, code as u128).0;
            code += 1;
        }
        values
    };
}

/// What 16 bits hold of the cast of every code.
pub(crate) trait Words {
    /// The source.
    const FROM: DType;
    /// What the words are codes of, or the upper halves.
    const OF: DType;
    const ALL: &'static [u16; 256];
}

/// Words of a cast to an integer of up to 16 bits or to a float: the result, or of a wider float its upper 16 bits, the others
/// being zero.
pub(crate) struct Saturating<S, D>(PhantomData<(S, D)>);

/// The same without saturation.
pub(crate) struct Wrapping<S, D>(PhantomData<(S, D)>);

/// Words of a cast to signed integers of `BITS` bits, more than 16, and to unsigned ones if those that are negative are made 0
/// afterwards: the upper halves of float32 that become the results when they are truncated. They are the values
/// themselves, but zero for NaN and for what wraps to zero. What is out of range is so for the conversion, too.
pub(crate) struct Truncating<S, const BITS: u32, const SATURATE: bool>(PhantomData<S>);

impl<S: Format, D: Format> Words for Saturating<S, D> {
    const FROM: DType = S::DTYPE;
    const OF: DType = D::DTYPE;
    const ALL: &'static [u16; 256] = &results(S::DTYPE, D::DTYPE, true, Values::<S>::ALL, None);
}

impl<S: Format, D: Format> Words for Wrapping<S, D> {
    const FROM: DType = S::DTYPE;
    const OF: DType = D::DTYPE;
    const ALL: &'static [u16; 256] =
        &results(S::DTYPE, D::DTYPE, false, Values::<S>::ALL, Some(Saturating::<S, D>::ALL));
}

impl<S: Format, const BITS: u32, const SATURATE: bool> Words for Truncating<S, BITS, SATURATE> {
    const FROM: DType = S::DTYPE;
    const OF: DType = DType::Float32;
    const ALL: &'static [u16; 256] = &floats_for(BITS, SATURATE, Values::<S>::ALL, Saturating::<S, f32>::ALL);
}

/// The words of a pair under any rules: those of [`Saturating`], and to integers of more than 16 bits those of [`Truncating`],
/// rounded to integers.
pub(crate) fn words(from: DType, to: DType, rules: &Rules) -> [u16; 256] {
    let mut words = [0; 256];
    for (code, word) in words.iter_mut().enumerate() {
        let value = decode(from, code as u128).0;
        *word = match to.spec() {
            Spec::Int { bits: bits @ 32.., .. } => truncating(bits, value, rules),
            spec => result(spec, value, rules),
        };
    }
    words
}

/// The upper half of the float32 that becomes the integer when it is truncated.
fn truncating(bits: u32, value: Exact, rules: &Rules) -> u16 {
    const ONE: u16 = 0x3F80;
    let value = match value {
        Exact { class: Class::Finite, exponent: ..0, significand, negative, .. } => {
            let shift = value.exponent.unsigned_abs();
            let significand = shift_right(rules.rounding, negative, significand, shift);
            Exact { significand, exponent: 0, ..value }
        }
        _ => value,
    };
    let word = (to_float(FLOAT32, value, &Rules::common(DType::Float32, true)) >> 16) as u16;
    if word & 0x7FFF >= ONE && to_int(bits, true, value, rules) == 0 { word & 0x8000 } else { word }
}

/// `saturated` are the results of the other rule, if they are known. (Compile time is spent here.)
const fn results(
    from: DType,
    to: DType,
    saturate: bool,
    values: &[Exact; 256],
    saturated: Option<&[u16; 256]>,
) -> [u16; 256] {
    let (spec, rules) = (to.spec(), Rules::common(to, saturate));
    // Bits that a source does not use do not matter.
    let codes = if matches!(from, DType::Bool) { 2 } else { 1 << from.bits() };
    let mut words = [0; 256];
    let mut code = 0;
    while code < 256 {
        words[code] = if code >= codes {
            words[if matches!(from, DType::Bool) { 1 } else { code % codes }]
        } else {
            match saturated {
                Some(saturated) if !is_an_end(spec, saturated[code]) => saturated[code],
                _ => result(spec, values[code], &rules),
            }
        };
        code += 1;
    }
    words
}

const fn result(to: Spec, value: Exact, rules: &Rules) -> u16 {
    match to {
        Spec::Bool => to_bool(value) as u16,
        Spec::Int { bits, signed } => to_int(bits, signed, value, rules) as u16,
        Spec::Float(f) | Spec::Complex(f) => {
            let code = to_float(f, value, rules);
            let unused = if f.bits() > 16 { f.bits() - 16 } else { 0 };
            assert!(code & ((1 << unused) - 1) == 0, "the value is longer than 16 bits of the format hold");
            (code >> unused) as u16
        }
    }
}

/// Whether saturation may have made this result.
const fn is_an_end(to: Spec, word: u16) -> bool {
    match to {
        Spec::Int { bits, signed } => {
            let max = 0xFFFF_u16 >> (16 - bits + signed as u32);
            word == 0 || word == max || word == max + signed as u16
        }
        Spec::Float(f) if f.bits() <= 8 => {
            let magnitude = word as u64 & f.magnitude_mask();
            magnitude == f.max_finite() || (magnitude == 0 && matches!(f.flavor, Flavor::Exponent))
        }
        _ => false,
    }
}

const fn floats_for(bits: u32, saturate: bool, values: &[Exact; 256], floats: &[u16; 256]) -> [u16; 256] {
    const ONE: u16 = 0x3F80;
    let rules = Rules::common(DType::Int64, saturate);
    let mut words = *floats;
    let mut code = 0;
    while code < 256 {
        if words[code] & 0x7FFF >= ONE && to_int(bits, true, values[code], &rules) == 0 {
            words[code] &= 0x8000;
        }
        code += 1;
    }
    words
}

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
    /// All; of a source narrower than the index also those with junk in the bits that it does not use.
    All,
    /// All, and an entry is what it differs in (`^`) from the one 16 before it. The first 16 of each half are as they are.
    Differences,
    /// Those without a sign: bit 7 of the code is put in front of the result as its sign.
    Magnitudes,
    /// The same with NaN in the place of -0, which is the patch.
    Patched,
    /// Those without a sign of a two's complement source, indexed by the absolute value; -128 is the patch.
    Absolutes,
}

impl Codes {
    /// The code of the patch.
    const PATCH: u8 = 0x80;

    /// Whether a table without signs says everything of these words.
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

    /// What a table without signs says of any code.
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
    /// Where nothing is looked up, or to be filled.
    pub(crate) const EMPTY: Self = Lut { planes: [[0; E]; P], patch: [0; P] };

    /// The table of words whose codes can be told as it is said.
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
    // The proof that the table says everything of all codes.
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

/// How the codes of an 8-bit source are brought to at most half as many.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// The sign is taken away.
    Sign,
    /// The same of 6 bits.
    Six,
    /// The absolute value of an integer, -128 as -127.
    Absolute,
    /// An unsigned integer from 128 on is halved, to odd: then it is rounded as before.
    Halved,
    /// As many codes as matter, from `Folded::base` on.
    Window,
}

impl Fold {
    /// The sign or the top bit.
    const fn sign(self) -> u8 {
        if matches!(self, Fold::Six) { 0x20 } else { 0x80 }
    }
}

/// What becomes of an entry, by the top bit of the code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The entry.
    Same,
    /// With the top bit the `mask` is flipped.
    Flip,
    /// The same if the entry is not zero.
    FlipNonzero,
    /// With the top bit the `mask` is added.
    Add,
    /// The same, but it becomes at most `max`.
    AddLimited,
    /// The entry or its negative, of that the `mask`.
    Negate,
    /// The entry or its negative.
    NegateByte,
    /// The entry is that of the negative number. If the code is not negative, the entry is negated and at most `max`. Of that
    /// the `mask`.
    Clamp,
    /// With the top bit it is the `mask`.
    Replace,
    /// With the top bit it is 0, but if the entry is all ones it is that.
    ReplaceNumber,
}

/// A cast from 8 bits to a byte by a table of half as many entries or fewer.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub(crate) struct Folded {
    /// As with [`Codes::Differences`].
    pub(crate) differences: [u8; 128],
    pub(crate) base: u8,
    pub(crate) mask: u8,
    pub(crate) max: u8,
    /// A code whose result is flipped by `patch`; that is zero if there is none.
    pub(crate) patched: u8,
    pub(crate) patch: u8,
    pub(crate) fold: Fold,
    pub(crate) rule: Rule,
}

impl Folded {
    /// To be filled.
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

    /// Entries of a window.
    pub(crate) const WINDOW: u8 = 64;

    /// The entry that a code has.
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

    /// What a kernel makes of a code.
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

    /// The table of words, if this way to make it says everything of all codes.
    const fn of(mut self, words: &[u16; 256]) -> Option<Folded> {
        let mut entries = [0; 128];
        let mut i = 0;
        while i < 128 {
            entries[i] = match (self.fold, self.rule) {
                (Fold::Window, _) if i >= Self::WINDOW as usize => 0,
                (Fold::Window, _) => words[self.base as usize + i] as u8,
                // With the bits that the target does not have.
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
            // What is not a number is beyond the window.
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
            // Of a negative number.
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

/// Which codes a kernel looks up, as a type.
pub(crate) trait Choice {
    const CODES: Codes;
}

/// The table of words, as a constant of a type.
pub(crate) struct Of<T, C, const E: usize, const P: usize>(PhantomData<(T, C)>);

impl<T: Words, C: Choice, const E: usize, const P: usize> Of<T, C, E, P> {
    pub(crate) const LUT: &'static Lut<E, P> = &build(T::FROM, T::ALL, C::CODES);
}

macro_rules! choices {
    ($($name:ident)*) => {
        /// The types of [`Codes`].
        pub(crate) mod choice {
            $(
                #[derive(Clone, Copy)]
                pub(crate) struct $name;
                impl super::Choice for $name {
                    const CODES: super::Codes = super::Codes::$name;
                }
            )*
        }
    };
}
choices!(All Differences Magnitudes Patched Absolutes);

/// A table of a source of 6 bits with a sign: the sign of a result is that of the code.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Magnitudes {
    /// As with [`Codes::Differences`].
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

/// A cast between integers of at most 8 bits, or to bool, without a table: of the bits that the source uses the nearest
/// value from `min` to `max`, and of that the bits that the target has.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Whether bytes are compared as int8, not as uint8.
    pub(crate) signed: bool,
    pub(crate) used: u8,
    pub(crate) min: u8,
    pub(crate) max: u8,
    pub(crate) bits: u8,
}

/// Sets of dtypes of a byte, by what kernels look up for them.
pub(crate) mod set {
    /// bool.
    pub(crate) const TRUTH: u8 = 1;
    /// At most 4 bits.
    pub(crate) const FOUR: u8 = 2;
    /// 6 bits.
    pub(crate) const SIX: u8 = 4;
    /// Integers of 8 bits.
    pub(crate) const INTEGERS: u8 = 8;
    /// 8-bit floats: a sign and a magnitude.
    pub(crate) const SIGNED: u8 = 16;
    /// The same with something else in the place of negative zero.
    pub(crate) const FNUZ: u8 = 32;
    /// Exponents.
    pub(crate) const EXPONENTS: u8 = 64;
    pub(crate) const SHORT: u8 = FOUR | SIX;
    pub(crate) const FLOATS: u8 = SIGNED | FNUZ | EXPONENTS;
    pub(crate) const EIGHT: u8 = INTEGERS | FLOATS;
    pub(crate) const ALL: u8 = TRUTH | SHORT | EIGHT;
}

/// The set that a dtype is in, if it is of a byte.
pub(crate) const fn set_of(dtype: DType) -> u8 {
    match dtype.spec() {
        _ if dtype.size() != 1 => 0,
        Spec::Bool => set::TRUTH,
        _ if dtype.bits() <= 4 => set::FOUR,
        _ if dtype.bits() == 6 => set::SIX,
        Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => set::EXPONENTS,
        Spec::Float(f) if matches!(f.flavor, Flavor::Fnuz) => set::FNUZ,
        Spec::Float(_) => set::SIGNED,
        _ => set::INTEGERS,
    }
}

/// How many of the first `end` dtypes are in some sets.
pub(crate) const fn count(sets: u8, end: usize) -> usize {
    let (mut i, mut count) = (0, 0);
    while i < end {
        count += (set_of(DType::ALL[i]) & sets != 0) as usize;
        i += 1;
    }
    count
}

/// The place of every dtype among those of some sets.
pub(crate) const fn places(sets: u8) -> [u8; COUNT] {
    let mut places = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        places[i] = count(sets, i) as u8;
        i += 1;
    }
    places
}

/// How many dtypes take a byte per element.
pub(crate) const BYTES: usize = count(set::ALL, COUNT);

/// The place of a dtype among those.
pub(crate) const fn byte_place(dtype: DType) -> usize {
    const PLACES: [u8; COUNT] = places(set::ALL);
    PLACES[dtype as usize] as usize
}

/// The limits of a pair, as what a kernel reads.
pub(crate) fn limits_of(from: DType, to: DType, saturate: bool) -> Option<&'static Limits> {
    /// `[saturate][from][to]`
    static LIMITS: [[[Option<Limits>; BYTES]; BYTES]; 2] = {
        let mut all = [[[None; BYTES]; BYTES]; 2];
        let mut pair = 0;
        while pair < COUNT * COUNT {
            let (from, to) = (DType::ALL[pair / COUNT], DType::ALL[pair % COUNT]);
            if from.size() == 1 && to.size() == 1 {
                all[0][byte_place(from)][byte_place(to)] = limits(from, to, false);
                all[1][byte_place(from)][byte_place(to)] = limits(from, to, true);
            }
            pair += 1;
        }
        all
    };
    if from.size() != 1 || to.size() != 1 {
        return None;
    }
    LIMITS[saturate as usize][byte_place(from)][byte_place(to)].as_ref()
}

/// The limits of a pair, if it is such a cast.
pub(crate) const fn limits(from: DType, to: DType, saturate: bool) -> Option<Limits> {
    let limits = Limits { signed: false, used: 0xFF, min: 0, max: 1, bits: 1 };
    let (bits, to_signed) = match to.spec() {
        // Every bit but the sign of a zero counts; exponents alone are never zero.
        Spec::Bool => {
            return Some(match from.spec() {
                Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => Limits { min: 1, ..limits },
                Spec::Float(f) if !matches!(f.flavor, Flavor::Fnuz) => {
                    Limits { used: f.magnitude_mask() as u8, ..limits }
                }
                _ => Limits { used: 0xFF >> (8 - from.bits()), ..limits },
            });
        }
        Spec::Int { bits: bits @ ..=8, signed } => (bits, signed),
        _ => return None,
    };
    let mask = 0xFF >> (8 - bits);
    let to_max = if to_signed { mask >> 1 } else { mask };
    Some(match (from, saturate) {
        (DType::Bool, _) => limits,
        (DType::UInt8, true) => Limits { max: to_max, bits: mask, ..limits },
        (DType::UInt8, false) => Limits { max: 0xFF, bits: mask, ..limits },
        (DType::Int8, true) => {
            let min = if to_signed { -1 << (bits - 1) } else { 0_i8 };
            let max = if to_max > 0x7F { 0x7F } else { to_max };
            Limits { signed: true, min: min as u8, max, bits: mask, ..limits }
        }
        (DType::Int8, false) => Limits { signed: true, min: 0x80, max: 0x7F, bits: mask, ..limits },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::*;

    /// The tables prove themselves; this says that the pairs have one.
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

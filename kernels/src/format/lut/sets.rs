//! The dtypes of a byte per element: the sets that kernels tell apart, and the place of a dtype in them.

use crate::dtype::{COUNT, DType, Flavor, Spec};

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

/// The set that a dtype is in, if it is of a byte and this build has it.
pub(crate) const fn set_of(dtype: DType) -> u8 {
    match dtype.spec() {
        _ if dtype.size() != 1 || !dtype.is_built() => 0,
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
        count += (set_of(DType::EVERY[i]) & sets != 0) as usize;
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

//! The dtypes of a byte per element: the sets that kernels distinguish, and the place of each dtype in them.

use crate::dtype::{COUNT, DType, Flavor, Spec};

/// The sets of dtypes of a byte per element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// bool.
    Truth,
    /// Dtypes of at most 4 bits.
    Four,
    /// Dtypes of 6 bits.
    Six,
    /// Integers of 8 bits.
    Integers,
    /// 8-bit floats: a sign and a magnitude.
    Signed,
    /// 8-bit floats with something else in the place of negative zero.
    Fnuz,
    /// Exponents.
    Exponents,
}

impl Set {
    pub(crate) const ALL: &[Set] =
        &[Set::Truth, Set::Four, Set::Six, Set::Integers, Set::Signed, Set::Fnuz, Set::Exponents];
    /// Dtypes of at most 6 bits.
    #[allow(dead_code, reason = "for tiers with `Bytes`")]
    pub(crate) const SHORT: &[Set] = &[Set::Four, Set::Six];

    /// The set of a dtype, if it takes a byte and this build has it.
    pub(crate) const fn of(dtype: DType) -> Option<Set> {
        Some(match dtype.spec() {
            _ if dtype.size() != 1 || !dtype.is_built() => return None,
            Spec::Bool => Set::Truth,
            _ if dtype.bits() <= 4 => Set::Four,
            _ if dtype.bits() == 6 => Set::Six,
            Spec::Float(f) if matches!(f.flavor, Flavor::Exponent) => Set::Exponents,
            Spec::Float(f) if matches!(f.flavor, Flavor::Fnuz) => Set::Fnuz,
            Spec::Float(_) => Set::Signed,
            _ => Set::Integers,
        })
    }
}

/// Whether a dtype is in one of the given sets.
pub(crate) const fn is_in(dtype: DType, sets: &[Set]) -> bool {
    let Some(set) = Set::of(dtype) else { return false };
    let mut i = 0;
    while i < sets.len() {
        if sets[i] as u8 == set as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// The number of dtypes among the first `end` that are in the given sets.
pub(crate) const fn count(sets: &[Set], end: usize) -> usize {
    let (mut i, mut count) = (0, 0);
    while i < end {
        count += is_in(DType::EVERY[i], sets) as usize;
        i += 1;
    }
    count
}

/// The place of every dtype among the dtypes of the given sets.
pub(crate) const fn places(sets: &[Set]) -> [u8; COUNT] {
    let mut places = [0; COUNT];
    let mut i = 0;
    while i < COUNT {
        places[i] = count(sets, i) as u8;
        i += 1;
    }
    places
}

/// The number of dtypes that take a byte per element.
pub(crate) const BYTES: usize = count(Set::ALL, COUNT);

/// The place of a dtype among the dtypes of a byte per element.
pub(crate) const fn byte_place(dtype: DType) -> usize {
    const PLACES: [u8; COUNT] = places(Set::ALL);
    PLACES[dtype as usize] as usize
}

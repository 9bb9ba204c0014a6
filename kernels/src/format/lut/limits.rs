//! Casts between integers of at most 8 bits, and to bool, without a table.

use super::{BYTES, Set, byte_place};
use crate::dtype::{COUNT, DType, Flavor, Spec};

/// A cast between integers of at most 8 bits, or to bool, without a table: takes the bits that the source uses, clamps them to `min` and `max`,
/// and keeps the bits that the target has.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Whether bytes are compared as int8, not as uint8.
    pub(crate) signed: bool,
    pub(crate) used: u8,
    pub(crate) min: u8,
    pub(crate) max: u8,
    pub(crate) bits: u8,
}

/// The limits of a pair, as a kernel reads them.
pub(crate) const fn limits_of(from: DType, to: DType, saturate: bool) -> Option<&'static Limits> {
    /// `[saturate][from][to]`
    static LIMITS: [[[Option<Limits>; BYTES]; BYTES]; 2] = {
        let mut all = [[[None; BYTES]; BYTES]; 2];
        let mut pair = 0;
        while pair < COUNT * COUNT {
            let (from, to) = (DType::EVERY[pair / COUNT], DType::EVERY[pair % COUNT]);
            if Set::of(from).is_some() && Set::of(to).is_some() {
                all[0][byte_place(from)][byte_place(to)] = limits(from, to, false);
                all[1][byte_place(from)][byte_place(to)] = limits(from, to, true);
            }
            pair += 1;
        }
        all
    };
    if Set::of(from).is_none() || Set::of(to).is_none() {
        return None;
    }
    LIMITS[saturate as usize][byte_place(from)][byte_place(to)].as_ref()
}

/// The limits of a pair, if it is such a cast.
pub(crate) const fn limits(from: DType, to: DType, saturate: bool) -> Option<Limits> {
    let limits = Limits { signed: false, used: 0xFF, min: 0, max: 1, bits: 1 };
    let (bits, to_signed) = match to.spec() {
        // Every bit except the sign of a zero counts; exponents alone are never zero.
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

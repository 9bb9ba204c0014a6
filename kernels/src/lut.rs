//! Tables of casts from dtypes of one byte per element, made at compile time by `exact`.
//!
//! A cast of 256 codes is data. A table holds one byte of every result in a *plane*: a vector of codes looked up in each plane
//! gives the bytes of the results, which are then put together. One plane serves targets of a byte, two all others, because
//! the values of these sources are short: what they need of a wider float are its upper 16 bits ([`word`]).
//!
//! Which codes stand in a table depends on the source ([`Codes`]). That nothing is lost by the short forms is asserted at
//! compile time for every entry.

use crate::{
    dtype::{DType, Flavor, Spec},
    exact::{Rules, decode, encode},
    format::Format,
};
use core::marker::PhantomData;

/// A table of `E` entries in `P` planes.
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

    /// What a table without the signs says of any code.
    const fn read(self, from: DType, to: DType, saturate: bool, code: u8) -> u16 {
        let sign = (code as u16 & 0x80) << 8;
        match self {
            Codes::All => word(from, to, saturate, code),
            Codes::Patched | Codes::Absolutes if code == Self::PATCH => word(from, to, saturate, code),
            Codes::Magnitudes | Codes::Patched => word(from, to, saturate, code & 0x7F) | sign,
            Codes::Absolutes => word(from, to, saturate, (code as i8).unsigned_abs()) | sign,
        }
    }
}

/// What two planes hold of the cast of a code:
///
/// * of a target of up to 16 bits the result;
/// * of a wider float (or the real part of a complex number) its upper 16 bits, the others being zero;
/// * of a wider integer the upper 16 bits of a float32 that becomes the result when it is truncated: the value itself,
///   but zero for NaN and for what wraps to zero. What is out of range is so for the conversion, too.
pub(crate) const fn word(from: DType, to: DType, saturate: bool, code: u8) -> u16 {
    let value = decode(from, code as u128);
    let result = encode(to, value, &Rules::common(to, saturate));
    match (to.spec(), to.size()) {
        (_, 1 | 2) => result as u16,
        (Spec::Float(f) | Spec::Complex(f), _) => {
            let unused = f.bits() - 16;
            assert!(result & ((1 << unused) - 1) == 0 && result >> f.bits() == 0);
            (result >> unused) as u16
        }
        _ => {
            const ONE: u16 = 0x3F80;
            let float = word(from, DType::Float32, true, code);
            if result == 0 && float & 0x7FFF >= ONE { float & 0x8000 } else { float }
        }
    }
}

const fn build<const E: usize, const P: usize>(
    from: DType,
    to: DType,
    saturate: bool,
    codes: Codes,
    deltas: bool,
) -> Lut<E, P> {
    let mut lut = Lut { planes: [[0; E]; P], patch: [0; P] };
    let mut i = 0;
    while i < E {
        let word = word(from, to, saturate, i as u8);
        let mut p = 0;
        while p < P {
            lut.planes[p][i] = (word >> (8 * p)) as u8;
            p += 1;
        }
        i += 1;
    }
    let word_of_patch = word(from, to, saturate, Codes::PATCH);
    let mut p = 0;
    while p < P {
        lut.patch[p] = (word_of_patch >> (8 * p)) as u8;
        p += 1;
    }
    // The proof that the table says everything of all codes.
    if !matches!(codes, Codes::All) {
        assert!(E == 128 && P == 2);
        // So only the upper plane needs the patch.
        assert!(!matches!(codes, Codes::Absolutes) || lut.patch[0] == lut.planes[0][0]);
        let mut code = 0;
        while code < 256 {
            let want = word(from, to, saturate, code as u8);
            assert!(codes.read(from, to, saturate, code as u8) == want);
            code += 1;
        }
    } else {
        assert!(E == 0 || E >> from.bits() > 0 || matches!(from, DType::Bool));
    }
    if deltas {
        let mut i = E;
        while i > 0 {
            i -= 1;
            let mut p = 0;
            while p < P && i % 128 >= 16 {
                lut.planes[p][i] ^= lut.planes[p][i - 16];
                p += 1;
            }
        }
    }
    lut
}

/// The table of a pair, as a constant of a type.
pub(crate) struct Of<S, D, C, const SATURATE: bool, const E: usize, const P: usize>(PhantomData<(S, D, C)>);

/// Which codes a kernel looks up.
pub(crate) trait Choice {
    const CODES: Codes;
    /// Whether an entry is what it differs in (`^`) from the one 16 before it. The first 16 of each half are as they are.
    const DELTAS: bool = false;
}

impl<S: Format, D: Format, C: Choice, const SATURATE: bool, const E: usize, const P: usize>
    Of<S, D, C, SATURATE, E, P>
{
    pub(crate) const LUT: &'static Lut<E, P> = &build(S::DTYPE, D::DTYPE, SATURATE, C::CODES, C::DELTAS);
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

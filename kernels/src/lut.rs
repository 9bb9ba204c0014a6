//! Tables of casts from dtypes of one byte per element, made at compile time by `exact`.
//!
//! A cast of 256 codes is data. A table holds one byte of every result in a *plane*: a vector of codes looked up in each plane
//! gives the bytes of the results, which are then put together. One plane serves targets of a byte, two all others, because
//! the values of these sources are short: what they need of a wider float are its upper 16 bits ([`word`]).
//!
//! Which codes stand in a table depends on the source ([`Codes`]). That nothing is lost by the short forms is asserted at
//! compile time for every entry.

use crate::{
    dtype::{DType, Spec},
    exact::{Rules, decode, encode},
    format::Format,
};
use core::marker::PhantomData;

/// A table of `E` entries in `P` planes.
#[repr(C, align(16))]
pub(crate) struct Lut<const E: usize, const P: usize> {
    pub(crate) planes: [[u8; E]; P],
    /// The result of [`Codes::patch`].
    pub(crate) patch: [u8; P],
}

/// The codes whose results a table holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codes {
    /// All; of a source narrower than the index also those with junk in the bits that it does not use.
    All,
    /// Those without a sign: bit 7 of the code is put in front of the result as its sign. -0 (or the NaN in its place) is
    /// the patch.
    Magnitudes,
    /// Those without a sign of a two's complement source, indexed by the absolute value; -128 is the patch.
    Absolutes,
    /// From 64 on, the others being as the nearest of these; NaN, code 255, is the patch.
    Window,
}

/// The first code of [`Codes::Window`].
pub(crate) const WINDOW: u8 = 64;

impl Codes {
    /// The code of entry `i`.
    const fn code(self, i: usize) -> u8 {
        match self {
            Codes::Window => WINDOW + i as u8,
            _ => i as u8,
        }
    }
    /// The code that is no entry.
    const fn patch(self) -> u8 {
        match self {
            Codes::Window => 0xFF,
            _ => 0x80,
        }
    }
    /// What a table without the signs says of any code.
    const fn read(self, from: DType, to: DType, saturate: bool, code: u8) -> u16 {
        let sign = (code as u16 & 0x80) << 8;
        match self {
            Codes::All => word(from, to, saturate, code),
            _ if code == self.patch() => word(from, to, saturate, code),
            Codes::Magnitudes => word(from, to, saturate, code & 0x7F) | sign,
            Codes::Absolutes => word(from, to, saturate, (code as i8).unsigned_abs()) | sign,
            Codes::Window if code < WINDOW => word(from, to, saturate, WINDOW),
            Codes::Window if code > WINDOW + 127 => word(from, to, saturate, WINDOW + 127),
            Codes::Window => word(from, to, saturate, code),
        }
    }
}

/// What two planes hold of the cast of a code:
///
/// * of a target of up to 16 bits the result;
/// * of a wider float (or the real part of a complex number) its upper 16 bits, the others being zero;
/// * of a wider integer the upper 16 bits of a float32 that becomes the result when it is truncated: the value itself, or a
///   zero of its sign if the result is zero, and infinity if it is out of any range.
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
            const TWO_64: u16 = 0x5F80;
            const INFINITY: u16 = 0x7F80;
            let float = word(from, DType::Float32, true, code);
            let (sign, magnitude) = (float & 0x8000, float & 0x7FFF);
            sign | if result == 0 {
                0
            } else if magnitude >= TWO_64 {
                INFINITY
            } else {
                magnitude
            }
        }
    }
}

/// Whether the unsigned target has lost the signs of the source, so that those of a table do not matter.
const fn drops_sign(to: DType, saturate: bool) -> bool {
    saturate && matches!(to.spec(), Spec::Int { signed: false, .. }) && to.size() > 2
}

const fn build<const E: usize, const P: usize>(
    from: DType,
    to: DType,
    saturate: bool,
    codes: Codes,
) -> Lut<E, P> {
    let mut lut = Lut { planes: [[0; E]; P], patch: [0; P] };
    let mut i = 0;
    while i < E {
        let word = word(from, to, saturate, codes.code(i));
        let mut p = 0;
        while p < P {
            lut.planes[p][i] = (word >> (8 * p)) as u8;
            p += 1;
        }
        i += 1;
    }
    let word_of_patch = word(from, to, saturate, codes.patch());
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
        while code < 256 && !drops_sign(to, saturate) {
            let want = word(from, to, saturate, code as u8);
            assert!(codes.read(from, to, saturate, code as u8) == want);
            code += 1;
        }
    } else {
        assert!(E == 0 || E >> from.bits() > 0 || matches!(from, DType::Bool));
    }
    lut
}

/// The table of a pair, as a constant of a type.
pub(crate) struct Of<S, D, C, const SATURATE: bool, const E: usize, const P: usize>(PhantomData<(S, D, C)>);

/// Which codes a kernel looks up.
pub(crate) trait Choice {
    const CODES: Codes;
}

impl<S: Format, D: Format, C: Choice, const SATURATE: bool, const E: usize, const P: usize>
    Of<S, D, C, SATURATE, E, P>
{
    pub(crate) const LUT: &'static Lut<E, P> = &build(S::DTYPE, D::DTYPE, SATURATE, C::CODES);
}

/// What becomes of an integer of a byte (or bool) in one of at most 8 bits: the nearest value between `min` and `max`, and of
/// that the bits that the target has.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) min: i8,
    /// Compared as the source is, signed or not.
    pub(crate) max: u8,
    pub(crate) bits: u8,
}

/// The limits for a pair; bool as a source is unsigned, and as a target the limit 1 of unsigned bytes.
pub(crate) const fn limits(from: DType, to: DType, saturate: bool) -> Limits {
    let (bits, signed) = match (from, to.spec()) {
        (DType::Bool, _) | (_, Spec::Bool) => return Limits { min: 0, max: 1, bits: 1 },
        (_, Spec::Int { bits, signed }) => (bits, signed),
        _ => unreachable!(),
    };
    let mask = 0xFF >> (8 - bits);
    let (min, max) = match (from, saturate, signed) {
        (DType::Int8, false, _) => (i8::MIN, i8::MAX as u8),
        (_, false, _) => (0, u8::MAX),
        (_, true, true) => (-1 << (bits - 1), mask >> 1),
        (DType::Int8, true, false) => (0, if bits == 8 { mask >> 1 } else { mask }),
        (_, true, false) => (0, mask),
    };
    Limits { min, max, bits: mask }
}

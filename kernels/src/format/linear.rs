//! Casts from 8-bit floats to wider floats as an affine function of the code, with corrections at both ends.
//!
//! To cast a normal number to a wider format, the code is shifted (for the wider mantissa) and a constant is added (for the other bias). Only the
//! lowest 16 magnitudes, including the subnormals, and the highest 16, including infinity and NaN, may differ. Their affine results are corrected
//! (`^`) from two tables of 16 entries, each looked up by one instruction. Compile-time assertions check that the result is right for every code.

use crate::{
    dtype::{DType, Flavor},
    exact::float_spec,
    format::lut::Words,
};
use core::marker::PhantomData;

/// A cast to [`Words`]: `(magnitude * multiplier + addend) ^ correction ^ sign`.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Line {
    /// The corrections of the lowest magnitudes, as planes of bytes.
    pub(crate) low: [[u8; 16]; 2],
    /// The corrections of the highest magnitudes, the highest first.
    pub(crate) high: [[u8; 16]; 2],
    pub(crate) multiplier: u16,
    pub(crate) addend: u16,
}

/// The meaning of the top bit of a code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Top {
    /// The sign.
    Sign,
    /// The top bit of an unsigned magnitude.
    Magnitude,
}

impl Top {
    pub(crate) const fn of(from: DType) -> Self {
        match float_spec(from).flavor {
            Flavor::Exponent => Top::Magnitude,
            _ => Top::Sign,
        }
    }

    /// The highest magnitude.
    pub(crate) const fn highest(self) -> u8 {
        if matches!(self, Top::Magnitude) { 0xFF } else { 0x7F }
    }
}

impl Line {
    /// The result of a kernel for a code.
    const fn read(&self, top: Top, code: u8) -> u16 {
        let magnitude = code & top.highest();
        let mut x = (magnitude as u16).wrapping_mul(self.multiplier).wrapping_add(self.addend);
        x ^= ((code ^ magnitude) as u16) << 8;
        let from_highest = magnitude ^ top.highest();
        if magnitude < 16 {
            x ^= entry(&self.low, magnitude);
        }
        if from_highest < 16 {
            x ^= entry(&self.high, from_highest);
        }
        x
    }

    const fn new(from: DType, to: DType, words: &[u16; 256]) -> Self {
        let top = Top::of(from);
        let (f, to) = (float_spec(from), float_spec(to));
        // For a wide target, words are the upper 16 bits.
        let mantissa_bits = to.mantissa_bits + 16 - to.bits();
        let mut line = Line {
            low: [[0; 16]; 2],
            high: [[0; 16]; 2],
            multiplier: 1 << (mantissa_bits - f.mantissa_bits),
            addend: ((to.bias - f.bias) as u16) << mantissa_bits,
        };
        // A correction is the error of the result without it.
        let mut i = 0;
        while i < 16 {
            let wrong = words[i as usize] ^ line.read(top, i);
            set(&mut line.low, i, wrong);
            let code = top.highest() - i;
            let wrong = words[code as usize] ^ line.read(top, code);
            set(&mut line.high, i, wrong);
            i += 1;
        }
        let mut code = 0;
        while code < 256 {
            assert!(line.read(top, code as u8) == words[code]);
            code += 1;
        }
        line
    }
}

const fn entry(planes: &[[u8; 16]; 2], i: u8) -> u16 {
    u16::from_le_bytes([planes[0][i as usize], planes[1][i as usize]])
}

const fn set(planes: &mut [[u8; 16]; 2], i: u8, x: u16) {
    let [low, high] = x.to_le_bytes();
    planes[0][i as usize] = low;
    planes[1][i as usize] = high;
}

/// The affine map of words, as a constant of a type.
pub(crate) struct Of<T>(PhantomData<T>);

impl<T: Words> Of<T> {
    pub(crate) const LINE: &'static Line = &Line::new(T::FROM, T::OF, T::ALL);
}

/// A cast by a shift, which keeps the sign, and an addend. The addend comes from a table of 16 entries for the codes at both ends (the subnormals,
/// and infinity and NaN), if these codes are few enough.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Ends {
    /// The addends, as planes of bytes.
    pub(crate) planes: [[u8; 16]; 2],
    /// The addend of all codes, if the table does not include it.
    pub(crate) addend: u16,
    /// The right shift of the code, after a left shift that moves its top bit to the top of the word.
    pub(crate) shift: u16,
    /// If it is not 0, multiplying by this number, dividing by 2^15 and rounding does the same shift.
    pub(crate) factor: u16,
    /// The bits of the result that are not copies of the sign.
    pub(crate) mask: u16,
    /// The number of codes at the upper end.
    pub(crate) high: u8,
}

/// Which entry of the table a code uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// First the upper end, then the lower one. The last entry is for all other codes.
    Last,
    /// The same, but the other codes have no entry.
    None,
    /// The last entry is NaN, which has the code of negative zero. The entry before it is for all other codes.
    Fnuz,
}

impl Entry {
    /// The variant for a source, if its ends are short enough.
    pub(crate) const fn of(from: DType) -> Option<Entry> {
        let f = float_spec(from);
        match (f.flavor, (1 << f.mantissa_bits) + Ends::high(from) as u32) {
            (Flavor::Exponent, _) => None,
            (Flavor::Fnuz, ..14) => Some(Entry::Fnuz),
            (_, ..16) => Some(Entry::Last),
            (_, 16) => Some(Entry::None),
            _ => None,
        }
    }

    const fn index(self, code: u8, high: u8) -> Option<usize> {
        let from_end = code.wrapping_add(high) & 0x7F;
        match self {
            Entry::Fnuz if code == 0x80 => Some(15),
            Entry::Fnuz if from_end > 14 => Some(14),
            Entry::Last if from_end > 15 => Some(15),
            Entry::None if from_end > 15 => None,
            _ => Some(from_end as usize),
        }
    }
}

impl Ends {
    /// The number of adjacent codes of infinity and NaN.
    const fn high(from: DType) -> u8 {
        let f = float_spec(from);
        (f.magnitude_mask() - f.max_finite()) as u8
    }

    /// The result of a kernel for a code.
    const fn read(&self, entry: Entry, code: u8) -> u16 {
        let line = ((((code as u16) << 8) as i16) >> self.shift) as u16 & self.mask;
        let found = match entry.index(code, self.high) {
            Some(i) => u16::from_le_bytes([self.planes[0][i], self.planes[1][i]]),
            None => 0,
        };
        line.wrapping_add(self.addend).wrapping_add(found)
    }

    const fn new(from: DType, to: DType, words: &[u16; 256]) -> Self {
        let Some(entry) = Entry::of(from) else { panic!("the ends are too long") };
        let (f, to) = (float_spec(from), float_spec(to));
        // For a wide target, words are the upper 16 bits.
        let mantissa_bits = to.mantissa_bits + 16 - to.bits();
        let shift = 8 + f.mantissa_bits - mantissa_bits;
        let mut ends = Ends {
            planes: [[0; 16]; 2],
            addend: 0,
            shift: shift as u16,
            factor: 1 << (15 - shift),
            mask: 0x7FFF >> shift | 0x8000,
            high: Self::high(from),
        };
        let addend = ((to.bias - f.bias) as u16) << mantissa_bits;
        if matches!(entry, Entry::None) {
            ends.addend = addend;
        }
        let mut code = 0_u8;
        while code <= 0x80 {
            if let Some(i) = entry.index(code, ends.high)
                && ends.planes[0][i] == 0
                && ends.planes[1][i] == 0
            {
                let [low, high] = words[code as usize].wrapping_sub(ends.read(entry, code)).to_le_bytes();
                ends.planes[0][i] = low;
                ends.planes[1][i] = high;
            }
            code += 1;
        }
        let mut code = 0;
        while code < 256 {
            assert!(ends.read(entry, code as u8) == words[code]);
            code += 1;
        }
        ends
    }
}

/// The table of words, as a constant of a type.
pub(crate) struct EndsOf<T>(PhantomData<T>);

impl<T: Words> EndsOf<T> {
    pub(crate) const ENDS: &'static Ends = &Ends::new(T::FROM, T::OF, T::ALL);
}

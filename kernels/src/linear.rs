//! The lines that most casts from 8-bit floats to wider floats are, and what they miss at their ends.
//!
//! The code of a normal number becomes that of the same number in a wider format by a shift (the wider mantissa) and an
//! addition (the other bias). Only the lowest 16 magnitudes, among them the subnormals, and the highest 16, among them infinity
//! and NaN, may be something else: what the line says of those is corrected (`^`) from two tables of 16 entries, which one
//! instruction looks up. That this is right for every code is asserted at compile time.

use crate::{
    dtype::{DType, Flavor},
    exact::float_spec,
    lut::Words,
};
use core::marker::PhantomData;

/// A cast to [`Words`]: `(magnitude * multiplier + addend) ^ correction ^ sign`.
#[repr(C, align(16))]
pub(crate) struct Line {
    /// The corrections of the lowest magnitudes, as planes of bytes.
    pub(crate) low: [[u8; 16]; 2],
    /// Of the highest ones, the highest first.
    pub(crate) high: [[u8; 16]; 2],
    /// Of the code of negative zero, if it is that of NaN.
    pub(crate) patch: [u8; 2],
    pub(crate) multiplier: u16,
    pub(crate) addend: u16,
}

/// What the top bit of a code is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Top {
    /// The sign.
    Sign,
    /// The sign, and there is no negative zero but NaN. The highest magnitudes are on the line.
    Fnuz,
    /// The top bit of an unsigned magnitude.
    Magnitude,
}

impl Top {
    pub(crate) const fn of(from: DType) -> Self {
        match float_spec(from).flavor {
            Flavor::Exponent => Top::Magnitude,
            Flavor::Fnuz => Top::Fnuz,
            _ => Top::Sign,
        }
    }

    /// The highest magnitude.
    pub(crate) const fn highest(self) -> u8 {
        if matches!(self, Top::Magnitude) { 0xFF } else { 0x7F }
    }
}

impl Line {
    /// What a kernel makes of a code.
    const fn read(&self, top: Top, code: u8) -> u16 {
        let magnitude = code & top.highest();
        let mut x = (magnitude as u16).wrapping_mul(self.multiplier).wrapping_add(self.addend);
        x ^= ((code ^ magnitude) as u16) << 8;
        let from_highest = magnitude ^ top.highest();
        if magnitude < 16 {
            x ^= entry(&self.low, magnitude);
        }
        if matches!(top, Top::Fnuz) {
            if code == 0x80 {
                x ^= u16::from_le_bytes(self.patch);
            }
        } else if from_highest < 16 {
            x ^= entry(&self.high, from_highest);
        }
        x
    }

    const fn new(from: DType, to: DType, words: &[u16; 256]) -> Self {
        let top = Top::of(from);
        let (f, to) = (float_spec(from), float_spec(to));
        // Of a wide target the words are the upper halves.
        let mantissa_bits = to.mantissa_bits + 16 - to.bits();
        let mut line = Line {
            low: [[0; 16]; 2],
            high: [[0; 16]; 2],
            patch: [0; 2],
            multiplier: 1 << (mantissa_bits - f.mantissa_bits),
            addend: ((to.bias - f.bias) as u16) << mantissa_bits,
        };
        // Every correction is what is wrong without it.
        let mut i = 0;
        while i < 16 {
            let wrong = words[i as usize] ^ line.read(top, i);
            set(&mut line.low, i, wrong);
            if !matches!(top, Top::Fnuz) {
                let code = top.highest() - i;
                let wrong = words[code as usize] ^ line.read(top, code);
                set(&mut line.high, i, wrong);
            }
            i += 1;
        }
        if matches!(top, Top::Fnuz) {
            line.patch = (words[0x80] ^ line.read(top, 0x80)).to_le_bytes();
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

/// The line of words, as a constant of a type.
pub(crate) struct Of<T>(PhantomData<T>);

impl<T: Words> Of<T> {
    pub(crate) const LINE: &'static Line = &Line::new(T::FROM, T::OF, T::ALL);
}

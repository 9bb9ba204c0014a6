//! Digits to text: the layout of section 8.2.

use super::options::{Exponent, Special, TextOptions};
use alloc::vec::Vec;

/// The shortest digits of a positive number: `0.d1 d2 d3 ... * 10^(exponent + 1)`, so `exponent` is the exponent of the first digit.
pub(super) struct Digits {
    /// ASCII digits, without trailing zeros except for a first digit.
    digits: [u8; 17],
    len: usize,
    exponent: i32,
}

impl Digits {
    /// The digits of `number * 10^scale`, for a number of at most five digits.
    pub fn new(number: u32, scale: i32) -> Digits {
        let five: [u8; 5] = core::array::from_fn(|i| b'0' + (number / 10_u32.pow(4 - i as u32) % 10) as u8);
        let zeros = five.iter().take_while(|&&digit| digit == b'0').count().min(4);
        let mut digits = [b'0'; 17];
        for (place, digit) in digits.iter_mut().zip(&five[zeros..]) {
            *place = *digit;
        }
        let mut len = 5 - zeros;
        let exponent = scale + len as i32 - 1;
        while len > 1 && digits[len - 1] == b'0' {
            len -= 1;
        }
        Digits { digits, len, exponent }
    }

    /// The digits of a positive decimal text in either notation, with at most 17 significant digits, as other crates write it.
    pub fn read(text: &[u8]) -> Digits {
        let mut read = Digits { digits: [b'0'; 17], len: 0, exponent: -1 };
        let (mut point, mut rest) = (false, text);
        while let [byte, tail @ ..] = rest {
            rest = tail;
            match byte {
                b'.' => point = true,
                b'e' => break,
                digit => {
                    let significant = read.len > 0 || *digit != b'0';
                    // Trailing zeros of a long whole number need no room.
                    if let (true, Some(place)) = (significant, read.digits.get_mut(read.len)) {
                        *place = *digit;
                        read.len += 1;
                    }
                    read.exponent += i32::from(significant && !point) - i32::from(!significant && point);
                }
            }
        }
        let (negative, digits) = match rest {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let written = digits.iter().fold(0, |number, digit| 10 * number + i32::from(digit - b'0'));
        read.exponent += if negative { -written } else { written };
        while read.len > 1 && read.digits[read.len - 1] == b'0' {
            read.len -= 1;
        }
        read
    }

    /// Appends the number. `point`: whether a whole number ends in `.0`.
    pub fn write(&self, options: &TextOptions, point: bool, out: &mut Vec<u8>) {
        match (options.exponent, self.exponent) {
            (_, -4..16) => self.positional(point, out),
            (Exponent::Auto, _) => self.scientific(out),
            (Exponent::Never, exponent) if exponent < 0 => {
                out.extend_from_slice(b"0.");
                out.resize(out.len() + (-1 - exponent) as usize, b'0');
                out.extend_from_slice(&self.digits[..self.len]);
            }
            (Exponent::Never, exponent) => {
                // At least as many places as there can be digits, minus one.
                let whole = exponent as usize + 1;
                out.extend_from_slice(&self.digits[..whole.min(17)]);
                out.resize(out.len() + whole.saturating_sub(17), b'0');
                if point {
                    out.extend_from_slice(b".0");
                }
            }
        }
    }

    /// For exponents between -4 and 15, with copies of constant length: the digits are followed by zeros.
    fn positional(&self, point: bool, out: &mut Vec<u8>) {
        let mut text = *b"0.000000000000000000000000";
        let len = if self.exponent < 0 {
            let at = (1 - self.exponent) as usize;
            text[at..at + 17].copy_from_slice(&self.digits);
            at + self.len
        } else {
            let whole = self.exponent as usize + 1;
            text[1..18].copy_from_slice(&self.digits);
            for (place, digit) in text.iter_mut().zip(&self.digits[..whole]) {
                *place = *digit;
            }
            text[whole] = b'.';
            match (self.len > whole, point) {
                (true, _) => self.len + 1,
                (false, true) => whole + 2,
                (false, false) => whole,
            }
        };
        out.extend_from_slice(&text[..len]);
    }

    fn scientific(&self, out: &mut Vec<u8>) {
        let mut text = [b'.'; 24];
        text[1..18].copy_from_slice(&self.digits);
        text[0] = text[1];
        text[1] = b'.';
        let mut len = if self.len > 1 { self.len + 1 } else { 1 };
        text[len] = b'e';
        text[len + 1] = if self.exponent < 0 { b'-' } else { b'+' };
        len += 2;
        let magnitude = self.exponent.unsigned_abs();
        let places: &[u32] = if magnitude < 100 { &[10, 1] } else { &[100, 10, 1] };
        for place in places {
            text[len] = b'0' + (magnitude / place % 10) as u8;
            len += 1;
        }
        out.extend_from_slice(&text[..len]);
    }
}

/// The text of a NaN.
pub(super) fn nan(options: &TextOptions) -> &'static [u8] {
    match options.special {
        Special::Lower => b"nan",
        Special::Onnx => b"NaN",
    }
}

/// The text of infinity, after the sign.
pub(super) fn infinity(options: &TextOptions) -> &'static [u8] {
    match options.special {
        Special::Lower => b"inf",
        Special::Onnx => b"INF",
    }
}

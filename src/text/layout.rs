//! Digits to text: the layout of section 8.2.

use super::{Exponent, Special, TextOptions};
use alloc::vec::Vec;

/// The shortest digits of a positive number: `0.d1 d2 d3 ... * 10^(exponent + 1)`, so `exponent` is that of the first digit.
pub(super) struct Digits {
    /// ASCII, without zeros at the end but for a first digit.
    digits: [u8; 17],
    len: usize,
    exponent: i32,
}

impl Digits {
    /// `number * 10^scale`.
    pub fn new(mut number: u64, mut scale: i32) -> Digits {
        while number != 0 && number.is_multiple_of(10) {
            number /= 10;
            scale += 1;
        }
        let (mut digits, mut at) = ([b'0'; 17], 17);
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 || at == 0 {
                break;
            }
        }
        digits.copy_within(at.., 0);
        let len = 17 - at;
        Digits { digits, len, exponent: scale + len as i32 - 1 }
    }

    /// Of a positive decimal text in either notation with at most 17 significant digits, as other crates write them.
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
                    // Zeros that end a long whole number need no place.
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
        let (digits, exponent) = (&self.digits[..self.len], self.exponent);
        if options.exponent == Exponent::Auto && !(-4..16).contains(&exponent) {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
            let magnitude = exponent.unsigned_abs();
            if magnitude < 10 {
                out.push(b'0');
            }
            out.extend_from_slice(itoa::Buffer::new().format(magnitude).as_bytes());
        } else if exponent < 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + (-1 - exponent) as usize, b'0');
            out.extend_from_slice(digits);
        } else {
            let whole = exponent as usize + 1;
            if digits.len() <= whole {
                out.extend_from_slice(digits);
                out.resize(out.len() + whole - digits.len(), b'0');
                if point {
                    out.extend_from_slice(b".0");
                }
            } else {
                let (whole, fraction) = digits.split_at(whole);
                out.extend_from_slice(whole);
                out.push(b'.');
                out.extend_from_slice(fraction);
            }
        }
    }
}

/// What is written for a NaN.
pub(super) fn nan(options: &TextOptions) -> &'static [u8] {
    match options.special {
        Special::Lower => b"nan",
        Special::Onnx => b"NaN",
    }
}

/// What is written for the infinities, behind the sign.
pub(super) fn infinity(options: &TextOptions) -> &'static [u8] {
    match options.special {
        Special::Lower => b"inf",
        Special::Onnx => b"INF",
    }
}

//! Exact operations on decimals of any length: comparison with a binary number, and conversion to an integer.
//!
//! *Law.* Nothing is rounded except as the caller specifies. The time is linear in the length of the text, plus a constant.

use super::scan::Decimal;
use crate::options::IntRound;
use core::cmp::Ordering;

/// Compares the magnitude of a decimal with `significand * 2^exponent`. The significand is not 0 and below `2^54`; the exponent is
/// the exponent of a `float64`, or one less.
pub(super) fn compare(decimal: &Decimal<'_>, significand: u64, exponent: i32) -> Ordering {
    if !decimal.more
        && let Some(order) = compare_short(decimal.digits, decimal.exponent, significand, exponent)
    {
        return order;
    }
    compare_long(decimal, significand, exponent)
}

/// Compares `w * 10^q` with `m * 2^p`, if that fits into 128 bits.
fn compare_short(w: u64, q: i64, m: u64, p: i32) -> Option<Ordering> {
    /// All below `2^63`.
    const FIVES: [u64; 28] = {
        let (mut fives, mut i) = ([1; 28], 1);
        while i < 28 {
            fives[i] = fives[i - 1] * 5;
            i += 1;
        }
        fives
    };
    if w == 0 || q.unsigned_abs() >= FIVES.len() as u64 {
        return None;
    }
    let five = u128::from(FIVES[q.unsigned_abs() as usize]);
    // Compare w 5^q 2^q with m 2^p, with the power of five on the side where it is an integer.
    let (w, m) =
        if q >= 0 { (u128::from(w) * five, u128::from(m)) } else { (u128::from(w), u128::from(m) * five) };
    let bits = |x: u128| 128 - x.leading_zeros() as i64;
    let (left, right) = (bits(w) + q, bits(m) + i64::from(p));
    Some(left.cmp(&right).then_with(|| {
        // Both have their highest bit in the same place, so the one with the larger power of two is the shorter.
        let shift = q - i64::from(p);
        if shift >= 0 { (w << shift).cmp(&m) } else { w.cmp(&(m << -shift)) }
    }))
}

/// Limbs of the largest integer needed: `2^54 * 5^1075` and `2^54 * 2^971` have fewer than 2560 bits.
const LIMBS: usize = 40;
/// Digits of a limb in base `10^19`, the largest power of ten below `2^64`.
const DIGITS: usize = 19;
/// Decimal digits of the largest integer, and room for the last limb.
const ROOM: usize = 800;

/// [`compare`] by writing the binary number as a decimal.
#[cold]
fn compare_long(decimal: &Decimal<'_>, significand: u64, exponent: i32) -> Ordering {
    let mut number = Big { limbs: [0; LIMBS], len: 1 };
    number.limbs[0] = significand;
    // m 2^p is m 5^-p 10^p for negative p.
    let (base, scale) = if exponent < 0 { (5_u64, exponent) } else { (2, 0) };
    let mut left = exponent.unsigned_abs();
    while left > 0 {
        // 5^27 and 2^27 fit into a limb.
        let step = left.min(27);
        number.multiply(base.pow(step));
        left -= step;
    }
    let mut buffer = [0; ROOM];
    let mine = number.digits(&mut buffer);
    let (digits, point) = decimal.significant();
    point.cmp(&(mine.len() as i64 + i64::from(scale))).then_with(|| {
        let mut mine = mine.iter().copied();
        for digit in digits {
            match mine.next() {
                Some(other) if digit == other => {}
                Some(other) => return digit.cmp(&other),
                None if digit == 0 => {}
                None => return Ordering::Greater,
            }
        }
        if mine.any(|digit| digit != 0) { Ordering::Less } else { Ordering::Equal }
    })
}

/// A natural number, the lowest limb first.
struct Big {
    limbs: [u64; LIMBS],
    /// Limbs in use.
    len: usize,
}

impl Big {
    fn multiply(&mut self, factor: u64) {
        let mut carry = 0;
        for limb in &mut self.limbs[..self.len] {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        if carry > 0 {
            self.limbs[self.len] = carry as u64;
            self.len += 1;
        }
    }

    /// Divides by `10^19` and returns the remainder.
    fn divide(&mut self) -> u64 {
        let divisor = 10_u128.pow(DIGITS as u32);
        let mut rest = 0;
        for limb in self.limbs[..self.len].iter_mut().rev() {
            let part = rest << 64 | u128::from(*limb);
            *limb = (part / divisor) as u64;
            rest = part % divisor;
        }
        while self.len > 0 && self.limbs[self.len - 1] == 0 {
            self.len -= 1;
        }
        rest as u64
    }

    /// The decimal digits, 0 to 9, from the first that is not 0, at the end of the buffer.
    fn digits(mut self, buffer: &mut [u8; ROOM]) -> &[u8] {
        let mut at = ROOM;
        while self.len > 0 {
            let mut rest = self.divide();
            for _ in 0..DIGITS {
                at -= 1;
                buffer[at] = (rest % 10) as u8;
                rest /= 10;
            }
        }
        let zeros = buffer[at..].iter().take_while(|&&digit| digit == 0).count();
        &buffer[at + zeros..]
    }
}

/// The magnitude of a decimal, rounded to an integer; `None` from `2^64` on.
pub(super) fn integer(decimal: &Decimal<'_>, round: IntRound) -> Option<u64> {
    let (mut digits, point) = decimal.significant();
    // There is no digit, or none that matters.
    let whole = match point {
        21.. if decimal.digits == 0 => 0,
        21.. => return None,
        places => (0..places).fold(0_u128, |whole, _| 10 * whole + u128::from(digits.next().unwrap_or(0))),
    };
    // Compare the remainder with a half.
    let first = if point >= 0 { digits.next().unwrap_or(0) } else { 0 };
    let rest = digits.any(|digit| digit != 0);
    let half = first.cmp(&5).then(if rest { Ordering::Greater } else { Ordering::Equal });
    let inexact = first != 0 || rest;
    let up = match round {
        IntRound::TowardZero => false,
        IntRound::NearestEven => {
            half.then(if whole & 1 == 1 { Ordering::Greater } else { Ordering::Less }).is_gt()
        }
        IntRound::NearestAway => half.is_ge(),
        IntRound::Floor => inexact && decimal.negative,
        IntRound::Ceil => inexact && !decimal.negative,
    };
    u64::try_from(whole + u128::from(up)).ok()
}

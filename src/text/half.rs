//! The shortest digits of `float16`, in its own precision.
//!
//! *Law.* Of the decimals that lie between the middles to the two neighbours (on a middle only if the code is even, since a tie
//! goes to it), those with the fewest digits are taken, and of them the nearest; of two as near the one whose last digit is even.
//!
//! *Method.* A `float16` and the middles beside it are multiples of `2^-25`. Scaled by a power of ten so that five digits stand
//! before the point, they are still integers below `2^45` in units of `2^-26`, and all of it is exact in a `u64`.

use super::layout::Digits;

/// Bits behind the point.
const POINT: u32 = 26;

/// The digits of a magnitude code, neither 0 nor infinite.
pub(super) fn digits(code: u16) -> Digits {
    let (field, fraction) = (u32::from(code >> 10), u64::from(code & 0x3FF));
    // In units of 2^-26: a subnormal counts units of 2^-24.
    let (significand, shift) = if field == 0 { (fraction, 2) } else { (fraction | 1 << 10, field + 1) };
    let value = significand << shift;
    let above = 1 << (shift - 1);
    // Below a power of two the neighbour is half as far, but not among the subnormals.
    let below = if fraction == 0 && field > 1 { above / 2 } else { above };

    // Five digits before the point: 10^4 <= value * 10^scale < 10^5.
    let (mut factor, mut scale) = (1, 0);
    if value < 1 << POINT {
        // Below 1, by the four digits at once that come behind the point.
        (factor, scale) = (10_000, -4);
    }
    while value * factor < 10_000 << POINT {
        factor *= 10;
        scale -= 1;
    }
    let range = Range {
        value: value * factor,
        low: (value - below) * factor,
        high: (value + above) * factor,
        even: code & 1 == 0,
    };
    let found = range.nearest::<10_000>().map(|number| (number, 4));
    let found = found.or_else(|| range.nearest::<1000>().map(|number| (number, 3)));
    let found = found.or_else(|| range.nearest::<100>().map(|number| (number, 2)));
    let found = found.or_else(|| range.nearest::<10>().map(|number| (number, 1)));
    // Five digits are always enough: the nearest is nearer than a middle.
    let (number, dropped) = found.unwrap_or_else(|| (range.nearest::<1>().unwrap_or(0), 0));
    Digits::new(number, scale + dropped)
}

/// A value and the middles beside it, with [`POINT`] bits behind the point.
struct Range {
    value: u64,
    low: u64,
    high: u64,
    /// The middles belong to the value.
    even: bool,
}

impl Range {
    /// The multiple of `STEP` in the range that is nearest to the value, as that many steps.
    #[inline(always)]
    fn nearest<const STEP: u32>(&self) -> Option<u32> {
        let step = u64::from(STEP) << POINT;
        let number = (self.value >> POINT) as u32 / STEP;
        let floor = u64::from(number) * step;
        let (down, up) = (self.value - floor, floor + step - self.value);
        // Below a power of two the range reaches less far down than up: the nearer one may be outside and the other inside.
        let first = number + u32::from(down > up || (down == up && number & 1 == 1));
        let inside = |number: u32| {
            let x = u64::from(number) * step;
            number > 0
                && ((self.low < x && x < self.high) || (self.even && (x == self.low || x == self.high)))
        };
        let other = 2 * number + 1 - first;
        if inside(first) {
            Some(first)
        } else if inside(other) {
            Some(other)
        } else {
            None
        }
    }
}

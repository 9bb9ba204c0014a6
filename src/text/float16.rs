//! The shortest digits of `float16`, in its own precision.
//!
//! *Law.* The candidates are the decimals between the midpoints to the two neighbours (including the midpoints if the code is even,
//! since ties round to it). The result has the fewest digits of these and is the nearest of those; in a tie its last digit is even.
//!
//! *Method.* A `float16` and the midpoints beside it are multiples of `2^-25`. Scaled by a power of ten to five digits before the
//! point, they are still integers below `2^45` in units of `2^-26`, so all arithmetic is exact in a `u64`.

use super::layout::Digits;

/// Bits after the binary point.
const POINT: u32 = 26;

/// The digits of a magnitude code, neither 0 nor infinite.
pub(super) fn digits(code: u16) -> Digits {
    let (field, fraction) = (u32::from(code >> 10), u64::from(code & 0x3FF));
    // In units of 2^-26: a subnormal counts units of 2^-24.
    let (significand, shift) = if field == 0 { (fraction, 2) } else { (fraction | 1 << 10, field + 1) };
    let value = significand << shift;
    let above = 1 << (shift - 1);
    // The neighbour below a power of two is half as far away, except among the subnormals.
    let below = if fraction == 0 && field > 1 { above / 2 } else { above };

    // Five digits before the point: 10^4 <= value * 10^scale < 10^5.
    let (mut factor, mut scale) = (1, 0);
    if value < 1 << POINT {
        // Below 1, scale by four digits at once.
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
    // Five digits are always enough: the nearest such decimal is nearer than a midpoint.
    let (number, dropped) = found.unwrap_or_else(|| (range.nearest::<1>().unwrap_or(0), 0));
    Digits::new(number, scale + dropped)
}

/// A value and the midpoints beside it, with [`POINT`] bits after the binary point.
struct Range {
    value: u64,
    low: u64,
    high: u64,
    /// Whether the midpoints round to the value.
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

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
    while value * factor < 10_000 << POINT {
        factor *= 10;
        scale -= 1;
    }
    let value = value * factor;
    let (low, high) = (value - below * factor, value + above * factor);
    let even = code & 1 == 0;
    let inside = |x: u64| (low < x && x < high) || (even && (x == low || x == high));
    for drop in (0..5).rev() {
        let step = 10_u64.pow(drop) << POINT;
        let number = value / step;
        let (floor, ceil) = (number * step, (number + 1) * step);
        let (down, up) = (value - floor, ceil - value);
        let nearer = if down < up || (down == up && number.is_multiple_of(2)) { number } else { number + 1 };
        for candidate in [nearer, 2 * number + 1 - nearer] {
            if candidate > 0 && inside(candidate * step) {
                return Digits::new(candidate, scale + drop as i32);
            }
        }
    }
    // Not reached: the five digits nearest to a value are nearer than a middle.
    Digits::new((value + (1 << (POINT - 1))) >> POINT, scale)
}

//! Derives every rounding from the only one that needs no control register: to nearest, ties to even.
//!
//! The default rounding gives the nearest value. The *residual*, the exact error of that rounding, says whether the magnitude went
//! up or down, and so which of the two neighbours another rounding takes: the lower one, or the next one if the value was inexact
//! and the rule rounds up for its sign. The rule is a [`Correction`], a few masks, so that one loop without branches serves all
//! rules.

use crate::exact::Rounding;

/// The step from the nearest code to the code that a rounding rule requires. All fields are masks: zero or all ones.
#[derive(Clone, Copy)]
pub(crate) struct Correction {
    /// Whether a magnitude that was rounded up is first stepped down again.
    directed: u32,
    /// Whether an inexact positive value is then stepped up in magnitude.
    up: u32,
    /// Whether a negative value does the opposite of a positive one.
    flip: u32,
    /// Whether an inexact value is stepped up if that makes the code odd.
    odd: u32,
    /// Whether ties go away from zero.
    away: u32,
}

impl Correction {
    /// To the neighbour with an odd code.
    pub(crate) const TO_ODD: Self = Self::new(Rounding::ToOdd);

    pub(crate) const fn new(rounding: Rounding) -> Self {
        const ALL: u32 = u32::MAX;
        let nearest = Self { directed: 0, up: 0, flip: 0, odd: 0, away: 0 };
        match rounding {
            Rounding::NearestEven => nearest,
            Rounding::NearestAway => Self { away: ALL, ..nearest },
            Rounding::TowardZero => Self { directed: ALL, ..nearest },
            Rounding::Floor => Self { directed: ALL, flip: ALL, ..nearest },
            Rounding::Ceil => Self { directed: ALL, up: ALL, flip: ALL, ..nearest },
            Rounding::ToOdd => Self { directed: ALL, odd: ALL, ..nearest },
        }
    }

    /// The same, but the compiler knows that it is a direction: toward zero, up or down.
    #[inline(always)]
    pub(crate) const fn as_direction(self) -> Self {
        Self { directed: u32::MAX, odd: 0, away: 0, ..self }
    }

    /// 1 if ties go away from zero, otherwise 0. Or-ed into a value with at least two bits more than the target, it moves a tie past
    /// the midpoint and changes nothing else.
    #[inline(always)]
    pub(crate) const fn sticky(self) -> u32 {
        self.away & 1
    }

    /// All ones if ties go away from zero, otherwise 0.
    #[inline(always)]
    pub(crate) const fn away(self) -> u64 {
        extended(self.away)
    }

    /// The magnitude code of a value whose nearest code is `nearest`. `rounded_up`, `inexact` and `negative` are masks.
    #[inline(always)]
    pub(crate) const fn code(self, nearest: u32, rounded_up: u32, inexact: u32, negative: u32) -> u32 {
        // A mask is -1.
        let low = nearest.wrapping_add(rounded_up & self.directed);
        let is_even = (low & 1).wrapping_sub(1);
        low.wrapping_add(inexact & (self.up ^ negative & self.flip | self.odd & is_even) & 1)
    }

    /// The same in 64 bits.
    #[inline(always)]
    pub(crate) const fn code64(self, nearest: u64, rounded_up: u64, inexact: u64, negative: u64) -> u64 {
        let low = nearest.wrapping_add(rounded_up & extended(self.directed));
        let is_even = (low & 1).wrapping_sub(1);
        let up = extended(self.up) ^ negative & extended(self.flip) | extended(self.odd) & is_even;
        low.wrapping_add(inexact & up & 1)
    }

    /// The number to add to the bits of a float before the bits in `below` are cut off. `last` is the lowest bit that stays.
    #[inline(always)]
    pub(crate) const fn bias(self, last: u32, negative: u32, below: u32) -> u32 {
        // Nearest: just under half a unit, plus one for a tie that rounds up. Otherwise one less than a whole unit, or nothing.
        let nearest = (below >> 1) + (last | self.away & 1);
        let directed = (self.up ^ negative & self.flip | self.odd & last.wrapping_sub(1)) & below;
        nearest & !self.directed | directed
    }

    /// The same in 64 bits.
    #[inline(always)]
    pub(crate) const fn bias64(self, last: u64, negative: u64, below: u64) -> u64 {
        let [directed, up, flip] = [extended(self.directed), extended(self.up), extended(self.flip)];
        let nearest = (below >> 1) + (last | self.away() & 1);
        let step = (up ^ negative & flip | extended(self.odd) & last.wrapping_sub(1)) & below;
        nearest & !directed | step
    }
}

/// Extends a mask of 32 bits to 64 bits.
#[inline(always)]
const fn extended(mask: u32) -> u64 {
    mask as i32 as i64 as u64
}

macro_rules! whole {
    ($name:ident, $float:ident, $bits:ident, $int:ident, $wide:expr) => {
        /// Rounds a float to an integral value; infinities and NaNs are unchanged.
        #[inline(always)]
        pub(crate) fn $name(self, x: $bits) -> $bits {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            // From here on every float is an integer, so adding this to a smaller float leaves its units in the lowest bits.
            const UNITS: $float = (1_u64 << ($float::MANTISSA_DIGITS - 1)) as $float;
            let one = |mask: $bits| $float::from_bits(mask & (1.0 as $float).to_bits());
            let magnitude = $float::from_bits(x & !SIGN);
            let nearest = (magnitude + UNITS) - UNITS;
            let residual = (magnitude - nearest).to_bits();
            let rounded_up = (residual as $int >> ($bits::BITS - 1)) as $bits;
            let inexact = if residual != 0 { $bits::MAX } else { 0 };
            let tie = if residual == (0.5 as $float).to_bits() { $bits::MAX } else { 0 };
            let negative = (x as $int >> ($bits::BITS - 1)) as $bits;
            let [directed, up, flip, away] = [self.directed, self.up, self.flip, self.away].map($wide);
            let low = nearest - one(rounded_up & directed);
            let rounded = low + one(inexact & (up ^ negative & flip) | tie & away);
            let rounded = x & SIGN | rounded.to_bits();
            if magnitude < UNITS { rounded } else { x }
        }
    };
}

impl Correction {
    whole!(whole32, f32, u32, i32, |mask: u32| mask);
    whole!(whole64, f64, u64, i64, |mask: u32| extended(mask));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_values() {
        let cases = [
            (Rounding::NearestEven, [0.0_f64, 0.0, 2.0, 2.0, -2.0, -2.0, -0.0]),
            (Rounding::NearestAway, [0.0, 1.0, 2.0, 3.0, -2.0, -3.0, -1.0]),
            (Rounding::TowardZero, [0.0, 0.0, 1.0, 2.0, -1.0, -2.0, -0.0]),
            (Rounding::Floor, [0.0, 0.0, 1.0, 2.0, -2.0, -3.0, -1.0]),
            (Rounding::Ceil, [1.0, 1.0, 2.0, 3.0, -1.0, -2.0, -0.0]),
        ];
        for (rounding, want) in cases {
            let correction = Correction::new(rounding);
            for (x, want) in [0.25_f64, 0.5, 1.5, 2.5, -1.5, -2.5, -0.5].into_iter().zip(want) {
                assert_eq!(correction.whole64(x.to_bits()), want.to_bits(), "{x} {rounding:?}");
                let (x, want) = (x as f32, want as f32);
                assert_eq!(correction.whole32(x.to_bits()), want.to_bits(), "{x} {rounding:?}");
            }
            for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 0.0, -0.0, 8388609.0] {
                assert_eq!(correction.whole32(x.to_bits()), x.to_bits(), "{x} {rounding:?}");
            }
        }
    }
}

//! A sum of products of doubles without any rounding, as an integer of 1,792 bits.
//!
//! Sums are the same in whatever order the products come, and however they are split between threads.

/// The exponent of the lowest bit. The factors are differences of float32 values and products of scales and codes: at least 2^-300, and with
/// 53 bits, so products are multiples of 2^-704.
const LOWEST: i32 = -768;

/// Words of 32 bits, up to 2^1024.
const WORDS: usize = 56;

/// Products that may be added before carries are moved: each adds less than 2^32 to a word.
const UNTIL_CARRY: u32 = 1 << 30;

/// An exact sum.
#[derive(Clone, Debug)]
pub(super) struct ExactSum {
    /// Digits to the base of 2^32, lowest first, that may be negative or larger than the base.
    words: [i64; WORDS],
    added: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { words: [0; WORDS], added: 0 }
    }
}

impl ExactSum {
    /// Adds the square of `x - y`.
    pub(super) fn add_squared_difference(&mut self, x: f64, y: f64) {
        let d = x - y;
        // What the difference lost, exactly (Knuth's two-sum).
        let (back, behind) = (d + y, d - x);
        let lost = (x - (d - behind)) - (y + behind);
        debug_assert!(back.is_finite());
        self.add_product(d, d);
        if lost != 0.0 {
            self.add_product(2.0 * d, lost);
            self.add_product(lost, lost);
        }
    }

    /// Adds a product of finite numbers.
    fn add_product(&mut self, a: f64, b: f64) {
        let split = |x: f64| {
            let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7FF) as i32, x.to_bits() & ((1 << 52) - 1));
            (fraction | u64::from(exponent > 0) << 52, exponent.max(1) - 1075)
        };
        let ((m, e), (n, f)) = (split(a), split(b));
        if m == 0 || n == 0 {
            return;
        }
        // Trailing zeros of factors go first: only these are below the lowest bit.
        let (m, e) = (m >> m.trailing_zeros(), e + m.trailing_zeros() as i32);
        let (n, f) = (n >> n.trailing_zeros(), f + n.trailing_zeros() as i32);
        let (product, place) = (u128::from(m) * u128::from(n), e + f - LOWEST);
        debug_assert!(place >= 0, "{a:e} times {b:e} is below the lowest bit");
        let (word, shift) = (place as usize / 32, place % 32);
        let negative = (a < 0.0) != (b < 0.0);
        // 106 bits and a shift of less than 32 are five words.
        let low = product << shift;
        let top = (product >> 64 << shift >> 64) as i64;
        let digits = [low as u32, (low >> 32) as u32, (low >> 64) as u32, (low >> 96) as u32];
        for (to, digit) in self.words[word..].iter_mut().zip(digits.map(i64::from).into_iter().chain([top])) {
            *to += if negative { -digit } else { digit };
        }
        self.added += 1;
        if self.added == UNTIL_CARRY {
            self.carry();
        }
    }

    /// Moves carries up: all words but the highest are from 0 to 2^32 afterwards.
    fn carry(&mut self) {
        let mut carry = 0;
        for word in &mut self.words[..WORDS - 1] {
            let sum = *word + carry;
            (*word, carry) = (sum & 0xFFFF_FFFF, sum >> 32);
        }
        self.words[WORDS - 1] += carry;
        self.added = 1;
    }

    /// Adds another sum.
    pub(super) fn add(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.words.iter_mut().zip(other.words).for_each(|(word, other)| *word += other);
        self.added = 2;
    }

    /// The nearest double to a sum that is not negative, ties to even.
    pub(super) fn value(&self) -> f64 {
        let mut sum = self.clone();
        sum.carry();
        let Some(top) = sum.words.iter().rposition(|word| *word != 0) else { return 0.0 };
        // The 96 bits from the first digit on have 64 after leading zeros; what is behind only matters as not being zero.
        let digit = |back: usize| top.checked_sub(back).map_or(0, |i| sum.words[i] as u128);
        let head = digit(0) << 64 | digit(1) << 32 | digit(2);
        let sticky = sum.words[..top.saturating_sub(2)].iter().any(|word| *word != 0);
        let nearest = (head << 1 | u128::from(sticky)) as f64;
        // Never subnormal, and the power is normal.
        let exponent = LOWEST + 32 * (top as i32 - 2) - 1;
        let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
        nearest * power(exponent / 2) * power(exponent - exponent / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use num_bigint::BigInt;

    fn power(exponent: i32) -> f64 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }

    /// A double as a multiple of 2^-400.
    fn integer(x: f64) -> BigInt {
        let (exponent, fraction) = ((x.to_bits() >> 52 & 0x7FF) as i32, x.to_bits() & ((1 << 52) - 1));
        let magnitude = BigInt::from(fraction | 1 << 52) << (exponent - 1075 + 400) as usize;
        if x == 0.0 {
            BigInt::from(0)
        } else if x < 0.0 {
            -magnitude
        } else {
            magnitude
        }
    }

    /// Sums in any order and any split are the exact ones, rounded once.
    #[test]
    fn sums_are_exact() {
        let mut state = 0x1234_5678_9ABC_DEF1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 31
        };
        for range in [2, 40, 400] {
            let pairs: Vec<(f64, f64)> = (0..300)
                .map(|_| {
                    let mut float = |bits: u32| {
                        let x = next();
                        let x = x & !((1_u64 << (52 - bits)) - 1) & 0x800F_FFFF_FFFF_FFFF;
                        f64::from_bits(x | (1023 - range / 2 + next() % range) << 52)
                    };
                    (float(23), float(36))
                })
                .collect();
            for n in [1, 2, 7, 300] {
                let (mut forward, mut low, mut high) =
                    (ExactSum::default(), ExactSum::default(), ExactSum::default());
                let mut want = BigInt::from(0);
                for (i, (x, y)) in pairs[..n].iter().enumerate() {
                    forward.add_squared_difference(*x, *y);
                    if i % 3 == 0 { &mut low } else { &mut high }.add_squared_difference(*y, *x);
                    let difference = integer(*x) - integer(*y);
                    want += &difference * &difference;
                }
                high.carry();
                high.add(&low);
                assert_eq!(forward.value().to_bits(), high.value().to_bits());
                // 2^-800 is the unit. The last bit is the nearest one: twice the distance is at most a unit of the last place.
                let got = forward.value();
                let bits = want.bits() as usize;
                let kept = bits.saturating_sub(53);
                let mut nearest: BigInt = &want >> kept;
                let rest = &want - (&nearest << kept);
                let half = BigInt::from(1) << kept >> 1_usize;
                if rest > half || (rest == half && kept > 0 && nearest.bit(0)) {
                    nearest += 1;
                }
                let digits = nearest.iter_u64_digits().next().unwrap_or(0);
                let want = digits as f64 * power(kept as i32 - 800);
                assert_eq!(got.to_bits(), want.to_bits(), "{got:e} {want:e}");
            }
        }
    }

    #[test]
    fn extremes() {
        let mut sum = ExactSum::default();
        assert_eq!(sum.value(), 0.0);
        sum.add_squared_difference(f64::from(f32::from_bits(1)), 0.0);
        assert_eq!(sum.value(), power(-298));
        let large = 448.0 * power(255);
        sum.add_squared_difference(-f64::from(f32::MAX), large);
        assert_eq!(sum.value(), {
            let x = large + f64::from(f32::MAX);
            x * x
        });
        // Ties are even, and the least bit above one is seen.
        let mut tie = ExactSum::default();
        tie.add_product(power(53) + 2.0, 1.0);
        tie.add_product(1.0, 1.0);
        assert_eq!(tie.value(), power(53) + 4.0);
        let mut tie = ExactSum::default();
        tie.add_product(power(53), 1.0);
        tie.add_product(1.0, 1.0);
        assert_eq!(tie.value(), power(53));
        tie.add_squared_difference(f64::from(f32::from_bits(1)), 0.0);
        assert_eq!(tie.value(), power(53) + 2.0);
    }
}

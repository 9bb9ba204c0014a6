//! The counts and the moments of a block of numbers. The blocks of a tensor merge.

use lanecast::{DType, Spec};

use super::Number;

/// The binary exponent of the least number that is not zero, 2^-1074.
pub(super) const LEAST: i32 = -1074;

/// The running counts.
pub(super) struct Tally {
    /// Nonzero numbers below this are subnormal.
    normal: f64,
    pub(super) min: Option<Number>,
    pub(super) max: Option<Number>,
    pub(super) nan: u64,
    pub(super) infinities: u64,
    pub(super) zeros: u64,
    pub(super) subnormals: u64,
    /// The counts of the exponents from [`LEAST`] on.
    exponents: Vec<u64>,
}

impl Tally {
    pub(super) fn new(dtype: DType) -> Self {
        let normal = match dtype.spec() {
            // In a format without a mantissa all numbers are normal.
            Spec::Float(of) | Spec::Complex(of) if of.mantissa_bits > 0 => {
                f64::from_bits(((1 - of.bias + 1023) as u64) << 52)
            }
            _ => 0.0,
        };
        let exponents = vec![0; (1024 - LEAST) as usize];
        Self { normal, min: None, max: None, nan: 0, infinities: 0, zeros: 0, subnormals: 0, exponents }
    }

    pub(super) fn floats(&mut self, numbers: &[f64]) {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in numbers {
            let size = x.abs();
            if size == 0.0 {
                self.zeros += 1;
            } else if size < f64::INFINITY {
                self.subnormals += u64::from(size < self.normal);
                self.exponents[(exponent(size) - LEAST) as usize] += 1;
            } else {
                let nan = u64::from(size.is_nan());
                self.nan += nan;
                self.infinities += 1 - nan;
                continue;
            }
            min = min.min(x);
            max = max.max(x);
        }
        if min <= max {
            self.extend(Number::Float(min), Number::Float(max));
        }
    }

    pub(super) fn integers(&mut self, numbers: impl Iterator<Item = i128>) {
        let (mut min, mut max) = (i128::MAX, i128::MIN);
        for x in numbers {
            match x.unsigned_abs().checked_ilog2() {
                Some(exponent) => self.exponents[(exponent as i32 - LEAST) as usize] += 1,
                None => self.zeros += 1,
            }
            min = min.min(x);
            max = max.max(x);
        }
        if min <= max {
            self.extend(Number::Int(min), Number::Int(max));
        }
    }

    fn extend(&mut self, min: Number, max: Number) {
        self.min = self.min.filter(|old| *old <= min).or(Some(min));
        self.max = self.max.filter(|old| *old >= max).or(Some(max));
    }

    /// Adds the counts of other numbers of the dtype.
    pub(super) fn merge(&mut self, other: &Self) {
        if let (Some(min), Some(max)) = (other.min, other.max) {
            self.extend(min, max);
        }
        self.nan += other.nan;
        self.infinities += other.infinities;
        self.zeros += other.zeros;
        self.subnormals += other.subnormals;
        self.exponents.iter_mut().zip(&other.exponents).for_each(|(n, more)| *n += more);
    }

    /// The exponents that occur, and how often.
    pub(super) fn exponents(&self) -> Vec<(i32, u64)> {
        let some = self.exponents.iter().enumerate().filter(|(_, n)| **n > 0);
        some.map(|(i, n)| (i as i32 + LEAST, *n)).collect()
    }

    /// The largest finite magnitude; 0 if no number is finite.
    pub(super) fn largest(&self) -> f64 {
        [self.min, self.max].into_iter().flatten().map(|x| x.to_f64().abs()).fold(0.0, f64::max)
    }
}

/// The binary exponent of a finite number above zero.
fn exponent(x: f64) -> i32 {
    let bits = x.to_bits();
    match bits >> 52 {
        0 => LEAST + 63 - bits.leading_zeros() as i32,
        field => field as i32 - 1023,
    }
}

/// The mean and the deviation of the finite numbers, and the sum of the squares of all.
#[derive(Clone, Copy, Default)]
pub(super) struct Moments {
    n: u64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    distances: f64,
    /// The sum of the squares; not finite if a number is not.
    pub(super) squares: f64,
}

impl Moments {
    pub(super) fn of(numbers: &[f64]) -> Self {
        let finite = || numbers.iter().copied().filter(|x| x.is_finite());
        let n = finite().count() as u64;
        let mean = finite().sum::<f64>() / n.max(1) as f64;
        let distances = finite().map(|x| (x - mean).powi(2)).sum();
        Self { n, mean, distances, squares: numbers.iter().map(|x| x.powi(2)).sum() }
    }

    /// Adds the moments of other numbers, as Chan, Golub and LeVeque do, which loses no digits where both means are near.
    pub(super) fn merge(&mut self, other: &Self) {
        self.squares += other.squares;
        if other.n == 0 {
            return;
        }
        let (n, distance) = (self.n + other.n, other.mean - self.mean);
        let part = other.n as f64 / n as f64;
        self.mean += distance * part;
        self.distances += other.distances + distance.powi(2) * part * self.n as f64;
        self.n = n;
    }

    /// The mean; `None` without finite numbers, or if the sum overflows.
    pub(super) fn mean(&self) -> Option<f64> {
        Some(self.mean).filter(|mean| self.n > 0 && mean.is_finite())
    }

    /// The standard deviation of all numbers, not an estimate from a sample.
    pub(super) fn deviation(&self) -> Option<f64> {
        let deviation = (self.distances / self.n.max(1) as f64).sqrt();
        Some(deviation).filter(|deviation| self.n > 0 && deviation.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_those_of_the_numbers() {
        for (x, e) in [
            (1.0, 0),
            (1.999, 0),
            (0.5, -1),
            (f64::MAX, 1023),
            (f64::MIN_POSITIVE, -1022),
            (f64::from_bits(1), -1074),
            (f64::from_bits(3), -1073),
        ] {
            assert_eq!(exponent(x), e, "{x}");
        }
        let mut tally = Tally::new(DType::Float16);
        tally.floats(&[f64::from_bits(1), -f64::MAX, 0.0, -0.0, f64::NAN]);
        assert_eq!((tally.zeros, tally.nan, tally.subnormals), (2, 1, 1));
        assert_eq!((tally.min, tally.max), (Some(Number::Float(-f64::MAX)), Some(Number::Float(5e-324))));
        let mut tally = Tally::new(DType::UInt64);
        tally.integers([u64::MAX.into(), 0, 1].into_iter());
        assert_eq!((tally.exponents(), tally.largest()), (vec![(0, 1), (63, 1)], 2_f64.powi(64)));
    }

    #[test]
    fn moments_of_parts_merge_to_those_of_all() {
        // A mean that is far from zero: the difference of two sums of squares would lose the deviation.
        let numbers: Vec<f64> = (0..1000_i32).map(|i| 1e9 + f64::from(i * i % 17)).collect();
        let mean = numbers.iter().map(|x| x - 1e9).sum::<f64>() / 1000.0;
        let distances: f64 = numbers.iter().map(|x| (x - 1e9 - mean).powi(2)).sum();
        for part in [1, 7, 999, 1000] {
            let mut all = Moments::default();
            numbers.chunks(part).for_each(|part| all.merge(&Moments::of(part)));
            all.merge(&Moments::of(&[f64::INFINITY]));
            let (have, deviation) = (all.mean().unwrap(), all.deviation().unwrap());
            assert!((have - 1e9 - mean).abs() < 1e-5, "{part}: {have}");
            assert!((deviation - (distances / 1000.0).sqrt()).abs() < 1e-6, "{part}: {deviation}");
            assert!(all.squares.is_infinite());
        }
        let nothing = Moments::of(&[f64::NAN]);
        assert_eq!((nothing.mean(), nothing.deviation()), (None, None));
    }
}

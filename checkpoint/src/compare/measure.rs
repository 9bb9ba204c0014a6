//! The errors of a tensor, added up part by part.

use super::{Difference, Ulps, pair::Piece, streams::Values};

/// Sums over the values so far.
#[derive(Default)]
pub(super) struct Measure {
    values: u64,
    finite: u64,
    different: u64,
    rounded: u64,
    not_finite: u64,
    largest: f64,
    largest_at: u64,
    sums: Sums,
    ulps: Distances,
}

/// Sums of magnitudes and products. Each part has its own, so that few roundings touch a large sum.
#[derive(Clone, Copy, Default)]
struct Sums {
    error: f64,
    error_squared: f64,
    a_squared: f64,
    b_squared: f64,
    product: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.error += other.error;
        self.error_squared += other.error_squared;
        self.a_squared += other.a_squared;
        self.b_squared += other.b_squared;
        self.product += other.product;
    }
}

/// Distances in representable values.
#[derive(Default)]
struct Distances {
    sum: f64,
    largest: u64,
    histogram: Vec<u64>,
}

impl Distances {
    fn add(&mut self, distance: u64) {
        let bits = (u64::BITS - distance.leading_zeros()) as usize;
        if self.histogram.len() <= bits {
            self.histogram.resize(bits + 1, 0);
        }
        self.histogram[bits] += 1;
        self.largest = self.largest.max(distance);
        self.sum += distance as f64;
    }
}

impl Measure {
    /// The number of values so far.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// Adds as many values of both sides.
    pub(super) fn add(&mut self, a: Values<'_>, b: Values<'_>) {
        let (mut sums, left_exact, right_exact) = (Sums::default(), a.exact, b.exact);
        for (i, (left, right)) in a.values.iter().zip(b.values).enumerate() {
            let (a, b, keys) = (*left, *right, a.keys.get(i).zip(b.keys.get(i)));
            let exact =
                [(left, left_exact), (right, right_exact)].map(|(own, exact)| exact.get(i).unwrap_or(own));
            if !(a.is_finite() && b.is_finite()) {
                let equal = a == b || a.is_nan() && b.is_nan();
                self.different += u64::from(!equal);
                self.not_finite += u64::from(!equal);
                continue;
            }
            let error = (a - b).abs();
            self.finite += 1;
            self.different += u64::from(a != b);
            self.rounded += u64::from(a == b && exact[0] != exact[1]);
            if error > self.largest {
                (self.largest, self.largest_at) = (error, self.values + i as u64);
            }
            sums.error += error;
            sums.error_squared += error * error;
            sums.a_squared += a * a;
            sums.b_squared += b * b;
            sums.product += a * b;
            if let Some((a, b)) = keys {
                self.ulps.add(a.abs_diff(*b));
            }
        }
        self.sums.add(&sums);
        self.values += a.values.len() as u64;
    }

    /// The result.
    pub(super) fn difference(self, of: &Piece) -> Difference {
        let Sums { error, error_squared, a_squared, b_squared, product } = self.sums;
        let relative = if error_squared == 0.0 { 0.0 } else { (error_squared / b_squared).sqrt() };
        let norms = a_squared.sqrt() * b_squared.sqrt();
        let n = self.finite.max(1) as f64;
        let ulps = of.ulps.map(|dtype| Ulps {
            dtype: dtype.name().to_owned(),
            largest: self.ulps.largest,
            mean: self.ulps.sum / n,
            histogram: self.ulps.histogram,
        });
        Difference {
            name: of.name.clone(),
            shape: of.shape.clone(),
            a: of.a.clone(),
            b: of.b.clone(),
            values: self.values,
            different: self.different,
            rounded: self.rounded,
            not_finite: self.not_finite,
            largest: self.largest,
            largest_at: self.largest_at,
            mean: error / n,
            relative,
            sqnr: -20.0 * relative.log10(),
            // Rounding may take equal directions a little above 1.
            cosine: (norms > 0.0).then(|| (product / norms).clamp(-1.0, 1.0)),
            ulps,
        }
    }
}

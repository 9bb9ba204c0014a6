//! Medians, bootstrap intervals and scatter.
//!
//! The unit is the process: rounds within a process are not independent, because loops in the first cache settle on one of several
//! speeds when a process starts. The bootstrap draws processes with replacement, from both sides separately, and takes the percentiles
//! of the ratio of the medians. Its seed is fixed, so the same figures give the same interval.

use crate::measure::median;

/// How many samples a bootstrap draws.
pub const RESAMPLES: usize = 2000;

/// The generator splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..count`: the high half of a product, which is uneven by less than `count / 2^64`.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }
}

/// The quantile of sorted values, linear between neighbours, as NumPy's default method gives it; NaN of nothing.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let low = place as usize;
    let high = (low + 1).min(last);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// The medians of samples that are drawn with replacement.
pub fn resampled_medians(values: &[f64], samples: usize, random: &mut Random) -> Vec<f64> {
    let mut draw = || values[random.below(values.len())];
    (0..samples).map(|_| median((0..values.len()).map(|_| draw()).collect::<Vec<_>>())).collect()
}

/// The seed of all bootstraps.
pub const SEED: u64 = 20_260_101;

/// The median of one sample and its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The median with the bootstrap's percentiles; `None` of nothing.
    pub fn of(values: &[f64], seed: u64) -> Option<Interval> {
        if values.is_empty() {
            return None;
        }
        let mut medians = resampled_medians(values, RESAMPLES, &mut Random::new(seed));
        medians.sort_by(f64::total_cmp);
        let value = median(values.iter().copied());
        Some(Interval { value, low: quantile(&medians, 0.025), high: quantile(&medians, 0.975) })
    }
}

/// A ratio and its interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the medians.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Ratio {
    /// The median of `new` divided by that of `old`, with the bootstrap's percentiles; `None` if a side is empty or a figure is not a
    /// positive number.
    pub fn of(old: &[f64], new: &[f64], seed: u64) -> Option<Ratio> {
        let sound = |values: &[f64]| !values.is_empty() && values.iter().all(|v| v.is_finite() && *v > 0.0);
        if !sound(old) || !sound(new) {
            return None;
        }
        let mut random = Random::new(seed);
        let below = resampled_medians(old, RESAMPLES, &mut random);
        let above = resampled_medians(new, RESAMPLES, &mut random);
        let mut ratios: Vec<f64> = above.iter().zip(&below).map(|(new, old)| new / old).collect();
        ratios.sort_by(f64::total_cmp);
        let value = median(new.iter().copied()) / median(old.iter().copied());
        Some(Ratio { value, low: quantile(&ratios, 0.025), high: quantile(&ratios, 0.975) })
    }

    /// What the ratio of two times says: only an interval without 1 and an effect above the threshold are a verdict.
    pub fn verdict(&self, threshold: f64) -> Verdict {
        if self.low > 1.0 && self.value > 1.0 + threshold {
            Verdict::Slower
        } else if self.high < 1.0 && self.value < 1.0 / (1.0 + threshold) {
            Verdict::Faster
        } else {
            Verdict::Same
        }
    }
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The new one takes longer.
    Slower,
    /// The new one takes less time.
    Faster,
    /// No difference was shown.
    Same,
}

/// An estimate of the standard deviation that a few outliers do not move: the median distance from the median, scaled to that of a
/// normal distribution; NaN of nothing.
pub fn scatter(values: &[f64]) -> f64 {
    let middle = median(values.iter().copied());
    1.4826 * median(values.iter().map(|value| (value - middle).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A normally distributed number, by the sum of twelve even ones.
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.bits() as f64 / 2f64.powi(64)).sum::<f64>() - 6.0
    }

    fn times(count: usize, centre: f64, noise: f64, random: &mut Random) -> Vec<f64> {
        (0..count).map(|_| centre * (1.0 + noise * normal(random))).collect()
    }

    #[test]
    fn splitmix64_gives_its_published_numbers() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let values = [1.0, 2.0, 4.0, 8.0];
        // numpy.quantile([1, 2, 4, 8], [0, 0.025, 0.5, 0.9, 1])
        for (share, want) in [(0.0, 1.0), (0.025, 1.075), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert!((quantile(&values, share) - want).abs() < 1e-12, "{share}");
        }
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn medians_of_three_have_their_exact_distribution() {
        // Of the 27 samples of three values, 7 have the smallest as their median, 13 the middle one, 7 the largest.
        let medians = resampled_medians(&[1.0, 2.0, 3.0], 27_000, &mut Random::new(1));
        for (value, want) in [(1.0, 7.0), (2.0, 13.0), (3.0, 7.0)] {
            let share = medians.iter().filter(|median| **median == value).count() as f64 / 1000.0;
            assert!((share - want).abs() < 0.35, "{value}: {share}");
        }
    }

    #[test]
    fn a_seed_gives_the_same_interval_again() {
        let (old, new) = ([1.0, 1.1, 1.2, 0.9, 1.0], [1.3, 1.1, 1.2, 1.4, 1.25]);
        let ratio = Ratio::of(&old, &new, 7).expect("positive");
        assert_eq!(Some(ratio), Ratio::of(&old, &new, 7));
        assert_eq!(ratio.value, 1.25);
        assert!(ratio.low < ratio.value && ratio.value < ratio.high, "{ratio:?}");
    }

    #[test]
    fn constant_figures_have_no_width() {
        let ratio = Ratio::of(&[2.0; 5], &[3.0; 4], 1).expect("positive");
        assert_eq!(ratio, Ratio { value: 1.5, low: 1.5, high: 1.5 });
        assert_eq!(Ratio::of(&[], &[1.0], 1), None);
        assert_eq!(Ratio::of(&[1.0], &[f64::NAN], 1), None);
        assert_eq!(Ratio::of(&[0.0], &[1.0], 1), None);
    }

    #[test]
    fn intervals_of_one_sample_hold_its_median() {
        let interval = Interval::of(&[3.0, 1.0, 2.0, 2.5, 1.5, 2.25, 1.75], 9).expect("values");
        assert_eq!((interval.value, interval.low, interval.high), (2.0, 1.5, 2.5));
        assert_eq!(Interval::of(&[], 1), None);
        let mut random = Random::new(11);
        let held = (0..400).filter(|&seed| {
            let found = Interval::of(&times(9, 1.0, 0.02, &mut random), seed).expect("values");
            (found.low..=found.high).contains(&1.0)
        });
        let held = held.count();
        assert!((360..=396).contains(&held), "{held} of 400");
    }

    #[test]
    fn a_verdict_needs_the_interval_and_the_effect() {
        let ratio = |value, low, high| Ratio { value, low, high };
        assert_eq!(ratio(1.10, 1.02, 1.2).verdict(0.05), Verdict::Slower);
        assert_eq!(ratio(1.10, 0.99, 1.2).verdict(0.05), Verdict::Same, "the interval has 1");
        assert_eq!(ratio(1.02, 1.01, 1.03).verdict(0.05), Verdict::Same, "the effect is small");
        assert_eq!(ratio(0.90, 0.85, 0.95).verdict(0.05), Verdict::Faster);
        assert_eq!(ratio(0.90, 0.85, 1.01).verdict(0.05), Verdict::Same);
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = Random::new(42);
        let held = (0..400)
            .filter(|&k| {
                let old = times(15, 1.0, 0.02, &mut random);
                let new = times(15, 1.1, 0.02, &mut random);
                let ratio = Ratio::of(&old, &new, k).expect("positive");
                (ratio.low..=ratio.high).contains(&1.1)
            })
            .count();
        assert!((368..=396).contains(&held), "{held} of 400");
    }

    #[test]
    fn a_step_is_found_and_a_flat_series_is_not() {
        let mut random = Random::new(3);
        let mut verdicts = |step: f64| {
            let verdict = |k: u64| {
                let (old, new) = (times(5, 1.0, 0.01, &mut random), times(5, step, 0.01, &mut random));
                Ratio::of(&old, &new, k).expect("positive").verdict(0.03)
            };
            let all: Vec<Verdict> = (0..100).map(verdict).collect();
            all.iter().filter(|verdict| **verdict == Verdict::Slower).count()
        };
        assert!(verdicts(1.05) >= 95);
        assert!(verdicts(1.0) <= 1);
    }

    #[test]
    fn scatter_ignores_outliers() {
        let mut random = Random::new(5);
        let mut values = times(2000, 1.0, 0.03, &mut random);
        values[..50].fill(9.0);
        assert!((scatter(&values) - 0.03).abs() < 0.003, "{}", scatter(&values));
        assert!(scatter(&[]).is_nan());
    }
}

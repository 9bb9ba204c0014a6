//! Representative casts along every dimension that the matrix leaves at its default: options, scales, layouts, short calls, addresses,
//! threads, and casts that detect losses.
//!
//! Each dimension has a module of its own, which can measure far more than is kept. Here, each measures the pairs that users meet most, so
//! that one process takes about a minute and the rows of several processes fit into a file that is checked in. Every row has three
//! figures, taken by turns in one process:
//!
//! * `ns`, the time of an element, or of a call in `calls`;
//! * `ratio`, that time divided by the time of the dimension's baseline;
//! * `fraction`, the time of the pure-traffic loop for the same bytes divided by that time. Calls are too short for whole vectors of
//!   traffic, so theirs is a `memcpy` that reads and writes as many bytes.
//!
//! Each module compares every answer before it takes a time.

use crate::{
    addresses, calls, cells, checked, machine::Machine, measure::Effort, options, scaled, strided, threads,
};
use lanecast::{DType, Encoding, Tier};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration, time::Instant};

/// What is varied.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Profiles and single options, beside default options.
    Options,
    /// Casts with scales, beside plain casts between the same encodings.
    Scaled,
    /// Strided views, beside contiguous elements.
    Views,
    /// Calls of 1 to 255 elements, beside the compiler's loop of `as`.
    Calls,
    /// Buffers that begin behind a cache line, beside buffers that begin at one.
    Addresses,
    /// One and all threads of the pool, beside one thread.
    Threads,
    /// Checked, masked and counting casts, beside plain ones.
    Checked,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Dimension; 7] = [
        Dimension::Options,
        Dimension::Scaled,
        Dimension::Views,
        Dimension::Calls,
        Dimension::Addresses,
        Dimension::Threads,
        Dimension::Checked,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Dimension::Options => "options",
            Dimension::Scaled => "scaled",
            Dimension::Views => "views",
            Dimension::Calls => "calls",
            Dimension::Addresses => "addresses",
            Dimension::Threads => "threads",
            Dimension::Checked => "checked",
        }
    }

    /// What the place of a row says, in this order.
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Dimension::Options => &["pair", "tier", "option"],
            Dimension::Scaled => &["scheme", "tier", "size", "cast"],
            Dimension::Views => &["layout", "tier", "side", "pair"],
            Dimension::Calls => &["pair", "tier", "call", "elements"],
            Dimension::Addresses => &["pair", "tier", "size", "place"],
            Dimension::Threads => &["pair", "threads", "KiB"],
            Dimension::Checked => &["pair", "tier", "size", "way"],
        }
    }

    fn rows(self, amount: &Amount) -> Result<Vec<Row>, String> {
        match self {
            Dimension::Options => options::rows(amount),
            Dimension::Scaled => scaled::rows(amount),
            Dimension::Views => strided::rows(amount),
            Dimension::Calls => calls::rows(amount),
            Dimension::Addresses => addresses::rows(amount),
            Dimension::Threads => threads::rows(amount),
            Dimension::Checked => checked::rows(amount),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A place in a dimension and its figures in one process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A text for each key of the dimension.
    pub at: Vec<String>,
    /// Nanoseconds: of a call in `calls`, otherwise of an element.
    pub ns: f64,
    /// The time divided by that of the baseline; none for the baseline itself.
    pub ratio: Option<f64>,
    /// The time of pure traffic divided by that of the cast.
    pub fraction: f64,
}

/// The rows of a dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Which dimension.
    pub dimension: Dimension,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// What one process measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// On what.
    pub machine: Machine,
    /// Whether it is the short form, whose times mean nothing.
    pub short: bool,
    /// The dimensions.
    pub dimensions: Vec<Measured>,
}

/// How much is measured: all that is kept, or in the short form a little of everything.
#[derive(Clone, Debug)]
pub struct Amount {
    /// The tiers, the strongest last.
    pub tiers: Vec<Tier>,
    /// Whether it is the short form.
    pub short: bool,
}

impl Amount {
    /// On all tiers with vectors that can run here, or in the short form on the strongest.
    pub fn new(short: bool) -> Amount {
        let vectors = |tier: &Tier| *tier != Tier::Scalar && tier.is_available();
        let mut tiers: Vec<Tier> = Tier::ALL.iter().copied().filter(vectors).collect();
        if short {
            tiers.drain(..tiers.len().saturating_sub(1));
        }
        if tiers.is_empty() {
            tiers.push(Tier::Scalar);
        }
        Amount { tiers, short }
    }

    /// The strongest tier.
    pub fn strongest(&self) -> Tier {
        self.tiers.last().copied().unwrap_or(Tier::Scalar)
    }

    /// All of a list, or in the short form its beginning.
    pub fn of<'a, T>(&self, all: &'a [T], few: usize) -> &'a [T] {
        if self.short { &all[..few.min(all.len())] } else { all }
    }

    /// Rounds for as long as a budget in milliseconds lasts, each turn of so many microseconds; one round in the short form.
    pub fn effort(&self, budget: u64, turn: u64) -> Effort {
        if self.short {
            return Effort { budget: Duration::ZERO, min_rounds: 1, max_rounds: 1, turn: Duration::ZERO };
        }
        let (budget, turn) = (Duration::from_millis(budget), Duration::from_micros(turn));
        Effort { budget, min_rounds: 5, max_rounds: 400, turn }
    }
}

/// The pairs of `options`, `addresses` and `checked`, those of the short form first.
pub(crate) fn pairs() -> Vec<(Encoding, Encoding)> {
    use DType::*;
    let byte = [
        (Float32, Float8E4M3FN),
        (Float32, Int8),
        (Float32, Float16),
        (Float32, BFloat16),
        (Float32, Float8E5M2),
        (Float32, Float8E4M3FNUZ),
        (Float32, Float8E8M0FNU),
        (Float32, UInt8),
        (Float32, Int32),
        (Float64, Float32),
        (Float64, Float16),
        (Float16, Float8E4M3FN),
        (BFloat16, Float8E4M3FN),
        (BFloat16, Int8),
        (Float16, BFloat16),
        (Int64, Int32),
        (Int32, Int8),
        (Int16, UInt8),
        (Int64, Float32),
        (Int32, Float16),
    ];
    let packed = [(Float32, Float4E2M1FN), (BFloat16, Int4), (Float32, Float6E2M3FN)];
    let byte = byte.map(|(from, to)| (Encoding::new(from), Encoding::new(to)));
    let packed = packed.map(|(from, to)| (Encoding::new(from), Encoding::packed(to)));
    byte.into_iter().chain(packed).collect()
}

/// The name of a pair in the rows: `float32:int4/packed`.
pub(crate) fn pair(from: Encoding, to: Encoding) -> String {
    format!("{}:{}", cells::label(from), cells::label(to))
}

/// Pairs without a choice of options, which `addresses` and `checked` measure as well.
pub(crate) fn widening() -> Vec<(Encoding, Encoding)> {
    use DType::*;
    let pairs = [
        (Float16, Float32),
        (BFloat16, Float32),
        (Float8E4M3FN, Float32),
        (Float8E4M3FN, BFloat16),
        (Int8, Float32),
        (UInt8, Float32),
        (Float32, Float64),
    ];
    pairs.map(|(from, to)| (Encoding::new(from), Encoding::new(to))).into()
}

/// Measures dimensions in this process and says on standard error how far it is.
///
/// # Errors
///
/// If an answer is wrong or a plan is refused; with the dimension.
pub fn run(dimensions: &[Dimension], short: bool) -> Result<Results, String> {
    let amount = Amount::new(short);
    let machine = Machine::detect();
    let mut measured = Vec::new();
    for &dimension in dimensions {
        let started = Instant::now();
        let rows = dimension.rows(&amount).map_err(|error| format!("{dimension}: {error}"))?;
        eprintln!("{dimension:>10}: {:4} rows in {:.1} s", rows.len(), started.elapsed().as_secs_f64());
        measured.push(Measured { dimension, rows });
    }
    Ok(Results { machine, short, dimensions: measured })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The short form of every dimension: answers are right, every row has its keys, and no place is there twice.
    #[test]
    fn every_dimension_has_rows_with_all_keys() {
        let results = run(&Dimension::ALL, true).expect("every answer is right");
        for Measured { dimension, rows } in &results.dimensions {
            assert!(rows.len() > 3, "{dimension} has {} rows", rows.len());
            let mut seen = HashSet::new();
            for row in rows {
                assert_eq!(row.at.len(), dimension.keys().len(), "{dimension}: {:?}", row.at);
                assert!(seen.insert(&row.at), "{dimension}: {:?} is there twice", row.at);
                let figures = [Some(row.ns), row.ratio, Some(row.fraction)];
                assert!(figures.into_iter().flatten().all(|figure| figure > 0.0), "{dimension}: {row:?}");
            }
            // A baseline has no ratio, and neither has one thread.
            let alone = *dimension == Dimension::Threads && rayon::current_num_threads() == 1;
            assert!(alone || rows.iter().any(|row| row.ratio.is_some()), "{dimension}");
        }
    }

    #[test]
    fn the_short_form_is_part_of_the_whole() {
        let amount = |short| Amount::new(short);
        assert_eq!(amount(true).tiers, [amount(false).strongest()]);
        assert_eq!(
            (amount(true).of(&[1, 2, 3], 2), amount(false).of(&[1, 2, 3], 2)),
            (&[1, 2][..], &[1, 2, 3][..])
        );
    }
}

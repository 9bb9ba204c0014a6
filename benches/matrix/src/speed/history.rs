//! The stored records of one machine over commits: did the newest one become slower?
//!
//! A series has one compiler and one kind of inputs; a new compiler begins a new one. Each cell of the newest record is compared with its
//! median over the three records before it. The figure is the time of the cast divided by the time of the pure-traffic loop, or the time
//! itself for small calls. Noise is estimated from the records: it is the scatter of the logarithms of the ratios over all casts of a tier
//! and size, or what the processes of a record differ by, whichever is greater. A cell counts as slower if its ratio is above the margin
//! and above four times the noise.

use super::{
    record::{Block, Record, Stored},
    stats::scatter,
};
use crate::{measure::median, report::geometric_mean};
use std::{collections::HashMap, fmt::Write as _};

/// How many earlier records a figure is compared with.
const BEFORE: usize = 3;
/// How many times the noise a change has to be.
const TIMES: f64 = 4.0;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The records and blocks as text.
    pub text: String,
    /// Cells that are slower: the machine, the cell, and the ratio of its time to that before.
    pub slower: Vec<(String, String, f64)>,
    /// How many machines have two records of a series.
    pub compared: usize,
}

/// The figures of a block by the name of the cast.
fn figures(record: &Record, block: &Block) -> HashMap<String, f64> {
    let figure = |k: usize| match block.fraction.get(k).copied().flatten() {
        Some(fraction) => Some(1.0 / fraction),
        None => block.ns[k],
    };
    record.casts.iter().enumerate().filter_map(|(k, cast)| Some((record.label(*cast), figure(k)?))).collect()
}

/// Looks at the series of each machine. `margin` is a share: 0.1 lets a cast become slower by a tenth.
pub fn check(records: &[Stored], margin: f64) -> Found {
    let mut found = Found::default();
    let records: Vec<&Stored> = records.iter().filter(|stored| !stored.record.blocks.is_empty()).collect();
    for series in records.chunk_by(|a, b| a.machine() == b.machine()) {
        machine(series, margin, &mut found);
    }
    found
}

fn machine(series: &[&Stored], margin: f64, found: &mut Found) {
    let Some((newest, earlier)) = series.split_last() else { return };
    let (record, name) = (&newest.record, newest.machine());
    let _ = writeln!(found.text, "{name}: {} records", series.len());
    for Stored { record, .. } in series {
        let means: Vec<String> = record.blocks.iter().filter_map(mean).collect();
        let machine = &record.machine;
        let _ = writeln!(found.text, "  {} {}: {}", machine.date, machine.commit, means.join(", "));
    }
    let same = |other: &&&Stored| {
        let key = |record: &Record| (record.machine.rustc.clone(), record.inputs, record.unaligned);
        key(&other.record) == key(record)
    };
    let before: Vec<&Record> =
        earlier.iter().rev().filter(same).take(BEFORE).map(|stored| &stored.record).collect();
    if before.is_empty() {
        let _ = writeln!(found.text, "  no earlier record has the compiler {}", record.machine.rustc);
        return;
    }
    found.compared += 1;
    for block in &record.blocks {
        compare(record, block, &before, margin, name, found);
    }
}

/// The geometric mean of the fractions of a block, as text.
fn mean(block: &Block) -> Option<String> {
    let fractions: Vec<f64> = block.fraction.iter().flatten().copied().collect();
    (!fractions.is_empty())
        .then(|| format!("{} {} {:.3}", block.tier, block.size, geometric_mean(&fractions)))
}

fn compare(record: &Record, block: &Block, before: &[&Record], margin: f64, name: &str, found: &mut Found) {
    let earlier: Vec<(&Block, HashMap<String, f64>)> = before
        .iter()
        .filter_map(|old| {
            let other = old.block(&block.tier, block.size)?;
            Some((other, figures(old, other)))
        })
        .collect();
    let mut ratios: Vec<(String, f64)> = figures(record, block)
        .into_iter()
        .filter_map(|(cast, now)| {
            let old: Vec<f64> =
                earlier.iter().filter_map(|(_, figures)| figures.get(&cast).copied()).collect();
            (!old.is_empty()).then(|| (cast, now / median(old)))
        })
        .collect();
    if ratios.is_empty() {
        return;
    }
    let logs: Vec<f64> = ratios.iter().map(|(_, ratio)| ratio.ln()).collect();
    let noise = earlier
        .iter()
        .map(|(block, _)| *block)
        .chain([block])
        .filter_map(|block| block.noise)
        .fold(scatter(&logs), f64::max);
    let limit = (1.0 + margin).ln().max(TIMES * noise).exp();
    let all: Vec<f64> = ratios.iter().map(|(_, ratio)| *ratio).collect();
    ratios.retain(|(_, ratio)| *ratio > limit);
    ratios.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let _ = writeln!(
        found.text,
        "  {} {}: {} casts, time {:.3} of that before, noise {:.1} %, limit {:.3}, {} slower",
        block.tier,
        block.size,
        all.len(),
        geometric_mean(&all),
        100.0 * noise,
        limit,
        ratios.len()
    );
    for (cast, ratio) in ratios {
        let _ = writeln!(found.text, "    {ratio:.3}  {cast}");
        found.slower.push((name.to_owned(), format!("{cast}, {}, {}", block.tier, block.size), ratio));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cells::Mode,
        results::Store,
        speed::{
            record::{Cast, Type, tests::record},
            stats::Random,
        },
    };

    /// A record of 30 by 30 casts whose figures scatter by about a percent; `factor` is that of the first cast's time.
    fn many(date: &str, seed: u64, factor: f64) -> Stored {
        let mut record = record(date, 1.0);
        let types = lanecast::DType::ALL.iter().map(|dtype| Type::new(dtype.name(), Store::Byte));
        record.types = types.collect::<Result<_, _>>().expect("dtypes");
        let count = record.types.len();
        record.casts = (0..count * count).map(|k| Cast(k / count, k % count, Mode::Only, 0, 1)).collect();
        let mut random = Random::new(seed);
        let block = &mut record.blocks[0];
        let noisy = |k: usize| {
            let noise = 1.0 + 0.01 * (random.bits() as f64 / 2f64.powi(63) - 1.0);
            Some(0.8 * noise / if k == 0 { factor } else { 1.0 })
        };
        block.fraction = (0..count * count).map(noisy).collect();
        block.ns = vec![Some(1.0); count * count];
        Stored { name: format!("machine/{date}"), record }
    }

    #[test]
    fn a_planted_regression_is_found_and_noise_is_not() {
        let before = [many("2026-11-01", 1, 1.0), many("2026-11-02", 2, 1.0)];
        let flat = check(&[before[0].clone(), before[1].clone(), many("2026-11-03", 3, 1.0)], 0.05);
        assert_eq!((flat.compared, flat.slower.len()), (1, 0), "{}", flat.text);
        let slow = check(&[before[0].clone(), before[1].clone(), many("2026-11-03", 3, 1.2)], 0.05);
        let names: Vec<&str> = slow.slower.iter().map(|(_, cell, _)| &**cell).collect();
        assert_eq!(names, ["bool -> bool, avx2, l2"], "{}", slow.text);
        assert!((slow.slower[0].2 - 1.2).abs() < 0.03, "{:?}", slow.slower);
    }

    #[test]
    fn noise_of_the_machine_raises_the_limit() {
        let mut now = many("2026-11-03", 3, 1.2);
        now.record.blocks[0].noise = Some(0.1);
        let found = check(&[many("2026-11-01", 1, 1.0), now], 0.05);
        assert_eq!(found.slower, [], "{}", found.text);
    }

    #[test]
    fn a_new_compiler_begins_a_new_series() {
        let mut now = many("2026-11-03", 3, 2.0);
        now.record.machine.rustc = "rustc 1.96.0".into();
        let found = check(&[many("2026-11-01", 1, 1.0), now], 0.05);
        assert_eq!((found.compared, found.slower.len()), (0, 0));
        assert!(found.text.contains("no earlier record"), "{}", found.text);
    }

    #[test]
    fn machines_are_not_compared_with_each_other() {
        let mut other = many("2026-11-03", 3, 2.0);
        other.name = "other/2026-11-03".into();
        assert_eq!(check(&[many("2026-11-01", 1, 1.0), other], 0.05).compared, 0);
    }
}

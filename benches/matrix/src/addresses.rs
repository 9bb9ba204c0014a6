//! What addresses cost: the cast of a pair between buffers that begin 0, 16, 32 or 48 bytes behind a cache line, beside the same cast
//! between buffers that begin at one.
//!
//! Large arrays of NumPy and of most allocators begin 16 bytes behind a line. All addresses of a pair take turns in one process; the figure
//! is the time of each divided by that of the aligned buffers. Every answer is compared with that of the scalar tier.

use crate::{
    cells::{self, Cast},
    dimensions::{self, Amount},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure},
    pool::{PAGE, Pool},
    report::geometric_mean,
    results::Size,
    run::{Selection, answer_is, expected},
    traffic::Traffic,
};
use lanecast::{Bytes, BytesMut, CastPlan, Storage, Tier};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, fmt::Write as _, hint::black_box, time::Duration};

/// How much longer than between aligned buffers a cast within the second cache may take.
pub const LIMIT: f64 = 1.03;

/// Bytes behind a cache line.
const OFFSETS: [usize; 4] = [0, 16, 32, 48];

/// The addresses of source and destination, the aligned ones first.
fn places() -> impl Iterator<Item = (usize, usize)> {
    OFFSETS.iter().flat_map(|&src| OFFSETS.iter().map(move |&dst| (src, dst)))
}

/// A pair between buffers of two addresses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `float32 -> int16 wrap`
    pub pair: String,
    /// The tier.
    pub tier: String,
    /// The size.
    pub size: Size,
    /// Bytes of the source behind a cache line.
    pub src: usize,
    /// Bytes of the destination behind a cache line.
    pub dst: usize,
    /// Nanoseconds between aligned buffers.
    pub aligned_ns: f64,
    /// The time divided by that.
    pub ratio: f64,
}

/// All rows of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// Where it ran.
    pub machine: Machine,
    /// One of each pair, tier, size and place but the aligned one.
    pub rows: Vec<Row>,
}

/// Measures the pairs in byte storage that are selected, in their default modes.
///
/// # Errors
///
/// If a cast is refused or gives another answer than the scalar tier.
pub fn run(selection: &Selection) -> Result<Rows, String> {
    let effort = Effort {
        budget: Duration::from_millis(selection.budget.unwrap_or(60)),
        min_rounds: 7,
        max_rounds: 60,
        turn: Duration::from_micros(50),
    };
    let mut rows = Rows { machine: Machine::detect(), rows: Vec::new() };
    let mut pool = Pool::new(1);
    for cast in cells::all().iter().filter(|cast| is_default(cast) && selection.has(cast)) {
        let period =
            inputs::period(cast.from, Range::new(cast.from.dtype(), cast.to.dtype(), selection.inputs));
        let expected = expected(cast, &period, PERIOD)?;
        for &tier in &selection.tiers {
            for &size in &selection.sizes {
                let (_, rounds) = one(cast, tier, size, &mut pool, (&period, &expected), &effort)
                    .map_err(|error| format!("{cast} on {tier}: {error}"))?;
                rows.rows.extend(places().enumerate().skip(1).map(|(k, (src, dst))| Row {
                    pair: cells::pair_label(&cells::label(cast.from), &cells::label(cast.to), cast.mode),
                    tier: tier.name().into(),
                    size,
                    src,
                    dst,
                    aligned_ns: rounds.time(0),
                    ratio: rounds.ratio(k, 0),
                }));
            }
        }
    }
    Ok(rows)
}

/// The rows of the dimension: every place of source and destination.
///
/// # Errors
///
/// If a cast is refused or gives another answer than the scalar tier.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut pool = Pool::new(1);
    let mut rows = Vec::new();
    let pairs = [dimensions::pairs(), dimensions::widening()].concat();
    let all = cells::all();
    let casts = pairs
        .iter()
        .filter_map(|pair| all.iter().find(|cast| is_default(cast) && (cast.from, cast.to) == *pair));
    for cast in amount.of(&casts.collect::<Vec<_>>(), 2) {
        let period =
            inputs::period(cast.from, Range::new(cast.from.dtype(), cast.to.dtype(), Inputs::Normal));
        let expected = expected(cast, &period, PERIOD)?;
        for &tier in &amount.tiers {
            for &size in amount.of(&[Size::L1, Size::L2], 1) {
                let effort = amount.effort(25, 20);
                let (n, rounds) = one(cast, tier, size, &mut pool, (&period, &expected), &effort)
                    .map_err(|error| format!("{cast} on {tier}: {error}"))?;
                let pair = dimensions::pair(cast.from, cast.to);
                rows.extend(places().enumerate().map(|(k, (src, dst))| dimensions::Row {
                    at: vec![pair.clone(), tier.name().into(), size.name().into(), format!("{src}/{dst}")],
                    ns: rounds.time(k) / n as f64,
                    ratio: (k > 0).then(|| rounds.ratio(k, 0)),
                    fraction: rounds.ratio(TRAFFIC, k),
                }));
            }
        }
    }
    Ok(rows)
}

/// Whether a cast is in byte storage and in the default mode of its pair.
fn is_default(cast: &Cast) -> bool {
    cast.from.storage() == Storage::Byte
        && cast.to.storage() == Storage::Byte
        && cells::Mode::of(cast.from.dtype(), cast.to.dtype())[0] == cast.mode
}

/// The place of the pure-traffic loop between aligned buffers among the contenders: behind all places.
const TRAFFIC: usize = OFFSETS.len() * OFFSETS.len();

/// The elements of a call, and the rounds of all places and of pure traffic.
fn one(
    cast: &Cast,
    tier: Tier,
    size: Size,
    pool: &mut Pool,
    (period, expected): (&[u8], &[u8]),
    effort: &Effort,
) -> Result<(usize, Rounds), String> {
    let footprint = match size {
        Size::L1 => 24 << 10,
        Size::L2 => 512 << 10,
        _ => 64 << 20,
    };
    let widths = [cast.from, cast.to].map(|of| of.bits_per_element() as usize / 8);
    let step = cells::step(cast.from, cast.to);
    let n = footprint / (widths[0] + widths[1]) / step * step;
    let [read, written] = widths.map(|width| width * n);
    let room = (read + PAGE).next_multiple_of(PAGE);
    if pool.bytes().len() < room + written + PAGE {
        *pool = Pool::new(room + written + PAGE);
    }
    let plan = CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), tier)
        .map_err(|error| error.to_string())?;
    let (src, dst) = pool.bytes().split_at_mut(room);
    let dst = RefCell::new(&mut dst[..written + PAGE]);
    for &source in &OFFSETS {
        inputs::repeat(period, &mut src[source..source + read]);
        for &place in &OFFSETS {
            let mut dst = dst.borrow_mut();
            dst.fill(0xEE);
            plan.run(Bytes::new(&src[source..][..read], n), BytesMut::new(&mut dst[place..][..written], n))
                .map_err(|error| error.to_string())?;
            if !answer_is(expected, &dst[place..][..written], cast.to, n) {
                return Err(format!("differs from the scalar tier at {source} and {place}"));
            }
        }
    }
    // Every element divides 16 bytes, so each place finds whole elements.
    inputs::repeat(period, &mut src[..read + OFFSETS[3]]);
    let src = &*src;
    let contender = |(source, place): (usize, usize)| -> Contender<'_> {
        let (plan, dst) = (&plan, &dst);
        Box::new(move |calls| {
            let mut dst = dst.borrow_mut();
            for _ in 0..calls {
                let (from, to) = (black_box(&src[source..][..read]), black_box(&mut dst[place..][..written]));
                black_box(plan.run(Bytes::new(from, n), BytesMut::new(to, n)).is_ok());
            }
        })
    };
    let traffic = Traffic::new(tier, cast.from, cast.to);
    let mut contenders: Vec<Contender<'_>> = places().map(contender).collect();
    contenders.push(Box::new(|calls| {
        let dst = &mut dst.borrow_mut()[..written];
        (0..calls).for_each(|_| traffic.run(black_box(&src[..read]), black_box(&mut *dst)));
    }));
    Ok((n, measure(&mut contenders, effort)))
}

impl Rows {
    /// For each tier and size the geometric mean of each place, the share of pairs above the limit in any of them, and the worst.
    pub fn table(&self, worst: usize) -> String {
        let heads: String = places().skip(1).map(|(src, dst)| format!(" {src}/{dst} |")).collect();
        let mut text = format!(
            "| tier | size |{heads} above {LIMIT} | worst |\n|---|---|{}---|---|\n",
            "---|".repeat(15)
        );
        for &tier in Tier::ALL {
            for size in [Size::L1, Size::L2, Size::Dram] {
                let mut rows: Vec<&Row> =
                    self.rows.iter().filter(|row| row.tier == tier.name() && row.size == size).collect();
                if rows.is_empty() {
                    continue;
                }
                let means: String = places()
                    .skip(1)
                    .map(|place| {
                        let here = rows.iter().filter(|row| (row.src, row.dst) == place);
                        format!(" {:.3} |", geometric_mean(&here.map(|row| row.ratio).collect::<Vec<_>>()))
                    })
                    .collect();
                let above = rows.iter().filter(|row| row.ratio > LIMIT).count();
                rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
                let list: Vec<String> = rows
                    .iter()
                    .take(worst)
                    .map(|row| format!("{} at {}/{}: {:.2}", row.pair, row.src, row.dst, row.ratio))
                    .collect();
                let _ = writeln!(
                    text,
                    "| {tier} | {size} |{means} {above} of {} | {} |",
                    rows.len(),
                    list.join("; ")
                );
            }
        }
        text
    }
}

/// The section of the report.
pub fn section(runs: &[Rows]) -> String {
    let mut text = String::new();
    for run in runs {
        if text.is_empty() {
            text += "\n## Addresses\n\nThe time of a cast between buffers that begin so many bytes behind a cache line (source/destination), \
                     divided by that between buffers that begin at one: geometric means over all pairs in byte storage. How to repeat it: \
                     `lanecast-bench addresses -o addresses.json`.\n";
        }
        let _ = write!(text, "\n{}:\n\n{}", run.machine.cpu, run.table(3));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_every_place() {
        let row = |(src, dst): (usize, usize)| Row {
            pair: "float32 -> int16".into(),
            tier: "avx2".into(),
            size: Size::L2,
            src,
            dst,
            aligned_ns: 1.0,
            ratio: if (src, dst) == (16, 16) { 1.5 } else { 1.0 },
        };
        let rows = Rows { rows: places().skip(1).map(row).collect(), ..Rows::default() };
        let table = rows.table(1);
        assert!(table.contains("| 1 of 15 | float32 -> int16 at 16/16: 1.50 |"), "{table}");
        assert!(section(&[rows]).contains("## Addresses"));
        assert_eq!(section(&[]), "");
    }
}

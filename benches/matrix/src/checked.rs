//! What it costs to ask a cast what it loses: checked and counting casts beside the plain one.
//!
//! The sources hold nothing that is rejected at either level (values are cast to the target and back before), so a checked cast
//! goes through; with values out of range, every second one is, and they are masked and counted. All contenders of a cell
//! take turns, and the figure is the time of each divided by that of the plain cast.

use crate::{
    cells::{self, Cast, Mode},
    dimensions::{self, Amount},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure, median},
    pool::{PAGE, Pool},
    results::Size,
    run::Selection,
    traffic::Traffic,
};
use lanecast::{
    Bytes, BytesMut, CastError, CastOptions, CastPlan, CastReport, DType, Encoding, Level, Storage, Tier,
};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, fmt::Write as _, hint::black_box};

/// What is timed beside the plain cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// `checked(Level::Range)`
    CheckedRange,
    /// `checked(Level::Exact)`
    CheckedExact,
    /// `run_counted` at `Level::Range`
    CountedRange,
    /// `run_counted` at `Level::Exact`
    CountedExact,
    /// `checked(Level::Range)` with a validity bitmap
    MaskedRange,
}

impl Way {
    /// The ways that mean something for sources of a kind.
    const fn of(inputs: Inputs) -> &'static [Way] {
        match inputs {
            Inputs::Saturating | Inputs::Nan => &[Way::MaskedRange, Way::CountedRange],
            _ => &[Way::CheckedRange, Way::CheckedExact, Way::CountedRange, Way::CountedExact],
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Way::CheckedRange => "checked, range",
            Way::CheckedExact => "checked, exact",
            Way::CountedRange => "counted, range",
            Way::CountedExact => "counted, exact",
            Way::MaskedRange => "masked, range",
        }
    }
}

/// A measured cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `float32 -> uint8 saturate`
    pub pair: String,
    /// The tier.
    pub tier: String,
    /// The size.
    pub size: Size,
    /// What was timed.
    pub way: Way,
    /// Whether the pair can lose anything that is asked for.
    pub idle: bool,
    /// Nanoseconds of the plain cast.
    pub plain_ns: f64,
    /// Its time divided by that of the plain cast.
    pub ratio: f64,
}

/// All that was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// On what it ran.
    pub machine: Machine,
    /// What the sources hold.
    pub inputs: Inputs,
    /// The cells.
    pub rows: Vec<Row>,
}

/// Measures the selected casts in the mode that is the library's default (integers to integers also as they saturate).
///
/// # Errors
///
/// If a plan cannot be made or a clean source is rejected.
pub fn run(selection: &Selection) -> Result<Rows, String> {
    let casts: Vec<Cast> = cells::all().into_iter().filter(|cast| selection.has(cast)).collect();
    let machine = Machine::detect();
    let dram = (4 * machine.last_cache()).clamp(128 << 20, 384 << 20);
    let largest = if selection.sizes.contains(&Size::Dram) { dram } else { 512 << 10 };
    let (mut small, mut large) = (Pool::new(1 << 20), Pool::new(2 * largest));
    let mut rows = Vec::new();
    for (k, cast) in casts.iter().enumerate() {
        if k == 0 || cast.from != casts[k - 1].from {
            eprintln!("{k:5} of {} casts: from {}", casts.len(), cells::label(cast.from));
        }
        let failed = |error: CastError| format!("{cast}: {error}");
        let period = source(cast, selection.inputs).map_err(failed)?;
        let plan = |tier| CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), tier).map_err(failed);
        let scalar = plan(Tier::Scalar)?;
        for &size in &selection.sizes {
            let n = elements(cast, size, dram);
            let pool = if size == Size::Dram { &mut large } else { &mut small };
            for &tier in &selection.tiers {
                let plan = plan(tier)?;
                let ways = Way::of(selection.inputs);
                let effort = selection.effort(size);
                let cell = cell([&plan, &scalar], ways, &effort, pool.bytes(), &period, n);
                let (idle, rounds) = cell.map_err(|error| format!("{cast}, {tier}: {error}"))?;
                rows.extend(ways.iter().zip(idle).enumerate().map(|(k, (&way, idle))| Row {
                    pair: cells::pair_label(&cells::label(cast.from), &cells::label(cast.to), cast.mode),
                    tier: tier.name().into(),
                    size,
                    way,
                    idle,
                    plain_ns: rounds.time(0),
                    ratio: rounds.ratio(k + 1, 0),
                }));
            }
        }
    }
    Ok(Rows { machine, inputs: selection.inputs, rows })
}

/// Elements of a cast at a size.
fn elements(cast: &Cast, size: Size, dram: usize) -> usize {
    let footprint = match size {
        Size::L1 => 24 << 10,
        Size::L2 => 512 << 10,
        _ => dram,
    };
    let bits = (cast.from.bits_per_element() + cast.to.bits_per_element()) as usize;
    let step = cells::step(cast.from, cast.to);
    size.elements().unwrap_or(footprint * 8 / bits / step * step)
}

/// The rows of the dimension: every way on a source that loses nothing, and the ways that do not stop at a loss on a source where every
/// second value is out of range.
///
/// # Errors
///
/// If a plan cannot be made, a clean source is rejected, or an answer differs from the scalar tier's.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let mut pool = Pool::new(1 << 20);
    let mut rows = Vec::new();
    let sources = [(Inputs::Normal, ""), (Inputs::Saturating, ", half out of range")];
    for &(from, to) in amount.of(&dimensions::pairs(), 2) {
        let mode =
            if Mode::of(from.dtype(), to.dtype()) == [Mode::Only] { Mode::Only } else { Mode::Saturate };
        let cast = Cast { from, to, mode };
        let name = format!("{} -> {}", cells::label(from), cells::label(to));
        for (values, suffix) in sources {
            if !inputs::apply(values, from.dtype(), to.dtype()) {
                continue;
            }
            let failed = |error: CastError| format!("{name}{suffix}: {error}");
            let period = source(&cast, values).map_err(failed)?;
            let scalar = CastPlan::with_tier(from, to, &mode.options(), Tier::Scalar).map_err(failed)?;
            for &tier in &amount.tiers {
                let plan = CastPlan::with_tier(from, to, &mode.options(), tier).map_err(failed)?;
                for &size in amount.of(&[Size::L1, Size::L2], 1) {
                    let n = elements(&cast, size, 0);
                    let ways = Way::of(values);
                    let effort = amount.effort(25, 30);
                    let (_, rounds) = cell([&plan, &scalar], ways, &effort, pool.bytes(), &period, n)
                        .map_err(|error| format!("{name}{suffix}, {tier}: {error}"))?;
                    let names = ["plain"].into_iter().chain(ways.iter().map(|way| way.name()));
                    rows.extend(names.enumerate().map(|(k, way)| dimensions::Row {
                        at: vec![
                            dimensions::pair(from, to),
                            tier.name().into(),
                            size.name().into(),
                            format!("{way}{suffix}"),
                        ],
                        ns: rounds.time(k) / n as f64,
                        ratio: (k > 0).then(|| rounds.ratio(k, 0)),
                        fraction: rounds.ratio(ways.len() + 1, k),
                    }));
                }
            }
        }
    }
    Ok(rows)
}

/// One period of the source of a pair in its default mode, as [`run`] has them.
///
/// # Errors
///
/// If a plan cannot be made.
pub fn source_of(from: DType, to: DType, inputs: Inputs) -> Result<Vec<u8>, CastError> {
    source(&Cast { from: from.into(), to: to.into(), mode: Mode::Saturate }, inputs)
}

/// One period of a source: clean, unless values out of range or NaNs are asked for.
fn source(cast: &Cast, inputs: Inputs) -> Result<Vec<u8>, CastError> {
    let (from, to) = (cast.from.dtype(), cast.to.dtype());
    let options = cast.mode.options();
    let plan = |from: Encoding, to: Encoding, options: &CastOptions| {
        CastPlan::with_tier(from, to, options, Tier::Scalar)
    };
    let mut codes = inputs::period(Encoding::new(from), Range::new(from, to, inputs));
    if matches!(inputs, Inputs::Normal | Inputs::Subnormal) {
        let (mut there, mut validity) = (vec![0; PERIOD * to.size()], vec![0; PERIOD / 8]);
        let cast = plan(from.into(), to.into(), &options)?;
        cast.run(Bytes::new(&codes, PERIOD), BytesMut::new(&mut there, PERIOD))?;
        if to != DType::Bool {
            let back = plan(to.into(), from.into(), &options)?;
            back.run(Bytes::new(&there, PERIOD), BytesMut::new(&mut codes, PERIOD))?;
        }
        // What has no code at all becomes 1.
        let mut one = [0; 16];
        plan(DType::UInt8.into(), from.into(), &options)?.run(&[1_u8], BytesMut::new(&mut one, 1))?;
        let (src, dst) = (Bytes::new(&codes, PERIOD), BytesMut::new(&mut there, PERIOD));
        cast.checked(Level::Exact).run_masked(src, dst, &mut validity)?;
        for (i, code) in codes.chunks_exact_mut(from.size()).enumerate() {
            if validity[i / 8] >> (i % 8) & 1 == 0 {
                code.copy_from_slice(&one[..from.size()]);
            }
        }
    }
    if cast.from.storage() == Storage::Packed {
        let mut packed = vec![0; cast.from.byte_len(PERIOD).unwrap_or_default()];
        let pack = plan(from.into(), cast.from, &options)?;
        pack.run(Bytes::new(&codes, PERIOD), BytesMut::new(&mut packed, PERIOD))?;
        return Ok(packed);
    }
    Ok(codes)
}

/// The plans of both levels.
struct Levels {
    range: CastPlan,
    exact: CastPlan,
}

impl Levels {
    fn of(plan: &CastPlan) -> Levels {
        Levels { range: plan.checked(Level::Range), exact: plan.checked(Level::Exact) }
    }

    /// The plan of a way.
    const fn plan(&self, way: Way) -> &CastPlan {
        match way {
            Way::CheckedRange | Way::MaskedRange | Way::CountedRange => &self.range,
            Way::CheckedExact | Way::CountedExact => &self.exact,
        }
    }

    /// Runs a way once, and returns its counts.
    fn run(
        &self,
        way: Way,
        src: Bytes<'_>,
        dst: BytesMut<'_>,
        validity: &mut [u8],
    ) -> Result<Counts, CastError> {
        let plan = self.plan(way);
        match way {
            Way::CheckedRange | Way::CheckedExact => plan.run(src, dst).map(|_| (None, 0)),
            Way::CountedRange | Way::CountedExact => {
                plan.run_counted(src, dst).map(|report| (Some(report), 0))
            }
            Way::MaskedRange => plan.run_masked(src, dst, validity).map(|rejected| (None, rejected)),
        }
    }
}

/// The report of a counting cast, and the elements that a masked one rejects.
type Counts = (Option<CastReport>, usize);

/// Whether each way has nothing to look for, and the rounds of the plain cast, of the ways and, where buffers are whole vectors, of pure
/// traffic.
fn cell(
    [plan, scalar]: [&CastPlan; 2],
    ways: &[Way],
    effort: &Effort,
    memory: &mut [u8],
    period: &[u8],
    n: usize,
) -> Result<(Vec<bool>, Rounds), String> {
    let failed = |error: CastError| error.to_string();
    let (from, to) = (plan.source(), plan.target());
    let [read, written] = [from, to].map(|buffer| buffer.byte_len(n).unwrap_or_default());
    let (src, dst) = memory.split_at_mut(read.next_multiple_of(PAGE));
    let src = &mut src[..read];
    inputs::repeat(period, src);
    let (src, dst) = (&*src, &mut dst[..written]);
    let levels = Levels::of(plan);
    let validity = RefCell::new(vec![0; n.div_ceil(8)]);

    // Every way has to go through once, with the results, the mask and the counts of the scalar tier.
    let scalar = Levels::of(scalar);
    let (mut want, mut mask) = (vec![0; written], vec![0; n.div_ceil(8)]);
    for way in ways {
        let counts =
            scalar.run(*way, Bytes::new(src, n), BytesMut::new(&mut want, n), &mut mask).map_err(failed)?;
        dst.fill(0xEE);
        let found = levels
            .run(*way, Bytes::new(src, n), BytesMut::new(dst, n), &mut validity.borrow_mut())
            .map_err(failed)?;
        if found != counts || *dst != *want || *validity.borrow() != mask {
            return Err(format!("{}: another answer than the scalar tier's", way.name()));
        }
    }
    let dst = RefCell::new(dst);
    let mut contenders: Vec<Contender<'_>> = vec![Box::new(|calls| {
        for _ in 0..calls {
            let n = black_box(n);
            let mut dst = dst.borrow_mut();
            let done = plan.run(Bytes::new(black_box(src), n), BytesMut::new(black_box(&mut dst), n));
            debug_assert!(done.is_ok(), "it ran before");
        }
    })];
    for way in ways {
        let (levels, validity, dst) = (&levels, &validity, &dst);
        contenders.push(Box::new(move |calls| {
            for _ in 0..calls {
                let (n, mut dst, mut validity) = (black_box(n), dst.borrow_mut(), validity.borrow_mut());
                let (src, dst) = (Bytes::new(black_box(src), n), BytesMut::new(black_box(&mut dst), n));
                let done = black_box(levels.run(*way, src, dst, &mut validity));
                debug_assert!(done.is_ok(), "it ran before");
            }
        }));
    }
    let traffic = n.is_multiple_of(cells::step(from, to)).then(|| Traffic::new(plan.tier(), from, to));
    if let Some(traffic) = traffic {
        let dst = &dst;
        contenders.push(Box::new(move |calls| {
            (0..calls).for_each(|_| traffic.run(black_box(src), black_box(&mut dst.borrow_mut())));
        }));
    }
    let rounds = measure(&mut contenders, effort);
    Ok((ways.iter().map(|way| levels.plan(*way).keeps_all()).collect(), rounds))
}

impl Rows {
    /// The median and the share within the limit, of each tier, size and way, and the worst.
    pub fn table(&self, limit: f64, worst: usize) -> String {
        let mut text = format!(
            "| tier | size | way | casts | median | at most {limit} | worst |\n|---|---|---|---|---|---|---|\n"
        );
        for tier in Tier::ALL {
            for size in [Size::N64, Size::L1, Size::L2, Size::Dram] {
                for way in Way::of(self.inputs) {
                    let mut rows: Vec<&Row> = self
                        .rows
                        .iter()
                        .filter(|r| r.tier == tier.name() && r.size == size && r.way == *way && !r.idle)
                        .collect();
                    if rows.is_empty() {
                        continue;
                    }
                    rows.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
                    let within = rows.iter().filter(|r| r.ratio <= limit).count();
                    let list: Vec<String> =
                        rows.iter().take(worst).map(|r| format!("{} {:.2}", r.pair, r.ratio)).collect();
                    let _ = writeln!(
                        text,
                        "| {tier} | {size} | {} | {} | {:.2} | {within} | {} |",
                        way.name(),
                        rows.len(),
                        median(rows.iter().map(|r| r.ratio)),
                        list.join("; ")
                    );
                }
            }
        }
        text
    }
}

/// How much slower than the plain cast a checked one may be in the second cache.
pub const LIMIT: f64 = 1.3;

/// The section of the report.
pub fn section(runs: &[Rows]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut text = format!(
        "\n## Checked and counting casts\n\nThe time of a cast that is checked, masked or counted divided by that of the plain cast, \
         taken in turn on {}. *Checked* and *counted* sources are clean: they hold nothing that is refused at either level, and no \
         zero that a range of powers of two has not. At most {LIMIT} is asked for in the second cache, and nothing beyond the \
         caches. Pairs that can lose nothing are left out: they run the plain cast.\n",
        first.machine.cpu
    );
    for run in runs {
        let sources = match run.inputs {
            Inputs::Normal => "Clean sources",
            Inputs::Subnormal => "Clean, as far as subnormal numbers are",
            Inputs::Nan => "One value in 16 is NaN",
            Inputs::Saturating => "Every second value is out of range",
        };
        let _ = write!(text, "\n{sources}:\n\n{}", run.table(LIMIT, 4));
    }
    text
}

/// The modes that are measured.
pub const MODES: [Mode; 2] = [Mode::Only, Mode::Saturate];

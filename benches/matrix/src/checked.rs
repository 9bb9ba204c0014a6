//! What it costs to ask a cast what it loses: checked and counting casts beside the plain one.
//!
//! The sources hold nothing that is rejected at either level (values are cast to the target and back before), so a checked cast
//! goes through; with values out of range, every second one is, and they are masked and counted. All contenders of a cell
//! take turns, and the figure is the time of each divided by that of the plain cast.

use crate::{
    cells::{self, Cast, Mode},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, measure, median},
    pool::{PAGE, Pool},
    results::Size,
    run::Selection,
};
use lanecast::{Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, Level, Storage, Tier};
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
        let period = source(cast, selection.inputs).map_err(|error| format!("{cast}: {error}"))?;
        for &size in &selection.sizes {
            let footprint = match size {
                Size::L1 => 24 << 10,
                Size::L2 => 512 << 10,
                _ => dram,
            };
            let bits = (cast.from.bits_per_element() + cast.to.bits_per_element()) as usize;
            let step = cells::step(cast.from, cast.to);
            let n = size.elements().unwrap_or(footprint * 8 / bits / step * step);
            let pool = if size == Size::Dram { &mut large } else { &mut small };
            for &tier in &selection.tiers {
                let plan = CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), tier);
                let plan = plan.map_err(|error| format!("{cast}: {error}"))?;
                let cell = cell(&plan, size, selection, pool.bytes(), &period, n);
                rows.extend(cell.map_err(|error| format!("{cast}, {tier}: {error}"))?.into_iter().map(
                    |(way, idle, plain_ns, ratio)| {
                        let pair =
                            cells::pair_label(&cells::label(cast.from), &cells::label(cast.to), cast.mode);
                        Row { pair, tier: tier.name().into(), size, way, idle, plain_ns, ratio }
                    },
                ));
            }
        }
    }
    Ok(Rows { machine, inputs: selection.inputs, rows })
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

type Figures = Vec<(Way, bool, f64, f64)>;

fn cell(
    plan: &CastPlan,
    size: Size,
    selection: &Selection,
    memory: &mut [u8],
    period: &[u8],
    n: usize,
) -> Result<Figures, CastError> {
    let [read, written] = [plan.source(), plan.target()].map(|buffer| buffer.byte_len(n).unwrap_or_default());
    let (src, dst) = memory.split_at_mut(read.next_multiple_of(PAGE));
    let src = &mut src[..read];
    inputs::repeat(period, src);
    let (src, dst) = (&*src, &mut dst[..written]);
    let [range, exact] = [Level::Range, Level::Exact].map(|level| plan.checked(level));
    let ways = Way::of(selection.inputs);
    let validity = RefCell::new(vec![0; n.div_ceil(8)]);
    let once = |way: Way, dst: &mut [u8]| -> Result<(), CastError> {
        let n = black_box(n);
        let (src, dst) = (Bytes::new(black_box(src), n), BytesMut::new(dst, n));
        match way {
            Way::CheckedRange => range.run(src, dst),
            Way::CheckedExact => exact.run(src, dst),
            Way::CountedRange => range.run_counted(src, dst).map(|report| _ = black_box(report)),
            Way::CountedExact => exact.run_counted(src, dst).map(|report| _ = black_box(report)),
            Way::MaskedRange => {
                range.run_masked(src, dst, &mut validity.borrow_mut()).map(|n| _ = black_box(n))
            }
        }
    };
    // All of them have to go through, once.
    for way in ways {
        once(*way, dst)?;
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
        let (once, dst) = (&once, &dst);
        contenders.push(Box::new(move |calls| {
            for _ in 0..calls {
                let done = once(*way, black_box(&mut dst.borrow_mut()));
                debug_assert!(done.is_ok(), "it ran before");
            }
        }));
    }
    let rounds = measure(&mut contenders, &selection.effort(size));
    let idle = |way: &Way| match way {
        Way::CheckedRange | Way::MaskedRange | Way::CountedRange => range.keeps_all(),
        Way::CheckedExact | Way::CountedExact => exact.keeps_all(),
    };
    Ok(ways
        .iter()
        .enumerate()
        .map(|(k, way)| (*way, idle(way), rounds.time(0), rounds.ratio(k + 1, 0)))
        .collect())
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

//! The run over all selected cells.
//!
//! Sources are made once per dtype and range and repeated through one large buffer that all sizes use the beginning of; the
//! right answer comes from the scalar tier. A wrong answer stops the run: its time would be worth nothing.

use crate::{
    cells::{self, Cast, Mode},
    classes::{self, Class},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure},
    pool::{PAGE, Pool},
    results::{Cell, Key, Results, Size, Store},
    traffic::Traffic,
};
use lanecast::{Bytes, BytesMut, CastPlan, DType, Encoding, Storage, Tier};
use std::{cell::RefCell, hint::black_box, time::Duration, time::Instant};

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Pairs of dtypes; `None` stands for all. Empty: every pair.
    pub pairs: Vec<(Option<DType>, Option<DType>)>,
    /// Classes; empty: every class.
    pub classes: Vec<&'static Class>,
    /// The tiers.
    pub tiers: Vec<Tier>,
    /// The sizes.
    pub sizes: Vec<Size>,
    /// Modes; empty: all of a pair.
    pub modes: Vec<Mode>,
    /// Storages; empty: both.
    pub storages: Vec<Store>,
    /// Only scaled casts, by schemes with this in their names.
    pub scheme: Option<String>,
    /// The values of the sources.
    pub inputs: Inputs,
    /// Both buffers one element off.
    pub unaligned: bool,
    /// Milliseconds for a cell, instead of the size's own.
    pub budget: Option<u64>,
    /// Rounds for a cell, instead of as many as the budget holds.
    pub rounds: Option<usize>,
}

impl Selection {
    /// Whether a cast is selected.
    pub fn has(&self, cast: &Cast) -> bool {
        let (from, to) = (cast.from.dtype(), cast.to.dtype());
        let matches = |&(f, t): &(Option<DType>, Option<DType>)| {
            f.is_none_or(|f| f == from) && t.is_none_or(|t| t == to)
        };
        let packed = [cast.from, cast.to].map(store).contains(&Store::Packed);
        let storage = if packed { Store::Packed } else { Store::Byte };
        self.scheme.is_none()
            && (self.pairs.is_empty() || self.pairs.iter().any(matches))
            && (self.classes.is_empty()
                || self.classes.iter().any(|class| class.name == classes::of(cast).name))
            && (self.modes.is_empty() || self.modes.contains(&cast.mode))
            && (self.storages.is_empty() || self.storages.contains(&storage))
            && inputs::apply(self.inputs, from, to)
    }

    /// Whether the casts of a scheme are selected: not if pairs are.
    pub fn has_scheme(&self, name: &str) -> bool {
        match &self.scheme {
            Some(part) => name.contains(part),
            None => {
                self.pairs.is_empty()
                    && self.classes.is_empty()
                    && self.modes.is_empty()
                    && self.storages.is_empty()
            }
        }
    }

    pub(crate) fn effort(&self, size: Size) -> Effort {
        let (budget, min_rounds, turn) = match size {
            Size::L1 => (20, 7, 20),
            Size::L2 => (25, 5, 40),
            Size::Dram => (120, 1, 0),
            _ => (3, 7, 10),
        };
        let budget = Duration::from_millis(self.budget.unwrap_or(budget));
        let turn = Duration::from_micros(turn);
        match self.rounds {
            Some(rounds) => Effort { budget, min_rounds: rounds, max_rounds: rounds, turn },
            None => Effort { budget, min_rounds, max_rounds: 1000, turn },
        }
    }
}

/// The storage of an encoding, as results name it.
fn store(buffer: Encoding) -> Store {
    match buffer.storage() {
        Storage::Byte => Store::Byte,
        Storage::Packed => Store::Packed,
    }
}

/// Measures everything that is selected, and says on standard error how far it is.
///
/// # Errors
///
/// If a plan cannot be made or an answer differs from the scalar tier's.
pub fn run(selection: &Selection) -> Result<Results, String> {
    let machine = Machine::detect();
    let dram = (4 * machine.last_cache()).clamp(128 << 20, 384 << 20);
    let casts: Vec<Cast> = cells::all().into_iter().filter(|cast| selection.has(cast)).collect();
    let mut buffers = Buffers::new(if selection.sizes.contains(&Size::Dram) { dram } else { 0 });
    let mut done = Vec::new();
    let started = Instant::now();
    for (k, cast) in casts.iter().enumerate() {
        if k == 0 || cast.from != casts[k - 1].from {
            let name = cells::label(cast.from);
            eprintln!(
                "{:6.0} s {k:5} of {} casts: from {name}",
                started.elapsed().as_secs_f64(),
                casts.len()
            );
        }
        buffers.prepare(cast, selection.inputs);
        let expected = expected(cast, &buffers.period, PERIOD)?;
        for &size in &selection.sizes {
            for &tier in &selection.tiers {
                done.push(cell(cast, tier, size, dram, selection, &mut buffers, &expected)?);
            }
        }
    }
    eprintln!("{:6.0} s, {} cells", started.elapsed().as_secs_f64(), done.len());
    let (inputs, unaligned) = (selection.inputs, selection.unaligned);
    Ok(Results { machine, inputs, unaligned, dram_bytes: dram, cells: done, ..Results::default() })
}

/// The memory that all casts use, and what its sources hold now.
struct Buffers {
    /// For all that fits into the second cache.
    small: Pool,
    /// Beyond the caches.
    src: Pool,
    dst: Pool,
    /// One period of the current source, and the cast that it was made for.
    period: Vec<u8>,
    made_for: Option<(Encoding, Range)>,
    /// Where in `src` that period is repeated from.
    repeated_from: Option<usize>,
}

impl Buffers {
    fn new(dram: usize) -> Buffers {
        let (src, dst) = (Pool::new(dram + PAGE), Pool::new(dram + PAGE));
        let small = Pool::new(1);
        Buffers { small, src, dst, period: Vec::new(), made_for: None, repeated_from: None }
    }

    fn prepare(&mut self, cast: &Cast, inputs: Inputs) {
        let range = Range::new(cast.from.dtype(), cast.to.dtype(), inputs);
        if self.made_for != Some((cast.from, range)) {
            self.period = inputs::period(cast.from, range);
            self.made_for = Some((cast.from, range));
            self.repeated_from = None;
        }
    }

    /// The source, filled, and the destination, from their aligned beginnings on; the source has at least `len` bytes behind
    /// its offset.
    fn of(&mut self, size: Size, offset: usize, len: usize) -> (&[u8], &mut [u8]) {
        if size != Size::Dram {
            let (src, dst) = self.small.bytes().split_at_mut((offset + len).next_multiple_of(PAGE));
            inputs::repeat(&self.period, &mut src[offset..]);
            return (src, dst);
        }
        let src = self.src.bytes();
        if self.repeated_from != Some(offset) {
            inputs::repeat(&self.period, &mut src[offset..]);
            self.repeated_from = Some(offset);
        }
        (src, self.dst.bytes())
    }
}

/// How far a buffer begins behind its alignment.
fn offset(buffer: Encoding, unaligned: bool) -> usize {
    if unaligned { buffer.dtype().size() } else { 0 }
}

/// The right answer for `n` elements.
pub(crate) fn expected(cast: &Cast, src: &[u8], n: usize) -> Result<Vec<u8>, String> {
    let mut out = vec![0; cast.to.byte_len(n).unwrap_or_default()];
    let plan = CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), Tier::Scalar);
    let done = plan.and_then(|plan| plan.run(Bytes::new(src, n), BytesMut::new(&mut out, n)));
    done.map_err(|error| format!("{cast}: {error}"))?;
    Ok(out)
}

fn cell(
    cast: &Cast,
    tier: Tier,
    size: Size,
    dram: usize,
    selection: &Selection,
    buffers: &mut Buffers,
    expected: &[u8],
) -> Result<Cell, String> {
    let class = classes::of(cast);
    let n = size.elements().unwrap_or_else(|| {
        let footprint = match size {
            Size::L1 => 24 << 10,
            Size::L2 => 512 << 10,
            _ => dram,
        };
        let step = cells::step(cast.from, cast.to);
        let bits = (cast.from.bits_per_element() + cast.to.bits_per_element()) as usize;
        (footprint * 8 / bits / step * step).max(step)
    });
    let failed = |error: lanecast::CastError| format!("{cast} on {tier}: {error}");
    let plan = CastPlan::with_tier(cast.from, cast.to, &cast.mode.options(), tier).map_err(failed)?;
    let bytes = |buffer: Encoding| buffer.byte_len(n).unwrap_or_default();
    let (read, written) = (bytes(cast.from), bytes(cast.to));
    let offsets = [offset(cast.from, selection.unaligned), offset(cast.to, selection.unaligned)];
    let half = (read + written).div_ceil(2);
    let (src, dst) = buffers.of(size, offsets[0], read.max(half));

    // The answer first: a destination of other bytes, cast once, compared as a whole.
    let place = offsets[1]..offsets[1] + written;
    dst[place.clone()].fill(0xEE);
    let elements = Bytes::new(&src[offsets[0]..], n);
    plan.run(elements, BytesMut::new(&mut dst[place.clone()], n)).map_err(failed)?;
    if !answer_is(expected, &dst[place], cast.to, n) {
        return Err(format!("{cast} on {tier} at {n} elements differs from the scalar tier"));
    }
    let rounds = contest(&plan, size, &selection.effort(size), src, dst, offsets, n);

    let whole = size.elements().is_none();
    let streaming = size == Size::Dram;
    let time = rounds.time(CAST);
    Ok(Cell {
        key: Key {
            from: cast.from.dtype().name().into(),
            from_storage: store(cast.from),
            to: cast.to.dtype().name().into(),
            to_storage: store(cast.to),
            mode: cast.mode,
            tier: tier.name().into(),
            size,
        },
        class: class.name.into(),
        elements: n,
        read,
        written,
        rounds: rounds.count(),
        cast_ns: time,
        memcpy_ns: rounds.time(COPY),
        traffic_ns: whole.then(|| rounds.time(TRAFFIC)),
        streaming_ns: streaming.then(|| rounds.time(STREAMING)),
        fraction: whole.then(|| rounds.ratio(TRAFFIC, CAST)),
        fraction_streaming: streaming.then(|| rounds.ratio(STREAMING, CAST)),
        target: size.level().and_then(|level| class.target(tier, level)),
        gbps: (read + written) as f64 / time,
    })
}

/// Whether `n` elements are the right answer. A packed buffer may end within a byte, whose other bits are zero then.
pub(crate) fn answer_is(expected: &[u8], got: &[u8], to: Encoding, n: usize) -> bool {
    let whole = n * to.bits_per_element() as usize / 8;
    let rest = n * to.bits_per_element() as usize % 8;
    inputs::repeats(expected, &got[..whole])
        && got[whole..].iter().all(|&byte| byte == expected[whole % expected.len()] & ((1 << rest) - 1))
}

/// The places of the contenders.
const CAST: usize = 0;
const COPY: usize = 1;
const TRAFFIC: usize = 2;
const STREAMING: usize = 3;

/// Times the cast of `n` elements against its limits. The buffers begin aligned; the cast begins at its offsets in them.
fn contest(
    plan: &CastPlan,
    size: Size,
    effort: &Effort,
    src: &[u8],
    dst: &mut [u8],
    offsets: [usize; 2],
    n: usize,
) -> Rounds {
    let traffic = Traffic::new(plan.tier(), plan.source(), plan.target());
    let streaming = Traffic::streaming(plan.tier(), plan.source(), plan.target());
    let [read, written] = [plan.source(), plan.target()].map(|buffer| buffer.byte_len(n).unwrap_or_default());
    let half = (read + written).div_ceil(2);
    let src = &src[offsets[0]..];
    // All write to the same destination, one after the other.
    let dst = &RefCell::new(dst);
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|calls| {
            let dst = &mut dst.borrow_mut()[offsets[1]..][..written];
            for _ in 0..calls {
                let n = black_box(n);
                let (src, dst) = (black_box(&src[..read]), black_box(&mut *dst));
                let done = black_box(plan).run(Bytes::new(src, n), BytesMut::new(dst, n));
                debug_assert!(done.is_ok(), "it ran before");
            }
        }),
        Box::new(|calls| {
            let dst = &mut dst.borrow_mut()[offsets[1]..][..half];
            for _ in 0..calls {
                black_box(&mut *dst).copy_from_slice(black_box(&src[..half]));
            }
        }),
    ];
    if size.elements().is_none() {
        contenders.push(Box::new(|calls| {
            let dst = &mut dst.borrow_mut()[offsets[1]..][..written];
            for _ in 0..calls {
                traffic.run(black_box(&src[..read]), black_box(&mut *dst));
            }
        }));
    }
    if size == Size::Dram {
        contenders.push(Box::new(|calls| {
            // Streaming stores need alignment: the buffer's own.
            let dst = &mut dst.borrow_mut()[..written];
            for _ in 0..calls {
                streaming.run(black_box(&src[..read]), black_box(&mut *dst));
            }
        }));
    }
    measure(&mut contenders, effort)
}

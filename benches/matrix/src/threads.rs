//! What more threads bring: one cast shared by a pool, and a batch of tensors.
//!
//! All contenders of a cell take turns and their answers are compared before. *Speedup* is the time of the calling thread alone
//! divided by the time of the call that may use the pool. The batch stands beside one contiguous cast of the same bytes, on one
//! thread and on all of them.

use crate::{
    cells,
    dimensions::{self, Amount},
    inputs::{self, Inputs, PERIOD, Range},
    machine::Machine,
    measure::{Contender, Effort, Rounds, measure},
    pool::{PAGE, Pool},
    traffic::Traffic,
};
use lanecast::{
    BatchItem, Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, FloatRound, Threads, Tier,
    cast_batch, tier,
};
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, fmt::Write as _, fs, hint::black_box, time::Duration};

/// A measured cast.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// `float32 -> bfloat16`
    pub pair: String,
    /// Bytes of source and destination.
    pub bytes: usize,
    /// Nanoseconds of one thread.
    pub serial_ns: f64,
    /// Time of one thread divided by that of the pool.
    pub speedup: f64,
}

/// A measured batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchRow {
    /// `float32 -> bfloat16`
    pub pair: String,
    /// Bytes of all sources and destinations.
    pub bytes: usize,
    /// Tensors.
    pub tensors: usize,
    /// Nanoseconds of the contiguous cast on one thread.
    pub serial_ns: f64,
    /// Time of the batch divided by that of the contiguous cast, on one thread.
    pub serial: f64,
    /// The same on the pool.
    pub parallel: f64,
    /// Time of the contiguous cast on one thread divided by that of the batch on the pool.
    pub speedup: f64,
}

/// All that was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rows {
    /// On what it ran.
    pub machine: Machine,
    /// Threads of the pool.
    pub threads: usize,
    /// Single casts.
    pub casts: Vec<Row>,
    /// Batches.
    pub batches: Vec<BatchRow>,
}

/// The pairs that are measured: the plan, and the one of the scalar tier for its answers.
fn plans() -> Result<Vec<(String, [CastPlan; 2])>, String> {
    use DType::*;
    let (byte, packed) = (Encoding::new, Encoding::packed);
    let rust = CastOptions::RUST;
    let truncated = rust.with_float_round(FloatRound::TowardZero);
    let pairs = [
        (byte(Float32), byte(Float8E4M3FN), rust, ""),
        (byte(Float32), byte(BFloat16), rust, ""),
        (byte(Float32), byte(Float16), rust, ""),
        (byte(BFloat16), byte(Float32), rust, ""),
        (byte(Float8E4M3FN), byte(Float32), rust, ""),
        (packed(Int4), byte(Float16), rust, ""),
        (byte(Float32), packed(Float4E2M1FN), rust, ""),
        (byte(Float32), packed(Float6E2M3FN), rust, ""),
        (byte(Float64), byte(Float32), rust, ""),
        (byte(Int64), byte(Int32), rust, ""),
        (byte(Bool), byte(UInt8), rust, ""),
        (byte(Complex64), byte(Complex128), rust, ""),
        (byte(Float32), byte(Float32), rust, ""),
        (byte(Float32), byte(Float8E4M3FN), truncated, ", rounded toward zero"),
    ];
    let plan = |(from, to, options, more): (Encoding, Encoding, CastOptions, &str)| {
        let plan = |tier| {
            CastPlan::with_tier(from, to, &options, tier).map_err(|error: CastError| error.to_string())
        };
        Ok((format!("{from} -> {to}{more}"), [plan(tier::active())?, plan(Tier::Scalar)?]))
    };
    pairs.into_iter().map(plan).collect()
}

const EFFORT: Effort = Effort {
    budget: Duration::from_millis(400),
    min_rounds: 9,
    max_rounds: 201,
    turn: Duration::from_millis(1),
};

/// Fills a source with the values that casts are measured with.
fn fill(plan: &CastPlan, src: &mut [u8]) -> Result<(), String> {
    let dtype = plan.source().dtype();
    let period =
        inputs::period(Encoding::new(dtype), Range::new(dtype, plan.target().dtype(), Inputs::Normal));
    if plan.source() == Encoding::new(dtype) {
        inputs::repeat(&period, src);
        return Ok(());
    }
    let mut packed = vec![0; plan.source().byte_len(PERIOD).unwrap_or_default()];
    let pack = CastPlan::new(dtype, plan.source(), &CastOptions::RUST).map_err(|error| error.to_string())?;
    pack.run(Bytes::new(&period, PERIOD), BytesMut::new(&mut packed, PERIOD))
        .map_err(|error| error.to_string())?;
    inputs::repeat(&packed, src);
    Ok(())
}

/// The global pool has its threads, and they are known, before anything is timed.
fn wake() {
    let plan = CastPlan::of::<f32, u8>(&CastOptions::RUST).with_threads(Threads::Rayon);
    let (src, mut dst) = (vec![0.0_f32; 1 << 20], vec![0_u8; 1 << 20]);
    for _ in 0..100 {
        _ = plan.run(&src, &mut dst);
        rayon::join(|| (), || std::thread::sleep(Duration::from_micros(100)));
    }
}

/// Shares single casts: some pairs at all sizes from 16 KiB to 64 MiB.
///
/// # Errors
///
/// If a plan cannot be made or an answer differs.
pub fn run(sizes: &[usize]) -> Result<Rows, String> {
    let mut rows = Vec::new();
    each(&plans()?, sizes, &EFFORT, &mut |pair, bytes, _, rounds| {
        let (serial_ns, speedup) = (rounds.time(SERIAL), rounds.ratio(SERIAL, SHARED));
        rows.push(Row { pair: pair.into(), bytes, serial_ns, speedup });
    })?;
    let threads = rayon::current_num_threads();
    Ok(Rows { machine: Machine::detect(), threads, casts: rows, batches: Vec::new() })
}

/// The rows of the dimension: casts on one thread and on the pool. The baseline is one thread. The limit of the pool is the faster of pure
/// traffic on one thread and on all.
///
/// # Errors
///
/// If a plan cannot be made or an answer differs.
pub(crate) fn rows(amount: &Amount) -> Result<Vec<dimensions::Row>, String> {
    let all = [16, 64, 256, 1024, 4096, 16384, 65536].map(|kib: usize| kib << 10);
    let mut rows = Vec::new();
    each(
        amount.of(&plans()?, 2),
        amount.of(&all, 3),
        &amount.effort(100, 100),
        &mut |pair, bytes, n, rounds| {
            let threads = rayon::current_num_threads();
            // What one thread moves before others wake is not shared.
            let shares = rounds.time(SHARED_TRAFFIC) < rounds.time(SERIAL_TRAFFIC);
            let limit = if shares { SHARED_TRAFFIC } else { SERIAL_TRAFFIC };
            for (threads, cast, traffic) in [(1, SERIAL, SERIAL_TRAFFIC), (threads, SHARED, limit)] {
                if threads == 1 && cast == SHARED {
                    continue;
                }
                rows.push(dimensions::Row {
                    at: vec![
                        pair.replace(" -> ", ":").replace(" (packed)", "/packed"),
                        threads.to_string(),
                        (bytes >> 10).to_string(),
                    ],
                    ns: rounds.time(cast) / n as f64,
                    ratio: (cast != SERIAL).then(|| rounds.ratio(cast, SERIAL)),
                    fraction: rounds.ratio(traffic, cast),
                });
            }
        },
    )?;
    Ok(rows)
}

/// The contenders of a cell: the cast on the calling thread and on the pool, and pure traffic on both.
const SERIAL: usize = 0;
const SHARED: usize = 1;
const SERIAL_TRAFFIC: usize = 2;
const SHARED_TRAFFIC: usize = 3;

/// Pure traffic on all threads of the pool, each with whole lines.
fn share(traffic: &Traffic, src: &[u8], dst: &mut [u8], lines: (usize, usize)) {
    let parts = (src.len() / lines.0).div_ceil(rayon::current_num_threads()).max(1);
    rayon::scope(|scope| {
        for (src, dst) in src.chunks(parts * lines.0).zip(dst.chunks_mut(parts * lines.1)) {
            scope.spawn(|_| traffic.run(src, dst));
        }
    });
}

/// Measures plans at sizes, and gives the name, the bytes, the elements and the rounds of each cell.
fn each(
    plans: &[(String, [CastPlan; 2])],
    sizes: &[usize],
    effort: &Effort,
    take: &mut dyn FnMut(&str, usize, usize, &Rounds),
) -> Result<(), String> {
    wake();
    let largest = sizes.iter().copied().max().unwrap_or_default();
    let mut pool = Pool::new(largest + 2 * PAGE);
    for (pair, [plan, scalar]) in plans {
        for &bytes in sizes {
            let bits = (plan.source().bits_per_element() + plan.target().bits_per_element()) as usize;
            let step = cells::step(plan.source(), plan.target());
            let n = bytes * 8 / bits / step * step;
            let lengths = |n: usize| {
                [plan.source(), plan.target()].map(|buffer| buffer.byte_len(n).unwrap_or_default())
            };
            let [read, written] = lengths(n);
            let [from_lines, to_lines] = lengths(step);
            let traffic = Traffic::new(plan.tier(), plan.source(), plan.target());
            let (src, dst) = pool.bytes().split_at_mut(read.next_multiple_of(PAGE));
            fill(plan, &mut src[..read])?;
            let (src, dst) = (&src[..read], &mut dst[..written]);
            let shared = plan.with_threads(Threads::Rayon);
            let run = |parallel: bool, dst: &mut [u8]| {
                let n = black_box(n);
                let plan = if parallel { &shared } else { plan };
                plan.run(Bytes::new(black_box(src), n), BytesMut::new(black_box(dst), n))
            };
            let mut want = vec![0xA5; written];
            let failed = |error: CastError| error.to_string();
            scalar.run(Bytes::new(src, n), BytesMut::new(&mut want, n)).map_err(failed)?;
            for parallel in [false, true] {
                dst.fill(0x5A);
                run(parallel, dst).map_err(failed)?;
                if *dst != want {
                    return Err(format!("{pair}, {bytes} bytes: the answers differ"));
                }
            }
            let dst = RefCell::new(dst);
            let contender = |parallel: bool| -> Contender<'_> {
                let (run, dst) = (&run, &dst);
                Box::new(move |calls| {
                    for _ in 0..calls {
                        let done = run(parallel, &mut dst.borrow_mut());
                        debug_assert!(done.is_ok(), "it ran before");
                    }
                })
            };
            let moves = |parallel: bool| -> Contender<'_> {
                let (traffic, dst) = (&traffic, &dst);
                Box::new(move |calls| {
                    for _ in 0..calls {
                        let (src, mut dst) = (black_box(src), dst.borrow_mut());
                        match parallel {
                            true => share(traffic, src, &mut dst, (from_lines, to_lines)),
                            false => traffic.run(src, &mut dst),
                        }
                    }
                })
            };
            let mut contenders = [contender(false), contender(true), moves(false), moves(true)];
            take(pair, bytes, n, &measure(&mut contenders, effort));
        }
    }
    Ok(())
}

/// Elements of each of `count` tensors with `total` elements together: as many small ones as a model has, and sizes over four
/// orders of magnitude. Each begins at a line.
fn tensors(count: usize, total: usize) -> Vec<usize> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let weights: Vec<f64> = (0..count).map(|_| 10_f64.powf(4.0 * random())).collect();
    let sum: f64 = weights.iter().sum();
    let grain = |w: f64| ((total as f64 * w / sum) as usize / 512 * 512).max(512);
    let mut all: Vec<usize> = weights.into_iter().map(grain).collect();
    let used: usize = all.iter().sum();
    if let Some(first) = all.first_mut() {
        *first += total.saturating_sub(used) / 512 * 512;
    }
    all
}

/// Bytes that can be had without others having to give theirs up; all, where that is not known.
fn available() -> usize {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = kib.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok());
    kib.map_or(usize::MAX, |kib| kib.saturating_mul(1024))
}

/// Casts batches of `count` tensors, `bytes` of source and destination to each batch, or less if there is not as much memory.
///
/// # Errors
///
/// If a plan cannot be made or an answer differs.
pub fn batch(count: usize, mut bytes: usize) -> Result<Rows, String> {
    wake();
    while bytes > available() / 4 * 3 && bytes > 1 << 20 {
        bytes /= 2;
    }
    let mut pool = Pool::new(bytes + (1024 * count + PAGE) * 24);
    let mut rows = Vec::new();
    let effort =
        Effort { budget: Duration::from_secs(12), min_rounds: 7, max_rounds: 41, turn: Duration::ZERO };
    for (from, to) in [
        (DType::Float32, DType::BFloat16),
        (DType::Float32, DType::Float8E4M3FN),
        (DType::BFloat16, DType::Float32),
    ] {
        let plan = CastPlan::new(from, to, &CastOptions::RUST).map_err(|error| error.to_string())?;
        let pair = format!("{from} -> {to}");
        eprintln!("{pair}");
        let sizes = tensors(count, bytes / (from.size() + to.size()));
        let n: usize = sizes.iter().sum();
        let (src, dst) = pool.bytes().split_at_mut((n * from.size()).next_multiple_of(PAGE));
        fill(&plan, &mut src[..n * from.size()])?;
        let (src, dst) = (&src[..n * from.size()], &mut dst[..n * to.size()]);
        let contiguous = |threads: &Threads, dst: &mut [u8]| {
            let plan = plan.with_threads(threads.clone());
            plan.run(Bytes::new(black_box(src), n), BytesMut::new(black_box(dst), n))
                .map_err(|error| error.to_string())
        };
        let batch = |threads: &Threads, dst: &mut [u8]| {
            let (mut src, mut dst) = (black_box(src), black_box(dst));
            let items = sizes.iter().map(|&n| {
                let (s, d);
                (s, src) = src.split_at(n * from.size());
                (d, dst) = std::mem::take(&mut dst).split_at_mut(n * to.size());
                BatchItem::new(&plan, Bytes::new(s, n), BytesMut::new(d, n))
            });
            let items = items.collect::<Result<Vec<BatchItem<'_>>, CastError>>();
            let items = items.map_err(|error| error.to_string())?;
            cast_batch(items, threads).map_err(|error| error.to_string())
        };
        contiguous(&Threads::Serial, dst)?;
        let want = sum(dst);
        for threads in &[Threads::Serial, Threads::Rayon] {
            dst.fill(0);
            batch(threads, dst)?;
            if sum(dst) != want {
                return Err(format!("{pair}: the answers differ"));
            }
        }
        let dst = RefCell::new(dst);
        let contender = |whole: bool, threads: &'static Threads| -> Contender<'_> {
            let (contiguous, batch, dst) = (&contiguous, &batch, &dst);
            Box::new(move |calls| {
                for _ in 0..calls {
                    let dst = &mut dst.borrow_mut();
                    let done = if whole { contiguous(threads, dst) } else { batch(threads, dst) };
                    debug_assert!(done.is_ok(), "it ran before");
                }
            })
        };
        let (serial, pool) = (&Threads::Serial, &Threads::Rayon);
        let mut contenders = [
            contender(true, serial),
            contender(false, serial),
            contender(true, pool),
            contender(false, pool),
        ];
        let rounds = measure(&mut contenders, &effort);
        rows.push(BatchRow {
            pair,
            bytes: n * (from.size() + to.size()),
            tensors: sizes.len(),
            serial_ns: rounds.time(0),
            serial: rounds.ratio(1, 0),
            parallel: rounds.ratio(3, 2),
            speedup: rounds.ratio(0, 3),
        });
    }
    let threads = rayon::current_num_threads();
    Ok(Rows { machine: Machine::detect(), threads, casts: Vec::new(), batches: rows })
}

/// A sum that depends on every byte and its place.
fn sum(bytes: &[u8]) -> u64 {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes
        .chunks(8)
        .fold(7, |sum: u64, chunk| (sum ^ word(chunk)).wrapping_mul(0x100_0000_01B3).rotate_left(9))
}

impl Rows {
    /// Speedups by pair and size, and the batches.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut sizes: Vec<usize> = self.casts.iter().map(|row| row.bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if !sizes.is_empty() {
            let _ = write!(text, "| cast |");
            sizes.iter().for_each(|bytes| _ = write!(text, " {} |", label(*bytes)));
            let _ = writeln!(text, "\n|---|{}", "---|".repeat(sizes.len()));
            for rows in self.casts.chunk_by(|a, b| a.pair == b.pair) {
                let _ = write!(text, "| {} |", rows[0].pair);
                for bytes in &sizes {
                    match rows.iter().find(|row| row.bytes == *bytes) {
                        Some(row) => _ = write!(text, " {:.2} |", row.speedup),
                        None => text.push_str(" |"),
                    }
                }
                text.push('\n');
            }
        }
        if !self.batches.is_empty() {
            text.push_str("\n| batch | bytes | tensors | one thread: batch / contiguous | all threads: batch / contiguous | speedup |\n");
            text.push_str("|---|---|---|---|---|---|\n");
        }
        for row in &self.batches {
            let BatchRow { pair, bytes, tensors, serial, parallel, speedup, .. } = row;
            let bytes = label(*bytes);
            let _ = writeln!(
                text,
                "| {pair} | {bytes} | {tensors} | {serial:.2} | {parallel:.2} | {speedup:.2} |"
            );
        }
        text
    }
}

/// `16 KiB`
fn label(bytes: usize) -> String {
    if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}

/// The section of the report.
pub fn section(runs: &[Rows]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut text = format!(
        "\n## Threads\n\nThe time of a cast on the calling thread alone divided by that of the same call over the pool (`with_threads`), of {} \
         threads, taken in turn on {}, by the bytes of source and destination. What one thread does in less than about 45 us is \
         left to it. A batch is tensors of mixed sizes (four orders of magnitude) in one call of `cast_batch`, beside one contiguous \
         cast of the same bytes.\n\n",
        first.threads, first.machine.cpu
    );
    runs.iter().for_each(|run| text.push_str(&run.table()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_have_all_elements() {
        let sizes = tensors(2000, 100 << 20);
        assert_eq!(sizes.len(), 2000);
        let sum: usize = sizes.iter().sum();
        assert!(sum.abs_diff(100 << 20) <= 1024 * 2000, "{sum}");
        assert!(sizes.iter().max() > Some(&(300_000)) && sizes.iter().min() < Some(&2000));
    }

    #[test]
    fn sums_know_places() {
        assert_ne!(sum(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), sum(&[9, 2, 3, 4, 5, 6, 7, 8, 1]));
        assert_ne!(sum(&[0; 8]), sum(&[0; 16]));
    }
}

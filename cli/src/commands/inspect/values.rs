//! The values of tensors, of files and of checkpoints alike: where they are, and what dtypes and schemes would make of them.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use lanecast::DType;
use lanecast_checkpoint::{Checkpoint, Tensor};
use lanecast_files::{
    Elements, Error, Number, Progress, Settings, Sink, Stats, Target, TensorFile, in_files, measure,
};

use super::{super::progress::Bar, histogram};
use crate::{args::Inspect, error::Result, report::in_words, signals, text};

/// What is measured.
pub struct Request {
    /// Whether anything is.
    pub wanted: bool,
    pub targets: Vec<Target>,
}

impl Request {
    pub fn new(args: &Inspect) -> Self {
        let mut targets = Vec::new();
        for target in args.what_if.iter().flat_map(|targets| &targets.0) {
            if !targets.contains(target) {
                targets.push(*target);
            }
        }
        Self { wanted: args.stats || args.histogram || !targets.is_empty(), targets }
    }

    /// The statistics of the tensors of a file at these indices, or nothing if they are not wanted. `None` for tensors that have no numbers.
    pub fn of_file(&self, file: &mut TensorFile, chosen: &[usize]) -> Result<Vec<Option<Stats>>> {
        if !self.wanted {
            return Ok(Vec::new());
        }
        let of = |index: &usize| file.elements(*index).map_or(0, |of| of.bytes(&self.targets));
        let counted = Counted::new(chosen.iter().map(of));
        let settings = Settings::default();
        let mut go_on = |bytes: u64| counted.go_on(bytes);
        let stats =
            chosen.iter().map(|index| Ok(file.stats(*index, &self.targets, &settings, &mut go_on)?));
        stats.collect()
    }

    /// The statistics of tensors of a checkpoint, codes decoded to `float32`; nothing if they are not wanted.
    pub fn of_checkpoint(&self, checkpoint: &Checkpoint, tensors: &[&Tensor]) -> Result<Vec<Option<Stats>>> {
        if !self.wanted {
            return Ok(Vec::new());
        }
        let counted = Counted::new(tensors.iter().map(|tensor| elements(tensor).bytes(&self.targets)));
        // Each thread takes a tensor. If there are few of them, several threads work on each.
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(tensors.len()).max(1);
        let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; tensors.len()]));
        let work = || -> lanecast_files::Result<()> {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(tensor) = tensors.get(at) else { return Ok(()) };
                let of = elements(tensor);
                let mut feed = |sink: &mut Sink<'_>| {
                    checkpoint.decode(&tensor.name, of.encoding.dtype(), &mut |bytes| {
                        sink(bytes)?;
                        counted.go_on(bytes.len() as u64)
                    })
                };
                let stats = measure(&of, &self.targets, &Settings::default(), cores / threads, &mut feed);
                let stats = stats.map_err(|e| e.at(format!("tensor \"{}\"", tensor.name)))?;
                found.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(stats);
            }
        };
        let results: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, lanecast_files::Result<()>>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        results.into_iter().collect::<lanecast_files::Result<()>>()?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The elements of a tensor of a checkpoint: those that are stored, or what codes decode to.
fn elements(tensor: &Tensor) -> Elements {
    let encoding = in_files(tensor.dtype.unwrap_or(DType::Float32));
    Elements { encoding, shape: tensor.shape.clone(), fortran_order: false }
}

/// The bytes that are done, on a progress bar.
struct Counted {
    total: u64,
    done: AtomicU64,
    bar: Bar,
}

impl Counted {
    fn new(bytes: impl Iterator<Item = u64>) -> Self {
        let total = bytes.fold(0, u64::saturating_add);
        Self { total, done: AtomicU64::new(0), bar: Bar::new(Some(total)) }
    }

    /// Counts bytes, and fails if the program is to end.
    fn go_on(&self, bytes: u64) -> lanecast_files::Result<()> {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.bar.show(Progress { done, total: Some(self.total) });
        if signals::ended() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Name and dtype of a tensor.
pub type Named<'t> = (&'t str, Option<DType>);

/// A table of the statistics, with the decibels of each target; histograms, if they are wanted.
pub fn tables(named: &[Named<'_>], all: &[Option<Stats>], args: &Inspect) -> String {
    let targets = Request::new(args).targets;
    let head = ["name", "min", "max", "mean", "deviation", "NaN", "infinite", "zero", "subnormal"];
    let columns = targets.iter().map(|target| format!("{} dB", target.name()));
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).into_iter().chain(columns).collect()];
    for ((name, dtype), stats) in named.iter().zip(all) {
        let mut row = vec![text::shown(name)];
        match stats {
            Some(of) => {
                let short = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{x:.4e}"));
                row.extend([of.min, of.max].map(|x| number(x, *dtype)));
                row.extend([of.mean, of.deviation].map(short));
                row.extend([of.nan, of.infinities, of.zeros, of.subnormals].map(|n| n.to_string()));
                let decibels = |sqnr: Option<f64>| sqnr.map_or_else(|| "-".to_owned(), |x| format!("{x:.1}"));
                row.extend(of.what_if.iter().map(|what_if| decibels(what_if.sqnr)));
            }
            None => row.extend(vec!["-".to_owned(); head.len() + targets.len() - 1]),
        }
        rows.push(row);
    }
    let mut out = format!("\n{}", text::headed(&rows));
    if args.histogram {
        out.push_str(&histogram::draw_all(named, all));
    }
    out
}

/// A number in the fewest digits that distinguish it from all others of its dtype.
fn number(number: Option<Number>, dtype: Option<DType>) -> String {
    let wide = matches!(dtype, Some(DType::Float64 | DType::Complex128));
    match number {
        None => "-".to_owned(),
        Some(Number::Int(x)) => x.to_string(),
        Some(Number::Float(x)) => {
            let plain = x == 0.0 || (1e-4..1e7).contains(&x.abs());
            match (plain, wide) {
                (true, true) => x.to_string(),
                (false, true) => format!("{x:e}"),
                (true, false) => (x as f32).to_string(),
                (false, false) => format!("{:e}", x as f32),
            }
        }
    }
}

/// A table of what casts would lose; empty if there are none.
pub fn losses(named: &[Named<'_>], all: &[Option<Stats>]) -> String {
    let mut rows = vec![["name", "cast to", "bytes", "lost"].map(str::to_owned).to_vec()];
    for ((name, _), stats) in named.iter().zip(all) {
        for what_if in stats.iter().flat_map(|stats| &stats.what_if) {
            let Some(counts) = &what_if.counts else { continue };
            let counts = counts.counts();
            let some = counts.iter().filter(|(_, n)| *n > 0);
            let lost: Vec<String> = some.map(|(name, n)| format!("{n} {}", in_words(name, *n))).collect();
            let lost = if lost.is_empty() { "nothing".to_owned() } else { lost.join(", ") };
            let bytes = what_if.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
            rows.push(vec![text::shown(name), what_if.to.to_owned(), bytes, lost]);
        }
    }
    if rows.len() > 1 { format!("\n{}", text::headed(&rows)) } else { String::new() }
}

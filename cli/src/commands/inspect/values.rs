//! The values of the tensors of a checkpoint, decoded to `float32`: where they are, and what quantization would make of them.
//!
//! Threads take one tensor each, so memory holds a tensor for each thread.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, scaled::ScaledPlan};
use lanecast_checkpoint::{Checkpoint, Tensor};
use lanecast_files::{Error, Progress};
use serde::Serialize;

use super::super::progress::Bar;
use crate::{error::Result, meant::Target, signals, text};

/// What the finite values of a tensor are like.
#[derive(Clone, Debug, Serialize)]
pub struct Values {
    min: f32,
    max: f32,
    mean: f64,
    /// The standard deviation of all values.
    deviation: f64,
    /// Values that are NaN or infinite.
    not_finite: u64,
    what_if: Vec<WhatIf>,
}

/// What a dtype or a scheme would make of the values.
#[derive(Clone, Debug, Serialize)]
struct WhatIf {
    to: &'static str,
    /// The signal-to-quantization-noise ratio in decibels. `null` if it is infinite, or if the scheme does not take the tensor.
    sqnr: Option<f64>,
}

/// The values of each tensor; `None` for integers and complex numbers.
pub fn all(checkpoint: &Checkpoint, tensors: &[&Tensor], targets: &[Target]) -> Result<Vec<Option<Values>>> {
    let total = tensors.iter().map(|tensor| tensor.stored_bytes).sum();
    let (next, done, bar) = (AtomicUsize::new(0), AtomicU64::new(0), Bar::new(Some(total)));
    let found = Mutex::new(vec![None; tensors.len()]);
    let work = || -> lanecast_files::Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(tensor) = tensors.get(at) else { return Ok(()) };
            if signals::ended() {
                return Err(Error::Cancelled);
            }
            let values = one(checkpoint, tensor, targets)?;
            found.lock().unwrap_or_else(PoisonError::into_inner)[at] = values;
            let done = done.fetch_add(tensor.stored_bytes, Ordering::Relaxed) + tensor.stored_bytes;
            bar.show(Progress { done, total: Some(total) });
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(tensors.len());
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

fn one(
    checkpoint: &Checkpoint,
    tensor: &Tensor,
    targets: &[Target],
) -> lanecast_files::Result<Option<Values>> {
    let complex = matches!(tensor.dtype, Some(DType::Complex64 | DType::Complex128));
    if complex || tensor.dtype.is_some_and(|dtype| dtype.finfo().is_none()) {
        return Ok(None);
    }
    let mut values = vec![0.0_f32; tensor.elements()];
    checkpoint.read(&tensor.name, &mut values)?;
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let n = finite().count();
    let per = 1.0 / n.max(1) as f64;
    let mean = finite().map(f64::from).sum::<f64>() * per;
    let square = |x: f32| (f64::from(x) - mean).powi(2);
    let deviation = (finite().map(square).sum::<f64>() * per).sqrt();
    let signal: f64 = values.iter().map(|x| f64::from(*x).powi(2)).sum();
    let what_if = |target: &Target| WhatIf {
        to: target.name(),
        sqnr: noise(tensor, &values, target)
            .map(|noise| 10.0 * (signal / noise).log10())
            .filter(|sqnr| sqnr.is_finite()),
    };
    Ok(Some(Values {
        min: finite().fold(f32::INFINITY, f32::min),
        max: finite().fold(f32::NEG_INFINITY, f32::max),
        mean,
        deviation,
        not_finite: (values.len() - n) as u64,
        what_if: targets.iter().map(what_if).collect(),
    }))
}

/// The sum of the squares of the errors that a target would make; `None` if it does not take the tensor.
fn noise(tensor: &Tensor, values: &[f32], target: &Target) -> Option<f64> {
    match target {
        Target::Scheme(_, scheme) => {
            let plan = ScaledPlan::new(DType::Float32, scheme, &tensor.shape).ok()?.with_squared_error();
            plan.quantize(values, &mut plan.alloc()).ok()?.squared_error
        }
        Target::DType(dtype) => {
            let to = Encoding::new(*dtype);
            let mut codes = vec![0; to.byte_len(values.len())?];
            let mut back = vec![0.0_f32; values.len()];
            let there = CastPlan::new(DType::Float32, to, &CastOptions::RUST).ok()?;
            there.run(values, BytesMut::new(&mut codes, values.len())).ok()?;
            let again = CastPlan::new(to, DType::Float32, &CastOptions::RUST).ok()?;
            again.run(Bytes::new(&codes, values.len()), &mut back[..]).ok()?;
            let error = |(x, y): (&f32, &f32)| (f64::from(*x) - f64::from(*y)).powi(2);
            Some(values.iter().zip(&back).map(error).sum())
        }
    }
}

/// A table of the tensors that have values.
pub fn table(tensors: &[&Tensor], all: &[Option<Values>], targets: &[Target]) -> String {
    let head = ["name", "min", "max", "mean", "deviation", "not finite"].map(str::to_owned);
    let columns = targets.iter().map(|target| format!("{} dB", target.name()));
    let mut rows: Vec<Vec<String>> = vec![head.into_iter().chain(columns).collect()];
    for (tensor, values) in tensors.iter().zip(all) {
        let Some(of) = values else { continue };
        let mut row = vec![text::shown(&tensor.name)];
        row.extend([f64::from(of.min), f64::from(of.max), of.mean, of.deviation].map(|x| format!("{x:.4e}")));
        row.push(of.not_finite.to_string());
        let sqnr =
            |what_if: &WhatIf| what_if.sqnr.map_or_else(|| "-".to_owned(), |sqnr| format!("{sqnr:.1}"));
        row.extend(of.what_if.iter().map(sqnr));
        rows.push(row);
    }
    format!("\n{}", text::headed(&rows))
}

//! Many casts as one, such as the tensors of a checkpoint.

use super::cast_plan::CastPlan;
use super::job::Job;
use super::outcome::{Outcome, Tally};
use super::{parallel, ptr};
use crate::error::{CastError, refused};
use crate::threads::{Share, Threads, chunks::Chunks, cost::Cost};
use alloc::{boxed::Box, vec::Vec};
use core::ops::ControlFlow;
use core::{fmt, mem};
use lanecast_kernels::{Flat, Operands, Source, Target, Written};
use std::sync::{Mutex, PoisonError};

/// One cast of a batch.
#[derive(Debug)]
pub struct BatchItem<'a> {
    plan: &'a CastPlan,
    work: Option<Work<'a>>,
    written: Option<Written<'a>>,
    elements: usize,
    bytes: u64,
}

/// What an item casts.
#[derive(Debug)]
enum Work<'a> {
    Flat(Flat<'a>),
    // Views are large, and most items are none.
    Other(Box<Operands<'a>>),
}

impl<'a> BatchItem<'a> {
    /// A cast by a plan. The threads of the batch are used, not the plan's threads.
    ///
    /// # Errors
    ///
    /// As [`CastPlan::run`]: what is wrong with the operands is found here.
    pub fn new(
        plan: &'a CastPlan,
        src: impl Into<Source<'a>>,
        dst: impl Into<Target<'a>>,
    ) -> Result<BatchItem<'a>, CastError> {
        let resolved = plan.kernel().operands(src.into(), dst.into());
        let (mut operands, written) = resolved.map_err(refused)?;
        let elements = match &mut operands {
            Operands::Flat(flat) => flat.n,
            Operands::Views(src, dst) => {
                plan.kernel().check_strided(src, dst)?;
                src.layout().elements()
            }
            Operands::InPlace(bytes) => bytes.elements(),
        };
        let bytes = Job::new(plan, Outcome::Results).cost(true).bytes(elements);
        let work = match operands {
            Operands::Flat(flat) => Work::Flat(flat),
            other => Work::Other(Box::new(other)),
        };
        Ok(BatchItem { plan, work: Some(work), written: Some(written), elements, bytes })
    }

    /// The time among items of `all` bytes.
    fn nanoseconds(&self, all: u64) -> u64 {
        let contiguous = matches!(self.work, Some(Work::Flat(_)));
        EACH + Job::new(self.plan, Outcome::Results).cost(contiguous).nanoseconds_among(self.elements, all)
    }
}

/// Nanoseconds of overhead per item.
const EACH: u64 = 10;

/// The error of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchError {
    /// The index of the first item that cannot be cast.
    pub index: usize,
    /// Why.
    pub error: CastError,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} of the batch: {}", self.index, self.error)
    }
}

impl core::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// A unit of work in a batch: a part of an item, or several short items.
enum Part<'b, 'a> {
    One(&'a CastPlan, usize, Flat<'b>),
    Some(&'b mut [BatchItem<'a>]),
}

/// The remaining parts of a batch, in the order of its items, with the index of the first item of each part.
struct Parts<'b, 'a> {
    items: &'b mut [BatchItem<'a>],
    index: usize,
    /// The item that is being cut.
    cut: Option<(&'a CastPlan, Chunks<'a>)>,
    /// Nanoseconds of a part.
    chunk: u64,
    /// Bytes of the batch.
    bytes: u64,
}

impl<'b, 'a: 'b> Iterator for Parts<'b, 'a> {
    type Item = (usize, Part<'b, 'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((plan, chunks)) = &mut self.cut {
                if let Some((first, flat, _)) = chunks.next() {
                    return Some((self.index - 1, Part::One(plan, first, flat)));
                }
                self.cut = None;
            }
            let index = self.index;
            // As many items as fit in the time of a part.
            let (mut count, mut sum) = (0, 0_u64);
            for item in self.items.iter() {
                sum = sum.saturating_add(item.nanoseconds(self.bytes));
                if sum > self.chunk && count > 0 {
                    break;
                }
                count += 1;
                if sum > self.chunk {
                    break;
                }
            }
            let (some, rest) = mem::take(&mut self.items).split_at_mut(count);
            self.items = rest;
            self.index += count;
            if sum > self.chunk
                && let [item] = &mut *some
            {
                self.cut = item.cut_up(self.chunk, self.bytes);
                if self.cut.is_some() {
                    continue;
                }
            }
            return if some.is_empty() { None } else { Some((index, Part::Some(some))) };
        }
    }
}

impl<'a> BatchItem<'a> {
    /// The chunks of bytes; `None` for other operands.
    fn cut_up(&mut self, chunk: u64, all: u64) -> Option<(&'a CastPlan, Chunks<'a>)> {
        let size = Cost::elements(self.elements, chunk, self.nanoseconds(all));
        match self.work.take() {
            Some(Work::Flat(flat)) => {
                let sides = (self.plan.source(), self.plan.target());
                Some((self.plan, Chunks::new(flat, &mut [], sides, size)))
            }
            other => {
                self.work = other;
                None
            }
        }
    }

    /// Casts the whole item.
    fn run(&mut self, job: &Job<'_>) -> Result<Tally, CastError> {
        match self.work.take() {
            None => Ok(Tally::default()),
            Some(Work::Flat(flat)) => job.flat(0, flat, &mut []),
            Some(Work::Other(operands)) => job.alone(*operands, &mut []),
        }
    }
}

/// Casts every item of a batch, as [`CastPlan::run`] does one by one.
///
/// The number of threads and the use of non-temporal stores are decided for all items together. Long items are cut, and short ones
/// are combined. The threads take from one queue, so that it does not matter which tensors are large.
///
/// ```
/// use lanecast::{BatchItem, Bytes, BytesMut, CastOptions, CastPlan, DType, Threads, cast_batch};
/// let halve = CastPlan::new(DType::Float32, DType::BFloat16, &CastOptions::RUST)?;
/// let shrink = CastPlan::new(DType::Float32, DType::Float8E4M3FN, &CastOptions::RUST)?;
/// let (bias, weights) = ([0.0_f32; 30], vec![0; 4 * 1000]);
/// let (mut small_bias, mut small_weights) = ([1; 2 * 30], vec![1; 1000]);
/// let items = vec![
///     BatchItem::new(&halve, &bias, BytesMut::new(&mut small_bias, 30))?,
///     BatchItem::new(&shrink, Bytes::new(&weights, 1000), BytesMut::new(&mut small_weights, 1000))?,
/// ];
/// cast_batch(items, &Threads::Rayon).expect("no plan is checked");
/// assert!(small_bias.iter().chain(&small_weights).all(|byte| *byte == 0));
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`BatchError`] with the first item of a [checked](CastPlan::checked) plan that holds an element that does not fit; then the results of
/// that item and of those behind it are unspecified.
pub fn cast_batch(mut items: Vec<BatchItem<'_>>, threads: &Threads) -> Result<(), BatchError> {
    let bytes = items.iter().fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
    let time = items.iter().fold(0_u64, |sum, item| sum.saturating_add(item.nanoseconds(bytes)));
    let failed: Mutex<Option<(usize, usize, CastError)>> = Mutex::new(None);
    let note = |index: usize, first: usize, done: Result<Tally, CastError>| {
        let Err(error) = done else { return };
        let mut lowest = failed.lock().unwrap_or_else(PoisonError::into_inner);
        if lowest.as_ref().is_none_or(|(at, element, _)| (index, first) < (*at, *element)) {
            *lowest = Some((index, first, error));
        }
    };
    let job = |plan| {
        let job = Job::new(plan, Outcome::Results);
        job.with_streaming(parallel::streaming(&job, bytes))
    };
    match Share::new(time, || threads.count()) {
        None => items.iter_mut().enumerate().for_each(|(i, item)| note(i, 0, item.run(&job(item.plan)))),
        Some(share) => {
            let parts = Parts { items: &mut items, index: 0, cut: None, chunk: share.chunk, bytes };
            threads.share(share.tasks, parts, |(index, part)| {
                match part {
                    Part::One(plan, first, flat) => note(index, first, job(plan).flat(first, flat, &mut [])),
                    Part::Some(items) => {
                        for (k, item) in items.iter_mut().enumerate() {
                            note(index + k, 0, item.run(&job(item.plan)));
                        }
                    }
                }
                ControlFlow::Continue(())
            });
        }
    }
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((index, _, error)) => Err(BatchError { index, error }),
        None => {
            items.iter_mut().filter_map(|item| item.written.take()).for_each(ptr::all_written);
            Ok(())
        }
    }
}

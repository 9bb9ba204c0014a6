//! Many casts as one, such as the tensors of a checkpoint.

use super::Threads;
use super::chunks::{Chunk, Chunks};
use super::cost::{self, Cost};
use super::plans::{First, streaming};
use super::schedule::Share;
use crate::{CastError, CastPlan};
use core::ops::ControlFlow;
use core::{fmt, mem};

/// One cast of a batch.
#[derive(Debug)]
pub struct BatchItem<'a> {
    /// At least the bytes of `n` elements of the plan's source.
    pub src: &'a [u8],
    /// At least the bytes of `n` elements of its destination.
    pub dst: &'a mut [u8],
    /// The number of elements.
    pub n: usize,
    /// The cast.
    pub plan: &'a CastPlan,
}

/// The error of a batch; nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    One(&'a CastPlan, Chunk<'b, u8, u8>),
    Some(&'b mut [BatchItem<'a>]),
}

/// The remaining parts of a batch, in the order of its items, with the index of the first item of each part.
struct Parts<'b, 'a> {
    items: &'b mut [BatchItem<'a>],
    index: usize,
    /// The item that is being cut.
    cut: Option<(&'a CastPlan, Chunks<'b, u8, u8>)>,
    /// Nanoseconds of a part.
    chunk: u64,
    /// Bytes of the batch.
    bytes: u64,
}

impl<'b, 'a> Iterator for Parts<'b, 'a> {
    type Item = (usize, Part<'b, 'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((plan, chunks)) = &mut self.cut {
                if let Some(chunk) = chunks.next() {
                    return Some((self.index - 1, Part::One(plan, chunk)));
                }
                self.cut = None;
            }
            let index = self.index;
            // As many items as fit in the time of a part.
            let (mut count, mut sum) = (0, 0_u64);
            for item in self.items.iter() {
                sum = sum.saturating_add(EACH + nanoseconds(item, self.bytes));
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
            if sum > self.chunk && count == 1 {
                self.cut = some.iter_mut().next().map(|item| self.cut_up(item));
            } else if some.is_empty() {
                return None;
            } else {
                return Some((index, Part::Some(some)));
            }
        }
    }
}

/// Nanoseconds of overhead per item.
const EACH: u64 = 10;

fn nanoseconds(item: &BatchItem<'_>, bytes: u64) -> u64 {
    cost::of(item.plan).nanoseconds_among(item.n, bytes)
}

impl<'b, 'a> Parts<'b, 'a> {
    fn cut_up(&self, item: &'b mut BatchItem<'a>) -> (&'a CastPlan, Chunks<'b, u8, u8>) {
        let (plan, n) = (item.plan, item.n);
        let size = Cost::elements(n, self.chunk, nanoseconds(item, self.bytes));
        // The lengths were checked before the first part.
        let read = plan.source().byte_len(n).unwrap_or(0).min(item.src.len());
        let written = plan.target().byte_len(n).unwrap_or(0).min(item.dst.len());
        (plan, Chunks::of_bytes(plan, &item.src[..read], &mut item.dst[..written], n, size))
    }
}

/// Casts every item of a batch, as [`CastPlan::run`] does one by one.
///
/// The number of threads and the use of non-temporal stores are decided for all items together. Long items are cut, and short ones
/// are combined. The threads take from one queue, so that it does not matter which tensors are large. Nothing is allocated per
/// item.
///
/// ```
/// use lanecast::bulk::{BatchItem, Threads, par_cast_batch};
/// use lanecast::{CastOptions, CastPlan, DType};
/// let halve = CastPlan::new(DType::Float32, DType::BFloat16, &CastOptions::RUST)?;
/// let shrink = CastPlan::new(DType::Float32, DType::Float8E4M3FN, &CastOptions::RUST)?;
/// let (bias, weights) = ([0; 4 * 30], vec![0; 4 * 1000]);
/// let (mut small_bias, mut small_weights) = ([1; 2 * 30], vec![1; 1000]);
/// par_cast_batch(
///     &mut [
///         BatchItem { src: &bias, dst: &mut small_bias, n: 30, plan: &halve },
///         BatchItem { src: &weights, dst: &mut small_weights, n: 1000, plan: &shrink },
///     ],
///     Threads::Rayon,
/// )
/// .expect("the buffers are large enough");
/// assert!(small_bias.iter().chain(&small_weights).all(|byte| *byte == 0));
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// [`BatchError`] with the first item whose buffers are too small for its elements; then nothing is written to any
/// item.
pub fn par_cast_batch(items: &mut [BatchItem<'_>], threads: Threads<'_>) -> Result<(), BatchError> {
    let mut bytes = 0_u64;
    for (index, item) in items.iter().enumerate() {
        let fits = |need: Option<usize>, have| need.filter(|need| *need <= have);
        let read = fits(item.plan.source().byte_len(item.n), item.src.len());
        let written = fits(item.plan.target().byte_len(item.n), item.dst.len());
        let (Some(read), Some(written)) = (read, written) else {
            let error = item.plan.shortage(item.src.len(), item.dst.len(), item.n);
            return Err(BatchError { index, error });
        };
        bytes = bytes.saturating_add(read as u64).saturating_add(written as u64);
    }
    let time = items.iter().fold(0, |sum: u64, item| sum.saturating_add(EACH + nanoseconds(item, bytes)));
    let all = usize::try_from(bytes).unwrap_or(usize::MAX);
    let failed = First::default();
    let run = |index: usize, plan: &CastPlan, src: &[u8], dst: &mut [u8], n: usize| {
        let done = plan.with_streaming(streaming(plan, all)).run(src, dst, n);
        if let Err(error) = done {
            failed.report(index, error);
        }
    };
    match Share::new(time, || threads.count()) {
        None => {
            for (index, item) in items.iter_mut().enumerate() {
                run(index, item.plan, item.src, item.dst, item.n);
            }
        }
        Some(share) => {
            let parts = Parts { items, index: 0, cut: None, chunk: share.chunk, bytes };
            threads.share(share.tasks, parts, |(index, part)| {
                match part {
                    Part::One(plan, c) => run(index, plan, c.src, c.dst, c.len),
                    Part::Some(items) => {
                        for (k, item) in items.iter_mut().enumerate() {
                            run(index + k, item.plan, item.src, item.dst, item.n);
                        }
                    }
                }
                ControlFlow::Continue(())
            });
        }
    }
    failed.error().map_or(Ok(()), |(index, error)| Err(BatchError { index, error }))
}

//! Runs over several threads: the operands are cut, and what the parts find is joined.

use super::job::Job;
use super::outcome::Tally;
use crate::error::CastError;
use crate::threads::chunks::{Chunks, GRAIN};
use crate::threads::cost::{self, Cost};
use crate::threads::{Share, Threads};
use core::mem;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};
use lanecast_kernels::{Operands, Storage, Streaming, View, ViewMut, machine::RUN};
use std::sync::{Mutex, PoisonError};

/// What the parts of a cast have found so far.
struct Findings {
    sum: Mutex<Tally>,
    /// The error of the part with the lowest index.
    error: Mutex<Option<(usize, CastError)>>,
    /// The lowest index of an element that is rejected: parts behind it need not be cast.
    lowest: AtomicUsize,
}

impl Findings {
    fn new() -> Findings {
        Findings { sum: Mutex::default(), error: Mutex::new(None), lowest: AtomicUsize::new(usize::MAX) }
    }

    /// Does a part whose first element has the index `first`, unless that is behind a rejected element; then so are all parts left in the
    /// queue.
    fn add(&self, first: usize, part: impl FnOnce() -> Result<Tally, CastError>) -> ControlFlow<()> {
        if first > self.lowest.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let (at, error) = match part() {
            Ok(found) => {
                let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
                *sum = sum.and(&found);
                return ControlFlow::Continue(());
            }
            Err(CastError::Rejected(found)) => {
                self.lowest.fetch_min(found.index, Ordering::Relaxed);
                (found.index, CastError::Rejected(found))
            }
            Err(error) => (first, error),
        };
        let mut lowest = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        if lowest.as_ref().is_none_or(|(before, _)| at < *before) {
            *lowest = Some((at, error));
        }
        ControlFlow::Break(())
    }

    fn result(self) -> Result<Tally, CastError> {
        match self.error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(self.sum.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

/// The same [`Streaming`] for all parts, decided by the size of the whole cast.
pub(super) fn streaming(job: &Job<'_>, bytes: u64) -> Streaming {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if job.plan.kernel().streams(bytes) { Streaming::Always } else { Streaming::Never }
}

/// The whole cast, on the plan's threads.
pub(super) fn run(job: &Job<'_>, operands: Operands<'_>, mask: &mut [u8]) -> Result<Tally, CastError> {
    let threads = &job.plan.threads;
    if matches!(threads, Threads::Serial) {
        return job.alone(operands, mask);
    }
    match operands {
        Operands::Flat(flat) => {
            let cost = job.cost(true);
            let time = cost.nanoseconds(flat.n);
            let Some(share) = Share::new(time, || threads.count()) else {
                return job.flat(0, flat, mask);
            };
            let size = Cost::elements(flat.n, share.chunk, time);
            let job = job.with_streaming(streaming(job, (flat.src.len() + flat.dst.len()) as u64));
            let chunks = Chunks::new(flat, mask, (job.plan.source(), job.plan.target()), size);
            let findings = Findings::new();
            threads.share(share.tasks, chunks, |(first, flat, mask)| {
                findings.add(first, || job.flat(first, flat, mask))
            });
            findings.result()
        }
        Operands::Views(src, mut dst) => {
            let Some((share, slices, job)) = Slices::new(job, &src, &mut dst, mask)? else {
                return job.views(0, &src, &mut dst, mask);
            };
            let findings = Findings::new();
            threads.share(share.tasks, slices, |(first, src, dst, mask)| {
                let Some(mut dst) = dst else { return ControlFlow::Continue(()) };
                findings.add(first, || job.views(first, &src, &mut dst, mask))
            });
            findings.result()
        }
        Operands::InPlace(bytes) => job.in_place(bytes, mask),
    }
}

/// What a cast would find in a view, on the plan's threads; `None` if one thread should look for it.
pub(super) fn look(job: &Job<'_>, src: &View<'_>) -> Option<Result<Tally, CastError>> {
    let threads = &job.plan.threads;
    let time = job.cost(false).nanoseconds(src.layout().elements());
    let share = Share::new(time, || threads.count())?;
    let slices = Slices::in_order(src, None, &mut [], [src.encoding().storage(); 2], share, time)?;
    let findings = Findings::new();
    threads.share(share.tasks, slices, |(first, src, _, mask)| {
        findings.add(first, || job.look(first, &src, mask))
    });
    Some(findings.result())
}

impl Job<'_> {
    /// What the cast costs, of contiguous elements or of others.
    pub(super) fn cost(&self, contiguous: bool) -> Cost {
        let cost =
            if contiguous { cost::of(self.plan.kernel()) } else { cost::of_strided(self.plan.kernel()) };
        if self.plan.stochastically().is_some() { cost.at_least(STOCHASTIC) } else { cost }
    }
}

/// Picoseconds that an element takes with stochastic rounding, about.
const STOCHASTIC: u64 = 3000;

/// Slices of views along an axis.
struct Slices<'a> {
    rest: Option<(View<'a>, Option<ViewMut<'a>>)>,
    mask: &'a mut [u8],
    axis: usize,
    /// Elements of a slice along the axis.
    size: usize,
    /// Elements of a slice for each element along the axis, if slices follow each other in C order; otherwise 1.
    across: usize,
    first: usize,
}

impl<'a> Iterator for Slices<'a> {
    /// The index of the first element, the views, and the bits of the mask.
    type Item = (usize, View<'a>, Option<ViewMut<'a>>, &'a mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (src, dst) = self.rest.take()?;
        let (first, mask) = (self.first * self.across, mem::take(&mut self.mask));
        let left = src.layout().shape().get(self.axis).copied().unwrap_or(0);
        if left <= self.size {
            return Some((first, src, dst, mask));
        }
        // The axis and the position were chosen so that both views can be split there.
        let (src, src_rest) = src.split(self.axis, self.size).ok()?;
        let (dst, dst_rest) = match dst {
            Some(dst) => dst.split(self.axis, self.size).ok().map(|(dst, rest)| (Some(dst), Some(rest)))?,
            None => (None, None),
        };
        self.rest = Some((src_rest, dst_rest));
        self.first += self.size;
        let (bits, mask) = mask.split_at_mut(mask.len().min(src.layout().elements().div_ceil(8)));
        self.mask = mask;
        Some((first, src, dst, bits))
    }
}

impl<'a> Slices<'a> {
    /// How the views of a cast are shared, and the job for each slice; `None` if one thread should do it all.
    fn new<'p>(
        job: &Job<'p>,
        src: &View<'a>,
        dst: &'a mut ViewMut<'_>,
        mask: &'a mut [u8],
    ) -> Result<Option<(Share, Slices<'a>, Job<'p>)>, CastError> {
        let threads = &job.plan.threads;
        let n = src.layout().elements();
        let any_order = job.is_plain();
        let cost = job.cost(any_order && has_rows(src, dst));
        let time = cost.nanoseconds(n);
        let Some(share) = Share::new(time, || threads.count()) else { return Ok(None) };
        // Views are checked as a whole before they are cut.
        job.plan.kernel().check_strided(src, dst)?;
        if any_order {
            let Some((axis, size)) = cut(src, dst, Cost::elements(n, share.chunk, time), share.tasks) else {
                return Ok(None);
            };
            let rest = Some((src.clone(), Some(dst.reborrow())));
            let slices = Slices { rest, mask, axis, size, across: 1, first: 0 };
            return Ok(Some((share, slices, job.with_streaming(streaming(job, cost.bytes(n))))));
        }
        let storages = [src.encoding().storage(), dst.encoding().storage()];
        let slices = Slices::in_order(src, Some(dst.reborrow()), mask, storages, share, time);
        Ok(slices.map(|slices| (share, slices, *job)))
    }

    /// Slices along the first axis of two elements or more, at whole bytes of a mask.
    fn in_order(
        src: &View<'a>,
        dst: Option<ViewMut<'a>>,
        mask: &'a mut [u8],
        storages: [Storage; 2],
        share: Share,
        time: u64,
    ) -> Option<Slices<'a>> {
        let n = src.layout().elements();
        let shape = src.layout().shape();
        let axis = shape.iter().position(|len| *len > 1)?;
        let across = n / shape[axis];
        let packed = storages.contains(&Storage::Packed);
        let step = match packed && axis + 1 == shape.len() {
            true => GRAIN,
            false => 8 >> across.trailing_zeros().min(3),
        };
        let size = Cost::elements(n, share.chunk, time).div_ceil(across).checked_next_multiple_of(step)?;
        Some(Slices { rest: Some((src.clone(), dst)), mask, axis, size, across, first: 0 })
    }
}

/// The axis to cut, and the elements along it per chunk; `None` if no axis of at least two elements can be cut.
fn cut(src: &View<'_>, dst: &ViewMut<'_>, chunk: usize, tasks: usize) -> Option<(usize, usize)> {
    let (from, to) = (src.layout(), dst.layout());
    let packed = [from.encoding(), to.encoding()].map(|side| side.storage() == Storage::Packed);
    let last = to.shape().len().checked_sub(1)?;
    // Rows of packed elements have no stride.
    let rows = packed[0] || packed[1];
    let axes = (0..=last).filter(|axis| to.shape()[*axis] > 1 && !(rows && *axis == last));
    // Several slices per thread. Of the axes that are long enough for that, take the one that keeps slices farthest apart.
    let enough = tasks.saturating_mul(4);
    let farthest =
        axes.max_by_key(|axis| (to.shape()[*axis].min(enough), to.strides()[*axis].unsigned_abs()));
    let (axis, step) = match farthest {
        Some(axis) => (axis, 1),
        // One row: cut at whole bytes of both sides, and at whole cache lines if the row begins at one.
        None => (last, GRAIN),
    };
    let across = to.elements() / to.shape()[axis].max(1);
    let size = chunk.div_ceil(across.max(1)).max(1).checked_next_multiple_of(step)?;
    // Contiguous runs are cast directly if they are long enough.
    let goes_on = from.strides()[axis].unsigned_abs() == from.encoding().dtype().size();
    Some((axis, if goes_on { size.max(RUN) } else { size }))
}

/// Whether there is an axis that is contiguous on both sides and long enough for its runs to be cast directly.
fn has_rows(src: &View<'_>, dst: &ViewMut<'_>) -> bool {
    let (from, to) = (src.layout(), dst.layout());
    let sizes = [from, to].map(|layout| layout.encoding().dtype().size() as isize);
    let axes = from.strides().iter().zip(to.strides()).zip(to.shape());
    from.encoding().storage() == Storage::Packed
        || to.encoding().storage() == Storage::Packed
        || axes.into_iter().any(|((s, d), len)| [*s, *d] == sizes && *len >= RUN)
}

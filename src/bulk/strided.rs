//! Views cut along an axis.

use super::Threads;
use super::cost::{self, Cost};
use super::plans::{Counts, First, Rejections, goes_on, streaming};
use super::schedule::Share;
use crate::checked::all_valid;
use crate::strided::{View, ViewMut};
use crate::{CastError, CastOptions, CastPlan, CastReport, CheckedPlan, CountingPlan, Storage};
use core::mem;
use core::sync::atomic::{AtomicUsize, Ordering};
use lanecast_kernels::machine::RUN;

/// Slices of two views along an axis.
struct Slices<'a> {
    rest: Option<(View<'a>, ViewMut<'a>)>,
    axis: usize,
    /// Elements of a slice along the axis.
    size: usize,
    first: usize,
}

impl<'a> Iterator for Slices<'a> {
    type Item = (usize, View<'a>, ViewMut<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (src, dst) = self.rest.take()?;
        let first = self.first;
        let left = dst.layout().shape().get(self.axis).copied().unwrap_or(0);
        if left <= self.size {
            return Some((first, src, dst));
        }
        // The axis and the position were chosen so that both views can be split there.
        let (src, src_rest) = src.split(self.axis, self.size).ok()?;
        let (dst, dst_rest) = dst.split(self.axis, self.size).ok()?;
        self.rest = Some((src_rest, dst_rest));
        self.first += self.size;
        Some((first, src, dst))
    }
}

/// The axis to cut, and the elements along it per chunk; `None` if no axis of at least two elements can be cut.
fn cut(src: &View<'_>, dst: &ViewMut<'_>, chunk: usize, tasks: usize) -> Option<(usize, usize)> {
    let (from, to) = (src.layout(), dst.layout());
    let packed = [from.encoding(), to.encoding()].map(|buffer| buffer.storage() == Storage::Packed);
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
        None => (last, super::chunks::GRAIN),
    };
    let across = to.elements() / to.shape()[axis].max(1);
    let size = chunk.div_ceil(across.max(1)).max(1).checked_next_multiple_of(step)?;
    // Contiguous runs are cast directly if they are long enough.
    let goes_on = from.strides()[axis].unsigned_abs() == from.encoding().dtype().size();
    Some((axis, if goes_on { size.max(RUN) } else { size }))
}

/// Slices that follow each other in C order.
struct InOrder<'a> {
    share: Share,
    slices: Slices<'a>,
    /// Elements of a slice per element along the axis.
    across: usize,
}

impl<'a> InOrder<'a> {
    /// Cuts the first axis of two elements or more, at whole bytes of a bitmap; `None` if one thread should do it all, or if the views
    /// cannot be cast.
    fn new(
        plan: &CastPlan,
        src: &View<'a>,
        dst: &'a mut ViewMut<'_>,
        threads: &Threads<'_>,
    ) -> Option<InOrder<'a>> {
        let n = src.layout().elements();
        let time = cost::of_strided(plan).nanoseconds(n);
        let share = Share::new(time, || threads.count())?;
        // Views are checked as a whole before they are cut.
        plan.kernel().check_strided(src, dst).ok()?;
        let shape = src.layout().shape();
        let axis = shape.iter().position(|len| *len > 1)?;
        let across = n / shape[axis];
        let packed =
            [src.encoding(), dst.encoding()].iter().any(|buffer| buffer.storage() == Storage::Packed);
        let step = match packed && axis + 1 == shape.len() {
            true => super::chunks::GRAIN,
            false => 8 >> across.trailing_zeros().min(3),
        };
        let size = Cost::elements(n, share.chunk, time).div_ceil(across).checked_next_multiple_of(step)?;
        let slices = Slices { rest: Some((*src, dst.reborrow())), axis, size, first: 0 };
        Some(InOrder { share, slices, across })
    }
}

/// Slices with their bytes of a validity bitmap.
struct Masked<'a> {
    slices: Slices<'a>,
    validity: &'a mut [u8],
}

impl<'a> Iterator for Masked<'a> {
    type Item = (usize, View<'a>, ViewMut<'a>, &'a mut [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (first, src, dst) = self.slices.next()?;
        let bytes = src.layout().elements().div_ceil(8);
        let (validity, rest) = mem::take(&mut self.validity).split_at_mut_checked(bytes)?;
        self.validity = rest;
        Some((first, src, dst, validity))
    }
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

impl CastPlan {
    /// [`run_strided`](Self::run_strided) over several threads; the elements written are the same.
    ///
    /// The views are cut along the axis with the largest stride in the destination, if it is long enough.
    ///
    /// # Errors
    ///
    /// As [`run_strided`](Self::run_strided).
    pub fn par_run_strided(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        let n = src.layout().elements();
        let cost = if has_rows(src, dst) { cost::of(self) } else { cost::of_strided(self) };
        let time = cost.nanoseconds(n);
        let shared = Share::new(time, || threads.count());
        let cut = shared.and_then(|share| {
            // Views are checked as a whole before they are cut.
            self.kernel().check_strided(src, dst).ok()?;
            let (axis, size) = cut(src, dst, Cost::elements(n, share.chunk, time), share.tasks)?;
            Some((share, axis, size))
        });
        let Some((share, axis, size)) = cut else {
            return self.run_strided(src, dst);
        };
        let plan = self.with_streaming(streaming(self, usize::try_from(cost.bytes(n)).unwrap_or(usize::MAX)));
        let slices = Slices { rest: Some((*src, dst.reborrow())), axis, size, first: 0 };
        let failed = First::default();
        threads.share(share.tasks, slices, |(first, src, mut dst)| {
            goes_on(plan.run_strided(&src, &mut dst), first, &failed)
        });
        failed.result()
    }
}

impl CheckedPlan {
    /// [`run_strided`](Self::run_strided) over several threads. The reported element is the first in C order, whichever thread is the
    /// fastest.
    ///
    /// The views are cut along the first axis that has two elements or more.
    ///
    /// # Errors
    ///
    /// As [`run_strided`](Self::run_strided).
    pub fn par_run_strided(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        let Some(InOrder { share, slices, across }) = InOrder::new(self.plan(), src, dst, &threads) else {
            return self.run_strided(src, dst);
        };
        let rejections = Rejections::default();
        threads.share(share.tasks, slices, |(first, src, mut dst)| {
            rejections.cast(first * across, || self.run_strided(&src, &mut dst))
        });
        rejections.first.result()
    }

    /// [`run_strided_masked`](Self::run_strided_masked) over several threads, cut as by [`par_run_strided`](Self::par_run_strided); the
    /// bytes written are the same.
    ///
    /// # Errors
    ///
    /// As [`run_strided_masked`](Self::run_strided_masked).
    pub fn par_run_strided_masked(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        validity: &mut [u8],
        threads: Threads<'_>,
    ) -> Result<usize, CastError> {
        let Some(InOrder { share, slices, .. }) = InOrder::new(self.plan(), src, dst, &threads) else {
            return self.run_strided_masked(src, dst, validity);
        };
        let validity = all_valid(validity, src.layout().elements())?;
        let (rejected, failed) = (AtomicUsize::new(0), First::default());
        threads.share(share.tasks, Masked { slices, validity }, |(first, src, mut dst, validity)| {
            let done = self.run_strided_masked(&src, &mut dst, validity);
            goes_on(done.map(|k| _ = rejected.fetch_add(k, Ordering::Relaxed)), first, &failed)
        });
        failed.result().map(|()| rejected.into_inner())
    }
}

impl CountingPlan {
    /// [`run_strided`](Self::run_strided) over several threads, cut as by [`CheckedPlan::par_run_strided`]; the elements written and the
    /// counts are the same.
    ///
    /// # Errors
    ///
    /// As [`run_strided`](Self::run_strided).
    pub fn par_run_strided(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        threads: Threads<'_>,
    ) -> Result<CastReport, CastError> {
        let Some(InOrder { share, slices, .. }) = InOrder::new(self.plan(), src, dst, &threads) else {
            return self.run_strided(src, dst);
        };
        let (counts, failed) = (Counts::default(), First::default());
        threads.share(share.tasks, slices, |(first, src, mut dst)| {
            let done = self.run_strided(&src, &mut dst);
            goes_on(done.map(|report| counts.add(&report)), first, &failed)
        });
        failed.result().map(|()| counts.sum())
    }
}

/// [`strided::cast`](crate::strided::cast) over several threads.
///
/// ```
/// use lanecast::bulk::{Threads, par_cast_strided};
/// use lanecast::strided::{View, ViewMut};
/// use lanecast::half::f16;
/// let (rows, columns) = (700, 900);
/// let table: Vec<f32> = (0..rows * columns).map(|i| (i % 1000) as f32).collect();
/// let mut turned = vec![f16::ZERO; rows * columns];
/// let src = View::from_slice(&table, &[rows, columns])?.transposed();
/// par_cast_strided(
///     &src,
///     &mut ViewMut::from_slice(&mut turned, &[columns, rows])?,
///     Threads::Rayon,
/// )?;
/// assert_eq!(turned[3 * rows + 5].to_f32(), table[5 * columns + 3]);
/// # Ok::<(), lanecast::CastError>(())
/// ```
///
/// # Errors
///
/// As [`strided::cast`](crate::strided::cast).
pub fn par_cast_strided(
    src: &View<'_>,
    dst: &mut ViewMut<'_>,
    threads: Threads<'_>,
) -> Result<(), CastError> {
    par_cast_strided_with(src, dst, threads, &CastOptions::RUST)
}

/// [`strided::cast_with`](crate::strided::cast_with) over several threads.
///
/// # Errors
///
/// As [`strided::cast_with`](crate::strided::cast_with).
pub fn par_cast_strided_with(
    src: &View<'_>,
    dst: &mut ViewMut<'_>,
    threads: Threads<'_>,
    options: &CastOptions,
) -> Result<(), CastError> {
    CastPlan::new(src.encoding(), dst.encoding(), options)?.par_run_strided(src, dst, threads)
}

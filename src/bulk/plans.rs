//! The plans over several threads.

use super::Threads;
use super::chunks::{Chunks, Masked, Parts};
use super::schedule::{Share, alone};
use crate::checked::{CastReport, CheckedPlan, CountingPlan, Rejection, all_valid};
use crate::{CastError, CastPlan, Element, Encoding, Streaming};
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How a cast between buffers is shared by several threads.
struct Shared {
    share: Share,
    /// Elements of a chunk.
    chunk: usize,
    streaming: Streaming,
    /// Bytes of the source and of the destination.
    read: usize,
    written: usize,
}

/// The same [`Streaming`] for all chunks, decided by the size of the whole cast.
pub(super) fn streaming(plan: &CastPlan, bytes: usize) -> Streaming {
    if plan.streams(bytes) { Streaming::Always } else { Streaming::Never }
}

impl Shared {
    /// `None` if one thread should do it all, or if a buffer is too small.
    fn new(plan: &CastPlan, src: usize, dst: usize, n: usize, threads: &Threads<'_>) -> Option<Shared> {
        let (share, chunk) = Share::of_cast(plan, n, threads)?;
        let (read, written) = (plan.source().byte_len(n)?, plan.target().byte_len(n)?);
        if read > src || written > dst {
            return None;
        }
        let streaming = streaming(plan, read.saturating_add(written));
        Some(Shared { share, chunk, streaming, read, written })
    }

    fn chunks<'a>(&self, plan: &CastPlan, src: &'a [u8], dst: &'a mut [u8], n: usize) -> Chunks<'a, u8, u8> {
        Chunks::of_bytes(plan, &src[..self.read], &mut dst[..self.written], n, self.chunk)
    }
}

/// As [`Shared::new`], for slices of elements.
fn shared_elements<S: Element, D: Element>(
    plan: &CastPlan,
    src: &[S],
    dst: usize,
    threads: &Threads<'_>,
) -> Option<(Share, usize, Streaming)> {
    let typed = plan.source() == Encoding::new(S::DTYPE) && plan.target() == Encoding::new(D::DTYPE);
    if !typed || src.len() != dst {
        return None;
    }
    let (share, chunk) = Share::of_cast(plan, src.len(), threads)?;
    Some((share, chunk, streaming(plan, size_of_val(src).saturating_add(dst.saturating_mul(size_of::<D>())))))
}

/// The error of the first chunk that failed.
#[derive(Default)]
pub(super) struct First(Mutex<Option<(usize, CastError)>>);

impl First {
    pub(super) fn report(&self, at: usize, error: CastError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(before, _)| at < *before) {
            *first = Some((at, error));
        }
    }

    pub(super) fn error(self) -> Option<(usize, CastError)> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn result(self) -> Result<(), CastError> {
        self.error().map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl CastPlan {
    /// [`run`](Self::run) over several threads; the bytes written are the same.
    ///
    /// Casts that one thread finishes before others have woken run on the calling thread. See [`bulk`](crate::bulk).
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    #[inline]
    pub fn par_run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        if alone(self, n) { self.run(src, dst, n) } else { self.run_shared(src, dst, n, threads) }
    }

    #[inline(never)]
    fn run_shared(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        let Some(shared) = Shared::new(self, src.len(), dst.len(), n, &threads) else {
            return self.run(src, dst, n);
        };
        let plan = self.with_streaming(shared.streaming);
        let failed = First::default();
        threads.share(shared.share.tasks, shared.chunks(self, src, dst, n), |c| {
            goes_on(plan.run(c.src, c.dst, c.len), c.first, &failed)
        });
        failed.result()
    }

    /// [`run_slice`](Self::run_slice) over several threads; the elements written are the same.
    ///
    /// # Errors
    ///
    /// As [`run_slice`](Self::run_slice).
    pub fn par_run_slice<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [D],
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        if alone(self, src.len()) {
            return self.run_slice(src, dst);
        }
        let Some((share, chunk, streaming)) = shared_elements::<S, D>(self, src, dst.len(), &threads) else {
            return self.run_slice(src, dst);
        };
        let plan = self.with_streaming(streaming);
        let failed = First::default();
        threads.share(share.tasks, Chunks::of_elements(src, dst, chunk), |c| {
            goes_on(plan.run_slice(c.src, c.dst), c.first, &failed)
        });
        failed.result()
    }
}

/// Keeps the error of a chunk; the chunks after it need not be cast.
pub(super) fn goes_on(done: Result<(), CastError>, at: usize, failed: &First) -> ControlFlow<()> {
    match done {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failed.report(at, error);
            ControlFlow::Break(())
        }
    }
}

/// Collects the rejections of checked chunks. Chunks after a rejected element need not be cast.
#[derive(Default)]
pub(super) struct Rejections {
    lowest: Lowest,
    pub(super) first: First,
}

/// The lowest index of a rejected element so far.
struct Lowest(AtomicUsize);

impl Default for Lowest {
    fn default() -> Self {
        Lowest(AtomicUsize::new(usize::MAX))
    }
}

impl Rejections {
    /// Casts a chunk whose first element has the index `at`, unless that is after a rejected element; then so are all chunks left in the
    /// queue.
    pub(super) fn cast(&self, at: usize, cast: impl FnOnce() -> Result<(), CastError>) -> ControlFlow<()> {
        if at > self.lowest.0.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        match cast() {
            Ok(()) => return ControlFlow::Continue(()),
            Err(CastError::Rejected(found)) => {
                let found: Rejection = found.after(at);
                self.lowest.0.fetch_min(found.index, Ordering::Relaxed);
                self.first.report(found.index, CastError::Rejected(found));
            }
            Err(error) => self.first.report(at, error),
        }
        ControlFlow::Break(())
    }
}

impl CastPlan {
    /// [`run_to_vec`](Self::run_to_vec) over several threads; the elements are the same.
    ///
    /// # Errors
    ///
    /// As [`run_to_vec`](Self::run_to_vec).
    pub fn par_run_to_vec<S: Element, D: Element>(
        &self,
        src: &[S],
        threads: Threads<'_>,
    ) -> Result<Vec<D>, CastError> {
        let Some((share, chunk, streaming)) = shared_elements::<S, D>(self, src, src.len(), &threads) else {
            return self.run_to_vec(src);
        };
        let plan = self.with_streaming(streaming);
        let out = plan.kernel().run_to_vec_in_parts(src, |whole| {
            threads.share(share.tasks, Parts::new(whole, chunk), |part| match part.run(plan.kernel()) {
                Some(()) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            });
        });
        out.ok_or_else(|| self.mismatch::<S, D>(src.len(), src.len()))
    }
}

impl CheckedPlan {
    /// [`run`](Self::run) over several threads. The reported element is the first in order, whichever thread is the fastest.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        let Some(shared) = Shared::new(self.plan(), src.len(), dst.len(), n, &threads) else {
            return self.run(src, dst, n);
        };
        let checked = self.with_streaming(shared.streaming);
        let rejections = Rejections::default();
        threads.share(shared.share.tasks, shared.chunks(self.plan(), src, dst, n), |c| {
            rejections.cast(c.first, || checked.run(c.src, c.dst, c.len))
        });
        rejections.first.result()
    }

    /// [`run_slice`](Self::run_slice) over several threads; the reported element is the first in order.
    ///
    /// # Errors
    ///
    /// As [`run_slice`](Self::run_slice).
    pub fn par_run_slice<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [D],
        threads: Threads<'_>,
    ) -> Result<(), CastError> {
        let Some((share, chunk, streaming)) = shared_elements::<S, D>(self.plan(), src, dst.len(), &threads)
        else {
            return self.run_slice(src, dst);
        };
        let checked = self.with_streaming(streaming);
        let rejections = Rejections::default();
        threads.share(share.tasks, Chunks::of_elements(src, dst, chunk), |c| {
            rejections.cast(c.first, || checked.run_slice(c.src, c.dst))
        });
        rejections.first.result()
    }

    /// [`run_masked`](Self::run_masked) over several threads; the bytes written are the same.
    ///
    /// # Errors
    ///
    /// As [`run_masked`](Self::run_masked).
    pub fn par_run_masked(
        &self,
        src: &[u8],
        dst: &mut [u8],
        validity: &mut [u8],
        n: usize,
        threads: Threads<'_>,
    ) -> Result<usize, CastError> {
        let Some(shared) = Shared::new(self.plan(), src.len(), dst.len(), n, &threads) else {
            return self.run_masked(src, dst, validity, n);
        };
        let checked = self.with_streaming(shared.streaming);
        let validity = all_valid(validity, n)?;
        let chunks = Masked { chunks: shared.chunks(self.plan(), src, dst, n), validity };
        let (rejected, failed) = (AtomicUsize::new(0), First::default());
        threads.share(shared.share.tasks, chunks, |(c, validity)| {
            let done = checked.run_masked(c.src, c.dst, validity, c.len);
            goes_on(done.map(|k| _ = rejected.fetch_add(k, Ordering::Relaxed)), c.first, &failed)
        });
        failed.result().map(|()| rejected.into_inner())
    }
}

/// The sum of the reports of chunks.
#[derive(Default)]
pub(super) struct Counts(Mutex<CastReport>);

impl Counts {
    pub(super) fn add(&self, report: &CastReport) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = sum.and(report);
    }

    pub(super) fn sum(self) -> CastReport {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountingPlan {
    /// [`run`](Self::run) over several threads; the bytes written and the counts are the same.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn par_run(
        &self,
        src: &[u8],
        dst: &mut [u8],
        n: usize,
        threads: Threads<'_>,
    ) -> Result<CastReport, CastError> {
        let Some(shared) = Shared::new(self.plan(), src.len(), dst.len(), n, &threads) else {
            return self.run(src, dst, n);
        };
        let counting = self.with_streaming(shared.streaming);
        let (counts, failed) = (Counts::default(), First::default());
        threads.share(shared.share.tasks, shared.chunks(self.plan(), src, dst, n), |c| {
            goes_on(counting.run(c.src, c.dst, c.len).map(|report| counts.add(&report)), c.first, &failed)
        });
        failed.result().map(|()| counts.sum())
    }

    /// [`run_slice`](Self::run_slice) over several threads; the elements written and the counts are the same.
    ///
    /// # Errors
    ///
    /// As [`run_slice`](Self::run_slice).
    pub fn par_run_slice<S: Element, D: Element>(
        &self,
        src: &[S],
        dst: &mut [D],
        threads: Threads<'_>,
    ) -> Result<CastReport, CastError> {
        let Some((share, chunk, streaming)) = shared_elements::<S, D>(self.plan(), src, dst.len(), &threads)
        else {
            return self.run_slice(src, dst);
        };
        let counting = self.with_streaming(streaming);
        let (counts, failed) = (Counts::default(), First::default());
        threads.share(share.tasks, Chunks::of_elements(src, dst, chunk), |c| {
            goes_on(counting.run_slice(c.src, c.dst).map(|report| counts.add(&report)), c.first, &failed)
        });
        failed.result().map(|()| counts.sum())
    }
}

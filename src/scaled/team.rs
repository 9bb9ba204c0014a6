//! Who does the parts of a cast.

use super::error::ScaledError;
#[cfg(feature = "rayon")]
use crate::threads::{Share, Threads};
use alloc::vec::Vec;
#[cfg(feature = "rayon")]
use core::ops::ControlFlow;
#[cfg(feature = "rayon")]
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Picoseconds that an element takes one thread, about.
#[cfg(feature = "rayon")]
const ELEMENT: u64 = 300;

/// The calling thread, or several.
pub(super) struct Team<'t> {
    /// Elements of a part, about.
    pub(super) part: usize,
    #[cfg_attr(not(feature = "rayon"), expect(dead_code, reason = "there is only the calling thread"))]
    threads: Option<Shared<'t>>,
}

/// The threads, and how many of them.
#[cfg(feature = "rayon")]
type Shared<'t> = (&'t Threads, usize);

#[cfg(not(feature = "rayon"))]
type Shared<'t> = core::marker::PhantomData<&'t ()>;

impl<'t> Team<'t> {
    /// The calling thread.
    pub(super) fn alone(part: usize) -> Self {
        Self { part, threads: None }
    }

    /// As many of the threads as are worth it for `n` elements. `part` is for the calling thread alone.
    #[cfg(feature = "rayon")]
    pub(super) fn new(n: usize, part: usize, threads: &'t Threads) -> Self {
        let time = n as u64 / 1000 * ELEMENT;
        match Share::new(time, || threads.count()) {
            None => Self::alone(part),
            Some(share) => {
                let chunk = (n as u64 / (time / share.chunk).max(1)).max(1);
                let part = usize::try_from(chunk).unwrap_or(n).min(part);
                Self { part, threads: Some((threads, share.tasks)) }
            }
        }
    }

    /// Calls `work` for every job, with memory that it may use, and `take` with each result. If some fail, the first of their errors is returned.
    pub(super) fn run<J: Send, R: Send>(
        &self,
        mut jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(J, &mut Vec<u8>) -> Result<R, ScaledError> + Sync,
        mut take: impl FnMut(R) + Send,
    ) -> Result<(), ScaledError> {
        #[cfg(feature = "rayon")]
        if let Some((threads, tasks)) = self.threads {
            return share(threads, tasks, jobs, work, take);
        }
        let mut memory = Vec::new();
        jobs.try_for_each(|job| work(job, &mut memory).map(&mut take))
    }
}

#[cfg(feature = "rayon")]
fn share<J: Send, R: Send>(
    threads: &Threads,
    tasks: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J, &mut Vec<u8>) -> Result<R, ScaledError> + Sync,
    take: impl FnMut(R) + Send,
) -> Result<(), ScaledError> {
    fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
    let (take, memory) = (Mutex::new(take), Mutex::new(Vec::new()));
    let first: Mutex<Option<(usize, ScaledError)>> = Mutex::new(None);
    threads.share(tasks, jobs.enumerate(), |(index, job)| {
        // As many buffers as there are threads at work.
        let mut own = locked(&memory).pop().unwrap_or_default();
        let done = work(job, &mut own);
        locked(&memory).push(own);
        match done {
            Ok(result) => {
                (*locked(&take))(result);
                ControlFlow::Continue(())
            }
            Err(error) => {
                let mut first = locked(&first);
                if first.as_ref().is_none_or(|(before, _)| index < *before) {
                    *first = Some((index, error));
                }
                ControlFlow::Break(())
            }
        }
    });
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

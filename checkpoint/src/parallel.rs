//! Work on several threads whose results are taken in order.
//!
//! *Law.* Results are taken in the order of the jobs, on the calling thread, which runs the callbacks. The first error in this order ends all.
//! Jobs in progress and results that wait hold a limited number of bytes, or one job.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use lanecast_files::{Error, Result};

/// Bytes that results hold before they are taken.
const LIMIT: u64 = 16 << 20;
/// The most threads by default: a file is written by one, and no more can keep it busy.
const MOST: usize = 8;
/// After this time without a result the caller looks whether it should go on.
const PATIENCE: Duration = Duration::from_millis(50);

/// This number of threads, or as many as there are cores. Eight of them are enough for one file.
pub(crate) fn count(threads: Option<usize>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST);
    threads.unwrap_or_else(cores).max(1)
}

/// Whether the work has ended early.
#[derive(Debug, Default)]
pub(crate) struct Stop(AtomicBool);

impl Stop {
    /// Fails if the result is not needed any more.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// The jobs that are left.
struct Queue<I: Iterator> {
    jobs: I,
    /// The next job, if it has to wait for room.
    first: Option<I::Item>,
    index: u64,
    /// Bytes of the jobs that were begun and whose results were not taken.
    held: u64,
}

struct Shared<I: Iterator> {
    queue: Mutex<Queue<I>>,
    room: Condvar,
    stop: Stop,
}

impl<J, I: Iterator<Item = (J, u64)>> Shared<I> {
    fn lock(&self) -> MutexGuard<'_, Queue<I>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job with its index and its bytes, once there is room for it.
    fn next(&self) -> Option<(u64, u64, J)> {
        let mut queue = self.lock();
        loop {
            if self.stop.check().is_err() {
                return None;
            }
            let (job, bytes) = match queue.first.take() {
                Some(first) => first,
                None => queue.jobs.next()?,
            };
            if queue.held == 0 || queue.held + bytes <= LIMIT {
                let index = queue.index;
                (queue.index, queue.held) = (index + 1, queue.held + bytes);
                return Some((index, bytes, job));
            }
            queue.first = Some((job, bytes));
            queue = self.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn release(&self, bytes: u64) {
        self.lock().held -= bytes;
        self.room.notify_all();
    }

    fn end(&self) {
        self.stop.0.store(true, Ordering::Relaxed);
        // A thread that is about to wait holds the lock.
        drop(self.lock());
        self.room.notify_all();
    }
}

/// Ends the work if its thread panics.
struct Guard<'s, J, I: Iterator<Item = (J, u64)>>(&'s Shared<I>);

impl<J, I: Iterator<Item = (J, u64)>> Drop for Guard<'_, J, I> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// Does `work` for each job on `threads` threads, and gives `take` the results in the order of the jobs. A job comes with the bytes that its
/// result holds. `take` is given `None` now and then if there is no result yet.
pub(crate) fn in_order<J: Send, R: Send>(
    threads: usize,
    jobs: impl Iterator<Item = (J, u64)> + Send,
    work: impl Fn(J, &Stop) -> Result<R> + Sync,
    mut take: impl FnMut(Option<R>) -> Result<()>,
) -> Result<()> {
    let queue = Queue { jobs, first: None, index: 0, held: 0 };
    let shared = Shared { queue: Mutex::new(queue), room: Condvar::new(), stop: Stop::default() };
    let (shared, work) = (&shared, &work);
    thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                let _guard = Guard(shared);
                while let Some((index, bytes, job)) = shared.next() {
                    if sender.send((index, bytes, work(job, &shared.stop))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut waiting, mut next) = (BTreeMap::new(), 0);
        let mut take_all = || -> Result<()> {
            loop {
                match results.recv_timeout(PATIENCE) {
                    Ok((index, bytes, result)) => _ = waiting.insert(index, (bytes, result)),
                    Err(RecvTimeoutError::Timeout) => take(None)?,
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                while let Some((bytes, result)) = waiting.remove(&next) {
                    take(Some(result?))?;
                    shared.release(bytes);
                    next += 1;
                }
            }
        };
        let taken = take_all();
        shared.end();
        taken
    })
}

#[cfg(test)]
mod tests {
    use std::{panic, sync::atomic::AtomicU64, time::Instant};

    use super::*;
    use crate::error::request;

    #[test]
    fn results_are_taken_in_order_and_few_wait() {
        for threads in [1, 2, 5] {
            let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
            let jobs = (0..200_u64).map(|i| (i, if i == 50 { 2 * LIMIT } else { LIMIT / 4 }));
            let work = |job: u64, _: &Stop| {
                let now = held.fetch_add(1, Ordering::Relaxed) + 1;
                most.fetch_max(now, Ordering::Relaxed);
                thread::sleep(Duration::from_micros(job % 7 * 50));
                Ok(job * job)
            };
            let mut taken = Vec::new();
            let done = in_order(threads, jobs, work, |result| {
                if let Some(result) = result {
                    held.fetch_sub(1, Ordering::Relaxed);
                    taken.push(result);
                }
                Ok(())
            });
            assert!(done.is_ok() && taken.into_iter().eq((0..200).map(|i| i * i)));
            assert!(most.into_inner() <= 5);
        }
    }

    #[test]
    fn the_first_error_in_order_ends_the_work() {
        let (began, jobs) = (AtomicU64::new(0), (0..1000_u64).map(|i| (i, 1)));
        let work = |job, stop: &Stop| {
            began.fetch_add(1, Ordering::Relaxed);
            // A later error is there first.
            thread::sleep(Duration::from_millis(if job == 3 { 20 } else { 0 }));
            match job {
                3 | 5 => Err(request(format!("job {job}"))),
                6.. => stop.check(),
                _ => Ok(()),
            }
        };
        let error = in_order(4, jobs, work, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("job 3"), "{error}");
        let error = in_order(3, (0..9).map(|i| (i, 1)), |_, _| Ok(()), |_: Option<()>| Err(Error::Cancelled));
        assert!(matches!(error, Err(Error::Cancelled)));
    }

    #[test]
    fn a_caller_that_waits_can_end_the_work() {
        let start = Instant::now();
        let work = |(), stop: &Stop| loop {
            stop.check()?;
            thread::sleep(Duration::from_millis(1));
        };
        let done = in_order(2, (0..9).map(|_| ((), 1)), work, |result: Option<()>| match result {
            None => Err(Error::Cancelled),
            Some(()) => Ok(()),
        });
        assert!(matches!(done, Err(Error::Cancelled)) && start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_panic_ends_the_work() {
        let work = |job: u64, _: &Stop| if job == 2 { panic!("a test") } else { Ok(()) };
        let run = || in_order(3, (0..100_u64).map(|i| (i, LIMIT)), work, |_| Ok(()));
        assert!(panic::catch_unwind(run).is_err());
    }
}

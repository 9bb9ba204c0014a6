//! [`Threads`]: which threads share a cast.

use super::fork_guard::{self, Global};
use alloc::sync::Arc;
use core::fmt;
use core::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Which threads share a cast; a setting of a plan ([`CastPlan::with_threads`](crate::CastPlan::with_threads)).
///
/// The calling thread takes part and is counted: a cast over a pool of four threads runs on the caller and three of them.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Threads {
    /// Only the calling thread.
    #[default]
    Serial,
    /// The rayon pool whose worker the calling thread is (as in [`ThreadPool::install`](rayon::ThreadPool::install)), otherwise
    /// rayon's global pool.
    ///
    /// After a `fork` the global pool has no threads in the child, which then casts on the calling thread.
    Rayon,
    /// As [`Rayon`](Self::Rayon), on at most this many threads, including the calling one. 0 and 1 mean [`Serial`](Self::Serial).
    AtMost(usize),
    /// The threads of the host program, or a rayon pool of its own. The threads of a pool must exist: after a `fork`, a pool from the parent
    /// has no threads in the child, and the child would wait for them for ever.
    Host(Arc<dyn ParallelFor>),
}

/// The threads of a host program: a parallel loop over tasks in its own thread pool.
///
/// ```
/// use lanecast::{CastOptions, CastPlan, ParallelFor, Threads, half::bf16};
/// use std::{sync::Arc, thread};
///
/// /// A host that starts its threads anew for every loop.
/// struct Host;
///
/// impl ParallelFor for Host {
///     fn threads(&self) -> usize {
///         2
///     }
///
///     fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
///         thread::scope(|scope| {
///             for index in 0..tasks {
///                 // If no thread can be started for a task, the caller does its work.
///                 _ = thread::Builder::new().spawn_scoped(scope, move || task(index));
///             }
///         });
///     }
/// }
///
/// let plan = CastPlan::of::<f32, bf16>(&CastOptions::RUST).with_threads(Threads::Host(Arc::new(Host)));
/// let out = plan.run_to_vec::<bf16>(&vec![1.0_f32; 3_000_000])?;
/// assert!(out.iter().all(|x| *x == bf16::ONE));
/// # Ok::<(), lanecast::CastError>(())
/// ```
pub trait ParallelFor: Send + Sync {
    /// How many threads [`run`](Self::run) can use at once, including the calling one. If it is 1 or 0, `run` is not called.
    fn threads(&self) -> usize;

    /// Calls `task` once with each number from 0 to `tasks - 1`, in any order and on any threads, and returns when all calls
    /// have returned.
    ///
    /// A task is not tied to a part of the cast: it takes chunks from a queue until none is left. So the cast is completed
    /// whatever this function does: tasks may be called one after the other, or twice, and what is left when `run` returns (all
    /// of it, if no task was called) is cast by the thread that called `run`. The only requirement is that no call is still
    /// running when `run` returns, which safe code cannot violate.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

impl ParallelFor for rayon::ThreadPool {
    fn threads(&self) -> usize {
        self.current_num_threads()
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        self.in_place_scope(|scope| spread(scope, tasks, task));
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threads::Serial => f.write_str("Serial"),
            Threads::Rayon => f.write_str("Rayon"),
            Threads::AtMost(threads) => f.debug_tuple("AtMost").field(threads).finish(),
            Threads::Host(host) => write!(f, "Host({} threads)", host.threads()),
        }
    }
}

impl Threads {
    /// How many threads can share a cast. Never waits for a pool; for a pool whose state is unknown, it is a guess.
    pub(crate) fn count(&self) -> usize {
        match self {
            Threads::Serial | Threads::AtMost(0 | 1) => 1,
            Threads::AtMost(threads) => Threads::Rayon.count().min(*threads),
            Threads::Rayon => match fork_guard::global() {
                Global::Worker | Global::Alive => rayon::current_num_threads(),
                Global::Asked => thread::available_parallelism().map_or(1, usize::from),
                Global::Gone => 1,
            },
            Threads::Host(host) => host.threads(),
        }
    }

    /// Calls `work` for all `chunks`, on at most `tasks` threads. Each thread takes the next chunk when it has finished one. If
    /// `work` breaks, the chunks after its own are not needed.
    pub(crate) fn share<C>(
        &self,
        tasks: usize,
        chunks: impl Iterator<Item = C> + Send,
        work: impl Fn(C) -> ControlFlow<()> + Sync,
    ) {
        let queue = Mutex::new(chunks);
        // The lock is held while a chunk is cut off, not while it is cast; a panic cannot leave the queue inconsistent.
        let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let drain = || {
            while let Some(chunk) = take() {
                if work(chunk).is_break() {
                    return;
                }
            }
        };
        match self {
            Threads::Serial | Threads::AtMost(0 | 1) => drain(),
            Threads::Host(host) => {
                host.run(tasks, &|_| drain());
                // The chunks that the host left over.
                drain();
            }
            // `tasks` is at most `count`.
            Threads::Rayon | Threads::AtMost(_) => loop {
                match fork_guard::global() {
                    Global::Worker | Global::Alive => {
                        let tasks = tasks.min(rayon::current_num_threads());
                        let task = |_| drain();
                        return rayon::in_place_scope(|scope| spread(scope, tasks, &task));
                    }
                    Global::Gone => return drain(),
                    // Do not wait for the pool: until it answers, this thread casts alone.
                    Global::Asked => {
                        let Some(chunk) = take() else { return };
                        if work(chunk).is_break() {
                            return;
                        }
                    }
                }
            },
        }
    }
}

/// Runs a task on this thread and others on `tasks - 1` threads of a pool.
fn spread<'s>(scope: &rayon::Scope<'s>, tasks: usize, task: &'s (dyn Fn(usize) + Sync)) {
    for index in 1..tasks {
        scope.spawn(move |_| task(index));
    }
    task(0);
}

/// There are no threads on WebAssembly.
#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::time::Duration;
    use std::vec::Vec;

    /// The threads that take a chunk. Each chunk lasts long enough for all threads to come.
    fn used(threads: &Threads, tasks: usize) -> usize {
        let seen = Mutex::new(HashSet::new());
        threads.share(tasks, 0..40, |_: i32| {
            seen.lock().expect("no panics").insert(thread::current().id());
            thread::sleep(Duration::from_millis(1));
            ControlFlow::Continue(())
        });
        seen.into_inner().expect("no panics").len()
    }

    #[test]
    fn a_cap_on_the_pool() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("four threads");
        let counts = |caps: &[usize]| -> Vec<_> {
            pool.install(|| caps.iter().map(|cap| Threads::AtMost(*cap).count()).collect())
        };
        assert_eq!(counts(&[0, 1, 2, 3, 4, 9]), [1, 1, 2, 3, 4, 4]);
        let at_most = |cap| pool.install(|| used(&Threads::AtMost(cap), Threads::AtMost(cap).count()));
        assert_eq!((at_most(0), at_most(1)), (1, 1));
        assert!((1..=2).contains(&at_most(2)) && (2..=3).contains(&at_most(3)));
    }
}

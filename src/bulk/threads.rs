//! [`Threads`]: which threads share a cast.

use super::fork_guard::{self, Global};
use core::fmt;
use core::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Which threads share a cast.
///
/// The calling thread takes part and is counted: a cast over a pool of four threads runs on the caller and three of them.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub enum Threads<'a> {
    /// Only the calling thread.
    Serial,
    /// The rayon pool of which the calling thread is a worker, otherwise rayon's global pool.
    ///
    /// After a `fork` the global pool has no threads in the child, which then casts on the calling thread.
    #[default]
    Rayon,
    /// As [`Rayon`](Self::Rayon), on at most this many threads, including the calling one. 0 and 1 mean [`Serial`](Self::Serial).
    AtMost(usize),
    /// This rayon pool. Its threads must exist: after a `fork`, a pool from the parent has no threads in the child, and the child
    /// would wait for them for ever.
    Pool(&'a rayon::ThreadPool),
    /// The threads of the host program.
    Custom(&'a dyn ParallelFor),
}

/// The threads of a host program: a parallel loop over tasks in its own thread pool.
///
/// ```
/// use lanecast::bulk::{ParallelFor, Threads, par_cast};
/// use lanecast::half::bf16;
/// use std::thread;
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
/// let src = vec![1.0_f32; 3_000_000];
/// let mut dst = vec![bf16::ZERO; src.len()];
/// par_cast(&src, &mut dst, Threads::Custom(&Host))?;
/// assert!(dst.iter().all(|x| *x == bf16::ONE));
/// # Ok::<(), lanecast::CastError>(())
/// ```
pub trait ParallelFor: Sync {
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

impl fmt::Debug for Threads<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Threads::Serial => f.write_str("Serial"),
            Threads::Rayon => f.write_str("Rayon"),
            Threads::AtMost(threads) => f.debug_tuple("AtMost").field(threads).finish(),
            Threads::Pool(pool) => f.debug_tuple("Pool").field(pool).finish(),
            Threads::Custom(host) => write!(f, "Custom({} threads)", host.threads()),
        }
    }
}

impl Threads<'_> {
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
            Threads::Pool(pool) => pool.current_num_threads(),
            Threads::Custom(host) => host.threads(),
        }
    }

    /// Calls `work` for all `chunks`, on at most `tasks` threads, each of which takes the next chunk when it has finished one. If
    /// `work` breaks, the chunks after its own are not needed.
    pub(crate) fn share<C>(
        self,
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
            Threads::Pool(pool) => pool.in_place_scope(|scope| spread(scope, tasks, &drain)),
            Threads::Custom(host) => {
                host.run(tasks, &|_| drain());
                // The chunks that the host left over.
                drain();
            }
            // `tasks` is at most `count`.
            Threads::Rayon | Threads::AtMost(_) => loop {
                match fork_guard::global() {
                    Global::Worker | Global::Alive => {
                        let tasks = tasks.min(rayon::current_num_threads());
                        return rayon::in_place_scope(|scope| spread(scope, tasks, &drain));
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

/// Runs `drain` on this thread and on `tasks - 1` threads of a pool.
fn spread<'s>(scope: &rayon::Scope<'s>, tasks: usize, drain: &'s (dyn Fn() + Sync)) {
    for _ in 1..tasks {
        scope.spawn(|_| drain());
    }
    drain();
}

/// There are no threads on WebAssembly.
#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::time::Duration;
    use std::vec::Vec;

    /// The threads that take a chunk, each of which lasts long enough for all threads to come.
    fn used(threads: Threads<'_>, tasks: usize) -> usize {
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
        let at_most = |cap| pool.install(|| used(Threads::AtMost(cap), Threads::AtMost(cap).count()));
        assert_eq!((at_most(0), at_most(1)), (1, 1));
        assert!((1..=2).contains(&at_most(2)) && (2..=3).contains(&at_most(3)));
    }
}

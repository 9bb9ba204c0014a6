//! Whether rayon's threads exist.
//!
//! A `fork` copies only the calling thread. The child inherits a pool that looks as it did in the parent but has no threads, so
//! waiting for a job on it would never end. Therefore a job that runs in the pool records the process, and a pool that was last seen
//! alive in another process is not used. If the pool was never seen (perhaps because the host used it before it forked, and lanecast
//! did not), it is probed: a job is sent, and the caller casts alone until the job has run. A separate thread sends it, because even
//! a lock of a pool without threads may be held for ever, and because the first job starts the threads, which takes time and can
//! fail.
//!
//! A worker that forks is the only thread of its pool in the child. It would run the jobs that it gives to its pool by itself;
//! still, the process in which a worker first came here is recorded, and in another process it casts alone.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};
use std::{process, thread};

/// What is known about the pool that a call would use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    /// The calling thread is a worker of a pool, and that pool's threads exist.
    Worker,
    /// The global pool has run a job in this process.
    Alive,
    /// A job was sent to it and has not run yet. Perhaps it never will.
    Asked,
    /// Its threads belong to another process.
    Gone,
}

/// The process in which the global pool was last seen alive, or 0.
static ALIVE: AtomicU32 = AtomicU32::new(0);

/// The process in which it was probed, or 0.
static ASKED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The process in which this worker first came here, or 0.
    static SEEN: Cell<u32> = const { Cell::new(0) };
}

/// The id of the process; a constant where there is no `fork`.
fn process() -> u32 {
    if cfg!(unix) { process::id() } else { 1 }
}

/// What is known about the pool that the calling thread would use. Probes it if nothing is known; never waits.
pub(super) fn global() -> Global {
    let here = process();
    if rayon::current_thread_index().is_some() {
        let seen = SEEN.get();
        if seen == 0 {
            SEEN.set(here);
        }
        return if seen == 0 || seen == here { Global::Worker } else { Global::Gone };
    }
    match ALIVE.load(Ordering::Relaxed) {
        0 => {
            ask(here);
            Global::Asked
        }
        seen if seen == here => Global::Alive,
        _ => Global::Gone,
    }
}

/// Sends a job to the global pool, once per process.
fn ask(here: u32) {
    if ASKED.swap(here, Ordering::Relaxed) == here {
        return;
    }
    let answer = move || {
        // A job that was sent before a fork says nothing about the child that runs it.
        if process() == here {
            ALIVE.store(here, Ordering::Relaxed);
        }
    };
    // If the thread cannot be started, the pool stays unknown, and casts run on the calling threads.
    let _ = thread::Builder::new().name("lanecast-ask".into()).spawn(move || rayon::spawn(answer));
}

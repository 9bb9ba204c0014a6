//! Whether rayon's threads exist.
//!
//! A `fork` copies the calling thread only. The child inherits a pool that looks as it did in the parent and has no threads: who
//! gives it a job waits without end. So the process in which the pool was last seen alive is remembered, by a job that ran in
//! it; a pool that was seen in another process is not touched. Where it was not seen at all (also because the
//! host used it before it forked, and we did not), it is asked: a job is sent, and whoever asked casts on until it
//! has run. A thread of its own sends it, because even a lock of a pool without threads may be held for ever, and because the first
//! job makes the threads, which takes its time and can fail.
//!
//! A worker that forks is the one thread of its pool that the child has. It does by itself what it gives to its pool; still, it
//! is known by the process in which it first came here, and casts alone in another.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};
use std::{process, thread};

/// What is known of the pool that a call would use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    /// The calling thread is a worker of a pool, and that pool's threads exist.
    Worker,
    /// The global pool has run a job in this process.
    Alive,
    /// It was sent a job and has not run it yet. Perhaps it never will.
    Asked,
    /// Its threads belong to another process.
    Gone,
}

/// The process in which the global pool was seen alive; 0 before.
static ALIVE: AtomicU32 = AtomicU32::new(0);

/// The process in which it was asked.
static ASKED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The process in which this worker first came here; 0 before.
    static SEEN: Cell<u32> = const { Cell::new(0) };
}

/// The process; where there is no `fork`, there is but one.
fn process() -> u32 {
    if cfg!(unix) { process::id() } else { 1 }
}

/// What is known of the pool that the calling thread would use. Asks, if nothing is; never waits.
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

/// Sends a job to the global pool, once in a process.
fn ask(here: u32) {
    if ASKED.swap(here, Ordering::Relaxed) == here {
        return;
    }
    let answer = move || {
        // A job that was sent before a fork says nothing of the child that runs it.
        if process() == here {
            ALIVE.store(here, Ordering::Relaxed);
        }
    };
    // Without a thread to send it, there is no answer, and casts run on the threads that call.
    let _ = thread::Builder::new().name("lanecast-ask".into()).spawn(move || rayon::spawn(answer));
}

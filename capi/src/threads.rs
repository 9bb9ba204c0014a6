//! The threads that share a cast.

use crate::error::{Failure, LANECAST_ERR_BAD_OPTION};
use lanecast::{ParallelFor, Threads};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task for the host to run: it takes the context that came with it, and an index.
pub type lanecast_task = Option<unsafe extern "C" fn(context: *mut c_void, index: usize)>;

/// Threads for a cast. A NULL pointer to one means the calling thread only.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct lanecast_threads {
    /// How many threads to use at most, the calling one included. With `run` NULL, 0 means all that the library's pool has.
    pub count: usize,
    /// The parallel loop of the host: calls `task(task_context, i)` for each `i` below `tasks`, in any order and on any threads, and
    /// returns when all of these calls have returned. It may call a task twice or not at all: the library does what is left. It
    /// must not throw. If it is NULL, the library uses its own pool.
    pub run: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            tasks: usize,
            task: lanecast_task,
            task_context: *mut c_void,
        ),
    >,
    /// Handed to `run`.
    pub context: *mut c_void,
}

// SAFETY: the library reads the fields only; what `run` does with `context` on several threads is the host's affair, which gives both.
unsafe impl Sync for lanecast_threads {}
// SAFETY: as above.
unsafe impl Send for lanecast_threads {}

/// The library's own pool with all of its threads, for `threads` arguments.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_pool() -> *const lanecast_threads {
    static POOL: lanecast_threads = lanecast_threads { count: 0, run: None, context: ptr::null_mut() };
    &raw const POOL
}

impl lanecast_threads {
    /// The threads of an argument.
    ///
    /// # Safety
    ///
    /// `threads` is null or can be read; what it leads to is valid for as long as the result is used.
    pub(crate) unsafe fn read(threads: *const lanecast_threads) -> Result<Threads, Failure> {
        // SAFETY: the caller's promise.
        match unsafe { threads.as_ref() } {
            None => Ok(Threads::Serial),
            Some(lanecast_threads { run: None, context, .. }) if !context.is_null() => {
                let text = "lanecast_threads.context is set but run is NULL";
                Err(Failure::Argument(LANECAST_ERR_BAD_OPTION, text))
            }
            Some(lanecast_threads { run: None, count: 0, .. }) => Ok(Threads::Rayon),
            Some(lanecast_threads { run: None, count, .. }) => Ok(Threads::AtMost(*count)),
            Some(host) => Ok(Threads::Host(Arc::new(*host))),
        }
    }
}

/// A task of the library on its way through the host.
struct Task<'a> {
    task: &'a (dyn Fn(usize) + Sync),
    panicked: AtomicBool,
}

/// # Safety
///
/// `context` belongs to the `Task` whose loop runs.
unsafe extern "C" fn call(context: *mut c_void, index: usize) {
    // SAFETY: the caller's promise: the loop has not returned, so the task lives.
    let task = unsafe { &*context.cast::<Task<'_>>() };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (task.task)(index))) {
        std::mem::forget(panic);
        task.panicked.store(true, Ordering::Relaxed);
    }
}

impl ParallelFor for lanecast_threads {
    fn threads(&self) -> usize {
        self.count
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let task = Task { task, panicked: AtomicBool::new(false) };
        if let Some(run) = self.run {
            // SAFETY: the function is the host's, with its own context; it calls `call` with the task's context and returns after all
            // calls have (the documentation of `run`).
            unsafe { run(self.context, tasks, Some(call), (&raw const task).cast_mut().cast()) };
        }
        assert!(!task.panicked.into_inner(), "a task of a cast panicked");
    }
}

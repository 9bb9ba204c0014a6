//! Progress reports and cancellation for long work.

use std::fmt;

/// How far the work has progressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of tensors read so far.
    pub done: u64,
    /// Bytes of tensors to read in total; `None` if the source does not say.
    pub total: Option<u64>,
}

/// Callbacks for long work, both optional.
///
/// They are called on the thread that started the work, between blocks of at most 4 MiB.
#[derive(Default)]
pub struct Hooks<'a> {
    progress: Option<&'a mut dyn FnMut(Progress)>,
    cancelled: Option<&'a dyn Fn() -> bool>,
}

impl<'a> Hooks<'a> {
    /// No callbacks.
    pub fn none() -> Self {
        Self::default()
    }

    /// Calls `progress` after every block.
    pub fn on_progress(mut self, progress: &'a mut dyn FnMut(Progress)) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Ends the work with [`Error::Cancelled`](crate::Error::Cancelled) once `cancelled` returns true. It is checked before each
    /// block and before an output takes its name. An [`AtomicBool`](std::sync::atomic::AtomicBool) that another thread or a signal
    /// handler sets is enough: `&|| flag.load(Ordering::Relaxed)`.
    pub fn cancel_if(mut self, cancelled: &'a dyn Fn() -> bool) -> Self {
        self.cancelled = Some(cancelled);
        self
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some_and(|cancelled| cancelled())
    }

    pub(crate) fn canceller(&self) -> Option<&'a dyn Fn() -> bool> {
        self.cancelled
    }

    pub(crate) fn report(&mut self, progress: Progress) {
        if let Some(hear) = &mut self.progress {
            hear(progress);
        }
    }
}

impl fmt::Debug for Hooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("progress", &self.progress.is_some())
            .field("cancelled", &self.cancelled.is_some())
            .finish()
    }
}

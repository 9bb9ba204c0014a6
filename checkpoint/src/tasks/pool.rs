//! Work on several threads, with callbacks on the thread that waits for it.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use lanecast_files::{Error, Result};

use crate::write::Callbacks;

/// How often the thread that waits checks whether the work is cancelled.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a thread is told to do besides its work.
pub(super) struct Watch<'w, M> {
    messages: Sender<M>,
    ended: &'w AtomicBool,
}

impl<M> Watch<'_, M> {
    /// Fails once the work has ended: it is cancelled, or another thread failed.
    pub(super) fn check(&self) -> Result<()> {
        match self.is_ended() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Whether the work has ended.
    pub(super) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Sends a message to the thread that waits.
    pub(super) fn tell(&self, message: M) -> Result<()> {
        // Nobody listens once the work has ended.
        let _ = self.messages.send(message);
        self.check()
    }
}

/// Does the work for each item, on so many threads at most, and returns the results in order. This thread is told of messages. The first error
/// ends all.
pub(super) fn each<T: Sync, R: Send, M: Send>(
    items: &[T],
    threads: usize,
    callbacks: &mut Callbacks<'_>,
    mut told: impl FnMut(M, &mut Callbacks<'_>),
    work: impl Fn(&T, &Watch<'_, M>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (messages, received) = channel();
    let run = |watch: Watch<'_, M>| {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return Ok(results) };
            match watch.check().and_then(|()| work(item, &watch)) {
                Ok(result) => results.push((index, result)),
                Err(error) => {
                    watch.ended.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let mut cancelled = Ok(());
    let done = thread::scope(|scope| {
        let run = &run;
        let workers: Vec<_> = (0..threads.clamp(1, items.len().max(1)))
            .map(|_| {
                let watch = Watch { messages: messages.clone(), ended: &ended };
                scope.spawn(move || run(watch))
            })
            .collect();
        drop(messages);
        loop {
            match received.recv_timeout(PATIENCE) {
                Ok(message) => told(message, callbacks),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if cancelled.is_ok() {
                cancelled = callbacks.check();
                if cancelled.is_err() {
                    ended.store(true, Ordering::Relaxed);
                }
            }
        }
        let join = |worker: thread::ScopedJoinHandle<'_, Result<Vec<(usize, R)>>>| match worker.join() {
            Ok(result) => result,
            Err(panicked) => std::panic::resume_unwind(panicked),
        };
        workers.into_iter().map(join).collect::<Vec<_>>()
    });
    cancelled?;
    let (mut results, mut error) = (Vec::new(), None);
    for result in done {
        match (result, &error) {
            (Ok(more), _) => results.extend(more),
            // The others were told to end.
            (Err(of), None | Some(Error::Cancelled)) => error = Some(of),
            (Err(_), Some(_)) => {}
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::request;

    fn run(
        threads: usize,
        cancelled: Option<&dyn Fn() -> bool>,
        fails: Option<usize>,
    ) -> (Result<Vec<usize>>, usize) {
        let items: Vec<usize> = (0..100).collect();
        let (mut sum, mut callbacks) = (0, Callbacks { progress: None, cancelled });
        let result = each(
            &items,
            threads,
            &mut callbacks,
            |n: usize, _| sum += n,
            |item, watch| {
                if Some(*item) == fails {
                    return Err(request("it fails"));
                }
                watch.tell(1)?;
                Ok(item * 2)
            },
        );
        (result, sum)
    }

    #[test]
    fn results_are_in_order_and_errors_are_the_first() {
        for threads in [0, 1, 3, 200] {
            let (result, sum) = run(threads, None, None);
            assert!(result.expect("results").into_iter().eq((0..100).map(|i| i * 2)) && sum == 100);
            let (result, _) = run(threads, None, Some(40));
            assert!(matches!(result, Err(Error::Request(_))), "{result:?}");
        }
        let (result, _) = run(2, Some(&|| true), None);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    }
}

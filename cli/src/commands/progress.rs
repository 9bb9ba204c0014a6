//! What is shown while work is done, and warnings about it, on standard error.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanecast_files::{Entry, Progress};

use crate::{report::warnings, terminal};

/// Prints the warnings about `entries`, which are of `file` if there are several; with `each` also one for every tensor with lost values.
pub fn warn(entries: &[Entry], file: Option<&str>, each: bool) {
    if terminal::quiet() {
        return;
    }
    for line in warnings(entries, file, each) {
        // Standard error may be closed.
        let _ = terminal::warning(&line);
    }
}

/// A progress bar on standard error, which is removed on drop.
///
/// It is narrower than most windows will ever be: a line that no longer fits in its window takes a second one, which would stay.
pub struct Bar(ProgressBar);

const BAR: &str = "{bar:10} {percent:>3}% of {binary_total_bytes}, {eta}";

impl Bar {
    /// A bar over `bytes`; hidden if `bytes` is `None`, if standard error is no terminal, or if the program is quiet.
    pub fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.filter(|_| !terminal::quiet() && io::stderr().is_terminal());
        let Some(bytes) = bytes else {
            return Self(ProgressBar::hidden());
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        Self(match ProgressStyle::with_template(BAR) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    pub fn show(&self, progress: Progress) {
        self.0.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

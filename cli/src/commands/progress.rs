//! What is shown while work is done, and warnings about it, on standard error.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanecast_checkpoint::Step;
use lanecast_files::{Entry, Progress};

use crate::{report::warnings, terminal, text};

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
/// The name of a file takes what room is left.
const FILES_BAR: &str =
    "{bar:10} {percent:>3}% of {binary_total_bytes}, {binary_bytes_per_sec}, {eta}, {wide_msg}";

impl Bar {
    /// A bar over `bytes`; hidden if `bytes` is `None`, if standard error is no terminal, or if the program is quiet.
    pub fn new(bytes: Option<u64>) -> Self {
        Self::styled(bytes, BAR)
    }

    fn styled(bytes: Option<u64>, template: &str) -> Self {
        let bytes = bytes.filter(|_| !terminal::quiet() && io::stderr().is_terminal());
        let Some(bytes) = bytes else {
            return Self(ProgressBar::hidden());
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        Self(match ProgressStyle::with_template(template) {
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

/// A progress bar over several files, with the rate and the name of the file.
pub struct FilesBar {
    bar: Bar,
    /// Whether the bytes that are counted are read again.
    is_check: Option<bool>,
}

impl FilesBar {
    pub fn new(bytes: u64) -> Self {
        Self { bar: Bar::styled(Some(bytes), FILES_BAR), is_check: None }
    }

    pub fn show(&mut self, step: &Step<'_>) {
        if step.is_saved {
            return;
        }
        let Bar(bar) = &self.bar;
        let percent = step.file_done.saturating_mul(100).checked_div(step.file_total).unwrap_or(100);
        let verb = match (step.is_check, step.file) {
            (true, _) => "verify ",
            // A first pass measures weights of all files.
            (false, "") => "measure",
            (false, _) => "",
        };
        bar.set_message(format!("{verb}{} {percent}%", text::one_line(step.file)));
        // The bytes of the next file may be counted on their own, and more is to do when more files have arrived.
        bar.set_length(step.total);
        bar.set_position(step.done);
        // Bytes of an earlier run say nothing about the rate.
        if self.is_check.replace(step.is_check) != Some(step.is_check) {
            bar.reset_eta();
        }
    }
}

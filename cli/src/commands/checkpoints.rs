//! What the subcommands that write checkpoints have in common: a bar, signals, warnings, a report.

use std::cell::RefCell;

use lanecast_checkpoint::{Callbacks, Step};
use serde::Serialize;

use super::progress::FilesBar;
use crate::{error::Result, output, report::json, signals, terminal, text};

/// Does the work with a bar until a signal ends it, and prints the report: as JSON, or the warnings and the summary.
pub fn write<R: Serialize>(
    as_json: bool,
    work: impl FnOnce(Callbacks<'_>) -> Result<R>,
    warnings: impl FnOnce(&R) -> &[String],
    summary: impl FnOnce(&R) -> String,
) -> Result<()> {
    let watch = Watch::new();
    let report = watch.run(work);
    drop(watch);
    let report = report?;
    if as_json {
        return output::print(&json(&report)?);
    }
    if terminal::quiet() {
        return Ok(());
    }
    warn(warnings(&report));
    output::report(&summary(&report))
}

/// Prints warnings of a report.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
}

/// Signals that end the work from now on, and a bar that shows it.
pub struct Watch {
    /// The bytes of the work are known at its first step.
    bar: RefCell<Option<FilesBar>>,
}

impl Watch {
    pub fn new() -> Self {
        signals::watch();
        Self { bar: RefCell::new(None) }
    }

    /// Does the work, or a part of it.
    pub fn run<R>(&self, work: impl FnOnce(Callbacks<'_>) -> R) -> R {
        let mut show = |step: Step<'_>| {
            self.bar.borrow_mut().get_or_insert_with(|| FilesBar::new(step.total)).show(&step);
        };
        work(Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) })
    }

    /// Prints between parts of the work: the bar gives way.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.replace(None);
        print()
    }
}

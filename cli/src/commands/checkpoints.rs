//! What the subcommands that write checkpoints have in common: a bar, signals, warnings, a report.

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
    signals::watch();
    // The bytes to write are known once the headers are read.
    let mut bar: Option<FilesBar> = None;
    let mut show = |step: Step<'_>| bar.get_or_insert_with(|| FilesBar::new(step.total)).show(&step);
    let report = work(Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) });
    drop(bar);
    let report = report?;
    if as_json {
        return output::print(&json(&report)?);
    }
    if terminal::quiet() {
        return Ok(());
    }
    for warning in warnings(&report) {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
    output::report(&summary(&report))
}

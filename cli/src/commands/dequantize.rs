//! `lanecast dequantize`.

use lanecast_checkpoint::{Callbacks, Options, Report, Step, dequantize};
use lanecast_files::Progress;

use super::progress::Bar;
use crate::{args::Dequantize, error::Result, output, report::json, signals, terminal, text};

/// Runs the subcommand.
pub fn run(args: &Dequantize) -> Result<()> {
    signals::watch();
    let options = Options { allow_nan: args.allow_nan, replace: args.force, ..Options::to(args.to) };
    // The bytes to write are known once the headers are read.
    let mut bar: Option<Bar> = None;
    let mut show = |step: Step<'_>| {
        let progress = Progress { done: step.done, total: Some(step.total) };
        bar.get_or_insert_with(|| Bar::new(Some(step.total))).show(progress);
    };
    let callbacks = Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) };
    let report = dequantize(&args.input, &args.output, &options, callbacks);
    drop(bar);
    let report = report?;
    if args.json {
        return output::print(&json(&report)?);
    }
    if terminal::quiet() {
        return Ok(());
    }
    for warning in &report.warnings {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
    output::report(&summary(&report))
}

/// The summary for people.
fn summary(report: &Report) -> String {
    format!(
        "decoded {} to {}, layout {}; copied {}; dropped {}\n{} in, {} out\n",
        text::count(report.tensors_decoded as u64, "weight"),
        report.to,
        report.layout,
        text::count(report.tensors_copied as u64, "other tensor"),
        text::count(report.tensors_dropped as u64, "companion"),
        text::bytes(report.bytes_in),
        text::bytes(report.bytes_out),
    )
}

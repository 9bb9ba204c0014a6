//! `lanecast convert`.

use lanecast_checkpoint::{Callbacks, ConvertOptions, ConvertReport, Step, convert};
use lanecast_files::Error;

use super::progress::FilesBar;
use crate::{
    args::Convert,
    error::{Failure, Result},
    output,
    report::json,
    signals, terminal, text,
};

/// Runs the subcommand.
pub fn run(args: &Convert) -> Result<()> {
    signals::watch();
    let options = ConvertOptions {
        map: args.map.clone(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        max_shard_size: args.max_shard_size,
        resume: args.resume,
        verify: args.verify,
        allow_quantized: args.allow_quantized,
        replace: args.force,
        ..ConvertOptions::to(args.to)
    };
    // The bytes to write are known once the headers are read.
    let mut bar: Option<FilesBar> = None;
    let mut show = |step: Step<'_>| bar.get_or_insert_with(|| FilesBar::new(step.total)).show(&step);
    let callbacks = Callbacks { progress: Some(&mut show), cancelled: Some(&signals::ended) };
    let report = convert(&args.input, &args.output, &options, callbacks);
    drop(bar);
    let report = report.map_err(placed)?;
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

/// The failure of an error. The place of one about patterns is an option.
fn placed(error: Error) -> Failure {
    let place = error.detail().map_or("", |detail| &detail.place);
    let option = ["map", "include", "exclude", "max_shard_size"].iter().find(|option| **option == place);
    let option = option.map(|option| format!("--{}", option.replace('_', "-")));
    Failure::from(error).placed(option)
}

/// The summary for people.
fn summary(report: &ConvertReport) -> String {
    let mut out = format!(
        "cast {} to {}, copied {}",
        text::count(report.tensors_cast as u64, "tensor"),
        report.to,
        text::count(report.tensors_copied as u64, "other tensor"),
    );
    if report.float32_kept > 0 {
        out += &format!(" ({} of float32, which models need)", report.float32_kept);
    }
    out += &format!("\n{} in, {} out", text::bytes(report.bytes_in), text::bytes(report.bytes_out));
    if report.bytes_resumed > 0 {
        out += &format!(", {} of them by an earlier run", text::bytes(report.bytes_resumed));
    }
    if let Some(verified) = report.tensors_verified {
        out += &format!("\nverified {}", text::count(verified as u64, "tensor"));
    }
    out + "\n"
}

//! `lanecast dequantize`.

use lanecast_checkpoint::{Operation, Options, Report, TaskPlan, dequantize};

use super::{checkpoints, plan};
use crate::{args::Dequantize, error::Result, text};

/// Runs the subcommand.
pub fn run(args: &Dequantize) -> Result<()> {
    let options = Options {
        allow_nan: args.allow_nan,
        replace: args.force,
        threads: args.threads.map(usize::from),
        ..Options::to(args.to)
    };
    let request = plan::Request {
        planning: &args.planning,
        verify: args.verify,
        threads: args.threads,
        as_json: args.json,
    };
    let operation = Operation::Dequantize(options);
    if request.is_planned(|how| Ok(TaskPlan::new(&args.input, &args.output, operation, how)?))? {
        return Ok(());
    }
    checkpoints::write(
        args.json,
        |callbacks| Ok(dequantize(&args.input, &args.output, &options, callbacks)?),
        |report| &report.warnings,
        summary,
    )
}

/// The summary for people.
pub fn summary(report: &Report) -> String {
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

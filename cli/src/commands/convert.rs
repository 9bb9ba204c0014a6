//! `lanecast convert`.

use lanecast_checkpoint::{ConvertOptions, ConvertReport, Operation, TaskPlan, convert};
use lanecast_files::Error;

use super::{checkpoints, plan};
use crate::{
    args::Convert,
    error::{Failure, Result},
    text,
};

/// Runs the subcommand.
pub fn run(args: &Convert) -> Result<()> {
    let options = ConvertOptions {
        map: args.map.clone(),
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        max_shard_size: args.max_shard_size,
        resume: args.resume,
        verify: args.verify,
        allow_quantized: args.allow_quantized,
        replace: args.force,
        threads: args.threads.map(usize::from),
        ..ConvertOptions::to(args.to)
    };
    if args.planning.plan.is_some() && args.resume {
        return Err(plan::refused("--resume").advise("leave it out: tasks always go on from what is done"));
    }
    let request = plan::Request {
        planning: &args.planning,
        verify: args.verify,
        threads: args.threads,
        as_json: args.json,
    };
    let planned = |how| {
        TaskPlan::new(&args.input, &args.output, Operation::Convert(options.clone()), how).map_err(placed)
    };
    if request.is_planned(planned)? {
        return Ok(());
    }
    checkpoints::write(
        args.json,
        |callbacks| convert(&args.input, &args.output, &options, callbacks).map_err(placed),
        |report| &report.warnings,
        summary,
    )
}

/// The failure of an error. The place of one about patterns is an option.
fn placed(error: Error) -> Failure {
    let place = error.detail().map_or("", |detail| &detail.place);
    let option = ["map", "include", "exclude", "max_shard_size"].iter().find(|option| **option == place);
    let option = option.map(|option| format!("--{}", option.replace('_', "-")));
    Failure::from(error).placed(option)
}

/// The summary for people.
pub fn summary(report: &ConvertReport) -> String {
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

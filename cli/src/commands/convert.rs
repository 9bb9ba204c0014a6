//! `lanecast convert`.

use std::io::{self, IsTerminal};

use lanecast_checkpoint::{Callbacks, ConvertOptions, ConvertReport, Operation, Step, TaskPlan, convert};
use lanecast_files::Error;

use super::{checkpoints, plan};
use crate::{
    args::Convert,
    error::{Failure, Result},
    terminal, text,
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
        wait: args.wait,
        ..ConvertOptions::to(args.to)
    };
    if args.planning.plan.is_some() && args.resume {
        return Err(plan::refused("--resume").advise("leave it out: tasks always go on from what is done"));
    }
    if args.planning.plan.is_some() && args.wait.is_some() {
        return Err(plan::refused("--wait").advise("plan when all files of the source are complete"));
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
    // With another size of files, those of the output are not those of the source.
    let tells = args.wait.is_some() && args.max_shard_size.is_none() && !terminal::quiet();
    let work = |callbacks: Callbacks<'_>| {
        let Callbacks { mut progress, cancelled } = callbacks;
        let mut show = |step: Step<'_>| {
            if step.is_saved && tells {
                saved(step.file);
            }
            if let Some(progress) = &mut progress {
                progress(step);
            }
        };
        let callbacks = Callbacks { progress: Some(&mut show), cancelled };
        convert(&args.input, &args.output, &options, callbacks).map_err(placed)
    };
    checkpoints::write(args.json, work, |report| &report.warnings, summary)
}

/// Says that a file of the source is not needed any more.
fn saved(file: &str) {
    // The progress bar is on the line.
    let clear = if io::stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    let file = text::one_line(file);
    // Standard error may be closed.
    let _ = terminal::warning(&format!("{clear}lanecast: {file} is saved: SRC no longer needs it\n"));
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

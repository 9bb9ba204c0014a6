//! `lanecast cast`.

use std::time::Instant;

use super::{progress, warn};
use crate::{
    args::Cast,
    error::{Failure, Result},
    formats::{Format, Job, Work, npy, npz, onnx, safetensors},
    options::{OnLoss, Settings},
    output::{self, Output},
    pump::Pump,
    report::{Report, json},
    select::Selection,
    terminal,
};

/// Runs the subcommand.
pub fn run(args: &Cast) -> Result<()> {
    let format = Format::of(&args.input)?;
    if let Some(path) = &args.output
        && Format::of(path)? != format
    {
        return Err(Failure::usage("the output is of another kind than the input")
            .at_path(path)
            .advise("give both the same extension"));
    }
    let job = Job {
        input: &args.input,
        settings: Settings::new(&args.common.cast)?,
        selection: Selection::new(args.from, &args.include, &args.exclude)?,
        to: args.to,
    };
    let report = match format {
        Format::Safetensors => execute(args, &job, safetensors::Recast::new(&job)?),
        Format::Npy => execute(args, &job, npy::Recast::new(&job)?),
        Format::Npz => execute(args, &job, npz::Recast::new(&job)?),
        Format::Onnx => execute(args, &job, onnx::Recast::new(&job)?),
    }?;
    if job.settings.on_loss == OnLoss::Warn {
        warn(&report.entries);
    }
    match args.common.json {
        true => output::print(&json(&report)?),
        // A dry run says nothing else.
        false if terminal::quiet() && !args.dry_run => Ok(()),
        false => output::print(&report.to_text()),
    }
}

/// Does the work, unless this is a dry run.
fn execute(args: &Cast, job: &Job, work: impl Work) -> Result<Report> {
    let report = |entries, elapsed| Report::new(job.to.name(), job.settings.tier.name(), entries, elapsed);
    let path = match &args.output {
        Some(path) if !args.dry_run => path,
        _ => return Ok(report(work.entries().to_vec(), None)),
    };
    let started = Instant::now();
    let bar = progress(work.entries().iter().map(|e| e.bytes_in).fold(0, u64::saturating_add));
    let mut output = Output::create(path, args.common.force)?;
    let done = work.run(&mut Pump::new(bar.clone()), &mut output);
    bar.finish_and_clear();
    let entries = done?;
    output.commit()?;
    Ok(report(entries, Some(started.elapsed())))
}

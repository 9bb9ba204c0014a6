//! `lanecast cast`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lanecast_files::{Error, Hooks, Job, Output, Plan, Report, Selection, formats::by_extension};
use serde::Serialize;

use super::{
    progress::{Bar, warn},
    sink::{self, Content, is_standard, tensor_file},
};
use crate::{
    args::Cast,
    error::{Failure, Result},
    options::{OnLoss, settings},
    output,
    report::{json, to_text},
    signals, terminal,
};

/// Runs the subcommand.
pub fn run(args: &Cast) -> Result<()> {
    signals::watch();
    let job = Job {
        to: args.to,
        selection: Selection::new(args.from, &args.include, &args.exclude).map_err(|e| {
            // The place is the list with the pattern, `include` or `exclude`, which is an option here.
            let option = e.detail().map(|detail| format!("--{}", detail.place));
            Failure::from(e).placed(option)
        })?,
        settings: settings(&args.common.cast)?,
        allow_quantized: args.allow_quantized,
    };
    let Some(folder) = &args.out_dir else {
        return cast(args, &job, &args.input, args.output.as_deref());
    };
    let files = files(args, folder)?;
    let plans = files.iter().map(|(input, output)| {
        let plan = plan(args, &job, input)?;
        Output::check(output, args.common.writing.force)?;
        Ok(plan)
    });
    let plans = plans.collect::<Result<Vec<_>>>()?;
    // A pattern may be meant for only one of the files.
    let names = plans.iter().flat_map(Plan::names);
    job.selection.check_patterns(names).map_err(|e| unmatched(e, "the inputs".as_ref()))?;
    drop(plans);
    if !args.dry_run {
        fs::create_dir_all(folder)
            .map_err(|e| Failure::system("cannot create the folder", &e).at_path(folder))?;
    }
    files.iter().try_for_each(|(input, output)| cast(args, &job, input, Some(output)))
}

/// The inputs, and where their results go in `folder`.
fn files<'a>(args: &'a Cast, folder: &Path) -> Result<Vec<(&'a Path, PathBuf)>> {
    let mut names = BTreeMap::new();
    let mut files = Vec::new();
    for input in std::iter::once(&args.input).chain(&args.output).chain(&args.more) {
        let name = input.file_name().filter(|_| !is_standard(input)).ok_or_else(|| {
            Failure::usage("the result has no name in --out-dir").at_path(input).advise("name a file")
        })?;
        if let Some(other) = names.insert(name, input) {
            let both = format!("{} and {}", other.display(), input.display());
            return Err(Failure::usage("two inputs have the same name in --out-dir")
                .at(both)
                .advise("cast one of them to another folder"));
        }
        files.push((input.as_path(), folder.join(name)));
    }
    Ok(files)
}

fn plan<'a>(args: &Cast, job: &'a Job, input: &Path) -> Result<Plan<'a>> {
    Ok(Plan::of(tensor_file(input)?, args.format, job)?)
}

/// The failure of a selection that matches nothing, with the option as its place.
fn unmatched(error: Error, input: &Path) -> Failure {
    let pattern = error.detail().filter(|detail| !detail.place.is_empty());
    let option = pattern.map(|detail| format!("{}, --{}", input.display(), detail.place));
    Failure::from(error).placed(option)
}

/// Casts one file.
fn cast(args: &Cast, job: &Job, input: &Path, output: Option<&Path>) -> Result<()> {
    let plan = plan(args, job, input)?;
    // Without --format the extension of the output names its format. In a folder, the output has the name of the input.
    let named = match (output, args.format) {
        (Some(path), _) if args.out_dir.is_none() && path.is_dir() => {
            return Err(Failure::io("the output is a folder")
                .at_path(path)
                .advise("name a file, or give --out-dir for a folder"));
        }
        (Some(path), None) if args.out_dir.is_none() && !is_standard(path) => {
            Some((path, by_extension(path)?))
        }
        _ => None,
    };
    if args.out_dir.is_none() {
        plan.check_selection().map_err(|e| unmatched(e, input).at_path(input))?;
    }
    if let Some((path, format)) = named
        && format.name() != plan.format().name()
    {
        let name = plan.format().name();
        return Err(Failure::usage(format!(
            "the output is in a different format from the input, which is {name}"
        ))
        .at_path(path)
        .advise("give both the same extension"));
    }
    let Some(path) = output.filter(|_| !args.dry_run) else {
        return say(args, input, output, &plan.dry_run(), false);
    };
    let (to_stream, like) = (is_standard(path), plan.permissions().cloned());
    let path = Some(path).filter(|_| !to_stream);
    let started = sink::start(path, &args.common.writing, Content::Tensors, like)?;
    let bar = Bar::new(Some(plan.bytes()).filter(|_| !to_stream));
    let mut show = |progress| bar.show(progress);
    let report = plan.run_into(started, Hooks::none().on_progress(&mut show).cancel_if(&signals::ended));
    drop(bar);
    say(args, input, output, &report?, to_stream)
}

/// One of several reports.
#[derive(Serialize)]
struct Named<'a> {
    input: String,
    output: String,
    #[serde(flatten)]
    report: &'a Report,
}

/// Prints the report on `input`.
fn say(args: &Cast, input: &Path, output: Option<&Path>, report: &Report, to_stream: bool) -> Result<()> {
    let several = output.filter(|_| args.out_dir.is_some());
    let file = several.map(|_| input.display().to_string());
    let each = args.common.cast.on_loss == OnLoss::Warn;
    // Where the JSON is on standard error, too, only the warnings that were asked for are in its way.
    if each || !(args.common.json && to_stream) {
        warn(&report.entries, file.as_deref(), each);
    }
    if args.common.json {
        let line = match several {
            Some(path) => {
                let (input, output) = (input.display().to_string(), path.display().to_string());
                json(&Named { input, output, report })
            }
            None => json(report),
        };
        return sink::print_json(&line?, to_stream);
    }
    // The summary is the only output of a dry run.
    if to_stream || terminal::quiet() && !args.dry_run {
        return Ok(());
    }
    let head = several
        .map_or(String::new(), |path| format!("{}:\n", crate::text::one_line(&path.display().to_string())));
    let text = head + &to_text(report);
    if args.dry_run { output::print(&text) } else { output::report(&text) }
}

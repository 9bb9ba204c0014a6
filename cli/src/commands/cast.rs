//! `lanecast cast`.

use lanecast_files::{Hooks, Job, Plan, Selection, formats::by_extension};

use super::{Bar, warn};
use crate::{
    args::Cast,
    error::{Failure, Result},
    options::{OnLoss, settings},
    output,
    report::{json, to_text},
    terminal,
};

/// Runs the subcommand.
pub fn run(args: &Cast) -> Result<()> {
    // Without --format the name of the output says that it is meant to be one.
    let named = match (&args.output, args.format) {
        (Some(path), None) => Some((path, by_extension(path)?)),
        _ => None,
    };
    let job = Job {
        to: args.to,
        selection: Selection::new(args.from, &args.include, &args.exclude).map_err(|e| {
            // The place is the list that has the pattern, which is an option here.
            let option = e.detail().map(|detail| format!("--{}", detail.place));
            Failure::from(e).placed(option)
        })?,
        settings: settings(&args.common.cast)?,
    };
    let plan = match args.format {
        Some(format) => Plan::new_as(&args.input, format, &job),
        None => Plan::new(&args.input, &job),
    }?;
    plan.check_selection().map_err(|e| {
        let pattern = e.detail().filter(|detail| !detail.place.is_empty());
        let option = pattern.map(|detail| format!("{}, --{}", args.input.display(), detail.place));
        Failure::from(e).placed(option).at_path(&args.input)
    })?;
    if let Some((path, format)) = named
        && format.name() != plan.format().name()
    {
        let name = plan.format().name();
        return Err(Failure::usage(format!("the output is of another kind than the input, which is {name}"))
            .at_path(path)
            .advise("give both the same extension"));
    }
    let report = match &args.output {
        Some(path) if !args.dry_run => {
            let bar = Bar::new(Some(plan.bytes()));
            let mut show = |progress| bar.show(progress);
            plan.run(path, args.common.force, Hooks::none().on_progress(&mut show))
        }
        _ => Ok(plan.dry_run()),
    }?;
    if args.common.cast.on_loss == OnLoss::Warn {
        warn(&report.entries);
    }
    match args.common.json {
        true => output::print(&json(&report)?),
        // A dry run says nothing else.
        false if terminal::quiet() && !args.dry_run => Ok(()),
        false => output::print(&to_text(&report)),
    }
}

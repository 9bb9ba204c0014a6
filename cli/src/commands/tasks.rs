//! `lanecast tasks`: runs plans of tasks.

use std::collections::BTreeMap;

use lanecast_checkpoint::{Callbacks, Outcome, Phase, Step, Task, TaskPlan, TaskReport};
use lanecast_files::Error;
use serde::Serialize;

use super::{
    checkpoints::{self, Watch},
    convert, dequantize, plan, quantize,
};
use crate::{
    args::{Chosen, FinishTasks, PendingTasks, RunTasks, TasksCommand},
    error::{Failure, Result},
    output,
    report::json,
    terminal, text,
};

/// Runs the subcommand.
pub fn run(command: &TasksCommand) -> Result<()> {
    match command {
        TasksCommand::Run(args) => run_tasks(args),
        TasksCommand::Pending(args) => pending(args),
        TasksCommand::Finish(args) => finish(args),
    }
}

/// What tasks did together.
#[derive(Default)]
struct Ran {
    tasks: u64,
    /// Tasks that were done before.
    skipped: u64,
    /// Bytes of the tasks that were not.
    bytes: u64,
}

impl Ran {
    /// The summary for people.
    fn summary(&self) -> String {
        let mut parts = Vec::new();
        if self.tasks > 0 {
            parts.push(format!("ran {}, {}", text::count(self.tasks, "task"), text::bytes(self.bytes)));
        }
        if self.skipped > 0 {
            let were = if self.skipped == 1 { "was" } else { "were" };
            parts.push(format!("{} {were} done before", text::count(self.skipped, "task")));
        }
        match parts.is_empty() {
            true => "no task has such a number\n".to_owned(),
            false => parts.join("; ") + "\n",
        }
    }
}

fn run_tasks(args: &RunTasks) -> Result<()> {
    let watch = Watch::new();
    let plan = TaskPlan::load(&args.plan)?;
    let tasks = chosen(&plan, args)?;
    let (mut ran, mut outcome) = (Ran::default(), None);
    // Bytes of all tasks but those that were done before.
    let mut total = tasks.iter().map(|task| task.bytes()).sum::<u64>();
    for task in tasks {
        let report = watch.run(|callbacks| {
            let Callbacks { mut progress, cancelled } = callbacks;
            let mut show = |mut step: Step<'_>| {
                if !step.is_check {
                    (step.done, step.total) = (ran.bytes + step.done, total);
                }
                if let Some(progress) = &mut progress {
                    progress(step);
                }
            };
            let callbacks = Callbacks { progress: Some(&mut show), cancelled };
            plan.run(task.id, args.threads.map(usize::from), callbacks)
        });
        let report =
            report.map_err(|error| failed(error).within(format!("{} task {}", task.phase, task.id)))?;
        let TaskReport { skipped, bytes, .. } = report;
        match skipped {
            true => (ran.skipped, total) = (ran.skipped + 1, total - bytes),
            false => (ran.tasks, ran.bytes) = (ran.tasks + 1, ran.bytes + bytes),
        }
        if args.json {
            let line = json(&report)?;
            watch.aside(|| output::report(&line))?;
        }
        outcome = report.outcome;
    }
    drop(watch);
    if args.json || terminal::quiet() {
        return Ok(());
    }
    let mut summary = ran.summary();
    if let Some(outcome) = outcome {
        checkpoints::warn(warnings(&outcome));
        summary += &summary_of(&outcome);
    }
    if is_finished(&plan)? {
        summary += &done(&plan);
    }
    output::report(&summary)
}

/// The tasks that are chosen, each once.
fn chosen<'p>(plan: &'p TaskPlan, args: &RunTasks) -> Result<Vec<&'p Task>> {
    let mut chosen: Vec<&Task> = Vec::new();
    for which in &args.tasks {
        match *which {
            Chosen::One(_) if args.phase.is_some() => {
                let failure = Failure::usage("--phase does not go with the number of a task");
                return Err(failure.advise("leave it out, or give a share I/N of the phase"));
            }
            Chosen::One(id) => chosen.push(plan.tasks().get(id).ok_or_else(|| {
                let last = plan.tasks().len().saturating_sub(1);
                let failure = Failure::usage(format!("there is no task {id}, but 0 to {last}"));
                failure.at_path(&args.plan).advise("`lanecast tasks pending` lists those that are not done")
            })?),
            Chosen::Share { first, of } => {
                let of_phase = |task: &&Task| args.phase.is_none_or(|phase| task.phase == phase);
                chosen.extend(plan.tasks().iter().skip(first).step_by(of).filter(of_phase));
            }
        }
    }
    // Phases follow each other.
    chosen.sort_by_key(|task| task.id);
    chosen.dedup_by_key(|task| task.id);
    Ok(chosen)
}

/// What is pending.
#[derive(Serialize)]
struct Pending {
    finished: bool,
    pending: Vec<usize>,
    phases: BTreeMap<Phase, Count>,
}

/// The tasks of a phase.
#[derive(Serialize)]
struct Count {
    tasks: usize,
    pending: usize,
}

fn pending(args: &PendingTasks) -> Result<()> {
    let plan = TaskPlan::load(&args.plan)?;
    let pending = plan.pending(args.phase)?;
    let finished = is_finished(&plan)?;
    if !args.json && !args.count {
        if finished && args.phase.is_none() && !terminal::quiet() {
            // Standard output has numbers only.
            let _ = terminal::error(&format!("lanecast: {}", done(&plan)));
        }
        return output::print(&pending.iter().map(|id| format!("{id}\n")).collect::<String>());
    }
    let left = plan::phases(pending.iter().filter_map(|id| plan.tasks().get(*id)));
    let all =
        plan::phases(plan.tasks()).into_iter().filter(|(phase, _)| args.phase.is_none_or(|of| of == *phase));
    let count = |(phase, tasks)| (phase, Count { tasks, pending: left.get(&phase).copied().unwrap_or(0) });
    let phases: BTreeMap<Phase, Count> = all.map(count).collect();
    if args.json {
        return output::print(&json(&Pending { finished, pending, phases })?);
    }
    let mut rows = vec![["phase", "pending", "tasks"].map(str::to_owned).to_vec()];
    rows.extend(phases.iter().map(|(phase, Count { tasks, pending })| {
        vec![phase.to_string(), pending.to_string(), tasks.to_string()]
    }));
    let mut out = text::headed(&rows);
    if finished {
        out += &done(&plan);
    }
    output::print_styled(&out)
}

fn finish(args: &FinishTasks) -> Result<()> {
    let plan = TaskPlan::load(&args.plan)?;
    let before = if is_finished(&plan)? { done(&plan) } else { String::new() };
    checkpoints::write(
        args.json,
        |callbacks| plan.finish(None, callbacks).map_err(failed),
        warnings,
        |outcome| before + &summary_of(outcome),
    )
}

/// Whether the output has its name.
fn is_finished(plan: &TaskPlan) -> Result<bool> {
    Ok(plan.pending(Some(Phase::Finish))?.is_empty())
}

/// The line about an output that is finished.
fn done(plan: &TaskPlan) -> String {
    format!("the output is done: {}\n", text::one_line(&plan.output().display().to_string()))
}

/// The failure of a task. The command has none of the options of the operation: the plan has them.
fn failed(error: Error) -> Failure {
    let exists = matches!(error, Error::Exists(_));
    let failure = Failure::from(error);
    match exists {
        // A plan that may replace it is another plan, and begins again.
        true => failure.advise("move it away"),
        false => failure.advise_with(|advice| match advice.starts_with("give --") {
            true => format!("make the plan again, and {advice}"),
            false => advice,
        }),
    }
}

fn warnings(outcome: &Outcome) -> &[String] {
    match outcome {
        Outcome::Convert(report) => &report.warnings,
        Outcome::Dequantize(report) => &report.warnings,
        Outcome::Quantize(report) => &report.warnings,
        _ => &[],
    }
}

/// The summary of the operation.
fn summary_of(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Convert(report) => convert::summary(report),
        Outcome::Dequantize(report) => dequantize::summary(report),
        Outcome::Quantize(report) => quantize::summary(report),
        _ => String::new(),
    }
}

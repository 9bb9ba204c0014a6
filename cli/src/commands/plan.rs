//! `--plan` of the subcommands that write checkpoints: a plan of tasks instead of the work.

use std::{collections::BTreeMap, num::NonZeroUsize, path::Path};

use lanecast_checkpoint::{Phase, PlanOptions, Task, TaskPlan};
use serde::Serialize;

use crate::{
    args::Planning,
    error::{Failure, Result},
    output,
    report::json,
    signals, terminal, text,
};

/// What was planned.
#[derive(Serialize)]
struct Planned<'p> {
    plan: &'p Path,
    operation: &'static str,
    source: &'p Path,
    output: &'p Path,
    tasks: usize,
    phases: BTreeMap<Phase, usize>,
    /// Bytes of tensors that the tasks write.
    bytes: u64,
}

/// What a command line says beside the operation itself.
pub struct Request<'a> {
    pub planning: &'a Planning,
    /// Whether files are read again before they get their names.
    pub verify: bool,
    pub threads: Option<NonZeroUsize>,
    pub as_json: bool,
}

impl Request<'_> {
    /// Makes the plan with `make`, and saves it. Nothing is done, and the value is false, if the operation is not planned.
    pub fn is_planned(&self, make: impl FnOnce(PlanOptions) -> Result<TaskPlan>) -> Result<bool> {
        let Some(path) = &self.planning.plan else { return Ok(false) };
        if self.threads.is_some() {
            return Err(refused("--threads").advise("give it to `lanecast tasks run`"));
        }
        let mut options = PlanOptions { verify: self.verify, ..PlanOptions::default() };
        options.range_size = self.planning.range_size.unwrap_or(options.range_size);
        signals::watch();
        let plan = make(options)?;
        save(&plan, path)?;
        self.report(&plan, path).map(|()| true)
    }

    fn report(&self, plan: &TaskPlan, path: &Path) -> Result<()> {
        let planned = Planned {
            plan: path,
            operation: plan.operation().name(),
            source: plan.source(),
            output: plan.output(),
            tasks: plan.tasks().len(),
            phases: phases(plan.tasks()),
            bytes: plan.tasks().iter().filter(|task| task.phase == Phase::Range).map(Task::bytes).sum(),
        };
        if self.as_json {
            return output::print(&json(&planned)?);
        }
        if terminal::quiet() {
            return Ok(());
        }
        output::report(&planned.summary())
    }
}

impl Planned<'_> {
    /// The summary for people.
    fn summary(&self) -> String {
        let plan = text::argument(self.plan);
        let phases: Vec<String> = self.phases.iter().map(|(phase, n)| format!("{n} {phase}")).collect();
        let mut out = format!(
            "planned {} that write {}: {}\n",
            text::count(self.tasks as u64, "task"),
            text::bytes(self.bytes),
            phases.join(", ")
        );
        out += "run the phases one after the other, each in N processes on any machines (I is 0 to N-1):\n";
        for phase in self.phases.keys().filter(|phase| **phase != Phase::Finish) {
            out += &format!("  lanecast tasks run I/N --of {plan} --phase {phase}\n");
        }
        out + &format!("  lanecast tasks finish {plan}\n")
    }
}

/// An option does not go with --plan.
pub fn refused(option: &str) -> Failure {
    Failure::usage(format!("{option} does not go with --plan"))
}

/// How many tasks there are of each phase.
pub fn phases<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> BTreeMap<Phase, usize> {
    let mut phases = BTreeMap::new();
    tasks.into_iter().for_each(|task| *phases.entry(task.phase).or_default() += 1);
    phases
}

/// Saves a plan. A file is replaced only if it is the same plan: machines may run another one.
fn save(plan: &TaskPlan, path: &Path) -> Result<()> {
    let own = plan.folder()?;
    let is_same = || TaskPlan::load(path).and_then(|there| there.folder()).is_ok_and(|there| there == own);
    if path.symlink_metadata().is_ok() && !is_same() {
        let failure = Failure::io("the file exists, and is not this plan").at_path(path);
        return Err(failure.advise("remove it, or give --plan another name"));
    }
    Ok(plan.save(path)?)
}

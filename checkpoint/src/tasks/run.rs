//! What each task does.
//!
//! *Law.* A task looks at the output first, then at its marker, and does only what is missing. What it writes depends on the plan alone: so a
//! task may be ended at any moment, and run any number of times, also at the same time.

use std::{ops::Range, thread, time::Instant};

use lanecast_files::{Error, Result};
use serde::Serialize;

use super::{
    finish,
    plan::{Phase, Task, TaskPlan},
    ranges::{self, Layout},
    work::{Done, Look, Work},
};
use crate::{
    error::request,
    origin::NewFile,
    parallel::{Stop, in_order},
    prepared::{Extent, Measured, Outcome, Prepared},
    write::{Callbacks, Plan, Step},
};

/// Numbers of tasks that a message lists.
const NAMED: usize = 5;

/// What a task did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskReport {
    /// The number of the task.
    pub id: usize,
    /// Its phase.
    pub phase: Phase,
    /// Whether the work was done already, by another run or another process.
    pub skipped: bool,
    /// Bytes that the task writes; those that it reads if it is an `amax`.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// What was done in all, of a task that finishes.
    #[serde(rename = "report")]
    pub outcome: Option<Outcome>,
}

impl TaskPlan {
    /// Runs a task on `threads` threads; by default, one for each core. It is skipped if its work is done.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if there is no such task, one of an earlier phase is pending, or the source has changed since the plan was
    /// made; [`Error::Exists`] if the output exists and may not be replaced; the errors of the operation; [`Error::Cancelled`]. What is
    /// written by then is not lost, and no marker speaks of what is not written.
    pub fn run(&self, id: usize, threads: Option<usize>, mut callbacks: Callbacks<'_>) -> Result<TaskReport> {
        let start = Instant::now();
        let task = self.tasks().get(id).ok_or_else(|| {
            request(format!("there is no task {id}; the last one of the plan is {}", self.last()))
        })?;
        let work = Work::new(self)?;
        let is_done = || work.is_finished() || Look::new(&work).is_done(task);
        let skipped = match is_done() {
            true => true,
            false => {
                let threads =
                    threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
                match work.run(task, threads, &mut callbacks) {
                    Ok(()) => false,
                    Err(Error::Cancelled) => return Err(Error::Cancelled),
                    // Another process has done it meanwhile, and taken the files away.
                    Err(_) if is_done() => true,
                    Err(error) => return Err(error),
                }
            }
        };
        let outcome = if task.phase == Phase::Finish { work.outcome() } else { None };
        if skipped && outcome.is_some() {
            // The process that finished may have been killed before it did so.
            work.clear();
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(TaskReport { id, phase: task.phase, skipped, bytes: task.bytes(), seconds, outcome })
    }

    /// The numbers of the tasks that are not done, of all phases or of one, in order: none if the output is finished.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if the output has no name.
    pub fn pending(&self, phase: Option<Phase>) -> Result<Vec<usize>> {
        let work = Work::new(self)?;
        if work.is_finished() {
            return Ok(Vec::new());
        }
        let mut look = Look::new(&work);
        let tasks = self.tasks().iter().filter(|task| phase.is_none_or(|phase| task.phase == phase));
        Ok(tasks.filter(|task| !look.is_done(task)).map(|task| task.id).collect())
    }

    /// Runs the tasks of the last two phases that are pending, and returns what the operation itself would.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn finish(&self, threads: Option<usize>, mut callbacks: Callbacks<'_>) -> Result<Outcome> {
        for id in self.pending(Some(Phase::Shard))? {
            self.run(id, threads, callbacks.reborrow())?;
        }
        let report = self.run(self.last(), threads, callbacks)?;
        report.outcome.ok_or_else(|| request("the output was removed while it was finished"))
    }
}

impl Work<'_> {
    /// Does the work of a task.
    fn run(&self, task: &Task, threads: usize, callbacks: &mut Callbacks<'_>) -> Result<()> {
        if task.phase == Phase::Shard {
            return finish::file(self, task, callbacks);
        }
        let prepared = self.plan.prepared(task.phase == Phase::Finish)?;
        match (task.phase, task.file) {
            (Phase::Amax, _) => {
                let measured = measure(&*prepared, task, threads, callbacks)?;
                self.mark(task.id, Done { measured, ..Done::default() })
            }
            (Phase::Prepare, None) => self.merge(&*prepared).map(drop),
            (Phase::Prepare, Some(file)) => {
                let plan = prepared.plan(&self.plan.record.output)?;
                self.prepare_file(file, &plan)
            }
            (Phase::Finish, _) => finish::all(self, &*prepared, callbacks),
            (Phase::Range | Phase::Shard, _) => {
                if !prepared.unmeasured().is_empty() {
                    prepared.take(&self.merge(&*prepared)?);
                }
                let plan = prepared.plan(&self.plan.record.output)?;
                let mut look = Look::new(self);
                for range in &task.ranges {
                    if !look.is_done(self.plan.of_file(range.file).0) {
                        self.prepare_file(range.file, &plan)?;
                    }
                }
                let done = ranges::write(self, &plan, task, threads, callbacks)?;
                self.mark(task.id, done)
            }
        }
    }

    /// Makes a file, and says so.
    fn prepare_file(&self, file: usize, plan: &Plan<'_>) -> Result<()> {
        let shard = &plan.shards[file];
        if NewFile::of(shard)? != *self.file(file) {
            let what = "the file would get another header than the plan says; make the plan again";
            return Err(request(what).at(format!("\"{}\"", shard.name)));
        }
        self.prepare(file, &Layout::new(shard)?.head)?;
        self.mark(self.plan.of_file(file).0.id, Done::default())
    }

    /// The measurements of all weights, by their order. They are merged if that is not done.
    fn merge(&self, prepared: &dyn Prepared) -> Result<Vec<Measured>> {
        if let Some(merged) = self.merged() {
            return Ok(merged.measured.into_iter().map(|(_, measured)| measured).collect());
        }
        let mut all = vec![Measured::default(); prepared.unmeasured().len()];
        let mut pending = Vec::new();
        for task in self.plan.of_phase(Phase::Amax) {
            match self.marker(task.id) {
                Some(done) => {
                    for (index, more) in done.measured {
                        all[index] = all[index].merge(more);
                    }
                }
                None => pending.push(task.id),
            }
        }
        check_none(&pending, Phase::Amax)?;
        if let Some(merge) = self.plan.merge() {
            let measured = all.iter().copied().enumerate().collect();
            self.mark(merge.id, Done { measured, ..Done::default() })?;
        }
        Ok(all)
    }
}

/// Fails if tasks of a phase are pending.
pub(super) fn check_none(pending: &[usize], phase: Phase) -> Result<()> {
    if pending.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = pending.iter().take(NAMED).map(usize::to_string).collect();
    let more = if pending.len() > NAMED { ", ..." } else { "" };
    let what = match pending.len() {
        1 => format!("1 task of the phase {phase} is pending, and"),
        n => format!("{n} tasks of the phase {phase} are pending, and"),
    };
    Err(request(format!("{what} must run first: {}{more}", named.join(", "))))
}

/// Measures the weights, or the ranges of weights, of a task.
fn measure(
    prepared: &dyn Prepared,
    task: &Task,
    threads: usize,
    callbacks: &mut Callbacks<'_>,
) -> Result<Vec<(usize, Measured)>> {
    let mut items = Vec::new();
    let mut start = 0;
    for (index, Extent { bytes, .. }) in prepared.unmeasured().into_iter().enumerate() {
        for range in &task.ranges {
            let within = range.from.max(start)..range.to.min(start + bytes);
            if !within.is_empty() {
                items.push((index, within.start - start..within.end - start));
            }
        }
        start += bytes;
    }
    let (mut all, mut done, total) = (Vec::new(), 0, task.bytes());
    let jobs = items.iter().map(|item| (item, 1));
    let measure = |(index, range): &(usize, Range<u64>), stop: &Stop| {
        let cancelled = || stop.check().is_err();
        let watched = Callbacks { progress: None, cancelled: Some(&cancelled) };
        Ok((*index, range.end - range.start, prepared.measure(*index, range.clone(), &watched)?))
    };
    in_order(threads.clamp(1, items.len().max(1)), jobs, measure, |measured| {
        callbacks.check()?;
        let Some((index, bytes, measured)) = measured else { return Ok(()) };
        all.push((index, measured));
        done += bytes;
        if let Some(progress) = &mut callbacks.progress {
            progress(Step::of_all("", "", done, total));
        }
        Ok(())
    })?;
    Ok(all)
}

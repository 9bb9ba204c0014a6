//! The arguments that make a plan of tasks, and the arguments of `tasks`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, Subcommand};
use lanecast_checkpoint::Phase;

use super::values::{phase, size};
use crate::help;

/// The arguments of an operation that is planned, not done.
#[derive(Debug, Args)]
pub struct Planning {
    /// Write a plan of tasks to this file and nothing else; `lanecast tasks` runs them, on any number of machines
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// With --plan: about how many bytes of the output a task writes, such as 512MiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = size, requires = "plan")]
    pub range_size: Option<u64>,
}

/// The arguments of `tasks`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::TASKS))]
#[command(after_long_help = help::long(help::TASKS, help::TASKS_NOTES))]
pub struct Tasks {
    /// What to do.
    #[command(subcommand)]
    pub command: TasksCommand,
}

/// What is done with a plan.
#[derive(Debug, Subcommand)]
pub enum TasksCommand {
    /// Run tasks of a plan, and skip those that are done
    Run(RunTasks),
    /// List the numbers of the tasks that are not done, a line each
    Pending(PendingTasks),
    /// Check that all files are complete, write the other files, and give the output its name
    Finish(FinishTasks),
}

/// The arguments of `tasks run`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::TASKS_RUN))]
#[command(after_long_help = help::long(help::TASKS_RUN, help::TASKS_RUN_NOTES))]
pub struct RunTasks {
    /// The number of a task, or every Nth task from I on: 0/8 to 7/8 are shares of eight processes
    #[arg(value_name = "ID|I/N", required = true, value_parser = chosen)]
    pub tasks: Vec<Chosen>,
    /// The plan
    #[arg(long = "of", value_name = "PLAN")]
    pub plan: PathBuf,
    /// With I/N: only tasks of this phase: amax, prepare, range, shard or finish [default: all phases, in order]
    #[arg(long, value_name = "PHASE", value_parser = phase(), hide_possible_values = true)]
    pub phase: Option<Phase>,
    /// Compute on this many threads [default: one for each core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print a JSON object for each task, in lines
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `tasks pending`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::TASKS_PENDING))]
pub struct PendingTasks {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Only tasks of this phase: amax, prepare, range, shard or finish [default: all phases]
    #[arg(long, value_name = "PHASE", value_parser = phase(), hide_possible_values = true)]
    pub phase: Option<Phase>,
    /// Print how many tasks of each phase are pending, instead of their numbers
    #[arg(long, conflicts_with = "json")]
    pub count: bool,
    /// Print the numbers, and how many tasks the phases have, as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `tasks finish`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::TASKS_FINISH))]
#[command(after_long_help = help::long(help::TASKS_FINISH, help::TASKS_FINISH_NOTES))]
pub struct FinishTasks {
    /// The plan
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Which tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The task of this number.
    One(usize),
    /// Every task whose number is `first` modulo `of`.
    Share { first: usize, of: usize },
}

/// A number, or I/N.
fn chosen(text: &str) -> Result<Chosen, String> {
    let number = |text: &str| text.parse::<usize>().ok();
    let parsed = match text.split_once('/') {
        None => number(text).map(Chosen::One),
        Some((first, of)) => number(first).zip(number(of)).map(|(first, of)| Chosen::Share { first, of }),
    };
    let sound = |chosen: &Chosen| !matches!(chosen, Chosen::Share { first, of } if first >= of);
    parsed.filter(sound).ok_or_else(|| {
        "not the number of a task, such as 7, or a share I/N with I below N, such as 0/8".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_numbers_or_shares() {
        assert_eq!(chosen("7"), Ok(Chosen::One(7)));
        assert_eq!(chosen("0/1"), Ok(Chosen::Share { first: 0, of: 1 }));
        assert_eq!(chosen("7/8"), Ok(Chosen::Share { first: 7, of: 8 }));
        for bad in ["", "x", "-1", "1.5", "8/8", "0/0", "1/", "/8", "1/2/3", "99999999999999999999"] {
            assert!(chosen(bad).is_err(), "{bad}");
        }
    }
}

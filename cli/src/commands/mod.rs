//! The subcommands, one per module.

mod cast;
mod completions;
mod cpu;
mod dtypes;
mod explain;
mod inspect;
mod man;
mod onnx_cast;
mod promote;
mod raw;
mod scale;
mod scaled_files;
mod sink;
mod table;
mod unscale;

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanecast_files::{Entry, Progress};

use crate::{args::Command, error::Result, report::warnings, terminal};

/// Does what the command line asks for.
pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Cast(args) => cast::run(args),
        Command::Raw(args) => raw::run(args),
        Command::OnnxCast(args) => onnx_cast::run(args),
        Command::Scale(args) => scale::run(args),
        Command::Unscale(args) => unscale::run(args),
        Command::Promote(args) => promote::run(args),
        Command::Table(args) => table::run(&args.table),
        Command::Dtypes(args) => dtypes::run(args.json),
        Command::Explain(args) => explain::run(args),
        Command::Cpu(args) => cpu::run(args.json),
        Command::Inspect(args) => inspect::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

/// Prints the warnings about `entries`, which are of `file` if there are several; with `each` also one for every tensor with lost values.
fn warn(entries: &[Entry], file: Option<&str>, each: bool) {
    if terminal::quiet() {
        return;
    }
    for line in warnings(entries, file, each) {
        // Standard error may be closed.
        let _ = terminal::warning(&line);
    }
}

/// A progress bar on standard error, which is removed on drop.
///
/// It is narrower than most windows will ever be: a line that no longer fits in its window takes a second one, which would stay.
struct Bar(ProgressBar);

const BAR: &str = "{bar:10} {percent:>3}% of {binary_total_bytes}, {eta}";

impl Bar {
    /// A bar over `bytes`; hidden if `bytes` is `None`, if standard error is no terminal, or if the program is quiet.
    fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.filter(|_| !terminal::quiet() && io::stderr().is_terminal());
        let Some(bytes) = bytes else {
            return Self(ProgressBar::hidden());
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        Self(match ProgressStyle::with_template(BAR) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    fn show(&self, progress: Progress) {
        self.0.set_position(progress.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

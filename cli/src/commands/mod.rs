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

use crate::{args::Command, error::Result, report::warning, terminal};

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

/// Warns about tensors with values outside the range of their target.
fn warn(entries: &[Entry]) {
    if terminal::quiet() {
        return;
    }
    for line in entries.iter().filter_map(warning) {
        // Standard error may be closed.
        let _ = terminal::warning(&line);
    }
}

/// A progress bar on standard error, which is removed on drop.
struct Bar(ProgressBar);

impl Bar {
    /// A bar over `bytes`; hidden if `bytes` is `None`, if standard error is no terminal, or if the program is quiet.
    fn new(bytes: Option<u64>) -> Self {
        let bytes = bytes.filter(|_| !terminal::quiet() && io::stderr().is_terminal());
        let Some(bytes) = bytes else {
            return Self(ProgressBar::hidden());
        };
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
        Self(
            match ProgressStyle::with_template(
                "{wide_bar} {binary_bytes} of {binary_total_bytes}, {eta} left",
            ) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            },
        )
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

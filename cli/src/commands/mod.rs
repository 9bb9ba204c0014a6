//! The subcommands, one per module.

mod cast;
mod check;
mod checkpoints;
mod completions;
mod convert;
mod cpu;
mod dequantize;
mod diff;
mod dtypes;
mod explain;
mod inspect;
mod man;
mod onnx_cast;
mod plan;
mod progress;
mod promote;
mod quantize;
mod raw;
mod scale;
mod scaled_files;
mod sink;
mod table;
mod tasks;
mod unscale;

use crate::{args::Command, error::Result};

/// Runs the subcommand of the command line.
pub fn run(command: &Command) -> Result<()> {
    match command {
        Command::Cast(args) => cast::run(args),
        Command::Raw(args) => raw::run(args),
        Command::OnnxCast(args) => onnx_cast::run(args),
        Command::Scale(args) => scale::run(args),
        Command::Unscale(args) => unscale::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Dequantize(args) => dequantize::run(args),
        Command::Quantize(args) => quantize::run(args),
        Command::Requantize(args) => quantize::run_again(args),
        Command::Tasks(args) => tasks::run(&args.command),
        Command::Check(args) => check::run(args),
        Command::Diff(args) => diff::run(args),
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

//! The program `lanecast`: casts the tensors of files and streams from one numeric dtype to another.
//!
//! Its laws: it reads and writes in bounded blocks whatever a file claims of itself; a file it cannot trust
//! is refused with one line and an exit code ([`error::Exit`]); an output appears complete and under its
//! name, or not at all ([`lanecast_files::Output`]). What a cast returns is the matter of the library `lanecast` alone.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod help;
mod meant;
mod options;
mod output;
mod report;
mod signals;
mod terminal;
mod text;
mod usage;

use std::process::ExitCode;

use clap::Parser;

/// A wrong environment variable, which the library would ignore with a warning, ends the program.
fn environment() -> error::Result<()> {
    lanecast::tier::from_env()?;
    Ok(())
}

fn run() -> error::Result<ExitCode> {
    match args::Cli::try_parse() {
        Ok(cli) => {
            terminal::settle(cli.color, cli.quiet);
            environment()?;
            commands::run(&cli.command).map(|()| ExitCode::SUCCESS)
        }
        Err(error) => usage::answer(error),
    }
}

fn main() -> ExitCode {
    run().unwrap_or_else(|failure| {
        failure.print();
        failure.exit().into()
    })
}

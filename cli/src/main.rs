//! The program `lanecast`: casts the tensors of files and streams from one numeric dtype to another.
//!
//! *Laws.* The program reads and writes in bounded blocks, whatever sizes a file claims. It refuses a damaged or
//! hostile file with one line and an exit code ([`exit::Exit`]). An output appears complete under its name, or
//! not at all ([`lanecast_files::Output`]). The result of a cast is defined by the library `lanecast` alone.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod exit;
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

/// Fails if an environment variable is wrong; the library would only warn and ignore it.
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

//! The program `lanecast`: casts the tensors of files and streams from one numeric dtype to another.
//!
//! Its laws: it reads and writes in bounded blocks whatever a file claims of itself; a file it cannot trust
//! is refused with one line and an exit code ([`error::Exit`]); an output appears complete and under its
//! name, or not at all ([`lanecast_files::Output`]). What a cast returns is the matter of the library `lanecast` alone.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod options;
mod output;
mod report;
mod text;

use std::process::ExitCode;

use clap::Parser;

/// A wrong environment variable, which the library would ignore with a warning, ends the program.
fn environment() -> error::Result<()> {
    lanecast::tier::from_env()?;
    Ok(())
}

fn main() -> ExitCode {
    let result = match args::Cli::try_parse() {
        Ok(cli) => environment().and_then(|()| commands::run(&cli.command)),
        Err(error) => args::answer(&error),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit().into()
        }
    }
}

//! The program `lanecast`: casts the tensors of files and streams from one numeric dtype to another.
//!
//! *Laws.* The program reads and writes in bounded blocks, whatever sizes a file claims. It refuses a damaged or
//! hostile file with one line and an exit code. An output appears complete under its name, or
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

use std::ffi::OsString;

use clap::Parser;

/// Fails if an environment variable is wrong; the library would only warn and ignore it.
fn environment() -> error::Result<()> {
    lanecast::tier::from_env()?;
    Ok(())
}

/// Runs the program with these arguments, without the program's own name, and returns its exit code.
///
/// It handles SIGHUP, SIGINT and SIGTERM from then on, so a process calls it once and ends with the code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    parsed(&args).unwrap_or_else(|failure| {
        failure.print();
        failure.exit() as u8
    })
}

fn parsed(args: &[OsString]) -> error::Result<u8> {
    let program = OsString::from("lanecast");
    match args::Cli::try_parse_from([&program].into_iter().chain(args)) {
        Ok(cli) => {
            terminal::settle(cli.color, cli.quiet);
            environment()?;
            commands::run(&cli.command).map(|()| 0)
        }
        Err(error) => usage::answer(error, args),
    }
}

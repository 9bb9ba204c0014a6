//! The program `lanecast`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    lanecast_cli::run(std::env::args_os().skip(1)).into()
}

//! `lanecast completions`.

use clap::CommandFactory;

use crate::{
    args::{Cli, Completions},
    error::Result,
    output,
};

/// Runs the subcommand.
pub fn run(args: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lanecast", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

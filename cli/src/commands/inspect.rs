//! `lanecast inspect`.

mod file;
mod folder;
mod histogram;
mod opened;
mod values;

use std::path::Path;

use self::opened::{Opened, open};
use crate::{args::Inspect, error::Result, output, signals, text};

/// Runs the subcommand.
pub fn run(args: &Inspect) -> Result<()> {
    signals::watch();
    for (i, input) in args.inputs.iter().enumerate() {
        if args.inputs.len() > 1 && !args.json {
            let path = input.display().to_string();
            let before = if i > 0 { "\n" } else { "" };
            output::print(&format!("{before}{}:\n", text::one_line(&path)))?;
        }
        one(args, input)?;
    }
    Ok(())
}

fn one(args: &Inspect, input: &Path) -> Result<()> {
    if input.is_dir() {
        return folder::run(args, input, input);
    }
    match open(input, args.format.is_none())? {
        Opened::File(input) => file::run(args, input),
        Opened::Checkpoint(path) => folder::run(args, path.path(), path.shown()),
    }
}

//! The arguments that say how outputs are written.

use clap::Args;

/// How outputs are written.
#[derive(Debug, Args)]
pub struct Writing {
    /// Replace OUT if it exists
    #[arg(long)]
    pub force: bool,
    /// Remove the temporary files that killed runs left in the folder of OUT
    #[arg(long)]
    pub clean: bool,
}

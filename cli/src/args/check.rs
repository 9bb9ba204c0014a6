//! The arguments of `check`.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use lanecast_checkpoint::Loader;

use crate::help;

/// The arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::CHECK))]
#[command(after_long_help = help::long(help::CHECK, help::CHECK_NOTES))]
pub struct Check {
    /// The checkpoint: a folder, a .safetensors file or a .gguf file
    #[arg(value_name = "SRC")]
    pub input: PathBuf,
    /// Also report what this loader cannot read
    #[arg(long = "for", value_name = "LOADER", value_parser = loader())]
    pub loader: Option<Loader>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

fn loader() -> impl TypedValueParser<Value = Loader> {
    PossibleValuesParser::new(Loader::ALL.iter().map(|loader| loader.name())).try_map(|name| {
        let loader = Loader::ALL.iter().find(|loader| loader.name() == name);
        loader.copied().ok_or("no such loader")
    })
}

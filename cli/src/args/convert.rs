//! The arguments of `convert`.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use clap::Args;
use lanecast::DType;

use super::{
    Planning,
    values::{dtype, mapping, seconds, size},
};
use crate::help;

/// The arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::CONVERT))]
#[command(after_long_help = help::long(help::CONVERT, help::CONVERT_NOTES))]
pub struct Convert {
    /// The checkpoint: a folder, a .safetensors file or a .gguf file
    #[arg(value_name = "SRC")]
    pub input: PathBuf,
    /// The folder to write; a .safetensors or .gguf file if SRC is one
    #[arg(value_name = "DST")]
    pub output: PathBuf,
    /// The dtype that floats are cast to, see `lanecast dtypes`
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// The dtype of tensors whose name matches, may be given several times: the first that matches decides
    #[arg(long, value_name = "GLOB=DTYPE", value_parser = mapping)]
    pub map: Vec<(String, DType)>,
    /// Cast only tensors whose name matches, may be given several times [default: all]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Copy tensors whose name matches, may be given several times [default: none]
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Divide the tensors into files of at most this size, such as 5GB or 512MiB [default: the files of SRC]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_shard_size: Option<u64>,
    /// Go on with what an earlier run with the same source and options left unfinished
    #[arg(long)]
    pub resume: bool,
    /// Wait for files of SRC that are missing or incomplete, and cast the others meanwhile; give up when nothing in SRC changes for SECONDS
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "3600", value_parser = seconds)]
    pub wait: Option<Duration>,
    /// Read the output again, and compare every tensor with a second cast
    #[arg(long)]
    pub verify: bool,
    /// Cast codes and scales of a quantized checkpoint as they are, which destroys its weights
    #[arg(long)]
    pub allow_quantized: bool,
    /// A plan instead of the work.
    #[command(flatten)]
    pub planning: Planning,
    /// Read and compute on N threads, beside the one that writes [default: one for each core, at most 8]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Replace DST if it exists, with all that is in it
    #[arg(long)]
    pub force: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub json: bool,
}

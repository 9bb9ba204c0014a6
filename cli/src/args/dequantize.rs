//! The arguments of `dequantize`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;
use lanecast::DType;

use super::{Planning, values::dtype};
use crate::help;

/// The arguments of `dequantize`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::DEQUANTIZE))]
#[command(after_long_help = help::long(help::DEQUANTIZE, help::DEQUANTIZE_NOTES))]
pub struct Dequantize {
    /// The checkpoint: a folder, or a .safetensors, .gguf, .npz or PyTorch file
    #[arg(value_name = "SRC")]
    pub input: PathBuf,
    /// The folder to write; a .safetensors or .gguf file if SRC is one
    #[arg(value_name = "DST")]
    pub output: PathBuf,
    /// The dtype of decoded weights: bfloat16, float16 or float32
    #[arg(long, value_name = "DTYPE", value_parser = dtype(), hide_possible_values = true)]
    pub to: DType,
    /// Decode the codes of a scale that is NaN or infinite, instead of failing
    #[arg(long)]
    pub allow_nan: bool,
    /// A plan instead of the work.
    #[command(flatten)]
    pub planning: Planning,
    /// With --plan: read files again before they get their names, and compare them with the checksums of what was written
    #[arg(long, requires = "plan")]
    pub verify: bool,
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

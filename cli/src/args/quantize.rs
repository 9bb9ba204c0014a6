//! The arguments of `quantize` and `requantize`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};
use lanecast_checkpoint::{Experts, QuantLayout, QuantScheme, QuantizeOptions};

use super::{
    Planning,
    values::{layout, map, scheme},
};
use crate::help;

/// The arguments of `quantize`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::QUANTIZE))]
#[command(after_long_help = help::long(help::QUANTIZE, help::QUANTIZE_NOTES))]
pub struct Quantize {
    /// The model: a folder, a .safetensors file for ComfyUI, or a .gguf file
    #[arg(value_name = "SRC")]
    pub input: PathBuf,
    /// What is done.
    #[command(flatten)]
    pub how: Quantization,
    /// Keep weights whose names match, may be given several times [default: see below]
    #[arg(long, value_name = "GLOB")]
    pub ignore: Vec<String>,
    /// Give weights the schemes that they have in this file of ComfyUI; --scheme is for those that it lacks
    #[arg(long, value_name = "FILE")]
    pub like: Option<PathBuf>,
    /// What becomes of experts that the model stacks in one tensor [default: split]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub experts: Option<StackedExperts>,
    /// Quantize the scales of nf4 and fp4, too
    #[arg(long)]
    pub double_quant: bool,
}

/// What becomes of stacked experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StackedExperts {
    /// Modules of their own
    Split,
    /// The stack as it is, not quantized
    Keep,
}

impl From<StackedExperts> for Experts {
    fn from(experts: StackedExperts) -> Self {
        match experts {
            StackedExperts::Split => Self::Split,
            StackedExperts::Keep => Self::Keep,
        }
    }
}

/// The arguments of `requantize`.
#[derive(Debug, Args)]
#[command(after_help = help::examples(help::REQUANTIZE))]
#[command(after_long_help = help::long(help::REQUANTIZE, help::REQUANTIZE_NOTES))]
pub struct Requantize {
    /// The quantized model: a folder
    #[arg(value_name = "SRC")]
    pub input: PathBuf,
    /// What is done.
    #[command(flatten)]
    pub how: Quantization,
    /// Fail at the first value that would change; required, since a second rounding is worse than one of the original
    #[arg(long, required = true)]
    pub lossless: bool,
}

/// What `quantize` and `requantize` share.
#[derive(Debug, Args)]
pub struct Quantization {
    /// The folder to write; a .safetensors or .gguf file if SRC is one
    #[arg(value_name = "DST")]
    pub output: PathBuf,
    /// The codes of weights, see below
    #[arg(long, value_name = "SCHEME", value_parser = scheme())]
    pub scheme: QuantScheme,
    /// What loads the result, see below
    #[arg(long, value_name = "LAYOUT", value_parser = layout())]
    pub layout: QuantLayout,
    /// The scheme of weights whose names match, may be given several times: the first match wins
    #[arg(long, value_name = "GLOB=SCHEME", value_parser = map)]
    pub map: Vec<(String, QuantScheme)>,
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

impl Quantization {
    /// The options of the library.
    pub fn options(&self) -> QuantizeOptions {
        let options = QuantizeOptions::new(self.scheme, self.layout);
        let threads = self.threads.map(usize::from);
        QuantizeOptions { map: self.map.clone(), replace: self.force, threads, ..options }
    }
}

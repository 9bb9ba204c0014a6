//! What the caller requests of [`quantize`](crate::quantize()), and what was done.

use serde::{Deserialize, Serialize};

use super::{QuantLayout, QuantScheme};
use crate::named;

/// What becomes of experts that a model stacks in one tensor of three axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Experts {
    /// Each expert becomes modules of its own, unless the layout stores the stack. A stack whose order is not known is an error.
    #[default]
    Split,
    /// The stack stays as it is and is not quantized.
    Keep,
}

/// What [`quantize`](crate::quantize()) and [`requantize`](crate::requantize) do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuantizeOptions {
    /// The codes of weights.
    #[serde(with = "named")]
    pub scheme: QuantScheme,
    /// How they are stored.
    #[serde(with = "named")]
    pub layout: QuantLayout,
    /// Schemes of weights whose names match a glob. The first match wins, and such weights are quantized even if they would stay by their
    /// names.
    #[serde(with = "named::patterns")]
    pub map: Vec<(String, QuantScheme)>,
    /// Globs of the names of weights that stay as they are.
    pub ignore: Vec<String>,
    /// What becomes of experts that the model stacks in one tensor.
    #[serde(default)]
    pub experts: Experts,
    /// Whether the scales of `nf4` and `fp4` are quantized themselves.
    pub double_quant: bool,
    /// Whether the output may exist. It is then replaced, with all files that are in it.
    pub replace: bool,
    /// The threads that read and compute, beside the one that writes. `None` takes as many as there are cores, and at most eight.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl QuantizeOptions {
    /// One scheme for all weights that do not stay by their names. An output that exists is an error.
    pub fn new(scheme: QuantScheme, layout: QuantLayout) -> Self {
        let (map, ignore) = (Vec::new(), Vec::new());
        let (experts, threads) = (Experts::Split, None);
        Self { scheme, layout, map, ignore, experts, double_quant: false, replace: false, threads }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuantizeReport {
    /// The layout of the output.
    pub layout: String,
    /// The scheme of weights that no pattern names.
    pub scheme: String,
    /// Weights of the output that were quantized.
    pub weights_quantized: usize,
    /// Tensors that were copied.
    pub tensors_copied: usize,
    /// Modules with a matrix that stays as it is, as the configuration lists them.
    pub ignored: Vec<String>,
    /// Bytes of tensors that were read. The first pass is not counted.
    pub bytes_in: u64,
    /// Bytes of tensors that were written.
    pub bytes_out: u64,
    /// The files that were written, by their paths in the output; none if it is one file.
    pub files: Vec<String>,
    /// What a reader should know about the result.
    pub warnings: Vec<String>,
}

//! What loaders other than llama.cpp read of GGUF files: types of blocks, architectures, and models in several files.
//!
//! The lists are from `GGML_BLOCK`, `GGUF_ARCHS` and `GGUF_CONFIG_MAPPING` of transformers, and `DEQUANT_TYPES` of SGLang.

use lanecast::gguf::BlockFormat::{
    self, IQ4_NL, IQ4_XS, Q2_K, Q3_K, Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0,
};
use serde_json::Value;

use super::Subject;
use crate::{checkpoint::Content, source::Elements};

/// A weight and the file.
pub(super) struct Blocks<'a> {
    format: Option<BlockFormat>,
    /// The architecture by the metadata.
    architecture: &'a str,
    /// The files of the model.
    files: usize,
}

/// A weight that a loader does not read.
pub(super) struct Limit {
    pub(super) what: &'static str,
    pub(super) applies: fn(&Blocks<'_>) -> bool,
}

/// Architectures whose blocks transformers reads itself.
const OWN: &[&str] = &["qwen35", "qwen35moe", "lfm2"];

/// Other architectures of transformers, whose blocks the package gguf decodes.
const BY_PACKAGE: &[&str] = &[
    "llama",
    "mistral",
    "qwen2",
    "qwen2moe",
    "gpt-oss",
    "qwen3",
    "qwen3moe",
    "falcon",
    "phi3",
    "bloom",
    "t5",
    "t5encoder",
    "stablelm",
    "gpt2",
    "starcoder2",
    "mamba",
    "nemotron",
    "gemma2",
    "gemma3",
    "gemma4",
    "deci",
    "minimax-m2",
];

/// The blocks that transformers decodes itself.
const OF_TRANSFORMERS: &[BlockFormat] = &[Q4_0, Q4_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS];

/// The blocks that SGLang decodes.
const OF_SGLANG: &[BlockFormat] =
    &[Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS];

const SPLIT: Limit = Limit { what: "it reads one file, and the model is split", applies: |of| of.files > 1 };

pub(super) const TRANSFORMERS: &[Limit] = &[
    Limit {
        what: "it does not know the architecture (general.architecture)",
        applies: |of| !OWN.contains(&of.architecture) && !BY_PACKAGE.contains(&of.architecture),
    },
    Limit {
        what: "of this architecture it reads only Q4_0, Q4_1, Q8_0, Q2_K to Q6_K and IQ blocks",
        applies: |of| {
            OWN.contains(&of.architecture) && of.format.is_some_and(|of| !OF_TRANSFORMERS.contains(&of))
        },
    },
    SPLIT,
];

pub(super) const SGLANG: &[Limit] = &[
    Limit {
        what: "it reads only Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K and IQ blocks",
        applies: |of| of.format.is_some_and(|of| !OF_SGLANG.contains(&of)),
    },
    SPLIT,
];

impl<'a> Blocks<'a> {
    /// What is known about a weight of a GGUF file.
    pub(super) fn of(subject: &Subject<'a>, content: &Content) -> Self {
        let source = &subject.checkpoint.source;
        let metadata = source.gguf.as_ref().map(|metadata| &metadata.values);
        let architecture = metadata.and_then(|of| of.get("general.architecture")).and_then(Value::as_str);
        let format = match subject.stored(content).elements {
            Elements::Blocks(format) => Some(format),
            _ => None,
        };
        Self { format, architecture: architecture.unwrap_or_default(), files: source.files.len() }
    }
}

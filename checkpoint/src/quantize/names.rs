//! What the names of modules say: which ones stay as they are, which ones a runtime fuses, and which tensors stack experts.
//!
//! The lists are the union of what the tools that write the layouts leave out: llm-compressor, ModelOpt, the converters of SGLang,
//! transformers.

/// Parts of names between dots. A module stays if one of its parts is in the list.
const PARTS: &[&str] = &[
    "lm_head",
    "head",
    "output_layer",
    "proj_out",
    "router",
    "shared_expert_gate",
    "in_proj_a",
    "in_proj_b",
    "eh_proj",
    "weights_proj",
    "wo_a",
    "compressor",
    "mtp",
    "visual",
    "vision_tower",
    "vision_model",
    "vision_encoder",
    "multi_modal_projector",
    "mm_projector",
    "wte",
    "wpe",
    "relative_attention_bias",
    "score",
    "classifier",
];

/// Words in parts of names.
const WORDS: &[&str] = &["embed", "conv", "router"];

/// Whether a module stays as it is unless the caller names it: norms, embeddings, routers, heads, convolutions, vision towers, and what is
/// small or sensitive.
pub(super) fn stays(module: &str) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    let part = |part: &str| PARTS.contains(&part) || WORDS.iter().any(|word| part.contains(word));
    // `gate_proj` is a matrix like others; `gate` chooses experts, and `shared` is the embedding of encoders and decoders.
    last.contains("norm") || ["gate", "shared"].contains(&last) || module.split('.').any(part)
}

/// Modules that a runtime computes as one.
#[derive(Debug)]
pub(crate) struct Fused {
    /// The last parts of their names.
    pub(crate) parts: &'static [&'static str],
    /// What vLLM calls the whole.
    pub(crate) alias: Option<&'static str>,
}

/// The sets of modules that runtimes compute as one.
pub(crate) const FUSED: &[Fused] = &[
    Fused { parts: &["q_proj", "k_proj", "v_proj"], alias: Some("qkv_proj") },
    Fused { parts: &["gate_proj", "up_proj"], alias: Some("gate_up_proj") },
    Fused { parts: &["w1", "w3"], alias: None },
    Fused { parts: &["q_a_proj", "kv_a_proj_with_mqa"], alias: Some("fused_qkv_a_proj") },
    Fused { parts: &["wq_a", "wkv"], alias: None },
];

/// The set that a runtime fuses a module into, and the name that the modules of the set share.
pub(crate) fn fused(module: &str) -> Option<(&str, &'static Fused)> {
    let (parent, last) = module.rsplit_once('.')?;
    let set = FUSED.iter().find(|set| set.parts.contains(&last))?;
    Some((parent, set))
}

/// The name of the set of a module, which is its own if it is fused with no other.
pub(crate) fn set_of(module: &str) -> String {
    match fused(module) {
        Some((parent, set)) => format!("{parent}.{}", set.parts[0]),
        None => module.to_owned(),
    }
}

/// How a model stacks the matrices of its experts in a tensor of three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stacked {
    /// Whether the tensors are `[experts, inputs, outputs]`, so that each matrix is the transpose of a weight.
    pub(crate) transposed: bool,
    /// Whether the rows of gate and up alternate in `gate_up_proj`, instead of following each other.
    pub(crate) interleaved: bool,
}

/// The models that stack experts, by `model_type`.
const STACKED: &[(&str, Stacked)] = &[
    ("gpt_oss", Stacked { transposed: true, interleaved: true }),
    ("llama4", Stacked { transposed: true, interleaved: false }),
    ("llama4_text", Stacked { transposed: true, interleaved: false }),
    ("qwen3_vl_moe", Stacked { transposed: true, interleaved: false }),
    ("qwen3_vl_moe_text", Stacked { transposed: true, interleaved: false }),
    ("qwen3_5_moe", Stacked { transposed: false, interleaved: false }),
    ("qwen3_5_moe_text", Stacked { transposed: false, interleaved: false }),
];

/// How a model of this type stacks experts, if that is known.
pub(crate) fn stacked(model_type: &str) -> Option<Stacked> {
    STACKED.iter().find(|(name, _)| *name == model_type).map(|(_, stacked)| *stacked)
}

/// The prefix of the experts and the last part of the name, if a tensor of three axes stacks experts: `a.experts` and `down_proj`.
pub(crate) fn stack(tensor: &str) -> Option<(&str, &str)> {
    let (experts, last) = tensor.strip_suffix(".weight").unwrap_or(tensor).rsplit_once('.')?;
    let known = ["gate_up_proj", "down_proj"].contains(&last);
    (known && experts.rsplit('.').next() == Some("experts")).then_some((experts, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_modules_stay() {
        let stay = [
            "lm_head",
            "model.embed_tokens",
            "model.layers.0.input_layernorm",
            "model.layers.0.mlp.gate",
            "model.layers.0.mlp.shared_expert_gate",
            "model.layers.0.block_sparse_moe.gate",
            "model.layers.0.mlp.router",
            "model.layers.0.linear_attn.conv1d",
            "model.visual.blocks.0.mlp.linear_fc1",
            "head",
            "mtp.0.fc",
            "shared",
        ];
        assert_eq!(stay.iter().filter(|module| !stays(module)).count(), 0);
        let quantized = [
            "model.layers.0.self_attn.q_proj",
            "model.layers.0.mlp.gate_proj",
            "model.layers.0.mlp.experts.3.down_proj",
            "model.layers.0.self_attn.kv_b_proj",
            "layers.0.ffn.experts.0.w1",
        ];
        assert_eq!(quantized.iter().filter(|module| stays(module)).count(), 0);
    }

    #[test]
    fn parts_of_a_fused_layer_share_a_set() {
        let sets = ["a.q_proj", "a.k_proj", "a.v_proj", "b.q_proj", "a.o_proj", "x.w3"].map(set_of);
        assert_eq!(sets, ["a.q_proj", "a.q_proj", "a.q_proj", "b.q_proj", "a.o_proj", "x.w1"]);
        assert_eq!(fused("a.up_proj").and_then(|(_, set)| set.alias), Some("gate_up_proj"));
    }

    #[test]
    fn stacks_are_experts_of_known_names() {
        assert_eq!(stack("l.0.mlp.experts.gate_up_proj"), Some(("l.0.mlp.experts", "gate_up_proj")));
        assert_eq!(stack("l.0.mlp.experts.down_proj.weight"), Some(("l.0.mlp.experts", "down_proj")));
        assert_eq!(stack("l.0.mlp.down_proj"), None);
        assert!(stacked("llama4").is_some_and(|of| of.transposed) && stacked("llama").is_none());
    }
}

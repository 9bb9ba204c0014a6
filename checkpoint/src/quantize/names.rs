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

/// How a model stacks the matrices of its experts in tensors of three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stacked {
    /// Whether the tensors are `[experts, inputs, outputs]`, so that each matrix is the transpose of a weight.
    pub(crate) transposed: bool,
    /// Whether the rows of gate and up alternate in `gate_up_proj`, instead of following each other.
    pub(crate) interleaved: bool,
    /// Whether the tensors are `input_linear.weight` and `output_linear.weight`.
    pub(crate) linear: bool,
    /// What loaders call gate, up and down of one expert.
    pub(crate) parts: [&'static str; 3],
}

const PROJ: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];
const HALVES: Stacked = Stacked { transposed: false, interleaved: false, linear: false, parts: PROJ };
const TRANSPOSED: Stacked = Stacked { transposed: true, ..HALVES };
const LINEAR: Stacked = Stacked { linear: true, ..HALVES };

/// The models that stack experts, by `model_type`.
const STACKED: &[(&str, Stacked)] = &[
    ("gpt_oss", Stacked { interleaved: true, ..TRANSPOSED }),
    ("llama4", TRANSPOSED),
    ("llama4_text", TRANSPOSED),
    ("qwen3_vl_moe", TRANSPOSED),
    ("qwen3_vl_moe_text", TRANSPOSED),
    ("qwen3_5_moe", HALVES),
    ("qwen3_5_moe_text", HALVES),
    // vLLM loads single experts of these under two sets of names.
    ("granitemoe", Stacked { parts: ["w1", "w3", "w2"], ..LINEAR }),
    ("granitemoeshared", Stacked { parts: ["w1", "w3", "w2"], ..LINEAR }),
    ("granitemoehybrid", LINEAR),
];

/// How a model of this type stacks experts, if that is known.
pub(crate) fn stacked(model_type: &str) -> Option<Stacked> {
    STACKED.iter().find(|(name, _)| *name == model_type).map(|(_, stacked)| *stacked)
}

/// A tensor of three axes that stacks experts, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stack {
    /// What the names of single experts begin with: `a.experts`.
    pub(crate) experts: String,
    /// `gate_up_proj` or `down_proj`, whatever the model calls it.
    pub(crate) last: &'static str,
    /// Whether the name is that of [`Stacked::linear`].
    pub(crate) linear: bool,
}

/// The spellings of the last two parts of the names of stacks, and which matrices these stack.
const STACKS: &[(&str, &str, &str, bool)] = &[
    ("experts", "gate_up_proj", "gate_up_proj", false),
    ("experts", "down_proj", "down_proj", false),
    ("block_sparse_moe", "input_linear", "gate_up_proj", true),
    ("block_sparse_moe", "output_linear", "down_proj", true),
];

/// What a tensor of three axes stacks, if its name is one of a stack of experts.
pub(crate) fn stack(tensor: &str) -> Option<Stack> {
    let (parent, name) = tensor.strip_suffix(".weight").unwrap_or(tensor).rsplit_once('.')?;
    let of = parent.rsplit('.').next();
    let found = STACKS.iter().find(|(parent, last, ..)| of == Some(parent) && name == *last);
    found.map(|(_, _, last, linear)| {
        let experts = if *linear { format!("{parent}.experts") } else { parent.to_owned() };
        Stack { experts, last, linear: *linear }
    })
}

/// The largest axis that the kernel of a convolution has.
const KERNEL: usize = 16;

/// Whether a tensor of this shape stacks matrices: the weights of a convolution have a small kernel instead of inputs.
pub(super) fn stacks_matrices(tensor: &str, shape: &[usize]) -> bool {
    let [_, _, last] = *shape else { return false };
    let is_named = stack(tensor).is_some() || tensor.split('.').any(|part| part == "experts");
    is_named || tensor.ends_with(".weight") && last > KERNEL
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
        let of = |experts: &str, last, linear| Some(Stack { experts: experts.to_owned(), last, linear });
        assert_eq!(stack("l.0.mlp.experts.gate_up_proj"), of("l.0.mlp.experts", "gate_up_proj", false));
        assert_eq!(stack("l.0.mlp.experts.down_proj.weight"), of("l.0.mlp.experts", "down_proj", false));
        let granite = stack("l.0.block_sparse_moe.input_linear.weight");
        assert_eq!(granite, of("l.0.block_sparse_moe.experts", "gate_up_proj", true));
        assert_eq!([stack("l.0.mlp.down_proj"), stack("l.0.shared_mlp.input_linear.weight")], [None, None]);
        assert!(stacked("llama4").is_some_and(|of| of.transposed) && stacked("llama").is_none());
    }

    #[test]
    fn kernels_are_no_matrices() {
        assert!(stacks_matrices("a.experts.x", &[2, 8, 4]) && stacks_matrices("a.up.weight", &[2, 64, 32]));
        assert!(!stacks_matrices("a.up.weight", &[64, 64, 16]) && !stacks_matrices("a.up", &[2, 64, 32]));
        assert!(!stacks_matrices("a.up.weight", &[64, 32]));
    }
}

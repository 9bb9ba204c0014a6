//! Which tensors of a GGUF file keep their type: the list of llama.cpp's `llama-quantize`.

use crate::source::Stored;

/// Parts of the names of weights that stay: norms, routers, convolutions and small matrices.
const STAY: &[&str] = &[
    "_norm.weight",
    "ffn_gate_inp",
    "ffn_gate_tid2eid",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "position_embd",
    "token_types",
    "ssm_conv1d",
    "shortconv.conv",
    "time_mix_first",
    "time_mix_w0",
    "time_mix_w1",
    "time_mix_w2",
    "time_mix_v0",
    "time_mix_v1",
    "time_mix_v2",
    "time_mix_a0",
    "time_mix_a1",
    "time_mix_a2",
    "time_mix_g1",
    "time_mix_g2",
    "time_mix_decay_w1",
    "time_mix_decay_w2",
    "time_mix_lerp_fused",
    "attn_rel_b",
    "sam.pos_embd",
    "sam.neck.",
    "sam.net_",
    ".rel_pos",
    ".patch_embd",
    ".patch_merger",
];

/// Whether a tensor keeps its type unless the caller names it: it has one axis, is no `*weight`, or is in the list.
pub(crate) fn stays(tensor: &Stored) -> bool {
    // Axes of length 1 before the others do not count.
    let axes = tensor.shape.iter().skip_while(|axis| **axis == 1).count();
    axes < 2 || !tensor.name.ends_with("weight") || STAY.iter().any(|part| tensor.name.contains(part))
}

//! The tensors that only a runtime with quantized activations uses: a plain checkpoint has none.
//!
//! *Law.* A tensor is dropped only if its name, its place beside a weight that was recognised, its dtype and its shape all say that it is a
//! scale or zero point of activations. Models have weights of the same names, such as the `q_scale` of a norm of queries: those have other
//! shapes, and stay.

use std::collections::{HashMap, HashSet};

use crate::{
    coding::Id,
    layouts::Weight,
    source::{Source, Stored},
};

/// The ends of the names of such tensors beside the codes.
const BESIDE: &[&str] = &[
    "input_scale",
    "input_global_scale",
    "input_zero_point",
    "activation_scale",
    "input_activation_scale",
    "output_scale",
    "output_activation_scale",
    "qscale_act",
    "k_scale",
    "v_scale",
    "q_scale",
];

/// The scales of attention, which are beside the module that has the projections.
const ATTENTION: &[&str] = &[".k_scale", ".v_scale", ".q_scale", ".kv_scale", ".prob_output_scale"];

/// Whether a tensor of such a name can be a scale or a zero point. A scale of inputs may have an element for each row of the weight, or for
/// each of stacked weights.
fn is_scale(tensor: &Stored, weight: Option<&Weight>) -> bool {
    let zero = tensor.name.ends_with("zero_point");
    let number = tensor.dtype().is_some_and(|dtype| zero || dtype.finfo().is_some());
    let rows = weight.filter(|_| tensor.name.ends_with("input_scale")).is_some_and(|weight| {
        let [leading @ .., rows, _] = &weight.coding.shape[..] else { return false };
        [*rows, leading.iter().product()].contains(&tensor.len())
    });
    number && (tensor.len() == 1 || rows)
}

/// Marks the scales of activations near weights as used. Returns the tensors of such names that cannot be scales, with a warning for each.
pub(crate) fn drop_scales(
    source: &Source,
    weights: &[Option<Weight>],
    used: &mut HashMap<Id, Id>,
    warnings: &mut Vec<String>,
) -> HashSet<Id> {
    let mut found: Vec<(Id, Id, bool)> = Vec::new();
    // The layer, and a weight of it: `a.0.attn` and `a.0` for `a.0.attn.q_proj`.
    let mut near: HashMap<&str, Id> = HashMap::new();
    for (id, weight) in weights.iter().enumerate() {
        let Some(weight) = weight else { continue };
        for end in BESIDE {
            if let Some(other) = source.names.get(&format!("{}.{end}", weight.module)) {
                found.push((*other, id, is_scale(&source.tensors[*other], Some(weight))));
            }
        }
        for (end, _) in weight.module.rmatch_indices('.').take(2) {
            near.entry(&weight.module[..end]).or_insert(id);
        }
    }
    for (id, tensor) in source.tensors.iter().enumerate() {
        let Some(module) = ATTENTION.iter().find_map(|end| tensor.name.strip_suffix(end)) else { continue };
        let parent = module.rsplit_once('.').and_then(|(parent, _)| near.get(parent));
        if let Some(weight) = near.get(module).or(parent) {
            found.push((id, *weight, is_scale(tensor, None)));
        }
    }
    let mut kept = HashSet::new();
    for (id, weight, is_scale) in found {
        let tensor = &source.tensors[id];
        if weights[id].is_some() || used.contains_key(&id) {
            continue;
        }
        if is_scale {
            used.insert(id, weight);
        } else if kept.insert(id) {
            let file = source.files[tensor.file].path.display();
            warnings.push(format!(
                "{file}, tensor \"{}\": {} is kept; only its name is that of a scale of activations",
                tensor.name,
                tensor.described()
            ));
        }
    }
    kept
}

/// The scales of activations that are in the files, and are not tensors of the checkpoint.
pub(crate) fn dropped<'s>(source: &'s Source, is_kept: impl Fn(&str) -> bool + 's) -> Vec<&'s Stored> {
    let is_scale = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        let stacked = |end: &str| last.ends_with(&format!("_{end}"));
        let beside = BESIDE.iter().any(|end| last == *end || stacked(end));
        beside || last == "scale_input" || ATTENTION.iter().any(|end| name.ends_with(end))
    };
    source.tensors.iter().filter(|tensor| is_scale(&tensor.name) && !is_kept(&tensor.name)).collect()
}

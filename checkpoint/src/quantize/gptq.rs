//! GPTQ: `qweight` [K/8, N] packed down, `qzeros` and `scales` for each group, and `g_idx`. Codes come from another layout.
//!
//! Symmetric codes are written as version 1, which most loaders take. Others need version 2: in version 1 a zero point of 0 is read in two ways.

use lanecast::DType;
use serde_json::{Map, Value, json};

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    layout::{Layout, Make, Output},
    moved::{Int4, Part},
    names,
    scheme::QuantScheme,
};
use crate::coding::Packing;

pub(super) struct Gptq;

/// Whether all weights have symmetric codes.
fn is_symmetric(chosen: &Chosen) -> bool {
    chosen.weights.iter().all(|weight| weight.int4().is_some_and(|int4| int4.symmetric))
}

/// The elements of a group in a configuration: -1 is a row.
pub(super) fn group_size(chosen: &Chosen) -> Value {
    let group = chosen.weights.first().and_then(Weight::int4).and_then(|int4| int4.group);
    group.map_or(json!(-1), Value::from)
}

/// Codes, zero points and scales of a weight as GPTQ and AWQ name them, with columns as rows. Codes have a packing and a shape; `less_one` is
/// whether zero points are stored less one.
pub(super) fn tensors(
    weight: &Weight,
    (codes, shape): (Packing, [usize; 2]),
    zeros: Packing,
    less_one: bool,
) -> Vec<Output> {
    let Some(Int4 { group, scales, .. }) = weight.int4() else { return Vec::new() };
    let [n, k] = weight.shape();
    let groups = k.div_ceil(group.unwrap_or(k).max(1));
    let codes = Part::Codes { packing: codes, transposed: true, pad: 1 };
    let zeros = Part::Zeros { packing: zeros, transposed: true, less_one };
    let of_groups = Part::Scales { transposed: true, swizzled: false };
    vec![
        weight.output(".qweight", DType::Int32, &shape, Make::Moved(codes)),
        weight.output(".qzeros", DType::Int32, &[groups, n / 8], Make::Moved(zeros)),
        weight.output(".scales", scales, &[groups, n], Make::Moved(of_groups)),
    ]
}

/// The modules that a loader would take for quantized ones, as rules that exclude them.
fn rules(chosen: &Chosen) -> Map<String, Value> {
    let plain = chosen.ignored.iter().filter(|module| !names::stays(module));
    plain.map(|module| (format!("-:^{}$", module.replace('.', "\\.")), json!({}))).collect()
}

impl Layout for Gptq {
    fn name(&self) -> &'static str {
        "gptq"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[QuantScheme::W4a16]
    }

    fn only_moves(&self) -> bool {
        true
    }

    fn words(&self) -> [usize; 2] {
        [8, 8]
    }

    fn outputs(
        &self,
        weight: &Weight,
        chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let [n, k] = weight.shape();
        let codes = (Packing::columns(4, n), [k / 8, n]);
        let mut outputs = tensors(weight, codes, Packing::rows(4, n / 2), is_symmetric(chosen));
        if let Some(int4) = weight.int4() {
            let groups = Part::Groups(int4.group.unwrap_or(k).max(1));
            outputs.push(weight.output(".g_idx", DType::Int32, &[k], Make::Moved(groups)));
        }
        outputs
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        let is_symmetric = is_symmetric(chosen);
        let mut config = json!({
            "quant_method": "gptq",
            "bits": 4,
            "group_size": group_size(chosen),
            "desc_act": false,
            "sym": is_symmetric,
            "lm_head": chosen.weights.iter().any(|weight| weight.module == "lm_head"),
            "checkpoint_format": if is_symmetric { "gptq" } else { "gptq_v2" },
        });
        let rules = rules(chosen);
        if !rules.is_empty() {
            config["dynamic"] = rules.into();
        }
        Some(config)
    }
}

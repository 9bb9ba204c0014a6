//! What the configuration and the index declare, and the tensors do not have.

use std::collections::BTreeSet;

use lanecast::{Bytes, CastOptions, CastPlan, DType};
use serde_json::Value;

use super::{Finding, Kind, Severity, Subject};
use crate::{
    checkpoint::{Content, little},
    layouts::{Context, text, texts},
    source::Stored,
};

/// The ends of the names of scales of static activations, behind the name of the module.
const ACTIVATIONS: &[&str] = &[
    "input_scale",
    "input_global_scale",
    "activation_scale",
    "input_activation_scale",
    "qscale_act",
    "scale_input",
];

/// The ends of the names of scales of a quantized cache.
const CACHE: &[&str] = &["k_scale", "v_scale", "kv_scale"];

/// Adds a finding for each promise that the tensors do not keep.
pub(super) fn check(of: &Subject<'_>, findings: &mut Vec<Finding>) {
    let source = &of.checkpoint.source;
    findings.extend(total_size(of));
    findings.extend(two_files(of));
    // Where one layer of ComfyUI has a scale of its inputs, so must all.
    if of.checkpoint.layout() == "ComfyUI" && source.tensors.iter().any(|tensor| is_input_scale(of, tensor)) {
        let what = "other weights of the file have a scale of their inputs, and this one has none";
        activations(of, what, findings);
    }
    let context = Context::new(source);
    let Some(config) = context.config() else { return };
    if declares_static(config) {
        let what = "the configuration declares static activations, and the weight has no input_scale";
        activations(of, what, findings);
    }
    let cache = config.get("kv_cache_scheme").is_some_and(Value::is_object)
        || text(config, "kv_cache_quant_algo").is_some_and(|algo| !algo.eq_ignore_ascii_case("none"));
    let is_cache = |tensor: &Stored| CACHE.iter().any(|end| tensor.name.ends_with(end));
    if cache && !source.tensors.iter().any(is_cache) {
        let what =
            "the configuration declares a quantized cache, and no tensor has its scales (k_scale, v_scale)";
        let remedy = "calibrate the cache, or remove the declaration; loaders use the scale 1";
        findings.push(of.about(
            Kind::CacheScale,
            Severity::Warning,
            context.config_path(),
            what.to_owned(),
            remedy,
        ));
    }
}

/// Compares the size that the index states with the size of the tensors.
fn total_size(of: &Subject<'_>) -> Option<Finding> {
    let source = &of.checkpoint.source;
    let index = source.index.as_ref()?;
    let stated = index.value.get("metadata")?.get("total_size")?.as_u64()?;
    let have: u64 = source.tensors.iter().map(|tensor| tensor.bytes as u64).sum();
    let what = format!("the index states {stated} bytes of tensors (total_size), and the files have {have}");
    let remedy = "check that all files are of the same checkpoint";
    (stated != have).then(|| of.about(Kind::TotalSize, Severity::Warning, &index.path, what, remedy))
}

/// The two files in which ModelOpt describes the quantization.
fn two_files(of: &Subject<'_>) -> Option<Finding> {
    let source = &of.checkpoint.source;
    let path = &source.hf_quant_config.as_ref()?.path;
    let own = source.hf_quant_config.as_ref()?.value.get("quantization")?;
    let config = source.config.as_ref()?.value.get("quantization_config")?;
    let algo = |of: &Value| text(of, "quant_algo").map(str::to_ascii_uppercase);
    let list = |of: &Value| -> BTreeSet<String> {
        let lists = ["ignore", "exclude_modules"].iter().flat_map(|key| texts(of, key));
        lists.map(str::to_owned).collect()
    };
    let differs = |what: String| {
        let remedy =
            "make config.json and hf_quant_config.json say the same: some loaders read only one of them";
        Some(of.about(Kind::Configuration, Severity::Warning, path, what, remedy))
    };
    if algo(own) != algo(config) {
        let named = |algo: Option<String>| algo.unwrap_or_else(|| "none".to_owned());
        return differs(format!(
            "the quant_algo is {}, and {} in config.json",
            named(algo(own)),
            named(algo(config))
        ));
    }
    let (own, config) = (list(own), list(config));
    let first = own.symmetric_difference(&config).next()?;
    differs(format!("only one of hf_quant_config.json and config.json lists \"{first}\" as not quantized"))
}

/// Whether the activations of all quantized weights have a scale in the checkpoint.
fn declares_static(config: &Value) -> bool {
    if text(config, "activation_scheme") == Some("static") {
        return true;
    }
    let algo = text(config, "quant_algo").unwrap_or_default().to_ascii_uppercase();
    if ["FP8", "NVFP4"].contains(&&*algo) {
        return true;
    }
    let groups = config.get("config_groups").and_then(Value::as_object);
    let is_static = |group: &Value| {
        group.get("input_activations").and_then(|of| of.get("dynamic")) == Some(&Value::Bool(false))
    };
    algo.is_empty() && groups.is_some_and(|groups| !groups.is_empty() && groups.values().all(is_static))
}

/// Whether a tensor of ComfyUI has the scale of the inputs of a layer. In older files, 1 says that there is none.
fn is_input_scale(of: &Subject<'_>, tensor: &Stored) -> bool {
    match tensor.name.rsplit('.').next() {
        Some("input_scale") => true,
        Some("scale_input") => !is_one(of, tensor),
        _ => false,
    }
}

/// Adds a finding for each quantized weight without a scale of its activations, or with the scale 1. `missing` says why a scale
/// is missing.
fn activations(of: &Subject<'_>, missing: &str, findings: &mut Vec<Finding>) {
    let source = &of.checkpoint.source;
    for (tensor, content) in of.contents().filter(|(_, content)| matches!(content, Content::Coded(_))) {
        let Some(module) = tensor.name.strip_suffix(".weight") else { continue };
        let found = ACTIVATIONS.iter().find_map(|end| source.names.get(&format!("{module}.{end}")));
        let remedy = "calibrate the activations, or declare them dynamic";
        match found.map(|id| &source.tensors[*id]) {
            None => {
                let codes = of.stored(content);
                findings.push(of.finding(
                    Kind::ActivationScale,
                    Severity::Warning,
                    codes,
                    missing.to_owned(),
                    remedy,
                ));
            }
            Some(scale) if is_one(of, scale) => {
                let what = "the scale of static activations is 1, as if it was never calibrated";
                findings.push(of.finding(
                    Kind::ActivationScale,
                    Severity::Warning,
                    scale,
                    what.to_owned(),
                    remedy,
                ));
            }
            Some(_) => {}
        }
    }
}

/// Whether the only element of a tensor is 1.
fn is_one(of: &Subject<'_>, scale: &Stored) -> bool {
    let (Some(dtype), 1) = (scale.dtype(), scale.len()) else { return false };
    let plan = CastPlan::new(little(dtype), DType::Float64, &CastOptions::RUST);
    let value = plan.ok().zip(of.checkpoint.source.read_all(scale).ok()).and_then(|(plan, bytes)| {
        let mut value = [0.0_f64];
        plan.run(Bytes::new(&bytes, 1), &mut value[..]).ok().map(|()| value[0])
    });
    value == Some(1.0)
}

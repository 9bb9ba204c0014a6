//! ModelOpt: `weight` and `weight_scale`, whose description is in `config.json` and in `hf_quant_config.json`.
//!
//! FP8 and NVFP4 with quantized activations need calibration. The algorithms here quantize weights, or let the runtime quantize activations.

use lanecast::DType;
use serde_json::{Map, Value, json};

use super::{
    QuantizeOptions, Weight,
    cast::nvfp4,
    choose::Chosen,
    layout::{Layout, Make, Output},
    scheme::QuantScheme::{self, Fp8Block, Fp8Dynamic, Mxfp4, Mxfp8, Nvfp4},
};

pub(super) struct ModelOpt;

/// The algorithm of a scheme, and elements of its groups.
fn algorithm(scheme: QuantScheme) -> (&'static str, Option<usize>) {
    match scheme {
        Fp8Block => ("FP8_PB_WO", None),
        Mxfp8 => ("MXFP8", Some(32)),
        Mxfp4 => ("MXFP4", Some(32)),
        Nvfp4 => ("W4A16_NVFP4", Some(16)),
        _ => ("FP8_PER_CHANNEL_PER_TOKEN", None),
    }
}

/// The algorithm with its group size.
fn described(scheme: QuantScheme) -> Map<String, Value> {
    let (name, group) = algorithm(scheme);
    let mut described = Map::new();
    described.insert("quant_algo".to_owned(), name.into());
    if let Some(group) = group {
        described.insert("group_size".to_owned(), group.into());
    }
    described
}

/// What loaders take the description for: they look for this name. The version means the format.
fn producer() -> Value {
    json!({ "name": "modelopt", "version": "0.47.0" })
}

/// The algorithm of all modules, or that of each.
fn algorithms(chosen: &Chosen, options: &QuantizeOptions) -> Map<String, Value> {
    let mixed = chosen.weights.iter().any(|weight| weight.scheme != chosen.weights[0].scheme);
    if !mixed {
        return described(chosen.weights.first().map_or(options.scheme, |weight| weight.scheme));
    }
    let layer = |weight: &Weight| (weight.module.clone(), Value::from(described(weight.scheme)));
    let layers: Map<String, Value> = chosen.weights.iter().map(layer).collect();
    let mut all = Map::new();
    all.insert("quant_algo".to_owned(), "MIXED_PRECISION".into());
    all.insert("quantized_layers".to_owned(), layers.into());
    all
}

impl Layout for ModelOpt {
    fn name(&self) -> &'static str {
        "modelopt"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[Fp8Dynamic, Fp8Block, Mxfp8, Mxfp4, Nvfp4]
    }

    fn mixes(&self) -> bool {
        true
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(cast) = weight.cast() else { return Vec::new() };
        let [rows, cols] = weight.shape();
        match weight.scheme {
            Mxfp8 => vec![
                weight.codes(DType::Float8E4M3FN, &cast),
                weight.scales(".weight_scale", DType::UInt8, &cast),
            ],
            Mxfp4 => weight.mxfp4(".weight", &cast),
            Nvfp4 => {
                let Some((codes, scales, global)) = nvfp4(weight, false, 1) else { return Vec::new() };
                vec![
                    weight.output(".weight", DType::UInt8, &[rows, cols / 2], codes),
                    weight.output(".weight_scale", DType::Float8E4M3FN, &[rows, cols / 16], scales),
                    weight.number(".weight_scale_2", &[], global),
                ]
            }
            Fp8Block => vec![
                weight.codes(DType::Float8E4M3FN, &cast),
                weight.scales(".weight_scale", DType::Float32, &cast),
            ],
            _ => {
                // One axis, where other layouts have two.
                let scales = Make::Scales(cast.clone(), false);
                vec![
                    weight.codes(DType::Float8E4M3FN, &cast),
                    weight.output(".weight_scale", DType::Float32, &[rows], scales),
                ]
            }
        }
    }

    fn config(&self, chosen: &Chosen, options: &QuantizeOptions) -> Option<Value> {
        let mut config = algorithms(chosen, options);
        config.insert("quant_method".to_owned(), "modelopt".into());
        config.insert("ignore".to_owned(), chosen.ignored.clone().into());
        config.insert("producer".to_owned(), producer());
        Some(config.into())
    }

    fn hf_quant_config(&self, chosen: &Chosen, options: &QuantizeOptions) -> Option<Value> {
        let mut config = algorithms(chosen, options);
        config.insert("kv_cache_quant_algo".to_owned(), Value::Null);
        config.insert("exclude_modules".to_owned(), chosen.ignored.clone().into());
        Some(json!({ "producer": producer(), "quantization": config }))
    }
}

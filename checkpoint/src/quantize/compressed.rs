//! compressed-tensors: `weight` or `weight_packed` with `weight_scale`, and a group of modules for each scheme.
//!
//! Only weights are quantized beforehand. Schemes of 8 bits let the runtime quantize activations, which needs no calibration.

use std::collections::BTreeMap;

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    cast::{Form, divisor, with_divisor},
    choose::Chosen,
    layout::{Layout, Make, Output},
    scheme::QuantScheme::{self, Fp8Block, Fp8Dynamic, Mxfp4, Mxfp8, Nvfp4, W4a16},
};

pub(super) struct Compressed;

impl Layout for Compressed {
    fn name(&self) -> &'static str {
        "compressed-tensors"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        &[Fp8Dynamic, Fp8Block, Mxfp8, Mxfp4, Nvfp4, QuantScheme::Int8, W4a16]
    }

    fn mixes(&self) -> bool {
        true
    }

    fn outputs(&self, weight: &Weight, _source: DType, _options: &QuantizeOptions) -> Vec<Output> {
        let Some(mut cast) = weight.cast() else { return Vec::new() };
        let [rows, cols] = weight.shape();
        match weight.scheme {
            Mxfp8 => vec![
                weight.codes(DType::Float8E4M3FN, &cast),
                weight.scales(".weight_scale", DType::UInt8, &cast),
            ],
            Mxfp4 => vec![
                weight.pairs(".weight_packed", &cast),
                weight.scales(".weight_scale", DType::UInt8, &cast),
            ],
            Nvfp4 => {
                let global = divisor(weight.amax);
                (cast.global, cast.scheme) = (Some(global), with_divisor(cast.scheme));
                vec![
                    weight.pairs(".weight_packed", &cast),
                    weight.scales(".weight_scale", DType::Float8E4M3FN, &cast),
                    weight.number(".weight_global_scale", &[1], global),
                ]
            }
            QuantScheme::Int8 => {
                vec![weight.codes(DType::Int8, &cast), weight.scales(".weight_scale", DType::Float32, &cast)]
            }
            W4a16 => {
                let shape = [rows, cols].map(|n| (n as i64).to_le_bytes()).concat();
                let words = Make::Codes(cast.clone(), Form::Offset);
                vec![
                    weight.output(".weight_packed", DType::Int32, &[rows, cols / 8], words),
                    weight.scales(".weight_scale", DType::Float32, &cast),
                    weight.output(".weight_shape", DType::Int64, &[2], Make::Bytes(shape)),
                ]
            }
            _ => vec![
                weight.codes(DType::Float8E4M3FN, &cast),
                weight.scales(".weight_scale", DType::Float32, &cast),
            ],
        }
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        let mut modules: BTreeMap<QuantScheme, Vec<&str>> = BTreeMap::new();
        for weight in &chosen.weights {
            modules.entry(weight.scheme).or_default().push(&weight.module);
        }
        let single = modules.len() == 1;
        let mut groups = serde_json::Map::new();
        for (i, (scheme, modules)) in modules.iter().enumerate() {
            let (format, weights, activations) = arguments(*scheme);
            // A class names all other modules, so several groups name theirs.
            let targets = if single { json!(["Linear"]) } else { json!(modules) };
            let group = json!({
                "format": format,
                "targets": targets,
                "weights": weights,
                "input_activations": activations,
                "output_activations": null,
            });
            groups.insert(format!("group_{i}"), group);
        }
        let format = match modules.keys().next() {
            Some(scheme) if single => arguments(*scheme).0,
            _ => "mixed-precision",
        };
        Some(json!({
            "quant_method": "compressed-tensors",
            "format": format,
            "quantization_status": "compressed",
            "global_compression_ratio": null,
            "kv_cache_scheme": null,
            "ignore": chosen.ignored,
            "config_groups": groups,
        }))
    }
}

/// The format of a scheme, and the arguments of its weights and activations.
fn arguments(scheme: QuantScheme) -> (&'static str, Value, Value) {
    let (format, bits, kind, strategy) = match scheme {
        Fp8Block => ("float-quantized", 8, "float", "block"),
        Mxfp8 => ("mxfp8-quantized", 8, "float", "group"),
        Mxfp4 => ("mxfp4-pack-quantized", 4, "float", "group"),
        Nvfp4 => ("nvfp4-pack-quantized", 4, "float", "tensor_group"),
        QuantScheme::Int8 => ("int-quantized", 8, "int", "channel"),
        W4a16 => ("pack-quantized", 4, "int", "group"),
        _ => ("float-quantized", 8, "float", "channel"),
    };
    let mut weights = json!({
        "num_bits": bits,
        "type": kind,
        "symmetric": true,
        "strategy": strategy,
        "group_size": null,
        "dynamic": false,
    });
    let mut activations = json!({
        "num_bits": bits,
        "type": kind,
        "symmetric": true,
        "strategy": "token",
        "group_size": null,
        "dynamic": true,
    });
    match scheme {
        Fp8Block => {
            weights["block_structure"] = json!([128, 128]);
            activations["strategy"] = "group".into();
            activations["group_size"] = 128.into();
        }
        Fp8Dynamic | QuantScheme::Int8 => {}
        // Activations stay as they are.
        _ => {
            activations = Value::Null;
            weights["group_size"] = scheme.group().into();
        }
    }
    match scheme {
        Mxfp8 | Mxfp4 => weights["scale_dtype"] = "torch.uint8".into(),
        Nvfp4 => weights["scale_dtype"] = "torch.float8_e4m3fn".into(),
        _ => {}
    }
    (format, weights, activations)
}

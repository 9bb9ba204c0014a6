//! compressed-tensors: `weight` or `weight_packed` with `weight_scale`, and a group of modules for each scheme.
//!
//! Only weights are quantized beforehand. Schemes of 8 bits let the runtime quantize activations, which needs no calibration.

use std::collections::BTreeMap;

use lanecast::DType;
use serde_json::{Value, json};

use super::{
    QuantizeOptions, Weight,
    cast::{Form, nvfp4},
    choose::Chosen,
    layout::{Layout, Make, Output},
    moved::{Int4, Part},
    scheme::QuantScheme::{self, Fp8Block, Fp8Dynamic, Mxfp4, Mxfp8, Nvfp4, W4a16},
};
use crate::coding::Packing;

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

    // As llm-compressor does with gpt-oss.
    fn splits_alternating_rows(&self) -> bool {
        true
    }

    fn divides(&self) -> bool {
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
            Mxfp4 => weight.mxfp4(".weight_packed", &cast),
            Nvfp4 => {
                let Some((codes, scales, global)) = nvfp4(weight, true, 1) else { return Vec::new() };
                vec![
                    weight.output(".weight_packed", DType::UInt8, &[rows, cols / 2], codes),
                    weight.output(".weight_scale", DType::Float8E4M3FN, &[rows, cols / 16], scales),
                    weight.number(".weight_global_scale", &[1], global),
                ]
            }
            QuantScheme::Int8 => {
                vec![weight.codes(DType::Int8, &cast), weight.scales(".weight_scale", DType::Float32, &cast)]
            }
            W4a16 => {
                let shape = [rows, cols].map(|n| (n as i64).to_le_bytes()).concat();
                let shape = weight.output(".weight_shape", DType::Int64, &[2], Make::Bytes(shape));
                let words =
                    |make| weight.output(".weight_packed", DType::Int32, &[rows, cols.div_ceil(8)], make);
                let Some(int4) = weight.int4() else {
                    let codes = words(Make::Codes(cast.clone(), Form::Offset));
                    return vec![codes, weight.scales(".weight_scale", DType::Float32, &cast), shape];
                };
                let groups = cols.div_ceil(int4.group.unwrap_or(cols).max(1));
                let codes = Packing::rows(4, 4 * cols.div_ceil(8));
                let codes = Part::Codes { packing: codes, transposed: false, pad: 1 };
                let scales = Make::Moved(Part::Scales { transposed: false, swizzled: false });
                let mut outputs = vec![
                    words(Make::Moved(codes)),
                    weight.output(".weight_scale", int4.scales, &[rows, groups], scales),
                    shape,
                ];
                if !int4.symmetric {
                    let packing = Packing::columns(4, groups);
                    let zeros = Make::Moved(Part::Zeros { packing, transposed: false, less_one: false });
                    let stored = [rows.div_ceil(8), groups];
                    outputs.push(weight.output(".weight_zero_point", DType::Int32, &stored, zeros));
                }
                outputs
            }
            _ => vec![
                weight.codes(DType::Float8E4M3FN, &cast),
                weight.scales(".weight_scale", DType::Float32, &cast),
            ],
        }
    }

    fn config(&self, chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        let mut modules: BTreeMap<Kind, Vec<&str>> = BTreeMap::new();
        for weight in &chosen.weights {
            let of = weight.int4().map(|Int4 { group, symmetric, .. }| (group, symmetric));
            modules.entry((weight.scheme, of)).or_default().push(&weight.module);
        }
        let single = modules.len() == 1;
        let mut groups = serde_json::Map::new();
        for (i, (kind, modules)) in modules.iter().enumerate() {
            let (format, weights, activations) = arguments(*kind);
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
            Some(kind) if single => arguments(*kind).0,
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

/// The scheme of a group of modules, and the elements of a group of integers that are moved, and whether these are symmetric.
type Kind = (QuantScheme, Option<(Option<usize>, bool)>);

/// The format of a scheme, and the arguments of its weights and activations.
fn arguments((scheme, int4): Kind) -> (&'static str, Value, Value) {
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
    if let Some((group, symmetric)) = int4 {
        weights["symmetric"] = symmetric.into();
        weights["strategy"] = if group.is_some() { "group" } else { "channel" }.into();
        weights["group_size"] = group.map_or(Value::Null, Value::from);
    }
    match scheme {
        Mxfp8 | Mxfp4 => weights["scale_dtype"] = "torch.uint8".into(),
        Nvfp4 => weights["scale_dtype"] = "torch.float8_e4m3fn".into(),
        _ => {}
    }
    (format, weights, activations)
}

//! Weights: parts that are missing, that contradict each other or the configuration, and numbers that are none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, BFloat16, Float8E4M3FN, Float32, Int32, Int64, UInt8};
use lanecast_files::{NewTensor, save};

use super::{DEEPSEEK, Kind, Tensor, codes, fill, scales};

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The codes of block fp8 with scales of this dtype and shape.
fn scaled(folder: &Path, dtype: DType, shape: &[u64]) -> PathBuf {
    let bytes = vec![0; shape.iter().product::<u64>() as usize * dtype.size()];
    fill(folder, DEEPSEEK, &[codes(), ("m.up.weight_scale_inv", dtype, shape, bytes)])
}

/// 8-bit codes and a scale for each row, with this configuration.
fn configured(folder: &Path, config: &str) -> PathBuf {
    let scale: Tensor<'_> = ("m.up.weight_scale", BFloat16, &[2, 1], vec![0x80, 0x3F, 0x80, 0x3F]);
    fill(folder, &format!(r#"{{"quantization_config":{config}}}"#), &[codes(), scale])
}

/// The configuration of compressed-tensors with a format and other members.
fn compressed(format: &str, more: &str) -> String {
    let group =
        r#"{"targets":["Linear"],"weights":{"num_bits":4,"type":"int","strategy":"group","group_size":32}}"#;
    format!(
        r#"{{"quant_method":"compressed-tensors","format":"{format}","config_groups":{{"a":{group}}}{more}}}"#
    )
}

/// A weight of NVFP4 with a scale of the tensor.
fn nvfp4(folder: &Path, factor: f32) -> PathBuf {
    let config = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}}"#;
    fill(
        folder,
        config,
        &[
            ("m.up.weight", UInt8, &[1, 8], vec![0x22; 8]),
            ("m.up.weight_scale", Float8E4M3FN, &[1, 1], vec![0x38]),
            ("m.up.weight_scale_2", Float32, &[], f32s(&[factor])),
        ],
    )
}

/// A weight of GPTQ with this list of groups.
fn gptq(folder: &Path, groups: &[i32]) -> PathBuf {
    let config = r#"{"quantization_config":{"quant_method":"gptq","bits":8,"group_size":4}}"#;
    let shape = [groups.len() as u64];
    let list = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
    fill(
        folder,
        config,
        &[
            ("m.up.qweight", Int32, &[2, 4], vec![1; 32]),
            ("m.up.qzeros", Int32, &[2, 1], vec![1; 8]),
            ("m.up.scales", Float32, &[2, 4], f32s(&[1.0; 8])),
            ("m.up.g_idx", Int32, &shape, list),
        ],
    )
}

/// A weight of compressed-tensors of packed integers that states its shape.
fn packed(folder: &Path, shape: [i64; 2]) -> PathBuf {
    let stated = shape.iter().flat_map(|n| n.to_le_bytes()).collect();
    fill(
        folder,
        "{}",
        &[
            ("m.up.weight_packed", Int32, &[2, 2], vec![1; 16]),
            ("m.up.weight_scale", Float32, &[2, 1], f32s(&[1.0; 2])),
            ("m.up.weight_shape", Int64, &[2], stated),
        ],
    )
}

/// A weight of bitsandbytes with this description.
fn nf4(folder: &Path, state: &str) -> PathBuf {
    fill(
        folder,
        "{}",
        &[
            ("m.up.weight", UInt8, &[2, 1], vec![0x33; 2]),
            ("m.up.weight.absmax", Float32, &[1], f32s(&[1.0])),
            ("m.up.weight.quant_map", Float32, &[16], f32s(&[0.5; 16])),
            (
                "m.up.weight.quant_state.bitsandbytes__nf4",
                UInt8,
                &[state.len() as u64],
                state.as_bytes().to_vec(),
            ),
        ],
    )
}

pub const KINDS: &[Kind] = &[
    Kind {
        name: "codes without scales",
        make: |folder| fill(folder, DEEPSEEK, &[codes()]),
        says: &["model.safetensors", "\"m.up.weight\"", "m.up.weight_scale_inv", "missing"],
    },
    Kind {
        name: "scales without codes",
        make: |folder| fill(folder, DEEPSEEK, &[scales(1.0)]),
        says: &["model.safetensors", "m.up.weight_scale_inv", "belongs to no weight"],
    },
    Kind {
        name: "a scale that is NaN",
        make: |folder| fill(folder, DEEPSEEK, &[codes(), scales(f32::NAN)]),
        says: &["model.safetensors", "m.up.weight_scale_inv", "NaN"],
    },
    Kind {
        name: "a scale that is infinite",
        make: |folder| fill(folder, DEEPSEEK, &[codes(), scales(f32::INFINITY)]),
        says: &["model.safetensors", "m.up.weight_scale_inv", "inf"],
    },
    Kind {
        name: "scales of the wrong shape",
        make: |folder| scaled(folder, Float32, &[2, 1]),
        says: &["model.safetensors", "m.up.weight_scale_inv", "[2, 1]", "[1, 1]"],
    },
    Kind {
        name: "scales that are integers",
        make: |folder| scaled(folder, Int64, &[1, 1]),
        says: &["model.safetensors", "m.up.weight_scale_inv", "int64"],
    },
    Kind {
        name: "a scale of the tensor that is negative",
        make: |folder| nvfp4(folder, -1.0),
        says: &["m.up.weight_scale_2", "-1"],
    },
    Kind {
        name: "a scale of the tensor that is zero",
        make: |folder| nvfp4(folder, 0.0),
        says: &["m.up.weight_scale_2", "positive"],
    },
    Kind {
        name: "a group that does not exist",
        make: |folder| gptq(folder, &[0, 0, 0, 0, 1, 1, 1, 2]),
        says: &["m.up.g_idx", "entry 7"],
    },
    Kind {
        name: "a group below zero",
        make: |folder| gptq(folder, &[0, 0, 0, -1, 1, 1, 1, 1]),
        says: &["m.up.g_idx", "entry 3"],
    },
    Kind {
        name: "a stated shape that lies",
        make: |folder| packed(folder, [2, 99]),
        says: &["m.up.weight_packed", "weight_shape"],
    },
    Kind {
        name: "a stated shape of 2^62 columns",
        make: |folder| packed(folder, [2, 1 << 62]),
        says: &["m.up.weight_packed", "weight_shape"],
    },
    Kind {
        name: "a description of codes that lies about the shape",
        make: |folder| nf4(folder, r#"{"blocksize":64,"shape":[1,9]}"#),
        says: &["m.up.weight", "[1, 9]"],
    },
    Kind {
        name: "a description of codes that is no JSON",
        make: |folder| nf4(folder, "{"),
        says: &["m.up.weight.quant_state.bitsandbytes__nf4", "bad JSON"],
    },
    Kind {
        name: "a description of codes with blocks of zero",
        make: |folder| nf4(folder, r#"{"blocksize":0,"shape":[1,4]}"#),
        says: &["m.up.weight.quant_state.bitsandbytes__nf4", "blocksize"],
    },
    Kind {
        name: "a header whose description of layers is no JSON",
        make: |folder| {
            let tensor = NewTensor { name: "a.weight", dtype: UInt8, shape: &[1], data: &[0] };
            let metadata = [("_quantization_metadata".to_owned(), "{".to_owned())];
            save(&folder.join("a.safetensors"), &[tensor], &metadata, false).expect("a file");
            folder.join("a.safetensors")
        },
        says: &["a.safetensors", "_quantization_metadata", "bad JSON"],
    },
    Kind {
        name: "two weights of one name",
        make: |folder| {
            let shape = [2_i64, 8].iter().flat_map(|n| n.to_le_bytes()).collect();
            fill(
                folder,
                "{}",
                &[
                    ("m.up.weight", BFloat16, &[1], vec![0; 2]),
                    ("m.up.weight_packed", Int32, &[2, 2], vec![1; 16]),
                    ("m.up.weight_scale", Float32, &[2, 1], f32s(&[1.0; 2])),
                    ("m.up.weight_shape", Int64, &[2], shape),
                ],
            )
        },
        says: &["model.safetensors", "m.up.weight"],
    },
    Kind {
        name: "a format that contradicts the codes",
        make: |folder| configured(folder, &compressed("pack-quantized", "")),
        says: &["config.json", "pack-quantized", "float8_e4m3fn [2, 4]", "m.up.weight"],
    },
    Kind {
        name: "a module that is ignored and quantized",
        make: |folder| configured(folder, &compressed("float-quantized", r#","ignore":["re:m.*"]"#)),
        says: &["config.json", "\"m.up\" is not quantized", "m.up.weight"],
    },
    Kind {
        name: "a format that is not known",
        make: |folder| configured(folder, &compressed("unheard-of", "")),
        says: &["config.json", "unheard-of"],
    },
    Kind {
        name: "weights that are rotated",
        make: |folder| configured(folder, &compressed("float-quantized", r#","transform_config":{"a":{}}"#)),
        says: &["config.json", "transform_config"],
    },
    Kind {
        name: "a module that is skipped and quantized",
        make: |folder| configured(folder, r#"{"quant_method":"fp8","modules_to_not_convert":["m.up"]}"#),
        says: &["config.json", "\"m.up\" is not quantized", "m.up.weight"],
    },
    Kind {
        name: "a method that is not known",
        make: |folder| configured(folder, r#"{"quant_method":"unheard-of"}"#),
        says: &["config.json", "unheard-of"],
    },
    Kind {
        name: "codes of a width that is not decoded",
        make: |folder| configured(folder, r#"{"quant_method":"gptq","bits":5}"#),
        says: &["config.json", "5 bits"],
    },
    Kind {
        name: "a version that is not decoded",
        make: |folder| configured(folder, r#"{"quant_method":"awq","version":"gemv"}"#),
        says: &["config.json", "gemv"],
    },
    Kind {
        name: "a method whose tensors are not there",
        make: |folder| configured(folder, r#"{"quant_method":"gptq","bits":4}"#),
        says: &["GPTQ", "m.up.weight_scale"],
    },
    Kind {
        name: "an algorithm that contradicts the codes",
        make: |folder| configured(folder, r#"{"quant_method":"modelopt","quant_algo":"NVFP4"}"#),
        says: &["config.json", "NVFP4", "float8_e4m3fn [2, 4]", "m.up.weight"],
    },
    Kind {
        name: "a block of zero rows",
        make: |folder| configured(folder, r#"{"quant_method":"fp8","weight_block_size":[0,128]}"#),
        says: &["config.json", "weight_block_size", "[0,128]"],
    },
    Kind {
        name: "a scale of the inputs",
        make: |folder| {
            let scale: Tensor<'_> = ("m.up.weight_scale", Float32, &[], f32s(&[1.0]));
            let inputs: Tensor<'_> = ("m.up.pre_quant_scale", Float32, &[4], vec![0; 16]);
            let fp8 = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"}}"#;
            fill(folder, fp8, &[codes(), scale, inputs])
        },
        says: &["model.safetensors", "m.up.pre_quant_scale"],
    },
    Kind {
        name: "a configuration that is no JSON",
        make: |folder| {
            fill(folder, "{", &[codes()]);
            folder.to_owned()
        },
        says: &["config.json", "bad JSON"],
    },
    Kind {
        name: "a configuration nested 100000 deep",
        make: |folder| {
            fill(folder, "{}", &[codes()]);
            fs::write(folder.join("config.json"), "[".repeat(100_000)).expect("a file");
            folder.to_owned()
        },
        says: &["config.json", "bad JSON"],
    },
    Kind {
        name: "axes whose product overflows",
        make: |folder| {
            let codes: Tensor<'_> = ("m.up.weight", Float8E4M3FN, &[1 << 40, 0, 1 << 40], vec![]);
            fill(folder, DEEPSEEK, &[codes, scales(1.0)])
        },
        says: &["m.up.weight", "memory"],
    },
];

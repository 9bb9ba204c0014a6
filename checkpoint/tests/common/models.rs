//! Plain checkpoints that the tests of `convert` share.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lanecast::{
    DType::{self, BFloat16, Bool, Float32, Float64, Int64},
    half::{bf16, f16},
};
use lanecast_checkpoint::{Callbacks, ConvertOptions, ConvertReport, convert};
use lanecast_files::Error;
use serde_json::Value;

use super::write;

pub const CONFIG: &str =
    r#"{"b": 1e-05, "text_config": {"torch_dtype": "bfloat16"}, "torch_dtype": "bfloat16"}"#;
pub const INDEX: &str = "model.safetensors.index.json";

/// A tensor of a test: name, dtype, shape, bytes.
pub type Made = (&'static str, DType, &'static [u64], Vec<u8>);

/// A value for each number: from -3 to 3 in steps of a sixteenth.
pub fn value(i: usize) -> f32 {
    (i % 97) as f32 / 16.0 - 3.0
}

pub fn bf16s(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| bf16::from_f32(value(i)).to_le_bytes()).collect()
}

pub fn f32s(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| value(i).to_le_bytes()).collect()
}

pub fn f16s(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| f16::from_f32(value(i)).to_le_bytes()).collect()
}

/// A checkpoint of three shards, most of it in bfloat16.
pub fn model(folder: &Path) -> PathBuf {
    let src = folder.join("src");
    fs::create_dir_all(src.join("sub")).expect("a folder");
    let shards: [(&str, Vec<Made>); 3] = [
        (
            "s-1.safetensors",
            vec![
                ("m.0.weight", BFloat16, &[30, 20], bf16s(600)),
                ("m.0.gate.weight", Float32, &[2, 3], f32s(6)),
            ],
        ),
        (
            "s-2.safetensors",
            vec![
                ("m.1.weight", BFloat16, &[7, 100], bf16s(700)),
                ("m.ids", Int64, &[2], vec![1; 16]),
                ("m.mask", Bool, &[3], vec![1, 0, 1]),
                ("m.none", BFloat16, &[0, 4], Vec::new()),
            ],
        ),
        ("s-3.safetensors", vec![("m.head", BFloat16, &[5], bf16s(5)), ("m.x", Float64, &[], vec![0; 8])]),
    ];
    let mut map = serde_json::Map::new();
    for (file, tensors) in shards {
        map.extend(tensors.iter().map(|(name, ..)| ((*name).to_owned(), Value::from(file))));
        write(&src.join(file), &tensors);
    }
    let index = serde_json::json!({"metadata": {"total_size": 1, "total_parameters": 9}, "weight_map": map});
    for (name, text) in [
        (INDEX, index.to_string()),
        ("config.json", CONFIG.to_owned()),
        ("tokenizer.json", "{}".to_owned()),
        ("sub/a.txt", "a".to_owned()),
        ("pytorch_model.bin", "x".to_owned()),
    ] {
        fs::write(src.join(name), text).expect("a file");
    }
    src
}

pub fn run(src: &Path, dst: &Path, options: &ConvertOptions) -> Result<ConvertReport, Error> {
    convert(src, dst, options, Callbacks::default())
}

/// The files below a folder.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("text");
        if entry.path().is_dir() {
            found.extend(
                tree(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)),
            );
        } else {
            found.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    found
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
    names.sort();
    names
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

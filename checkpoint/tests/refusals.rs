//! Checkpoints that look complete, and whose values would be wrong: an error that names the reason.

use std::{fs, path::Path};

use lanecast::DType::{self, Float32, Int8};
use lanecast_checkpoint::Checkpoint;
use lanecast_files::{NewTensor, save};
use tempfile::TempDir;

use crate::common::write;

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

/// A folder with a configuration and `model.safetensors`.
fn folder(config: &str, tensors: &[Tensor<'_>]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    folder
}

/// The error of opening a checkpoint, or of decoding its tensors, has these parts.
#[track_caller]
fn says(path: &Path, parts: &[&str]) {
    let error = match Checkpoint::open(path) {
        Err(error) => error.to_string(),
        Ok(checkpoint) => {
            let decode = |name: &str| checkpoint.decode(name, Float32, &mut |_| Ok(()));
            let errors: Vec<_> =
                checkpoint.tensors().iter().filter_map(|tensor| decode(&tensor.name).err()).collect();
            assert!(!errors.is_empty(), "{:?} decode", checkpoint.tensors());
            errors[0].to_string()
        }
    };
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file of one weight of torchao, with these names of tensors and these members of `_data`.
fn torchao(names: &str, data: &str, more: &[Tensor<'_>]) -> TempDir {
    let class = format!(
        r#"{{"_type":"Int8Tensor","_data":{{"block_size":[1,2]{data}}},"_tensor_data_names":[{names}]}}"#
    );
    let metadata = [("tensor_names", r#"["m.up.weight"]"#), ("m.up.weight", &class)]
        .map(|(key, text)| (key.to_owned(), text.to_owned()));
    let codes: Tensor<'_> = ("m.up._weight_qdata", Int8, &[2, 2], vec![1, 2, 3, 4]);
    let scale: Tensor<'_> = ("m.up._weight_scale", Float32, &[2, 1], f32s(&[1.0, 2.0]));
    let tensors = [&[codes, scale], more].concat();
    let tensors: Vec<NewTensor<'_>> = tensors
        .iter()
        .map(|(name, dtype, shape, data)| NewTensor { name, dtype: *dtype, shape, data })
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    save(&folder.path().join("model.safetensors"), &tensors, &metadata, false).expect("a file");
    folder
}

#[test]
fn tensors_of_torchao_are_known_and_complete() {
    let names = r#""qdata","scale""#;
    let pre: Tensor<'_> = ("m.up._weight_act_pre_scale", Float32, &[2], f32s(&[2.0, 4.0]));
    let of = |name: &str| format!("{names},\"{name}\"");
    says(torchao(&of("act_pre_scale"), "", &[pre.clone()]).path(), &["act_pre_scale", "m.up._weight_qdata"]);
    says(torchao(names, "", &[pre]).path(), &["act_pre_scale", "m.up._weight_qdata"]);
    says(torchao(&of("steps"), "", &[]).path(), &["\"steps\"", "m.up._weight_qdata"]);
    says(torchao(&of("zero_point"), "", &[]).path(), &["m.up._weight_zero_point", "missing"]);
    says(torchao(names, r#","is_swizzled_scales":true"#, &[]).path(), &["is_swizzled_scales"]);
    let activation: Tensor<'_> = ("m.up._weight_act_quant_scale", Float32, &[], f32s(&[8.0]));
    let folder = torchao(&of("act_quant_scale"), r#","is_swizzled_scales":false"#, &[activation]);
    let checkpoint = Checkpoint::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
    let mut values = [0.0_f32; 4];
    checkpoint.read("m.up.weight", &mut values).expect("values");
    assert_eq!((values, checkpoint.tensors().len()), ([1.0, 2.0, 6.0, 8.0], 1));
}

//! `lanecast dequantize`. The tests of `lanecast-checkpoint` have the layouts.

use std::fs;

use crate::common::{Folder, bad, f32s, good, safetensors, stderr};

const CONFIG: &str =
    r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]},"torch_dtype":"float16"}"#;

/// A checkpoint of block fp8 with this scale: 1, 2, -1, 0.
fn checkpoint(scale: f32) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = concat!(
        r#"{"a.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"#,
        r#""a.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]},"#,
        r#""b.weight":{"dtype":"I8","shape":[1,4],"data_offsets":[8,12]}}"#
    );
    let data = [&[0x38, 0x40, 0xB8, 0x00][..], &f32s(&[scale]), &[7; 4]].concat();
    folder.write("src/model.safetensors", &safetensors(header, &data));
    folder.write("src/config.json", CONFIG.as_bytes());
    folder
}

const RUN: [&str; 5] = ["dequantize", "src", "dst", "--to", "float32"];

/// The bytes of the result behind its header.
fn data(folder: &Folder) -> Vec<u8> {
    let bytes = folder.read("dst/model.safetensors");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("a length"));
    bytes[8 + length as usize..].to_vec()
}

#[test]
fn a_checkpoint_becomes_a_plain_one() {
    let folder = checkpoint(1.5);
    let output = folder.run(&RUN);
    let warning = stderr(&output);
    assert!(
        warning.starts_with("lanecast: warning: ")
            && warning.contains("b.weight")
            && warning.lines().count() == 1,
        "{warning}"
    );
    let summary = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        output.status.success() && summary.contains("decoded 1 weight to float32, layout block fp8"),
        "{summary}"
    );
    assert_eq!(data(&folder), [f32s(&[1.5, 3.0, -1.5, 0.0]), vec![7; 4]].concat());
    assert_eq!(folder.read("dst/config.json"), br#"{"torch_dtype":"float32"}"#);
    assert_eq!(folder.names(), ["dst", "src"]);

    let line = bad(&folder.run(&RUN), &[3]);
    assert!(line.contains("dst") && line.contains("--force"), "{line}");
    let json = good(folder.run(&[&RUN[..], &["--force", "--json"]].concat()));
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(
        (&json["layout"], &json["tensors_decoded"], &json["bytes_out"]),
        (&"block fp8".into(), &1.into(), &20.into())
    );
    assert_eq!(json["warnings"].as_array().expect("a list").len(), 1);
    let quiet = good(folder.run(&[&RUN[..], &["--force", "--quiet"]].concat()));
    assert!(quiet.is_empty());
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    let folder = checkpoint(f32::NAN);
    let line = bad(&folder.run(&RUN), &[4]);
    let parts = ["NaN", "model.safetensors", "a.weight_scale_inv", "--allow-nan"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    assert_eq!(folder.names(), ["src"]);
    good(folder.run(&[&RUN[..], &["--allow-nan", "--quiet"]].concat()));
    assert_eq!(data(&folder)[..4], f32::NAN.to_le_bytes());

    bad(&folder.run(&["dequantize", "src", "new", "--to", "int8"]), &[2]);
    bad(&folder.run(&["dequantize", "dst", "new", "--to", "float32"]), &[2]);
    bad(&folder.run(&["dequantize", "nowhere", "new", "--to", "float32"]), &[3]);
    folder.write("src/config.json", br#"{"quantization_config":{"quant_method":"unheard-of"}}"#);
    let line = bad(&folder.run(&["dequantize", "src", "new", "--to", "float32"]), &[5]);
    assert!(line.contains("unheard-of") && line.contains("config.json"), "{line}");
    assert_eq!(folder.names(), ["dst", "src"]);
}

//! `lanecast check`. The tests of `lanecast-checkpoint` have every kind of finding.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, bad, f32s, good, safetensors, stderr};

/// A checkpoint of block fp8 whose only weight has this scale.
fn checkpoint(scale: f32) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = concat!(
        r#"{"a.weight":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"#,
        r#""a.weight_scale_inv":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#
    );
    let data = [&[0x38, 0x40, 0xB8, 0x00][..], &f32s(&[scale])].concat();
    folder.write("src/model.safetensors", &safetensors(header, &data));
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    folder.write("src/config.json", config.as_bytes());
    folder
}

#[test]
fn clean_checkpoints_exit_with_0() {
    let folder = checkpoint(1.5);
    let out = String::from_utf8(good(folder.run(&["check", "src"]))).expect("UTF-8");
    assert_eq!(out, "no findings: 2 tensors, 1 weight with codes, layout block fp8\n");
    let out = String::from_utf8(good(folder.run(&["check", "src", "--for", "vllm"]))).expect("UTF-8");
    assert!(out.starts_with("no findings: ") && out.contains(", for vLLM "), "{out}");
    assert!(good(folder.run(&["check", "src", "--quiet"])).is_empty());
    let json: Value = serde_json::from_slice(&good(folder.run(&["check", "src", "--json"]))).expect("JSON");
    assert_eq!((&json["layout"], &json["loader"]), (&"block fp8".into(), &Value::Null));
    assert_eq!(
        (&json["tensors"], &json["weights"], &json["findings"]),
        (&2.into(), &1.into(), &Value::Array(vec![]))
    );
}

#[test]
fn findings_are_lines_and_exit_with_1() {
    let folder = checkpoint(f32::NAN);
    let run = |args: &[&str]| {
        let output = folder.run(&[&["check", "src"], args].concat());
        assert_eq!((output.status.code(), stderr(&output)), (Some(1), String::new()));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let out = run(&["--for", "comfy"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 3, "{out}");
    let parts = ["error: src/model.safetensors, tensor \"a.weight_scale_inv\": ", "NaN", "--allow-nan"];
    assert!(parts.iter().all(|part| lines[0].contains(part)), "{out}");
    assert!(lines[1].contains("ComfyUI does not read the layout block fp8"), "{out}");
    assert!(lines[2].starts_with("2 errors, 0 warnings: "), "{out}");
    assert_eq!(run(&["--quiet"]).lines().count(), 1);
    let json: Value = serde_json::from_str(&run(&["--json", "--for", "comfy"])).expect("JSON");
    let of = |i: usize| {
        ["kind", "severity", "tensor"].map(|key| json["findings"][i][key].as_str().unwrap_or_default())
    };
    assert_eq!(of(0), ["not_finite", "error", "a.weight_scale_inv"]);
    assert_eq!(of(1), ["loader", "error", "a.weight"]);
    assert_eq!(json["loader"], "ComfyUI");
}

#[test]
fn names_that_do_not_exist_are_errors() {
    let folder = checkpoint(1.0);
    let line = bad(&folder.run(&["check", "nowhere"]), &[3]);
    assert!(line.contains("nowhere"), "{line}");
    let line = bad(&folder.run(&["check", "src", "--for", "vlm"]), &[2]);
    assert!(line.contains("vlm"), "{line}");
}

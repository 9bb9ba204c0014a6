//! `lanecast quantize` and `requantize`. The tests of `lanecast-checkpoint` have the layouts.

use std::fs;

use crate::common::{Folder, bad, f32s, good, safetensors, split_safetensors, stderr};

/// A model of two weights of 128 columns, one of which is an embedding.
fn model(last: f32) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = concat!(
        r#"{"m.0.up_proj.weight":{"dtype":"F32","shape":[2,128],"data_offsets":[0,1024]},"#,
        r#""m.embed_tokens.weight":{"dtype":"F32","shape":[1,128],"data_offsets":[1024,1536]}}"#
    );
    let mut values: Vec<f32> = (0..384).map(|i| (i % 15) as f32 - 7.0).collect();
    values[255] = last;
    folder.write("src/model.safetensors", &safetensors(header, &f32s(&values)));
    folder.write("src/config.json", b"{\"model_type\": \"llama\"}");
    folder
}

const RUN: [&str; 7] = ["quantize", "src", "dst", "--scheme", "w4a16", "--layout", "compressed-tensors"];

#[test]
fn a_model_is_quantized_and_dequantized_again() {
    let folder = model(7.0);
    let summary = String::from_utf8(good(folder.run(&RUN))).expect("UTF-8");
    assert!(
        summary.contains("quantized 1 weight to w4a16, layout compressed-tensors; copied 1 other tensor"),
        "{summary}"
    );
    let config: serde_json::Value = serde_json::from_slice(&folder.read("dst/config.json")).expect("JSON");
    assert_eq!(config["quantization_config"]["ignore"], serde_json::json!(["m.embed_tokens"]));
    let line = bad(&folder.run(&RUN), &[3]);
    assert!(line.contains("dst") && line.contains("--force"), "{line}");
    let json = good(folder.run(&[&RUN[..], &["--force", "--json"]].concat()));
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!((&json["weights_quantized"], &json["tensors_copied"]), (&1.into(), &1.into()));
    // Integers from -7 to 7 are codes of int4 with the scale 1.
    good(folder.run(&["dequantize", "dst", "back", "--to", "float32", "--quiet"]));
    let [back, source] = ["back", "src"].map(|name| folder.read(&format!("{name}/model.safetensors")));
    assert!(split_safetensors(&back).2 == split_safetensors(&source).2);
    let line =
        bad(&folder.run(&["quantize", "dst", "x", "--scheme", "int8", "--layout", "bitsandbytes"]), &[2]);
    assert!(line.contains("compressed-tensors") && line.contains("dequantize"), "{line}");
    assert_eq!(folder.names(), ["back", "dst", "src"]);
}

#[test]
fn values_stay_in_requantize_or_it_fails() {
    let folder = model(7.0);
    let mx = ["quantize", "src", "mx", "--scheme", "mxfp4", "--layout", "compressed-tensors", "--quiet"];
    good(folder.run(&mx));
    let again = ["requantize", "mx", "fp8", "--lossless", "--layout", "deepseek", "--scheme", "fp8-block"];
    let summary = String::from_utf8(good(folder.run(&again))).expect("UTF-8");
    assert!(summary.contains("quantized 1 weight to fp8-block, layout deepseek"), "{summary}");
    for name in ["mx", "fp8"] {
        good(folder.run(&["dequantize", name, &format!("{name}-f32"), "--to", "float32", "--quiet"]));
    }
    assert_eq!(folder.read("mx-f32/model.safetensors"), folder.read("fp8-f32/model.safetensors"));

    let without = ["requantize", "mx", "x", "--layout", "deepseek", "--scheme", "fp8-block"];
    let line = bad(&folder.run(&without), &[2]);
    assert!(line.contains("--lossless"), "{line}");
    // Six exponents of 8-bit floats do not fit 4 bits.
    let fp8 = ["quantize", "src", "m8", "--scheme", "mxfp8", "--layout", "mxfp8", "--quiet"];
    good(folder.run(&fp8));
    let line = bad(
        &folder.run(&["requantize", "m8", "x", "--lossless", "--layout", "modelopt", "--scheme", "mxfp4"]),
        &[6],
    );
    assert!(line.contains("element (0, 0) is -7e0") && line.contains("m.0.up_proj.weight"), "{line}");
    assert!(!folder.names().contains(&"x".to_owned()));
}

/// Integers move to GPTQ and AWQ, and back to the same bytes.
#[test]
fn integers_move_to_other_layouts_and_back() {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = r#"{"m.0.up_proj.weight":{"dtype":"F32","shape":[8,128],"data_offsets":[0,4096]}}"#;
    let values: Vec<f32> = (0..1024).map(|i| (i % 15) as f32 - 7.0).collect();
    folder.write("src/model.safetensors", &safetensors(header, &f32s(&values)));
    folder.write("src/config.json", b"{}");
    good(folder.run(&RUN));
    for (src, dst, layout) in
        [("dst", "gptq", "gptq"), ("gptq", "awq", "awq"), ("gptq", "ct", "compressed-tensors")]
    {
        let args = ["requantize", src, dst, "--lossless", "--scheme", "w4a16", "--layout", layout];
        let summary = String::from_utf8(good(folder.run(&args))).expect("UTF-8");
        assert!(summary.contains(&format!("quantized 1 weight to w4a16, layout {layout}")), "{summary}");
    }
    assert_eq!(folder.read("dst/model.safetensors"), folder.read("ct/model.safetensors"));
    for name in ["dst", "awq"] {
        good(folder.run(&["dequantize", name, &format!("{name}-f32"), "--to", "float32", "--quiet"]));
    }
    assert_eq!(folder.read("dst-f32/model.safetensors"), folder.read("awq-f32/model.safetensors"));
}

#[test]
fn a_file_of_comfyui_is_quantized_like_another() {
    let folder = model(7.0);
    let comfy = ["--layout", "comfy", "--scheme", "mxfp8", "--quiet"];
    let src = "src/model.safetensors";
    good(folder.run(&[&["quantize", src, "a.safetensors"][..], &comfy].concat()));
    let like = ["--layout", "comfy", "--scheme", "fp8-tensor", "--quiet", "--like", "a.safetensors"];
    good(folder.run(&[&["quantize", src, "b.safetensors"][..], &like].concat()));
    assert_eq!(folder.read("a.safetensors"), folder.read("b.safetensors"));
    let line = bad(&folder.run(&[&RUN[..], &["--like", "a.safetensors"]].concat()), &[2]);
    assert!(line.contains("only files of ComfyUI"), "{line}");
}

#[test]
fn stacked_experts_are_split_or_kept() {
    let folder = Folder::new();
    fs::create_dir(folder.at("src")).expect("a folder");
    let header = concat!(
        r#"{"m.0.up_proj.weight":{"dtype":"F32","shape":[2,128],"data_offsets":[0,1024]},"#,
        r#""m.0.experts.down_proj":{"dtype":"F32","shape":[2,128,2],"data_offsets":[1024,3072]}}"#
    );
    folder.write("src/model.safetensors", &safetensors(header, &f32s(&[1.0; 768])));
    folder.write("src/config.json", b"{\"model_type\": \"llama4\"}");
    for (more, weights) in [(&[][..], 3), (&["--experts", "split"], 3), (&["--experts", "keep"], 1)] {
        let json = good(folder.run(&[&RUN[..], &["--force", "--json"], more].concat()));
        let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(json["weights_quantized"], serde_json::json!(weights), "{more:?}");
    }
    let line = bad(&folder.run(&[&RUN[..], &["--experts", "stack"]].concat()), &[2]);
    assert!(line.contains("--experts"), "{line}");
}

#[test]
fn refusals_say_what_there_is() {
    let folder = model(f32::NAN);
    let line = bad(&folder.run(&RUN), &[6]);
    assert!(line.contains("NaN") && line.contains("m.0.up_proj.weight"), "{line}");
    let run = |scheme: &str, layout: &str, more: &[&str]| {
        let args = ["quantize", "src", "x", "--scheme", scheme, "--layout", layout];
        folder.run(&[&args[..], more].concat())
    };
    for (scheme, layout, more, part) in [
        ("nf4", "deepseek", &[][..], "but fp8-block"),
        ("awq", "compressed-tensors", &[], "needs calibration"),
        ("int5", "compressed-tensors", &[], "no scheme"),
        ("int8", "exl2", &[], "no layout"),
        ("int8", "awq", &[], "but w4a16"),
        ("w4a16", "gptq", &[], "only requantize writes"),
        ("nf4", "bitsandbytes", &["--map", "*=fp4"], "one scheme for all weights"),
        ("int8", "compressed-tensors", &["--map", "x=fp8-block"], "no tensor matches"),
        ("int8", "compressed-tensors", &["--ignore", "*"], "no weight"),
        ("int8", "compressed-tensors", &["--map", "x"], "scheme"),
        ("int8", "compressed-tensors", &["--ignore", "[x"], "bad pattern"),
        ("mxfp4", "gpt-oss", &[], "no weight"),
    ] {
        let output = run(scheme, layout, more);
        assert!(stderr(&output).contains(part), "{scheme} {layout} {more:?}: {}", stderr(&output));
        bad(&output, &[2]);
    }
    assert_eq!(folder.names(), ["src"]);
}

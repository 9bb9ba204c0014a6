//! Codes in, other codes of the same values out, or an error that names the first value that would change; and doubts about scales.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, Float8E4M3FN, Float32, UInt8};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Error, Options, QuantLayout, QuantScheme, QuantizeOptions, QuantizeReport,
    dequantize, requantize,
};

use crate::common::{Goldens, weights::f32s, write};

fn run(src: &Path, dst: &Path, scheme: QuantScheme, layout: QuantLayout) -> Result<QuantizeReport, Error> {
    requantize(src, dst, &QuantizeOptions::new(scheme, layout), Callbacks::default())
}

fn values(folder: &Path) -> Vec<(String, Vec<u64>)> {
    let checkpoint = Checkpoint::open(folder).expect("a checkpoint");
    let of = |tensor: &lanecast_checkpoint::Tensor| {
        let mut out = vec![0.0_f64; tensor.elements()];
        checkpoint.read(&tensor.name, &mut out).expect("values");
        (tensor.name.clone(), out.into_iter().map(|x| (x + 0.0).to_bits()).collect())
    };
    let mut values: Vec<_> = checkpoint.tensors().iter().map(of).collect();
    values.sort();
    values
}

#[test]
fn values_of_other_layouts_stay_to_the_bit() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    for (name, scheme, layout) in [
        ("modelopt_mxfp4", QuantScheme::Fp8Block, QuantLayout::DeepSeek),
        ("modelopt_mxfp4", QuantScheme::Mxfp8, QuantLayout::CompressedTensors),
        ("modelopt_mxfp4", QuantScheme::Mxfp4, QuantLayout::CompressedTensors),
        ("modelopt_mxfp8", QuantScheme::Mxfp8, QuantLayout::Mxfp8),
        ("mxfp8_sglang", QuantScheme::Mxfp8, QuantLayout::ModelOpt),
        ("ct_mxfp8", QuantScheme::Mxfp8, QuantLayout::ModelOpt),
    ] {
        let dst = root.path().join(format!("{name} {scheme} {layout}"));
        let report =
            run(&goldens.path(name), &dst, scheme, layout).unwrap_or_else(|e| panic!("{name} {scheme}: {e}"));
        assert!(report.weights_quantized > 0);
        assert_eq!(values(&goldens.path(name)), values(&dst), "{name} {scheme} {layout}");
        let config = fs::read_to_string(dst.join("config.json")).expect("a file");
        assert_eq!(config.matches("quantization_config").count(), 1, "{name}");
    }
    let config = fs::read_to_string(root.path().join("modelopt_mxfp4 fp8-block deepseek/config.json"))
        .expect("a file");
    assert!(config.contains("\"scale_fmt\"") && config.contains("ue8m0"), "{config}");
}

/// What the function of DeepSeek and SGLang makes of an expert of MXFP4.
#[test]
fn golden_experts_become_block_fp8_of_the_same_values() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    let (src, dst, theirs) =
        (goldens.path("mxfp4_to_block_fp8"), root.path().join("ours"), root.path().join("theirs"));
    fs::create_dir(&theirs).expect("a folder");
    let made = goldens.path("expected").join("mxfp4_to_block_fp8.block_fp8");
    fs::copy(made, theirs.join("model.safetensors")).expect("a file");
    fs::copy(src.join("config.json"), theirs.join("config.json")).expect("a file");
    run(&src, &dst, QuantScheme::Fp8Block, QuantLayout::DeepSeek).expect("a report");
    let (ours, theirs) = (values(&dst), values(&theirs));
    assert!(values(&src) == ours && ours == theirs && ours[0].1.len() == 128 * 256);
}

/// A weight of MXFP4 of two blocks: codes of 6 and 0.5 under these scale bytes.
fn mxfp4(root: &Path, name: &str, scales: [u8; 2]) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    write(
        &folder.join("model.safetensors"),
        &[
            ("m.0.up.weight_packed", UInt8, &[1, 32], vec![0x17; 32]),
            ("m.0.up.weight_scale", UInt8, &[1, 2], scales.to_vec()),
        ],
    );
    let config = r#"{"quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float"}}}}}"#;
    fs::write(folder.join("config.json"), config).expect("a file");
    folder
}

/// Scales of one tile may differ by 2^14: the largest code, 6 * 2^6, is below 448, and the smallest, 2^-1, becomes 2^-9.
#[test]
fn tiles_hold_blocks_whose_scales_are_near_each_other() {
    let root = tempfile::tempdir().expect("a folder");
    for (span, fits) in [(0, true), (13, true), (14, true), (15, false), (100, false)] {
        let src = mxfp4(root.path(), &format!("{span}"), [120, 120 - span]);
        let dst = root.path().join(format!("{span} fp8"));
        let result = run(&src, &dst, QuantScheme::Fp8Block, QuantLayout::DeepSeek);
        assert_eq!(result.is_ok(), fits, "{span}: {result:?}");
        match result {
            Ok(_) => assert_eq!(values(&src), values(&dst), "{span}"),
            Err(error) => {
                assert!(matches!(error, Error::Loss(_)) && !dst.exists());
                let text = error.to_string();
                assert!(text.contains("m.0.up.weight_packed") && text.contains("element (0, 3"), "{text}");
            }
        }
        // A block of its own always fits.
        let mx = root.path().join(format!("{span} mx"));
        run(&src, &mx, QuantScheme::Mxfp8, QuantLayout::CompressedTensors).expect("a report");
        assert_eq!(values(&src), values(&mx), "{span}");
    }
}

#[test]
fn what_is_not_lossless_or_not_quantized_is_refused() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    let dst = root.path().join("x");
    let refused = |name: &str, scheme, layout| {
        let error = run(&goldens.path(name), &dst, scheme, layout).expect_err(name);
        assert!(!dst.exists(), "{name}");
        error
    };
    // Scales of float32 are no powers of two.
    let error = refused("deepseek_v3", QuantScheme::Mxfp8, QuantLayout::CompressedTensors);
    assert!(matches!(&error, Error::Request(_) | Error::Loss(_)), "{error}");
    let error = refused("modelopt_fp8", QuantScheme::Mxfp8, QuantLayout::CompressedTensors);
    assert!(matches!(&error, Error::Loss(_)) && error.to_string().contains("element ("), "{error}");
    let error = refused("gpt_oss", QuantScheme::Mxfp4, QuantLayout::GptOss);
    assert!(matches!(&error, Error::Request(_)) && error.to_string().contains("stacked"), "{error}");
    let error = refused("modelopt_mxfp4", QuantScheme::Int8, QuantLayout::CompressedTensors).to_string();
    assert!(error.contains("powers of two") && error.contains("mxfp8"), "{error}");
    let plain = root.path().join("plain");
    dequantize(&goldens.path("modelopt_mxfp4"), &plain, &Options::to(Float32), Callbacks::default())
        .expect("plain");
    assert!(matches!(run(&plain, &dst, QuantScheme::Mxfp8, QuantLayout::Mxfp8), Err(Error::Request(_))));
}

/// A checkpoint of NVFP4 for gate and up, whose block scales and scales of the tensor are given.
fn nvfp4(root: &Path, name: &str, scales: [[u8; 2]; 2], globals: [f32; 2], codes: u8) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let mut tensors: Vec<(String, DType, Vec<u64>, Vec<u8>)> = Vec::new();
    for (i, part) in ["gate_proj", "up_proj"].iter().enumerate() {
        let module = format!("model.layers.0.mlp.{part}");
        tensors.push((format!("{module}.weight"), UInt8, vec![1, 16], vec![codes; 16]));
        tensors.push((format!("{module}.weight_scale"), Float8E4M3FN, vec![1, 2], scales[i].to_vec()));
        tensors.push((format!("{module}.weight_scale_2"), Float32, vec![], f32s(&[globals[i]])));
    }
    let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> = tensors
        .iter()
        .map(|(name, dtype, shape, bytes)| (&**name, *dtype, &**shape, bytes.clone()))
        .collect();
    write(&folder.join("model.safetensors"), &tensors);
    let config =
        r#"{"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": []}}"#;
    fs::write(folder.join("config.json"), config).expect("a file");
    folder
}

#[test]
fn scales_of_zero_and_unequal_scales_of_fused_weights_are_warnings() {
    let root = tempfile::tempdir().expect("a folder");
    let warnings = |name: &str, scales, globals, codes| {
        let (src, dst) =
            (nvfp4(root.path(), name, scales, globals, codes), root.path().join(format!("{name} plain")));
        dequantize(&src, &dst, &Options::to(Float32), Callbacks::default()).expect(name).warnings
    };
    let (one, zero) = ([0x38, 0x38], [0x38, 0x80]);
    assert_eq!(warnings("sound", [one, one], [0.5, 0.5], 0x22), [] as [String; 0]);
    // -0 is a code of zero.
    assert_eq!(warnings("zeros", [one, zero], [0.5, 0.5], 0x08), [] as [String; 0]);
    let of = warnings("lost", [one, zero], [0.5, 0.5], 0x22);
    assert!(of.len() == 1 && of[0].contains("up_proj.weight_scale\": 1 scale is zero"), "{of:?}");
    let of = warnings("unequal", [one, one], [0.5, 0.25], 0x22);
    assert!(
        of.len() == 1 && of[0].contains("gate_proj") && of[0].contains("up_proj") && of[0].contains("vLLM"),
        "{of:?}"
    );
}

/// The output describes weights only: scales of activations are dropped, and a warning says so.
#[test]
fn dropped_scales_of_activations_are_a_warning() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    let src = mxfp4(root.path(), "scaled", [120, 120]);
    write(
        &src.join("model.safetensors"),
        &[
            ("m.0.up.weight_packed", UInt8, &[1, 32], vec![0x17; 32]),
            ("m.0.up.weight_scale", UInt8, &[1, 2], vec![120, 120]),
            ("m.0.up.input_scale", Float32, &[1], f32s(&[0.5])),
            ("m.0.k_scale", Float32, &[1], f32s(&[0.5])),
            ("m.0.out_scale", Float32, &[1], f32s(&[0.5])),
        ],
    );
    let report = run(&src, &root.path().join("mx"), QuantScheme::Mxfp8, QuantLayout::CompressedTensors)
        .expect("a report");
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    let parts = ["model.safetensors", "_scale\": it and 1 other scale", "dropped"];
    assert!(parts.iter().all(|part| warning.contains(part)) && !warning.contains("out_scale"), "{warning}");
    let names: Vec<String> = values(&root.path().join("mx")).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["m.0.out_scale", "m.0.up.weight"]);
    let without = run(
        &goldens.path("modelopt_mxfp8"),
        &root.path().join("x"),
        QuantScheme::Mxfp8,
        QuantLayout::CompressedTensors,
    );
    assert_eq!(without.expect("a report").warnings, [] as [String; 0]);
}

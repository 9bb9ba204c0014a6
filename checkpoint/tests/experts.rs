//! Experts of gpt-oss: a stack of MXFP4 becomes modules without a change of a byte, and modules become a stack.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, BFloat16, UInt8};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Error, Loader, QuantLayout, QuantScheme, QuantizeOptions, QuantizeReport,
    Severity, check, requantize,
};
use serde_json::{Value, json};

use crate::common::{
    Goldens,
    weights::{config, decoded, stored},
    write,
};

use QuantLayout::{CompressedTensors, DeepSeek, GptOss, ModelOpt};
use QuantScheme::{Fp8Block, Mxfp4, Mxfp8, Nvfp4};

type Tensor = (String, DType, Vec<u64>, Vec<u8>);

const EXPERTS: &str = "model.layers.0.mlp.experts";
const ROUTER: &str = "model.layers.0.mlp.router.weight";
/// Experts, inputs and outputs of gate and of up.
const SIZES: [u64; 3] = [3, 96, 64];

fn bytes(n: u64, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u8
    };
    (0..n).map(|_| byte()).collect()
}

fn again(src: &Path, dst: &Path, scheme: QuantScheme, layout: QuantLayout) -> Result<QuantizeReport, Error> {
    requantize(src, dst, &QuantizeOptions::new(scheme, layout), Callbacks::default())
}

fn folder(root: &Path, name: &str, tensors: &[Tensor], config: &Value) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> =
        tensors.iter().map(|(name, dtype, shape, data)| (&**name, *dtype, &**shape, data.clone())).collect();
    write(&folder.join("model.safetensors"), &tensors);
    fs::write(folder.join("config.json"), config.to_string()).expect("a file");
    folder
}

/// A layer of gpt-oss. Scales are within 2^4 of each other.
fn stacks(root: &Path, name: &str) -> PathBuf {
    let [e, h, i] = SIZES;
    let mut tensors = vec![(ROUTER.to_owned(), BFloat16, vec![e, h], bytes(2 * e * h, 1))];
    for (part, rows, cols) in [("gate_up_proj", 2 * i, h), ("down_proj", h, i)] {
        let at = |end: &str| format!("{EXPERTS}.{part}_{end}");
        let scales = bytes(e * rows * cols / 32, rows).iter().map(|byte| 120 + byte % 5).collect();
        tensors.push((at("blocks"), UInt8, vec![e, rows, cols / 32, 16], bytes(e * rows * cols / 2, cols)));
        tensors.push((at("scales"), UInt8, vec![e, rows, cols / 32], scales));
        tensors.push((at("bias"), BFloat16, vec![e, rows], bytes(2 * e * rows, rows + cols)));
    }
    let quantization =
        json!({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.0.mlp.router"]});
    folder(root, name, &tensors, &json!({"model_type": "gpt_oss", "quantization_config": quantization}))
}

/// Rows of `width` bytes of an expert of a stack: from one of them on, every so manyth.
fn rows(stack: &[u8], expert: usize, height: usize, [first, every]: [usize; 2]) -> Vec<u8> {
    let width = stack.len() / SIZES[0] as usize / height;
    let of_expert = stack.chunks(width).skip(expert * height).take(height);
    of_expert.skip(first).step_by(every).flatten().copied().collect()
}

#[test]
fn stacks_of_mxfp4_become_modules_and_stacks_again() {
    let root = tempfile::tempdir().expect("a folder");
    let (src, dst, back) = (stacks(root.path(), "src"), root.path().join("split"), root.path().join("back"));
    let report = again(&src, &dst, Mxfp4, CompressedTensors).expect("a report");
    // Biases count as copies: one for each weight.
    assert_eq!((report.weights_quantized, report.tensors_copied), (9, 10));
    let file = fs::read(src.join("model.safetensors")).expect("a file");
    let header = u64::from_le_bytes(file[..8].try_into().expect("a length"));
    assert_eq!(report.bytes_in, file.len() as u64 - 8 - header);
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(warning.contains("llm-compressor") && warning.contains("random numbers"), "{warning}");
    let [_, h, i] = SIZES.map(|n| n as usize);
    for expert in 0..3 {
        for (part, stack, height, every) in [
            ("gate_proj", "gate_up_proj", 2 * i, [0, 2]),
            ("up_proj", "gate_up_proj", 2 * i, [1, 2]),
            ("down_proj", "down_proj", h, [0, 1]),
        ] {
            for (end, of) in [("weight_packed", "blocks"), ("weight_scale", "scales"), ("bias", "bias")] {
                let whole = stored(&src, &format!("{EXPERTS}.{stack}_{of}")).2;
                let have = stored(&dst, &format!("{EXPERTS}.{expert}.{part}.{end}"));
                assert!(have.2 == rows(&whole, expert, height, every), "{expert} {part} {end}");
            }
        }
    }
    let shape = |end: &str| stored(&dst, &format!("{EXPERTS}.2.up_proj.{end}")).1;
    assert_eq!(
        (shape("weight_packed"), shape("weight_scale"), shape("bias")),
        (vec![64, 48], vec![64, 3], vec![64])
    );
    assert_eq!(config(&dst)["format"], json!("mxfp4-pack-quantized"));
    assert_eq!(config(&dst)["ignore"], json!(["model.layers.0.mlp.router"]));

    let found = |loader| check(&dst, Some(loader)).expect("a report").findings;
    let [finding] = &found(Loader::Transformers)[..] else { panic!("{:?}", found(Loader::Transformers)) };
    assert!(
        finding.severity == Severity::Error && finding.what.contains("random numbers (and 8 more"),
        "{finding}"
    );

    let report = again(&dst, &back, Mxfp4, GptOss).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (2, 3));
    assert_eq!(report.warnings, [] as [String; 0]);
    let files = [&src, &back].map(|folder| fs::read(folder.join("model.safetensors")).expect("a file"));
    assert!(files[0] == files[1]);
    assert_eq!(config(&back), config(&src));
}

/// The values of a weight of an expert, as the stack has them: [experts, inputs, outputs].
fn of_stack(stack: &[f32], expert: usize, [inputs, outputs]: [usize; 2], every: [usize; 2]) -> Vec<f32> {
    let matrix = &stack[expert * inputs * outputs..][..inputs * outputs];
    let rows = (every[0]..outputs).step_by(every[1]);
    rows.flat_map(|row| (0..inputs).map(move |col| matrix[col * outputs + row])).collect()
}

#[test]
fn stacks_of_mxfp4_keep_their_values_in_other_schemes() {
    let root = tempfile::tempdir().expect("a folder");
    let src = stacks(root.path(), "src");
    let [_, h, i] = SIZES.map(|n| n as usize);
    let of =
        |part: &str| decoded(&Checkpoint::open(&src).expect("a checkpoint"), &format!("{EXPERTS}.{part}"));
    let (gate_up, down) = (of("gate_up_proj"), of("down_proj"));
    for scheme in [Mxfp4, Mxfp8, Fp8Block, Nvfp4] {
        let dst = root.path().join(scheme.name());
        again(&src, &dst, scheme, CompressedTensors).unwrap_or_else(|e| panic!("{scheme}: {e}"));
        let checkpoint = Checkpoint::open(&dst).expect("a checkpoint");
        for expert in 0..3 {
            let have = |part: &str| decoded(&checkpoint, &format!("{EXPERTS}.{expert}.{part}.weight"));
            assert!(have("gate_proj") == of_stack(&gate_up, expert, [h, 2 * i], [0, 2]), "{scheme}");
            assert!(have("up_proj") == of_stack(&gate_up, expert, [h, 2 * i], [1, 2]), "{scheme}");
            assert!(have("down_proj") == of_stack(&down, expert, [i, h], [0, 1]), "{scheme}");
        }
    }
    // Gate and up share the scale of the tensor.
    let global =
        |part: &str| stored(&root.path().join("nvfp4"), &format!("{EXPERTS}.1.{part}.weight_global_scale"));
    assert_eq!(global("gate_proj").2, global("up_proj").2);
}

#[test]
fn golden_stacks_become_modules_and_stacks_again() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    let src = goldens.path("gpt_oss");
    let (dst, back) = (root.path().join("split"), root.path().join("back"));
    again(&src, &dst, Mxfp4, CompressedTensors).expect("a report");
    again(&dst, &back, Mxfp4, GptOss).expect("a report");
    let values = |folder: &Path| -> BTreeMap<String, Vec<u32>> {
        let checkpoint = Checkpoint::open(folder).expect("a checkpoint");
        let bits = |name: &str| decoded(&checkpoint, name).iter().map(|x| x.to_bits()).collect();
        checkpoint.tensors().iter().map(|tensor| (tensor.name.clone(), bits(&tensor.name))).collect()
    };
    assert!(values(&src) == values(&back));
}

/// The tensors of the only file of a folder.
fn tensors(folder: &Path) -> Vec<Tensor> {
    let file = lanecast_files::TensorFile::open(&folder.join("model.safetensors")).expect("a file");
    let names: Vec<String> = file.tensors().iter().map(|tensor| tensor.name.clone()).collect();
    names
        .into_iter()
        .map(|name| {
            let (dtype, shape, data) = stored(folder, &name);
            (name, dtype, shape, data)
        })
        .collect()
}

#[test]
fn experts_that_make_no_stack_are_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let (src, split) = (stacks(root.path(), "src"), root.path().join("split"));
    again(&src, &split, Mxfp4, CompressedTensors).expect("a report");
    let (all, of) =
        (tensors(&split), json!({"model_type": "gpt_oss", "quantization_config": config(&split)}));
    let refused = |name: &str, tensors: &[Tensor], config: &Value, parts: &[&str]| {
        let src = folder(root.path(), name, tensors, config);
        let error = again(&src, &root.path().join("x"), Mxfp4, GptOss).expect_err(name).to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{name}: {error}");
    };
    let without = |start: &str| -> Vec<Tensor> {
        all.iter().filter(|(name, ..)| !name.starts_with(&format!("{EXPERTS}.{start}"))).cloned().collect()
    };
    refused("expert", &without("1."), &of, &["lack \"model.layers.0.mlp.experts.1.gate_proj.weight\""]);
    refused("matrix", &without("2.down_proj"), &of, &["lack", "experts.2.down_proj.weight"]);
    refused("bias", &without("0.up_proj.bias"), &of, &["lack", "experts.0.up_proj.bias"]);
    let llama = json!({"model_type": "llama", "quantization_config": config(&split)});
    refused("model", &all, &llama, &["\"gpt_oss\"", "\"llama\""]);
    let mut short = all.clone();
    let bias = short.iter_mut().find(|(name, ..)| name.ends_with("1.up_proj.bias")).expect("a bias");
    (bias.2, bias.3) = (vec![32], bias.3[..64].to_vec());
    refused("short", &short, &of, &["1.up_proj.bias", "64 rows", "[32]"]);
    let other = |end: &str| {
        let stored =
            &all.iter().find(|(name, ..)| name.ends_with(&format!("2.up_proj.{end}"))).expect("codes").1;
        *stored
    };
    let mut attention = all.clone();
    attention.push((
        "model.layers.0.self_attn.q_proj.weight_packed".to_owned(),
        other("weight_packed"),
        vec![32, 16],
        vec![0; 512],
    ));
    attention.push((
        "model.layers.0.self_attn.q_proj.weight_scale".to_owned(),
        UInt8,
        vec![32, 1],
        vec![120; 32],
    ));
    refused("attention", &attention, &of, &["q_proj.weight_packed", "experts only"]);
    let mut plain = without("0.gate_proj.weight");
    plain.push((format!("{EXPERTS}.0.gate_proj.weight"), BFloat16, vec![64, 96], bytes(2 * 64 * 96, 5)));
    refused("plain", &plain, &of, &["0.gate_proj.weight", "MXFP4"]);

    // The other way.
    for (scheme, layout, parts) in [
        (Mxfp4, ModelOpt, ["alternate", "compressed-tensors"]),
        (Fp8Block, DeepSeek, ["alternate", "compressed-tensors"]),
        (Mxfp4, GptOss, ["are stacked as", "gpt-oss"]),
    ] {
        let error = again(&src, &root.path().join("x"), scheme, layout).expect_err("a refusal").to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{layout}: {error}");
    }
    let mut stack = tensors(&src);
    let bias = stack.iter_mut().find(|(name, ..)| name.ends_with("gate_up_proj_bias")).expect("biases");
    bias.2 = vec![128, 3];
    let quantization = json!({"quant_method": "mxfp4"});
    let src = folder(
        root.path(),
        "biases",
        &stack,
        &json!({"model_type": "gpt_oss", "quantization_config": quantization}),
    );
    let error =
        again(&src, &root.path().join("x"), Mxfp4, CompressedTensors).expect_err("biases").to_string();
    assert!(error.contains("gate_up_proj_bias") && error.contains("[3, 128]"), "{error}");
    assert!(!root.path().join("x").exists());
}

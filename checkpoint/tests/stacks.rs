//! Experts that a model stacks in one tensor: split into modules, transposed, or stored as a stack.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, BFloat16};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Experts, QuantLayout, QuantScheme, QuantizeOptions, requantize,
};
use serde_json::json;

use crate::common::{
    weights::{config, decoded, expected, halves, random, run, stored},
    write,
};

/// Experts as llama4 and gpt-oss stack them, of two experts, 64 inputs and 96 outputs for gate and up.
fn stacked(root: &Path, name: &str, model_type: &str) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let tensors: [(&str, DType, &[u64], Vec<u8>); 3] = [
        ("model.layers.0.mlp.experts.gate_up_proj", BFloat16, &[2, 64, 96], halves(&random(2 * 64 * 96, 1))),
        ("model.layers.0.mlp.experts.down_proj", BFloat16, &[2, 64, 32], halves(&random(2 * 64 * 32, 2))),
        ("model.layers.0.self_attn.o_proj.weight", BFloat16, &[32, 32], halves(&random(1024, 3))),
    ];
    write(&folder.join("model.safetensors"), &tensors);
    fs::write(folder.join("config.json"), json!({"model_type": model_type}).to_string()).expect("a file");
    folder
}

#[test]
fn stacked_experts_are_transposed_and_split_or_stay_stacked() {
    let root = tempfile::tempdir().expect("a folder");
    let all = random(2 * 64 * 96, 1);
    // Row r of the weight of expert e is a column of its matrix.
    let rows = |e: usize, rows: std::ops::Range<usize>| -> Vec<f32> {
        rows.flat_map(|row| (0..64).map(move |col| (row, col)))
            .map(|(row, col)| all[(e * 64 + col) * 96 + row])
            .collect()
    };
    let options = QuantizeOptions::new(QuantScheme::Mxfp4, QuantLayout::CompressedTensors);
    let (src, dst) = (stacked(root.path(), "llama4", "llama4"), root.path().join("split"));
    let report = run(&src, &dst, &options).expect("a report");
    assert_eq!(report.weights_quantized, 7);
    let checkpoint = Checkpoint::open(&dst).expect("a checkpoint");
    for (e, part, range) in [(0, "gate", 0..48), (1, "gate", 0..48), (0, "up", 48..96), (1, "up", 48..96)] {
        let have = decoded(&checkpoint, &format!("model.layers.0.mlp.experts.{e}.{part}_proj.weight"));
        let want = expected(QuantScheme::Mxfp4, &rows(e, range), 64, 0.0);
        assert!(have.iter().zip(&want).all(|(have, want)| *have == *want as f32), "{e} {part}");
    }
    assert_eq!(
        checkpoint.find("model.layers.0.mlp.experts.1.down_proj.weight").expect("a weight").shape,
        [32, 64]
    );

    let src = stacked(root.path(), "oss", "gpt_oss");
    let error = run(&src, &root.path().join("x"), &options).expect_err("gate and up alternate").to_string();
    assert!(error.contains("experts.down_proj") && error.contains("gpt-oss"), "{error}");
    let dst = root.path().join("stacked");
    let report =
        run(&src, &dst, &QuantizeOptions::new(QuantScheme::Mxfp4, QuantLayout::GptOss)).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (2, 1));
    assert_eq!(
        config(&dst),
        json!({"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.0.self_attn.o_proj"]})
    );
    assert_eq!(stored(&dst, "model.layers.0.mlp.experts.gate_up_proj_blocks").1, [2, 96, 2, 16]);
    let have =
        decoded(&Checkpoint::open(&dst).expect("a checkpoint"), "model.layers.0.mlp.experts.gate_up_proj");
    for e in 0..2 {
        let want = expected(QuantScheme::Mxfp4, &rows(e, 0..96), 64, 0.0);
        for (i, want) in want.iter().enumerate() {
            assert_eq!(have[(e * 64 + i % 64) * 96 + i / 64], *want as f32);
        }
    }

    let src = stacked(root.path(), "new", "unheard_of");
    let error = run(&src, &root.path().join("x"), &options).expect_err("an unknown stack").to_string();
    assert!(error.contains("unheard_of") && error.contains("ignore"), "{error}");
    let ignore = vec!["*.experts.*".to_owned()];
    let report =
        run(&src, &root.path().join("kept"), &QuantizeOptions { ignore, ..options }).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (1, 2));
    assert!(report.ignored.contains(&"model.layers.0.mlp.experts".to_owned()), "{:?}", report.ignored);
}

/// Stacks that are kept are not quantized, whether their order is known or not.
#[test]
fn stacked_experts_may_be_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let keep = |layout| QuantizeOptions {
        experts: Experts::Keep,
        ..QuantizeOptions::new(QuantScheme::Mxfp4, layout)
    };
    for model_type in ["llama4", "unheard_of"] {
        let (src, dst) = (stacked(root.path(), model_type, model_type), root.path().join("kept"));
        let options = QuantizeOptions { replace: true, ..keep(QuantLayout::CompressedTensors) };
        let report = run(&src, &dst, &options).expect("a report");
        assert_eq!((report.weights_quantized, report.tensors_copied), (1, 2));
        let name = "model.layers.0.mlp.experts.gate_up_proj";
        assert!(stored(&src, name) == stored(&dst, name));
        assert!(report.ignored.contains(&"model.layers.0.mlp.experts".to_owned()), "{:?}", report.ignored);
    }
    // A pattern that names a stack quantizes it all the same.
    let (src, map) = (root.path().join("llama4"), vec![("*.down_proj".to_owned(), QuantScheme::Mxfp8)]);
    let options = QuantizeOptions { map, ..keep(QuantLayout::CompressedTensors) };
    assert_eq!(run(&src, &root.path().join("map"), &options).expect("a report").weights_quantized, 3);
    let oss = stacked(root.path(), "oss", "gpt_oss");
    let error =
        run(&oss, &root.path().join("x"), &keep(QuantLayout::GptOss)).expect_err("nothing").to_string();
    assert!(error.contains("no weight"), "{error}");
    let again = keep(QuantLayout::CompressedTensors);
    let error =
        requantize(&oss, &root.path().join("x"), &again, Callbacks::default()).expect_err("kept").to_string();
    assert!(error.contains("cannot stay"), "{error}");
}

/// Granite stacks experts in `input_linear.weight` `[experts, 2 outputs, inputs]`, gate first.
#[test]
fn stacks_without_experts_in_their_names_are_split_or_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let (up, down) = (random(2 * 96 * 64, 1), random(2 * 64 * 64, 2));
    let model = |name: &str, model_type: &str| -> PathBuf {
        let folder = root.path().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let tensors: [(&str, DType, &[u64], Vec<u8>); 5] = [
            ("model.layers.0.block_sparse_moe.input_linear.weight", BFloat16, &[2, 96, 64], halves(&up)),
            ("model.layers.0.block_sparse_moe.output_linear.weight", BFloat16, &[2, 64, 64], halves(&down)),
            (
                "model.layers.0.block_sparse_moe.router.layer.weight",
                BFloat16,
                &[2, 64],
                halves(&random(128, 3)),
            ),
            ("model.layers.0.shared_mlp.input_linear.weight", BFloat16, &[96, 64], halves(&random(6144, 4))),
            ("model.layers.0.upsample.weight", BFloat16, &[64, 64, 3], halves(&random(64 * 64 * 3, 5))),
        ];
        write(&folder.join("model.safetensors"), &tensors);
        fs::write(folder.join("config.json"), json!({"model_type": model_type}).to_string()).expect("a file");
        folder
    };
    let options = QuantizeOptions::new(QuantScheme::Mxfp4, QuantLayout::CompressedTensors);
    for (model_type, parts) in [
        ("granitemoehybrid", ["gate_proj", "up_proj", "down_proj"]),
        ("granitemoe", ["w1", "w3", "w2"]),
        ("granitemoeshared", ["w1", "w3", "w2"]),
    ] {
        let (src, dst) = (model(model_type, model_type), root.path().join(format!("{model_type} split")));
        let report = run(&src, &dst, &options).expect("a report");
        // The kernel of a convolution and the router stay.
        assert_eq!((report.weights_quantized, report.tensors_copied), (7, 2));
        let checkpoint = Checkpoint::open(&dst).expect("a checkpoint");
        for e in 0..2 {
            let rows =
                |all: &[f32], rows: std::ops::Range<usize>| all[rows.start * 64..rows.end * 64].to_vec();
            let want = [
                rows(&up, e * 96..e * 96 + 48),
                rows(&up, e * 96 + 48..e * 96 + 96),
                rows(&down, e * 64..e * 64 + 64),
            ];
            for (part, want) in parts.iter().zip(want) {
                let name = format!("model.layers.0.block_sparse_moe.experts.{e}.{part}.weight");
                let want = expected(QuantScheme::Mxfp4, &want, 64, 0.0);
                let have = decoded(&checkpoint, &name);
                assert!(
                    have.len() == want.len() && have.iter().zip(&want).all(|(a, b)| *a == *b as f32),
                    "{name}"
                );
            }
        }
    }
    let src = model("new", "jetmoe");
    let error = run(&src, &root.path().join("x"), &options).expect_err("an unknown stack").to_string();
    let parts = ["input_linear.weight", "jetmoe", "stacks experts", "ignore"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    let ignore = vec!["*.block_sparse_moe.*".to_owned()];
    let kept = QuantizeOptions { ignore, ..options.clone() };
    let report = run(&src, &root.path().join("kept"), &kept).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (1, 4));
    let name = "model.layers.0.block_sparse_moe.input_linear";
    assert!(report.ignored.contains(&name.to_owned()), "{:?}", report.ignored);
    // Matrices of any name.
    let folder = root.path().join("heads");
    fs::create_dir_all(&folder).expect("a folder");
    let tensors: [(&str, DType, &[u64], Vec<u8>); 2] = [
        ("m.0.mixer.weight", BFloat16, &[2, 64, 64], halves(&random(8192, 1))),
        ("m.0.up.weight", BFloat16, &[64, 64], halves(&random(4096, 2))),
    ];
    write(&folder.join("model.safetensors"), &tensors);
    let error = run(&folder, &root.path().join("y"), &options).expect_err("an unknown stack").to_string();
    assert!(error.contains("m.0.mixer.weight") && error.contains("stacks matrices"), "{error}");
}

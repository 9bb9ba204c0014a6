//! Weights that one side of a comparison fuses, splits, stacks or transposes.

use std::{fs, path::Path};

use lanecast::{
    DType::{self, BFloat16, Float32},
    half::bf16,
};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Comparison, QuantLayout, QuantScheme, QuantizeOptions, compare, quantize,
};
use tempfile::TempDir;

use crate::common::write;

/// A tensor of floats: its name, its shape and its values.
type Floats = (String, Vec<u64>, Vec<f32>);

fn tensor(name: &str, shape: &[u64], values: Vec<f32>) -> Floats {
    assert_eq!(shape.iter().product::<u64>(), values.len() as u64);
    (name.to_owned(), shape.to_vec(), values)
}

/// Different values for each element of each tensor, which bfloat16 holds.
fn values(first: usize, n: usize) -> Vec<f32> {
    (first..first + n).map(|i| (i * 37 % 251) as f32 - 125.0).collect()
}

/// A checkpoint of these tensors, of a model type unless it is empty.
fn model(model_type: &str, dtype: DType, tensors: &[Floats]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = |values: &[f32]| -> Vec<u8> {
        match dtype {
            Float32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            _ => values.iter().flat_map(|value| bf16::from_f32(*value).to_le_bytes()).collect(),
        }
    };
    let tensors: Vec<_> =
        tensors.iter().map(|(name, shape, values)| (&**name, dtype, &shape[..], bytes(values))).collect();
    write(&folder.path().join("model.safetensors"), &tensors);
    if !model_type.is_empty() {
        let config = format!(r#"{{"text_config": {{"model_type": "{model_type}"}}}}"#);
        fs::write(folder.path().join("config.json"), config).expect("a file");
    }
    folder
}

fn run(a: &Path, b: &Path) -> Comparison {
    let open = |path| Checkpoint::open(path).expect("a checkpoint");
    compare(&open(a), &open(b), Callbacks::default()).expect("a comparison")
}

/// Expects that both checkpoints have the same values, in either order, and that a change of one is found in the part that has it.
#[track_caller]
fn same(model_type: &str, whole: &[Floats], parts: &[Floats]) {
    let (a, b) = (model(model_type, BFloat16, whole), model("", BFloat16, parts));
    for (a, b) in [(&a, &b), (&b, &a)] {
        let found = run(a.path(), b.path());
        assert!(found.is_equal(), "{found:#?}");
        let mut have: Vec<(&str, Vec<u64>)> = found
            .tensors
            .iter()
            .map(|of| (&*of.name, of.shape.iter().map(|axis| *axis as u64).collect()))
            .collect();
        let mut want: Vec<(&str, Vec<u64>)> =
            parts.iter().map(|(name, shape, _)| (&**name, shape.clone())).collect();
        have.sort();
        want.sort();
        assert_eq!(have, want);
    }
    for (i, (name, ..)) in parts.iter().enumerate() {
        let mut changed = parts.to_vec();
        let (at, shift) = (changed[i].2.len() - 1, 512.0);
        changed[i].2[at] += shift;
        let found = run(model("", Float32, &changed).path(), a.path());
        let different: Vec<&str> =
            found.tensors.iter().filter(|of| of.different > 0).map(|of| &*of.name).collect();
        assert_eq!(different, [name]);
        let of = found.tensors.iter().find(|of| of.name == *name).expect("a tensor");
        assert_eq!((of.different, of.largest, of.largest_at), (1, f64::from(shift), at as u64));
    }
}

/// Rows of tensors, one tensor after the other.
fn joined(name: &str, parts: &[Floats]) -> Floats {
    let rows = parts.iter().map(|(_, shape, _)| shape[0]).sum();
    let shape: Vec<u64> = [rows].into_iter().chain(parts[0].1[1..].iter().copied()).collect();
    tensor(name, &shape, parts.iter().flat_map(|(.., values)| values.clone()).collect())
}

#[test]
fn rows_of_fused_layers_follow_each_other() {
    let of = |name: &str, rows: u64, first| {
        tensor(&format!("l.0.{name}.weight"), &[rows, 3], values(first, 3 * rows as usize))
    };
    let attention = [of("q_proj", 4, 0), of("k_proj", 2, 20), of("v_proj", 2, 40)];
    let bias =
        |name: &str, n: u64, first| tensor(&format!("l.0.{name}.bias"), &[n], values(first, n as usize));
    let biases = [bias("q_proj", 4, 1), bias("k_proj", 2, 5), bias("v_proj", 2, 8)];
    let mlp = [of("gate_proj", 5, 60), of("up_proj", 5, 80)];
    let low = [of("q_a_proj", 3, 100), of("kv_a_proj_with_mqa", 2, 120)];
    let norm = tensor("norm", &[2], vec![1.0, 2.0]);
    let whole = [
        joined("l.0.qkv_proj.weight", &attention),
        joined("l.0.qkv_proj.bias", &biases),
        joined("l.0.gate_up_proj.weight", &mlp),
        joined("l.0.fused_qkv_a_proj.weight", &low),
        norm.clone(),
    ];
    same("", &whole, &[&attention[..], &biases, &mlp, &low, &[norm]].concat());
}

/// The weights of experts, and what stacks them: `at` is the place of row `row` and column `col` in a matrix of `rows` by `cols`.
fn experts(
    names: [&str; 3],
    (h, i): (usize, usize),
    transposed: bool,
    interleaved: bool,
) -> (Vec<Floats>, Vec<Floats>) {
    const EXPERTS: usize = 3;
    let mut parts = Vec::new();
    let (mut gate_up, mut down) = (vec![0.0; EXPERTS * 2 * i * h], vec![0.0; EXPERTS * h * i]);
    for expert in 0..EXPERTS {
        let [gate, up] = [0, 1].map(|half| values(1000 * half + 97 * expert, i * h));
        let out = values(5000 + 89 * expert, h * i);
        for (row, col) in (0..i).flat_map(|row| (0..h).map(move |col| (row, col))) {
            for (half, of) in [(0, &gate), (1, &up)] {
                let row_at = if interleaved { 2 * row + half } else { row + half * i };
                let at = if transposed { col * 2 * i + row_at } else { row_at * h + col };
                gate_up[expert * 2 * i * h + at] = of[row * h + col];
            }
            // The rows of down are the columns of gate.
            let at = if transposed { row * h + col } else { col * i + row };
            down[expert * h * i + at] = out[col * i + row];
        }
        for (name, shape, values) in
            [(names[0], [i, h], gate), (names[1], [i, h], up), (names[2], [h, i], out)]
        {
            parts.push(tensor(
                &format!("l.mlp.experts.{expert}.{name}.weight"),
                &shape.map(|axis| axis as u64),
                values,
            ));
        }
    }
    let e = EXPERTS as u64;
    let (h, i) = (h as u64, i as u64);
    let shapes = if transposed { [[e, h, 2 * i], [e, i, h]] } else { [[e, 2 * i, h], [e, h, i]] };
    let whole = [("gate_up_proj", gate_up), ("down_proj", down)];
    let whole = whole.into_iter().zip(shapes);
    let whole = whole.map(|((name, values), shape)| tensor(&format!("l.mlp.experts.{name}"), &shape, values));
    (whole.collect(), parts)
}

const QWEN: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];

#[test]
fn stacked_experts_are_those_of_each_expert() {
    for (model_type, transposed, interleaved) in [
        ("qwen3_5_moe", false, false),
        ("llama4", true, false),
        ("qwen3_vl_moe_text", true, false),
        ("gpt_oss", true, true),
    ] {
        for sizes in [(4, 3), (6, 3), (3, 3), (2, 5)] {
            let (whole, parts) = experts(QWEN, sizes, transposed, interleaved);
            same(model_type, &whole, &parts);
        }
    }
    // Without a model type, the shapes say which axis has the outputs.
    for transposed in [false, true] {
        let (whole, parts) = experts(["w1", "w3", "w2"], (4, 3), transposed, false);
        same("", &whole, &parts);
    }
}

#[test]
fn biases_of_stacked_experts_are_those_of_each_expert() {
    let stacked =
        |name: &str, n: u64, values: Vec<f32>| tensor(&format!("l.mlp.experts.{name}_bias"), &[2, n], values);
    // gate and up alternate.
    let whole = [
        stacked("gate_up_proj", 4, vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]),
        stacked("down_proj", 1, vec![5.0, 6.0]),
    ];
    let of = |expert: usize, name: &str, values: &[f32]| {
        tensor(&format!("l.mlp.experts.{expert}.{name}.bias"), &[values.len() as u64], values.to_vec())
    };
    let parts = [
        of(0, "gate_proj", &[1.0, 2.0]),
        of(0, "up_proj", &[10.0, 20.0]),
        of(0, "down_proj", &[5.0]),
        of(1, "gate_proj", &[3.0, 4.0]),
        of(1, "up_proj", &[30.0, 40.0]),
        of(1, "down_proj", &[6.0]),
    ];
    same("gpt_oss", &whole, &parts);
}

#[test]
fn stacks_may_be_transposed_on_one_side() {
    let (one, _) = experts(QWEN, (4, 3), false, false);
    let (other, _) = experts(QWEN, (4, 3), true, false);
    let (a, b) = (model("qwen3_5_moe", BFloat16, &one), model("llama4", Float32, &other));
    for (a, b) in [(&a, &b), (&b, &a)] {
        let found = run(a.path(), b.path());
        assert!(found.is_equal() && found.tensors.len() == 2, "{found:#?}");
    }
}

/// A part with codes is decoded as any weight is: what is fused has the errors of what is split.
#[test]
fn codes_are_compared_with_fused_values() {
    let of =
        |name: &str, first| tensor(&format!("l.0.{name}_proj.weight"), &[64, 256], values(first, 64 * 256));
    let parts = [of("q", 0), of("k", 7), of("v", 11)];
    let plain = model("llama", BFloat16, &parts);
    let fused = model("phi3", BFloat16, &[joined("l.0.qkv_proj.weight", &parts)]);
    let codes = plain.path().with_extension("codes");
    let options = QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors);
    quantize(plain.path(), &codes, &options, Callbacks::default()).expect("a report");
    let (want, have) = (run(&codes, plain.path()), run(&codes, fused.path()));
    // Each is in the order of its first checkpoint.
    let sorted = |found: &Comparison| {
        let mut tensors = found.tensors.clone();
        tensors.sort_by(|x, y| x.name.cmp(&y.name));
        tensors
    };
    assert_eq!(sorted(&have), sorted(&want));
    assert!(have.has_same_tensors() && have.tensors.iter().all(|of| of.sqnr > 10.0 && of.sqnr < 40.0));
    // And the other way: codes that are fused.
    let codes_fused = fused.path().with_extension("codes");
    let options = QuantizeOptions::new(QuantScheme::Fp8Dynamic, QuantLayout::CompressedTensors);
    for (src, dst) in [(fused.path(), &codes_fused), (plain.path(), &codes)] {
        let options = QuantizeOptions { replace: true, ..options.clone() };
        quantize(src, dst, &options, Callbacks::default()).expect("a report");
    }
    let found = run(&codes_fused, &codes);
    assert!(found.is_equal() && found.tensors.len() == 3, "{found:#?}");
    for folder in [codes, codes_fused] {
        fs::remove_dir_all(folder).expect("a folder");
    }
}

#[test]
fn parts_that_do_not_fit_are_listed() {
    let of =
        |name: &str, shape: &[u64]| tensor(name, shape, values(0, shape.iter().product::<u64>() as usize));
    let whole =
        model("", BFloat16, &[of("a.qkv_proj.weight", &[6, 2]), of("a.gate_up_proj.weight", &[4, 2])]);
    // One row is missing, and there is no up_proj.
    let parts = [
        of("a.q_proj.weight", &[2, 2]),
        of("a.k_proj.weight", &[2, 2]),
        of("a.v_proj.weight", &[1, 2]),
        of("a.gate_proj.weight", &[2, 2]),
    ];
    let parts = model("", BFloat16, &parts);
    let found = run(whole.path(), parts.path());
    let [other] = &found.incomparable[..] else { panic!("{found:#?}") };
    assert_eq!((&*other.name, &*other.a), ("a.qkv_proj.weight", "bfloat16 [6, 2]"));
    assert_eq!(other.b, "bfloat16 [2, 2], [2, 2], [1, 2]");
    assert_eq!(found.only_a, ["a.gate_up_proj.weight"]);
    assert_eq!(found.only_b, ["a.gate_proj.weight"]);
    assert!(found.tensors.is_empty());
    // What the other side has under its own name is not a part.
    let both = model("", BFloat16, &[of("a.qkv_proj.weight", &[3, 2]), of("a.q_proj.weight", &[1, 2])]);
    let split = ["q", "k", "v"].map(|name| of(&format!("a.{name}_proj.weight"), &[1, 2]));
    let found = run(both.path(), model("", BFloat16, &split).path());
    assert_eq!((found.tensors.len(), found.only_a.len(), found.only_b.len()), (1, 1, 2), "{found:#?}");
}

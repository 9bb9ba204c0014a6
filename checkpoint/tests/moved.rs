//! Codes that move to another layout as they are: every value stays to the bit, or the first one that would change is named.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, BFloat16, Float8E4M3FN, Float16, Float32, Int32, Int64, UInt8};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Error, QuantLayout, QuantScheme, QuantizeOptions, QuantizeReport, quantize,
    requantize,
};
use serde_json::json;

use crate::common::{
    Goldens,
    weights::{config, f32s, stored},
    write,
};

use QuantLayout::{Awq, Comfy, CompressedTensors, Gptq, ModelOpt};
use QuantScheme::{Nvfp4, W4a16};

type Tensor = (String, DType, Vec<u64>, Vec<u8>);

/// Bytes of a linear congruential generator.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as u8
    }

    fn bytes(&mut self, n: u64) -> Vec<u8> {
        (0..n).map(|_| self.byte()).collect()
    }

    /// Scales of 2 bytes or 4 that are positive and finite.
    fn scales(&mut self, dtype: DType, n: u64) -> Vec<u8> {
        let of = |random: &mut Self| 0.001 * (1.0 + f32::from(random.byte()));
        let one = |value: f32| -> Vec<u8> {
            match dtype {
                Float16 => lanecast::half::f16::from_f32(value).to_le_bytes().to_vec(),
                BFloat16 => lanecast::half::bf16::from_f32(value).to_le_bytes().to_vec(),
                _ => value.to_le_bytes().to_vec(),
            }
        };
        (0..n).flat_map(|_| one(of(self))).collect()
    }
}

fn folder(root: &Path, name: &str, tensors: &[Tensor], config: &serde_json::Value) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> =
        tensors.iter().map(|(name, dtype, shape, data)| (&**name, *dtype, &**shape, data.clone())).collect();
    write(&folder.join("model.safetensors"), &tensors);
    fs::write(folder.join("config.json"), json!({"quantization_config": config}).to_string())
        .expect("a file");
    folder
}

fn run(src: &Path, dst: &Path, scheme: QuantScheme, layout: QuantLayout) -> Result<QuantizeReport, Error> {
    requantize(src, dst, &QuantizeOptions::new(scheme, layout), Callbacks::default())
}

/// The bits of all values, with the signs of zeros.
fn values(folder: &Path) -> BTreeMap<String, (Vec<usize>, Vec<u64>)> {
    let checkpoint = Checkpoint::open(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let of = |tensor: &lanecast_checkpoint::Tensor| {
        let mut out = vec![0.0_f64; tensor.elements()];
        checkpoint.read(&tensor.name, &mut out).expect("values");
        (tensor.name.clone(), (tensor.shape.clone(), out.into_iter().map(f64::to_bits).collect()))
    };
    checkpoint.tensors().iter().map(of).collect()
}

/// Moves the weights, and expects the same values.
#[track_caller]
fn moved(src: &Path, dst: &Path, scheme: QuantScheme, layout: QuantLayout) -> QuantizeReport {
    let report = run(src, dst, scheme, layout).unwrap_or_else(|e| panic!("{} {layout}: {e}", src.display()));
    assert!(values(src) == values(dst), "{} {layout}", src.display());
    report
}

/// The weights of the tests: their names, rows and columns.
const WEIGHTS: &[(&str, u64, u64)] =
    &[("m.0.q_proj", 40, 256), ("m.0.down_proj", 264, 384), ("m.1.q_proj", 8, 64)];

/// Integers of compressed-tensors.
fn int4(root: &Path, name: &str, group: Option<u64>, dtype: DType, symmetric: bool) -> PathBuf {
    let (mut random, mut tensors) = (Random(name.len() as u64), Vec::new());
    for (module, n, k) in WEIGHTS {
        let groups = group.map_or(1, |group| k.div_ceil(group));
        let mut add = |end: &str, dtype, shape: Vec<u64>, data| {
            tensors.push((format!("{module}.{end}"), dtype, shape, data))
        };
        add("weight_packed", Int32, vec![*n, k / 8], random.bytes(n * k / 2));
        add("weight_scale", dtype, vec![*n, groups], random.scales(dtype, n * groups));
        add("weight_shape", Int64, vec![2], [n.to_le_bytes(), k.to_le_bytes()].concat());
        if !symmetric {
            add("weight_zero_point", Int32, vec![n / 8, groups], random.bytes(n * groups / 2));
        }
    }
    tensors.push(("lm_head.weight".to_owned(), BFloat16, vec![4, 8], random.scales(BFloat16, 32)));
    tensors.push(("m.2.q_proj.weight".to_owned(), BFloat16, vec![4, 8], random.scales(BFloat16, 32)));
    let strategy = if group.is_some() { "group" } else { "channel" };
    let weights = json!({"num_bits": 4, "type": "int", "symmetric": symmetric, "strategy": strategy, "group_size": group});
    let groups = json!({"group_0": {"targets": ["Linear"], "weights": weights}});
    let config = json!({
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "ignore": ["lm_head", "m.2.q_proj"], "config_groups": groups,
    });
    folder(root, name, &tensors, &config)
}

#[test]
fn integers_move_between_compressed_tensors_gptq_and_awq() {
    let root = tempfile::tempdir().expect("a folder");
    for (group, dtype) in [(Some(32), BFloat16), (Some(64), Float16), (Some(128), Float32), (None, Float16)] {
        for symmetric in [true, false] {
            let name = format!("{group:?} {dtype} {symmetric}");
            let at = |step: &str| root.path().join(format!("{name} {step}"));
            let src = int4(root.path(), &name, group, dtype, symmetric);
            let report = moved(&src, &at("gptq"), W4a16, Gptq);
            assert_eq!((report.weights_quantized, report.tensors_copied), (3, 2));
            let of = config(&at("gptq"));
            let version = if symmetric { "gptq" } else { "gptq_v2" };
            let size = group.map_or(json!(-1), |group| json!(group));
            assert_eq!(
                (&of["checkpoint_format"], &of["sym"], &of["group_size"]),
                (&json!(version), &json!(symmetric), &size)
            );
            assert_eq!(of["dynamic"], json!({r"-:^m\.2\.q_proj$": {}}));
            assert_eq!(stored(&at("gptq"), "m.0.q_proj.scales").0, dtype);
            // There and back, the bytes are the same.
            moved(&at("gptq"), &at("back"), W4a16, CompressedTensors);
            let files =
                [&src, &at("back")].map(|folder| fs::read(folder.join("model.safetensors")).expect("a file"));
            assert!(files[0] == files[1], "{name}");
            let weights = &config(&at("back"))["config_groups"]["group_0"]["weights"];
            assert_eq!((&weights["symmetric"], &weights["group_size"]), (&json!(symmetric), &json!(group)));

            moved(&at("gptq"), &at("awq"), W4a16, Awq);
            assert_eq!(config(&at("awq"))["modules_to_not_convert"], json!(["lm_head", "m.2.q_proj"]));
            moved(&src, &at("awq at once"), W4a16, Awq);
            let awq = ["awq", "awq at once"]
                .map(|step| fs::read(at(step).join("model.safetensors")).expect("a file"));
            assert!(awq[0] == awq[1], "{name}");
            moved(&at("awq"), &at("awq ct"), W4a16, CompressedTensors);
            moved(&at("awq"), &at("awq gptq"), W4a16, Gptq);
            moved(&src, &at("same"), W4a16, CompressedTensors);
        }
    }
}

#[test]
fn golden_integers_move_to_every_layout() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    for name in ["W4A16", "awq_gemm", "gptq_v1_asym", "gptq_v2"] {
        for layout in [CompressedTensors, Gptq, Awq] {
            let dst = root.path().join(format!("{name} {layout}"));
            moved(&goldens.path(name), &dst, W4a16, layout);
        }
    }
    // The order of activations.
    for layout in [CompressedTensors, Gptq, Awq] {
        let error = run(&goldens.path("gptq_v1"), &root.path().join("x"), W4a16, layout)
            .expect_err("g_idx")
            .to_string();
        assert!(error.contains(".g_idx") && error.contains("order of activations"), "{error}");
    }
    for (name, part) in [
        ("gptq_v2_3bit", "codes of 3"),
        ("ct_pack_odd", "codes of "),
        ("NVFP4A16", "integer codes"),
        ("mlx", "integer codes"),
    ] {
        let error =
            run(&goldens.path(name), &root.path().join("x"), W4a16, Gptq).expect_err(name).to_string();
        assert!(error.contains(part), "{name}: {error}");
    }
    assert!(!root.path().join("x").exists());
}

#[test]
fn integers_that_a_layout_cannot_store_are_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let dst = root.path().join("x");
    let mut random = Random(1);
    let weight = |random: &mut Random, module: &str, n: u64, k: u64, group: u64| -> Vec<Tensor> {
        let groups = k.div_ceil(group);
        [
            ("weight_packed", Int32, vec![n, k.div_ceil(8)], random.bytes(n * k.div_ceil(8) * 4)),
            ("weight_scale", Float32, vec![n, groups], random.scales(Float32, n * groups)),
            ("weight_shape", Int64, vec![2], [n.to_le_bytes(), k.to_le_bytes()].concat()),
        ]
        .into_iter()
        .map(|(end, dtype, shape, data)| (format!("{module}.{end}"), dtype, shape, data))
        .collect()
    };
    let of = |name: &str, groups: &[u64]| {
        let group = |(i, n): (usize, &u64)| {
            let weights = json!({"num_bits": 4, "type": "int", "symmetric": true, "strategy": "group", "group_size": n});
            (format!("group_{i}"), json!({"targets": [format!("re:m.{i}")], "weights": weights}))
        };
        let groups: serde_json::Map<String, serde_json::Value> =
            groups.iter().enumerate().map(group).collect();
        (
            name.to_owned(),
            json!({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups}),
        )
    };
    // Two group sizes.
    let (name, two) = of("two", &[32, 64]);
    let tensors = [weight(&mut random, "m.0", 8, 128, 32), weight(&mut random, "m.1", 8, 128, 64)].concat();
    let src = folder(root.path(), &name, &tensors, &two);
    for layout in [Gptq, Awq] {
        let error = run(&src, &dst, W4a16, layout).expect_err("two groups").to_string();
        assert!(
            error.contains("one group size") && error.contains("32 elements") && error.contains("64"),
            "{error}"
        );
    }
    moved(&src, &root.path().join("two again"), W4a16, CompressedTensors);
    let groups = &config(&root.path().join("two again"))["config_groups"];
    assert_eq!(groups.as_object().map(serde_json::Map::len), Some(2), "{groups}");
    // Rows and columns that fill no words.
    for (n, k, awq) in [(12, 64, false), (8, 68, true)] {
        let (name, config) = of(&format!("{n} {k}"), &[32]);
        let src = folder(root.path(), &name, &weight(&mut random, "m.0", n, k, 32), &config);
        let error = run(&src, &dst, W4a16, Gptq).expect_err("no words").to_string();
        assert!(error.contains("multiple of 8 rows") && error.contains(&format!("{n} and {k}")), "{error}");
        assert_eq!(run(&src, &root.path().join(format!("{n} {k} awq")), W4a16, Awq).is_ok(), awq);
        moved(&src, &root.path().join(format!("{n} {k} ct")), W4a16, CompressedTensors);
    }
    // A zero point that is not the middle, where the configuration says that all are.
    let mut zeros = vec![0x77; 4];
    zeros[2] = 0x67;
    let gptq: Vec<Tensor> = vec![
        ("m.0.qweight".to_owned(), Int32, vec![4, 8], random.bytes(128)),
        ("m.0.qzeros".to_owned(), Int32, vec![1, 1], zeros),
        ("m.0.scales".to_owned(), Float16, vec![1, 8], random.scales(Float16, 8)),
    ];
    let config = json!({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": true});
    let src = folder(root.path(), "sym", &gptq, &config);
    let error = run(&src, &dst, W4a16, CompressedTensors).expect_err("a zero point");
    let text = error.to_string();
    assert!(matches!(error, Error::Loss(_)) && text.contains("group 0 of row 5 is 7, not 8"), "{text}");
    assert!(!dst.exists());
    let error =
        quantize(&src, &dst, &QuantizeOptions::new(W4a16, Gptq), Callbacks::default()).expect_err("quantize");
    assert!(error.to_string().contains("only requantize"), "{error}");
}

/// NVFP4 of compressed-tensors or ModelOpt.
fn nvfp4(root: &Path, name: &str, divides: bool, globals: [f32; 2]) -> PathBuf {
    let (mut random, mut tensors) = (Random(9), Vec::new());
    let names = match divides {
        true => ["weight_packed", "weight_scale", "weight_global_scale"],
        false => ["weight", "weight_scale", "weight_scale_2"],
    };
    for ((module, n, k), global) in
        [("m.0.q_proj", 40_u64, 256_u64), ("m.0.down_proj", 272, 48)].into_iter().zip(globals)
    {
        let scales = random.bytes(n * k / 16).into_iter().map(|byte| byte % 0x7F).collect();
        tensors.push((format!("{module}.{}", names[0]), UInt8, vec![n, k / 2], random.bytes(n * k / 2)));
        tensors.push((format!("{module}.{}", names[1]), Float8E4M3FN, vec![n, k / 16], scales));
        tensors.push((format!("{module}.{}", names[2]), Float32, vec![1], f32s(&[global])));
    }
    let weights = json!({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16});
    let config = match divides {
        true => json!({
            "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized",
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}},
        }),
        false => json!({"quant_method": "modelopt", "quant_algo": "W4A16_NVFP4", "ignore": []}),
    };
    folder(root, name, &tensors, &config)
}

#[test]
fn nvfp4_moves_if_its_scale_has_a_reciprocal() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |name: &str| root.path().join(name);
    let ct = nvfp4(root.path(), "ct", true, [1024.0, 2_f32.powi(-100)]);
    moved(&ct, &at("mo"), Nvfp4, ModelOpt);
    assert_eq!(stored(&at("mo"), "m.0.q_proj.weight_scale_2").2, f32s(&[2_f32.powi(-10)]));
    assert_eq!(config(&at("mo"))["quant_algo"], json!("W4A16_NVFP4"));
    moved(&at("mo"), &at("ct again"), Nvfp4, CompressedTensors);
    let files =
        [&ct, &at("ct again")].map(|folder| fs::read(folder.join("model.safetensors")).expect("a file"));
    assert!(files[0] == files[1]);
    // ComfyUI multiplies as ModelOpt does, pads rows, swizzles scales and swaps nibbles.
    let odd = nvfp4(root.path(), "odd", false, [0.3, 0.7]);
    moved(&odd, &at("mo again"), Nvfp4, ModelOpt);
    run(&odd, &at("comfy"), Nvfp4, Comfy).expect("a report");
    let (want, have) = (values(&odd), values(&at("comfy")));
    let (padded, all) = &have["m.0.q_proj.weight"];
    assert_eq!(padded, &[48, 256]);
    assert!(
        all[..40 * 256] == want["m.0.q_proj.weight"].1[..] && all[40 * 256..].iter().all(|bits| *bits == 0)
    );
    assert!(have["m.0.down_proj.weight"] == want["m.0.down_proj.weight"]);
    // 0.3 has no reciprocal.
    let divided = nvfp4(root.path(), "divided", true, [4.0, 0.3]);
    for (src, layout, name) in [
        (&odd, CompressedTensors, "weight_scale_2"),
        (&divided, ModelOpt, "down_proj.weight_global_scale"),
        (&divided, Comfy, "weight_global_scale"),
    ] {
        let error = run(src, &at("x"), Nvfp4, layout).expect_err("no reciprocal");
        let text = error.to_string();
        assert!(matches!(error, Error::Loss(_)) && text.contains(name) && text.contains("e-1"), "{text}");
    }
    // The reciprocal of the smallest numbers is infinite.
    let tiny = nvfp4(root.path(), "tiny", false, [2_f32.powi(-140), 1.0]);
    let error = run(&tiny, &at("x"), Nvfp4, CompressedTensors).expect_err("infinite").to_string();
    assert!(error.contains("q_proj.weight_scale_2"), "{error}");
    assert!(!at("x").exists());
}

#[test]
fn golden_nvfp4_moves_where_scales_are_used_alike() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    for (name, layouts, refused) in [
        ("NVFP4A16", &[CompressedTensors][..], ModelOpt),
        ("modelopt_w4a16_nvfp4", &[ModelOpt], CompressedTensors),
        ("modelopt_nvfp4", &[ModelOpt], CompressedTensors),
        ("comfy_nvfp4", &[ModelOpt], CompressedTensors),
    ] {
        for layout in layouts {
            let report =
                moved(&goldens.path(name), &root.path().join(format!("{name} {layout}")), Nvfp4, *layout);
            // Those of activations are dropped.
            let dropped = report
                .warnings
                .iter()
                .any(|warning| warning.contains("input_scale\": it and 6 other scales"));
            assert_eq!(dropped, name == "modelopt_nvfp4", "{:?}", report.warnings);
        }
        let error = run(&goldens.path(name), &root.path().join("x"), Nvfp4, refused).expect_err(name);
        assert!(matches!(&error, Error::Loss(_)), "{name}: {error}");
    }
    let error = run(&goldens.path("modelopt_fp8"), &root.path().join("x"), Nvfp4, ModelOpt)
        .expect_err("fp8")
        .to_string();
    assert!(error.contains("only weights of NVFP4 and MXFP4"), "{error}");
}

/// A weight of MXFP4 with these scales; the codes of the blocks of `zero` are zero.
fn mxfp4(root: &Path, name: &str, scales: &[u8], cols: u64, zero: Option<usize>) -> PathBuf {
    let rows = scales.len() as u64 / cols.div_ceil(32);
    let mut codes = Random(3).bytes(rows * cols / 2);
    codes.iter_mut().for_each(|pair| *pair |= 1);
    if let Some(block) = zero {
        codes[16 * block..16 * block + 16].fill(0x80);
    }
    let tensors = [
        ("m.0.gate_proj.weight_packed".to_owned(), UInt8, vec![rows, cols / 2], codes),
        ("m.0.gate_proj.weight_scale".to_owned(), UInt8, vec![rows, cols.div_ceil(32)], scales.to_vec()),
    ];
    let config = json!({
        "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float"}}},
    });
    folder(root, name, &tensors, &config)
}

#[test]
fn mxfp4_becomes_nvfp4_if_its_scales_are_near_each_other() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    for layout in [CompressedTensors, ModelOpt, Comfy] {
        moved(&goldens.path("modelopt_mxfp4"), &root.path().join(format!("golden {layout}")), Nvfp4, layout);
    }
    for largest in [0_u8, 5, 20, 120, 254] {
        for span in [0_u8, 8, 17, 18, 100].into_iter().filter(|span| *span <= largest) {
            for layout in [CompressedTensors, ModelOpt] {
                let name = format!("{largest} {span} {layout}");
                let at = |end: &str| root.path().join(format!("{name} {end}"));
                let src = mxfp4(root.path(), &name, &[largest, largest, largest - span, largest], 64, None);
                match run(&src, &at("x"), Nvfp4, layout) {
                    Ok(_) => assert!(span <= 17 && values(&src) == values(&at("x")), "{name}"),
                    Err(error) => {
                        let text = error.to_string();
                        assert!(
                            span > 17 && matches!(error, Error::Loss(_)) && !at("x").exists(),
                            "{name}: {text}"
                        );
                        assert!(text.contains("element (1, 0)") && text.contains("gate_proj"), "{text}");
                    }
                }
                // The scale of a block of zeros does not count.
                let src = mxfp4(
                    root.path(),
                    &format!("{name} zero"),
                    &[largest, largest, largest - span, largest],
                    64,
                    Some(2),
                );
                moved(&src, &at("y"), Nvfp4, layout);
                let src = mxfp4(root.path(), &format!("{name} large"), &[0, 0, largest, 0], 64, Some(2));
                moved(&src, &at("z"), Nvfp4, layout);
            }
        }
    }
    // The last block of a row may be half of one.
    let src = mxfp4(root.path(), "half", &[120, 121, 122, 123], 48, None);
    moved(&src, &root.path().join("half x"), Nvfp4, ModelOpt);
    let nan = mxfp4(root.path(), "nan", &[120, 255], 64, None);
    let error = run(&nan, &root.path().join("x"), Nvfp4, ModelOpt).expect_err("NaN").to_string();
    assert!(error.contains("NaN"), "{error}");
}

/// Weights that a runtime fuses share the scale of the tensor.
#[test]
fn fused_weights_of_mxfp4_share_a_scale() {
    let root = tempfile::tempdir().expect("a folder");
    let part = |module: &str, scale: u8| -> [Tensor; 2] {
        [
            (format!("{module}.weight_packed"), UInt8, vec![1, 16], vec![0x17; 16]),
            (format!("{module}.weight_scale"), UInt8, vec![1, 1], vec![scale]),
        ]
    };
    let config = json!({
        "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float"}}},
    });
    let of = |name: &str, up: u8| {
        let tensors = [part("m.gate_proj", 130), part("m.up_proj", up), part("m.down_proj", 60)].concat();
        folder(root.path(), name, &tensors, &config)
    };
    moved(&of("near", 125), &root.path().join("x"), Nvfp4, ModelOpt);
    let global = |name: &str| stored(&root.path().join("x"), &format!("m.{name}.weight_scale_2")).2;
    assert_eq!(global("gate_proj"), global("up_proj"));
    assert_eq!(global("gate_proj"), f32s(&[2_f32.powi(130 - 127 - 8)]));
    assert_eq!(global("down_proj"), f32s(&[2_f32.powi(60 - 127 - 8)]));
    let error = run(&of("far", 100), &root.path().join("y"), Nvfp4, ModelOpt).expect_err("far").to_string();
    assert!(error.contains("up_proj") && error.contains("2^-27") && error.contains("2^3"), "{error}");
}

/// A weight of no rows or no columns stays a weight.
#[test]
fn empty_weights_are_not_dropped() {
    let root = tempfile::tempdir().expect("a folder");
    let weight = |module: &str, n: u64, k: u64| -> [Tensor; 2] {
        [
            (format!("{module}.weight_packed"), UInt8, vec![n, k / 2], vec![0x17; (n * k / 2) as usize]),
            (format!("{module}.weight_scale"), UInt8, vec![n, k / 32], vec![120; (n * k / 32) as usize]),
        ]
    };
    let config = json!({
        "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float"}}},
    });
    let tensors = [weight("m.0.up_proj", 32, 64), weight("m.1.up_proj", 0, 64), weight("m.2.up_proj", 8, 0)];
    let src = folder(root.path(), "src", &tensors.concat(), &config);
    for (scheme, layout) in [
        (QuantScheme::Mxfp4, CompressedTensors),
        (QuantScheme::Mxfp4, ModelOpt),
        (QuantScheme::Mxfp8, CompressedTensors),
        (QuantScheme::Fp8Block, QuantLayout::DeepSeek),
        (Nvfp4, CompressedTensors),
    ] {
        let dst = root.path().join(format!("{scheme} {layout}"));
        let report = moved(&src, &dst, scheme, layout);
        assert_eq!((report.weights_quantized, report.tensors_copied), (3, 0), "{scheme} {layout}");
    }
}

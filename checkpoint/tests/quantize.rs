//! Models in, quantized checkpoints out: what the crate decodes from them is what a loop over elements computes.

use std::{collections::BTreeMap, fs, path::Path};

use lanecast::DType::{self, BFloat16, Float32};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, Error, Options, QuantLayout, QuantScheme, QuantizeOptions, dequantize, quantize,
};
use serde_json::{Value, json};

use crate::common::{
    Goldens,
    weights::{
        OTHERS, WEIGHTS, config, decoded, divided, expected, f32s, halves, model, nearest, random, run,
        stored, values,
    },
    write,
};

/// The largest magnitude of the weights that are fused with this one.
fn shared(module: &str) -> f64 {
    let set = |module: &str| match module.rsplit('.').next().expect("a name") {
        "q_proj" | "k_proj" | "v_proj" => 0,
        "gate_proj" | "up_proj" => 1,
        "o_proj" => 2,
        _ => 3,
    };
    let of = |(other, rows, cols): &(&str, usize, usize)| {
        let values = values(&format!("{other}.weight"), rows * cols);
        values.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max)
    };
    WEIGHTS.iter().filter(|(other, ..)| set(other) == set(module)).map(of).fold(0.0, f64::max)
}

/// All layouts with all of their schemes, except experts that are stacked.
fn all() -> impl Iterator<Item = (QuantLayout, QuantScheme)> {
    let layouts = QuantLayout::NAMED.iter().map(|(_, layout)| *layout).filter(|layout| !layout.needs_codes());
    layouts
        // Experts of gpt-oss and files of GGUF have tests of their own.
        .filter(|layout| ![QuantLayout::GptOss, QuantLayout::Gguf].contains(layout))
        .flat_map(|layout| layout.schemes().iter().map(move |scheme| (layout, *scheme)))
}

/// The values of a table of bitsandbytes that is stored beside its codes, or of int8.
fn bitsandbytes(folder: &Path, name: &str, scheme: QuantScheme, values: &[f32], cols: usize) -> Vec<f64> {
    let largest = |block: &[f32]| block.iter().fold(0.0_f64, |largest, x| largest.max(f64::from(x.abs())));
    if scheme == QuantScheme::Int8 {
        let codes: Vec<f64> = (0..=127).map(f64::from).collect();
        let row = |row: &[f32]| {
            let absmax = largest(row);
            // The scale is not a number of float32: the code is nearest to 127 x in units of the largest magnitude.
            row.iter().map(|x| nearest(&codes, f64::from(*x) * 127.0, absmax) / 127.0).collect::<Vec<_>>()
        };
        return values.chunks(cols).flat_map(row).collect();
    }
    let map = stored(folder, &format!("{name}.quant_map")).2;
    let map: Vec<f64> = map.as_chunks().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect();
    let block = |block: &[f32]| {
        let absmax = largest(block);
        let value = |x: &f32| {
            let distance = |entry: &f64| (entry * absmax - f64::from(*x)).abs();
            map.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("a table") * absmax
        };
        block.iter().map(value).collect::<Vec<_>>()
    };
    values.chunks(64).flat_map(block).collect()
}

/// NVFP4 of compressed-tensors has a divisor.
fn divides(of: (QuantLayout, QuantScheme)) -> bool {
    of == (QuantLayout::CompressedTensors, QuantScheme::Nvfp4)
}

fn wanted(of: (QuantLayout, QuantScheme), values: &[f32], cols: usize, shared: f64) -> Vec<f64> {
    if divides(of) { divided(values, cols, shared) } else { expected(of.1, values, cols, shared) }
}

/// Fails unless these are the wanted values. A quotient by a divisor is rounded first, so the other of two codes that are about equally near
/// may be chosen.
#[track_caller]
fn same(what: &str, of: (QuantLayout, QuantScheme), values: &[f32], have: &[f32], want: &[f64]) {
    assert_eq!((have.len(), values.len()), (want.len(), want.len()), "{what}");
    for (i, ((x, have), want)) in values.iter().zip(have).zip(want).enumerate() {
        let [x, have] = [x, have].map(|x| f64::from(*x));
        let is_near = (have - x).abs() <= (want - x).abs() + 1e-6 * x.abs();
        let is_same = have == f64::from(*want as f32);
        assert!(is_same || divides(of) && is_near, "{what}, element {i} of {x}: {have} {want}");
    }
}

#[test]
fn every_layout_and_scheme_decodes_to_the_nearest_values() {
    let root = tempfile::tempdir().expect("a folder");
    let src = model(root.path(), "src");
    let mut combinations = 0;
    for (layout, scheme) in all() {
        let what = format!("{layout} {scheme}");
        let dst = root.path().join(&what);
        let report =
            run(&src, &dst, &QuantizeOptions::new(scheme, layout)).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(
            (report.weights_quantized, report.tensors_copied),
            (WEIGHTS.len(), OTHERS.len()),
            "{what}"
        );
        assert_eq!(report.warnings, [] as [&str; 0], "{what}");
        let checkpoint = Checkpoint::open(&dst).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(
            checkpoint.layout() != "plain" && checkpoint.warnings().iter().all(|w| w.contains("padding")),
            "{what}"
        );
        for (module, rows, cols) in WEIGHTS {
            let name = format!("{module}.weight");
            let values = values(&name, rows * cols);
            let want = match layout {
                QuantLayout::BitsAndBytes => bitsandbytes(&dst, &name, scheme, &values, *cols),
                _ => wanted((layout, scheme), &values, *cols, shared(module)),
            };
            let have = decoded(&checkpoint, &name);
            same(&format!("{what} {name}"), (layout, scheme), &values, &have, &want);
        }
        for (name, shape) in OTHERS {
            let n = shape.iter().product::<u64>() as usize;
            assert_eq!(decoded(&checkpoint, name), values(name, n), "{what} {name}");
        }
        assert!(dst.join("tokenizer.json").exists());
        let plain = root.path().join(format!("{what} plain"));
        let back = dequantize(&dst, &plain, &Options::to(Float32), Callbacks::default()).expect(&what);
        assert_eq!((back.tensors_decoded, back.tensors_copied), (WEIGHTS.len(), OTHERS.len()), "{what}");
        assert_eq!(back.warnings.iter().filter(|w| !w.contains("padding")).count(), 0, "{what}");
        let text = fs::read_to_string(plain.join("config.json")).expect("a file");
        assert_eq!(text, r#"{"model_type": "llama", "rms_norm_eps": 1e-05, "dtype": "float32"}"#, "{what}");
        combinations += 1;
    }
    assert_eq!(combinations, 20);
}

#[test]
fn fused_weights_share_the_scale_of_the_tensor() {
    let root = tempfile::tempdir().expect("a folder");
    let src = model(root.path(), "src");
    for (layout, end) in
        [(QuantLayout::CompressedTensors, "weight_global_scale"), (QuantLayout::ModelOpt, "weight_scale_2")]
    {
        let dst = root.path().join(layout.name());
        run(&src, &dst, &QuantizeOptions::new(QuantScheme::Nvfp4, layout)).expect("a report");
        let global = |module: &str| stored(&dst, &format!("model.layers.0.{module}.{end}")).2;
        assert_eq!(global("self_attn.q_proj"), global("self_attn.k_proj"));
        assert_eq!(global("self_attn.q_proj"), global("self_attn.v_proj"));
        assert_eq!(global("mlp.gate_proj"), global("mlp.up_proj"));
        assert_ne!(global("self_attn.q_proj"), global("self_attn.o_proj"));
        // They would differ alone.
        let largest = |module: &str, n| {
            values(&format!("model.layers.0.{module}.weight"), n).iter().fold(0.0_f32, |a, x| a.max(x.abs()))
        };
        assert_ne!(largest("self_attn.q_proj", 128 * 128), largest("self_attn.k_proj", 32 * 128));
    }
}

#[test]
fn configurations_are_those_that_loaders_read() {
    let root = tempfile::tempdir().expect("a folder");
    let src = model(root.path(), "src");
    let of = |layout: QuantLayout, scheme: QuantScheme| {
        let dst = root.path().join(format!("{layout}-{scheme}"));
        let ignore = vec!["*.self_attn.[qkv]_proj".to_owned()];
        run(&src, &dst, &QuantizeOptions { ignore, ..QuantizeOptions::new(scheme, layout) })
            .expect("a report");
        dst
    };
    let mut ignored: Vec<String> =
        ["lm_head", "model.embed_tokens", "model.layers.0.mlp.gate", "model.layers.0.self_attn.qkv_proj"]
            .into_iter()
            .chain(WEIGHTS.iter().map(|(module, ..)| *module).filter(|module| {
                "qkv".contains(&module[module.len() - 6..module.len() - 5]) && module.contains("attn")
            }))
            .map(str::to_owned)
            .collect();
    ignored.sort();
    let sorted = |list: &Value| {
        let mut list: Vec<String> = serde_json::from_value(list.clone()).expect("a list");
        list.sort();
        list
    };

    let ct = config(&of(QuantLayout::CompressedTensors, QuantScheme::Fp8Dynamic));
    assert_eq!(sorted(&ct["ignore"]), ignored);
    assert_eq!(
        (&ct["quant_method"], &ct["format"], &ct["quantization_status"]),
        (&json!("compressed-tensors"), &json!("float-quantized"), &json!("compressed"))
    );
    assert_eq!(
        ct["config_groups"]["group_0"],
        json!({"format": "float-quantized", "targets": ["Linear"], "output_activations": null,
            "weights": {"num_bits": 8, "type": "float", "symmetric": true, "strategy": "channel", "group_size": null, "dynamic": false},
            "input_activations": {"num_bits": 8, "type": "float", "symmetric": true, "strategy": "token", "group_size": null, "dynamic": true}})
    );
    let nvfp4 = config(&of(QuantLayout::CompressedTensors, QuantScheme::Nvfp4));
    let group = &nvfp4["config_groups"]["group_0"];
    assert_eq!(
        (&group["weights"]["strategy"], &group["weights"]["group_size"]),
        (&json!("tensor_group"), &json!(16))
    );
    assert_eq!(group["input_activations"], Value::Null);

    let deepseek = config(&of(QuantLayout::DeepSeek, QuantScheme::Fp8Block));
    assert_eq!(sorted(&deepseek["modules_to_not_convert"]), ignored);
    assert_eq!(
        (&deepseek["quant_method"], &deepseek["weight_block_size"], deepseek.get("scale_fmt")),
        (&json!("fp8"), &json!([128, 128]), None)
    );

    let folder = of(QuantLayout::ModelOpt, QuantScheme::Nvfp4);
    let modelopt = config(&folder);
    let other = fs::read(folder.join("hf_quant_config.json")).expect("a file");
    let other: Value = serde_json::from_slice(&other).expect("JSON");
    assert_eq!(
        (&modelopt["quant_algo"], &modelopt["quant_method"]),
        (&json!("W4A16_NVFP4"), &json!("modelopt"))
    );
    assert_eq!(
        (sorted(&modelopt["ignore"]), sorted(&other["quantization"]["exclude_modules"])),
        (ignored.clone(), ignored.clone())
    );
    assert_eq!(
        (&other["quantization"]["quant_algo"], &other["quantization"]["group_size"]),
        (&json!("W4A16_NVFP4"), &json!(16))
    );
    assert_eq!(other["producer"]["name"], "modelopt");

    let mxfp8 = config(&of(QuantLayout::Mxfp8, QuantScheme::Mxfp8));
    assert_eq!((&mxfp8["quant_method"], &mxfp8["weight_block_size"]), (&json!("mxfp8"), &json!([1, 32])));
    let bnb = config(&of(QuantLayout::BitsAndBytes, QuantScheme::Fp4));
    assert_eq!(
        (&bnb["load_in_4bit"], &bnb["bnb_4bit_quant_type"], sorted(&bnb["llm_int8_skip_modules"])),
        (&json!(true), &json!("fp4"), ignored)
    );
}

#[test]
fn maps_give_weights_schemes_of_their_own() {
    let root = tempfile::tempdir().expect("a folder");
    let src = model(root.path(), "src");
    for layout in [QuantLayout::CompressedTensors, QuantLayout::ModelOpt, QuantLayout::Comfy] {
        let base = if layout == QuantLayout::Comfy { QuantScheme::Fp8Tensor } else { QuantScheme::Fp8Block };
        let dst = root.path().join(layout.name());
        // The last pattern would match all; the head stays without one.
        let map = [
            ("*.down_proj", QuantScheme::Mxfp8),
            ("lm_head.weight", QuantScheme::Nvfp4),
            ("*.down*", QuantScheme::Nvfp4),
        ];
        let map: Vec<(String, QuantScheme)> =
            map.iter().map(|(glob, scheme)| (glob.to_string(), *scheme)).collect();
        let report = run(&src, &dst, &QuantizeOptions { map, ..QuantizeOptions::new(base, layout) })
            .expect("a report");
        assert_eq!(report.weights_quantized, WEIGHTS.len() + 1);
        let checkpoint = Checkpoint::open(&dst).unwrap_or_else(|e| panic!("{layout}: {e}"));
        for (module, rows, cols) in WEIGHTS {
            let scheme = if module.ends_with("down_proj") { QuantScheme::Mxfp8 } else { base };
            let name = format!("{module}.weight");
            let want = expected(scheme, &values(&name, rows * cols), *cols, 0.0);
            let have = decoded(&checkpoint, &name);
            assert!(have.iter().zip(&want).all(|(have, want)| *have == *want as f32), "{layout} {name}");
        }
        let head = values("lm_head.weight", 16 * 128);
        let amax = head.iter().fold(0.0_f64, |a, x| a.max(f64::from(x.abs())));
        let want = wanted((layout, QuantScheme::Nvfp4), &head, 128, amax);
        let have = decoded(&checkpoint, "lm_head.weight");
        same(&format!("{layout}"), (layout, QuantScheme::Nvfp4), &head, &have, &want);
    }
    let ct = config(&root.path().join("compressed-tensors"));
    assert_eq!(
        (&ct["format"], ct["config_groups"].as_object().map(|groups| groups.len())),
        (&json!("mixed-precision"), Some(3))
    );
    assert_eq!(ct["config_groups"]["group_1"]["targets"], json!(["model.layers.0.mlp.down_proj"]));
    let modelopt = config(&root.path().join("modelopt"));
    assert_eq!(modelopt["quant_algo"], "MIXED_PRECISION");
    assert_eq!(
        modelopt["quantized_layers"]["model.layers.0.mlp.down_proj"],
        json!({"quant_algo": "MXFP8", "group_size": 32})
    );
    // Parts of a fused layer that differ are a warning.
    let map = vec![("*.q_proj".to_owned(), QuantScheme::Mxfp8)];
    let options =
        QuantizeOptions { map, ..QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors) };
    let report = run(&src, &root.path().join("torn"), &options).expect("a report");
    assert!(
        report.warnings.iter().any(|warning| warning.contains("k_proj") && warning.contains("vLLM")),
        "{:?}",
        report.warnings
    );
}

/// The tables and codes of bitsandbytes itself: its decoded weights are quantized to the same bytes.
#[test]
fn tables_are_those_of_bitsandbytes() {
    let (goldens, root) = (Goldens::unpack(), tempfile::tempdir().expect("a folder"));
    for (name, scheme, double_quant) in [
        ("bnb_nf4", QuantScheme::Nf4, false),
        ("bnb_fp4", QuantScheme::Fp4, false),
        ("bnb_nf4_nested", QuantScheme::Nf4, true),
    ] {
        let (plain, dst) = (root.path().join(format!("{name} plain")), root.path().join(name));
        dequantize(&goldens.path(name), &plain, &Options::to(Float32), Callbacks::default()).expect(name);
        let options =
            QuantizeOptions { double_quant, ..QuantizeOptions::new(scheme, QuantLayout::BitsAndBytes) };
        run(&plain, &dst, &options).expect(name);
        let checkpoint = Checkpoint::open(&goldens.path(name)).expect(name);
        let mut compared = 0;
        for tensor in checkpoint.tensors().iter().filter(|tensor| tensor.layout == "bitsandbytes") {
            let ends: &[&str] = if double_quant {
                &["", ".quant_map", ".nested_quant_map"]
            } else {
                &["", ".quant_map", ".absmax"]
            };
            for end in ends {
                let stored_as = format!("{}{end}", tensor.name);
                let [have, mut want] = [&dst, &goldens.path(name)].map(|folder| stored(folder, &stored_as));
                if (scheme, *end) == (QuantScheme::Fp4, "") {
                    // Both 0 and 8 stand for zero, which has no sign once it is decoded.
                    let zero = |nibble: u8| if nibble == 8 { 0 } else { nibble };
                    want.2.iter_mut().for_each(|pair| *pair = zero(*pair >> 4) << 4 | zero(*pair & 15));
                }
                assert!(have == want, "{name}: {stored_as}");
                compared += 1;
            }
        }
        assert!(compared >= 3, "{name}");
        // Scales that are quantized are off by less than the distance of two of their codes.
        if double_quant {
            let (have, want) = (Checkpoint::open(&dst).expect(name), Checkpoint::open(&plain).expect(name));
            for tensor in checkpoint.tensors().iter().filter(|tensor| tensor.layout == "bitsandbytes") {
                let (have, want) = (decoded(&have, &tensor.name), decoded(&want, &tensor.name));
                assert!(
                    have.iter().zip(&want).all(|(have, want)| (have - want).abs() <= 0.02 * want.abs()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn shapes_of_partial_blocks_are_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let (src, values) = (root.path().join("src"), random(33 * 81, 5));
    fs::create_dir(&src).expect("a folder");
    let bias: (&str, DType, &[u64], Vec<u8>) = ("m.0.up.bias", Float32, &[33], f32s(&[0.5; 33]));
    write(&src.join("model.safetensors"), &[("m.0.up.weight", BFloat16, &[33, 81], halves(&values)), bias]);
    fs::write(src.join("config.json"), "{}").expect("a file");
    for (layout, scheme) in all() {
        let dst = root.path().join(format!("{layout} {scheme}"));
        let options = QuantizeOptions::new(scheme, layout);
        let groups = !matches!(
            scheme,
            QuantScheme::Mxfp8 | QuantScheme::Mxfp4 | QuantScheme::Nvfp4 | QuantScheme::W4a16
        );
        if !groups && layout != QuantLayout::Comfy {
            let error = run(&src, &dst, &options).expect_err("81 columns").to_string();
            assert!(error.contains("no weight"), "{layout} {scheme}: {error}");
            continue;
        }
        run(&src, &dst, &options).unwrap_or_else(|e| panic!("{layout} {scheme}: {e}"));
        let checkpoint = Checkpoint::open(&dst).expect("a checkpoint");
        let tensor = checkpoint.find("m.0.up.weight").expect("a weight");
        let cols = tensor.shape[1];
        assert_eq!(tensor.shape[0], 33, "{layout} {scheme}");
        let amax = values.iter().fold(0.0_f64, |a, x| a.max(f64::from(x.abs())));
        let padded: Vec<f32> =
            values.chunks(81).flat_map(|row| row.iter().copied().chain(vec![0.0; cols - 81])).collect();
        let want = match layout {
            QuantLayout::BitsAndBytes => bitsandbytes(&dst, "m.0.up.weight", scheme, &values, 81),
            _ => expected(scheme, &padded, cols, amax),
        };
        let have = decoded(&checkpoint, "m.0.up.weight");
        assert!(
            have.len() == want.len() && have.iter().zip(&want).all(|(have, want)| *have == *want as f32),
            "{layout} {scheme}"
        );
    }
}

#[test]
fn shards_keep_their_tensors_and_failures_leave_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let src = root.path().join("src");
    fs::create_dir(&src).expect("a folder");
    let up = |last: f32| {
        let mut values = random(64 * 32, 1);
        values[5] = last;
        halves(&values)
    };
    write(&src.join("a.safetensors"), &[("m.0.up.weight", BFloat16, &[64, 32], up(0.0))]);
    write(
        &src.join("b.safetensors"),
        &[("m.1.up.weight", BFloat16, &[64, 32], up(1.0)), ("m.norm.weight", BFloat16, &[2], vec![1; 4])],
    );
    let index = r#"{"metadata": {"total_size": 1, "total_parameters": 9}, "weight_map":
        {"m.0.up.weight": "a.safetensors", "m.1.up.weight": "b.safetensors", "m.norm.weight": "b.safetensors"}}"#;
    fs::write(src.join("model.safetensors.index.json"), index).expect("a file");
    fs::write(src.join("config.json"), "{}").expect("a file");
    let options = QuantizeOptions::new(QuantScheme::Mxfp8, QuantLayout::Mxfp8);
    let dst = root.path().join("dst");
    let report = run(&src, &dst, &options).expect("a report");
    let index: Value =
        serde_json::from_slice(&fs::read(dst.join("model.safetensors.index.json")).expect("a file"))
            .expect("JSON");
    let map: BTreeMap<String, String> = serde_json::from_value(index["weight_map"].clone()).expect("a map");
    let map: Vec<(&str, &str)> = map.iter().map(|(name, file)| (&**name, &**file)).collect();
    assert_eq!(
        map,
        [
            ("m.0.up.weight", "a.safetensors"),
            ("m.0.up.weight_scale_inv", "a.safetensors"),
            ("m.1.up.weight", "b.safetensors"),
            ("m.1.up.weight_scale_inv", "b.safetensors"),
            ("m.norm.weight", "b.safetensors"),
        ]
    );
    assert_eq!(
        (&index["metadata"]["total_size"], report.bytes_out),
        (&json!(2 * (64 * 32 + 64) + 4), 2 * (64 * 32 + 64) + 4)
    );
    assert_eq!((&index["metadata"]["total_parameters"], report.bytes_in), (&json!(9), 2 * 64 * 32 * 2 + 4));
    assert!(matches!(run(&src, &dst, &options), Err(Error::Exists(_))));
    assert!(matches!(run(&dst, &root.path().join("x"), &options), Err(Error::Request(_))));
    let file = src.join("a.safetensors");
    assert!(matches!(run(&file, &root.path().join("x"), &options), Err(Error::Request(_))));

    let cancelled = || true;
    let callbacks = Callbacks { progress: None, cancelled: Some(&cancelled) };
    assert!(matches!(quantize(&src, &root.path().join("x"), &options, callbacks), Err(Error::Cancelled)));
    for scheme in [QuantScheme::Mxfp8, QuantScheme::Nvfp4, QuantScheme::Fp8Dynamic] {
        write(&src.join("a.safetensors"), &[("m.0.up.weight", BFloat16, &[64, 32], up(f32::INFINITY))]);
        let options = QuantizeOptions::new(scheme, QuantLayout::ModelOpt);
        let error = run(&src, &root.path().join("x"), &options).expect_err("infinity");
        assert!(matches!(error, Error::Loss(_)) && error.to_string().contains("m.0.up.weight"), "{error}");
    }
    assert!(!root.path().join("x").exists());
}

#[test]
fn one_file_of_comfyui_becomes_one_file() {
    let root = tempfile::tempdir().expect("a folder");
    let (src, dst) = (root.path().join("a.safetensors"), root.path().join("b.safetensors"));
    let values = random(64 * 64, 9);
    write(&src, &[("model.diffusion_model.blocks.0.mlp.weight", BFloat16, &[64, 64], halves(&values))]);
    run(&src, &dst, &QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::Comfy)).expect("a report");
    let checkpoint = Checkpoint::open(&dst).expect("a checkpoint");
    assert_eq!(checkpoint.layout(), "ComfyUI");
    let amax = values.iter().fold(0.0_f64, |a, x| a.max(f64::from(x.abs())));
    let want = expected(QuantScheme::Nvfp4, &values, 64, amax);
    let have = decoded(&checkpoint, "model.diffusion_model.blocks.0.mlp.weight");
    assert!(have.iter().zip(&want).all(|(have, want)| *have == *want as f32));
}

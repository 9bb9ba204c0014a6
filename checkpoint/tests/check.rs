//! Every kind of finding, in a folder that has just this fault; and golden checkpoints, which have none.

use std::{fs, path::Path};

use lanecast::DType::{self, BFloat16, Float8E4M3FN, Float32, Int32, Int64, UInt8, UInt32};
use lanecast_checkpoint::{Error, Finding, Kind, Loader, Severity, check};
use tempfile::TempDir;

use crate::common::{Goldens, write};

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A folder with a configuration and `model.safetensors`.
fn folder(config: &str, tensors: &[Tensor<'_>]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    folder
}

fn findings(path: &Path, loader: Option<Loader>) -> Vec<Finding> {
    check(path, loader).expect("a result").findings
}

/// Expects one finding of this kind, about this tensor, and with these parts.
#[track_caller]
fn only(path: &Path, loader: Option<Loader>, kind: Kind, tensor: &str, parts: &[&str]) -> Finding {
    let mut all = findings(path, loader);
    assert_eq!(all.len(), 1, "{all:#?}");
    let finding = all.remove(0);
    assert_eq!((finding.kind, finding.tensor.as_deref()), (kind, Some(tensor)), "{finding}");
    let line = finding.to_string();
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    assert!(line.contains("model.safetensors") && line.contains(&format!("tensor \"{tensor}\"")), "{line}");
    assert_eq!(line.lines().count(), 1);
    finding
}

const FP8: &str = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;

/// Block fp8: a weight of 2 by 4 with one scale.
fn fp8<'t>(module: &'t [&'t str; 2], scale: f32) -> [Tensor<'t>; 2] {
    [(module[0], Float8E4M3FN, &[2, 4], vec![0x38; 8]), (module[1], Float32, &[1, 1], f32s(&[scale]))]
}

const UP: [&str; 2] = ["l.0.mlp.up_proj.weight", "l.0.mlp.up_proj.weight_scale_inv"];
const GATE: [&str; 2] = ["l.0.mlp.gate_proj.weight", "l.0.mlp.gate_proj.weight_scale_inv"];
const DOWN: [&str; 2] = ["l.0.mlp.down_proj.weight", "l.0.mlp.down_proj.weight_scale_inv"];

/// Golden checkpoints with findings: shapes that only the model knows, zero points that kernels read differently, and a pair of weights that
/// was quantized one by one.
const FOUND: &[(&str, Kind)] = &[
    ("comfy_mxfp8", Kind::Ambiguous),
    ("comfy_nvfp4", Kind::Ambiguous),
    ("ct_mixed", Kind::FusedSet),
    ("gptq_v1_asym", Kind::Ambiguous),
];

#[test]
fn golden_checkpoints_have_no_other_findings() {
    let goldens = Goldens::unpack();
    for name in goldens.names() {
        let checked = check(&goldens.path(&name), None).expect("a result");
        let mut kinds: Vec<Kind> = checked.findings.iter().map(|finding| finding.kind).collect();
        kinds.dedup();
        let want: Vec<Kind> = FOUND.iter().filter(|(of, _)| *of == name).map(|(_, kind)| *kind).collect();
        assert_eq!(kinds, want, "{name}: {:#?}", checked.findings);
        assert!(checked.weights > 0 && checked.tensors > checked.weights, "{name}: {checked:?}");
    }
}

#[test]
fn all_findings_are_reported() {
    let mut tensors = fp8(&UP, f32::NAN).to_vec();
    tensors.extend(fp8(&GATE, 1.0).into_iter().take(1));
    tensors.extend(fp8(&DOWN, 0.0));
    tensors.push(("l.1.mlp.up_proj.weight_scale_inv", Float32, &[1, 1], f32s(&[1.0])));
    let folder = folder(FP8, &tensors);
    let kinds: Vec<_> = findings(folder.path(), None)
        .into_iter()
        .map(|finding| (finding.kind, finding.tensor.unwrap_or_default()))
        .collect();
    let want = [
        (Kind::Invalid, GATE[0].to_owned()),
        (Kind::Invalid, "l.1.mlp.up_proj.weight_scale_inv".to_owned()),
        (Kind::ZeroScale, DOWN[1].to_owned()),
        (Kind::NotFinite, UP[1].to_owned()),
    ];
    assert_eq!(kinds, want);
}

#[test]
fn partners_dtypes_and_shapes_must_fit() {
    let of = |scale: Tensor<'_>| folder(FP8, &[fp8(&UP, 1.0)[0].clone(), scale]);
    let missing = folder(FP8, &fp8(&UP, 1.0)[..1]);
    only(missing.path(), None, Kind::Invalid, UP[0], &["error: ", "need scales", "missing"]);
    let alone = folder(FP8, &fp8(&UP, 1.0)[1..]);
    only(alone.path(), None, Kind::Invalid, UP[1], &["belongs to no weight"]);
    let shape = of((UP[1], Float32, &[2, 1], f32s(&[1.0, 1.0])));
    only(shape.path(), None, Kind::Invalid, UP[1], &["[2, 1]", "[1, 1]"]);
    let dtype = of((UP[1], Int32, &[1, 1], vec![0; 4]));
    only(dtype.path(), None, Kind::Invalid, UP[1], &["must be float32"]);
}

/// The parts of a weight that is at fault are no faults of their own.
#[test]
fn a_faulty_weight_is_one_finding() {
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":8,"group_size":4}}"#;
    let tensors: [Tensor<'_>; 3] = [
        ("m.up.qweight", Int32, &[2, 12], vec![1; 96]),
        ("m.up.qzeros", Int32, &[3, 2], vec![1; 24]),
        ("m.up.scales", Float32, &[2, 12], f32s(&[1.0; 24])),
    ];
    only(folder(gptq, &tensors).path(), None, Kind::Invalid, "m.up.qzeros", &["[3, 2]", "[2, 3]"]);
}

#[test]
fn configurations_must_be_known() {
    let unknown = folder(r#"{"quantization_config":{"quant_method":"unheard-of"}}"#, &fp8(&UP, 1.0));
    let all = findings(unknown.path(), None);
    assert_eq!((all.len(), all[0].kind), (1, Kind::Unsupported), "{all:#?}");
    assert!(all[0].what.contains("unheard-of"), "{}", all[0]);
    assert!(all[0].file.as_ref().is_some_and(|file| file.ends_with("config.json")), "{}", all[0]);
    let broken = folder("{", &[("m.norm", Float32, &[1], f32s(&[1.0]))]);
    let all = findings(broken.path(), None);
    assert_eq!((all.len(), all[0].kind), (1, Kind::Invalid), "{all:#?}");
    assert!(matches!(check(&broken.path().join("nowhere"), None), Err(Error::Io(..))));
}

#[test]
fn the_index_must_fit_the_files() {
    let one = |name: &str| -> Vec<Tensor<'static>> {
        vec![(Box::leak(name.to_owned().into_boxed_str()), Float32, &[1], f32s(&[1.0]))]
    };
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder.path().join("a.safetensors"), &one("m.a"));
    write(&folder.path().join("b.safetensors"), &one("m.b"));
    let index = |size: u64, map: &str| {
        let text = format!(r#"{{"metadata":{{"total_size":{size}}},"weight_map":{{{map}}}}}"#);
        fs::write(folder.path().join("model.safetensors.index.json"), text).expect("a file");
        let findings = findings(folder.path(), None);
        findings.into_iter().map(|finding| (finding.kind, finding.tensor, finding.what)).collect::<Vec<_>>()
    };
    let map = r#""m.a":"a.safetensors","m.b":"b.safetensors""#;
    assert_eq!(index(8, map), []);
    let all = index(12, map);
    assert_eq!((all.len(), all[0].0), (1, Kind::TotalSize), "{all:?}");
    assert!(all[0].2.contains("12 bytes") && all[0].2.contains("have 8"), "{all:?}");
    // Two faults of tensors, and a shard that is not there.
    let all = index(8, r#""m.a":"b.safetensors","m.b":"b.safetensors","m.c":"a.safetensors""#);
    let tensors: Vec<_> = all.iter().map(|(kind, tensor, _)| (*kind, tensor.as_deref())).collect();
    assert_eq!(tensors, [(Kind::Invalid, Some("m.a")), (Kind::Invalid, Some("m.c"))], "{all:?}");
    let all = index(4, r#""m.a":"a.safetensors","m.b":"c.safetensors""#);
    let kinds: Vec<_> = all.iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, [Kind::Unreadable, Kind::Ambiguous], "{all:?}");
    assert!(all[1].2.contains("\"b.safetensors\""), "{all:?}");
}

#[test]
fn numbered_files_must_be_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    write(&folder.path().join("m-00001-of-00003.safetensors"), &[("a", Float32, &[1], f32s(&[1.0]))]);
    write(&folder.path().join("m-00002-of-00003.safetensors"), &[("a", Float32, &[1], f32s(&[1.0]))]);
    let all = findings(folder.path(), None);
    let text: Vec<String> = all.iter().map(Finding::to_string).collect();
    assert_eq!(all.len(), 2, "{text:?}");
    assert!(text[0].contains("m-00003-of-00003"), "{text:?}");
    assert!(text[1].contains("same name") && all[1].tensor.as_deref() == Some("a"), "{text:?}");
}

#[test]
fn scales_are_finite() {
    for (value, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let folder = folder(FP8, &fp8(&UP, value));
        let finding =
            only(folder.path(), None, Kind::NotFinite, UP[1], &["1 scale is", "block (0, 0)", text]);
        assert_eq!(finding.severity, Severity::Error);
    }
    let config = r#"{"quantization":{"group_size":32,"bits":8}}"#;
    let mlx: [Tensor<'_>; 3] = [
        ("m.up.weight", UInt32, &[2, 8], vec![1; 64]),
        ("m.up.scales", Float32, &[2, 1], f32s(&[1.0, 0.0])),
        ("m.up.biases", Float32, &[2, 1], f32s(&[f32::NAN, f32::INFINITY])),
    ];
    only(folder(config, &mlx).path(), None, Kind::NotFinite, "m.up.biases", &["2 biases are", "NaN"]);
}

/// A scale of zero is right where all codes are zero points.
#[test]
fn scales_of_zero_hide_codes() {
    let zero = folder(FP8, &fp8(&UP, 0.0));
    let finding = only(zero.path(), None, Kind::ZeroScale, UP[1], &["1 block", "scale 0"]);
    assert_eq!(finding.severity, Severity::Warning);
    let codes: Tensor<'_> = (UP[0], Float8E4M3FN, &[2, 4], vec![0, 0x80, 0, 0, 0, 0, 0, 0]);
    let empty = folder(FP8, &[codes, fp8(&UP, 0.0)[1].clone()]);
    assert_eq!(findings(empty.path(), None), []);

    // Down the columns, with zero points: 8 bits, two rows of groups. Stored zero points are less one.
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":8,"group_size":4}}"#;
    let part = |codes: Vec<u8>, scales: [f32; 8]| {
        let tensors: [Tensor<'_>; 3] = [
            ("m.up.qweight", Int32, &[2, 4], codes),
            ("m.up.qzeros", Int32, &[2, 1], vec![6; 8]),
            ("m.up.scales", Float32, &[2, 4], f32s(&scales)),
        ];
        folder(gptq, &tensors)
    };
    let scales = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
    assert_eq!(findings(part(vec![7; 32], scales).path(), None), []);
    let mut codes = vec![7; 32];
    // Word (0, 1) has rows 0 to 3 of column 1, and word (1, 3) rows 4 to 7 of column 3.
    (codes[4 + 2], codes[16 + 12]) = (8, 0);
    only(part(codes, scales).path(), None, Kind::ZeroScale, "m.up.scales", &["2 blocks"]);
}

/// A configuration of compressed-tensors with one group.
fn compressed(format: &str, weights: &str, more: &str) -> String {
    format!(
        r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"{format}","config_groups":{{"a":{{"targets":["Linear"],"weights":{{{weights}}}{more}}}}}}}}}"#
    )
}

#[test]
fn fused_weights_share_their_global_scale_and_their_storage() {
    let config = compressed("nvfp4-pack-quantized", "", "");
    let part = |codes: &'static str,
                scale: &'static str,
                global: &'static str,
                value: f32|
     -> [Tensor<'static>; 3] {
        [
            (codes, UInt8, &[2, 8], vec![0x22; 16]),
            (scale, Float8E4M3FN, &[2, 1], vec![0x38; 2]),
            (global, Float32, &[1], f32s(&[value])),
        ]
    };
    let q = |value| {
        part(
            "l.0.attn.q_proj.weight_packed",
            "l.0.attn.q_proj.weight_scale",
            "l.0.attn.q_proj.weight_global_scale",
            value,
        )
    };
    let k = |value| {
        part(
            "l.0.attn.k_proj.weight_packed",
            "l.0.attn.k_proj.weight_scale",
            "l.0.attn.k_proj.weight_global_scale",
            value,
        )
    };
    assert_eq!(findings(folder(&config, &[q(2.0), k(2.0)].concat()).path(), Some(Loader::Vllm)), []);
    let unequal = folder(&config, &[q(2.0), k(4.0)].concat());
    let first = "l.0.attn.q_proj.weight_packed";
    let name = if findings(unequal.path(), None)[0].tensor.as_deref() == Some(first) {
        first
    } else {
        "l.0.attn.k_proj.weight_packed"
    };
    let finding = only(unequal.path(), None, Kind::FusedSet, name, &["q_proj 2", "k_proj 4", "\"l.0.attn\""]);
    assert_eq!(finding.severity, Severity::Warning);
    let finding = only(unequal.path(), Some(Loader::Vllm), Kind::FusedSet, name, &["q_proj 2"]);
    assert_eq!(finding.severity, Severity::Error);
    assert_eq!(findings(unequal.path(), Some(Loader::Transformers)), []);

    let plain: Tensor<'_> = (GATE[0], BFloat16, &[2, 4], vec![0; 16]);
    let mixed = folder(FP8, &[&fp8(&UP, 1.0)[..], &[plain]].concat());
    let all = findings(mixed.path(), None);
    assert_eq!((all.len(), all[0].kind), (1, Kind::FusedSet), "{all:#?}");
    assert!(all[0].what.contains("bfloat16") && all[0].what.contains("float8_e4m3fn"), "{}", all[0]);
}

#[test]
fn static_activations_and_caches_have_scales() {
    let config = r#"{"quantization_config":{"quant_method":"fp8","activation_scheme":"static"}}"#;
    let of = |more: &[Tensor<'_>]| {
        let codes: Tensor<'_> = (UP[0], Float8E4M3FN, &[2, 4], vec![0x38; 8]);
        let scale: Tensor<'_> = ("l.0.mlp.up_proj.weight_scale", Float32, &[], f32s(&[1.0]));
        folder(config, &[&[codes, scale], more].concat())
    };
    let input =
        |value| -> [Tensor<'static>; 1] { [("l.0.mlp.up_proj.input_scale", Float32, &[], f32s(&[value]))] };
    assert_eq!(findings(of(&input(0.5)).path(), None), []);
    only(of(&[]).path(), None, Kind::ActivationScale, UP[0], &["static activations", "input_scale"]);
    let one = of(&input(1.0));
    only(one.path(), None, Kind::ActivationScale, "l.0.mlp.up_proj.input_scale", &["is 1"]);

    let cache = FP8.replace("\"quant_method\"", "\"kv_cache_scheme\":{\"num_bits\":8},\"quant_method\"");
    let all = findings(folder(&cache, &fp8(&UP, 1.0)).path(), None);
    assert_eq!((all.len(), all[0].kind), (1, Kind::CacheScale), "{all:#?}");
    let scale: Tensor<'_> = ("l.0.mlp.k_scale", Float32, &[], f32s(&[1.0]));
    assert_eq!(findings(folder(&cache, &[&fp8(&UP, 1.0)[..], &[scale]].concat()).path(), None), []);
}

/// ComfyUI has no configuration: a scale of inputs of one layer asks for those of all.
#[test]
fn layers_of_comfyui_have_scales_of_inputs_or_none_has() {
    let text = br#"{"format":"float8_e4m3fn"}"#;
    let new = |names: [&'static str; 4], input: Option<f32>| -> Vec<Tensor<'static>> {
        let codes = (names[0], Float8E4M3FN, &[2, 4][..], vec![0x38; 8]);
        let description = (names[1], UInt8, &[26][..], text.to_vec());
        let scale = (names[2], Float32, &[][..], f32s(&[1.0]));
        let input = input.map(|value| (names[3], Float32, &[][..], f32s(&[value])));
        [codes, description, scale].into_iter().chain(input).collect()
    };
    let a = ["a.weight", "a.comfy_quant", "a.weight_scale", "a.input_scale"];
    let b = ["b.weight", "b.comfy_quant", "b.weight_scale", "b.input_scale"];
    let of = |x, y| folder("{}", &[new(a, x), new(b, y)].concat());
    assert_eq!(findings(of(None, None).path(), None), []);
    assert_eq!(findings(of(Some(0.5), Some(0.25)).path(), None), []);
    only(of(Some(0.5), None).path(), None, Kind::ActivationScale, "b.weight", &["other weights"]);
    only(of(Some(0.5), Some(1.0)).path(), None, Kind::ActivationScale, "b.input_scale", &["is 1"]);
    // The older name with 1 is no scale.
    let old = |module: [&'static str; 3], input: f32| -> [Tensor<'static>; 3] {
        let codes = (module[0], Float8E4M3FN, &[2, 4][..], vec![0x38; 8]);
        let scale = (module[1], Float32, &[][..], f32s(&[1.0]));
        [codes, scale, (module[2], Float32, &[][..], f32s(&[input]))]
    };
    let (a, b) =
        (["a.weight", "a.scale_weight", "a.scale_input"], ["b.weight", "b.scale_weight", "b.scale_input"]);
    let marker: Tensor<'_> = ("scaled_fp8", Float8E4M3FN, &[0], Vec::new());
    let of = |x, y| folder("{}", &[&[marker.clone()][..], &old(a, x), &old(b, y)].concat());
    assert_eq!(findings(of(1.0, 1.0).path(), None), []);
    only(of(0.5, 1.0).path(), None, Kind::ActivationScale, "b.scale_input", &["is 1"]);
}

#[test]
fn two_configurations_say_the_same() {
    let config = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"fp8_pb_wo","ignore":["lm_head"]}}"#;
    let codes: Tensor<'_> = (UP[0], Float8E4M3FN, &[2, 4], vec![0x38; 8]);
    let scale: Tensor<'_> = ("l.0.mlp.up_proj.weight_scale", Float32, &[], f32s(&[1.0]));
    let folder = folder(config, &[codes, scale]);
    let with = |text: &str| {
        fs::write(folder.path().join("hf_quant_config.json"), text).expect("a file");
        findings(folder.path(), None)
    };
    let quantization = |algo: &str, list: &str| {
        format!(r#"{{"quantization":{{"quant_algo":"{algo}","exclude_modules":[{list}]}}}}"#)
    };
    assert_eq!(with(&quantization("FP8_PB_WO", "\"lm_head\"")), []);
    for (algo, list, part) in [("FP8", "\"lm_head\"", "FP8_PB_WO"), ("FP8_PB_WO", "\"head\"", "head")] {
        let all = with(&quantization(algo, list));
        assert_eq!((all.len(), all[0].kind), (1, Kind::Configuration), "{all:#?}");
        assert!(all[0].what.contains(part), "{}", all[0]);
    }
}

#[test]
fn lists_of_plain_modules_fit_the_loader() {
    let list = |entries: &str| {
        FP8.replace("\"quant_method\"", &format!("\"modules_to_not_convert\":[{entries}],\"quant_method\""))
    };
    let plain: Tensor<'_> = ("model.layers.1.mlp.down_proj.weight", BFloat16, &[2, 4], vec![0; 16]);
    let tensors = [&fp8(&DOWN, 1.0)[..], std::slice::from_ref(&plain)].concat();
    let kinds = |entries: &str, loader| -> Vec<_> {
        findings(folder(&list(entries), &tensors).path(), Some(loader))
            .into_iter()
            .map(|of| (of.kind, of.tensor))
            .collect()
    };
    let all = [Loader::Vllm, Loader::Sglang, Loader::Transformers];
    for loader in all {
        assert_eq!(kinds("\"model.layers.1.mlp.down_proj\"", loader), [], "{loader:?}");
        let unlisted = (Kind::SkipList, Some(plain.0.to_owned()));
        assert_eq!(kinds("\"lm_head\"", loader), [unlisted], "{loader:?}");
    }
    // Only some loaders take the beginning of a name.
    let prefix = all.map(|loader| kinds("\"model.layers.1\"", loader).len());
    assert_eq!(prefix, [1, 0, 0]);
    // And some take an entry for more modules than it is meant for.
    let suffix = all.map(|loader| kinds("\"down_proj\"", loader));
    assert_eq!(suffix[0].len(), 1);
    assert_eq!(suffix[1], [(Kind::SkipList, Some(DOWN[0].to_owned()))]);
    assert_eq!(suffix[2], suffix[1]);
}

#[test]
fn loaders_read_some_layouts() {
    let goldens = Goldens::unpack();
    let of = |name: &str, loader| -> Vec<Finding> {
        let all = findings(&goldens.path(name), Some(loader));
        all.into_iter().filter(|finding| finding.kind == Kind::Loader).collect()
    };
    let counts = |name: &str| Loader::ALL.iter().map(|loader| of(name, *loader).len()).collect::<Vec<_>>();
    // vllm, sglang, transformers, llama.cpp, mlx, comfy.
    let want = [
        ("FP8_DYNAMIC", [0, 0, 0, 0, 1, 1]),
        ("modelopt_nvfp4", [0, 0, 1, 0, 0, 1]),
        ("modelopt_mxfp8", [0, 0, 1, 1, 1, 1]),
        ("bnb_nf4", [1, 0, 0, 1, 1, 1]),
        ("gptq_v2", [1, 0, 0, 0, 1, 1]),
        ("gptq_v2_3bit", [2, 0, 0, 1, 2, 1]),
        ("gptq_v1", [0, 0, 0, 0, 2, 1]),
        ("awq_gemm", [0, 0, 0, 1, 0, 1]),
        ("gpt_oss", [0, 0, 0, 0, 0, 1]),
        ("mlx", [1, 1, 1, 1, 0, 1]),
        ("torchao", [0, 1, 0, 1, 1, 1]),
        ("comfy_fp8", [1, 1, 1, 1, 1, 0]),
        ("mxfp8_sglang", [1, 0, 0, 1, 0, 1]),
        // The last tile of 144 rows is partial.
        ("deepseek_v3", [0, 0, 1, 0, 1, 1]),
        ("gguf_mixed", [1, 1, 0, 0, 1, 1]),
    ];
    for (name, want) in want {
        assert_eq!(counts(name), want, "{name}");
    }
    let blocks = &of("gguf_mixed", Loader::Sglang)[0];
    assert!(blocks.severity == Severity::Error && blocks.what.contains("it reads only Q4_0"), "{blocks}");
    let unknown = &of("gguf_mixed", Loader::Comfy)[0];
    assert!(unknown.severity == Severity::Warning && unknown.what.contains("not known"), "{unknown}");
    let refused = &of("bnb_nf4", Loader::Vllm)[0];
    assert!(
        refused.severity == Severity::Error && refused.what.contains("vLLM 0.33.0 does not read"),
        "{refused}"
    );
    assert!(of("deepseek_v3", Loader::Transformers)[0].what.contains("last tile is partial"));
}

#[test]
fn limits_of_loaders_are_those_of_the_weights() {
    let kinds = |folder: &TempDir, loader| -> Vec<String> {
        findings(folder.path(), Some(loader)).into_iter().map(|finding| finding.to_string()).collect()
    };
    // Codes of 5 bits in groups of 16; a list of groups.
    let shape: Vec<u8> = [2_i64, 40].iter().flat_map(|n| n.to_le_bytes()).collect();
    let tensors: [Tensor<'_>; 4] = [
        ("m.up.weight_packed", Int32, &[2, 7], vec![1; 56]),
        ("m.up.weight_scale", Float32, &[2, 3], f32s(&[1.0; 6])),
        ("m.up.weight_shape", Int64, &[2], shape),
        ("m.up.weight_g_idx", Int32, &[40], vec![0; 160]),
    ];
    let weights = r#""num_bits":5,"type":"int","strategy":"group","group_size":16"#;
    let packed = folder(&compressed("pack-quantized", weights, ""), &tensors);
    for (loader, want) in [
        (Loader::Vllm, &["weight_g_idx", "whole groups"][..]),
        (Loader::Sglang, &["whole groups"]),
        (Loader::LlamaCpp, &["3, 5, 6 and 7 bits"]),
        (Loader::Mlx, &["groups of 32"]),
        (Loader::Transformers, &[]),
    ] {
        let lines = kinds(&packed, loader);
        assert_eq!(lines.len(), want.len(), "{loader:?}: {lines:#?}");
        assert!(lines.iter().zip(want).all(|(line, part)| line.contains(part)), "{loader:?}: {lines:#?}");
    }
    // Experts of 8 bits need a word in the configuration, in different places.
    let scale = ("layers.0.ffn.experts.0.w1.scale", Float32, &[1_u64, 1][..], f32s(&[1.0]));
    let codes: Tensor<'_> = ("layers.0.ffn.experts.0.w1.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8]);
    let experts = |config: &str| folder(config, &[codes.clone(), scale.clone()]);
    let bare = experts(FP8);
    let top = experts(&FP8.replacen('{', "{\"expert_dtype\":\"fp8\",", 1));
    let inside = experts(&FP8.replace("\"quant_method\"", "\"expert_dtype\":\"fp8\",\"quant_method\""));
    let count = |folder: &TempDir| [Loader::Vllm, Loader::Transformers].map(|of| kinds(folder, of).len());
    assert_eq!([count(&bare), count(&top), count(&inside)], [[1, 1], [0, 1], [1, 0]]);
}

/// Two tensors that have one name in a plain checkpoint.
#[test]
fn names_are_unique() {
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":8,"group_size":4}}"#;
    let tensors: [Tensor<'_>; 4] = [
        ("m.up.qweight", Int32, &[2, 4], vec![1; 32]),
        ("m.up.qzeros", Int32, &[2, 1], vec![1; 8]),
        ("m.up.scales", Float32, &[2, 4], f32s(&[1.0; 8])),
        ("m.up.weight", BFloat16, &[4, 8], vec![0; 64]),
    ];
    let all = findings(folder(gptq, &tensors).path(), None);
    assert_eq!((all.len(), all[0].kind), (1, Kind::Invalid), "{all:#?}");
    assert!(all[0].what.contains("\"m.up.weight\" when they are decoded"), "{}", all[0]);
}

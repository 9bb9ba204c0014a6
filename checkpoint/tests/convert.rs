//! Checkpoints in, checkpoints of other dtypes out.

use std::{collections::BTreeMap, fs, path::Path};

use lanecast::{
    DType::{self, BFloat16, Bool, Float16, Float32, Float64, Int8, Int64},
    half::bf16,
};
use lanecast_checkpoint::{Callbacks, Checkpoint, ConvertOptions, Step, convert};
use lanecast_files::Error;
use serde_json::Value;

use crate::common::{
    Goldens,
    models::{CONFIG, INDEX, f16s, f32s, json, model, names, run, value},
    write,
};

/// The dtype and the bytes of a tensor.
fn tensor(checkpoint: &Checkpoint, name: &str) -> (DType, Vec<u8>) {
    let found = checkpoint.find(name).unwrap_or_else(|| panic!("no {name}"));
    let dtype = found.dtype.expect("a dtype");
    let mut bytes = vec![0; found.elements() * dtype.size()];
    checkpoint.read_bytes(name, dtype, &mut bytes).expect("bytes");
    (dtype, bytes)
}

/// The dtypes of all tensors, by name.
fn dtypes(dst: &Path) -> BTreeMap<String, DType> {
    let checkpoint = Checkpoint::open(dst).expect("a checkpoint");
    let dtype = |tensor: &lanecast_checkpoint::Tensor| (tensor.name.clone(), tensor.dtype.expect("a dtype"));
    checkpoint.tensors().iter().map(dtype).collect()
}

#[test]
fn floats_are_cast_and_all_else_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("new/dst"));
    let options = ConvertOptions { verify: true, ..ConvertOptions::to(Float16) };
    let report = run(&src, &dst, &options).expect("a report");
    let counts = (report.tensors_cast, report.tensors_copied, report.float32_kept, report.tensors_verified);
    // The empty tensor is cast, too.
    assert_eq!(counts, (5, 3, 1, Some(8)));
    assert_eq!(
        (report.bytes_in, report.bytes_out),
        (1200 + 24 + 1400 + 16 + 3 + 10 + 8, 1200 + 24 + 1400 + 16 + 3 + 10 + 2)
    );
    assert!(
        report.losses.is_empty() && report.warnings.is_empty() && report.bytes_resumed == 0,
        "{report:?}"
    );
    let after = Checkpoint::open(&dst).expect("a checkpoint");
    for (name, want) in [
        ("m.0.weight", (Float16, f16s(600))),
        ("m.0.gate.weight", (Float32, f32s(6))),
        ("m.1.weight", (Float16, f16s(700))),
        ("m.ids", (Int64, vec![1; 16])),
        ("m.mask", (Bool, vec![1, 0, 1])),
        ("m.none", (Float16, Vec::new())),
        ("m.head", (Float16, f16s(5))),
        ("m.x", (Float16, vec![0; 2])),
    ] {
        assert!(tensor(&after, name) == want, "{name}");
    }
    assert_eq!(after.tensors().len(), 8);
    let files = [
        "config.json",
        INDEX,
        "s-1.safetensors",
        "s-2.safetensors",
        "s-3.safetensors",
        "sub",
        "tokenizer.json",
    ];
    assert_eq!(names(&dst), files);
    let mut written = report.files;
    written.sort();
    assert_eq!(written, files.map(|name| if name == "sub" { "sub/a.txt" } else { name }));
    let config = fs::read_to_string(dst.join("config.json")).expect("a file");
    assert_eq!(config, CONFIG.replace("bfloat16", "float16"));
    let (old, new) = (json(&src.join(INDEX)), json(&dst.join(INDEX)));
    assert_eq!(new["metadata"], serde_json::json!({"total_size": report.bytes_out, "total_parameters": 9}));
    assert_eq!(new["weight_map"], old["weight_map"]);
    assert_eq!(names(&folder.path().join("new")), ["dst"]);
}

#[test]
fn the_first_pattern_of_the_map_decides_and_others_are_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    let map = [("m.0.*", Float64), ("*.weight", Float32), ("m.ids", Int8)];
    let options = ConvertOptions {
        map: map.map(|(glob, dtype)| (glob.to_owned(), dtype)).to_vec(),
        exclude: vec!["m.head".to_owned()],
        ..ConvertOptions::to(Float16)
    };
    run(&src, &dst, &options).expect("a report");
    let want = [
        ("m.0.gate.weight", Float64),
        ("m.0.weight", Float64),
        ("m.1.weight", Float32),
        ("m.head", BFloat16),
        ("m.ids", Int8),
        ("m.mask", Bool),
        ("m.none", Float16),
        ("m.x", Float16),
    ];
    assert!(dtypes(&dst).into_iter().eq(want.map(|(name, dtype)| (name.to_owned(), dtype))));
    let options = ConvertOptions { include: vec!["m.x".to_owned()], replace: true, ..options };
    run(&src, &dst, &options).expect("a report");
    let found = dtypes(&dst);
    assert_eq!((found["m.x"], found["m.0.weight"], found["m.ids"]), (Float16, BFloat16, Int64));

    // What matches nothing is a mistake.
    let wrong = folder.path().join("wrong");
    for options in [
        ConvertOptions { map: vec![("nothing".to_owned(), Int8)], ..ConvertOptions::to(Float16) },
        ConvertOptions { map: vec![("[".to_owned(), Int8)], ..ConvertOptions::to(Float16) },
        ConvertOptions { include: vec!["nothing".to_owned()], ..ConvertOptions::to(Float16) },
        ConvertOptions { exclude: vec!["nothing".to_owned()], ..ConvertOptions::to(Float16) },
        ConvertOptions { max_shard_size: Some(0), ..ConvertOptions::to(Float16) },
    ] {
        assert!(matches!(run(&src, &wrong, &options), Err(Error::Request(_))), "{options:?}");
    }
    // safetensors has no name for it.
    let error = run(&src, &wrong, &ConvertOptions::to(DType::Int4)).expect_err("int4");
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    assert_eq!(names(folder.path()), ["dst", "src"]);
}

#[test]
fn float32_checkpoints_keep_what_models_need_in_float32() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir(&src).expect("a folder");
    let tensors = ["m.A_log", "m.gate_proj.weight", "m.mlp.gate.weight", "m.weight"];
    write(&src.join("model.safetensors"), &tensors.map(|name| (name, Float32, &[4][..], f32s(4))));
    let report = run(&src, &dst, &ConvertOptions::to(BFloat16)).expect("a report");
    assert_eq!((report.tensors_cast, report.float32_kept), (2, 2));
    assert!(dtypes(&dst).into_values().eq([Float32, BFloat16, Float32, BFloat16]));
    // No configuration is invented.
    assert_eq!(names(&dst), ["model.safetensors"]);
    let map = vec![("*".to_owned(), BFloat16)];
    let options = ConvertOptions { map, replace: true, ..ConvertOptions::to(BFloat16) };
    run(&src, &dst, &options).expect("a report");
    assert!(dtypes(&dst).into_values().eq([BFloat16; 4]));
}

#[test]
fn shards_are_divided_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    let cut = |most| ConvertOptions {
        max_shard_size: Some(most),
        replace: true,
        verify: true,
        ..ConvertOptions::to(BFloat16)
    };
    let report = run(&src, &dst, &cut(1300)).expect("a report");
    let shard = |i: usize, n: usize| format!("model-{i:05}-of-{n:05}.safetensors");
    // 1200 + 24 bytes, 1400 in a shard of its own, and the rest.
    let files = ["config.json".to_owned(), shard(1, 3), shard(2, 3), shard(3, 3), INDEX.to_owned()];
    let rest = ["sub".to_owned(), "tokenizer.json".to_owned()];
    assert_eq!(names(&dst), [&files[..], &rest[..]].concat());
    let index = json(&dst.join(INDEX));
    assert_eq!(index["metadata"]["total_size"], report.bytes_out);
    let file = |name: &str| index["weight_map"][name].as_str().expect("a name").to_owned();
    assert_eq!(["m.0.weight", "m.1.weight", "m.x"].map(file), [shard(1, 3), shard(2, 3), shard(3, 3)]);
    assert_eq!(Checkpoint::open(&dst).expect("a checkpoint").warnings(), &[] as &[String]);
    // Everything fits in one file, which needs no index.
    run(&src, &dst, &cut(1 << 20)).expect("a report");
    assert_eq!(names(&dst), ["config.json", "model.safetensors", "sub", "tokenizer.json"]);
    assert_eq!(dtypes(&dst).len(), 8);
}

#[test]
fn quantized_checkpoints_are_refused_by_layout() {
    let goldens = Goldens::unpack();
    let folder = tempfile::tempdir().expect("a folder");
    let dst = folder.path().join("dst");
    for name in goldens.names() {
        let src = goldens.path(&name);
        let layout = Checkpoint::open(&src).expect("a checkpoint").layout().to_owned();
        let error = match run(&src, &dst, &ConvertOptions::to(BFloat16)) {
            // Plain 8-bit floats are values.
            Ok(_) => {
                assert_eq!(layout, "plain", "{name}");
                fs::remove_dir_all(&dst).expect("a folder");
                continue;
            }
            Err(error) => error,
        };
        let text = error.to_string();
        assert!(
            matches!(error, Error::Unsupported(_)) && text.contains("lanecast dequantize"),
            "{name}: {text}"
        );
        assert!(layout == "GGUF" || text.contains(&layout), "{name}: {text}");
        assert_eq!(names(folder.path()), [""; 0], "{name}");
        // On request the codes are cast as they are, and the configuration still says what they are.
        let options = ConvertOptions { allow_quantized: true, ..ConvertOptions::to(BFloat16) };
        match run(&src, &dst, &options) {
            Ok(_) => {
                let old = src.join("config.json");
                if old.exists() {
                    let (old, new) = (json(&old), json(&dst.join("config.json")));
                    assert_eq!(old["quantization_config"], new["quantization_config"], "{name}");
                }
                fs::remove_dir_all(&dst).expect("a folder");
            }
            // Blocks are no numbers, and powers of two are no weights that bfloat16 lacks.
            Err(error) => assert!(name.starts_with("gguf"), "{name}: {error}"),
        }
    }
}

#[test]
fn weights_that_all_become_zero_are_a_warning_that_names_quantize() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir(&src).expect("a folder");
    let small = [0.25_f32, -0.75, 0.5].map(f32::to_le_bytes).concat();
    let zero = vec![0; 12];
    let large = [1.5_f32, 300.0, f32::NAN].map(f32::to_le_bytes).concat();
    write(
        &src.join("model.safetensors"),
        &[
            ("a.small", Float32, &[3][..], small.clone()),
            ("b.small", Float32, &[3], small),
            ("c.zero", Float32, &[3], zero),
            ("d.large", Float32, &[3], large),
        ],
    );
    fs::write(src.join("config.json"), CONFIG).expect("a file");
    let report = run(&src, &dst, &ConvertOptions::to(Int8)).expect("a report");
    let lost: Vec<_> =
        report.losses.iter().map(|loss| (&*loss.tensor, loss.out_of_range, loss.all_zero)).collect();
    assert_eq!(lost, [("a.small", 0, true), ("b.small", 0, true), ("d.large", 2, false)]);
    let [zero, out] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(
        ["\"a.small\" and another tensor", "int8", "lanecast quantize"]
            .iter()
            .all(|part| zero.contains(part)),
        "{zero}"
    );
    assert!(out.starts_with("2 values of \"d.large\" are out of the range"), "{out}");
    // A model computes in floats.
    assert_eq!(fs::read_to_string(dst.join("config.json")).expect("a file"), CONFIG);
}

#[test]
fn a_second_cast_finds_wrong_bytes_before_the_output_has_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    let file = folder.path().join("dst.lanecast-partial/files/s-2.safetensors");
    let mut broken = false;
    let mut progress = |step: Step<'_>| {
        if step.is_check && !broken {
            let mut bytes = fs::read(&file).expect("a file");
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(&file, bytes).expect("a file");
            broken = true;
        }
    };
    let options = ConvertOptions { verify: true, ..ConvertOptions::to(Float32) };
    let callbacks = Callbacks { progress: Some(&mut progress), cancelled: None };
    let error = convert(&src, &dst, &options, callbacks).expect_err("a broken file").to_string();
    assert!(
        broken
            && error.contains("s-2.safetensors")
            && error.contains("m.mask")
            && error.contains("element 2"),
        "{error}"
    );
    // Nothing goes on from wrong bytes.
    assert_eq!(names(folder.path()), ["src"]);
}

#[test]
fn outputs_are_replaced_only_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (model(folder.path()), folder.path().join("dst"));
    fs::create_dir(&dst).expect("a folder");
    let options = ConvertOptions::to(Float32);
    run(&src, &dst, &options).expect("an empty folder is no obstacle");
    fs::write(dst.join("old"), "").expect("a file");
    assert!(matches!(run(&src, &dst, &options), Err(Error::Exists(_))));
    let replace = ConvertOptions { replace: true, ..options.clone() };
    run(&src, &dst, &replace).expect("a report");
    assert!(!dst.join("old").exists());
    for inside in
        [src.join("dst"), src.clone(), folder.path().to_owned(), folder.path().join("x.safetensors")]
    {
        assert!(matches!(run(&src, &inside, &replace), Err(Error::Request(_))), "{inside:?}");
    }
    // A file becomes a file or a folder, and never itself.
    let one = src.join("s-3.safetensors");
    let file = folder.path().join("one.safetensors");
    run(&one, &file, &options).expect("a report");
    assert!(matches!(run(&one, &file, &options), Err(Error::Exists(_))));
    run(&one, &file, &replace).expect("a report");
    assert!(matches!(run(&one, &one, &replace), Err(Error::Request(_))));
    run(&one, &folder.path().join("one"), &options).expect("a report");
    assert_eq!(names(&folder.path().join("one")), ["s-3.safetensors"]);
    assert_eq!(names(folder.path()), ["dst", "one", "one.safetensors", "src"]);
}

/// An index has no limit: a quarter of a million tensors take seconds.
#[test]
fn a_quarter_of_a_million_tensors_are_converted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir(&src).expect("a folder");
    let mut map = serde_json::Map::new();
    for shard in 0..5 {
        let file = format!("part-{shard}.safetensors");
        let names: Vec<String> = (0..50_000).map(|i| format!("m.{shard}.experts.{i}.weight")).collect();
        let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| (&**name, BFloat16, &[1][..], bf16::from_f32(value(i)).to_le_bytes().to_vec()))
            .collect();
        write(&src.join(&file), &tensors);
        map.extend(names.into_iter().map(|name| (name, Value::from(file.clone()))));
    }
    let index = serde_json::json!({"weight_map": map});
    fs::write(src.join(INDEX), index.to_string()).expect("a file");
    let started = std::time::Instant::now();
    let report = run(&src, &dst, &ConvertOptions::to(Float32)).expect("a report");
    println!("{:?} for {} tensors", started.elapsed(), report.tensors_cast);
    assert_eq!((report.tensors_cast, report.bytes_out), (250_000, 1_000_000));
    assert!(started.elapsed() < std::time::Duration::from_secs(120), "{:?}", started.elapsed());
    assert_eq!(json(&dst.join(INDEX))["weight_map"], index["weight_map"]);
    let (_, bytes) = tensor(&Checkpoint::open(&dst).expect("a checkpoint"), "m.4.experts.49999.weight");
    assert_eq!(bytes, value(49_999).to_le_bytes());
}

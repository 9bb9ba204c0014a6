//! Checkpoints in, plain checkpoints out.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use lanecast::DType::{self, BFloat16, Float8E4M3FN, Float32};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, Report, Step, dequantize};
use lanecast_files::Error;
use serde_json::Value;

use crate::common::{Goldens, write};

fn run(src: &Path, dst: &Path, to: DType) -> Result<Report, Error> {
    dequantize(src, dst, &Options::to(to), Callbacks::default())
}

fn bytes(checkpoint: &Checkpoint, name: &str, to: DType) -> Vec<u8> {
    let mut bytes = vec![0; checkpoint.find(name).expect(name).elements() * to.size()];
    checkpoint.read_bytes(name, to, &mut bytes).expect("bytes");
    bytes
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("text")).collect();
    names.sort();
    names
}

/// Whether an object of the configuration describes quantization.
fn is_quantized(config: &Value) -> bool {
    let Some(object) = config.as_object() else { return false };
    ["quantization_config", "quantization", "expert_dtype"].iter().any(|key| object.contains_key(*key))
        || object.values().any(is_quantized)
}

#[test]
fn every_checkpoint_becomes_a_plain_one() {
    let goldens = Goldens::unpack();
    let folder = tempfile::tempdir().expect("a folder");
    for name in goldens.names() {
        let (src, dst) = (goldens.path(&name), folder.path().join(&name));
        let report = run(&src, &dst, BFloat16).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (before, after) =
            (Checkpoint::open(&src).expect("the source"), Checkpoint::open(&dst).expect("the result"));
        assert_eq!((after.layout(), after.warnings()), ("plain", &[] as &[String]), "{name}");
        assert_eq!(before.tensors().len(), after.tensors().len(), "{name}");
        assert_eq!(report.tensors_decoded + report.tensors_copied, after.tensors().len(), "{name}");
        let mut total = 0;
        for tensor in before.tensors() {
            let new = after.find(&tensor.name).expect(&tensor.name);
            let kept = tensor.dtype.filter(|dtype| *dtype != Float8E4M3FN);
            assert_eq!((&new.shape, new.dtype), (&tensor.shape, Some(kept.unwrap_or(BFloat16))), "{name}");
            let dtype = new.dtype.expect("a dtype");
            assert!(
                bytes(&before, &tensor.name, dtype) == bytes(&after, &tensor.name, dtype),
                "{name}: {}",
                tensor.name
            );
            total += new.stored_bytes;
        }
        assert_eq!(report.bytes_out, total, "{name}");
        let mut files = vec!["model.safetensors"];
        if src.join("config.json").exists() {
            let (old, new) = (json(&src.join("config.json")), json(&dst.join("config.json")));
            assert!(is_quantized(&old) && !is_quantized(&new), "{name}");
            let dtype = new.get("dtype").or(new.get("torch_dtype"));
            assert_eq!(dtype, Some(&Value::from("bfloat16")), "{name}");
            // Nothing else changes, not even the order.
            let keys = |value: &Value| -> Vec<String> {
                value.as_object().expect("an object").keys().cloned().collect()
            };
            let mut kept = keys(&old);
            kept.retain(|key| keys(&new).contains(key));
            assert_eq!(kept, keys(&new), "{name}");
            files.push("config.json");
        }
        if name == "gguf_mixed" {
            files.push("gguf_metadata.json");
            assert_eq!(json(&dst.join("gguf_metadata.json"))["general.architecture"], "llama");
        }
        files.sort_unstable();
        assert_eq!(names(&dst), files, "{name}");
        let mut written = report.files.clone();
        written.sort();
        assert_eq!(written, files, "{name}");
    }
}

const CONFIG: &str = r#"{"b": 1e-05, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
 "a": {"torch_dtype": "float16"}, "torch_dtype": "float16"}"#;

/// A checkpoint of three shards, of which one has only scales.
fn sharded(folder: &Path) -> PathBuf {
    let src = folder.join("src");
    fs::create_dir_all(src.join("sub/.git")).expect("a folder");
    let codes: (&str, DType, &[u64], Vec<u8>) = ("m.0.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8]);
    let norm: (&str, DType, &[u64], Vec<u8>) = ("m.norm", Float32, &[1], vec![1; 4]);
    let scale: (&str, DType, &[u64], Vec<u8>) =
        ("m.0.weight_scale_inv", Float32, &[1, 1], 3_f32.to_le_bytes().to_vec());
    write(&src.join("s-1.safetensors"), &[codes]);
    write(&src.join("s-2.safetensors"), &[scale]);
    write(&src.join("s-3.safetensors"), &[norm]);
    let index = r#"{"metadata": {"total_size": 1, "total_parameters": 9}, "weight_map": {"m.0.weight": "s-1.safetensors",
        "m.0.weight_scale_inv": "s-2.safetensors", "m.norm": "s-3.safetensors"}}"#;
    for (name, text) in [
        ("model.safetensors.index.json", index),
        ("config.json", CONFIG),
        ("tokenizer.json", "{}"),
        ("sub/a.txt", "a"),
        ("sub/.git/x", "x"),
        ("pytorch_model.bin", "x"),
        ("consolidated.safetensors", "x"),
        ("x.incomplete", "x"),
        ("hf_quant_config.json", "{}"),
    ] {
        fs::write(src.join(name), text).expect("a file");
    }
    src
}

#[test]
fn shards_and_other_files_stay_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (sharded(folder.path()), folder.path().join("new/dst"));
    let mut steps = Vec::new();
    let mut progress =
        |step: Step<'_>| steps.push((step.file.to_owned(), step.tensor.to_owned(), step.done, step.total));
    let callbacks = Callbacks { progress: Some(&mut progress), cancelled: None };
    let report = dequantize(&src, &dst, &Options::to(BFloat16), callbacks).expect("a report");
    let step = |file: &str, tensor: &str, done| (file.to_owned(), tensor.to_owned(), done, 20);
    assert_eq!(steps, [step("s-1.safetensors", "m.0.weight", 16), step("s-3.safetensors", "m.norm", 20)]);
    assert_eq!(
        (report.tensors_decoded, report.tensors_copied, report.bytes_in, report.bytes_out),
        (1, 1, 16, 20)
    );
    let index = "model.safetensors.index.json";
    let files = ["config.json", index, "s-1.safetensors", "s-3.safetensors", "sub", "tokenizer.json"];
    assert_eq!(
        (names(&dst), names(&dst.join("sub"))),
        (files.map(String::from).to_vec(), vec!["a.txt".to_owned()])
    );
    let config = fs::read_to_string(dst.join("config.json")).expect("a file");
    assert_eq!(
        config,
        "{\"b\": 1e-05, \"a\": {\"torch_dtype\": \"bfloat16\"}, \"torch_dtype\": \"bfloat16\"}"
    );
    let want: Value = serde_json::from_str(
        r#"{"metadata": {"total_size": 20, "total_parameters": 9},
            "weight_map": {"m.0.weight": "s-1.safetensors", "m.norm": "s-3.safetensors"}}"#,
    )
    .expect("JSON");
    assert_eq!(json(&dst.join(index)), want);
    let mut values = [0.0_f32; 8];
    Checkpoint::open(&dst).expect("a checkpoint").read("m.0.weight", &mut values).expect("values");
    assert_eq!(values, [3.0; 8]);
}

/// An index may give shards any name.
#[test]
fn shards_of_other_names_are_decoded_not_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (sharded(folder.path()), folder.path().join("dst"));
    let index = src.join("model.safetensors.index.json");
    let text = fs::read_to_string(&index).expect("a file");
    let text = text.replace("s-1.safetensors", "part1.st").replace("s-2.safetensors", "b.SAFETENSORS");
    fs::write(&index, text).expect("a file");
    fs::rename(src.join("s-1.safetensors"), src.join("part1.st")).expect("a file");
    fs::rename(src.join("s-2.safetensors"), src.join("b.SAFETENSORS")).expect("a file");
    fs::write(src.join("old.GGUF"), "x").expect("a file");
    let report = run(&src, &dst, BFloat16).expect("a report");
    assert_eq!(report.files.iter().filter(|name| *name == "part1.st").count(), 1);
    assert!(!dst.join("b.SAFETENSORS").exists() && !dst.join("old.GGUF").exists());
    let mut values = [0.0_f32; 8];
    Checkpoint::open(&dst).expect("a checkpoint").read("m.0.weight", &mut values).expect("values");
    assert_eq!(values, [3.0; 8]);
}

#[test]
fn outputs_are_replaced_only_on_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (sharded(folder.path()), folder.path().join("dst"));
    fs::create_dir(&dst).expect("a folder");
    run(&src, &dst, Float32).expect("an empty folder is no obstacle");
    fs::write(dst.join("old"), "").expect("a file");
    assert!(matches!(run(&src, &dst, Float32), Err(Error::Exists(_))));
    let options = Options { replace: true, ..Options::to(Float32) };
    dequantize(&src, &dst, &options, Callbacks::default()).expect("a report");
    assert!(!dst.join("old").exists());
    for inside in [src.join("dst"), src.clone(), folder.path().to_owned()] {
        assert!(matches!(dequantize(&src, &inside, &options, Callbacks::default()), Err(Error::Request(_))));
    }
    assert!(matches!(run(&src, &folder.path().join("x"), DType::Int8), Err(Error::Request(_))));
    // A folder does not become a file.
    let file = folder.path().join("x.safetensors");
    assert!(matches!(run(&src, &file, Float32), Err(Error::Request(_))) && !file.exists());
    // The result has nothing to decode.
    assert!(matches!(run(&dst, &folder.path().join("x"), Float32), Err(Error::Request(_))));
    assert_eq!(names(folder.path()), ["dst", "src"]);
}

#[test]
fn failures_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (sharded(folder.path()), folder.path().join("dst"));
    let asked = AtomicUsize::new(0);
    let cancelled = || asked.fetch_add(1, Ordering::Relaxed) > 2;
    let callbacks = Callbacks { progress: None, cancelled: Some(&cancelled) };
    assert!(matches!(dequantize(&src, &dst, &Options::to(Float32), callbacks), Err(Error::Cancelled)));
    assert_eq!(names(folder.path()), ["src"]);

    let scale: (&str, DType, &[u64], Vec<u8>) =
        ("m.0.weight_scale_inv", Float32, &[1, 1], f32::NAN.to_le_bytes().to_vec());
    write(&src.join("s-2.safetensors"), &[scale]);
    let error = run(&src, &dst, Float32).expect_err("NaN").to_string();
    assert!(error.contains("s-2.safetensors") && error.contains("m.0.weight_scale_inv"), "{error}");
    assert_eq!(names(folder.path()), ["src"]);
    let options = Options { allow_nan: true, ..Options::to(Float32) };
    dequantize(&src, &dst, &options, Callbacks::default()).expect("a report");
}

#[test]
fn single_files_become_files() {
    let goldens = Goldens::unpack();
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) =
        (goldens.path("comfy_scaled_fp8").join("model.safetensors"), folder.path().join("a.safetensors"));
    run(&src, &dst, Float32).expect("a report");
    assert!(matches!(run(&src, &dst, Float32), Err(Error::Exists(_))));
    let (file, old) =
        (Checkpoint::open(&dst).expect("a checkpoint"), Checkpoint::open(&src).expect("a checkpoint"));
    assert_eq!((file.layout(), file.tensors().len()), ("plain", old.tensors().len()));
    run(&src, &folder.path().join("sub"), Float32).expect("a report");
    assert_eq!(names(&folder.path().join("sub")), ["model.safetensors"]);
    assert_eq!(names(folder.path()), ["a.safetensors", "sub"]);
}

/// The golden file has zero points of 0, which are stored as all ones.
#[test]
fn ambiguous_zero_points_are_a_warning() {
    let goldens = Goldens::unpack();
    let folder = tempfile::tempdir().expect("a folder");
    let warned = |name: &str| {
        let report = run(&goldens.path(name), &folder.path().join(name), BFloat16).expect("a report");
        report.warnings.iter().any(|warning| warning.contains("qzeros") && warning.contains("all ones"))
    };
    assert_eq!(["gptq_v1_asym", "gptq_v1", "gptq_v2"].map(warned), [true, false, false]);
}

#[test]
#[cfg(unix)]
fn other_files_may_be_links_inside() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (sharded(folder.path()), folder.path().join("dst"));
    symlink("tokenizer.json", src.join("link.json")).expect("a link");
    run(&src, &dst, Float32).expect("a report");
    assert!(!dst.join("link.json").is_symlink() && fs::read(dst.join("link.json")).expect("a file") == b"{}");
    let outside = folder.path().join("secret");
    fs::write(&outside, "x").expect("a file");
    symlink(&outside, src.join("leak")).expect("a link");
    let error = run(&src, &folder.path().join("new"), Float32).expect_err("a link that leaves").to_string();
    assert!(error.contains("leak") && error.contains("out of the folder"), "{error}");
    assert_eq!(names(folder.path()), ["dst", "secret", "src"]);
}

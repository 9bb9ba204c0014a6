//! GGUF files made by hand: split models, scales beside NVFP4, and damaged headers.

use std::{fs, path::Path};

use lanecast::DType::{BFloat16, Float32};
use lanecast_checkpoint::{Callbacks, Checkpoint, ConvertOptions, Options, convert, dequantize};

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A file with these tensors (name, axes from the fastest, number of the type, bytes), as one of `parts`.
fn file(parts: u32, tensors: &[(&str, &[u64], u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend([tensors.len() as u64, 3].iter().flat_map(|n| n.to_le_bytes()));
    // A number, a float, a list of texts.
    out.extend([text("split.count"), 4_u32.to_le_bytes().to_vec(), parts.to_le_bytes().to_vec()].concat());
    out.extend([text("a.float"), 6_u32.to_le_bytes().to_vec(), 0.1_f32.to_le_bytes().to_vec()].concat());
    let list = [8_u32.to_le_bytes().to_vec(), 2_u64.to_le_bytes().to_vec(), text("x"), text("y")].concat();
    out.extend([text("a.list"), 9_u32.to_le_bytes().to_vec(), list].concat());
    let (mut start, mut data) = (0, Vec::new());
    for (name, axes, number, bytes) in tensors {
        out.extend(text(name));
        out.extend((axes.len() as u32).to_le_bytes());
        out.extend(axes.iter().flat_map(|axis| axis.to_le_bytes()));
        out.extend(number.to_le_bytes());
        out.extend((start as u64).to_le_bytes());
        data.extend_from_slice(bytes);
        data.resize(data.len().next_multiple_of(32), 0);
        start = data.len();
    }
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(data);
    out
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn parts_of_a_split_model_are_read_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    // Blocks of NVFP4: four scales (2.0 is 0x40 in 4 bits of exponent and 3 of mantissa), then codes of 1.0.
    let block = [vec![0x40; 4], vec![0x22; 32]].concat();
    let first: [(&str, &[u64], u32, Vec<u8>); 2] =
        [("blk.0.attn_q.weight", &[64, 1], 40, block), ("blk.0.attn_q.scale", &[1], 0, floats(&[0.75]))];
    let second: [(&str, &[u64], u32, Vec<u8>); 1] = [("norm.weight", &[2], 0, floats(&[1.0, 2.0]))];
    fs::write(at("m-00001-of-00002.gguf"), file(2, &first)).expect("a file");
    fs::write(at("m-00002-of-00002.gguf"), file(2, &second)).expect("a file");
    for part in ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"] {
        let checkpoint = Checkpoint::open(&at(part)).expect("a checkpoint");
        let names: Vec<&str> = checkpoint.tensors().iter().map(|tensor| &*tensor.name).collect();
        assert_eq!((names, checkpoint.layout()), (vec!["blk.0.attn_q.weight", "norm.weight"], "GGUF"));
        let mut values = [0.0_f32; 64];
        checkpoint.read("blk.0.attn_q.weight", &mut values).expect("values");
        assert_eq!(values, [1.5; 64]);
    }
    let report =
        dequantize(&at("m-00001-of-00002.gguf"), &at("out"), &Options::to(BFloat16), Callbacks::default());
    let mut files = report.expect("a report").files;
    files.sort();
    let shards =
        ["m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors", "model.safetensors.index.json"];
    assert_eq!(files, [&["gguf_metadata.json"][..], &shards].concat());
    let metadata = fs::read_to_string(at("out/gguf_metadata.json")).expect("a file");
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    assert_eq!(metadata, serde_json::json!({"split.count": 2, "a.float": 0.1, "a.list": ["x", "y"]}));
    assert_eq!(Checkpoint::open(&at("out")).expect("a checkpoint").tensors().len(), 2);
    fs::rename(at("m-00001-of-00002.gguf"), at("other.gguf")).expect("a file");
    assert!(error(&at("other.gguf")).contains("-of-00002.gguf"));
}

fn error(path: &Path) -> String {
    match Checkpoint::open(path) {
        Err(error) => error.to_string(),
        Ok(checkpoint) => {
            let name = checkpoint.tensors()[0].name.clone();
            checkpoint.decode(&name, Float32, &mut |_| Ok(())).expect_err("an error").to_string()
        }
    }
}

/// A file cut at every byte, and one with unknown types, is an error that names the file.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.gguf");
    let good = file(1, &[("norm.weight", &[8], 0, floats(&[1.0; 8]))]);
    fs::write(&path, &good).expect("a file");
    assert!(Checkpoint::open(&path).is_ok());
    for end in 4..good.len() {
        fs::write(&path, &good[..end]).expect("a file");
        let error = error(&path);
        assert!(error.contains("a.gguf"), "{end}: {error}");
    }
    for (axes, number) in [(&[8_u64][..], 77), (&[u64::MAX, 2], 0), (&[33], 8), (&[8; 9], 0)] {
        fs::write(&path, file(1, &[("norm.weight", axes, number, floats(&[1.0; 8]))])).expect("a file");
        let error = error(&path);
        assert!(error.contains("a.gguf") && error.contains("norm.weight"), "{error}");
    }
}

/// Scales of blocks that make NaN, and scales of tensors that are no factor.
#[test]
fn scales_that_are_not_finite_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.gguf");
    // Blocks of Q8_0: a float16 and 32 codes.
    for scale in [0x7C00_u16, 0x7E00] {
        let block = [&scale.to_le_bytes()[..], &[0; 32]].concat();
        let good = [&0x3C00_u16.to_le_bytes()[..], &[1; 32]].concat();
        fs::write(&path, file(1, &[("norm.weight", &[64], 8, [good, block].concat())])).expect("a file");
        let error = error(&path);
        assert!(
            ["a.gguf", "norm.weight", "element 32", "NaN"].iter().all(|part| error.contains(part)),
            "{error}"
        );
        let checkpoint = Checkpoint::open(&path).expect("a checkpoint").with_nan_allowed();
        let mut values = [0.0_f32; 64];
        checkpoint.read("norm.weight", &mut values).expect("values");
        assert!(
            values[..32].iter().all(|value| *value == 1.0) && values[32..].iter().all(|value| value.is_nan())
        );
    }
    for scale in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
        let block = [vec![0x40; 4], vec![0x22; 32]].concat();
        let tensors: [(&str, &[u64], u32, Vec<u8>); 2] =
            [("a.weight", &[64, 1], 40, block), ("a.scale", &[1], 0, floats(&[scale]))];
        fs::write(&path, file(1, &tensors)).expect("a file");
        let error = error(&path);
        assert!(error.contains("a.scale") && error.contains("positive and finite"), "{error}");
    }
}

/// A number of parts that no writer has, whose names would fill the memory.
#[test]
fn models_have_at_most_65535_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m-00001-of-4294967295.gguf");
    fs::write(&path, file(u32::MAX, &[("norm.weight", &[1], 0, floats(&[1.0]))])).expect("a file");
    let error = error(&path);
    assert!(error.contains("65535") && error.contains("split.count"), "{error}");
}

/// What is beside the file belongs to another checkpoint, and the output is a folder.
#[test]
fn files_of_gguf_are_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.gguf");
    let block = [vec![0x40; 4], vec![0x22; 32]].concat();
    fs::write(&path, file(1, &[("a.weight", &[64, 1], 40, block)])).expect("a file");
    fs::write(folder.path().join("config.json"), "{ no JSON").expect("a file");
    assert!(Checkpoint::open(&path).is_ok());
    let out = folder.path().join("out.safetensors");
    let error = dequantize(&path, &out, &Options::to(BFloat16), Callbacks::default()).expect_err("a folder");
    assert!(error.to_string().contains("must not end with .safetensors"), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_file_of_plain_floats_is_cast_to_safetensors() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    // 1, 2, -1 and 0.5 in float16, and a norm in float32.
    let halves = [0x3C00_u16, 0x4000, 0xBC00, 0x3800].map(u16::to_le_bytes).concat();
    let tensors: [(&str, &[u64], u32, Vec<u8>); 2] =
        [("a.weight", &[2, 2], 1, halves), ("a_norm.weight", &[1], 0, floats(&[0.1]))];
    fs::write(at("m.gguf"), file(1, &tensors)).expect("a file");
    let options = ConvertOptions { verify: true, ..ConvertOptions::to(BFloat16) };
    let report = convert(&at("m.gguf"), &at("out"), &options, Callbacks::default()).expect("a report");
    assert_eq!((report.tensors_cast, report.float32_kept, report.tensors_verified), (1, 1, Some(2)));
    assert_eq!(report.files, ["model.safetensors", "gguf_metadata.json"]);
    assert!(report.warnings[0].contains("GGUF"), "{:?}", report.warnings);
    let checkpoint = Checkpoint::open(&at("out")).expect("a checkpoint");
    let weight = checkpoint.find("a.weight").expect("a weight");
    assert_eq!((&weight.shape[..], weight.dtype), (&[2, 2][..], Some(BFloat16)));
    let mut values = [0.0_f32; 4];
    checkpoint.read("a.weight", &mut values).expect("values");
    assert_eq!(values, [1.0, 2.0, -1.0, 0.5]);
    let mut norm = [0.0_f32];
    checkpoint.read("a_norm.weight", &mut norm).expect("values");
    assert_eq!(norm, [0.1]);
}

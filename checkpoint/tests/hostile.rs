//! Damaged and hostile checkpoints: an error that names the file and the tensor.

use std::{fs, path::Path};

use lanecast::DType::{self, BFloat16, Float8E4M3FN, Float32, Int32, UInt8};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, dequantize};
use lanecast_files::Error;
use tempfile::TempDir;

use crate::common::{is_reported, write};

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

const DEEPSEEK: &str = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;

fn codes() -> Tensor<'static> {
    ("m.up.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8])
}

fn scales(value: f32) -> Tensor<'static> {
    ("m.up.weight_scale_inv", Float32, &[1, 1], value.to_le_bytes().to_vec())
}

/// A folder with a configuration and `model.safetensors`.
fn folder(config: &str, tensors: &[Tensor<'_>]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), config).expect("a file");
    write(&folder.path().join("model.safetensors"), tensors);
    folder
}

/// The error of opening the checkpoint, or of reading all of its tensors.
#[track_caller]
fn error(path: &Path) -> Error {
    let error = match Checkpoint::open(path) {
        Err(error) => error,
        Ok(checkpoint) => {
            let read = |name: &str| checkpoint.decode(name, Float32, &mut |_| Ok(()));
            let errors = checkpoint.tensors().iter().filter_map(|tensor| read(&tensor.name).err());
            errors.into_iter().next().expect("an error")
        }
    };
    is_reported(path, &error);
    error
}

#[track_caller]
fn says(path: &Path, parts: &[&str]) {
    let error = error(path).to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_good_checkpoint_is_read() {
    let folder = folder(DEEPSEEK, &[codes(), scales(2.0)]);
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
    let mut values = [0.0_f32; 8];
    checkpoint.read("m.up.weight", &mut values).expect("values");
    assert_eq!((values, checkpoint.layout()), ([2.0; 8], "block fp8"));
    assert!(checkpoint.read("m.up.weight", &mut [0.0_f32; 7]).is_err());
    assert!(checkpoint.read("m.down.weight", &mut values).is_err());
}

#[test]
fn parts_that_are_missing_or_wrong_are_named() {
    let wrong = |tensors: &[Tensor<'_>], parts: &[&str]| says(folder(DEEPSEEK, tensors).path(), parts);
    let (file, name) = ("model.safetensors", "\"m.up.weight\"");
    wrong(&[codes()], &[file, name, "m.up.weight_scale_inv", "missing"]);
    wrong(&[scales(1.0)], &[file, "m.up.weight_scale_inv", "belongs to no weight"]);
    wrong(&[codes(), scales(f32::NAN)], &[file, "m.up.weight_scale_inv", "NaN"]);
    let two: Tensor<'_> = ("m.up.weight_scale_inv", Float32, &[2, 1], vec![0; 8]);
    wrong(&[codes(), two], &[file, "m.up.weight_scale_inv", "[2, 1]", "[1, 1]"]);
    let text: Tensor<'_> = ("m.up.weight_scale_inv", DType::Int64, &[1, 1], vec![0; 8]);
    wrong(&[codes(), text], &[file, "m.up.weight_scale_inv", "int64"]);
}

#[test]
fn nan_is_allowed_on_request() {
    let folder = folder(DEEPSEEK, &[codes(), scales(f32::NAN)]);
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint").with_nan_allowed();
    let mut values = [0.0_f32; 8];
    checkpoint.read("m.up.weight", &mut values).expect("values");
    assert!(values.iter().all(|value| value.is_nan()));
}

#[test]
fn configuration_and_tensors_must_agree() {
    let group = r#"{"group_0":{"targets":["Linear"],"weights":{"num_bits":4,"type":"int","strategy":"group","group_size":32}}}"#;
    let config = |format: &str, more: &str| {
        format!(
            r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"{format}","config_groups":{group}{more}}}}}"#
        )
    };
    let scale: Tensor<'_> = ("m.up.weight_scale", BFloat16, &[2, 1], vec![0x80, 0x3F, 0x80, 0x3F]);
    let tensors = [codes(), scale];
    let wrong = |config: &str, parts: &[&str]| says(folder(config, &tensors).path(), parts);
    wrong(
        &config("pack-quantized", ""),
        &["config.json", "pack-quantized", "float8_e4m3fn [2, 4]", "m.up.weight"],
    );
    let ignored = r#","ignore":["re:m.*"]"#;
    wrong(&config("float-quantized", ignored), &["config.json", "\"m.up\" is not quantized", "m.up.weight"]);
    wrong(&config("unheard-of", ""), &["config.json", "unheard-of"]);
    wrong(&config("float-quantized", r#","transform_config":{"config_groups":{}}"#), &["transform_config"]);
    let skipped = r#"{"quantization_config":{"quant_method":"fp8","modules_to_not_convert":["m.up"]}}"#;
    wrong(skipped, &["config.json", "\"m.up\" is not quantized", "m.up.weight"]);
    wrong(r#"{"quantization_config":{"quant_method":"unheard-of"}}"#, &["config.json", "unheard-of"]);
    wrong(r#"{"quantization_config":{"quant_method":"gptq","bits":5}}"#, &["config.json", "5 bits"]);
    wrong(r#"{"quantization_config":{"quant_method":"awq","version":"gemv"}}"#, &["config.json", "gemv"]);
    wrong(r#"{"quantization_config":{"quant_method":"gptq","bits":4}}"#, &["GPTQ", "m.up.weight_scale"]);
    wrong("{", &["config.json", "bad JSON"]);
    let nvfp4 = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"NVFP4"}}"#;
    wrong(nvfp4, &["config.json", "NVFP4", "float8_e4m3fn [2, 4]", "m.up.weight"]);
    let scale: Tensor<'_> = ("m.up.weight_scale", Float32, &[], vec![0; 4]);
    let inputs: Tensor<'_> = ("m.up.pre_quant_scale", Float32, &[4], vec![0; 16]);
    let fp8 = r#"{"quantization_config":{"quant_method":"modelopt","quant_algo":"FP8"}}"#;
    says(folder(fp8, &[codes(), scale, inputs]).path(), &["pre_quant_scale", "m.up"]);
}

#[test]
fn plain_codes_of_8_bits_are_values_only_without_a_configuration() {
    let plain = folder("{}", &[codes(), ("table.weight", UInt8, &[2, 2], vec![1; 4])]);
    let checkpoint = Checkpoint::open(plain.path()).expect("a checkpoint");
    assert_eq!((checkpoint.layout(), checkpoint.warnings().len()), ("plain", 1));
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":4}}"#;
    says(folder(gptq, &[codes()]).path(), &["GPTQ", "m.up.weight", "without scales"]);
}

/// A folder with two shards and an index with these entries.
fn sharded(map: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("config.json"), DEEPSEEK).expect("a file");
    write(&folder.path().join("a.safetensors"), &[codes()]);
    write(&folder.path().join("b.safetensors"), &[scales(1.0)]);
    let index = format!(r#"{{"metadata":{{}},"weight_map":{{{map}}}}}"#);
    fs::write(folder.path().join("model.safetensors.index.json"), index).expect("a file");
    folder
}

const MAP: &str = r#""m.up.weight":"a.safetensors","m.up.weight_scale_inv":"b.safetensors""#;

#[test]
fn the_index_is_checked() {
    assert!(Checkpoint::open(sharded(MAP).path()).is_ok());
    let index = "model.safetensors.index.json";
    says(sharded(&MAP.replace("b.", "a.")).path(), &[index, "m.up.weight_scale_inv", "a.safetensors"]);
    says(sharded(&MAP.replace("\"b.", "\"c.")).path(), &[index, "c.safetensors"]);
    says(sharded(&MAP.replace("\"b.", "\"../b.")).path(), &[index, "../b.safetensors", "out of the folder"]);
    says(sharded(&MAP.replace("\"b.", "\"/b.")).path(), &[index, "/b.safetensors", "out of the folder"]);
    says(
        sharded(&format!(r#"{MAP},"m.norm.weight":"a.safetensors""#)).path(),
        &[index, "m.norm.weight", "a.safetensors"],
    );
    says(sharded(&format!(r#"{MAP},"m.norm.weight":7"#)).path(), &[index, "m.norm.weight"]);
    let folder = sharded(MAP);
    write(&folder.path().join("b.safetensors"), &[codes(), scales(1.0)]);
    says(folder.path(), &["b.safetensors", "m.up.weight", "a.safetensors"]);
}

#[test]
fn truncated_shards_are_named() {
    let folder = sharded(MAP);
    let shard = folder.path().join("a.safetensors");
    let bytes = fs::read(&shard).expect("bytes");
    fs::write(&shard, &bytes[..bytes.len() - 1]).expect("a file");
    says(folder.path(), &["a.safetensors", "m.up.weight"]);
    fs::write(&shard, &bytes[..5]).expect("a file");
    says(folder.path(), &["a.safetensors"]);
}

#[test]
#[cfg(unix)]
fn links_stay_inside_or_lead_to_blobs() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("a folder");
    let folder = sharded(MAP);
    let (shard, moved) = (folder.path().join("b.safetensors"), outside.path().join("b"));
    fs::rename(&shard, &moved).expect("a file");
    symlink(&moved, &shard).expect("a link");
    says(folder.path(), &["b.safetensors", "out of the folder"]);

    // A hub cache: snapshots of links to blobs.
    let hub = outside.path().join("models--a--b");
    fs::create_dir_all(hub.join("snapshots")).expect("a folder");
    fs::create_dir_all(hub.join("blobs")).expect("a folder");
    let snapshot = hub.join("snapshots/1");
    fs::rename(folder.path(), &snapshot).expect("a folder");
    fs::create_dir(folder.path()).expect("a folder");
    fs::rename(&moved, hub.join("blobs/b")).expect("a file");
    let shard = snapshot.join("b.safetensors");
    fs::remove_file(&shard).expect("a link");
    symlink("../../blobs/b", &shard).expect("a link");
    assert!(Checkpoint::open(&snapshot).is_ok());
    symlink("b", hub.join("blobs/c")).expect("a link");
    fs::remove_file(&shard).expect("a link");
    symlink("../../blobs/c", &shard).expect("a link");
    says(&snapshot, &["b.safetensors", "link to a link"]);
}

/// Weights without elements have axes of any length: nothing loops over them or allocates so much.
#[test]
fn long_axes_of_empty_weights_are_no_work() {
    let empty = |config: &str, tensors: &[Tensor<'_>]| {
        let folder = folder(config, tensors);
        let out = tempfile::tempdir().expect("a folder");
        let options = Options::to(Float32);
        dequantize(folder.path(), &out.path().join("out"), &options, Callbacks::default())
            .unwrap_or_else(|e| panic!("{e}"));
    };
    const LONG: u64 = if usize::BITS == 64 { 1 << 50 } else { 1 << 20 };
    let scale: Tensor<'_> = ("m.up.weight_scale_inv", Float32, &[0, LONG / 128], vec![]);
    empty(DEEPSEEK, &[("m.up.weight", Float8E4M3FN, &[0, LONG], vec![]), scale]);
    let awq = r#"{"quantization_config":{"quant_method":"awq","group_size":1}}"#;
    let part = |name, dtype| -> Tensor<'static> { (name, dtype, &[LONG, 0], vec![]) };
    let weight = [part("m.up.qweight", Int32), part("m.up.qzeros", Int32), part("m.up.scales", Float32)];
    empty(awq, &weight);
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","group_size":4,"bits":8}}"#;
    empty(gptq, &weight);

    let wrong = |shape: &[u64]| {
        let scale: Tensor<'_> = ("m.up.weight_scale_inv", Float32, &[1, 1], vec![0; 4]);
        let codes: Tensor<'_> = ("m.up.weight", Float8E4M3FN, shape, vec![]);
        says(folder(DEEPSEEK, &[codes, scale]).path(), &["m.up.weight", "memory"]);
    };
    wrong(&[0, 1 << 60]);
    wrong(&[1 << 40, 0, 1 << 40]);
    let state = br#"{"blocksize":64,"shape":[1073741824,0,1073741824,1073741824]}"#;
    let nf4: [Tensor<'_>; 4] = [
        ("m.up.weight", UInt8, &[0, 1], vec![]),
        ("m.up.weight.absmax", Float32, &[0], vec![]),
        ("m.up.weight.quant_map", Float32, &[16], vec![0; 64]),
        ("m.up.weight.quant_state.bitsandbytes__nf4", UInt8, &[state.len() as u64], state.to_vec()),
    ];
    says(folder("{}", &nf4).path(), &["m.up.weight", "memory"]);
}

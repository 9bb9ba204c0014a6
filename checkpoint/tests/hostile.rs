//! Damaged and hostile checkpoints: an error that names the file and the tensor. The modules list the kinds.

mod archives;
mod folders;
mod pickles;
mod weights;

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast::DType::{self, Float8E4M3FN, Float32, Int32, UInt8};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, dequantize};
use lanecast_files::Error;
use tempfile::TempDir;

use crate::common::{is_reported, write};

/// A kind of damaged or hostile checkpoints.
struct Kind {
    name: &'static str,
    /// Makes one in a folder, and returns the path to open.
    make: fn(&Path) -> PathBuf,
    /// What the error says.
    says: &'static [&'static str],
}

/// Every kind is an error of one line that names the file, and the tensor or entry where there is one.
#[test]
fn every_kind_is_an_error_that_names_its_place() {
    let kinds: Vec<&Kind> =
        [folders::KINDS, weights::KINDS, pickles::KINDS, archives::KINDS].into_iter().flatten().collect();
    let mut names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), kinds.len(), "a name occurs twice");
    assert!(kinds.len() >= 40, "{} kinds", kinds.len());
    let mut wrong = Vec::new();
    for kind in kinds {
        let folder = tempfile::tempdir().expect("a folder");
        let path = (kind.make)(folder.path());
        let error = error(&path).to_string();
        if !kind.says.iter().all(|part| error.contains(part)) || error.contains('\n') || error.len() > 2000 {
            wrong.push(format!("{}: {error}", kind.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

type Tensor<'t> = (&'t str, DType, &'t [u64], Vec<u8>);

const DEEPSEEK: &str = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;

fn codes() -> Tensor<'static> {
    ("m.up.weight", Float8E4M3FN, &[2, 4], vec![0x38; 8])
}

fn scales(value: f32) -> Tensor<'static> {
    ("m.up.weight_scale_inv", Float32, &[1, 1], value.to_le_bytes().to_vec())
}

/// Writes a configuration and `model.safetensors` to a folder.
fn fill(folder: &Path, config: &str, tensors: &[Tensor<'_>]) -> PathBuf {
    fs::write(folder.join("config.json"), config).expect("a file");
    write(&folder.join("model.safetensors"), tensors);
    folder.to_owned()
}

/// A folder with a configuration and `model.safetensors`.
fn folder(config: &str, tensors: &[Tensor<'_>]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), config, tensors);
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
fn nan_is_allowed_on_request() {
    let folder = folder(DEEPSEEK, &[codes(), scales(f32::NAN)]);
    let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint").with_nan_allowed();
    let mut values = [0.0_f32; 8];
    checkpoint.read("m.up.weight", &mut values).expect("values");
    assert!(values.iter().all(|value| value.is_nan()));
}

#[test]
fn plain_codes_of_8_bits_are_values_only_without_a_configuration() {
    let plain = folder("{}", &[codes(), ("table.weight", UInt8, &[2, 2], vec![1; 4])]);
    let checkpoint = Checkpoint::open(plain.path()).expect("a checkpoint");
    assert_eq!((checkpoint.layout(), checkpoint.warnings().len()), ("plain", 1));
    let gptq = r#"{"quantization_config":{"quant_method":"gptq","bits":4}}"#;
    says(folder(gptq, &[codes()]).path(), &["GPTQ", "m.up.weight", "without scales"]);
}

/// A hub cache has snapshots, whose files are links to blobs outside of them.
#[test]
#[cfg(unix)]
fn links_may_lead_to_blobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = folders::hub(folder.path());
    std::os::unix::fs::symlink("../../blobs/b", snapshot.join("b.safetensors")).expect("a link");
    let checkpoint = Checkpoint::open(&snapshot).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(checkpoint.tensors().len(), 1);
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

//! Files of PyTorch: those that `torch.save` wrote (`tests/data/torch_files.py`), and some made by hand.

use std::{
    fs,
    io::{Cursor, Read},
    path::Path,
};

use lanecast::DType::{
    self, BFloat16, Bool, Float8E4M3FN, Float16, Float32, Float64, Int8, Int64, UInt8, UInt16,
};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, dequantize};
use tempfile::TempDir;
use zip::ZipArchive;

use crate::common::{
    floats,
    pickles::{call, dict, global, long, pickle, storage, tensor, text, torch_file, tuple},
    write,
};

/// The files of `torch.zip`.
fn files() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut archive =
        ZipArchive::new(Cursor::new(&include_bytes!("data/torch.zip")[..])).expect("an archive");
    for i in 0..archive.len() {
        let mut file = archive.by_index(i).expect("a file");
        let path = folder.path().join(file.enclosed_name().expect("a name"));
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("bytes");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

fn open(path: &Path) -> Checkpoint {
    Checkpoint::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// Name, dtype and shape of every tensor, with its values.
fn listed(checkpoint: &Checkpoint) -> Vec<(String, DType, Vec<usize>, Vec<f64>)> {
    let read = |tensor: &lanecast_checkpoint::Tensor| {
        let dtype = tensor.dtype.expect("a dtype");
        let mut bytes = vec![0; tensor.elements() * dtype.size()];
        checkpoint.read_bytes(&tensor.name, dtype, &mut bytes).unwrap_or_else(|e| panic!("{e}"));
        (tensor.name.clone(), dtype, tensor.shape.clone(), floats(dtype, &bytes))
    };
    checkpoint.tensors().iter().map(read).collect()
}

#[track_caller]
fn says(path: &Path, parts: &[&str]) {
    let error = Checkpoint::open(path).map(drop).expect_err("an error").to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn state_dicts_have_every_kind_of_tensor() {
    let files = files();
    let twelve: Vec<f64> = (0..12).map(f64::from).collect();
    let turned: Vec<f64> = (0..12).map(|i| f64::from(i % 3 * 4 + i / 3)).collect();
    let want: Vec<(&str, DType, Vec<usize>, Vec<f64>)> = vec![
        ("plain", Float32, vec![3, 4], twelve),
        ("transposed", Float32, vec![4, 3], turned),
        ("sliced", Float32, vec![2, 2], vec![5.0, 7.0, 9.0, 11.0]),
        ("shared", Float32, vec![4], vec![0.0, 1.0, 2.0, 3.0]),
        ("tail", Float32, vec![2], vec![2.0, 3.0]),
        ("scalar", Float32, vec![], vec![2.5]),
        ("empty", Float32, vec![0, 3], vec![]),
        ("parameter", Float32, vec![2], vec![1.0, -1.0]),
        ("bf16", BFloat16, vec![2], vec![1.0, -2.0]),
        ("f16", Float16, vec![2], vec![0.5, 4.0]),
        ("f64", Float64, vec![1], vec![0.1]),
        ("i64", Int64, vec![2], vec![-1.0, 2_f64.powi(40)]),
        ("i8", Int8, vec![2], vec![-8.0, 8.0]),
        ("u8", UInt8, vec![2], vec![0.0, 255.0]),
        ("flags", Bool, vec![2], vec![1.0, 0.0]),
        ("fp8", Float8E4M3FN, vec![3], vec![1.0, -1.5, 448.0]),
        ("u16", UInt16, vec![1], vec![65535.0]),
    ];
    for name in ["kinds.pt", "older.pt"] {
        let checkpoint = open(&files.path().join(name));
        let have = listed(&checkpoint);
        let have: Vec<_> = have
            .iter()
            .map(|(name, dtype, shape, values)| (&**name, *dtype, shape.clone(), values.clone()))
            .collect();
        assert_eq!(have, want, "{name}");
        assert_eq!((checkpoint.layout(), checkpoint.warnings().len()), ("plain", 0), "{name}");
    }
    assert_eq!(listed(&open(&files.path().join("protocol4.pt"))).len(), 1);
}

#[test]
fn weights_of_training_checkpoints_and_nested_dictionaries_have_names() {
    let files = files();
    let names = |checkpoint: &Checkpoint| -> Vec<String> {
        checkpoint.tensors().iter().map(|tensor| tensor.name.clone()).collect()
    };
    let training = open(&files.path().join("training.pth"));
    assert_eq!(names(&training)[..2], ["0.weight", "0.bias"]);
    assert_eq!((names(&training).len(), listed(&training)[0].3.clone()), (7, vec![3.0, 4.0]));
    let [warning] = training.warnings() else { panic!("{:?}", training.warnings()) };
    assert!(warning.contains("training.pth") && warning.contains("only \"state_dict\""), "{warning}");

    let nested = open(&files.path().join("nested.bin"));
    assert_eq!(names(&nested), ["encoder.w", "encoder.layers.0.b", "decoder.w"]);
    let [warning] = nested.warnings() else { panic!("{:?}", nested.warnings()) };
    assert!(warning.contains("1 entries that are no tensors") && warning.contains("\"note\""), "{warning}");
}

#[test]
fn tensors_without_values_of_their_own_are_refused() {
    let files = files();
    let at = |name: &str| files.path().join(name);
    says(&at("expanded.pt"), &["expanded.pt", "repeats elements", "storage \"0\""]);
    says(&at("conjugate.pt"), &["conjugate.pt", "conjugate"]);
    says(&at("sparse.pt"), &["sparse.pt", "torch._utils._rebuild_sparse_tensor", "nothing was run"]);
    says(&at("whole_module.pt"), &["whole_module.pt", "torch.nn.modules", "nothing was run"]);
}

/// The weights of DeepSeek in two files of PyTorch, and as safetensors: the same values, and a plain folder.
#[test]
fn quantized_weights_of_shards_are_decoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir(&src).expect("a folder");
    let config = r#"{"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}}"#;
    fs::write(src.join("config.json"), config).expect("a file");
    let bytes = storage("UntypedStorage", "0", 8);
    let hooks = call("collections", "OrderedDict", &[]);
    let shape = |axes: [i64; 2]| tuple(&axes.map(long));
    // A transposed view of the codes 0x38 and 0x40, which are 1 and 2.
    let args = [
        bytes,
        long(0),
        shape([2, 4]),
        shape([1, 2]),
        b"\x89".to_vec(),
        hooks,
        global("torch", "float8_e4m3fn"),
    ];
    let codes = call("torch._utils", "_rebuild_tensor_v3", &args);
    let scale = tensor(storage("FloatStorage", "0", 1), 0, &[1, 1], &[1, 1]);
    let one = "pytorch_model-00001-of-00002.bin";
    let two = "pytorch_model-00002-of-00002.bin";
    torch_file(&src.join(one), &dict(&[("m.up.weight", codes)]), &[("0", &[0x38, 0x40].repeat(4))]);
    torch_file(&src.join(two), &dict(&[("m.up.weight_scale_inv", scale)]), &[("0", &3_f32.to_le_bytes())]);
    let check = |path: &Path| {
        let mut values = [0.0_f32; 8];
        open(path).read("m.up.weight", &mut values).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(values, [3.0, 3.0, 3.0, 3.0, 6.0, 6.0, 6.0, 6.0]);
    };
    check(&src);
    let map = format!(
        r#"{{"metadata":{{"total_size":12}},"weight_map":{{"m.up.weight":"{one}","m.up.weight_scale_inv":"{two}"}}}}"#
    );
    fs::write(src.join("pytorch_model.bin.index.json"), map).expect("a file");
    check(&src);
    let report = dequantize(&src, &dst, &Options::to(Float32), Callbacks::default()).expect("a report");
    assert_eq!((report.tensors_decoded, report.tensors_dropped), (1, 1));
    assert!(dst.join("model.safetensors").exists());
    check(&dst);
    // Safetensors come before files of PyTorch.
    write(&src.join("model.safetensors"), &[("other", Float32, &[1], vec![0; 4])]);
    assert_eq!(open(&src).tensors()[0].name, "other");
}

#[test]
fn a_folder_has_one_file_of_weights_or_says_which() {
    let folder = tempfile::tempdir().expect("a folder");
    let value = |key: &str| dict(&[(key, tensor(storage("FloatStorage", "0", 1), 0, &[1], &[1]))]);
    let add = |name: &str| torch_file(&folder.path().join(name), &value(name), &[("0", &[0; 4])]);
    for name in ["training_args.bin", "optimizer.pt", "rng_state_0.pth", "a.pt"] {
        add(name);
    }
    assert_eq!(open(folder.path()).tensors()[0].name, "a.pt");
    add("b.pth");
    says(folder.path(), &["2 PyTorch files", "\"a.pt\"", "\"b.pth\"", "name one"]);
    add("pytorch_model.bin");
    assert_eq!(open(folder.path()).tensors()[0].name, "pytorch_model.bin");
}

/// A pickle of protocol 4 has frames, short texts and a memo that counts by itself.
#[test]
fn opcodes_of_newer_protocols_are_read() {
    let mut code = tensor(storage("FloatStorage", "0", 2), 1, &[1], &[1]);
    // STACK_GLOBAL and MEMOIZE, in place of the global of the call.
    let old = global("torch._utils", "_rebuild_tensor_v2");
    let new = [&b"\x8c\x0ctorch._utils\x8c\x12_rebuild_tensor_v2\x93\x94"[..]].concat();
    assert!(code.starts_with(&old));
    code.splice(..old.len(), new);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.bin");
    let value = [&b"\x95\0\0\0\0\0\0\0\0}"[..], &text("w"), &code, b"s"].concat();
    assert!(pickle(&value).starts_with(b"\x80\x02"));
    torch_file(&path, &value, &[("0", &[1_f32, 2.0].map(f32::to_le_bytes).concat())]);
    let mut values = [0.0_f32];
    open(&path).read("w", &mut values).expect("values");
    assert_eq!(values, [2.0]);
}

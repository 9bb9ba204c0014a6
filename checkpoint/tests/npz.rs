//! Archives of arrays as checkpoints.

use std::fs;

use lanecast::DType::{Complex64, Float32, Int64, UInt8};
use lanecast_checkpoint::{Callbacks, Checkpoint, Options, dequantize};
use zip::CompressionMethod;

use crate::common::pickles::{archive, npy};

/// Every order of bytes and axes, stored and deflated.
#[test]
fn arrays_are_read_in_c_order() {
    let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let big: Vec<u8> = values.iter().flat_map(|x| x.to_be_bytes()).collect();
    let little: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.npz");
        archive(
            &path,
            method,
            &[
                ("little.npy", &npy("<f4", false, "(4, 6)", &little)),
                ("big.npy", &npy(">f4", false, "(4, 6)", &big)),
                ("fortran.npy", &npy("<f4", true, "(2, 3, 4)", &little)),
                ("both.npy", &npy(">f4", true, "(4, 6)", &big)),
                ("scalar.npy", &npy("<i8", false, "()", &7_i64.to_le_bytes())),
                ("empty.npy", &npy("|u1", true, "(0, 3)", &[])),
                ("nan.npy", &npy(">f4", false, "(1,)", &0xFFA0_0001_u32.to_be_bytes())),
                ("complex.npy", &npy(">c8", false, "(1,)", &[1.0_f32, -2.0].map(f32::to_be_bytes).concat())),
                ("note.txt", b"no array"),
            ],
        );
        for opened in [&path, folder.path()] {
            let checkpoint = Checkpoint::open(opened).unwrap_or_else(|e| panic!("{e}"));
            let read = |name: &str| {
                let mut values = vec![0.0_f32; checkpoint.find(name).expect("a tensor").elements()];
                checkpoint.read(name, &mut values).unwrap_or_else(|e| panic!("{e}"));
                values
            };
            assert_eq!((read("little"), read("big")), (values.clone(), values.clone()));
            let fortran = read("fortran");
            assert!(
                (0..24).all(|i| fortran[(i % 2) * 12 + (i / 2 % 3) * 4 + i / 6] == i as f32),
                "{fortran:?}"
            );
            let both = read("both");
            assert!((0..24).all(|i| both[(i % 4) * 6 + i / 4] == i as f32), "{both:?}");
            assert_eq!((read("scalar"), read("empty")), (vec![7.0], vec![]));
            let bytes = |name: &str, dtype, n| {
                let mut bytes = vec![0; n];
                checkpoint.read_bytes(name, dtype, &mut bytes).unwrap_or_else(|e| panic!("{e}"));
                bytes
            };
            assert_eq!(bytes("nan", Float32, 4), 0xFFA0_0001_u32.to_le_bytes());
            assert_eq!(bytes("complex", Complex64, 8), [1.0_f32, -2.0].map(f32::to_le_bytes).concat());
            let dtypes: Vec<_> = checkpoint.tensors().iter().filter_map(|tensor| tensor.dtype).collect();
            assert_eq!(dtypes, [Float32, Float32, Float32, Float32, Int64, UInt8, Float32, Complex64]);
            let [warning] = checkpoint.warnings() else { panic!("{:?}", checkpoint.warnings()) };
            assert!(warning.contains("note.txt"), "{warning}");
        }
    }
}

/// Codes of more elements than the decoder reads at once, so that it comes back to the member.
#[test]
fn quantized_weights_are_decoded_in_parts() {
    const ROWS: usize = 1100;
    const COLS: usize = 1024;
    let folder = tempfile::tempdir().expect("a folder");
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    fs::create_dir(&src).expect("a folder");
    let group = r#"{"targets":["Linear"],"weights":{"num_bits":8,"type":"int","strategy":"channel"}}"#;
    let config = format!(
        r#"{{"quantization_config":{{"quant_method":"compressed-tensors","format":"int-quantized","config_groups":{{"a":{group}}}}}}}"#
    );
    fs::write(src.join("config.json"), config).expect("a file");
    let codes: Vec<u8> = (0..ROWS * COLS).map(|i| (i % 251) as u8).collect();
    let scales: Vec<u8> = (0..ROWS).flat_map(|row| (row as f32).to_le_bytes()).collect();
    archive(
        &src.join("model.npz"),
        CompressionMethod::Deflated,
        &[
            ("m.weight.npy", &npy("|i1", false, &format!("({ROWS}, {COLS})"), &codes)),
            ("m.weight_scale.npy", &npy("<f4", false, &format!("({ROWS}, 1)"), &scales)),
        ],
    );
    let want: Vec<f32> =
        codes.iter().enumerate().map(|(i, code)| f32::from(*code as i8) * (i / COLS) as f32).collect();
    dequantize(&src, &dst, &Options::to(Float32), Callbacks::default()).expect("a report");
    for path in [&src, &dst] {
        let mut values = vec![0.0_f32; ROWS * COLS];
        Checkpoint::open(path).expect("a checkpoint").read("m.weight", &mut values).expect("values");
        assert!(values == want);
    }
    assert!(dst.join("model.safetensors").exists());
}

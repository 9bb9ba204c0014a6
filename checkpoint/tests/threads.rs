//! The number of threads changes no byte and no report.

use std::{fs, path::Path};

use lanecast::DType::{BFloat16, Float16, Float32};
use lanecast_checkpoint::{
    Callbacks, Checkpoint, ConvertOptions, Error, Options, QuantLayout, QuantScheme, QuantizeOptions,
    convert, dequantize, quantize,
};

use crate::common::{Goldens, models::tree, write};

/// A model whose tensors take several ranges, and many that share one.
fn model(folder: &Path) -> std::path::PathBuf {
    let src = folder.join("src");
    fs::create_dir_all(&src).expect("a folder");
    let mut seed = 1_u64;
    let mut floats = |n: u64| -> Vec<u8> {
        let value = |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Some are too small or too large for float16.
            let bits = (seed >> 32) as u32;
            f32::from_bits(((bits >> 1) % 0x5000_0000) | (bits << 31)).to_le_bytes()
        };
        (0..n).flat_map(value).collect()
    };
    let large = [("m.0.q_proj.weight", [1500, 640]), ("m.0.up_proj.weight", [300, 2048])];
    let names: Vec<String> = (0..300).map(|i| format!("m.{i}.norm.weight")).collect();
    let mut tensors: Vec<(&str, _, &[u64], Vec<u8>)> = Vec::new();
    for (name, shape) in &large {
        tensors.push((name, Float32, shape, floats(shape.iter().product())));
    }
    for (i, name) in names.iter().enumerate() {
        tensors.push((name, Float32, [&[0_u64], &[7], &[640]][i % 3], floats([0, 7, 640][i % 3])));
    }
    write(&src.join("model.safetensors"), &tensors);
    fs::write(src.join("config.json"), "{}").expect("a file");
    src
}

#[test]
fn no_byte_depends_on_the_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path());
    let dst = |what: &str, threads: usize| folder.path().join(format!("{what}-{threads}"));
    let mut reports = Vec::new();
    for threads in [1, 2, 7] {
        let (at, threads) = (|what| dst(what, threads), Some(threads));
        let options = ConvertOptions { threads, verify: true, ..ConvertOptions::to(Float16) };
        let cast = convert(&src, &at("cast"), &options, Callbacks::default()).expect("a checkpoint");
        assert!(!cast.losses.is_empty() && cast.losses.iter().all(|loss| loss.elements > 0));
        let options = QuantizeOptions::new(QuantScheme::Mxfp4, QuantLayout::CompressedTensors);
        let options = QuantizeOptions { threads, ..options };
        let codes = quantize(&src, &at("codes"), &options, Callbacks::default()).expect("a checkpoint");
        let options = Options { threads, ..Options::to(BFloat16) };
        let values = dequantize(&at("codes"), &at("values"), &options, Callbacks::default());
        reports.push((cast, codes, values.expect("a checkpoint")));
    }
    assert!(reports.iter().all(|report| *report == reports[0]));
    for what in ["cast", "codes", "values"] {
        let first = tree(&dst(what, 1));
        assert!([2, 7].iter().all(|threads| tree(&dst(what, *threads)) == first), "{what}");
    }
}

#[test]
fn a_tensor_is_read_on_several_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path());
    let options = QuantizeOptions::new(QuantScheme::Fp8Block, QuantLayout::DeepSeek);
    let codes = folder.path().join("codes");
    quantize(&src, &codes, &options, Callbacks::default()).expect("a checkpoint");
    let goldens = Goldens::unpack();
    for path in [src, codes, goldens.path("gptq_v1"), goldens.path("gguf_mixed")] {
        let open = |threads| Checkpoint::open(&path).expect("a checkpoint").with_threads(threads);
        let (one, five) = (open(1), open(5));
        for tensor in one.tensors().iter().filter(|tensor| tensor.dtype.is_none_or(|dtype| dtype.bits() > 8))
        {
            let (mut a, mut b) = (vec![0.0_f32; tensor.elements()], vec![0.0_f32; tensor.elements()]);
            one.read(&tensor.name, &mut a).expect("values");
            five.read(&tensor.name, &mut b).expect("values");
            assert!(a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits())), "{}", tensor.name);
            let mut bytes = vec![0; 4 * a.len()];
            five.read_bytes(&tensor.name, Float32, &mut bytes).expect("values");
            assert!(bytes.chunks_exact(4).zip(&a).all(|(bytes, x)| bytes == x.to_le_bytes()));
        }
    }
}

/// The work ends soon, whatever the threads do, and leaves nothing behind.
#[test]
fn work_on_threads_can_be_cancelled() {
    let folder = tempfile::tempdir().expect("a folder");
    let src = model(folder.path());
    for threads in [1, 4] {
        for after in [0, 1, 2, 100] {
            let count = std::cell::Cell::new(0);
            let cancelled = || {
                count.set(count.get() + 1);
                count.get() > after
            };
            let callbacks = Callbacks { cancelled: Some(&cancelled), ..Callbacks::default() };
            let options = QuantizeOptions::new(QuantScheme::Int8, QuantLayout::CompressedTensors);
            let options = QuantizeOptions { threads: Some(threads), ..options };
            let error = quantize(&src, &folder.path().join("dst"), &options, callbacks).unwrap_err();
            assert!(matches!(error, Error::Cancelled), "{error}");
            assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        }
    }
}

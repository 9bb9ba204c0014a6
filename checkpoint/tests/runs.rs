//! Two runs on one output, and shards that are cut off.

use std::{cell::Cell, fs, path::Path};

use lanecast::DType::{BFloat16, Float32};
use lanecast_checkpoint::{
    Callbacks, ConvertOptions, Error, Options, QuantLayout, QuantScheme, QuantizeOptions, Step, convert,
    dequantize, quantize,
};

use crate::common::{
    models::{INDEX, bf16s, names, tree},
    write,
};

/// Two shards of weights that can be quantized.
fn model(folder: &Path) -> std::path::PathBuf {
    let src = folder.join("src");
    fs::create_dir_all(&src).expect("a folder");
    for i in ["1", "2"] {
        let name = format!("m.{i}.up_proj.weight");
        write(
            &src.join(format!("s-{i}.safetensors")),
            &[(&*name, BFloat16, &[128, 128][..], bf16s(128 * 128))],
        );
    }
    let index =
        r#"{"weight_map":{"m.1.up_proj.weight":"s-1.safetensors","m.2.up_proj.weight":"s-2.safetensors"}}"#;
    fs::write(src.join(INDEX), index).expect("a file");
    fs::write(src.join("config.json"), "{}").expect("a file");
    src
}

fn fp8() -> QuantizeOptions {
    QuantizeOptions::new(QuantScheme::Fp8Block, QuantLayout::DeepSeek)
}

/// Runs an operation while the same one is in progress. Returns what became of the first one.
fn twice(work: impl Fn(Callbacks<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let begun = Cell::new(false);
    let mut progress = |_: Step<'_>| {
        if !begun.replace(true) {
            work(Callbacks::default()).expect("the second run ends first");
        }
    };
    work(Callbacks { progress: Some(&mut progress), cancelled: None })
}

#[test]
fn the_output_of_another_run_is_neither_mixed_nor_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, codes) = (model(folder.path()), folder.path().join("codes"));
    let (back, whole) = (folder.path().join("back"), folder.path().join("whole"));
    let both = [
        twice(|callbacks| quantize(&src, &codes, &fp8(), callbacks).map(drop)),
        twice(|callbacks| dequantize(&codes, &back, &Options::to(Float32), callbacks).map(drop)),
    ];
    for error in both {
        let error = error.expect_err("the output is there");
        assert!(matches!(error, Error::Exists(_)), "{error}");
    }
    assert_eq!(names(folder.path()), ["back", "codes", "src"]);
    quantize(&src, &whole, &fp8(), Callbacks::default()).expect("a report");
    assert!(tree(&whole) == tree(&codes));
}

#[test]
fn a_shard_that_is_cut_off_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (src, codes) = (model(folder.path()), folder.path().join("codes"));
    quantize(&src, &codes, &fp8(), Callbacks::default()).expect("a report");
    let dst = folder.path().join("dst");
    for (of, which) in [(&src, 0), (&src, 1), (&codes, 2)] {
        let shard = of.join("s-2.safetensors");
        let bytes = fs::read(&shard).expect("a file");
        for length in [0, 7, 8, 20, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&shard, &bytes[..length]).expect("a file");
            let error = match which {
                0 => convert(of, &dst, &ConvertOptions::to(Float32), Callbacks::default()).map(drop),
                1 => quantize(of, &dst, &fp8(), Callbacks::default()).map(drop),
                _ => dequantize(of, &dst, &Options::to(Float32), Callbacks::default()).map(drop),
            };
            let error = error.expect_err("a part is missing").to_string();
            assert!(error.contains("s-2.safetensors"), "{length} of {}: {error}", bytes.len());
            assert_eq!(names(folder.path()), ["codes", "src"]);
        }
        fs::write(&shard, &bytes).expect("a file");
    }
}

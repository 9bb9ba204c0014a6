//! The schemes of another file of ComfyUI, layer by layer.

use lanecast::DType::{self, BFloat16};
use lanecast_checkpoint::{
    Callbacks, ConvertOptions, Loader, QuantLayout, QuantScheme, QuantizeOptions, Severity, check,
};
use lanecast_files::TensorFile;
use serde_json::{Value, json};

use crate::common::{
    weights::{halves, random, run},
    write,
};

/// A file of ComfyUI has the scheme of each layer of another one.
#[test]
fn a_file_of_comfyui_is_like_another() {
    let root = tempfile::tempdir().expect("a folder");
    let at = |name: &str| root.path().join(format!("{name}.safetensors"));
    let names = ["mlp.0", "mlp.1", "attn[0]", "proj", "new"];
    let tensors = |prefix: &str, names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("{prefix}blocks.0.{name}.weight")).collect();
        let tensors: Vec<(&str, DType, &[u64], Vec<u8>)> = (names.iter())
            .map(|name| (&**name, BFloat16, &[64, 64][..], halves(&random(64 * 64, 9))))
            .collect();
        write(&at("plain"), &tensors);
    };
    tensors("", &names[..4]);
    let of = |glob: &str, scheme| (format!("blocks.0.{glob}"), scheme);
    let map = vec![of("mlp.1", QuantScheme::Mxfp8), of(r"attn\[0\]", QuantScheme::Fp8Tensor)];
    let ignore = vec!["*.proj".to_owned()];
    let base = QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::Comfy);
    run(&at("plain"), &at("like"), &QuantizeOptions { map, ignore, ..base.clone() }).expect("a report");

    tensors("model.diffusion_model.", &names);
    let options = QuantizeOptions { scheme: QuantScheme::Fp8Tensor, ..base.clone() };
    let options = options.like(&at("plain"), &at("like")).expect("options");
    let report = run(&at("plain"), &at("new"), &options).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (4, 1));
    let file = TensorFile::open(&at("new")).expect("a file");
    let (_, text) =
        file.metadata().iter().find(|(key, _)| key == "_quantization_metadata").expect("metadata");
    let layers = &serde_json::from_str::<Value>(text).expect("JSON")["layers"];
    let formats =
        names.map(|name| layers[format!("model.diffusion_model.blocks.0.{name}")]["format"].clone());
    assert_eq!(json!(formats), json!(["nvfp4", "mxfp8", "float8_e4m3fn", null, "float8_e4m3fn"]));

    // Patterns of the caller come first.
    let map = vec![("*.proj".to_owned(), QuantScheme::Mxfp8)];
    let options = QuantizeOptions { map, ignore: vec!["*.new".to_owned()], ..base.clone() };
    let options = options.like(&at("plain"), &at("like")).expect("options");
    let report = run(&at("plain"), &at("own"), &options).expect("a report");
    assert_eq!((report.weights_quantized, report.tensors_copied), (4, 1));

    let error = base.clone().like(&at("plain"), &at("plain")).expect_err("a plain file").to_string();
    assert!(error.contains("no quantized layers") && error.contains("plain.safetensors"), "{error}");
    let other = QuantizeOptions { layout: QuantLayout::ModelOpt, ..base };
    let error = other.like(&at("plain"), &at("like")).expect_err("a layout").to_string();
    assert!(error.contains("modelopt"), "{error}");
}

/// ComfyUI loads one file; the error and the finding say how several become one.
#[test]
fn several_files_are_merged_first() {
    let (root, out) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for i in 0..2 {
        let name = format!("blocks.{i}.mlp.weight");
        let tensor = (&*name, BFloat16, &[64, 64][..], halves(&random(64 * 64, i)));
        write(&root.path().join(format!("model-{i}.safetensors")), &[tensor]);
    }
    let options = QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::Comfy);
    let error = run(root.path(), &out.path().join("x"), &options).expect_err("two files").to_string();
    let parts = ["the checkpoint has 2", "merge", "--max-shard-size"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    let checked = check(root.path(), Some(Loader::Comfy)).expect("a report");
    let [finding] = &checked.findings[..] else { panic!("{:?}", checked.findings) };
    let text = finding.to_string();
    assert!(finding.severity == Severity::Error && parts.iter().all(|part| text.contains(part)), "{text}");
    assert_eq!(check(root.path(), Some(Loader::Vllm)).expect("a report").findings, []);

    let merged = out.path().join("merged");
    let convert = ConvertOptions { max_shard_size: Some(1 << 30), ..ConvertOptions::to(BFloat16) };
    lanecast_checkpoint::convert(root.path(), &merged, &convert, Callbacks::default()).expect("a report");
    run(&merged.join("model.safetensors"), &out.path().join("x.safetensors"), &options).expect("a report");
    assert_eq!(check(&merged, Some(Loader::Comfy)).expect("a report").findings, []);
}

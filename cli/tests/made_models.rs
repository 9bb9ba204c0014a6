//! The models of `examples/make_models.py`, and every subcommand for checkpoints on them.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::common::{Folder, python, stderr};

const MODELS: [&str; 4] = ["llama", "qwen3-moe", "deepseek-v3", "gpt-oss"];

/// Makes the four models, of about 2 MB each.
fn models(test: &str) -> Option<Folder> {
    let python = python::numpy(test)?;
    let folder = Folder::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/make_models.py");
    let mut command = Command::new(python);
    let output = command.arg(script).args([".", "--size", "1"]).current_dir(folder.path()).output();
    let output = output.expect("Python runs");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 4);
    Some(folder)
}

/// Runs the words, and expects success. Warnings are no failure.
#[track_caller]
fn run(folder: &Folder, words: &str) -> String {
    let output = folder.run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_subcommand_takes_every_model() {
    let Some(folder) = models("made models") else { return };
    // The last tile of this weight is not whole, which is so in the model of that name, too.
    let partial = folder.run(&["check", "deepseek-v3", "--for", "transformers"]);
    let found = String::from_utf8_lossy(&partial.stdout);
    assert!(partial.status.code() == Some(1) && found.contains("kv_a_proj_with_mqa"), "{found}");
    for model in MODELS {
        let tree = run(&folder, &format!("inspect {model}"));
        assert!(tree.contains("lm_head.weight") && tree.contains(" alike, each as below"), "{tree}");
        run(&folder, &format!("inspect {model} --stats"));
        run(&folder, &format!("check {model}"));
        run(&folder, &format!("check {model} --for vllm"));
        let is_coded = matches!(model, "deepseek-v3" | "gpt-oss");
        let plain = match is_coded {
            true => {
                let convert = format!("convert {model} {model}-f16 --to float16");
                let refused = folder.run(&convert.split(' ').collect::<Vec<_>>());
                assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
                run(&folder, &format!("dequantize {model} {model}-plain --to bfloat16"));
                // bfloat16 holds codes times scales of MXFP4, and rounds those of block fp8.
                let limit = if model == "gpt-oss" { "0" } else { "4e-3" };
                run(&folder, &format!("diff {model}-plain {model} --fail-above rel={limit}"));
                format!("{model}-plain")
            }
            false => {
                run(&folder, &format!("convert {model} {model}-f32 --to float32 --verify"));
                run(&folder, &format!("diff {model}-f32 {model} --fail-above rel=0"));
                model.to_owned()
            }
        };
        run(&folder, &format!("check {plain}"));
        // Only the layout of gpt-oss stores experts whose rows of gate and up alternate.
        let ignore = if model == "gpt-oss" { " --ignore *.experts.*" } else { "" };
        for (scheme, layout, limit) in [
            ("fp8-block", "deepseek", "0.07"),
            ("fp8-dynamic", "compressed-tensors", "0.07"),
            ("mxfp8", "mxfp8", "0.07"),
            ("nvfp4", "modelopt", "0.25"),
            ("w4a16", "compressed-tensors", "0.5"),
        ] {
            let words = format!("quantize {plain} codes --scheme {scheme} --layout {layout} --force{ignore}");
            run(&folder, &words);
            run(&folder, "check codes");
            are_read_by_the_reference(&folder.at("codes"));
            run(&folder, &format!("diff codes {plain} --fail-above rel={limit}"));
        }
        if model == "gpt-oss" {
            run(&folder, &format!("quantize {plain} codes --scheme mxfp4 --layout gpt-oss --force"));
            run(&folder, &format!("diff codes {model} --fail-above rel=0"));
            let layouts = [("gpt-oss", "split", "compressed-tensors"), ("split", "stacked", "gpt-oss")];
            for (src, dst, layout) in layouts {
                run(&folder, &format!("requantize {src} {dst} --lossless --scheme mxfp4 --layout {layout}"));
                run(&folder, &format!("check {dst}"));
                run(&folder, &format!("diff {dst} {model} --fail-above rel=0"));
                are_read_by_the_reference(&folder.at(dst));
            }
        }
    }
}

/// Expects that the reader of the crate `safetensors` takes all shards of a folder.
fn are_read_by_the_reference(folder: &Path) {
    let mut read = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            let bytes = fs::read(&path).expect("a file");
            let shard = safetensors::SafeTensors::deserialize(&bytes);
            assert!(shard.is_ok_and(|shard| !shard.is_empty()), "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 0, "{}", folder.display());
}

/// The same arguments give the same files, so that figures of two machines are about the same models.
#[test]
fn models_are_made_again() {
    let (Some(first), Some(second)) = (models("made models"), models("made models")) else { return };
    for model in MODELS {
        let file = format!("{model}/model.safetensors.index.json");
        assert_eq!(first.read(&file), second.read(&file));
        let index: serde_json::Value = serde_json::from_slice(&first.read(&file)).expect("JSON");
        let shards: BTreeSet<&str> = index["weight_map"]
            .as_object()
            .expect("a map")
            .values()
            .filter_map(|name| name.as_str())
            .collect();
        assert!(shards.len() >= 3, "{shards:?}");
        for shard in shards {
            let shard = format!("{model}/{shard}");
            assert!(first.read(&shard) == second.read(&shard), "{shard}");
        }
    }
}

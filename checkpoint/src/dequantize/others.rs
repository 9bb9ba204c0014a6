//! The files of a checkpoint that are no weights, copied byte for byte.

use std::{fs, path::Path};

use lanecast_files::{Error, Result};

use super::{Job, make};
use crate::{
    error::unsupported,
    source::{SKIPPED, resolve},
};

/// The ends of the names of weights, of downloads that did not end, and of indices of weights.
const WEIGHTS: &[&str] = &[
    ".safetensors",
    ".bin",
    ".pth",
    ".gguf",
    ".onnx",
    ".incomplete",
    ".safetensors.index.json",
    ".bin.index.json",
];

/// Files that describe the quantization, or are rewritten.
const REPLACED: &[&str] =
    &["config.json", "hf_quant_config.json", "quantize_config.json", "quant_config.json"];

/// Copies what is in the folder of the checkpoint to the folder `to`.
pub(super) fn copy(job: &mut Job<'_, '_>, to: &Path) -> Result<()> {
    let mut names = Vec::new();
    let source = &job.checkpoint.source;
    list(&source.folder, "", &mut names)?;
    // An index may name a shard as it likes.
    names.retain(|name| source.files.iter().all(|file| Path::new(&file.name) != Path::new(name)));
    names.sort();
    for name in names {
        job.check()?;
        let from = resolve(&job.checkpoint.source.folder, &name)?;
        let path = make(to, &name)?;
        // Fails if the output has the file.
        super::file(&path)?;
        fs::copy(&from, &path).map_err(|e| Error::system("cannot copy", &e).at_path(&from))?;
        job.report.files.push(name);
    }
    Ok(())
}

/// Adds the files of a folder of the checkpoint, by their paths in it. `inner` is the path of the folder, with a slash at the end.
fn list(root: &Path, inner: &str, names: &mut Vec<String>) -> Result<()> {
    let folder = root.join(inner);
    let failed = |e: std::io::Error| Error::system("cannot list the folder", &e).at_path(&folder);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(unsupported("the name of the file is no UTF-8").at_path(&entry.path()));
        };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if !SKIPPED.contains(&&*name) {
                list(root, &format!("{inner}{name}/"), names)?;
            }
            continue;
        }
        let replaced = inner.is_empty() && REPLACED.contains(&&*name);
        let lower = name.to_ascii_lowercase();
        if replaced || WEIGHTS.iter().any(|end| lower.ends_with(end)) {
            continue;
        }
        if entry.path().is_dir() {
            return Err(unsupported("a link to a folder is not copied").at_path(&entry.path()));
        }
        names.push(format!("{inner}{name}"));
    }
    Ok(())
}

//! The files of a checkpoint that are no weights, copied byte for byte.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use lanecast_files::{Error, Result};

use super::new_file;
use crate::{
    error::unsupported,
    source::{SKIPPED, Source, resolve},
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

/// A file to copy.
#[derive(Debug)]
pub(crate) struct CopiedFile {
    /// Its path in the output.
    pub(crate) name: String,
    from: PathBuf,
}

impl CopiedFile {
    /// Copies the file to the folder `root`, which must not have it.
    pub(super) fn copy(&self, root: &Path) -> Result<()> {
        let (_, path) = new_file(root, &self.name)?;
        let failed = |e: io::Error| match e.kind() {
            // The other disk is full, not that of the source.
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Error::writing(&e).at_path(&path)
            }
            _ => Error::system("cannot copy", &e).at_path(&self.from),
        };
        fs::copy(&self.from, &path).map(drop).map_err(failed)
    }
}

/// The files of the folder that are neither weights nor `replaced`: files at the top of the folder that describe the weights.
pub(crate) fn copied_files(source: &Source, replaced: &[&str]) -> Result<Vec<CopiedFile>> {
    if !source.is_folder {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    list(&source.folder, "", replaced, &mut names)?;
    // An index may name a shard as it likes.
    names.retain(|name| source.files.iter().all(|file| Path::new(&file.name) != Path::new(name)));
    names.sort();
    let copied = names.into_iter().map(|name| Ok(CopiedFile { from: resolve(&source.folder, &name)?, name }));
    copied.collect()
}

/// Adds the files of a folder of the checkpoint, by their paths in it. `inner` is the path of the folder, with a slash at the end.
fn list(root: &Path, inner: &str, replaced: &[&str], names: &mut Vec<String>) -> Result<()> {
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
                list(root, &format!("{inner}{name}/"), replaced, names)?;
            }
            continue;
        }
        let replaced = inner.is_empty() && replaced.contains(&&*name);
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

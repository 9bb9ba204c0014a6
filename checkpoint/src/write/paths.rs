//! Paths of the output.

use std::{
    fs,
    path::{Path, PathBuf},
};

use lanecast_files::{Error, Result};

use crate::{error::request, source::Source};

/// Fails if one folder is in the other.
fn check_apart(src: &Path, dst: &Path, is_folder: bool) -> Result<()> {
    let real = |path: &Path| -> PathBuf {
        // The output need not exist; its folders may.
        let missing = path.ancestors().take_while(|path| !path.exists()).count();
        let known = path.ancestors().nth(missing).filter(|path| !path.as_os_str().is_empty());
        let known = known.unwrap_or(Path::new("."));
        let rest = path.strip_prefix(known).unwrap_or(path);
        fs::canonicalize(known).unwrap_or_else(|_| known.to_owned()).join(rest)
    };
    let (src, dst) = (real(src), real(dst));
    // A file in a folder may be written to a folder beside it.
    if src.starts_with(&dst) || is_folder && dst.starts_with(&src) {
        return Err(request(format!(
            "\"{}\" is the checkpoint, or one is in the other; name another output",
            dst.display()
        )));
    }
    Ok(())
}

/// Whether an output of this name is a GGUF file.
pub(crate) fn names_gguf(dst: &Path) -> bool {
    dst.extension().is_some_and(|extension| extension == "gguf")
}

/// Whether the output `dst` becomes a file, by its name. `shards` is the number of its shards. Fails if this checkpoint becomes a folder only, or if one of both
/// is in the other.
pub(crate) fn becomes_file(source: &Source, shards: usize, dst: &Path) -> Result<bool> {
    let names_file = dst.extension().is_some_and(|extension| extension == "safetensors");
    if names_file && (source.is_folder || source.gguf.is_some() || shards != 1) {
        let what = "the output of this checkpoint is a folder, and its name must not end with .safetensors: only a .safetensors file becomes a file";
        return Err(request(what).at_path(dst));
    }
    let is_file = names_file || names_gguf(dst);
    match is_file {
        true => source.files.iter().try_for_each(|file| check_apart(&file.path, dst, false))?,
        false => check_apart(&source.folder, dst, source.is_folder)?,
    }
    Ok(is_file)
}

/// The path of a file in the folder, whose folders are made.
pub(crate) fn make(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let parent = crate::source::parent(&path);
    fs::create_dir_all(&parent).map_err(|e| Error::writing(&e).at_path(&parent))?;
    Ok(path)
}

//! The folder of a checkpoint: which of its files have weights, and where paths in it lead.

use std::{
    fs::{self, File},
    io::Read,
    path::{Component, Path, PathBuf},
};

use lanecast_files::{Error, Result};

use crate::{
    error::{invalid, refused, unsupported},
    faults::Faults,
    source::{Json, SINGLE, SKIPPED},
};

/// The most bytes of JSON that are read. An index has about a hundred bytes for each tensor.
const LONGEST_JSON: u64 = 1 << 28;

/// The folder of a file.
pub(crate) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The name of a file.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Adds the `.safetensors` files of a folder and its subfolders, by their paths in `root`. `inner` is the path of the folder, with a slash at
/// the end.
pub(crate) fn safetensors(root: &Path, inner: &str, names: &mut Vec<String>) -> Result<()> {
    let folder = root.join(inner);
    let failed = |e: std::io::Error| Error::system("cannot list the folder", &e).at_path(&folder);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = format!("{inner}{name}");
        // Links to folders are not followed.
        if entry.file_type().map_err(failed)?.is_dir() {
            if !SKIPPED.contains(&&*name) {
                // The files of the checkpoint are not in a subfolder that cannot be listed.
                let _ = safetensors(root, &format!("{path}/"), names);
            }
        } else if name.to_ascii_lowercase().ends_with(".safetensors") {
            names.push(path);
        }
    }
    Ok(())
}

/// A kind of files with weights.
struct Kind {
    /// What its files are called.
    name: &'static str,
    /// The ends of their names.
    ends: &'static [&'static str],
    /// The usual name of the only file.
    single: &'static str,
    /// Whether all files of a folder are read, whatever their names are.
    all: bool,
}

/// The kinds, in the order in which a folder without an index is searched for them.
const KINDS: &[Kind] = &[
    Kind { name: ".safetensors", ends: &[".safetensors"], single: SINGLE, all: true },
    Kind { name: "PyTorch", ends: &[".bin", ".pth", ".pt"], single: "pytorch_model.bin", all: false },
    Kind { name: ".npz", ends: &[".npz"], single: "model.npz", all: false },
];

/// The beginnings of the names of PyTorch files that have the state of a training, and no weights.
const TRAINING: &[&str] = &["training_args.", "optimizer.", "scheduler.", "scaler.", "rng_state"];

/// The names of the files of a folder, in order.
pub(crate) fn list(folder: &Path) -> Result<Vec<String>> {
    let failed = |e: std::io::Error| Error::system("cannot list the folder", &e).at_path(folder);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let (Ok(name), false) =
            (entry.file_name().into_string(), entry.file_type().map_err(failed)?.is_dir())
        {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// The files with weights among the files of a folder without an index.
pub(crate) fn unindexed(folder: &Path, files: &[String], faults: &mut Faults) -> Result<Vec<String>> {
    for kind in KINDS {
        let has_kind = |name: &&String| {
            kind.ends.iter().any(|end| name.ends_with(end))
                && !TRAINING.iter().any(|start| name.starts_with(start))
        };
        let names: Vec<String> = files.iter().filter(has_kind).cloned().collect();
        if !names.is_empty() {
            return kind.choose(folder, names, faults);
        }
    }
    Err(invalid("the folder has no .safetensors, PyTorch or .npz files").at_path(folder))
}

impl Kind {
    /// The files to read of these, which are sorted.
    fn choose(&self, folder: &Path, names: Vec<String>, faults: &mut Faults) -> Result<Vec<String>> {
        if names.iter().any(|name| name == self.single) {
            return Ok(vec![self.single.to_owned()]);
        }
        let mut sets: Vec<Option<(&str, &str)>> = Vec::new();
        for name in &names {
            let Some(Numbered { stem, width, of, count, end }) = numbered(name) else {
                sets.push(None);
                continue;
            };
            let set = Some((stem, of));
            let known = sets.contains(&set);
            sets.push(set);
            let part = |i: usize| format!("{stem}-{i:0width$}-of-{of}{end}");
            // One fault for all files of a stem.
            if !known && let Some(missing) = (1..=count).map(part).find(|part| !names.contains(part)) {
                let what = format!("the folder has \"{name}\", one of {count} files, and not \"{missing}\"");
                faults.add(invalid(what).at_path(folder))?;
            }
        }
        let one_set = sets.iter().all(|set| set.is_some() && *set == sets[0]);
        if !self.all && names.len() > 1 && !one_set {
            let what = format!(
                "the folder has {} {} files, and nothing says which of them are the checkpoint: \"{}\", \"{}\"",
                names.len(),
                self.name,
                names[0],
                names[1]
            );
            return Err(refused(what, "name one of the files").at_path(folder));
        }
        Ok(names)
    }
}

/// The name of a file of the checkpoint when it is written as safetensors; `None` if it has such a name.
pub(crate) fn plain_name(name: &str) -> Option<String> {
    let ends = [".gguf", ".bin", ".pth", ".pt", ".npz"];
    let stem = ends.iter().find_map(|end| name.strip_suffix(end))?;
    // The name of safetensors files that transformers looks for.
    let stem = stem.strip_prefix("pytorch_").filter(|stem| stem.starts_with("model")).unwrap_or(stem);
    Some(format!("{stem}.safetensors"))
}

/// The parts of the name of one of several files, `model-00001-of-00003.safetensors`.
pub(crate) struct Numbered<'n> {
    stem: &'n str,
    /// The digits of the number of the file.
    width: usize,
    /// The count as it is written.
    of: &'n str,
    pub(crate) count: usize,
    end: &'n str,
}

/// The parts of a name, if it is that of one of several files.
pub(crate) fn numbered(name: &str) -> Option<Numbered<'_>> {
    let (stem, end) = name.rsplit_once('.').map(|(stem, end)| (stem, &name[name.len() - end.len() - 1..]))?;
    let (rest, of) = stem.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let count = of.parse().ok().filter(|_| digits(number) && digits(of))?;
    Some(Numbered { stem, width: number.len(), of, count, end })
}

/// The path of a file that the checkpoint in `folder` names: inside the folder, or one link into the blob store of a hub cache.
pub(crate) fn resolve(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let leaves = || invalid("the path leads out of the folder of the checkpoint").at(format!("\"{name}\""));
    let mut parts = Path::new(name).components().peekable();
    if parts.peek().is_none() || !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err(leaves());
    }
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(&path);
    let root = fs::canonicalize(folder).map_err(failed)?;
    let real = fs::canonicalize(&path).map_err(failed)?;
    if !real.starts_with(&root) && !blobs(&root).is_some_and(|blobs| real.starts_with(blobs)) {
        return Err(leaves());
    }
    if let Ok(target) = fs::read_link(&path)
        && parent(&path).join(target).is_symlink()
    {
        return Err(invalid("the path is a link to a link").at_path(&path));
    }
    Ok(path)
}

/// The blob store of the hub cache that has the snapshot `root`: `models--a--b/blobs` for `models--a--b/snapshots/REVISION`.
fn blobs(root: &Path) -> Option<PathBuf> {
    let snapshots =
        root.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "snapshots"))?;
    fs::canonicalize(snapshots.parent()?.join("blobs")).ok()
}

/// A JSON file of the folder, if it has one.
pub(crate) fn json(folder: &Path, name: &str) -> Result<Option<Json>> {
    let path = folder.join(name);
    if !path.exists() && !path.is_symlink() {
        return Ok(None);
    }
    let path = resolve(folder, name)?;
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(&path);
    // Opening a pipe would wait for its other end.
    if !fs::metadata(&path).map_err(failed)?.is_file() {
        return Err(unsupported("not a regular file").at_path(&path));
    }
    let mut text = String::new();
    let file = File::open(&path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > LONGEST_JSON {
        return Err(unsupported(format!("the file has more than {LONGEST_JSON} bytes")).at_path(&path));
    }
    (&file).take(LONGEST_JSON).read_to_string(&mut text).map_err(failed)?;
    let value = serde_json::from_str(&text).map_err(|e| invalid(format!("bad JSON, {e}")).at_path(&path))?;
    Ok(Some(Json { path, text, value }))
}

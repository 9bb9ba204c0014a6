//! What is on disk: the files of a checkpoint, their tensors, and the configuration beside them.
//!
//! *Law.* A tensor is listed only if the header of its file, checked by `lanecast-files`, has it where the index says. No path leaves the
//! folder, except one link into the blob store of a hub cache.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Component, Path, PathBuf},
};

use lanecast::{DType, gguf::BlockFormat};
use lanecast_files::{Error, Place, Result, TensorFile, TensorInfo};
use serde_json::Value;

use crate::{
    error::{At, invalid, unsupported},
    faults::Faults,
    gguf,
};

/// The name of the index of a checkpoint of several files.
pub(crate) const INDEX: &str = "model.safetensors.index.json";
/// The name of a checkpoint of one file.
pub(crate) const SINGLE: &str = "model.safetensors";

/// The most bytes of JSON that are read. An index has about a hundred bytes for each tensor.
const LONGEST_JSON: u64 = 1 << 28;

/// Folders that are no part of a model.
pub(crate) const SKIPPED: &[&str] = &[".git", ".cache"];
/// The most names of files in a warning.
const NAMED: usize = 3;

/// The elements of a stored tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Elements {
    /// Numbers or codes.
    Plain(DType),
    /// Blocks of a GGUF file.
    Blocks(BlockFormat),
    /// A type of a GGUF file that is not decoded.
    Unknown(u32),
}

/// A tensor as a file stores it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) elements: Elements,
    pub(crate) shape: Vec<usize>,
    /// The index of its file.
    pub(crate) file: usize,
    /// Its first byte in the file.
    pub(crate) start: u64,
    pub(crate) bytes: usize,
}

impl Stored {
    /// The dtype; `None` for blocks.
    pub(crate) fn dtype(&self) -> Option<DType> {
        match self.elements {
            Elements::Plain(dtype) => Some(dtype),
            _ => None,
        }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Dtype and shape, for a message.
    pub(crate) fn described(&self) -> String {
        let elements = match &self.elements {
            Elements::Plain(dtype) => dtype.name().to_owned(),
            Elements::Blocks(format) => format.name().to_owned(),
            Elements::Unknown(number) => format!("GGUF type {number}"),
        };
        format!("{elements} {:?}", self.shape)
    }
}

/// A file of tensors.
#[derive(Debug)]
pub(crate) struct TensorsFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its path in the folder of the checkpoint.
    pub(crate) name: String,
    /// The metadata of its header.
    pub(crate) metadata: Vec<(String, String)>,
}

/// A JSON file of the checkpoint.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) value: Value,
}

/// The files of a checkpoint.
#[derive(Debug)]
pub(crate) struct Source {
    /// The folder of the checkpoint, or that of its only file.
    pub(crate) folder: PathBuf,
    /// Whether the checkpoint is a folder, not one file.
    pub(crate) is_folder: bool,
    pub(crate) files: Vec<TensorsFile>,
    pub(crate) tensors: Vec<Stored>,
    pub(crate) names: HashMap<String, usize>,
    pub(crate) index: Option<Json>,
    pub(crate) config: Option<Json>,
    pub(crate) hf_quant_config: Option<Json>,
    pub(crate) quantize_config: Option<Json>,
    /// The metadata of a GGUF file.
    pub(crate) gguf: Option<serde_json::Map<String, Value>>,
    pub(crate) warnings: Vec<String>,
}

impl Source {
    /// Reads all headers.
    pub(crate) fn open(path: &Path, faults: &mut Faults) -> Result<Self> {
        let is_folder =
            fs::metadata(path).map_err(|e| Error::system("cannot open", &e).at_path(path))?.is_dir();
        let folder = if is_folder { path.to_owned() } else { parent(path) };
        // The configuration of another checkpoint says nothing about a GGUF file.
        let is_gguf = !is_folder && is_gguf(path)?;
        let mut json_beside = |name: &str| match is_gguf {
            true => Ok(None),
            false => faults.value(json(&folder, name)).map(Option::flatten),
        };
        let mut source = Self {
            is_folder,
            files: Vec::new(),
            tensors: Vec::new(),
            names: HashMap::new(),
            index: None,
            config: json_beside("config.json")?,
            hf_quant_config: json_beside("hf_quant_config.json")?,
            quantize_config: json_beside("quantize_config.json")?,
            gguf: None,
            warnings: Vec::new(),
            folder,
        };
        if is_gguf {
            let opened = source.open_gguf(path, faults);
            faults.value(opened)?;
        } else if !is_folder {
            let name = file_name(path);
            if let Some((.., count)) = numbered(&name).filter(|(.., count)| *count > 1) {
                let what = format!("{}: only this file of {count} is read", path.display());
                source.warnings.push(what);
            }
            source.add_safetensors(Ok(path.to_owned()), name, faults)?;
        } else if let Some(index) = faults.value(json(path, INDEX))?.flatten() {
            let opened = source.open_index(index, faults);
            faults.value(opened)?;
        } else {
            let names = unindexed(path, faults);
            for name in faults.value(names)?.into_iter().flatten() {
                source.add_safetensors(resolve(&source.folder, &name), name, faults)?;
            }
        }
        if is_folder {
            let mut others = Vec::new();
            safetensors(path, "", &mut others)?;
            others.retain(|name| {
                let consolidated = name.starts_with("consolidated");
                !consolidated && source.files.iter().all(|file| Path::new(&file.name) != Path::new(name))
            });
            others.sort();
            if !others.is_empty() {
                let what = format!(
                    "{}: {} .safetensors files are neither read nor copied: {}{}",
                    path.display(),
                    others.len(),
                    others
                        .iter()
                        .take(NAMED)
                        .map(|name| format!("\"{name}\""))
                        .collect::<Vec<_>>()
                        .join(", "),
                    if others.len() > NAMED { ", and others" } else { "" }
                );
                source.warnings.push(what);
            }
        }
        Ok(source)
    }

    /// Adds a GGUF file, and the other parts of a split model.
    fn open_gguf(&mut self, path: &Path, faults: &mut Faults) -> Result<()> {
        for path in gguf::parts(path)? {
            let name = file_name(&path);
            let file = self.files.len();
            let read = gguf::read(&path).map_err(|e| e.in_path(&path))?;
            self.files.push(TensorsFile { path, name, metadata: Vec::new() });
            self.gguf.get_or_insert(read.metadata);
            for tensor in read.tensors {
                let added = self.add(Stored { file, ..tensor });
                faults.value(added)?;
            }
        }
        Ok(())
    }

    /// Adds the files that an index names, and checks it against their headers.
    fn open_index(&mut self, index: Json, faults: &mut Faults) -> Result<()> {
        let wrong = |what: &str| invalid(what).at_path(&index.path);
        let map = index.value.get("weight_map").and_then(Value::as_object);
        let map = map.ok_or_else(|| wrong("the index has no object \"weight_map\""))?;
        let mut shards: Vec<&str> = Vec::new();
        let place = |tensor: &str| format!("{}, tensor \"{tensor}\"", index.path.display());
        for (tensor, shard) in map {
            match shard.as_str() {
                Some(shard) => shards.push(shard),
                None => {
                    faults.add(invalid("the index names no file for the tensor").at(place(tensor)))?;
                }
            }
        }
        shards.sort_unstable();
        shards.dedup();
        for shard in &shards {
            let path = resolve(&self.folder, shard).map_err(|e| e.in_path(&index.path));
            self.add_safetensors(path, (*shard).to_owned(), faults)?;
        }
        for (tensor, shard) in map {
            // A shard that was not opened is a fault already.
            let shard = shard.as_str().unwrap_or_default();
            let found = self.names.get(tensor).map(|of| self.files[self.tensors[*of].file].name.as_str());
            if found == Some(shard) || self.files.iter().all(|file| file.name != shard) {
                continue;
            }
            let error = match found {
                None => {
                    invalid(format!("the index says that \"{shard}\" has the tensor, and the file has not"))
                }
                Some(name) => {
                    invalid(format!("the index says that \"{shard}\" has the tensor, but \"{name}\" does"))
                }
            };
            faults.add(error.at(place(tensor)))?;
        }
        let unnamed = self.tensors.iter().filter(|tensor| !map.contains_key(&tensor.name)).count();
        if unnamed > 0 {
            let what = format!(
                "{}: the index does not name {unnamed} tensors that the files have",
                index.path.display()
            );
            self.warnings.push(what);
        }
        self.index = Some(index);
        Ok(())
    }

    /// Adds the tensors of a file, if it could be found.
    fn add_safetensors(&mut self, path: Result<PathBuf>, name: String, faults: &mut Faults) -> Result<()> {
        let read = path.and_then(|path| self.read_safetensors(path, name));
        for tensor in faults.value(read)?.into_iter().flatten() {
            let added = tensor.and_then(|tensor| self.add(tensor));
            faults.value(added)?;
        }
        Ok(())
    }

    /// Adds a file, and returns its tensors.
    fn read_safetensors(&mut self, path: PathBuf, name: String) -> Result<Vec<Result<Stored>>> {
        let opened = TensorFile::open(&path)?;
        if opened.format().name() != "safetensors" {
            return Err(
                unsupported("a checkpoint is a folder or a .safetensors or .gguf file").at_path(&path)
            );
        }
        let file = self.files.len();
        self.files.push(TensorsFile { path, name, metadata: opened.metadata().to_vec() });
        let stored = |tensor: &TensorInfo| {
            let place = |e: Error| e.at(format!("tensor \"{}\"", tensor.name)).in_path(opened.path());
            let whole = |axis: &u64| usize::try_from(*axis);
            let shape = tensor.shape.iter().flatten().map(whole).collect::<std::result::Result<Vec<_>, _>>();
            let (Ok(shape), Some(dtype), Place::File(range), Ok(bytes)) =
                (shape, tensor.dtype(), &tensor.place, usize::try_from(tensor.bytes))
            else {
                return Err(place(unsupported("the tensor is larger than memory could hold")));
            };
            let elements = Elements::Plain(dtype);
            Ok(Stored { name: tensor.name.clone(), elements, shape, file, start: range.start, bytes })
        };
        Ok(opened.tensors().iter().map(stored).collect())
    }

    fn add(&mut self, tensor: Stored) -> Result<()> {
        if !is_addressable(&tensor.shape) {
            let what = format!("the axes {:?} are larger than memory could hold", tensor.shape);
            return Err(unsupported(what).tensor(self, &tensor));
        }
        if let Some(other) = self.names.get(&tensor.name) {
            let other = &self.files[self.tensors[*other].file].name;
            return Err(invalid(format!("\"{other}\" has a tensor of the same name")).tensor(self, &tensor));
        }
        self.names.insert(tensor.name.clone(), self.tensors.len());
        self.tensors.push(tensor);
        Ok(())
    }

    /// Reads bytes of a tensor, from `first` on.
    pub(crate) fn read(&self, tensor: &Stored, first: usize, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.reader(tensor, first)?;
        file.read_exact(bytes).map_err(|e| Error::reading(&e).tensor(self, tensor))
    }

    /// The file of a tensor, at byte `first` of the tensor.
    pub(crate) fn reader(&self, tensor: &Stored, first: usize) -> Result<File> {
        let place = |e: Error| e.tensor(self, tensor);
        let path = &self.files[tensor.file].path;
        let mut file = File::open(path).map_err(|e| place(Error::system("cannot open", &e)))?;
        let start = SeekFrom::Start(tensor.start + first as u64);
        file.seek(start).map_err(|e| place(Error::reading(&e)))?;
        Ok(file)
    }

    /// All bytes of a tensor.
    pub(crate) fn read_all(&self, tensor: &Stored) -> Result<Vec<u8>> {
        let mut bytes = vec![0; tensor.bytes];
        self.read(tensor, 0, &mut bytes)?;
        Ok(bytes)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether a file begins as GGUF files do.
fn is_gguf(path: &Path) -> Result<bool> {
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(path);
    let mut magic = Vec::new();
    File::open(path).map_err(failed)?.take(4).read_to_end(&mut magic).map_err(failed)?;
    Ok(magic == gguf::MAGIC)
}

/// Whether the axes of a tensor, an empty one's zeros taken as 1, are so small that no size that derives from them overflows: an element has
/// at most 32 codes, and a value at most 8 bytes.
pub(crate) fn is_addressable(shape: &[usize]) -> bool {
    let n = shape.iter().try_fold(1_usize, |n, axis| n.checked_mul((*axis).max(1)));
    n.is_some_and(|n| n <= isize::MAX as usize / 256)
}

/// The folder of a file.
pub(crate) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Adds the `.safetensors` files of a folder and its subfolders, by their paths in `root`. `inner` is the path of the folder, with a slash at
/// the end.
fn safetensors(root: &Path, inner: &str, names: &mut Vec<String>) -> Result<()> {
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

/// The files of a folder without an index.
fn unindexed(folder: &Path, faults: &mut Faults) -> Result<Vec<String>> {
    let mut names = Vec::new();
    safetensors(folder, "", &mut names)?;
    names.retain(|name| !name.contains('/') && name.ends_with(".safetensors"));
    if names.iter().any(|name| name == SINGLE) {
        return Ok(vec![SINGLE.to_owned()]);
    }
    names.sort();
    if names.is_empty() {
        return Err(invalid("the folder has no .safetensors files").at_path(folder));
    }
    let mut known = HashSet::new();
    for name in &names {
        let Some((stem, width, of, count)) = numbered(name) else { continue };
        let part = |i: usize| format!("{stem}-{i:0width$}-of-{of}.safetensors");
        // One fault for all files of a stem.
        if known.insert((stem, of))
            && let Some(missing) = (1..=count).map(part).find(|part| !names.contains(part))
        {
            let what = format!("the folder has \"{name}\", one of {count} files, and not \"{missing}\"");
            faults.add(invalid(what).at_path(folder))?;
        }
    }
    Ok(names)
}

/// The parts of the name of one of several files, `model-00001-of-00003.safetensors`: the stem, the digits of the number of the file, and the
/// count as text and number.
fn numbered(name: &str) -> Option<(&str, usize, &str, usize)> {
    let (rest, of) = name.strip_suffix(".safetensors")?.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(number) && digits(of)).then_some((stem, number.len(), of, of.parse().ok()?))
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
fn json(folder: &Path, name: &str) -> Result<Option<Json>> {
    let path = folder.join(name);
    if !path.exists() && !path.is_symlink() {
        return Ok(None);
    }
    let path = resolve(folder, name)?;
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(&path);
    let mut text = String::new();
    let file = File::open(&path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > LONGEST_JSON {
        return Err(unsupported(format!("the file has more than {LONGEST_JSON} bytes")).at_path(&path));
    }
    (&file).take(LONGEST_JSON).read_to_string(&mut text).map_err(failed)?;
    let value = serde_json::from_str(&text).map_err(|e| invalid(format!("bad JSON, {e}")).at_path(&path))?;
    Ok(Some(Json { path, text, value }))
}

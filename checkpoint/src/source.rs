//! What is on disk: the files of a checkpoint, their tensors, and the configuration beside them.
//!
//! *Law.* A tensor is listed only if the header of its file, checked by `lanecast-files`, has it where the index says. No path leaves the
//! folder, except one link into the blob store of a hub cache.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use lanecast::{DType, gguf::BlockFormat};
use lanecast_files::{Error, Place, Result, TensorFile, TensorInfo};
use serde_json::Value;

use crate::{
    arrivals::Arrivals,
    error::{At, invalid, unsupported},
    faults::Faults,
    folder::{json, list, numbered, safetensors, unindexed},
    gguf,
    npz::Archives,
    origin::Origin,
    spool::{Spool, SpoolReader},
    torch,
};

pub(crate) use crate::folder::{file_name, parent, resolve};

/// The name of the index of a checkpoint of several files.
pub(crate) const INDEX: &str = "model.safetensors.index.json";
/// The name of the index of a checkpoint of several files of PyTorch.
const TORCH_INDEX: &str = "pytorch_model.bin.index.json";
/// The name of a checkpoint of one file.
pub(crate) const SINGLE: &str = "model.safetensors";

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

/// How a file stores the elements of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    /// One after the other in C order, little-endian, from the first byte on.
    File,
    /// This number of elements apart along each axis.
    Strides(Vec<usize>),
    /// In this array of an archive.
    Member(usize),
}

/// Bytes that are read from any place.
pub(crate) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

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
    /// The bytes of its elements.
    pub(crate) bytes: usize,
    pub(crate) via: Via,
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
    /// What the file was when it was used. It may be gone since: its tensors are listed, and cannot be read.
    pub(crate) described: Option<Origin>,
}

impl TensorsFile {
    /// A file that is there and has no metadata.
    pub(crate) fn new(path: PathBuf, name: String) -> Self {
        Self { path, name, metadata: Vec::new(), described: None }
    }
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
    /// Files that the index names and that are not complete, and why; none unless the caller [waits](Arrivals::waits) for them.
    pub(crate) missing: Vec<(String, Error)>,
    pub(crate) config: Option<Json>,
    pub(crate) hf_quant_config: Option<Json>,
    pub(crate) quantize_config: Option<Json>,
    /// The metadata of a GGUF file.
    pub(crate) gguf: Option<gguf::Metadata>,
    pub(crate) warnings: Vec<String>,
    pub(crate) archives: Archives,
    pub(crate) spool: Spool,
}

impl Source {
    /// Reads all headers.
    pub(crate) fn open(path: &Path, faults: &mut Faults) -> Result<Self> {
        Self::open_with(path, &Arrivals::default(), faults)
    }

    /// Reads all headers except for files of an index that are gone or have not arrived.
    pub(crate) fn open_with(path: &Path, arrivals: &Arrivals, faults: &mut Faults) -> Result<Self> {
        let is_folder =
            fs::metadata(path).map_err(|e| Error::system("cannot open", &e).at_path(path))?.is_dir();
        let folder = if is_folder { path.to_owned() } else { parent(path) };
        // The configuration of another checkpoint says nothing about a GGUF file.
        let is_gguf = !is_folder && head(path)?.starts_with(gguf::MAGIC);
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
            missing: Vec::new(),
            config: json_beside("config.json")?,
            hf_quant_config: json_beside("hf_quant_config.json")?,
            quantize_config: json_beside("quantize_config.json")?,
            gguf: None,
            warnings: Vec::new(),
            archives: Archives::new(),
            spool: Spool::default(),
            folder,
        };
        if is_gguf {
            let opened = source.open_gguf(path, faults);
            faults.value(opened)?;
        } else if !is_folder {
            let name = file_name(path);
            if let Some(of) = numbered(&name).filter(|of| of.count > 1) {
                let what = format!("{}: only this file of {} is read", path.display(), of.count);
                source.warnings.push(what);
            }
            source.add_file(Ok(path.to_owned()), name, faults)?;
        } else if let Some(index) = faults.value(json(path, INDEX))?.flatten() {
            let opened = source.open_index(index, arrivals, faults);
            faults.value(opened)?;
        } else {
            let files = list(path)?;
            let torch = match files.iter().any(|name| name.ends_with(".safetensors")) {
                true => None,
                false => faults.value(json(path, TORCH_INDEX))?.flatten(),
            };
            if let Some(index) = torch {
                let opened = source.open_index(index, arrivals, faults);
                faults.value(opened)?;
            } else {
                let names = unindexed(path, &files, faults);
                for name in faults.value(names)?.into_iter().flatten() {
                    source.add_file(resolve(&source.folder, &name), name, faults)?;
                }
            }
        }
        if is_folder {
            let mut others = Vec::new();
            safetensors(path, "", &mut others)?;
            others.retain(|name| {
                let consolidated = name.starts_with("consolidated");
                let missing = source.missing.iter().map(|(name, _)| name);
                let mut known = source.files.iter().map(|file| &file.name).chain(missing);
                !consolidated && known.all(|known| Path::new(known) != Path::new(name))
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
            self.files.push(TensorsFile::new(path, name));
            self.gguf.get_or_insert(read.metadata);
            for tensor in read.tensors {
                let added = self.add(Stored { file, ..tensor });
                faults.value(added)?;
            }
        }
        Ok(())
    }

    /// Adds the files that an index names, and checks it against their headers.
    fn open_index(&mut self, index: Json, arrivals: &Arrivals, faults: &mut Faults) -> Result<()> {
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
            let (path, name) = (self.folder.join(shard), (*shard).to_owned());
            let of = arrivals.described.get(*shard);
            let read = match of.is_some() && !path.exists() {
                true => None,
                false => Some(self.read_arrived(shard, &index.path, arrivals)),
            };
            match (read, of) {
                (None, Some(of)) => self.add_described(path, name, of)?,
                // It was removed just now.
                (Some(Err(_)), Some(of)) if !path.exists() => self.add_described(path, name, of)?,
                (Some(Err(error)), _) if arrivals.waits => self.missing.push((name, error)),
                (read, _) => read.into_iter().try_for_each(|read| self.take(read, faults))?,
            }
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

    /// Adds a file of any kind but GGUF, if it could be found.
    fn add_file(&mut self, path: Result<PathBuf>, name: String, faults: &mut Faults) -> Result<()> {
        let read = path.and_then(|path| self.read_file(path, name));
        self.take(read, faults)
    }

    /// Adds the tensors of a file, if it could be read.
    fn take(&mut self, read: Result<Vec<Result<Stored>>>, faults: &mut Faults) -> Result<()> {
        for tensor in faults.value(read)?.into_iter().flatten() {
            let added = tensor.and_then(|tensor| self.add(tensor));
            faults.value(added)?;
        }
        Ok(())
    }

    /// Adds a file of any kind but GGUF, and returns its tensors.
    pub(crate) fn read_file(&mut self, path: PathBuf, name: String) -> Result<Vec<Result<Stored>>> {
        if torch::may_be(&head(&path)?)
            && let Some(read) = torch::read(&path)?
        {
            let file = self.files.len();
            self.warnings.extend(read.warnings.iter().map(|what| format!("{}: {what}", path.display())));
            self.files.push(TensorsFile::new(path, name));
            return Ok(read.tensors.into_iter().map(|tensor| Ok(Stored { file, ..tensor })).collect());
        }
        let opened = TensorFile::open(&path)?;
        match opened.format().name() {
            "safetensors" => Ok(self.read_safetensors(path, name, &opened)),
            "npz" => Ok(self.read_npz(path, name, opened)),
            _ => {
                let what = "a checkpoint is a folder, or a .safetensors, .gguf, .npz or PyTorch file";
                Err(unsupported(what).at_path(&path))
            }
        }
    }

    fn read_safetensors(&mut self, path: PathBuf, name: String, opened: &TensorFile) -> Vec<Result<Stored>> {
        let file = self.files.len();
        let metadata = opened.metadata().to_vec();
        self.files.push(TensorsFile { metadata, ..TensorsFile::new(path, name) });
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
            let (name, start) = (tensor.name.clone(), range.start);
            Ok(Stored { name, elements, shape, file, start, bytes, via: Via::File })
        };
        opened.tensors().iter().map(stored).collect()
    }

    pub(crate) fn add(&mut self, tensor: Stored) -> Result<()> {
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

    /// The names of all tensors; of those in missing files, too.
    pub(crate) fn tensor_names(&self) -> impl Iterator<Item = &str> + Clone {
        let index = self.index.as_ref().filter(|_| !self.missing.is_empty());
        let map = index.and_then(|index| index.value.get("weight_map")?.as_object());
        let missing = map.into_iter().flatten().map(|(name, _)| name.as_str());
        let missing = missing.filter(|name| !self.names.contains_key(*name));
        self.tensors.iter().map(|tensor| tensor.name.as_str()).chain(missing)
    }

    /// Reads bytes of a tensor, from `first` on.
    pub(crate) fn read(&self, tensor: &Stored, first: usize, bytes: &mut [u8]) -> Result<()> {
        let mut file = self.reader(tensor, first)?;
        file.read_exact(bytes).map_err(|e| Error::reading(&e).tensor(self, tensor))
    }

    /// A reader of the bytes of a tensor, from `first` on.
    pub(crate) fn reader(&self, tensor: &Stored, first: usize) -> Result<Box<dyn ReadSeek>> {
        Ok(match tensor.via {
            Via::File => Box::new(self.file(tensor, first)?),
            _ => Box::new(SpoolReader::new(self.spooled(tensor)?, first as u64)),
        })
    }

    /// The file of a tensor, `first` bytes behind the first byte of its elements.
    pub(crate) fn file(&self, tensor: &Stored, first: usize) -> Result<File> {
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

/// The first 8 bytes of a file.
fn head(path: &Path) -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::system("cannot open", &e).at_path(path);
    // Opening a pipe would wait for its other end.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(unsupported("not a regular file").at_path(path));
    }
    let mut head = Vec::new();
    File::open(path).map_err(failed)?.take(8).read_to_end(&mut head).map_err(failed)?;
    Ok(head)
}

/// Whether the axes of a tensor, an empty one's zeros taken as 1, are so small that no size that derives from them overflows: an element has
/// at most 32 codes, and a value at most 8 bytes.
pub(crate) fn is_addressable(shape: &[usize]) -> bool {
    let n = shape.iter().try_fold(1_usize, |n, axis| n.checked_mul((*axis).max(1)));
    n.is_some_and(|n| n <= isize::MAX as usize / 256)
}

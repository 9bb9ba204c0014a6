//! Files of a checkpoint that are not there: those that have not arrived yet, and those that were removed after their use.
//!
//! *Law.* A [`Description`] stands for a file that is gone: its tensors are listed, and reading one fails. A file that is there is read,
//! whatever was written down about it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use lanecast::DType;
use lanecast_files::Result;
use serde::{Deserialize, Serialize};

use crate::{
    error::damaged,
    named,
    origin::Origin,
    source::{Elements, Source, Stored, TensorsFile, Via, resolve},
};

/// The end of the name of the file in which aria2 records which parts of another file it has. That file has its full length from the
/// beginning.
const CONTROL: &str = ".aria2";

/// How files that an index names and that are not there are taken.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// What is known about files that were used, by their names.
    pub(crate) described: HashMap<String, Description>,
    /// Whether a file that is not complete is listed as missing, and is no error.
    pub(crate) waits: bool,
}

/// A file of tensors without its data.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    pub(crate) origin: Origin,
    pub(crate) metadata: Vec<(String, String)>,
    tensors: Vec<DescribedTensor>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DescribedTensor {
    name: String,
    #[serde(with = "named")]
    dtype: DType,
    shape: Vec<u64>,
    start: u64,
    bytes: u64,
}

impl Description {
    /// Describes a file of the source; `None` for one that is no `.safetensors` file.
    pub(crate) fn of(source: &Source, file: usize, origin: &Origin) -> Option<Self> {
        let describe = |tensor: &Stored| match (&tensor.elements, &tensor.via) {
            (Elements::Plain(dtype), Via::File) => Some(DescribedTensor {
                name: tensor.name.clone(),
                dtype: *dtype,
                shape: tensor.shape.iter().map(|axis| *axis as u64).collect(),
                start: tensor.start,
                bytes: tensor.bytes as u64,
            }),
            _ => None,
        };
        let tensors = source.tensors.iter().filter(|tensor| tensor.file == file);
        let metadata = source.files[file].metadata.clone();
        Some(Self {
            origin: origin.clone(),
            metadata,
            tensors: tensors.map(describe).collect::<Option<_>>()?,
        })
    }

    /// The tensors of the file, which gets the index `file`.
    pub(crate) fn stored(&self, file: usize) -> Result<Vec<Stored>> {
        let whole = |n: &u64| usize::try_from(*n).ok();
        let stored = |tensor: &DescribedTensor| {
            Some(Stored {
                name: tensor.name.clone(),
                elements: Elements::Plain(tensor.dtype),
                shape: tensor.shape.iter().map(whole).collect::<Option<_>>()?,
                file,
                start: tensor.start,
                bytes: whole(&tensor.bytes)?,
                via: Via::File,
            })
        };
        let stored = self.tensors.iter().map(stored).collect::<Option<_>>();
        stored.ok_or_else(|| damaged("the description of the file is larger than memory", "start again"))
    }
}

impl Source {
    /// Adds a file that is gone.
    pub(crate) fn add_described(&mut self, path: PathBuf, name: String, of: &Description) -> Result<()> {
        let tensors = of.stored(self.files.len()).map_err(|e| e.at_path(&path))?;
        let (metadata, described) = (of.metadata.clone(), Some(of.origin.clone()));
        self.files.push(TensorsFile { path, name, metadata, described });
        tensors.into_iter().try_for_each(|tensor| self.add(tensor))
    }

    /// Reads a file that the index at a path names.
    pub(crate) fn read_arrived(
        &mut self,
        name: &str,
        index: &Path,
        arrivals: &Arrivals,
    ) -> Result<Vec<Result<Stored>>> {
        let path = resolve(&self.folder, name).map_err(|e| e.in_path(index))?;
        if arrivals.waits {
            check_control(&path)?;
        }
        let read = self.read_file(path, name.to_owned())?;
        if let (Some(of), Some(file)) = (arrivals.described.get(name), self.files.last_mut()) {
            file.described = Some(of.origin.clone());
        }
        Ok(read)
    }
}

/// Fails if a program that is writing the file says that it is not complete.
pub(crate) fn check_control(path: &Path) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(CONTROL);
    match Path::new(&name).exists() {
        true => Err(crate::error::invalid(format!("\"{CONTROL}\" beside it says that parts are missing"))),
        false => Ok(()),
    }
}

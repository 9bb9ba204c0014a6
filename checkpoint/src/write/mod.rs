//! The writer of checkpoints: a [`Plan`] in, files out. `dequantize` and `convert` make plans.
//!
//! *Law.* A file has the tensors of its plan, in the order of the reference implementation, and no byte depends on how the work is divided.
//! Memory holds headers and a few blocks, not a tensor.
//!
//! *Method.* Several threads read and cast ranges of tensors, in the order of the files. The calling thread writes their bytes in this order to
//! a [`Target`], and calls the callbacks. Order: shards, other files, texts, the index last.

#[cfg(test)]
pub(crate) mod divisions;
mod notes;
mod others;
mod paths;
mod shards;
mod target;
mod work;

use std::{ops::Range, path::Path};

use lanecast_files::{Error, Output, Result, StagedFolder, formats::Declared, formats::safetensors_header};
use serde_json::Value;

pub use self::notes::Loss;
pub(crate) use self::{
    notes::Notes,
    others::{CopiedFile, copied_files},
    paths::{becomes_file, make, names_gguf},
    shards::{Cut, index, name_shards},
    target::{Target, new_file},
};
use crate::{
    checkpoint::little,
    decode::Sink,
    source::{INDEX, Source},
};
use target::{Folder, Single};

/// What is wrong with an output that has the names of GGUF, and is none.
pub(crate) const GGUF_NAMES: &str = "the tensors keep the names and the order of rows that GGUF has, so transformers does not load the result";

/// How far the work has progressed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Step<'a> {
    /// The file that is written, or read by [`compare`](crate::compare()).
    pub file: &'a str,
    /// The tensor that is written or read.
    pub tensor: &'a str,
    /// Bytes of tensors that are written or read.
    pub done: u64,
    /// Bytes of tensors that will be written or read. As long as files of the source are waited for, only bytes of files that have arrived.
    pub total: u64,
    /// Bytes of tensors of this file that are written.
    pub file_done: u64,
    /// Bytes of tensors that will be written to this file.
    pub file_total: u64,
    /// Whether the output is read again, not written: all bytes count from zero again.
    pub is_check: bool,
    /// Whether the whole file is on the disk, which comes as a step of its own, without a tensor. [`convert`](crate::convert()) goes on later
    /// without the files of the source that it is made of.
    pub is_saved: bool,
}

impl<'a> Step<'a> {
    /// A step of work whose bytes are counted for all files at once.
    pub(crate) const fn of_all(file: &'a str, tensor: &'a str, done: u64, total: u64) -> Self {
        let (file_done, file_total) = (done, total);
        Self { file, tensor, done, total, file_done, file_total, is_check: false, is_saved: false }
    }
}

/// Callbacks, both optional. They are called on the thread that called the function, after each part of a tensor.
#[derive(Default)]
pub struct Callbacks<'a> {
    /// Is told of each part.
    pub progress: Option<&'a mut dyn FnMut(Step<'_>)>,
    /// Ends the work with [`Error::Cancelled`] once it returns true.
    pub cancelled: Option<&'a dyn Fn() -> bool>,
}

impl std::fmt::Debug for Callbacks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (progress, cancelled) = (self.progress.is_some(), self.cancelled.is_some());
        f.debug_struct("Callbacks").field("progress", &progress).field("cancelled", &cancelled).finish()
    }
}

impl Callbacks<'_> {
    /// The same callbacks for a part of the work.
    pub(crate) fn reborrow(&mut self) -> Callbacks<'_> {
        let progress = self.progress.as_mut().map(|progress| &mut **progress as &mut dyn FnMut(Step<'_>));
        Callbacks { progress, cancelled: self.cancelled }
    }

    /// Fails if the work was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancelled.is_some_and(|cancelled| cancelled()) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}

/// What passes a range of the bytes of a tensor to a sink: little-endian elements in C order, packed, as many as the tensor declares.
///
/// A range begins at a multiple of [`NewTensor::part`], and ends at one or with the tensor. The bytes do not depend on how a tensor is divided,
/// and several threads may produce ranges at the same time. Notes of ranges add up to the notes of the tensor.
pub(crate) type Produce<'a> = dyn Fn(Range<u64>, &mut Sink<'_>) -> Result<Notes> + Send + Sync + 'a;

/// A tensor of the output.
pub(crate) struct NewTensor<'a> {
    /// Its name, dtype and shape.
    pub(crate) declared: Declared,
    /// The index of the file of the source that it is made of.
    pub(crate) file: usize,
    /// Bytes that are read for it, with scales.
    pub(crate) bytes_in: u64,
    /// Whether its values are decoded or cast, not copied.
    pub(crate) is_changed: bool,
    /// Bytes of the smallest range that can be produced alone; `u64::MAX` if only all of them can.
    pub(crate) part: u64,
    pub(crate) produce: Box<Produce<'a>>,
}

impl NewTensor<'_> {
    /// Its bytes in the output.
    pub(crate) fn bytes(&self) -> u64 {
        let n = self.declared.shape.iter().product::<u64>();
        let bytes = usize::try_from(n).ok().and_then(|n| little(self.declared.dtype).byte_len(n));
        bytes.map_or(u64::MAX, |bytes| bytes as u64)
    }
}

/// A file of tensors.
pub(crate) struct Shard<'a> {
    /// Its path in the output.
    pub(crate) name: String,
    /// The metadata of its header.
    pub(crate) metadata: Vec<(String, String)>,
    /// Its tensors, in any order.
    pub(crate) tensors: Vec<NewTensor<'a>>,
    /// The header of a GGUF file. Its tensors are written in this order, each as bytes with its padding.
    pub(crate) gguf: Option<Vec<u8>>,
}

impl Shard<'_> {
    /// Bytes of its tensors.
    pub(crate) fn bytes(&self) -> u64 {
        self.tensors.iter().map(NewTensor::bytes).fold(0, u64::saturating_add)
    }

    /// Its header, and the order of the tensors.
    pub(crate) fn header(&self) -> Result<(Vec<u8>, Vec<usize>)> {
        if let Some(head) = &self.gguf {
            return Ok((head.clone(), (0..self.tensors.len()).collect()));
        }
        let declared: Vec<Declared> = self.tensors.iter().map(|tensor| tensor.declared.clone()).collect();
        safetensors_header(&declared, &self.metadata).map_err(|e| e.in_path(Path::new(&self.name)))
    }
}

/// An output, decided but not written.
pub(crate) struct Plan<'a> {
    pub(crate) shards: Vec<Shard<'a>>,
    /// Files that are copied byte for byte.
    pub(crate) copied: Vec<CopiedFile>,
    /// Small files, by their names: `config.json` and the like. They are written in this order.
    pub(crate) texts: Vec<(&'static str, String)>,
    /// The index of the source, whose other members stay. An index is written if there are several shards.
    pub(crate) index: Option<&'a Value>,
    /// The threads that produce bytes; as many as there are cores if it is `None`.
    pub(crate) threads: Option<usize>,
    /// Whether the output is the only shard, not a folder.
    pub(crate) is_file: bool,
}

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Tensors whose values were decoded or cast.
    pub(crate) changed: usize,
    /// Tensors that were copied.
    pub(crate) copied: usize,
    /// Bytes of tensors that were in the target before.
    pub(crate) resumed: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// The files, by their paths in the output; none if it is one file.
    pub(crate) files: Vec<String>,
    pub(crate) notes: Notes,
}

impl Plan<'_> {
    /// Bytes of all tensors.
    pub(crate) fn bytes(&self) -> u64 {
        self.shards.iter().map(Shard::bytes).fold(0, u64::saturating_add)
    }

    /// Writes everything to `dst`, which appears complete or not at all.
    pub(crate) fn write(&self, dst: &Path, replace: bool, callbacks: &mut Callbacks<'_>) -> Result<Written> {
        if self.is_file {
            let mut output = Output::create(dst, replace)?;
            let written = self.write_shards(&mut Single { output: &mut output }, callbacks)?;
            output.commit()?;
            return Ok(written);
        }
        let staged = StagedFolder::create(dst, replace)?;
        let mut write = || {
            let written = self.write_shards(&mut Folder::new(staged.path()), callbacks)?;
            self.write_rest(staged.path(), callbacks)?;
            Ok(written)
        };
        let mut written = write().map_err(|error| name_output(error, staged.path(), dst))?;
        written.files = self.names();
        callbacks.check()?;
        staged.commit()?;
        Ok(written)
    }

    /// Writes the shards: other threads produce bytes, and this one writes them.
    pub(crate) fn write_shards(
        &self,
        target: &mut dyn Target,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Written> {
        work::write(self, target, callbacks)
    }

    /// What is written, except for the notes about it.
    pub(crate) fn written(&self) -> Written {
        let tensors = || self.shards.iter().flat_map(|shard| &shard.tensors);
        Written {
            changed: tensors().filter(|tensor| tensor.is_changed).count(),
            copied: tensors().filter(|tensor| !tensor.is_changed).count(),
            bytes_in: tensors().map(|tensor| tensor.bytes_in).sum(),
            bytes_out: self.bytes(),
            files: if self.is_file { Vec::new() } else { self.names() },
            ..Written::default()
        }
    }

    /// The names of all files of the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let shards = self.shards.iter().map(|shard| shard.name.as_str());
        let copied = self.copied.iter().map(|file| file.name.as_str());
        let texts = self.texts.iter().map(|(name, _)| *name);
        let index = self.has_index().then_some(INDEX);
        shards.chain(copied).chain(texts).chain(index).map(str::to_owned).collect()
    }

    fn has_index(&self) -> bool {
        self.shards.len() > 1
    }

    /// Writes all files but the shards, which are in the folder `root`.
    pub(crate) fn write_rest(&self, root: &Path, callbacks: &Callbacks<'_>) -> Result<()> {
        for file in &self.copied {
            callbacks.check()?;
            file.copy(root)?;
        }
        let write = |name: &str, text: &str| {
            let path = make(root, name)?;
            std::fs::write(&path, text).map_err(|e| Error::writing(&e).at_path(&path))
        };
        self.texts.iter().try_for_each(|(name, text)| write(name, text))?;
        match pretty(&index(self.index, &self.shards, self.bytes())).filter(|_| self.has_index()) {
            Some(text) => write(INDEX, &text),
            None => Ok(()),
        }
    }
}

/// The error, which names the output, too, if its place is in the temporary folder.
fn name_output(error: Error, temporary: &Path, dst: &Path) -> Error {
    let is_in = |place: &str| Path::new(place).starts_with(temporary);
    match error.detail().is_some_and(|detail| is_in(&detail.place)) {
        true => error.in_path(dst),
        false => error,
    }
}

/// Indented JSON.
pub(crate) fn pretty(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok().map(|text| text + "\n")
}

/// The metadata of a GGUF file, as a text of the output.
pub(crate) fn gguf_metadata(source: &Source) -> Option<(&'static str, String)> {
    Some(("gguf_metadata.json", pretty(&source.gguf.clone()?.values.into())?))
}

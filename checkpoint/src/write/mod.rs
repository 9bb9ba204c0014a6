//! The writer of checkpoints: a [`Plan`] in, files out. `dequantize` and `convert` make plans.
//!
//! *Law.* A file has the tensors of its plan, in the order of the reference implementation, and no byte depends on how the work is divided.
//! Memory holds headers and a few blocks, not a tensor.
//!
//! *Method.* The calling thread reads and casts, and calls the callbacks. Blocks of bytes go through a bounded channel to a second thread,
//! which writes them to a [`Target`]. Order: shards, other files, texts, the index last.

mod notes;
mod others;
mod paths;
mod shards;
mod stream;

use std::path::Path;

use lanecast_files::{Error, Output, Result, StagedFolder, formats::Declared, formats::safetensors_header};
use serde_json::Value;

pub use self::notes::Loss;
pub(crate) use self::{
    notes::Notes,
    others::{CopiedFile, copied_files},
    paths::{becomes_file, check_apart, make, names_gguf},
    shards::{Cut, index, name_shards},
    stream::{Target, new_file},
};
use crate::{
    checkpoint::little,
    decode::Sink,
    error::invalid,
    source::{INDEX, Source},
};
use stream::{Folder, Single, Stream};

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
    /// Bytes of tensors that will be written or read.
    pub total: u64,
    /// Bytes of tensors of this file that are written.
    pub file_done: u64,
    /// Bytes of tensors that will be written to this file.
    pub file_total: u64,
    /// Whether the output is read again, not written: all bytes count from zero again.
    pub is_check: bool,
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
    /// Fails if the work was cancelled.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancelled.is_some_and(|cancelled| cancelled()) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}

/// What passes the bytes of a tensor to a sink: little-endian elements in C order, packed, as many as the tensor declares. It
/// runs on the calling thread.
pub(crate) type Produce<'a> = dyn Fn(&mut Sink<'_>) -> Result<Notes> + 'a;

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

    /// Writes everything to the folder `dst`, which appears complete or not at all.
    pub(crate) fn write_folder(
        &self,
        dst: &Path,
        replace: bool,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Written> {
        let staged = StagedFolder::create(dst, replace)?;
        let mut written = self.write_shards(&mut Folder::new(staged.path()), callbacks)?;
        self.write_rest(staged.path(), callbacks)?;
        written.files = self.names();
        callbacks.check()?;
        staged.commit()?;
        Ok(written)
    }

    /// Writes the only shard to the file `dst`, which appears complete or not at all.
    pub(crate) fn write_file(
        &self,
        dst: &Path,
        replace: bool,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Written> {
        let mut output = Output::create(dst, replace)?;
        let written = self.write_shards(&mut Single { output: &mut output }, callbacks)?;
        output.commit()?;
        Ok(written)
    }

    /// Writes the shards: this thread produces bytes, another one writes them.
    pub(crate) fn write_shards(
        &self,
        target: &mut dyn Target,
        callbacks: &mut Callbacks<'_>,
    ) -> Result<Written> {
        let had: Vec<(u64, Notes)> = self.shards.iter().map(|shard| target.had(&shard.name)).collect();
        let mark_every = target.mark_every();
        stream::overlap(target, |stream| {
            let mut work = Work {
                callbacks,
                stream,
                written: Written::default(),
                total: self.bytes(),
                done: 0,
                mark_every,
            };
            for (shard, (had, notes)) in self.shards.iter().zip(had) {
                work.shard(shard, had, notes)?;
            }
            Ok(work.written)
        })
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

/// Indented JSON.
pub(crate) fn pretty(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok().map(|text| text + "\n")
}

/// The metadata of a GGUF file, as a text of the output.
pub(crate) fn gguf_metadata(source: &Source) -> Option<(&'static str, String)> {
    Some(("gguf_metadata.json", pretty(&source.gguf.clone()?.values.into())?))
}

/// Shards in progress.
struct Work<'w, 'c> {
    callbacks: &'w mut Callbacks<'c>,
    stream: &'w mut Stream,
    written: Written,
    total: u64,
    /// Bytes of tensors that are in the target.
    done: u64,
    mark_every: u64,
}

impl Work<'_, '_> {
    /// Writes a shard of which the target has `had` bytes, with these notes about them.
    fn shard(&mut self, shard: &Shard<'_>, had: u64, notes: Notes) -> Result<()> {
        let (head, order) = shard.header()?;
        let (file_total, first) = (shard.bytes(), head.len() as u64);
        let ends = order.iter().scan(first, |at, place| {
            *at += shard.tensors[*place].bytes();
            Some(*at)
        });
        let ends: Vec<u64> = ends.collect();
        // Bytes count up to the end of a whole tensor.
        let keep = if had == first || ends.contains(&had) { had } else { 0 };
        let mut notes = if keep == 0 { Notes::default() } else { notes };
        let is_complete = keep == first + file_total;
        if !is_complete {
            self.stream.begin(&shard.name, keep)?;
            if keep == 0 {
                self.stream.put(&head)?;
            }
        }
        let (mut file_done, mut marked) = (0, keep);
        for (place, end) in order.into_iter().zip(ends) {
            let tensor = &shard.tensors[place];
            self.callbacks.check()?;
            if end <= keep {
                self.done += tensor.bytes();
                file_done += tensor.bytes();
                self.written.resumed += tensor.bytes();
            } else {
                let before = file_done;
                let more = (tensor.produce)(&mut |bytes| {
                    self.stream.put(bytes)?;
                    self.done += bytes.len() as u64;
                    file_done += bytes.len() as u64;
                    if let Some(progress) = &mut self.callbacks.progress {
                        let (file, tensor) = (&*shard.name, &*tensor.declared.name);
                        let (done, total) = (self.done, self.total);
                        let is_check = false;
                        progress(Step { file, tensor, done, total, file_done, file_total, is_check });
                    }
                    self.callbacks.check()
                })?;
                if file_done - before != tensor.bytes() {
                    let what = format!(
                        "{} bytes were made, and the tensor has {}",
                        file_done - before,
                        tensor.bytes()
                    );
                    return Err(invalid(what).at(format!("tensor \"{}\"", tensor.declared.name)));
                }
                notes.extend(more);
                if end - marked >= self.mark_every && end < first + file_total {
                    self.stream.mark(&notes)?;
                    marked = end;
                }
            }
            self.written.bytes_in += tensor.bytes_in;
            match tensor.is_changed {
                true => self.written.changed += 1,
                false => self.written.copied += 1,
            }
        }
        self.written.bytes_out += file_total;
        if !is_complete {
            self.stream.end(&notes)?;
        }
        self.written.notes.extend(notes);
        Ok(())
    }
}

//! Ranges of the output: which parts of tensors they are, and how these are written.
//!
//! *Method.* The ranges of a task are cut into chunks, which threads write at their places, each through its own handle of the file. Checksums
//! of chunks combine to checksums of ranges.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    ops::Range,
    sync::{Mutex, PoisonError},
};

use crc32fast::Hasher;
use lanecast_files::{Error, Result};

use super::{
    divide::{Body, ByteRange, divide},
    plan::Task,
    work::{Done, DoneRange, Work},
};
use crate::{
    error::{invalid, request},
    parallel::{Stop, in_order},
    prepared::Extent,
    write::{Callbacks, NewTensor, Notes, Plan, Shard, Step},
};

/// Bytes of the buffer that collects small tensors.
const BUFFER: usize = 1 << 20;
/// The fewest bytes that are worth a thread.
const CHUNK: u64 = 1 << 23;

/// A file of the output that a task writes to.
pub(super) struct Layout<'p> {
    pub(super) head: Vec<u8>,
    /// The tensors in the order of the file, and the place of each.
    tensors: Vec<(u64, &'p NewTensor<'p>)>,
    name: &'p str,
}

impl<'p> Layout<'p> {
    pub(super) fn new(shard: &'p Shard<'p>) -> Result<Self> {
        let (head, order) = shard.header()?;
        let mut at = head.len() as u64;
        let place = |place: usize| {
            let tensor = &shard.tensors[place];
            at += tensor.bytes();
            (at - tensor.bytes(), tensor)
        };
        Ok(Self { tensors: order.into_iter().map(place).collect(), head, name: &shard.name })
    }

    /// The parts of tensors that a range of bytes is.
    fn pieces(&self, range: ByteRange) -> Vec<Piece<'p>> {
        let first = self.tensors.partition_point(|(start, tensor)| start + tensor.bytes() <= range.from);
        let reached = self.tensors[first..].iter().take_while(|(start, _)| *start < range.to);
        let piece = |(start, tensor): &(u64, &'p NewTensor<'p>)| {
            let within = range.from.max(*start) - start..range.to.min(start + tensor.bytes()) - start;
            Piece { tensor, range: within }
        };
        reached.map(piece).filter(|piece| !piece.range.is_empty()).collect()
    }
}

/// A part of a tensor.
struct Piece<'p> {
    tensor: &'p NewTensor<'p>,
    range: Range<u64>,
}

impl Piece<'_> {
    /// Whether the tensor can be divided so.
    fn is_whole(&self) -> bool {
        let may = |at: u64| at == self.tensor.bytes() || at.is_multiple_of(self.tensor.part.max(1));
        may(self.range.start) && may(self.range.end)
    }

    /// The bytes and how they are divided.
    fn extent(&self) -> Extent {
        Extent { bytes: self.range.end - self.range.start, part: self.tensor.part }
    }
}

/// Bytes that a thread writes, and where.
struct Chunk<'p> {
    /// The index of the range of the task.
    of: usize,
    range: ByteRange,
    name: &'p str,
    pieces: Vec<Piece<'p>>,
}

/// Writes the ranges of a task to files that are prepared. They are on the disk when it returns.
pub(super) fn write(
    work: &Work<'_>,
    plan: &Plan<'_>,
    task: &Task,
    threads: usize,
    callbacks: &mut Callbacks<'_>,
) -> Result<Done> {
    let size = (task.bytes() / threads.max(1) as u64).max(CHUNK);
    let mut chunks = Vec::new();
    for (of, range) in task.ranges.iter().enumerate() {
        let layout = Layout::new(&plan.shards[range.file])?;
        let pieces = layout.pieces(*range);
        if let Some(piece) = pieces.iter().find(|piece| !piece.is_whole()) {
            let name = &piece.tensor.declared.name;
            let what = format!("the {} cuts the tensor \"{name}\" where it cannot be divided", task.named());
            return Err(request(what).at(layout.name));
        }
        let extents = pieces.iter().map(Piece::extent).collect();
        for ranges in divide([Body { first: range.from, extents }], size) {
            let ranges = ranges.into_iter().map(|chunk| ByteRange { file: range.file, ..chunk });
            chunks.extend(ranges.map(|range| Chunk {
                of,
                range,
                name: layout.name,
                pieces: layout.pieces(range),
            }));
        }
    }
    let mut ranges: Vec<(DoneRange, Hasher)> = Vec::new();
    for range in &task.ranges {
        ranges.push((DoneRange { range: *range, crc32: 0, notes: Notes::default() }, Hasher::new()));
    }
    let told = Mutex::new(Told::default());
    let tell = || *told.lock().unwrap_or_else(PoisonError::into_inner);
    // A result holds next to nothing.
    let jobs = chunks.iter().map(|chunk| (chunk, 1));
    let make = |chunk, stop: &Stop| Ok((chunk, write_chunk(work, chunk, &told, stop)?));
    in_order(threads.clamp(1, chunks.len().max(1)), jobs, make, |written| {
        if let Some((Chunk { of, .. }, (hasher, notes))) = written {
            let (done, all) = &mut ranges[*of];
            all.combine(&hasher);
            done.notes.extend(notes);
        }
        callbacks.check()?;
        if let Some(progress) = &mut callbacks.progress {
            let (Told { file, tensor, done }, total) = (tell(), task.bytes());
            progress(Step::of_all(file, tensor, done, total));
        }
        Ok(())
    })?;
    let mut files: Vec<usize> = task.ranges.iter().map(|range| range.file).collect();
    files.dedup();
    for file in files {
        let path = work.place(file);
        let synced = File::options().write(true).open(&path).and_then(|file| file.sync_all());
        synced.map_err(|e| Error::system("cannot flush to disk", &e).at_path(&path))?;
    }
    let ranges = ranges.into_iter().map(|(done, all)| DoneRange { crc32: all.finalize(), ..done });
    Ok(Done { ranges: ranges.collect(), ..Done::default() })
}

/// What threads have written, for the callbacks.
#[derive(Clone, Copy, Default)]
struct Told<'p> {
    file: &'p str,
    tensor: &'p str,
    done: u64,
}

/// Produces the tensors of a chunk, and writes them at their place.
fn write_chunk<'p>(
    work: &Work<'_>,
    chunk: &Chunk<'p>,
    told: &Mutex<Told<'p>>,
    stop: &Stop,
) -> Result<(Hasher, Notes)> {
    let path = work.place(chunk.range.file);
    let failed = |e: io::Error| Error::writing(&e).at_path(&path);
    let mut file = File::options().write(true).open(&path).map_err(failed)?;
    file.seek(SeekFrom::Start(chunk.range.from)).map_err(failed)?;
    let (mut out, mut hasher, mut notes) =
        (BufWriter::with_capacity(BUFFER, file), Hasher::new(), Notes::default());
    for Piece { tensor, range } in &chunk.pieces {
        let (name, mut made) = (&*tensor.declared.name, 0);
        let room = range.end - range.start;
        let wrong = |made: u64| {
            let what = format!("{made} bytes were made, and the range of the tensor has {room}");
            invalid(what).at(format!("tensor \"{name}\""))
        };
        notes.extend((tensor.produce)(range.clone(), &mut |bytes| {
            made += bytes.len() as u64;
            // Other bytes follow, which another thread writes.
            if made > room {
                return Err(wrong(made));
            }
            hasher.update(bytes);
            out.write_all(bytes).map_err(failed)?;
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            *told = Told { file: chunk.name, tensor: name, done: told.done + bytes.len() as u64 };
            stop.check()
        })?);
        if made != room {
            return Err(wrong(made));
        }
    }
    out.flush().map_err(failed)?;
    Ok((hasher, notes))
}

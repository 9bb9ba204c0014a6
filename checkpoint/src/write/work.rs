//! Shards in progress: ranges of tensors are produced on several threads, and written in order.

use std::{
    mem,
    ops::Range,
    sync::{Mutex, PoisonError},
};

use lanecast_files::Result;

use super::{Callbacks, NewTensor, Notes, Plan, Shard, Step, Target, Written};
use crate::{
    error::invalid,
    parallel::{Stop, count, in_order},
};

/// Bytes that are produced at once, about: small tensors share a job, and large ones have several.
const RANGE: u64 = 1 << 20;

/// What an earlier run wrote of a shard.
type Had = (u64, Notes);

/// Ranges of tensors of a shard that are produced together and follow each other in the file.
struct Job<'p> {
    shard: &'p Shard<'p>,
    /// What begins the shard: its header, and what stays of it.
    start: Option<Start>,
    pieces: Vec<Piece<'p>>,
    /// Whether the shard ends with it.
    is_last: bool,
}

struct Piece<'p> {
    tensor: &'p NewTensor<'p>,
    range: Range<u64>,
}

impl Piece<'_> {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn is_last(&self) -> bool {
        self.range.end == self.tensor.bytes()
    }
}

/// The beginning of a shard.
struct Start {
    head: Vec<u8>,
    /// Bytes of the file that stay: the bytes of whole tensors, or none.
    keep: u64,
    notes: Notes,
}

/// The jobs of a shard, in the order of its file.
struct Jobs<'p> {
    shard: &'p Shard<'p>,
    order: Vec<usize>,
    start: Option<Start>,
    /// The tensor that is next, by its place in the order, and its first byte that is next.
    next: (usize, u64),
    ended: bool,
}

impl<'p> Jobs<'p> {
    fn new(shard: &'p Shard<'p>, (had, notes): Had) -> Result<Self> {
        let (head, order) = shard.header()?;
        // Bytes count up to the end of a whole tensor.
        let (mut end, mut kept) = (head.len() as u64, (had == head.len() as u64).then_some(0));
        for (i, place) in order.iter().enumerate() {
            end += shard.tensors[*place].bytes();
            if end == had {
                kept = Some(i + 1);
            }
        }
        let start = match kept {
            Some(_) => Start { head, keep: had, notes },
            None => Start { head, keep: 0, notes: Notes::default() },
        };
        Ok(Self { shard, order, start: Some(start), next: (kept.unwrap_or(0), 0), ended: false })
    }
}

impl<'p> Iterator for Jobs<'p> {
    type Item = (Job<'p>, u64);

    fn next(&mut self) -> Option<Self::Item> {
        if mem::replace(&mut self.ended, self.next.0 == self.order.len()) {
            return None;
        }
        let (mut bytes, mut pieces) = (0, Vec::new());
        while let Some(place) = self.order.get(self.next.0) {
            let tensor = &self.shard.tensors[*place];
            let (first, all) = (self.next.1, tensor.bytes());
            let most = (RANGE / tensor.part).max(1).saturating_mul(tensor.part);
            let end = first.saturating_add(most).min(all);
            // Tensors without bytes are produced, too.
            if bytes > 0 && bytes + (end - first) > RANGE {
                break;
            }
            bytes += end - first;
            pieces.push(Piece { tensor, range: first..end });
            self.next = if end == all { (self.next.0 + 1, 0) } else { (self.next.0, end) };
        }
        self.ended = self.next.0 == self.order.len();
        let job = Job { shard: self.shard, start: self.start.take(), pieces, is_last: self.ended };
        Some((job, bytes))
    }
}

/// The bytes of a job, and the notes of its pieces.
struct Made<'p> {
    job: Job<'p>,
    bytes: Vec<u8>,
    notes: Vec<Notes>,
}

/// Produces the bytes of a job in this memory.
fn produce<'p>(job: Job<'p>, mut bytes: Vec<u8>, stop: &Stop) -> Result<Made<'p>> {
    bytes.clear();
    bytes.reserve_exact(job.pieces.iter().map(Piece::len).sum::<u64>().try_into().unwrap_or(0));
    let mut notes = Vec::new();
    for piece in &job.pieces {
        let before = bytes.len();
        notes.push((piece.tensor.produce)(piece.range.clone(), &mut |more| {
            bytes.extend_from_slice(more);
            stop.check()
        })?);
        let made = (bytes.len() - before) as u64;
        if made != piece.len() {
            let what = format!("{made} bytes were made, and the range has {}", piece.len());
            return Err(invalid(what).at(format!("tensor \"{}\"", piece.tensor.declared.name)));
        }
    }
    Ok(Made { job, bytes, notes })
}

/// Writes the shards of a plan.
pub(super) fn write<'p>(
    plan: &'p Plan<'p>,
    target: &mut dyn Target,
    callbacks: &mut Callbacks<'_>,
) -> Result<Written> {
    let had: Vec<Had> = plan.shards.iter().map(|shard| target.had(&shard.name)).collect();
    let jobs = plan.shards.iter().zip(had).flat_map(|(shard, had)| {
        let (jobs, failed) = match Jobs::new(shard, had) {
            Ok(jobs) => (Some(jobs), None),
            Err(error) => (None, Some((Err(error), 0))),
        };
        let jobs = jobs.into_iter().flatten().map(|(job, bytes)| (Ok(job), bytes));
        jobs.chain(failed)
    });
    let used = Mutex::new(Vec::new());
    let lock = || used.lock().unwrap_or_else(PoisonError::into_inner);
    let mut work = Work {
        callbacks,
        written: Written::default(),
        total: plan.bytes(),
        done: 0,
        mark_every: target.mark_every(),
        file: File::default(),
        target,
    };
    let make = |job: Result<Job<'p>>, stop: &Stop| {
        let memory = lock().pop().unwrap_or_default();
        produce(job?, memory, stop)
    };
    in_order(count(plan.threads), jobs, make, |made| match made {
        None => work.callbacks.check(),
        Some(made) => {
            let bytes = work.take(made)?;
            lock().push(bytes);
            Ok(())
        }
    })?;
    Ok(work.written)
}

/// A shard in progress.
#[derive(Default)]
struct File {
    /// Bytes of the file that are written.
    at: u64,
    /// Bytes of the file that are marked.
    marked: u64,
    is_complete: bool,
    /// Bytes of its tensors: those that are done, and all.
    done: u64,
    total: u64,
    /// The notes about the tensors that are done, and about the ranges of the next one.
    notes: Notes,
    of_tensor: Notes,
}

struct Work<'w, 'c> {
    callbacks: &'w mut Callbacks<'c>,
    target: &'w mut dyn Target,
    written: Written,
    total: u64,
    /// Bytes of tensors that are in the target.
    done: u64,
    mark_every: u64,
    file: File,
}

impl Work<'_, '_> {
    /// Writes what was produced, and returns the memory.
    fn take(&mut self, made: Made<'_>) -> Result<Vec<u8>> {
        let Made { job, bytes, notes } = made;
        self.callbacks.check()?;
        if let Some(start) = job.start {
            self.begin(job.shard, start)?;
        }
        let (mut written, mut end) = (0, 0);
        for (piece, notes) in job.pieces.iter().zip(notes) {
            end += piece.len() as usize;
            self.progress(job.shard, piece)?;
            self.file.of_tensor.extend(notes);
            if piece.is_last() {
                self.file.notes.extend(mem::take(&mut self.file.of_tensor).whole());
                let at = self.file.at + (end - written) as u64;
                let is_end = job.is_last && end == bytes.len();
                if at - self.file.marked >= self.mark_every && !is_end {
                    self.write(&bytes[mem::replace(&mut written, end)..end])?;
                    self.target.mark(&self.file.notes)?;
                    self.file.marked = at;
                }
            }
        }
        self.write(&bytes[written..])?;
        if job.is_last {
            self.written.bytes_out += self.file.total;
            if !self.file.is_complete {
                self.target.end(&self.file.notes)?;
                // A file that no later run finds is not worth a step.
                if self.target.keeps() {
                    self.step(job.shard, "", true);
                }
            }
            self.written.notes.extend(mem::take(&mut self.file.notes));
        }
        Ok(bytes)
    }

    fn begin(&mut self, shard: &Shard<'_>, start: Start) -> Result<()> {
        let Start { head, keep, notes } = start;
        let (first, total) = (head.len() as u64, shard.bytes());
        let done = keep.saturating_sub(first);
        let (is_complete, of_tensor) = (keep == first + total, Notes::default());
        self.file = File { at: keep, marked: keep, is_complete, done, total, notes, of_tensor };
        (self.done, self.written.resumed) = (self.done + done, self.written.resumed + done);
        for tensor in &shard.tensors {
            self.written.bytes_in += tensor.bytes_in;
            match tensor.is_changed {
                true => self.written.changed += 1,
                false => self.written.copied += 1,
            }
        }
        if !is_complete {
            self.target.begin(&shard.name, keep)?;
            if keep == 0 {
                self.write(&head)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.at += bytes.len() as u64;
        if bytes.is_empty() { Ok(()) } else { self.target.write(bytes) }
    }

    fn progress(&mut self, shard: &Shard<'_>, piece: &Piece<'_>) -> Result<()> {
        (self.done, self.file.done) = (self.done + piece.len(), self.file.done + piece.len());
        self.step(shard, &piece.tensor.declared.name, false);
        self.callbacks.check()
    }

    fn step(&mut self, shard: &Shard<'_>, tensor: &str, is_saved: bool) {
        if let Some(progress) = &mut self.callbacks.progress {
            let (file, done, total) = (&*shard.name, self.done, self.total);
            let (file_done, file_total) = (self.file.done, self.file.total);
            progress(Step { file, tensor, done, total, file_done, file_total, is_check: false, is_saved });
        }
    }
}

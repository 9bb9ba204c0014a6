//! The folder `DST.lanecast-HASH` of a plan, beside its output.
//!
//! | part | content |
//! |---|---|
//! | `done/N.json` | the marker of task N |
//! | `parts/N.partial` | file N of the output, of its full size, while ranges are written |
//! | `files` | files that are complete |
//! | `lock` | locked by the process that finishes |
//!
//! *Law.* A marker says less than what is on the disk, never more: bytes are flushed before it gets its name, and it is valid only while the
//! file has these bytes. A marker that is missing, damaged or of another plan says nothing. Times say nothing.
//!
//! Sizes are read from opened files: network file systems look them up again when a file is opened.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use lanecast_files::{Error, Output, Result};
use serde::{Deserialize, Serialize};

use super::{
    divide::ByteRange,
    plan::{Phase, Task, TaskPlan},
};
use crate::{
    error::{request, unsupported},
    origin::{Fnv, NewFile},
    prepared::{Measured, Outcome},
    write::{Callbacks, Notes, make},
};

/// How often a process looks whether another one has finished.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a task found out, or wrote.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Weights of the first pass by their indices. A merge has all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) measured: Vec<(usize, Measured)>,
    /// The ranges of a task, or all tensors of a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ranges: Vec<DoneRange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
}

/// A range that is written.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DoneRange {
    pub(super) range: ByteRange,
    /// The checksum of its bytes.
    pub(super) crc32: u32,
    /// The notes about them.
    pub(super) notes: Notes,
}

/// The content of a marker. A line with its hash follows.
#[derive(Serialize, Deserialize)]
struct Marker {
    /// The hash of the plan.
    plan: String,
    task: usize,
    done: Done,
}

/// The folder.
pub(super) struct Work<'p> {
    pub(super) plan: &'p TaskPlan,
    pub(super) root: PathBuf,
}

impl<'p> Work<'p> {
    pub(super) fn new(plan: &'p TaskPlan) -> Result<Self> {
        let output = &plan.record.output;
        let name = output.file_name().ok_or_else(|| request("the output needs a name").at_path(output))?;
        let mut name = name.to_owned();
        name.push(format!(".lanecast-{}", plan.hash));
        Ok(Self { plan, root: output.with_file_name(name) })
    }

    pub(super) fn file(&self, file: usize) -> &'p NewFile {
        &self.plan.record.files[file]
    }

    /// Where a file is written.
    pub(super) fn partial(&self, file: usize) -> PathBuf {
        self.root.join("parts").join(format!("{file}.partial"))
    }

    /// The folder of complete files.
    pub(super) fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    /// Where a complete file is.
    pub(super) fn complete(&self, file: usize) -> PathBuf {
        self.files().join(&self.file(file).name)
    }

    /// Where a file is now: complete, or written to.
    pub(super) fn place(&self, file: usize) -> PathBuf {
        let complete = self.complete(file);
        if complete.exists() { complete } else { self.partial(file) }
    }

    fn marker_path(&self, id: usize) -> PathBuf {
        self.root.join("done").join(format!("{id}.json"))
    }

    /// What a task did, if its marker is valid.
    pub(super) fn marker(&self, id: usize) -> Option<Done> {
        let text = fs::read_to_string(self.marker_path(id)).ok()?;
        let (json, hash) = text.trim_end().rsplit_once('\n')?;
        let marker: Marker = serde_json::from_str(json).ok().filter(|_| Fnv::of(json.as_bytes()) == hash)?;
        (marker.task == id && marker.plan == self.plan.hash).then_some(marker.done)
    }

    /// Writes the marker of a task, which appears complete or not at all.
    pub(super) fn mark(&self, id: usize, done: Done) -> Result<()> {
        let path = make(&self.root.join("done"), &format!("{id}.json"))?;
        let marker = Marker { plan: self.plan.hash.clone(), task: id, done };
        let json = serde_json::to_string(&marker);
        let json = json.map_err(|e| unsupported(format!("cannot write JSON, {e}")).at_path(&path))?;
        let mut output = Output::create(&path, true)?;
        let written = writeln!(output.writer(), "{json}\n{}", Fnv::of(json.as_bytes()));
        written.map_err(|e| Error::writing(&e).at_path(&path))?;
        output.commit()
    }

    /// Removes the marker of a task.
    pub(super) fn unmark(&self, id: usize) -> Result<()> {
        let path = self.marker_path(id);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::writing(&e).at_path(&path)),
            _ => Ok(()),
        }
    }

    /// Removes everything but the marker of the last task, as far as possible.
    pub(super) fn clear(&self) {
        let last = self.marker_path(self.plan.last());
        let entries =
            |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for folder in last.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root)) {
            for path in entries(folder).filter(|path| !last.starts_with(path)) {
                let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            }
        }
    }

    /// What the merge of the first pass says, if it is done.
    pub(super) fn merged(&self) -> Option<Done> {
        self.marker(self.plan.merge()?.id)
    }

    /// Makes the file that ranges are written to. Processes that do so at the same time write the same bytes.
    pub(super) fn prepare(&self, file: usize, head: &[u8]) -> Result<()> {
        let of = self.file(file);
        let path = make(&self.root.join("parts"), &format!("{file}.partial"))?;
        let failed = |e: io::Error| Error::writing(&e).at_path(&path);
        let complete = self.complete(file);
        if complete.exists() {
            // It was cut off. No file of the full size may have a marker, unless all of its bytes are there.
            self.unmark(self.plan.of_file(file).1.id)?;
            match fs::rename(&complete, &path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
                _ => {}
            }
        }
        let writes = |task: &&Task| task.ranges.iter().any(|range| range.file == file);
        let marked = self.plan.of_phase(Phase::Range).iter().filter(writes);
        // Before the size: a marker of this moment speaks of bytes that are there by then.
        let marked: Vec<&Task> = marked.filter(|task| self.marker(task.id).is_some()).collect();
        let mut partial =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        let len = partial.metadata().map_err(failed)?.len();
        // A marker must not outlive the bytes that it speaks of.
        for task in marked {
            if task.ranges.iter().any(|range| range.file == file && range.to > len) {
                self.unmark(task.id)?;
            }
        }
        partial.seek(SeekFrom::Start(0)).and_then(|_| partial.write_all(head)).map_err(failed)?;
        if len != of.bytes {
            partial.set_len(of.bytes).map_err(failed)?;
        }
        partial.sync_all().map_err(|e| Error::system("cannot flush to disk", &e).at_path(&path))
    }

    /// Waits until no other process finishes the output, as far as the file system has locks.
    pub(super) fn lock(&self, callbacks: &Callbacks<'_>) -> Result<File> {
        let path = self.root.join("lock");
        let failed = |e: io::Error| Error::system("cannot lock the output", &e).at_path(&path);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            callbacks.check()?;
            thread::sleep(PATIENCE);
        }
        Ok(file)
    }

    /// Whether the output has its name.
    pub(super) fn is_finished(&self) -> bool {
        self.outcome().is_some()
    }

    /// What was done, once the output has its name.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let outcome = self.marker(self.plan.last())?.outcome?;
        let record = &self.plan.record;
        let there = |file: &NewFile| match record.is_file {
            true => record.output.clone(),
            false => record.output.join(&file.name),
        };
        let moved = (0..record.files.len()).all(|file| {
            !self.complete(file).exists() && size(&there(self.file(file))) == Some(self.file(file).bytes)
        });
        moved.then_some(outcome)
    }
}

/// The size of a file, if it is there.
fn size(path: &Path) -> Option<u64> {
    File::open(path).and_then(|file| file.metadata()).ok().map(|metadata| metadata.len())
}

/// What was seen of the files of a plan, each looked up once.
pub(super) struct Look<'w, 'p> {
    work: &'w Work<'p>,
    files: Vec<Option<Seen>>,
    merged: Option<bool>,
}

/// The state of a file.
#[derive(Clone, Copy)]
struct Seen {
    /// Whether it is complete, and is where complete files are.
    is_complete: bool,
    /// Whether its last task says so.
    is_marked: bool,
    /// Bytes of the part that is written to, or of the complete file.
    bytes: u64,
}

impl<'w, 'p> Look<'w, 'p> {
    pub(super) fn new(work: &'w Work<'p>) -> Self {
        Self { work, files: vec![None; work.plan.record.files.len()], merged: None }
    }

    fn file(&mut self, file: usize) -> Seen {
        let work = self.work;
        *self.files[file].get_or_insert_with(|| {
            let bytes = size(&work.place(file)).unwrap_or(0);
            let is_complete = bytes == work.file(file).bytes && work.complete(file).exists();
            let is_marked = is_complete && work.marker(work.plan.of_file(file).1.id).is_some();
            Seen { is_complete, is_marked, bytes }
        })
    }

    /// Whether a task has nothing left to do. The output must not have its name yet.
    pub(super) fn is_done(&mut self, task: &Task) -> bool {
        let marker = |of: &Work<'_>| of.marker(task.id);
        match (task.phase, task.file) {
            (Phase::Amax, _) => self.is_merged() || marker(self.work).is_some(),
            (Phase::Prepare, None) => self.is_merged(),
            (Phase::Prepare, Some(file)) => {
                let seen = self.file(file);
                let is_whole = seen.bytes == self.work.file(file).bytes;
                seen.is_complete || is_whole && marker(self.work).is_some()
            }
            (Phase::Range, _) => {
                if task.ranges.iter().all(|range| self.file(range.file).is_marked) {
                    return true;
                }
                let is_there = task.ranges.iter().all(|range| range.to <= self.file(range.file).bytes);
                let own = |done: Done| done.ranges.iter().map(|done| &done.range).eq(&task.ranges);
                is_there && marker(self.work).is_some_and(own)
            }
            (Phase::Shard, Some(file)) => self.file(file).is_marked,
            // Its marker is there before the output has its name.
            (Phase::Shard, None) | (Phase::Finish, _) => false,
        }
    }

    fn is_merged(&mut self) -> bool {
        *self.merged.get_or_insert_with(|| self.work.merged().is_some())
    }
}

//! The folder of an unfinished output, from which a later run goes on.
//!
//! `DST.lanecast-partial` has these parts:
//!
//! | part | content |
//! |---|---|
//! | `lock` | locked by the process that works here; the system releases the lock when the process ends, however that happens |
//! | `job.json` | the [`Job`]: the source, the options, the files of the output |
//! | `done/N.json` | the marker of a file: how many of its bytes are on the disk, always whole tensors |
//! | `sources/*.json` | [descriptions](Description) of the files of the source whose tensors are in files that are complete |
//! | `files` | the output |
//!
//! *Law.* A marker says less than what is on the disk, never more: bytes are flushed before it gets its name. A marker that is missing, damaged
//! or of another job says nothing. Without markers nothing is lost, and the folder is removed. A file that is complete does not
//! need its source.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use lanecast_files::{Detail, Error, Output, Remedy, Result, StagedFolder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{ConvertOptions, job::Job};
use crate::{
    arrivals::Description,
    error::{request, unsupported},
    origin::Fnv,
    write::{Notes, Target, make},
};

/// The end of the name of the folder.
const SUFFIX: &str = ".lanecast-partial";
const LOCK: &str = "lock";
const JOB: &str = "job.json";
const DONE: &str = "done";
const FILES: &str = "files";
const SOURCES: &str = "sources";

/// What is done of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    file: String,
    /// The key of the file in its job.
    key: String,
    /// Bytes of the file, with its header.
    bytes: u64,
    /// The notes about these bytes.
    notes: Notes,
}

/// A file that is written.
struct Open {
    shard: String,
    file: File,
    path: PathBuf,
    bytes: u64,
}

/// The folder, locked. If it is dropped before [`commit`](Self::commit), it stays if it has a marker, and is removed otherwise.
pub(super) struct Partial {
    folder: PathBuf,
    /// Where the files are: in the folder, or under the name of the output if an earlier run ended just after it had renamed them.
    root: PathBuf,
    target: Option<PathBuf>,
    staged: Option<StagedFolder>,
    replace: bool,
    _lock: File,
    job: Job,
    /// The numbers of the markers.
    numbers: HashMap<String, usize>,
    /// The files of the source that were described.
    described: HashSet<String>,
    open: Option<Open>,
    mark_every: u64,
    has_markers: bool,
}

impl Partial {
    /// Opens the folder beside `dst`, which will be a file if `is_file` is set, or makes it.
    pub(super) fn open(dst: &Path, is_file: bool, job: Job, options: &ConvertOptions) -> Result<Self> {
        let folder = beside(dst)?;
        let lock = lock(&folder)?;
        let mut partial = Self {
            root: folder.join(FILES),
            target: is_file.then(|| dst.to_owned()),
            staged: None,
            replace: options.replace,
            _lock: lock,
            numbers: HashMap::new(),
            described: HashSet::new(),
            job,
            open: None,
            mark_every: options.mark_every.max(1),
            has_markers: false,
            folder,
        };
        let old: Option<Job> = read(&partial.folder.join(JOB));
        partial.has_markers = old.is_some() && count(&partial.folder.join(DONE)) > 0;
        if let Some(old) = old.filter(|_| partial.has_markers) {
            if options.resume {
                if let Some(how) = partial.job.differs(&old) {
                    let what = format!("the unfinished output is not of this run: {how}");
                    return Err(Error::Request(Detail {
                        what,
                        remedy: Remedy::StartAnew,
                        ..Detail::default()
                    })
                    .at_path(&partial.folder));
                }
            } else if !options.replace {
                let what = "an earlier run left its output unfinished".to_owned();
                return Err(Error::Exists(Detail { what, remedy: Remedy::Resume, ..Detail::default() })
                    .at_path(&partial.folder));
            }
        }
        if options.resume && partial.has_markers {
            partial.number();
        }
        if options.resume && partial.has_markers && partial.was_renamed(dst) {
            partial.root = dst.to_owned();
            return Ok(partial);
        }
        if !(options.resume && partial.has_markers) {
            partial.has_markers = false;
            partial.clear()?;
        }
        partial.number();
        match is_file {
            true => Output::check(dst, options.replace)?,
            false => partial.staged = Some(StagedFolder::adopt(&partial.root, dst, options.replace)?),
        }
        make(&partial.root, "-")?;
        partial.begin_job()?;
        Ok(partial)
    }

    /// Goes on with a job that has the files of the one before, and others.
    pub(super) fn take_job(&mut self, job: Job) -> Result<()> {
        self.job = job;
        self.number();
        if self.is_renamed() { Ok(()) } else { self.begin_job() }
    }

    fn begin_job(&mut self) -> Result<()> {
        self.prune()?;
        write(&self.folder.join(JOB), self.job.text()?.as_bytes())
    }

    /// Gives every file of the job the number of its marker: the one that it has, or one that no file of the job has.
    fn number(&mut self) {
        self.numbers.clear();
        for entry in fs::read_dir(self.folder.join(DONE)).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".json")?.parse().ok());
            if let (Some(number), Some(marker)) = (number, read::<Marker>(&entry.path())) {
                self.numbers.insert(marker.file, number);
            }
        }
        let taken: HashSet<usize> = self.numbers.values().copied().collect();
        let mut free = (0..).filter(|number| !taken.contains(number));
        for (name, _) in
            self.job.files().filter(|(name, _)| !self.numbers.contains_key(*name)).collect::<Vec<_>>()
        {
            self.numbers.extend(free.next().map(|number| (name.to_owned(), number)));
        }
    }

    /// The folder of the files. One file that has been renamed has none.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file is.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        match &self.target {
            Some(target) if *target == self.root => target.clone(),
            _ => self.root.join(name),
        }
    }

    /// Whether the files have the name of the output already.
    pub(super) fn is_renamed(&self) -> bool {
        self.staged.is_none() && self.target.as_ref().is_none_or(|target| *target == self.root)
    }

    /// Whether an earlier run ended after it had renamed the files, and before it removed the folder.
    fn was_renamed(&self, dst: &Path) -> bool {
        let gone = match &self.target {
            Some(_) => self.job.files().all(|(name, _)| !self.root.join(name).exists()),
            None => !self.root.exists(),
        };
        let there = |name: &str| if self.target.is_some() { dst.to_owned() } else { dst.join(name) };
        gone && self.job.files().all(|(name, bytes)| {
            let marked = self.marker(name).is_some_and(|marker| marker.bytes == bytes);
            marked && fs::metadata(there(name)).is_ok_and(|metadata| metadata.len() == bytes)
        })
    }

    /// Gives the output its name, and removes the folder.
    pub(super) fn commit(mut self) -> Result<()> {
        if let Some(staged) = self.staged.take() {
            staged.commit()?;
        } else if let Some(target) = self.target.as_ref().filter(|_| !self.is_renamed()) {
            Output::check(target, self.replace)?;
            let name = self.job.files().next().map(|(name, _)| name).unwrap_or_default();
            fs::rename(self.root.join(name), target)
                .map_err(|e| Error::system("cannot rename the output", &e).at_path(target))?;
        }
        // The drop removes the rest.
        self.has_markers = false;
        Ok(())
    }

    /// Removes the folder.
    pub(super) fn discard(mut self) {
        self.has_markers = false;
    }

    /// Removes what an earlier run did.
    fn clear(&self) -> Result<()> {
        for part in [JOB, DONE, FILES, SOURCES] {
            let path = self.folder.join(part);
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::system("cannot remove what an earlier run did", &e).at_path(&path));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes all files that have no marker, such as copies of small files.
    fn prune(&self) -> Result<()> {
        let kept: Vec<PathBuf> = self
            .job
            .files()
            .filter(|(name, _)| self.marker(name).is_some())
            .map(|(name, _)| self.root.join(name))
            .collect();
        remove_others(&self.root, &kept)
    }

    fn marker_path(&self, shard: &str) -> PathBuf {
        let number = self.numbers.get(shard).copied().unwrap_or_default();
        self.folder.join(DONE).join(format!("{number}.json"))
    }

    /// The marker of a file, if it is of this job.
    fn marker(&self, shard: &str) -> Option<Marker> {
        let marker: Marker = read(&self.marker_path(shard))?;
        (marker.file == shard && self.job.key(shard) == Some(&*marker.key)).then_some(marker)
    }

    /// Writes down what a later run needs to know of the files that this file is made of.
    fn describe(&mut self, shard: &str) -> Result<()> {
        let new = self.job.described(shard).filter(|of| !self.described.contains(&of.origin.name));
        let mut names = Vec::new();
        for of in new {
            let name = format!("{}.json", Fnv::of(of.origin.name.as_bytes()));
            write_json(&make(&self.folder.join(SOURCES), &name)?, of)?;
            names.push(of.origin.name.clone());
        }
        self.described.extend(names);
        Ok(())
    }

    /// Flushes the file, and then says so.
    fn record(&mut self, notes: &Notes) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.file.sync_all().map_err(|e| Error::system("cannot flush to disk", &e).at_path(&open.path))?;
        let (file, bytes) = (open.shard.clone(), open.bytes);
        let key = self.job.key(&file).unwrap_or_default().to_owned();
        let marker = Marker { key, bytes, notes: notes.clone(), file };
        let path = self.marker_path(&marker.file);
        make(&self.folder.join(DONE), "-")?;
        write_json(&path, &marker)?;
        self.has_markers = true;
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.has_markers {
            // There is nobody to report an error to. The next run removes what is left. Without the job first, nothing is taken for unfinished.
            let _ = fs::remove_file(self.folder.join(JOB));
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

impl Target for Partial {
    fn had(&self, shard: &str) -> (u64, Notes) {
        let Some(marker) = self.marker(shard) else { return (0, Notes::default()) };
        match fs::metadata(self.path_of(shard)) {
            Ok(metadata) if metadata.len() >= marker.bytes => (marker.bytes, marker.notes),
            _ => (0, Notes::default()),
        }
    }

    fn keeps(&self) -> bool {
        true
    }

    fn mark_every(&self) -> u64 {
        self.mark_every
    }

    fn begin(&mut self, shard: &str, keep: u64) -> Result<()> {
        let path = make(&self.root, shard)?;
        let failed = |e: io::Error| Error::writing(&e).at_path(&path);
        if keep == 0 {
            // A marker must not outlive the bytes that it speaks of.
            match fs::remove_file(self.marker_path(shard)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
                _ => {}
            }
        }
        let mut file =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        file.set_len(keep).and_then(|()| file.seek(SeekFrom::Start(keep))).map_err(failed)?;
        self.open = Some(Open { shard: shard.to_owned(), file, path, bytes: keep });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.file.write_all(bytes).map_err(|e| Error::writing(&e).at_path(&open.path))?;
        open.bytes += bytes.len() as u64;
        Ok(())
    }

    fn mark(&mut self, notes: &Notes) -> Result<()> {
        self.record(notes)
    }

    fn end(&mut self, notes: &Notes) -> Result<()> {
        // Before the marker says that the file is complete.
        if let Some(shard) = self.open.as_ref().map(|open| open.shard.clone()) {
            self.describe(&shard)?;
        }
        self.record(notes)?;
        self.open = None;
        Ok(())
    }
}

/// What runs that worked on the output `dst` wrote down about files of the source, by their names.
pub(super) fn described(dst: &Path) -> Result<HashMap<String, Description>> {
    let entries = fs::read_dir(beside(dst)?.join(SOURCES)).into_iter().flatten().flatten();
    let described = entries.filter_map(|entry| read::<Description>(&entry.path()));
    Ok(described.map(|of| (of.origin.name.clone(), of)).collect())
}

/// The folder of the unfinished output `dst`.
fn beside(dst: &Path) -> Result<PathBuf> {
    let mut name = dst.file_name().ok_or_else(|| request("the output needs a name").at_path(dst))?.to_owned();
    name.push(SUFFIX);
    Ok(dst.with_file_name(name))
}

/// Makes the folder and locks it, or fails if another process has done so.
fn lock(folder: &Path) -> Result<File> {
    let failed = |e: io::Error| Error::system("cannot lock the unfinished output", &e).at_path(folder);
    let path = folder.join(LOCK);
    loop {
        fs::create_dir_all(folder).map_err(failed)?;
        let file = match File::options().create(true).truncate(false).write(true).open(&path) {
            // Another run has just finished, and removed the folder.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(failed)?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = "another run is writing this output; wait for its end";
                return Err(request(what).at_path(folder));
            }
            // Some network file systems have no locks.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        if is_at(&file, &path) {
            return Ok(file);
        }
    }
}

/// Whether the file still has this name.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().ok().map(id).is_some_and(|own| fs::metadata(path).ok().map(id) == Some(own))
}

/// Whether the file still has this name. Here an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The entries of a folder; none if it is not there.
fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, |entries| entries.flatten().count())
}

/// The value of a JSON file, if it is whole.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a JSON file that appears complete or not at all.
fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value);
    write(path, &text.map_err(|e| unsupported(format!("cannot write JSON, {e}")).at_path(path))?)
}

/// Writes a file that appears complete or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e: io::Error| Error::writing(&e).at_path(path);
    let new = path.with_extension("new");
    let mut file = File::create(&new).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
    fs::rename(&new, path).map_err(failed)
}

/// Removes the files in a folder and in its subfolders, except some.
fn remove_others(folder: &Path, kept: &[PathBuf]) -> Result<()> {
    let failed = |e: io::Error| Error::system("cannot remove what an earlier run did", &e).at_path(folder);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path).map_err(failed)?;
        }
    }
    Ok(())
}

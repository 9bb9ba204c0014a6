//! Output files that appear complete or not at all.
//!
//! Everything is written to a temporary file in the output's folder and flushed to disk. The file is then
//! renamed to the output's name in one step, and the folder is flushed too. A failure removes the temporary
//! file and leaves an existing output untouched. Without `overwrite` the rename refuses to replace a file,
//! even one that appeared meanwhile.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use crate::{
    error::{Detail, Error, Remedy, Result},
    temporary::{Temporary, live},
};

/// The size of the write buffer, which collects small pieces (headers, small tensors).
const GATHER: usize = 1 << 18;

/// A file being written. If it is dropped before [`commit`](Self::commit), nothing is left of it.
#[derive(Debug)]
pub struct Output {
    file: BufWriter<File>,
    /// `None` for a stream.
    to: Option<Target>,
    shown: PathBuf,
    like: Option<fs::Permissions>,
    overwrite: bool,
    companions: Vec<Output>,
}

/// The final name of the file, and its temporary one.
#[derive(Debug)]
struct Target {
    temporary: Temporary,
    path: PathBuf,
    replaces: Option<fs::Permissions>,
}

impl Output {
    /// Starts the file `path`; with `overwrite` it may exist.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if it exists and may not be replaced, [`Error::Io`] if no file can be written in its folder.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        Self::create_like(path, overwrite, None)
    }

    /// Checks that [`create`](Self::create) would not find a file in its way.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] and [`Error::Io`], as [`create`](Self::create).
    pub fn check(path: &Path, overwrite: bool) -> Result<()> {
        look_at(path, overwrite).map(drop)
    }

    /// As [`create`](Self::create), with the permission bits of `like`, less the umask, for a new file. A replaced file keeps its
    /// own.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_like(path: &Path, overwrite: bool, like: Option<fs::Permissions>) -> Result<Self> {
        let (target, replaces) = look_at(path, overwrite)?;
        let folder = folder(&target);
        let (file, temporary) = Temporary::create(&folder, replaces.as_ref().or(like.as_ref()))
            .map_err(|e| Error::system("cannot write a temporary file", &e).at_path(&folder))?;
        let file = BufWriter::with_capacity(GATHER, file);
        let to = Some(Target { temporary, path: target, replaces });
        Ok(Self { file, to, shown: path.to_owned(), like, overwrite, companions: Vec::new() })
    }

    /// An output to a pipe, a device or standard output, called `shown` in messages. Bytes appear there as they are written. Only
    /// formats that [stream](crate::FileFormat::streams) can be written so.
    pub fn stream(file: File, shown: &Path) -> Self {
        let file = BufWriter::with_capacity(GATHER, file);
        Self { file, to: None, shown: shown.to_owned(), like: None, overwrite: false, companions: Vec::new() }
    }

    /// Whether bytes appear as they are written, without a commit.
    pub fn is_stream(&self) -> bool {
        self.to.is_none()
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Where to write.
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.file
    }

    /// Starts another file that this one will refer to. It has the same permission bits and may replace a file if this one may.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn companion(&self, path: &Path) -> Result<Self> {
        Self::create_like(path, self.overwrite, self.like.clone())
    }

    /// Attaches `companion`, which is committed together with this file and just before it.
    pub fn attach(&mut self, companion: Self) {
        self.companions.push(companion);
    }

    /// Flushes the file to disk and gives it its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the disk is full or the system fails, [`Error::Exists`] if a file that may not be replaced appeared
    /// meanwhile. Either way the temporary file is removed.
    pub fn commit(self) -> Result<()> {
        let mut written = Vec::new();
        self.finish(&mut written)?;
        rename(&mut written)?;
        for Written { target, shown, .. } in &written {
            sync_folder(&folder(&target.path))
                .map_err(|e| Error::system("cannot flush the folder to disk", &e).at_path(shown))?;
        }
        Ok(())
    }

    /// Flushes the data of the companions and of the file to disk.
    fn finish(self, written: &mut Vec<Written>) -> Result<()> {
        for companion in self.companions {
            companion.finish(written)?;
        }
        let shown = self.shown;
        let system = |doing: &str, e: &io::Error| Error::system(doing, e).at_path(&shown);
        let file = self.file.into_inner().map_err(|e| system("cannot write", e.error()))?;
        let Some(target) = self.to else { return Ok(()) };
        if let Some(permissions) = &target.replaces {
            file.set_permissions(permissions.clone())
                .map_err(|e| system("cannot set the permissions", &e))?;
        }
        file.sync_all().map_err(|e| system("cannot flush to disk", &e))?;
        // Some systems do not rename an open file. Elsewhere it stays open and locked, lest another run take it for a leftover.
        let file = Some(file).filter(|_| cfg!(unix));
        written.push(Written { target, shown, overwrite: self.overwrite, _file: file });
        Ok(())
    }
}

/// A file that is complete except for its name.
struct Written {
    target: Target,
    shown: PathBuf,
    overwrite: bool,
    _file: Option<File>,
}

/// Gives all files their names; a signal handled meanwhile sees all of them renamed or none.
fn rename(written: &mut [Written]) -> Result<()> {
    let mut live = live();
    for Written { target, shown, overwrite, .. } in written {
        target.temporary.persist(&mut live, &target.path, *overwrite).map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => exists(shown),
            _ => Error::system("cannot rename the temporary file", &e).at_path(shown),
        })?;
    }
    Ok(())
}

/// The path that `path` resolves to, and the permissions of an existing file there.
fn look_at(path: &Path, overwrite: bool) -> Result<(PathBuf, Option<fs::Permissions>)> {
    let failed = |e: io::Error| Error::system("cannot write", &e).at_path(path);
    let metadata = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
        found => found.map_err(failed)?,
    };
    if !overwrite {
        return Err(exists(path));
    }
    // A symbolic link is followed: its target is replaced, not the link.
    let (target, metadata) = if metadata.is_symlink() {
        let target = fs::canonicalize(path).map_err(failed)?;
        let metadata = fs::metadata(&target).map_err(failed)?;
        (target, metadata)
    } else {
        (path.to_owned(), metadata)
    };
    if !metadata.is_file() {
        return Err(Error::not_a_file(path));
    }
    Ok((target, Some(metadata.permissions())))
}

fn exists(path: &Path) -> Error {
    let detail = Detail { what: "the output exists".into(), ..Detail::default() };
    Error::Exists(detail).at_path(path).advise(Remedy::Overwrite)
}

/// The folder of the file `path`.
pub fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Flushes the folder, so that the new name is durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        match File::open(folder)?.sync_all() {
            // Some file systems cannot flush a folder. The data itself is on disk.
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            other => other,
        }
    } else {
        Ok(())
    }
}

//! Output files that appear complete or not at all.
//!
//! Everything is written to a temporary file in the folder of the output, flushed to disk, given the
//! output's name in one step, and the folder is flushed too. A failure drops the temporary file and leaves
//! what stands under the name untouched. Without `overwrite` the last step refuses to replace a file, also one
//! that appeared meanwhile.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempPath};

use crate::error::{Detail, Error, Remedy, Result};

/// Small pieces (headers, small tensors) are gathered to this many bytes.
const GATHER: usize = 1 << 18;

/// A file in the making. Dropped before [`commit`](Self::commit), it leaves nothing.
#[derive(Debug)]
pub struct Output {
    file: BufWriter<File>,
    temp: TempPath,
    target: PathBuf,
    shown: PathBuf,
    replaces: Option<fs::Permissions>,
    overwrite: bool,
    companions: Vec<Output>,
}

impl Output {
    /// Starts the file `path`; with `overwrite` it may exist.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if it exists and may not be replaced, [`Error::Io`] if no file can be written in its folder.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let (target, replaces) = look_at(path, overwrite)?;
        let refuse =
            |e: &io::Error| Error::system("cannot write a temporary file", e).at_path(&folder(&target));
        let (file, temp) = new_temporary(&folder(&target)).map_err(|e| refuse(&e))?.into_parts();
        let file = BufWriter::with_capacity(GATHER, file);
        Ok(Self { file, temp, target, shown: path.to_owned(), replaces, overwrite, companions: Vec::new() })
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Where to write.
    pub fn writer(&mut self) -> &mut BufWriter<File> {
        &mut self.file
    }

    /// Starts another file that this one will refer to; with the same permission to replace one.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn companion(&self, path: &Path) -> Result<Self> {
        Self::create(path, self.overwrite)
    }

    /// Commits `companion` when this file is committed, before it.
    pub fn attach(&mut self, companion: Self) {
        self.companions.push(companion);
    }

    /// Brings the file to disk and under its name.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the disk is full or the system refuses, [`Error::Exists`] if a file appeared meanwhile that may not be
    /// replaced. Either way the temporary file is removed.
    pub fn commit(self) -> Result<()> {
        for companion in self.companions {
            companion.commit()?;
        }
        let shown = self.shown;
        let system = |doing: &str, e: &io::Error| Error::system(doing, e).at_path(&shown);
        let file = self.file.into_inner().map_err(|e| system("cannot write", e.error()))?;
        if let Some(permissions) = self.replaces {
            file.set_permissions(permissions).map_err(|e| system("cannot set the permissions", &e))?;
        }
        file.sync_all().map_err(|e| system("cannot flush to disk", &e))?;
        // Some systems do not rename an open file.
        drop(file);
        let renamed = if self.overwrite {
            self.temp.persist(&self.target)
        } else {
            self.temp.persist_noclobber(&self.target)
        };
        renamed.map_err(|e| match e.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&shown),
            _ => system("cannot rename the temporary file", &e.error),
        })?;
        sync_folder(&folder(&self.target)).map_err(|e| system("cannot flush the folder to disk", &e))
    }
}

/// Where the file `path` really is, and the permissions of the file that stands there.
fn look_at(path: &Path, overwrite: bool) -> Result<(PathBuf, Option<fs::Permissions>)> {
    let failed = |e: io::Error| Error::system("cannot write", &e).at_path(path);
    let metadata = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
        found => found.map_err(failed)?,
    };
    if !overwrite {
        return Err(exists(path));
    }
    // A link is followed: what it names is replaced, not the link.
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

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn new_temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lanecast-").suffix(".tmp");
    // As any new file, instead of readable by its owner only; the umask applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Makes the new name itself durable.
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

//! Output files that appear complete or not at all.
//!
//! Everything is written to a temporary file in the folder of the output, flushed to disk, given the
//! output's name in one step, and the folder is flushed too. A failure drops the temporary file and leaves
//! what is under the name untouched. Without `overwrite` the last step refuses to replace a file, also one
//! that appeared meanwhile.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use crate::{
    error::{Detail, Error, Remedy, Result},
    temporary::{Temporary, live},
};

/// Small pieces (headers, small tensors) are gathered to this many bytes.
const GATHER: usize = 1 << 18;

/// A file in the making. Dropped before [`commit`](Self::commit), it leaves nothing.
#[derive(Debug)]
pub struct Output {
    file: BufWriter<File>,
    /// None for a stream.
    to: Option<Target>,
    shown: PathBuf,
    like: Option<fs::Permissions>,
    overwrite: bool,
    companions: Vec<Output>,
}

/// The name that the file gets, and the one that it has.
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

    /// Whether [`create`](Self::create) would find a file in its way.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] and [`Error::Io`], as [`create`](Self::create).
    pub fn check(path: &Path, overwrite: bool) -> Result<()> {
        look_at(path, overwrite).map(drop)
    }

    /// As [`create`](Self::create); a new file has the permission bits of `like`, less the umask. A file that is replaced keeps
    /// its own.
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

    /// A pipe, a device or standard output, which messages call `shown`: what is written appears at once. Only formats that
    /// [stream](crate::FileFormat::streams) are written so.
    pub fn stream(file: File, shown: &Path) -> Self {
        let file = BufWriter::with_capacity(GATHER, file);
        Self { file, to: None, shown: shown.to_owned(), like: None, overwrite: false, companions: Vec::new() }
    }

    /// Whether what is written appears at once.
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

    /// Starts another file that this one will refer to; with the same permissions, also to replace one.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn companion(&self, path: &Path) -> Result<Self> {
        Self::create_like(path, self.overwrite, self.like.clone())
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
        let mut written = Vec::new();
        self.finish(&mut written)?;
        rename(&mut written)?;
        for Written { target, shown, .. } in &written {
            sync_folder(&folder(&target.path))
                .map_err(|e| Error::system("cannot flush the folder to disk", &e).at_path(shown))?;
        }
        Ok(())
    }

    /// Brings the data of the companions and of the file to disk.
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
        // Some systems do not rename an open file. Elsewhere it stays locked, lest another run takes it for a leftover.
        let file = Some(file).filter(|_| cfg!(unix));
        written.push(Written { target, shown, overwrite: self.overwrite, _file: file });
        Ok(())
    }
}

/// A file that lacks only its name.
struct Written {
    target: Target,
    shown: PathBuf,
    overwrite: bool,
    _file: Option<File>,
}

/// Gives all of them their names, together as far as signals are concerned.
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

/// The folder of the file `path`.
pub fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
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

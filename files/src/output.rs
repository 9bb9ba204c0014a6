//! Output files that appear complete or not at all.
//!
//! Everything is written to a temporary file in the output's folder and flushed to disk. The file is then
//! renamed to the output's name in one step, and the folder is flushed too. A failure removes the temporary
//! file and leaves an existing output untouched. Without `overwrite` the rename refuses to replace a file,
//! even one that appeared meanwhile. Outputs that are committed together are renamed one after the other; if a
//! rename fails, those before it are undone.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use crate::{
    error::{Detail, Error, Remedy, Result},
    path::folder,
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
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if it is the same file as this one or as another companion, under the same name or another one.
    pub fn attach(&mut self, companion: Self) -> Result<()> {
        let mut others = std::iter::once(&*self).chain(&self.companions);
        if let Some(other) = others.find(|other| other.is_same(&companion)) {
            let both = format!("{} and {}", other.shown.display(), companion.shown.display());
            return Err(Error::request("two outputs are the same file")
                .at(both)
                .advise("name a file for each output"));
        }
        self.companions.push(companion);
        Ok(())
    }

    /// Whether one output would replace the other, or be mixed with it.
    fn is_same(&self, other: &Self) -> bool {
        // The last part of a path is no link: `look_at` has followed it.
        let place =
            |path: &Path| fs::canonicalize(folder(path)).ok().zip(path.file_name().map(OsStr::to_owned));
        match (&self.to, &other.to) {
            (Some(to), Some(of_other)) => {
                to.path == of_other.path
                    || place(&to.path).is_some_and(|at| Some(at) == place(&of_other.path))
            }
            (None, None) => is_same_stream(self.file.get_ref(), other.file.get_ref()),
            _ => false,
        }
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

/// Gives all files their names, or none of them. A signal handled meanwhile sees the same.
fn rename(written: &mut [Written]) -> Result<()> {
    let several = written.len() > 1;
    // The files that are replaced. They outlive the guard, which they take when they are dropped.
    let mut replaced: Vec<(PathBuf, Option<Temporary>)> = Vec::new();
    let mut live = live();
    for (i, Written { target, shown, overwrite, .. }) in written.iter_mut().enumerate() {
        let kept = match several && *overwrite {
            true => Temporary::keep(&mut live, &target.path),
            false => Ok(None),
        };
        let renamed = kept.and_then(|kept| {
            replaced.push((target.path.clone(), kept));
            target.temporary.persist(&mut live, &target.path, *overwrite)
        });
        if let Err(e) = renamed {
            for (path, kept) in replaced[..i].iter_mut().rev() {
                // The first failure is the one to report.
                let _ = match kept {
                    Some(kept) => kept.persist(&mut live, path, true),
                    None => fs::remove_file(path),
                };
            }
            return Err(match e.kind() {
                io::ErrorKind::AlreadyExists => exists(shown),
                _ => Error::system("cannot rename the temporary file", &e).at_path(shown),
            });
        }
    }
    Ok(())
}

/// Whether two streams are the same pipe or file. A device may be written to twice.
#[cfg(unix)]
fn is_same_stream(a: &File, b: &File) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let id = |file: &File| {
        file.metadata().ok().filter(|of| !of.file_type().is_char_device()).map(|of| (of.dev(), of.ino()))
    };
    id(a).is_some_and(|a| Some(a) == id(b))
}

/// Whether two streams are the same pipe or file, which cannot be told here.
#[cfg(not(unix))]
fn is_same_stream(_: &File, _: &File) -> bool {
    false
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn start(path: &Path, overwrite: bool, text: &str) -> Output {
        let mut output = Output::create(path, overwrite).unwrap();
        output.writer().write_all(text.as_bytes()).unwrap();
        output
    }

    /// Whichever rename fails, no output has its name, and the replaced files are back.
    #[test]
    fn outputs_are_renamed_together_or_not_at_all() {
        for overwrite in [false, true] {
            for bad in 0..3 {
                let folder = tempfile::tempdir().unwrap();
                let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
                if overwrite {
                    paths.iter().for_each(|path| fs::write(path, "old").unwrap());
                }
                let [mut main, first, second] = [0, 1, 2].map(|i| start(&paths[i], overwrite, "new"));
                main.attach(first).unwrap();
                main.attach(second).unwrap();
                // Nothing replaces a folder.
                if overwrite {
                    fs::remove_file(&paths[bad]).unwrap();
                }
                fs::create_dir(&paths[bad]).unwrap();
                main.commit().unwrap_err();
                for (i, path) in paths.iter().enumerate().filter(|(i, _)| *i != bad) {
                    assert_eq!(
                        fs::read_to_string(path).ok(),
                        overwrite.then(|| "old".to_owned()),
                        "{i} of {bad}"
                    );
                }
                let left = fs::read_dir(folder.path()).unwrap().count();
                assert_eq!(left, if overwrite { 3 } else { 1 }, "{overwrite} {bad}");
            }
        }
    }

    #[test]
    fn replaced_files_leave_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&paths[0], "old").unwrap();
        let [mut main, other] = [0, 1].map(|i| start(&paths[i], true, "new"));
        main.attach(other).unwrap();
        main.commit().unwrap();
        assert!(paths.iter().all(|path| fs::read_to_string(path).unwrap() == "new"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn outputs_are_different_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        let mut main = start(&at("a"), true, "");
        main.attach(start(&at("b"), true, "")).unwrap();
        for same in ["a", "b", "sub/../b"] {
            assert!(matches!(main.attach(start(&at(same), true, "")), Err(Error::Request(_))), "{same}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(folder.path(), at("link")).unwrap();
            fs::write(at("b"), "").unwrap();
            symlink("b", at("to_b")).unwrap();
            for same in ["link/a", "to_b", "link/to_b"] {
                assert!(matches!(main.attach(start(&at(same), true, "")), Err(Error::Request(_))), "{same}");
            }
            let pipe = || File::options().write(true).open("/dev/null").unwrap();
            let mut null = Output::stream(pipe(), Path::new("null"));
            null.attach(Output::stream(pipe(), Path::new("null"))).unwrap();
            let file = File::create(at("file")).unwrap();
            let mut stream = Output::stream(file.try_clone().unwrap(), Path::new("x"));
            assert!(stream.attach(Output::stream(file, Path::new("y"))).is_err());
        }
    }
}

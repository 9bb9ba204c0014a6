//! Temporary files: their names, their owners, and how they are cleaned up when a process ends early.
//!
//! A temporary file is called `.lanecast-PID-XXXXXX.tmp`, lies in the folder of its output, and is locked by the process that
//! writes it. The system releases the lock when the process ends, however that happens. So a file with such a name and no lock
//! is a leftover. (The process id is not enough to tell: ids are reused, and other containers and hosts have their own.)

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::TempPath;

use crate::{
    error::{Error, Result},
    path::folder,
};

pub(crate) const PREFIX: &str = ".lanecast-";
pub(crate) const SUFFIX: &str = ".tmp";
/// The number of random characters in a name.
const RANDOM: usize = 6;

/// The temporary files of this process. The mutex is held while one is created, renamed or removed.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A guard that permits changes to the temporary files.
pub struct Live(pub(crate) MutexGuard<'static, BTreeSet<PathBuf>>);

/// Waits for the guard; blocks for ever after [`abandon`].
pub fn live() -> Live {
    Live(LIVE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A file that is removed on drop, unless it has been renamed to its target.
#[derive(Debug)]
pub struct Temporary(Option<TempPath>);

impl Temporary {
    /// A new file in `folder`, with the permission bits of `like`, or of any new file, less the umask.
    pub fn create(folder: &Path, like: Option<&fs::Permissions>) -> io::Result<(File, Self)> {
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = like.map_or(0o666, |like| like.mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = like;
        let mut live = live();
        loop {
            let (file, path) = builder.tempfile_in(folder)?.into_parts();
            // If this file system has no locks, no file is ever taken for a leftover.
            let _ = file.lock();
            // Another process that removes leftovers may have seen the file before it was locked, and removed it.
            if path.exists() {
                live.0.insert(path.to_path_buf());
                return Ok((file, Self(Some(path))));
            }
        }
    }

    /// Gives the file `path` a second name, which is removed on drop, so that it can be put back after another file took its place. `None`
    /// if there is no such file.
    pub fn keep(live: &mut Live, path: &Path) -> io::Result<Option<Self>> {
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(RANDOM);
        let kept = builder.make_in(folder(path), |name| match fs::hard_link(path, name) {
            Err(e) if !matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                // Some file systems have no hard links.
                fs::copy(path, name).map(drop)
            }
            linked => linked,
        });
        match kept {
            Ok(kept) => {
                let ((), name) = kept.into_parts();
                live.0.insert(name.to_path_buf());
                Ok(Some(Self(Some(name))))
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Renames the file to `target`. With `overwrite`, `target` may exist.
    pub fn persist(&mut self, live: &mut Live, target: &Path, overwrite: bool) -> io::Result<()> {
        let Some(path) = self.0.take() else { return Ok(()) };
        let name = path.to_path_buf();
        let renamed = if overwrite { path.persist(target) } else { path.persist_noclobber(target) };
        match renamed {
            Ok(()) => {
                live.0.remove(&name);
                Ok(())
            }
            Err(e) => {
                self.0 = Some(e.path);
                Err(e.error)
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let mut live = live();
            live.0.remove(&path.to_path_buf());
            drop(path);
        }
    }
}

/// Removes the temporary files of all uncommitted outputs, for a process that is about to exit.
///
/// No output is committed afterwards: a thread that tries blocks for ever.
pub fn abandon() {
    let live = live();
    for path in live.0.iter() {
        // There is nobody left to report an error to; the next run reports the leftover.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    std::mem::forget(live);
}

/// The temporary files in `folder` that a killed process left behind, except those that cannot be opened or locked.
pub fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_ours(&entry.file_name()) && entry.file_type().is_ok_and(|t| t.is_file()))
        .map(|entry| entry.path())
        .filter(|path| unlocked(path).is_some())
        .collect();
    found.sort();
    found
}

/// Removes the [`leftovers`] in `folder`, and returns their paths.
///
/// # Errors
///
/// [`Error::Io`] if one cannot be removed.
pub fn remove_leftovers(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for path in leftovers(folder) {
        // Another run may have removed it.
        let Some(_lock) = unlocked(&path) else { continue };
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(Error::system("cannot remove the leftover", &e).at_path(&path));
            }
            _ => removed.push(path),
        }
    }
    Ok(removed)
}

/// Opens and locks the file, unless another process holds the lock.
fn unlocked(path: &Path) -> Option<File> {
    // Some file systems lock only files that are open for writing.
    let file = File::options().read(true).write(true).open(path).or_else(|_| File::open(path)).ok()?;
    file.try_lock().ok().map(|()| file)
}

/// Whether a file of this name is a temporary one: `.lanecast-PID-XXXXXX.tmp`.
fn is_ours(name: &OsStr) -> bool {
    let middle = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    middle.and_then(|middle| middle.split_once('-')).is_some_and(|(pid, random)| {
        !pid.is_empty()
            && pid.bytes().all(|c| c.is_ascii_digit())
            && random.len() == RANDOM
            && random.bytes().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_are_files_of_our_name_without_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (_file, alive) = Temporary::create(folder.path(), None).unwrap();
        for name in [".lanecast-1-abcDE9.tmp", ".lanecast-x-abcDE9.tmp", ".lanecast-1-abc.tmp", "1.tmp"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join(".lanecast-2-abcDE9.tmp")).unwrap();
        let dead = [folder.path().join(".lanecast-1-abcDE9.tmp")];
        assert_eq!(leftovers(folder.path()), dead);
        assert_eq!(remove_leftovers(folder.path()).unwrap(), dead);
        assert!(leftovers(folder.path()).is_empty());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
        drop(alive);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}

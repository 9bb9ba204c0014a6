//! A folder that appears complete or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::{Detail, Error, Remedy, Result},
    path::folder,
    temporary::{PREFIX, SUFFIX, live},
};

/// A folder under a temporary name beside its target. If it is dropped before [`commit`](Self::commit), nothing is left of it, unless it was
/// [adopted](Self::adopt).
#[derive(Debug)]
pub struct StagedFolder {
    path: PathBuf,
    target: PathBuf,
    replace: bool,
    /// Whether the folder stays where it is on drop: it was committed, or belongs to the caller.
    stays: bool,
}

impl StagedFolder {
    /// Starts the folder `target`, which must be missing or empty unless `replace` is set.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if it is neither and may not be replaced, [`Error::Io`] if no folder can be made beside it.
    pub fn create(target: &Path, replace: bool) -> Result<Self> {
        look_at(target, replace)?;
        let parent = folder(target);
        let failed = |e: io::Error| Error::system("cannot make a temporary folder", &e).at_path(&parent);
        fs::create_dir_all(&parent).map_err(failed)?;
        let mut live = live();
        let path = temporary(&parent).map_err(failed)?;
        live.0.insert(path.clone());
        Ok(Self { path, target: target.to_owned(), replace, stays: false })
    }

    /// Takes the folder `path`, which is made if it is missing, to give it the name `target`. They are on the same file system. Without a
    /// commit the folder stays.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn adopt(path: &Path, target: &Path, replace: bool) -> Result<Self> {
        look_at(target, replace)?;
        fs::create_dir_all(path).map_err(|e| Error::system("cannot make the folder", &e).at_path(path))?;
        Ok(Self { path: path.to_owned(), target: target.to_owned(), replace, stays: true })
    }

    /// Checks that [`create`](Self::create) would not find anything in its way.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] and [`Error::Io`], as [`create`](Self::create).
    pub fn check(target: &Path, replace: bool) -> Result<()> {
        look_at(target, replace)
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name. A folder that it replaces is removed, with all that is in it.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if a folder that may not be replaced appeared meanwhile, [`Error::Io`] if the system fails. Either way the temporary
    /// folder is removed, unless it was adopted, and the target is what it was.
    pub fn commit(mut self) -> Result<()> {
        look_at(&self.target, self.replace)?;
        let failed =
            |e: io::Error| Error::system("cannot rename the temporary folder", &e).at_path(&self.target);
        let mut live = live();
        // The folder that is replaced gets a temporary name until the new one has its own. One that may not be replaced is empty.
        let old = match self.target.exists() {
            true if self.replace => Some(temporary(&folder(&self.target)).map_err(failed)?),
            true => {
                fs::remove_dir(&self.target).map_err(failed)?;
                None
            }
            false => None,
        };
        if let Some(old) = &old {
            fs::rename(&self.target, old).map_err(failed)?;
        }
        if let Err(e) = fs::rename(&self.path, &self.target) {
            if let Some(old) = &old {
                // The first failure is the one to report.
                let _ = fs::rename(old, &self.target);
            }
            return Err(failed(e));
        }
        live.0.remove(&self.path);
        self.stays = true;
        match old {
            Some(old) => fs::remove_dir_all(&old)
                .map_err(|e| Error::system("cannot remove the folder that was replaced", &e).at_path(&old)),
            None => Ok(()),
        }
    }
}

impl Drop for StagedFolder {
    fn drop(&mut self) {
        if !self.stays {
            let mut live = live();
            live.0.remove(&self.path);
            // There is nobody to report an error to.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// An empty folder of a name that is not taken.
fn temporary(parent: &Path) -> io::Result<PathBuf> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    Ok(builder.tempdir_in(parent)?.keep())
}

/// Fails if there is something that may not be replaced.
fn look_at(target: &Path, replace: bool) -> Result<()> {
    let failed = |e: io::Error| Error::system("cannot write", &e).at_path(target);
    let metadata = match fs::symlink_metadata(target) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed)?,
    };
    if !metadata.is_dir() {
        return Err(Error::not_a_folder(target));
    }
    if !replace && fs::read_dir(target).map_err(failed)?.next().is_some() {
        let detail = Detail { what: "the output exists, and is not empty".into(), ..Detail::default() };
        return Err(Error::Exists(detail).at_path(target).advise(Remedy::Overwrite));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staged(target: &Path, replace: bool) -> Result<StagedFolder> {
        let staged = StagedFolder::create(target, replace)?;
        fs::write(staged.path().join("new"), "new").unwrap();
        Ok(staged)
    }

    #[test]
    fn adopted_folders_stay() {
        let parent = tempfile::tempdir().unwrap();
        let (own, target) = (parent.path().join("own"), parent.path().join("target"));
        let adopt = || StagedFolder::adopt(&own, &target, false);
        drop(adopt().unwrap());
        fs::write(own.join("new"), "new").unwrap();
        drop(adopt().unwrap());
        assert!(own.join("new").exists());
        adopt().unwrap().commit().unwrap();
        assert!(target.join("new").exists() && !own.exists());
        assert!(matches!(adopt(), Err(Error::Exists(_))));
    }

    #[test]
    fn folders_appear_complete_or_not_at_all() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("a/b");
        drop(staged(&target, false).unwrap());
        assert_eq!(fs::read_dir(parent.path().join("a")).unwrap().count(), 0);
        fs::create_dir(&target).unwrap();
        staged(&target, false).unwrap().commit().unwrap();
        assert!(target.join("new").exists());
        assert!(matches!(staged(&target, false), Err(Error::Exists(_))));

        fs::write(target.join("old"), "old").unwrap();
        staged(&target, true).unwrap().commit().unwrap();
        assert!(target.join("new").exists() && !target.join("old").exists());
        assert_eq!(fs::read_dir(parent.path().join("a")).unwrap().count(), 1);

        // A file is no folder, and one that appears meanwhile stays.
        let file = parent.path().join("file");
        let late = staged(&file, true).unwrap();
        fs::write(&file, "file").unwrap();
        assert!(late.commit().is_err() && staged(&file, true).is_err());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
    }
}

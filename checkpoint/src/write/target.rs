//! Where shards are written.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use lanecast_files::{Error, Output, Result};

use super::{notes::Notes, paths::make};

/// Where shards are written, one after the other.
pub(crate) trait Target {
    /// Bytes of a shard that an earlier run wrote, and the notes about them. They are no more than that run marked.
    fn had(&self, _shard: &str) -> (u64, Notes) {
        (0, Notes::default())
    }

    /// Bytes of a shard after which a [`mark`](Self::mark) is worth its time.
    fn mark_every(&self) -> u64 {
        u64::MAX
    }

    /// Whether a later run goes on with what is written.
    fn keeps(&self) -> bool {
        false
    }

    /// Starts a shard. Its first `keep` bytes stay.
    fn begin(&mut self, shard: &str, keep: u64) -> Result<()>;

    /// Writes the next bytes of the shard.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Records that the bytes so far are whole tensors, with the notes about them.
    fn mark(&mut self, _notes: &Notes) -> Result<()> {
        Ok(())
    }

    /// Ends the shard, whose bytes are then on the disk.
    fn end(&mut self, notes: &Notes) -> Result<()>;
}

/// A new file, and the folders above it.
pub(crate) fn new_file(root: &Path, name: &str) -> Result<(File, PathBuf)> {
    let path = make(root, name)?;
    let file = File::create_new(&path).map_err(|e| Error::writing(&e).at_path(&path))?;
    Ok((file, path))
}

/// Files of a folder.
pub(super) struct Folder<'a> {
    root: &'a Path,
    open: Option<(File, PathBuf)>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, open: None }
    }
}

impl Target for Folder<'_> {
    fn begin(&mut self, shard: &str, _keep: u64) -> Result<()> {
        self.open = Some(new_file(self.root, shard)?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, path)) = &mut self.open else { return Ok(()) };
        file.write_all(bytes).map_err(|e| Error::writing(&e).at_path(path))
    }

    fn end(&mut self, _notes: &Notes) -> Result<()> {
        let Some((file, path)) = self.open.take() else { return Ok(()) };
        file.sync_all().map_err(|e| Error::system("cannot flush to disk", &e).at_path(&path))
    }
}

/// One file, which its owner commits.
pub(super) struct Single<'a> {
    pub(super) output: &'a mut Output,
}

impl Target for Single<'_> {
    fn begin(&mut self, _shard: &str, _keep: u64) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.output.writer().write_all(bytes);
        written.map_err(|e| Error::writing(&e).at_path(self.output.path()))
    }

    fn end(&mut self, _notes: &Notes) -> Result<()> {
        Ok(())
    }
}

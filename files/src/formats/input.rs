//! Opened input files.

use std::{
    fs::{self, File, Permissions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// Bytes of standard input copied at once.
const SPOOL: usize = 1 << 18;

/// An opened file, positioned at its start.
#[derive(Debug)]
pub struct Input {
    /// Its path.
    pub path: PathBuf,
    /// The file.
    pub file: File,
    /// Its length.
    pub length: u64,
    /// Its permissions, which a new output inherits.
    pub permissions: Option<Permissions>,
}

impl Input {
    /// Opens `path`, which has to be a regular file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it is not a regular file, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, length) = open(path)?;
        let permissions = file.metadata().ok().map(|metadata| metadata.permissions());
        Ok(Self { path: path.to_owned(), file, length, permissions })
    }

    /// Opens standard input, called `shown` in messages. Unless it is a regular file it is copied to an unnamed temporary file first,
    /// because most formats are not read from front to back. `go_on` is called between blocks, and an error from it ends the copy.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if standard input cannot be read or copied.
    pub fn stdin(shown: &Path, go_on: &dyn Fn() -> Result<()>) -> Result<Self> {
        #[cfg(unix)]
        {
            let failed = |e: std::io::Error| Error::reading(&e).at_path(shown);
            let mut file = File::from(stdin_handle().map_err(failed)?);
            let metadata = file.metadata().map_err(failed)?;
            if metadata.is_file() && file.stream_position().map_err(failed)? == 0 {
                let (length, permissions) = (metadata.len(), Some(metadata.permissions()));
                return Ok(Self { path: shown.to_owned(), file, length, permissions });
            }
        }
        Self::copied(&mut std::io::stdin().lock(), shown, go_on)
    }

    /// Copies a stream such as a pipe, called `shown` in messages, to an unnamed temporary file, because most formats are not read from
    /// front to back. `go_on` is called between blocks, and an error from it ends the copy.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the stream cannot be read or copied.
    pub fn copied(stream: &mut dyn Read, shown: &Path, go_on: &dyn Fn() -> Result<()>) -> Result<Self> {
        let failed = |e: std::io::Error| Error::reading(&e).at_path(shown);
        let folder = std::env::temp_dir();
        let spool = |e: std::io::Error| {
            Error::system("cannot copy the stream to a temporary file", &e).at_path(&folder)
        };
        let mut file = tempfile::tempfile_in(&folder).map_err(spool)?;
        let (mut block, mut length) = (vec![0; SPOOL], 0);
        loop {
            go_on()?;
            match stream.read(&mut block) {
                Ok(0) => break,
                Ok(n) => {
                    file.write_all(&block[..n]).map_err(spool)?;
                    length += n as u64;
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(e)),
            }
        }
        file.seek(SeekFrom::Start(0)).map_err(spool)?;
        Ok(Self { path: shown.to_owned(), file, length, permissions: None })
    }
}

#[cfg(unix)]
fn stdin_handle() -> std::io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    std::io::stdin().as_fd().try_clone_to_owned()
}

/// Opens a regular file and measures it.
pub(crate) fn open(path: &Path) -> Result<(File, u64)> {
    let failed = |e: &std::io::Error| Error::system("cannot open", e).at_path(path);
    // Checked before it is opened: opening a pipe would wait for its other end.
    let kind = fs::metadata(path).map_err(|e| failed(&e))?;
    if kind.is_dir() {
        return Err(Error::folder(path));
    }
    if !kind.is_file() {
        return Err(Error::not_a_file(path));
    }
    let file = File::open(path).map_err(|e| failed(&e))?;
    let length = file.metadata().map_err(|e| failed(&e))?.len();
    Ok((file, length))
}

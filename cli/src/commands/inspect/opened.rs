//! What `inspect` reads: files of tensors, and checkpoints of one file, by name or from a stream.

use std::{
    env,
    fs::File,
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    process,
};

use lanecast_checkpoint::Checkpoint;
use lanecast_files::{Error, Input, StagedFolder};

use super::super::sink::{STDIN, go_on, is_pipe, is_standard, stream_of, tensor_file};
use crate::error::{Failure, Result};

/// Bytes of a file that tell what it is.
const HEAD: u64 = 512;
/// Bytes of a stream that are copied at once.
const SPOOL: usize = 1 << 18;

/// A file of tensors of any kind.
pub enum Opened {
    /// One of a format of `lanecast-files`.
    File(Input),
    /// One that only [`Checkpoint`] reads.
    Checkpoint(NamedFile),
}

/// A file that is opened by its name.
pub struct NamedFile {
    path: PathBuf,
    shown: PathBuf,
    /// The folder of a copy, which is removed on drop.
    _folder: Option<StagedFolder>,
}

impl NamedFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is called in messages.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Copies a stream to a file in a folder of its own, where no configuration is beside it.
    fn copied(stream: &mut dyn Read, shown: &Path) -> Result<Self> {
        let target = env::temp_dir().join(format!("lanecast-input-{}", process::id()));
        let folder = StagedFolder::create(&target, true)?;
        let path = folder.path().join("tensors");
        let reading = |e: io::Error| Failure::from(Error::reading(&e)).at_path(shown);
        let failed = |e: io::Error| {
            Failure::system("cannot copy the stream to a temporary file", &e).at_path(&env::temp_dir())
        };
        let mut file = File::create_new(&path).map_err(failed)?;
        let mut block = vec![0; SPOOL];
        loop {
            go_on()?;
            match stream.read(&mut block) {
                Ok(0) => break,
                Ok(n) => file.write_all(&block[..n]).map_err(failed)?,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(reading(e)),
            }
        }
        Ok(Self { path, shown: shown.to_owned(), _folder: Some(folder) })
    }
}

/// Opens a file of tensors, as [`tensor_file`] does. With `checkpoints` it may be one that only [`Checkpoint`] reads.
pub fn open(path: &Path, checkpoints: bool) -> Result<Opened> {
    if !checkpoints {
        return tensor_file(path).map(Opened::File);
    }
    let failed = |e: io::Error| Failure::from(Error::reading(&e)).at_path(path);
    if is_pipe(path) || is_standard(path) && !is_stdin_file() {
        let shown = if is_standard(path) { Path::new(STDIN) } else { path };
        let mut stream: Box<dyn Read> = match is_standard(path) {
            true => Box::new(io::stdin().lock()),
            false => Box::new(stream_of(path)?),
        };
        let mut head = Vec::new();
        (&mut *stream).take(HEAD).read_to_end(&mut head).map_err(failed)?;
        let mut stream = head.chain(stream);
        return Ok(match Checkpoint::recognizes(stream.get_ref().0) {
            true => Opened::Checkpoint(NamedFile::copied(&mut stream, shown)?),
            false => Opened::File(Input::copied(&mut stream, shown, &go_on)?),
        });
    }
    let mut input = tensor_file(path)?;
    let mut head = Vec::new();
    (&mut input.file).take(HEAD).read_to_end(&mut head).map_err(failed)?;
    input.file.rewind().map_err(failed)?;
    Ok(match (Checkpoint::recognizes(&head), is_standard(path)) {
        (false, _) => Opened::File(input),
        (true, true) => Opened::Checkpoint(NamedFile::copied(&mut input.file, &input.path)?),
        (true, false) => {
            Opened::Checkpoint(NamedFile { path: input.path.clone(), shown: input.path, _folder: None })
        }
    })
}

/// Whether standard input is a file from its start on, which need not be copied.
#[cfg(unix)]
fn is_stdin_file() -> bool {
    use std::os::fd::AsFd;
    let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    file.is_ok_and(|mut file| {
        file.metadata().is_ok_and(|of| of.is_file()) && file.stream_position().is_ok_and(|at| at == 0)
    })
}

#[cfg(not(unix))]
fn is_stdin_file() -> bool {
    false
}

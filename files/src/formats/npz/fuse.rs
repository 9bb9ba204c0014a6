//! A writer for an archive that may be abandoned.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
};

use crate::error::{Error, Result};

/// A writer that fails only once: writes after a failure are discarded, so that values dropped during the
/// unwinding of an error cannot fail again. It also fails once the caller cancels, the only way to stop a copy within the archive.
pub(super) struct Fuse<'a> {
    inner: &'a mut BufWriter<File>,
    cancelled: Option<&'a dyn Fn() -> bool>,
    failed: Option<io::Error>,
}

impl<'a> Fuse<'a> {
    pub(super) fn new(inner: &'a mut BufWriter<File>, cancelled: Option<&'a dyn Fn() -> bool>) -> Self {
        Self { inner, cancelled, failed: None }
    }

    /// Returns the failure, if there was one.
    pub(super) fn result(&self) -> Result<()> {
        self.failed.as_ref().map_or(Ok(()), |error| Err(Error::writing(error)))
    }

    fn attempt<T>(
        &mut self,
        swallowed: T,
        action: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.failed.is_some() {
            return Ok(swallowed);
        }
        let done = match self.cancelled {
            Some(cancelled) if cancelled() => Err(io::Error::other("cancelled")),
            _ => action(self.inner),
        };
        done.inspect_err(|e| self.failed = Some(duplicate(e)))
    }
}

fn duplicate(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl Write for Fuse<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), Write::flush)
    }
}

impl Seek for Fuse<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.attempt(0, |inner| inner.seek(to))
    }
}

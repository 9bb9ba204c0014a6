//! ZIP archives, opened with limits, and their errors.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use zip::{CompressionMethod, ZipArchive, read::ZipFile, result::ZipError};

use crate::{
    error::{Error, Remedy, Result},
    formats::format::Compression,
};

/// Members of at least this many bytes get 64-bit size fields. The limit is below 4 GiB because compression
/// can lengthen incompressible data.
pub(super) const LARGE: u64 = 0xF000_0000;

/// The most members of an archive: each takes more than 1 KiB of memory until it is cast.
const MAX_MEMBERS: usize = 1 << 14;

/// The most bytes that may be read to find and read the directory of an archive, which is held in memory.
const LONGEST_DIRECTORY: u64 = 3 << 20;

/// A file whose next `left` bytes may be read, and no more.
#[derive(Debug)]
pub(crate) struct Limited {
    pub(super) file: File,
    left: Arc<AtomicU64>,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        let left = self.left.load(Ordering::Relaxed).checked_sub(n as u64);
        let left = left.ok_or_else(|| io::Error::other("a directory that is too large"))?;
        self.left.store(left, Ordering::Relaxed);
        Ok(n)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

pub(crate) type Archive = ZipArchive<BufReader<Limited>>;

pub(crate) fn open_archive(file: File) -> Result<Archive> {
    let left = Arc::new(AtomicU64::new(LONGEST_DIRECTORY));
    let limited = Limited { file, left: left.clone() };
    let mut archive = ZipArchive::new(BufReader::new(limited))
        .map_err(|e| if left.load(Ordering::Relaxed) < 1 << 13 { too_many() } else { reading(e) })?;
    left.store(u64::MAX, Ordering::Relaxed);
    if archive.len() > MAX_MEMBERS {
        return Err(too_many());
    }
    if archive.has_duplicate_names() {
        return Err(Error::format("a name occurs twice in the archive"));
    }
    archive.validate_header_consistency().map_err(reading)?;
    Ok(archive)
}

/// The error for a directory that is too large.
fn too_many() -> Error {
    Error::unsupported(format!("an archive of more than {MAX_MEMBERS} members or with names of many MiB"))
        .advise("split it")
}

/// Converts an error of reading the archive.
pub(crate) fn reading(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => Error::reading(&e),
        ZipError::InvalidArchive(what) => Error::format(format!("bad archive, {what}")),
        ZipError::UnsupportedArchive(what) => {
            Error::unsupported(format!("the archive is not supported, {what}"))
        }
        ZipError::InvalidPassword => Error::unsupported("the archive has an encrypted member"),
        ZipError::CompressionMethodNotSupported(id) => {
            Error::unsupported(format!("compression method {id} is not supported"))
        }
        other => Error::format(format!("bad archive, {other}")),
    }
}

/// The name of the array in the member `name`, if it is one.
pub(super) fn array_name(name: &str) -> Option<&str> {
    name.strip_suffix(".npy")
}

/// Opens a member that has to be decompressed.
pub(crate) fn open_member(archive: &mut Archive, index: usize) -> Result<ZipFile<'_, BufReader<Limited>>> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    if entry.encrypted() {
        return Err(Error::unsupported("the member is encrypted").advise(EXCLUDE));
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(Error::unsupported("the compression of the member is not supported").advise(EXCLUDE));
    }
    archive.by_index(index).map_err(reading)
}

/// The remedy for a member that cannot be read.
const EXCLUDE: Remedy = Remedy::Exclude { item: "the member", instead: "" };

pub(super) fn compression(archive: &Archive, index: usize) -> Result<Compression> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    let method = entry.compression().to_string().to_ascii_lowercase();
    Ok(Compression { method, bytes: entry.compressed_size() })
}

pub(super) fn name_and_size(archive: &Archive, index: usize) -> Result<(String, u64)> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    let name = entry.name().map_err(reading)?.into_owned();
    Ok((name, entry.size()))
}

/// Converts an error of writing the archive.
pub(super) fn writing(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => Error::writing(&e),
        other => Error::unsupported(format!("cannot write the archive, {other}")),
    }
}

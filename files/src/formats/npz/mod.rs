//! `.npz`: a ZIP archive of `.npy` members.
//!
//! Members that are cast are decompressed, cast and compressed again as a stream; all others are copied in
//! their compressed form. No size stated in the archive is trusted before it is checked: entries must not
//! overlap, the directory entry and the array header must agree on the length of a member, and a member is
//! read to its end, where its checksum is verified.

mod fuse;
mod recast;

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    mem::ManuallyDrop,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lanecast::DType;
use zip::{
    CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, result::ZipError, write::FullFileOptions,
};

use self::{fuse::Fuse, recast::Recast};
use super::{Compression, Contents, FileFormat, Input, Job, NewTensor, Place, Probe, TensorInfo, Work, npy};
use crate::{
    error::{Error, Remedy, Result},
    output::Output,
};

/// The format.
#[derive(Debug)]
pub struct Npz;

impl FileFormat for Npz {
    fn name(&self) -> &'static str {
        "npz"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    fn hidden(&self, dtype: DType) -> Option<String> {
        npy::Npy.hidden(dtype)
    }

    /// Recognises archives whose first member is a `.npy` file, and archives without members. Other formats, such as PyTorch's `.pt`,
    /// are archives too.
    fn recognizes(&self, probe: &mut Probe<'_>) -> bool {
        let head = probe.head;
        if head.starts_with(b"PK\x05\x06") {
            return probe.length == 22;
        }
        let Some(&[low, high]) = head.get(26..28) else { return false };
        let name = head.get(30..).unwrap_or_default();
        let name = name.get(..usize::from(u16::from_le_bytes([low, high])));
        head.starts_with(b"PK\x03\x04") && name.is_some_and(|name| name.ends_with(b".npy"))
    }

    fn holds_checkpoints(&self) -> bool {
        true
    }

    fn open(&self, input: Input) -> Result<Box<dyn Contents>> {
        Ok(Box::new(Opened::new(input)?))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    /// Writes without compression, as `numpy.savez` does.
    fn write(
        &self,
        tensors: &[NewTensor<'_>],
        metadata: &[(String, String)],
        output: &mut Output,
    ) -> Result<()> {
        if !metadata.is_empty() {
            let what = "a .npz file has no metadata";
            return Err(Error::unsupported(what).advise("leave it out, or write another format"));
        }
        let shown = output.path().to_owned();
        let failed = |e: ZipError| writing(e).at_path(&shown);
        let mut zip = ManuallyDrop::new(ZipWriter::new(Fuse::new(output.writer(), None)));
        for tensor in tensors {
            let large = tensor.data.len() as u64 >= LARGE;
            let options =
                FullFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
            zip.start_file(format!("{}.npy", tensor.name), options).map_err(failed)?;
            npy::write_array(tensor, &mut *zip, |e| Error::writing(e).at_path(&shown))?;
        }
        ManuallyDrop::into_inner(zip).finish().map_err(failed)?.result().map_err(|e| e.at_path(&shown))
    }
}

/// Members of at least this many bytes get 64-bit size fields. The limit is below 4 GiB because compression
/// can lengthen incompressible data.
const LARGE: u64 = 0xF000_0000;

/// The most members of an archive: each takes more than 1 KiB of memory until it is cast.
const MAX_MEMBERS: usize = 1 << 14;

/// The most bytes that may be read to find and read the directory of an archive, which is held in memory.
const LONGEST_DIRECTORY: u64 = 3 << 20;

/// A file of which only `left` more bytes may be read.
#[derive(Debug)]
struct Limited {
    file: File,
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

type Archive = ZipArchive<BufReader<Limited>>;

fn open_archive(file: File) -> Result<Archive> {
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
fn reading(error: ZipError) -> Error {
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

fn quoted(name: &str) -> String {
    super::quoted("member", name)
}

/// The name of the array in the member `name`, if it is one.
fn array_name(name: &str) -> Option<&str> {
    name.strip_suffix(".npy")
}

/// Opens a member that has to be decompressed.
fn open_member(archive: &mut Archive, index: usize) -> Result<ZipFile<'_, BufReader<Limited>>> {
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

/// An archive opened to be read.
struct Opened {
    archive: Archive,
    tensors: Vec<TensorInfo>,
    /// The member of each tensor.
    members: Vec<usize>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("tensors", &self.tensors).finish_non_exhaustive()
    }
}

impl Opened {
    fn new(input: Input) -> Result<Self> {
        let mut archive = open_archive(input.file)?;
        let (mut tensors, mut members) = (Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let (name, size) = name_and_size(&archive, index)?;
            let listed = match array_name(&name) {
                Some(array) => open_member(&mut archive, index)
                    .and_then(|mut member| npy::read_header(&mut member, size))
                    .and_then(|header| npy::listed(array, &header, size, Place::Member))
                    .map_err(|e| e.at(quoted(&name)))?,
                None => vec![TensorInfo {
                    name,
                    buffer: None,
                    described: "not an array".into(),
                    shape: None,
                    fortran_order: false,
                    elements: None,
                    bytes: size,
                    place: Place::Member,
                    compression: None,
                }],
            };
            let compression = compression(&archive, index)?;
            let listed = listed
                .into_iter()
                .map(|tensor| TensorInfo { compression: Some(compression.clone()), ..tensor });
            tensors.extend(listed);
            members.resize(tensors.len(), index);
        }
        Ok(Self { archive, tensors, members })
    }
}

impl Contents for Opened {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn metadata(&self) -> &[(String, String)] {
        &[]
    }

    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        if self.tensors[index].place == Place::Field {
            return Err(super::is_field());
        }
        let mut member = open_member(&mut self.archive, self.members[index])?;
        let size = member.size();
        // A member that is not an array has no array header.
        if member.name().is_ok_and(|name| array_name(&name).is_some()) {
            let header = npy::header::Header::read(&mut member, size)?;
            let data = npy::data_len(&header, size)?;
            if data < size.saturating_sub(header.bytes) {
                return Ok(Box::new(member.take(data)));
            }
        }
        Ok(Box::new(member))
    }
}

fn compression(archive: &Archive, index: usize) -> Result<Compression> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    let method = entry.compression().to_string().to_ascii_lowercase();
    Ok(Compression { method, bytes: entry.compressed_size() })
}

fn name_and_size(archive: &Archive, index: usize) -> Result<(String, u64)> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    let name = entry.name().map_err(reading)?.into_owned();
    Ok((name, entry.size()))
}

/// Converts an error of writing the archive.
fn writing(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => Error::writing(&e),
        other => Error::unsupported(format!("cannot write the archive, {other}")),
    }
}

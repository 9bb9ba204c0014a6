//! `.npz`: a ZIP archive of `.npy` members.
//!
//! Members that are cast are decompressed, cast and compressed again as a stream; all others are copied as
//! they are, compressed bytes and all. Nothing that the archive says of sizes is believed before it is
//! checked: entries must not overlap, a member must be as long as its directory entry and its array header
//! agree, and it is read to its end, where its checksum is verified.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    mem::ManuallyDrop,
    ops::Range,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lanecast::DType;
use zip::{
    CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, result::ZipError, write::FullFileOptions,
};

use super::{
    Compression, Contents, FileFormat, Input, Job, NewTensor, Place, Probe, TensorInfo, Work, copied,
    npy::{self, Array, header::Descr},
};
use crate::{
    error::{Error, Remedy, Result},
    output::Output,
    pump::Pump,
    report::Entry,
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

    /// An archive that begins with a member `.npy`, or has none. Others, such as PyTorch's `.pt`, are archives, too.
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

    fn open(&self, input: Input) -> Result<Box<dyn Contents>> {
        Ok(Box::new(Opened::new(input)?))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    /// Without compression, as `numpy.savez`.
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

/// Members of more bytes than this get the long form of their sizes. Compression may lengthen what does not
/// compress.
const LARGE: u64 = 0xF000_0000;

/// The most members of an archive: each takes more than a KiB until it is cast.
const MAX_MEMBERS: usize = 1 << 14;

/// The longest directory of an archive, of which all is held. It is read once, and the end of the file is searched for it.
const LONGEST_DIRECTORY: u64 = 3 << 20;

/// A file of which so much may be read.
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
        return Err(Error::format("a name stands twice in the archive"));
    }
    archive.validate_header_consistency().map_err(reading)?;
    Ok(archive)
}

/// The error of a directory that is too large.
fn too_many() -> Error {
    Error::unsupported(format!("an archive of more than {MAX_MEMBERS} members or with names of many MiB"))
        .advise("split it")
}

/// What an error of reading means.
fn reading(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => Error::reading(&e),
        ZipError::InvalidArchive(what) => Error::format(format!("bad archive, {what}")),
        ZipError::UnsupportedArchive(what) => {
            Error::unsupported(format!("the archive is not supported, {what}"))
        }
        ZipError::InvalidPassword => Error::unsupported("an encrypted member"),
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

/// What to do about a member that is in the way.
const EXCLUDE: Remedy = Remedy::Exclude { item: "the member", instead: "" };

/// A file that is read.
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
        // What is no array has no header.
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

/// A file and what to do with it.
struct Recast<'a> {
    job: &'a Job,
    path: PathBuf,
    archive: Archive,
    length: u64,
    /// One per member; the array if it is cast, and which entries are its own.
    members: Vec<(String, Option<Array>, Range<usize>)>,
    /// In the order of the members: one for each, or one for each field of a structured array.
    entries: Vec<Entry>,
    /// The names of structured arrays and of their fields.
    structured: Vec<String>,
}

impl<'a> Recast<'a> {
    /// Reads the directory and the headers, and decides.
    fn new(input: Input, job: &'a Job) -> Result<Self> {
        let mut archive = open_archive(input.file)?;
        let (mut members, mut entries, mut structured) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let (name, size) = name_and_size(&archive, index)?;
            let (array, its_own) = decide(job, &mut archive, index, &name, size, &mut structured)
                .map_err(|e| e.at(quoted(&name)))?;
            let first = entries.len();
            entries.extend(its_own);
            members.push((name, array, first..entries.len()));
        }
        Ok(Self { job, path: input.path, archive, length: input.length, members, entries, structured })
    }
}

impl Work for Recast<'_> {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    fn groups(&self) -> Vec<&str> {
        self.structured.iter().map(String::as_str).collect()
    }

    fn run(mut self: Box<Self>, pump: &mut Pump<'_>, output: &mut Output) -> Result<Vec<Entry>> {
        let shown = output.path().to_owned();
        let on_output = |e: Error| e.at_path(&shown);
        // Dropped unfinished, the writer would finish the archive and complain on standard error.
        let mut zip = ManuallyDrop::new(ZipWriter::new(Fuse::new(output.writer(), pump.canceller())));
        zip.set_raw_comment(self.archive.comment().into()).map_err(|e| on_output(writing(e)))?;
        for (index, (name, array, its_own)) in self.members.iter().enumerate() {
            let on_input = |e: Error| e.at(quoted(name)).in_path(&self.path);
            match array {
                Some(array) => {
                    let member = open_member(&mut self.archive, index).map_err(on_input)?;
                    let entries = &mut self.entries[its_own.clone()];
                    cast_member(self.job, member, array, entries, pump, &mut zip, on_input, on_output)?;
                }
                None => {
                    let member = self.archive.by_index_raw(index).map_err(|e| on_input(reading(e)))?;
                    let copied = zip.raw_copy_file(member);
                    copied.map_err(|e| match zip.get_ref().map(Fuse::result) {
                        Some(Err(failure)) => on_output(failure),
                        _ => on_input(reading(e)),
                    })?;
                    pump.advance(self.entries[its_own.clone()].iter().map(|entry| entry.bytes_in).sum());
                }
            }
        }
        let fuse = ManuallyDrop::into_inner(zip).finish().map_err(|e| on_output(writing(e)))?;
        fuse.result().map_err(on_output)?;
        // A copy ends without a complaint where the file ends.
        let length = self.archive.into_inner().get_ref().file.metadata().map(|m| m.len());
        if length.ok() != Some(self.length) {
            return Err(Error::format("the file changed while it was read").in_path(&self.path));
        }
        Ok(self.entries)
    }
}

fn decide(
    job: &Job,
    archive: &mut Archive,
    index: usize,
    name: &str,
    size: u64,
    structured: &mut Vec<String>,
) -> Result<(Option<Array>, Vec<Entry>)> {
    let Some(array) = array_name(name) else {
        return Ok((None, vec![copied(name, "not an array", None, size)]));
    };
    let not_looked_at = || Ok((None, vec![copied(array, "not looked at", None, size)]));
    let allowed = job.selection.allows(array);
    if job.selection.excludes(array) {
        return not_looked_at();
    }
    let header = open_member(archive, index).and_then(|mut member| npy::read_header(&mut member, size));
    // A member that no include names is looked at only for its fields, which one may name.
    let header = match header {
        Err(_) if !allowed => return not_looked_at(),
        header => header?,
    };
    let data = npy::data_len(&header, size)?;
    if let Descr::Struct(of) = &header.descr {
        structured.push(array.to_owned());
        structured.extend(npy::fields::listed(array, of, &header.shape, false).into_iter().map(|f| f.name));
    }
    if let Some(cast) = Array::structured(job, array, &header)? {
        let entries = cast.entries(array, data)?;
        return Ok((Some(cast), entries));
    }
    if !allowed {
        return not_looked_at();
    }
    // An unsigned integer may be one: only a name given for it says that it carries something else.
    let carriers = job.selection.names_explicitly(array);
    if let Some(held) = npy::held(&header, job.selection.from(), carriers)
        && job.selection.chooses(array, held.0)
    {
        let cast = Array::new(job, header, held)?;
        let entries = cast.entries(array, data)?;
        return Ok((Some(cast), entries));
    }
    Ok((None, vec![copied(array, npy::shown(&header), header.known_shape(), data)]))
}

#[allow(clippy::too_many_arguments)]
fn cast_member(
    job: &Job,
    mut member: ZipFile<'_, BufReader<Limited>>,
    array: &Array,
    entries: &mut [Entry],
    pump: &mut Pump<'_>,
    zip: &mut ZipWriter<Fuse<'_>>,
    on_input: impl Fn(Error) -> Error,
    on_output: impl Fn(Error) -> Error,
) -> Result<()> {
    // The stream is the one that was looked at before, unless the file changes while it is read.
    let size = member.size();
    let header = npy::header::Header::read(&mut member, size).map_err(&on_input)?;
    if header.bytes != array.header.bytes {
        return Err(on_input(Error::format("the file changed while it was read")));
    }
    let new_header = array.new_header().map_err(&on_input)?;
    let size = new_header.len() as u64 + array.bytes_out().map_err(&on_input)?;
    // The method of compression, the time and the attributes are those of the source.
    let mut options: FullFileOptions = member.options().into_full_options().large_file(size >= LARGE);
    if !member.comment().is_empty() {
        options = options.with_file_comment(member.comment());
    }
    let name = member.name_raw().to_vec();
    zip.start_file_with_options(options.name(&name)).map_err(|e| on_output(writing(e)))?;
    zip.write_all(&new_header).map_err(|e| on_output(Error::writing(&e)))?;
    let counts = array
        .transfer(job, pump, &mut member, zip)
        .map_err(&on_input)?
        .map_err(|stopped| stopped.fail(&on_input, &on_output))?;
    for (entry, counts) in entries.iter_mut().zip(counts) {
        entry.counts = counts;
    }
    // The end of the member is where its checksum is compared. As NumPy, what follows the data is ignored.
    let mut read = header.bytes.saturating_add(npy::data_len(&header, member.size()).map_err(&on_input)?);
    let mut ignored = vec![0; 1 << 16];
    loop {
        pump.check()?;
        match member.read(&mut ignored) {
            Ok(0) if read == member.size() => return Ok(()),
            Ok(0) => return Err(on_input(Error::format("the member is shorter than the archive says"))),
            Ok(n) => read = read.saturating_add(n as u64),
            Err(e) => return Err(on_input(Error::reading(&e))),
        }
    }
}

/// What an error of writing means.
fn writing(error: ZipError) -> Error {
    match error {
        ZipError::Io(e) => Error::writing(&e),
        other => Error::unsupported(format!("cannot write the archive, {other}")),
    }
}

/// A writer that fails once: what comes after a failure is swallowed, so that what is dropped on the way
/// out cannot fail again. It fails, too, once the caller cancels, of which a copy within the archive hears no other way.
struct Fuse<'a> {
    inner: &'a mut BufWriter<File>,
    cancelled: Option<&'a dyn Fn() -> bool>,
    failed: Option<io::Error>,
}

impl<'a> Fuse<'a> {
    fn new(inner: &'a mut BufWriter<File>, cancelled: Option<&'a dyn Fn() -> bool>) -> Self {
        Self { inner, cancelled, failed: None }
    }

    /// Fails if it failed.
    fn result(&self) -> Result<()> {
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

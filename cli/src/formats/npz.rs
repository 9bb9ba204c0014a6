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
    path::Path,
};

use zip::{
    CompressionMethod, ZipArchive, ZipWriter, read::ZipFile, result::ZipError, write::FullFileOptions,
};

use super::{
    Job, Listed, Listing, Work, copied,
    npy::{self, Array},
    open,
};
use crate::{
    error::{Failure, Result},
    output::Output,
    pump::Pump,
    report::Entry,
    text,
};

/// Members of more bytes than this get the long form of their sizes. Compression may lengthen what does not
/// compress.
const LARGE: u64 = 0xF000_0000;

type Archive = ZipArchive<BufReader<File>>;

fn open_archive(path: &Path) -> Result<(Archive, u64)> {
    let (file, length) = open(path)?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(reading)?;
    if archive.has_duplicate_names() {
        return Err(Failure::format("a name stands twice in the archive"));
    }
    archive.validate_header_consistency().map_err(reading)?;
    Ok((archive, length))
}

/// What an error of reading means.
fn reading(error: ZipError) -> Failure {
    match error {
        ZipError::Io(e) => Failure::reading(&e),
        ZipError::InvalidArchive(what) => Failure::format(format!("bad archive, {what}")),
        ZipError::UnsupportedArchive(what) => {
            Failure::unsupported(format!("the archive is not supported, {what}"))
        }
        ZipError::InvalidPassword => Failure::unsupported("an encrypted member"),
        ZipError::CompressionMethodNotSupported(id) => {
            Failure::unsupported(format!("compression method {id} is not supported"))
        }
        other => Failure::format(format!("bad archive, {other}")),
    }
}

fn quoted(name: &str) -> String {
    format!("member \"{}\"", text::one_line(name))
}

/// The name of the array in the member `name`, if it is one.
fn array_name(name: &str) -> Option<&str> {
    name.strip_suffix(".npy")
}

/// Opens a member that has to be decompressed.
fn open_member(archive: &mut Archive, index: usize) -> Result<ZipFile<'_, BufReader<File>>> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    if entry.encrypted() {
        return Err(Failure::unsupported("the member is encrypted").advise(LEAVE_OUT));
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(Failure::unsupported("the compression of the member is not supported").advise(LEAVE_OUT));
    }
    archive.by_index(index).map_err(reading)
}

/// What to do about a member that is in the way.
const LEAVE_OUT: &str = "leave the member out with --exclude";

/// Lists the members of the file `path`.
pub fn list(path: &Path) -> Result<Listing> {
    let (mut archive, _) = open_archive(path).map_err(|e| e.in_path(path))?;
    let mut listing = Listing::default();
    for index in 0..archive.len() {
        let (name, size) = name_and_size(&archive, index).map_err(|e| e.in_path(path))?;
        let listed = match array_name(&name) {
            Some(array) => open_member(&mut archive, index)
                .and_then(|mut member| npy::read_header(&mut member, size))
                .and_then(|header| npy::listed(array, &header, size))
                .map_err(|e| e.at(quoted(&name)).in_path(path))?,
            None => {
                vec![Listed { name, dtype: "not an array".into(), shape: None, elements: None, bytes: size }]
            }
        };
        listing.tensors.extend(listed);
    }
    Ok(listing)
}

fn name_and_size(archive: &Archive, index: usize) -> Result<(String, u64)> {
    let entry = archive.by_index_data(index).map_err(reading)?;
    let name = entry.name().map_err(reading)?.into_owned();
    Ok((name, entry.size()))
}

/// A file and what to do with it.
pub struct Recast<'a> {
    job: &'a Job<'a>,
    archive: Archive,
    length: u64,
    /// One per member; the array if it is cast, and which entries are its own.
    members: Vec<(String, Option<Array>, Range<usize>)>,
    /// In the order of the members: one for each, or one for each field of a structured array.
    entries: Vec<Entry>,
}

impl<'a> Recast<'a> {
    /// Reads the directory and the headers, and decides.
    pub fn new(job: &'a Job<'a>) -> Result<Self> {
        let (mut archive, length) = open_archive(job.input).map_err(|e| e.in_path(job.input))?;
        let (mut members, mut entries) = (Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let (name, size) = name_and_size(&archive, index).map_err(|e| e.in_path(job.input))?;
            let (array, its_own) = decide(job, &mut archive, index, &name, size)
                .map_err(|e| e.at(quoted(&name)).in_path(job.input))?;
            let first = entries.len();
            entries.extend(its_own);
            members.push((name, array, first..entries.len()));
        }
        Ok(Self { job, archive, length, members, entries })
    }
}

impl Work for Recast<'_> {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn run(mut self, pump: &mut Pump, output: &mut Output) -> Result<Vec<Entry>> {
        let shown = output.path().to_owned();
        let on_output = |e: Failure| e.at_path(&shown);
        // Dropped unfinished, the writer would finish the archive and complain on standard error.
        let mut zip = ManuallyDrop::new(ZipWriter::new(Fuse::new(output.writer())));
        zip.set_raw_comment(self.archive.comment().into()).map_err(|e| on_output(writing(e)))?;
        for (index, (name, array, its_own)) in self.members.iter().enumerate() {
            let on_input = |e: Failure| e.at(quoted(name)).in_path(self.job.input);
            match array {
                Some(array) => {
                    let member = open_member(&mut self.archive, index).map_err(on_input)?;
                    let entries = &mut self.entries[its_own.clone()];
                    cast_member(self.job, member, array, entries, pump, &mut zip, on_input, on_output)?;
                }
                None => {
                    let member = self.archive.by_index_raw(index).map_err(|e| on_input(reading(e)))?;
                    let copied = zip.raw_copy_file(member);
                    copied.map_err(|e| match zip.get_ref().and_then(Fuse::failure) {
                        Some(failure) => on_output(failure),
                        None => on_input(reading(e)),
                    })?;
                }
            }
        }
        let fuse = ManuallyDrop::into_inner(zip).finish().map_err(|e| on_output(writing(e)))?;
        if let Some(failure) = fuse.failure() {
            return Err(on_output(failure));
        }
        // A copy ends without a complaint where the file ends.
        let length = self.archive.into_inner().get_ref().metadata().map(|m| m.len());
        if length.ok() != Some(self.length) {
            return Err(Failure::format("the file changed while it was read").in_path(self.job.input));
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
    // A member that no --include names is looked at only for its fields, which one may name.
    let header = match header {
        Err(_) if !allowed => return not_looked_at(),
        header => header?,
    };
    let data = size.saturating_sub(header.bytes);
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
    mut member: ZipFile<'_, BufReader<File>>,
    array: &Array,
    entries: &mut [Entry],
    pump: &mut Pump,
    zip: &mut ZipWriter<Fuse<'_>>,
    on_input: impl Fn(Failure) -> Failure,
    on_output: impl Fn(Failure) -> Failure,
) -> Result<()> {
    // The stream is the one that was looked at before, unless the file changes while it is read.
    let size = member.size();
    let header = npy::header::Header::read(&mut member, size).map_err(&on_input)?;
    if header.bytes != array.header.bytes {
        return Err(on_input(Failure::format("the file changed while it was read")));
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
    zip.write_all(&new_header).map_err(|e| on_output(Failure::writing(&e)))?;
    let counts = array
        .transfer(job, pump, &mut member, zip)
        .map_err(&on_input)?
        .map_err(|stopped| stopped.fail(&on_input, &on_output))?;
    for (entry, counts) in entries.iter_mut().zip(counts) {
        entry.counts = counts;
    }
    // The end of the member is where its checksum is compared.
    match member.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(on_input(Failure::format("the member is longer than the archive says"))),
        Err(e) => Err(on_input(Failure::reading(&e))),
    }
}

/// What an error of writing means.
fn writing(error: ZipError) -> Failure {
    match error {
        ZipError::Io(e) => Failure::writing(&e),
        other => Failure::unsupported(format!("cannot write the archive, {other}")),
    }
}

/// A writer that fails once: what comes after a failure is swallowed, so that what is dropped on the way
/// out cannot fail again.
struct Fuse<'a> {
    inner: &'a mut BufWriter<File>,
    failed: Option<io::Error>,
}

impl<'a> Fuse<'a> {
    fn new(inner: &'a mut BufWriter<File>) -> Self {
        Self { inner, failed: None }
    }

    /// The failure, as the failure of this run.
    fn failure(&self) -> Option<Failure> {
        self.failed.as_ref().map(Failure::writing)
    }

    fn attempt<T>(
        &mut self,
        swallowed: T,
        action: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.failed.is_some() {
            return Ok(swallowed);
        }
        action(self.inner).inspect_err(|e| self.failed = Some(duplicate(e)))
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

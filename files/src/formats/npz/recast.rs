//! An archive whose members are cast, or copied as they are.

use std::{
    io::{BufReader, Read, Write},
    mem::ManuallyDrop,
    ops::Range,
    path::PathBuf,
};

use zip::{ZipWriter, read::ZipFile, write::FullFileOptions};

use super::{
    super::{
        format::{Job, Work, copied, quoted},
        input::Input,
        npy::{self, Array, header::Descr},
    },
    archive::{
        Archive, LARGE, Limited, array_name, name_and_size, open_archive, open_member, reading, writing,
    },
    fuse::Fuse,
};
use crate::{
    error::{Error, Result},
    output::Output,
    pump::Pump,
    report::{Entry, UNNAMED},
};

/// An archive and what to do with it.
pub(super) struct Recast<'a> {
    job: &'a Job,
    path: PathBuf,
    archive: Archive,
    length: u64,
    /// For each member its name, the array if it is cast, and the range of its entries.
    members: Vec<(String, Option<Array>, Range<usize>)>,
    /// In the order of the members: one for each, or one for each field of a structured array.
    entries: Vec<Entry>,
    /// The names of structured arrays and of their fields.
    structured: Vec<String>,
}

impl<'a> Recast<'a> {
    /// Reads the directory and the headers, and decides what to cast.
    pub(super) fn new(input: Input, job: &'a Job) -> Result<Self> {
        let mut archive = open_archive(input.file)?;
        let (mut members, mut entries, mut structured) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..archive.len() {
            let (name, size) = name_and_size(&archive, index)?;
            let (array, its_own) = decide(job, &mut archive, index, &name, size, &mut structured)
                .map_err(|e| e.at(quoted("member", &name)))?;
            let first = entries.len();
            entries.extend(its_own);
            members.push((name, array, first..entries.len()));
        }
        let unnamed = entries.iter().find(|entry: &&Entry| entry.is_unnamed());
        if let (Some(entry), true) = (unnamed, entries.iter().all(|entry| entry.to.is_none())) {
            return Err(npy::unnamed(&entry.from).at(quoted("member", &entry.name)));
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
        // If dropped unfinished, the writer would finish the archive and print errors to standard error.
        let mut zip = ManuallyDrop::new(ZipWriter::new(Fuse::new(output.writer(), pump.canceller())));
        zip.set_raw_comment(self.archive.comment().into()).map_err(|e| on_output(writing(e)))?;
        for (index, (name, array, its_own)) in self.members.iter().enumerate() {
            let on_input = |e: Error| e.at(quoted("member", name)).in_path(&self.path);
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
        // A copy from a truncated file ends without an error.
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
    // A member that no include names may still be a structured array with fields that one names.
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
    // An unsigned integer may be meant as one: only an include that names the member says that it carries another dtype.
    let carriers = job.selection.names_explicitly(array);
    if let Some(held) = npy::held(&header, job.selection.source(), carriers)
        && job.selection.chooses(array, held.0)
    {
        let cast = Array::new(job, header, held)?;
        let entries = cast.entries(array, data)?;
        return Ok((Some(cast), entries));
    }
    let mut kept = copied(array, npy::shown(&header), header.known_shape(), data);
    if job.selection.source().is_none() && matches!(header.descr, Descr::Lossy(..)) {
        kept.kept = Some(UNNAMED);
    }
    Ok((None, vec![kept]))
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
    // The header is the one that was planned for, unless the file changed meanwhile.
    let size = member.size();
    let header = npy::header::Header::read(&mut member, size).map_err(&on_input)?;
    if header.bytes != array.header.bytes {
        return Err(on_input(Error::format("the file changed while it was read")));
    }
    let new_header = array.new_header().map_err(&on_input)?;
    let size = new_header.len() as u64 + array.bytes_out().map_err(&on_input)?;
    // The compression method, the time and the attributes are those of the source member.
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
    // The checksum is verified at the end of the member. Bytes after the data are ignored, as NumPy does.
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

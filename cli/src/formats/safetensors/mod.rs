//! `.safetensors`: named tensors in one file.

mod header;

use std::{
    cmp::Reverse,
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use lanecast::BufferType;

pub use self::header::quoted;
use self::header::{Header, NewHeader, NewTensor, Tensor, ends_at_a_byte, name_of};
use super::{Job, Listed, Listing, Work, copied, open, result_len};
use crate::{
    error::{Failure, Result},
    options::in_files,
    output::Output,
    pump::{Extent, Lane, Pump},
    report::Entry,
};

/// Lists the tensors of the file `path`.
pub fn list(path: &Path) -> Result<Listing> {
    let (mut file, length) = open(path)?;
    let header = Header::read(&mut file, length).map_err(|e| e.in_path(path))?;
    let tensors = header
        .tensors
        .into_iter()
        .map(|t| Listed {
            dtype: t.dtype.name().to_owned(),
            elements: Some(t.elements),
            bytes: t.bytes,
            shape: Some(t.shape),
            name: t.name,
        })
        .collect();
    Ok(Listing { tensors, metadata: header.metadata.unwrap_or_default() })
}

/// A file and what to do with it.
#[derive(Debug)]
pub struct Recast<'a> {
    job: &'a Job<'a>,
    file: File,
    header: Header,
    /// One entry per tensor of the header.
    entries: Vec<Entry>,
}

impl<'a> Recast<'a> {
    /// Reads the header and decides.
    pub fn new(job: &'a Job<'a>) -> Result<Self> {
        if name_of(job.to).is_none() {
            return Err(Failure::unsupported(format!("the .safetensors format has no name for {}", job.to))
                .at_path(job.input)
                .advise("choose another dtype or another format"));
        }
        let (mut file, length) = open(job.input)?;
        let header = Header::read(&mut file, length).map_err(|e| e.in_path(job.input))?;
        let entries = header
            .tensors
            .iter()
            .map(|tensor| entry(job, tensor).map_err(|e| e.at(quoted(&tensor.name)).in_path(job.input)))
            .collect::<Result<_>>()?;
        Ok(Self { job, file, header, entries })
    }

    /// In which order the data is written: that of the file, unless an element of several bytes would then
    /// lie across its alignment, which readers that map the file cannot bear. Wide elements stand first
    /// then, as the reference implementation writes them.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        order.sort_by_key(|i| (self.header.tensors[*i].begin, self.header.tensors[*i].bytes));
        let size = |i: &usize| {
            let entry = &self.entries[*i];
            if entry.to.is_some() { self.job.to.size() } else { self.header.tensors[*i].dtype.size() }
        };
        let mut offset = 0;
        let aligned = order.iter().all(|i| {
            let aligned = u64::is_multiple_of(offset, size(i) as u64);
            offset += self.entries[*i].bytes_out;
            aligned
        });
        if !aligned {
            order.sort_by_key(|i| Reverse(size(i)));
        }
        order
    }

    fn new_header(&self, order: &[usize]) -> Result<NewHeader<'_>> {
        let mut begins = vec![0; order.len()];
        let mut offset = 0_u64;
        for i in order {
            begins[*i] = offset;
            offset = offset.checked_add(self.entries[*i].bytes_out).ok_or_else(|| {
                Failure::unsupported("the result is more than a file can hold").in_path(self.job.input)
            })?;
        }
        let tensors =
            self.header.tensors.iter().zip(&self.entries).zip(begins).map(|((tensor, entry), begin)| {
                let dtype = if entry.to.is_some() { self.job.to } else { tensor.dtype };
                NewTensor {
                    name: &tensor.name,
                    // Every dtype in here was read from this format, or checked to have a name.
                    dtype: name_of(dtype).unwrap_or_default(),
                    shape: &tensor.shape,
                    data_offsets: (begin, begin + entry.bytes_out),
                }
            });
        Ok(NewHeader { metadata: self.header.metadata.as_deref(), tensors: tensors.collect() })
    }
}

impl Work for Recast<'_> {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn run(mut self, pump: &mut Pump, output: &mut Output) -> Result<Vec<Entry>> {
        let order = self.order();
        let written = |e: &std::io::Error| Failure::writing(e);
        let head = self.new_header(&order)?.to_bytes().map_err(|e| e.in_path(self.job.input))?;
        output.writer().write_all(&head).map_err(|e| written(&e).at_path(output.path()))?;
        for index in order {
            let (tensor, entry) = (&self.header.tensors[index], &mut self.entries[index]);
            transfer(self.job, &mut self.file, self.header.data_start, tensor, entry, pump, output)?;
        }
        Ok(self.entries)
    }
}

/// What to do with one tensor.
fn entry(job: &Job, tensor: &Tensor) -> Result<Entry> {
    let mut entry = copied(&tensor.name, tensor.dtype.name(), Some(&tensor.shape), tensor.bytes);
    if !job.selection.chooses(&tensor.name, tensor.dtype) {
        return Ok(entry);
    }
    let to = BufferType::packed(job.to);
    // The pair is refused before anything is written.
    job.settings.plan(BufferType::packed(tensor.dtype), to)?;
    if !ends_at_a_byte(job.to, tensor.elements) {
        return Err(Failure::unsupported(format!(
            "{} elements of {} do not fill whole bytes, as the format demands",
            tensor.elements, job.to
        ))
        .advise("leave the tensor out with --exclude"));
    }
    entry.bytes_out = result_len(to, tensor.elements)?;
    entry.to = Some(job.to.name().to_owned());
    Ok(entry)
}

fn transfer(
    job: &Job,
    file: &mut File,
    data_start: u64,
    tensor: &Tensor,
    entry: &mut Entry,
    pump: &mut Pump,
    output: &mut Output,
) -> Result<()> {
    let place = || quoted(&tensor.name);
    let shown = output.path().to_owned();
    let on_input = |e: Failure| e.at(place()).in_path(job.input);
    let on_output = |e: Failure| e.at_path(&shown);
    file.seek(SeekFrom::Start(data_start + tensor.begin)).map_err(|e| on_input(Failure::reading(&e)))?;
    if entry.to.is_none() {
        return pump
            .copy(file, output.writer(), tensor.bytes)
            .map_err(|stopped| stopped.fail(on_input, on_output));
    }
    let mut lane = Lane::new(&job.settings, in_files(tensor.dtype), in_files(job.to)).map_err(on_input)?;
    let passed = pump
        .cast(&mut lane, file, output.writer(), Extent::Elements(tensor.elements))
        .map_err(|stopped| stopped.fail(on_input, on_output))?;
    entry.counts = Some(passed.counts);
    Ok(())
}

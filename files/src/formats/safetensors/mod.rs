//! `.safetensors`: named tensors in one file.

mod header;

use std::{
    cmp::Reverse,
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::PathBuf,
};

use lanecast::{DType, Encoding};

use self::header::{Header, LONGEST, NewHeader, Tensor, ends_at_a_byte, name_of};
use super::{
    format::{
        Contents, FileFormat, Job, NewTensor, Place, Probe, TensorInfo, Work, copied, elements, quoted,
        read_at, result_len,
    },
    input::Input,
};
use crate::{
    error::{Error, Remedy, Result},
    extensions,
    output::Output,
    pump::{Extent, Lane, Pump},
    report::Entry,
    settings::in_files,
};

/// The format.
#[derive(Debug)]
pub struct Safetensors;

impl FileFormat for Safetensors {
    fn name(&self) -> &'static str {
        "safetensors"
    }

    fn extensions(&self) -> &'static [&'static str] {
        extensions::SAFETENSORS
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    /// Recognises a header length that fits the file, followed by the brace that opens the header.
    fn recognizes(&self, probe: &mut Probe<'_>) -> bool {
        match probe.head.split_first_chunk() {
            Some((length, [b'{', ..])) => {
                u64::from_le_bytes(*length) <= LONGEST.min(probe.length.saturating_sub(8))
            }
            _ => false,
        }
    }

    fn streams(&self) -> bool {
        true
    }

    fn holds_checkpoints(&self) -> bool {
        true
    }

    fn open(&self, mut input: Input) -> Result<Box<dyn Contents>> {
        let header = Header::read(&mut input.file, input.length)?;
        let start = header.data_start;
        let tensors = header.tensors.into_iter().map(|t| TensorInfo {
            buffer: Some(in_files(t.dtype)),
            described: t.dtype.name().to_owned(),
            elements: Some(t.elements),
            bytes: t.bytes,
            shape: Some(t.shape),
            fortran_order: false,
            name: t.name,
            place: Place::File(start + t.begin..start + t.begin + t.bytes),
            compression: None,
        });
        let tensors = tensors.collect();
        Ok(Box::new(Opened { file: input.file, tensors, metadata: header.metadata.unwrap_or_default() }))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    fn write(
        &self,
        tensors: &[NewTensor<'_>],
        metadata: &[(String, String)],
        output: &mut Output,
    ) -> Result<()> {
        for tensor in tensors {
            tensor.check(Encoding::packed)?;
        }
        let declared = |tensor: &NewTensor<'_>| Declared {
            name: tensor.name.to_owned(),
            dtype: tensor.dtype,
            shape: tensor.shape.to_vec(),
        };
        let declared: Vec<_> = tensors.iter().map(declared).collect();
        let (head, order) = safetensors_header(&declared, metadata)?;
        let mut put = |bytes: &[u8]| output.writer().write_all(bytes);
        let written = put(&head).and_then(|()| order.iter().try_for_each(|index| put(tensors[*index].data)));
        written.map_err(|e| Error::writing(&e).at_path(output.path()))
    }
}

/// A tensor of a `.safetensors` file whose bytes are yet to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape, in C order.
    pub shape: Vec<u64>,
}

/// The bytes before the data of a `.safetensors` file, and the order of the tensors in it: their little-endian elements, packed, follow each
/// other without gaps. The order follows the reference implementation: wide elements first, so that all are aligned, then by name.
///
/// # Errors
///
/// [`Error::Unsupported`] if the format cannot hold a tensor, [`Error::Request`] if a name occurs twice.
pub fn safetensors_header(
    tensors: &[Declared],
    metadata: &[(String, String)],
) -> Result<(Vec<u8>, Vec<usize>)> {
    let mut order: Vec<usize> = (0..tensors.len()).collect();
    let key = |index: &usize| (Reverse(tensors[*index].dtype.size()), tensors[*index].name.as_str());
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut new = NewHeader { metadata: Some(metadata).filter(|m| !m.is_empty()), tensors: Vec::new() };
    let mut offset = 0_u64;
    for tensor in order.iter().map(|index| &tensors[*index]) {
        let place = || quoted("tensor", &tensor.name);
        let dtype = name_of(tensor.dtype).ok_or_else(|| no_name(tensor.dtype).at(place()))?;
        let count =
            elements(&tensor.shape).ok_or_else(|| Error::request("the shape overflows").at(place()))?;
        if !ends_at_a_byte(tensor.dtype, count) {
            return Err(torn(tensor.dtype, count).at(place()));
        }
        let bytes = result_len(Encoding::packed(tensor.dtype), count).map_err(|e| e.at(place()))?;
        let end = offset.checked_add(bytes);
        let end =
            end.ok_or_else(|| Error::unsupported("the result is more than a file can hold").at(place()))?;
        let (name, shape) = (&*tensor.name, &*tensor.shape);
        new.tensors.push(header::NewTensor { name, dtype, shape, data_offsets: (offset, end) });
        offset = end;
    }
    new.check()?;
    Ok((new.to_bytes()?, order))
}

/// The error for a dtype that the format does not have.
fn no_name(dtype: DType) -> Error {
    Error::unsupported(format!("the .safetensors format has no name for {dtype}"))
        .advise("choose another dtype or another format")
}

/// The error for elements that do not fill whole bytes.
fn torn(dtype: DType, elements: u64) -> Error {
    Error::unsupported(format!(
        "{elements} elements of {dtype} do not fill whole bytes, as the format requires"
    ))
}

/// A file opened to be read.
#[derive(Debug)]
struct Opened {
    file: File,
    tensors: Vec<TensorInfo>,
    metadata: Vec<(String, String)>,
}

impl Contents for Opened {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        read_at(&mut self.file, &self.tensors[index].place)
    }
}

/// A file and what to do with it.
#[derive(Debug)]
struct Recast<'a> {
    job: &'a Job,
    path: PathBuf,
    file: File,
    header: Header,
    /// One entry per tensor of the header.
    entries: Vec<Entry>,
}

impl<'a> Recast<'a> {
    /// Reads the header and decides what to cast.
    fn new(mut input: Input, job: &'a Job) -> Result<Self> {
        if name_of(job.to).is_none() {
            return Err(no_name(job.to));
        }
        let header = Header::read(&mut input.file, input.length)?;
        let entries = header
            .tensors
            .iter()
            .map(|tensor| entry(job, tensor).map_err(|e| e.at(quoted("tensor", &tensor.name))))
            .collect::<Result<_>>()?;
        Ok(Self { job, path: input.path, file: input.file, header, entries })
    }

    /// The order in which the data is written. It is the order of the file, unless that would misalign an
    /// element of several bytes, which readers that map the file cannot handle. In that case wide elements
    /// come first, as the reference implementation writes them.
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
                Error::unsupported("the result is more than a file can hold").in_path(&self.path)
            })?;
        }
        let tensors =
            self.header.tensors.iter().zip(&self.entries).zip(begins).map(|((tensor, entry), begin)| {
                let dtype = if entry.to.is_some() { self.job.to } else { tensor.dtype };
                header::NewTensor {
                    name: &tensor.name,
                    // Every dtype here was read from this format, or was checked to have a name in it.
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

    fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    fn run(mut self: Box<Self>, pump: &mut Pump<'_>, output: &mut Output) -> Result<Vec<Entry>> {
        let order = self.order();
        let written = |e: &std::io::Error| Error::writing(e);
        let head = self.new_header(&order)?.to_bytes().map_err(|e| e.in_path(&self.path))?;
        output.writer().write_all(&head).map_err(|e| written(&e).at_path(output.path()))?;
        for index in order {
            let (tensor, entry) = (&self.header.tensors[index], &mut self.entries[index]);
            let on_input = |e: Error| e.at(quoted("tensor", &tensor.name)).in_path(&self.path);
            let start = SeekFrom::Start(self.header.data_start + tensor.begin);
            self.file.seek(start).map_err(|e| on_input(Error::reading(&e)))?;
            transfer(self.job, &mut self.file, tensor, entry, pump, output, on_input)?;
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
    let to = Encoding::packed(job.to);
    // An unsupported pair is refused here, before anything is written.
    let _ = job.settings.plan(Encoding::packed(tensor.dtype), to)?;
    if !ends_at_a_byte(job.to, tensor.elements) {
        let remedy = Remedy::Exclude { item: "the tensor", instead: "" };
        return Err(torn(job.to, tensor.elements).advise(remedy));
    }
    entry.bytes_out = result_len(to, tensor.elements)?;
    entry.to = Some(job.to.name().to_owned());
    Ok(entry)
}

fn transfer(
    job: &Job,
    file: &mut File,
    tensor: &Tensor,
    entry: &mut Entry,
    pump: &mut Pump<'_>,
    output: &mut Output,
    on_input: impl Fn(Error) -> Error,
) -> Result<()> {
    let shown = output.path().to_owned();
    let on_output = |e: Error| e.at_path(&shown);
    if entry.to.is_none() {
        return pump
            .copy(file, output.writer(), tensor.bytes)
            .map_err(|stopped| stopped.fail(on_input, on_output));
    }
    let mut lane = Lane::new(&job.settings, in_files(tensor.dtype), in_files(job.to)).map_err(&on_input)?;
    let passed = pump
        .cast(&mut lane, file, output.writer(), Extent::Elements(tensor.elements))
        .map_err(|stopped| stopped.fail(on_input, on_output))?;
    entry.counts = Some(passed.counts);
    Ok(())
}

//! `.npy`: one array in one file. The code that `.npz` shares with it is here too.

pub mod fields;
pub mod header;

use std::{
    fs::File,
    io::{Read, Write},
    path::PathBuf,
};

use lanecast::{ByteOrder, CastReport, DType, Encoding};

use self::{
    fields::Struct,
    header::{Descr, Header, MAGIC, header_of, is_carrier, is_lossy, new_header},
};
use super::{
    format::{
        Contents, FileFormat, Job, NewTensor, Place, Probe, TensorInfo, Work, copied, read_at, result_len,
    },
    input::Input,
};
use crate::{
    error::{Error, Remedy, Result},
    extensions,
    output::Output,
    pump::{Extent, Lane, Pump, Stopped},
    report::Entry,
};

/// The format.
#[derive(Debug)]
pub struct Npy;

impl FileFormat for Npy {
    fn name(&self) -> &'static str {
        "npy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        extensions::NPY
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    fn hidden(&self, dtype: DType) -> Option<String> {
        header::is_lossy(dtype).then(|| header::descr_of(dtype))
    }

    fn recognizes(&self, probe: &mut Probe<'_>) -> bool {
        probe.head.starts_with(MAGIC)
    }

    fn streams(&self) -> bool {
        true
    }

    fn open(&self, mut input: Input) -> Result<Box<dyn Contents>> {
        let header = read_header(&mut input.file, input.length)?;
        let data = header.bytes..header.bytes + data_len(&header, input.length)?;
        let tensors = listed("", &header, input.length, Place::File(data))?;
        Ok(Box::new(Opened { file: input.file, tensors }))
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
        let ([tensor], []) = (tensors, metadata) else {
            return Err(Error::unsupported("a .npy file holds one array and no metadata")
                .advise("write one array, or another format"));
        };
        let shown = output.path().to_owned();
        write_array(tensor, output.writer(), |e| Error::writing(e).at_path(&shown))
    }
}

/// Writes an array with its header. `failed` converts an error of the writer.
pub fn write_array(
    tensor: &NewTensor<'_>,
    writer: &mut dyn Write,
    failed: impl Fn(&std::io::Error) -> Error,
) -> Result<()> {
    tensor.check(Encoding::new)?;
    let header = new_header(tensor.dtype, false, tensor.shape);
    writer.write_all(&header).and_then(|()| writer.write_all(tensor.data)).map_err(|e| failed(&e))
}

/// A file opened to be read.
#[derive(Debug)]
struct Opened {
    file: File,
    tensors: Vec<TensorInfo>,
}

impl Contents for Opened {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn metadata(&self) -> &[(String, String)] {
        &[]
    }

    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        read_at(&mut self.file, &self.tensors[index].place)
    }
}

/// The tensors of an array of `length` bytes, header included, with data at `place`: one, or one for each field.
pub fn listed(name: &str, header: &Header, length: u64, place: Place) -> Result<Vec<TensorInfo>> {
    let fortran_order = header.fortran_order;
    if let Descr::Struct(of) = &header.descr {
        return Ok(fields::listed(name, of, &header.shape, fortran_order));
    }
    let (name, shape) = (name.to_owned(), header.known_shape());
    Ok(vec![TensorInfo {
        name,
        buffer: match header.descr {
            Descr::Plain(dtype, big_endian) => Some(stored(dtype, big_endian)),
            _ => None,
        },
        described: shown(header),
        shape: shape.map(<[u64]>::to_vec),
        fortran_order,
        elements: if shape.is_some() { Some(header.elements()?) } else { None },
        bytes: data_len(header, length)?,
        place,
        compression: None,
    }])
}

/// The storage of the elements of an array.
fn stored(dtype: DType, big_endian: bool) -> Encoding {
    Encoding::new(dtype).with_order(if big_endian { ByteOrder::Big } else { ByteOrder::Little })
}

/// The dtype or descriptor of an array, for display.
pub fn shown(header: &Header) -> String {
    match &header.descr {
        Descr::Plain(dtype, _) => dtype.name().to_owned(),
        Descr::Lossy(..) | Descr::Struct(_) | Descr::Foreign(_) => header.descr_text.clone(),
    }
}

/// The size of the data of an array of `length` bytes, header included: as the header says, or all that follows it.
pub fn data_len(header: &Header, length: u64) -> Result<u64> {
    let have = length.saturating_sub(header.bytes);
    Ok(header.data_bytes()?.map_or(have, |need| need.min(have)))
}

/// Reads a header, and checks that there is as much data as it says. Further bytes are ignored, as NumPy does.
pub fn read_header(reader: &mut dyn Read, length: u64) -> Result<Header> {
    let header = Header::read(reader, length)?;
    let have = length.saturating_sub(header.bytes);
    match header.data_bytes()? {
        Some(need) if need > have => {
            Err(Error::format(format!("descriptor and shape need {need} bytes of data, there are {have}")))
        }
        _ => Ok(header),
    }
}

/// The dtype that an array holds, and whether it is big-endian, given the dtype `from` of the selection.
///
/// With a lossy descriptor the array holds `from`, if that is a dtype of ml_dtypes of the same size. With
/// `carriers`, an unsigned integer of the size of a dtype of ml_dtypes counts as lossy too.
pub fn held(header: &Header, from: Option<DType>, carriers: bool) -> Option<(DType, bool)> {
    match (&header.descr, from) {
        (Descr::Plain(dtype, big), Some(from))
            if carriers && is_carrier(*dtype) && is_lossy(from) && from.size() == dtype.size() =>
        {
            Some((from, *big))
        }
        (Descr::Plain(dtype, big), _) => Some((*dtype, *big)),
        (Descr::Lossy(size, big), Some(from)) if is_lossy(from) && from.size() == *size => Some((from, *big)),
        _ => None,
    }
}

/// The error for a descriptor of bytes.
pub fn unnamed(descr: &str) -> Error {
    Error::request(format!("the descriptor {descr} does not say what the array holds"))
        .advise(Remedy::NameSource)
}

/// An array and what is made of it.
#[derive(Clone, Debug)]
pub struct Array {
    /// The header of the source.
    pub header: Header,
    content: Content,
}

/// The elements of an array, and what is made of them.
#[derive(Clone, Debug)]
enum Content {
    Plain { from: DType, big_endian: bool, to: DType },
    Struct(Box<Struct>),
}

impl Array {
    /// Decides what the job does to the array of `header`, whose dtype and byte order are `held`. A cast that
    /// cannot be done is refused here, before anything is written.
    pub fn new(job: &Job, header: Header, held: (DType, bool)) -> Result<Self> {
        let (from, big_endian) = held;
        let array = Self { header, content: Content::Plain { from, big_endian, to: job.to } };
        let _ = job.settings.plan(from.into(), job.to.into())?;
        result_len(job.to.into(), array.header.elements()?)?;
        Ok(array)
    }

    /// Decides what the job does to the structured array `name` of `header`; `None` if it is not structured
    /// or no field is cast.
    pub fn structured(job: &Job, name: &str, header: &Header) -> Result<Option<Self>> {
        let Descr::Struct(of) = &header.descr else {
            return Ok(None);
        };
        let found = Struct::new(job, name, of, &header.shape)?;
        let content = found.map(|of| Content::Struct(Box::new(of)));
        Ok(content.map(|content| Self { header: header.clone(), content }))
    }

    /// The entries of the array in the report: one, or one for each field.
    pub fn entries(&self, name: &str, bytes_in: u64) -> Result<Vec<Entry>> {
        let (from, to) = match &self.content {
            Content::Plain { from, to, .. } => (from, to),
            Content::Struct(of) => return Ok(of.entries().to_vec()),
        };
        let mut entry = copied(name, from.name(), Some(&self.header.shape), bytes_in);
        entry.to = Some(to.name().to_owned());
        entry.bytes_out = self.bytes_out()?;
        Ok(vec![entry])
    }

    /// The size of the new data in bytes.
    pub fn bytes_out(&self) -> Result<u64> {
        match &self.content {
            Content::Plain { to, .. } => result_len((*to).into(), self.header.elements()?),
            Content::Struct(of) => Ok(of.bytes_out()),
        }
    }

    /// The new header.
    pub fn new_header(&self) -> Result<Vec<u8>> {
        let (fortran_order, shape) = (self.header.fortran_order, &self.header.shape);
        Ok(match &self.content {
            Content::Plain { to, .. } => new_header(*to, fortran_order, shape),
            Content::Struct(of) => header_of(&of.descr()?, fortran_order, shape),
        })
    }

    /// Casts the data; `reader` is positioned at its start. Returns the counts of losses for each of the
    /// entries.
    pub fn transfer(
        &self,
        job: &Job,
        pump: &mut Pump<'_>,
        reader: &mut dyn Read,
        writer: &mut dyn Write,
    ) -> Result<std::result::Result<Vec<Option<CastReport>>, Stopped>> {
        let (from, big_endian, to) = match &self.content {
            Content::Plain { from, big_endian, to } => (*from, *big_endian, *to),
            Content::Struct(of) => return Ok(of.transfer(job, pump, reader, writer)),
        };
        let mut lane = Lane::new(&job.settings, stored(from, big_endian), stored(to, false))?;
        let passed = pump.cast(&mut lane, reader, writer, Extent::Elements(self.header.elements()?));
        Ok(passed.map(|passed| vec![Some(passed.counts)]))
    }
}

/// A file and what to do with it.
#[derive(Debug)]
struct Recast<'a> {
    job: &'a Job,
    path: PathBuf,
    file: File,
    array: Array,
    entries: Vec<Entry>,
}

impl<'a> Recast<'a> {
    /// Reads the header and decides what to cast.
    fn new(mut input: Input, job: &'a Job) -> Result<Self> {
        let (array, entries) = decide(job, &mut input.file, input.length)?;
        Ok(Self { job, path: input.path, file: input.file, array, entries })
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
        let shown = output.path().to_owned();
        let on_input = |e: Error| e.in_path(&self.path);
        let on_output = |e: Error| e.at_path(&shown);
        let header = self.array.new_header().map_err(on_input)?;
        output.writer().write_all(&header).map_err(|e| on_output(Error::writing(&e)))?;
        let counts = self
            .array
            .transfer(self.job, pump, &mut self.file, output.writer())
            .map_err(on_input)?
            .map_err(|stopped| stopped.fail(on_input, on_output))?;
        for (entry, counts) in self.entries.iter_mut().zip(counts) {
            entry.counts = counts;
        }
        Ok(self.entries)
    }
}

fn decide(job: &Job, file: &mut File, length: u64) -> Result<(Array, Vec<Entry>)> {
    let header = read_header(file, length)?;
    let bytes = data_len(&header, length)?;
    if let Descr::Struct(_) = header.descr {
        let array = Array::structured(job, "", &header)?.ok_or_else(|| {
            Error::request("no field of the structured array is chosen").advise(Remedy::ChooseFields)
        })?;
        let entries = array.entries("", bytes)?;
        return Ok((array, entries));
    }
    if job.selection.is_by_name() {
        let what = "the patterns choose by name, and the .npy file holds one array without fields";
        return Err(Error::request(what).advise(Remedy::OmitPatterns));
    }
    let asked = job.selection.source();
    let held = match (held(&header, asked, true), &header.descr) {
        (Some(held), _) => held,
        (None, Descr::Foreign(words)) => {
            return Err(Error::unsupported(format!("{words} cannot be cast")));
        }
        (None, _) => {
            let descr = &header.descr_text;
            return Err(match asked {
                None => unnamed(descr),
                Some(from) => Error::request(format!(
                    "the descriptor {descr} cannot hold {from}, which takes {} bytes",
                    from.size()
                ))
                .advise(Remedy::NameSource),
            });
        }
    };
    if let Some(from) = asked
        && from != held.0
    {
        return Err(
            Error::request(format!("the array holds {}, not {from}", held.0)).advise(Remedy::OmitSource)
        );
    }
    let array = Array::new(job, header, held)?;
    let entries = array.entries("", bytes)?;
    Ok((array, entries))
}

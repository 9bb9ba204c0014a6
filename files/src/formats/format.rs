//! What a file format has to do, and the tensors of its files.

use std::{
    fmt::Debug,
    fs::File,
    io::{Read, Seek, SeekFrom},
    ops::Range,
};

use lanecast::{DType, Encoding};

use super::input::Input;
use crate::{
    error::{Error, Result},
    output::Output,
    pump::{self, Pump},
    report::Entry,
    select::Selection,
    settings::Settings,
};

/// The most axes that a tensor may have: NumPy and PyTorch have no more.
pub(crate) const MOST_AXES: usize = 64;

/// A file format.
pub trait FileFormat: Debug + Send + Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;

    /// The extensions of its files, in lower case and without the dot, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// What a cast does to files of this format, in lines of 80 characters: its section in the help of `lanecast cast`.
    fn help(&self) -> &'static str;

    /// Whether a file is of this format, by its content.
    fn recognizes(&self, probe: &mut Probe<'_>) -> bool;

    /// The descriptor that a file has for elements of `dtype`, if it does not identify the dtype, so that a reader has to be told;
    /// `None` if it does.
    fn hidden(&self, _dtype: DType) -> Option<String> {
        None
    }

    /// Whether the names of tensors are names of weights of a checkpoint, so that they show whether it is quantized.
    fn holds_checkpoints(&self) -> bool {
        false
    }

    /// Whether a cast writes files from front to back, so that they can go to a pipe.
    fn streams(&self) -> bool {
        false
    }

    /// Reads the headers of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the file is damaged.
    fn open(&self, input: Input) -> Result<Box<dyn Contents>>;

    /// Reads the headers of a file, and decides what `job` does to it.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the file is damaged, [`Error::Request`] or [`Error::Unsupported`] if the job cannot be done.
    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>>;

    /// Writes a new file.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the format does not hold such tensors, [`Error::Io`] if writing fails.
    fn write(
        &self,
        tensors: &[NewTensor<'_>],
        metadata: &[(String, String)],
        output: &mut Output,
    ) -> Result<()>;
}

/// A file whose format is to be recognised.
#[derive(Debug)]
pub struct Probe<'a> {
    /// Its first 256 bytes, or all of them if it is shorter.
    pub head: &'a [u8],
    /// Its length.
    pub length: u64,
    /// The file, at any position.
    pub file: &'a mut File,
}

/// What a cast should do.
#[derive(Clone, Debug)]
pub struct Job {
    /// The target dtype.
    pub to: DType,
    /// Which tensors to cast.
    pub selection: Selection,
    /// How to cast them.
    pub settings: Settings,
    /// Whether codes and scales of quantized checkpoints are cast as if they were numbers of their own.
    pub allow_quantized: bool,
}

impl Job {
    /// A cast of all floats to `to`, with the default options.
    pub fn to(to: DType) -> Self {
        Self { to, selection: Selection::default(), settings: Settings::default(), allow_quantized: false }
    }
}

/// A file with the decisions of what a job does to it.
pub trait Work: Send {
    /// What will be done, one entry per tensor.
    fn entries(&self) -> &[Entry];

    /// The entries, mutable so that the reasons for keeping tensors can be added.
    fn entries_mut(&mut self) -> &mut [Entry];

    /// Names that patterns may match besides the names of the entries, such as the names of structured arrays.
    fn groups(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Does the work, and returns the entries with the counts of losses.
    ///
    /// # Errors
    ///
    /// Any [`Error`]. The output must not be committed then.
    fn run(self: Box<Self>, pump: &mut Pump<'_>, output: &mut Output) -> Result<Vec<Entry>>;
}

/// The tensors of an opened file.
pub trait Contents: Debug + Send {
    /// The tensors, in file order.
    fn tensors(&self) -> &[TensorInfo];

    /// Free text that the file carries.
    fn metadata(&self) -> &[(String, String)];

    /// A reader of the bytes of a tensor. It ends where the tensor does.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the bytes of the tensor are not contiguous, [`Error::Format`] or [`Error::Io`] if they cannot be
    /// read.
    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>>;
}

/// A tensor as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorInfo {
    /// Its name, empty in a `.npy` file.
    pub name: String,
    /// Its dtype, storage and byte order; `None` if the file does not say, or if the elements are not numbers of a known dtype.
    pub buffer: Option<Encoding>,
    /// The name of its dtype, or what the file says instead.
    pub described: String,
    /// Its shape, if it has one.
    pub shape: Option<Vec<u64>>,
    /// Whether the first axis varies fastest.
    pub fortran_order: bool,
    /// How many elements it has.
    pub elements: Option<u64>,
    /// How many bytes they take in the file. For [`Place::Encoded`], a reader returns a different number.
    pub bytes: u64,
    /// Where they are.
    pub place: Place,
    /// How they are compressed, if they are in an archive.
    pub compression: Option<Compression>,
}

/// How a member of an archive is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The method: `stored`, `deflated`, or another one, which cannot be read.
    pub method: String,
    /// The size of the member in the archive, in bytes.
    pub bytes: u64,
}

impl TensorInfo {
    /// The dtype, if the file names a known one.
    pub fn dtype(&self) -> Option<DType> {
        self.buffer.map(|buffer| buffer.dtype())
    }
}

/// Where the bytes of a tensor are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// At these bytes of the file; they can be memory-mapped.
    File(Range<u64>),
    /// In a member of an archive, which may be compressed.
    Member,
    /// In another file.
    External {
        /// Its path as the file names it.
        location: String,
        /// The first byte.
        offset: u64,
    },
    /// In a form that must be decoded.
    Encoded,
    /// Interleaved with the other fields of a structured array.
    Field,
}

/// A tensor to write.
#[derive(Clone, Copy, Debug)]
pub struct NewTensor<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape, in C order.
    pub shape: &'a [u64],
    /// Its elements as the format stores them: little-endian. Elements of less than a byte are packed, but one per byte in `.npy` and
    /// `.npz`.
    pub data: &'a [u8],
}

impl NewTensor<'_> {
    /// Checks that the data is as long as `dtype` and `shape` say.
    pub(crate) fn check(&self, of: impl Fn(DType) -> Encoding) -> Result<()> {
        let place = || quoted("tensor", self.name);
        let count = elements(self.shape).ok_or_else(|| Error::request("the shape overflows").at(place()))?;
        let need = result_len(of(self.dtype), count).map_err(|e| e.at(place()))?;
        if need != self.data.len() as u64 {
            let what = format!("dtype and shape need {need} bytes, the data has {}", self.data.len());
            return Err(Error::request(what).at(place()).advise("give as many bytes as the shape needs"));
        }
        Ok(())
    }
}

/// A reader of the bytes of a tensor that are contiguous in `file`.
pub(crate) fn read_at<'a>(file: &'a mut File, place: &Place) -> Result<Box<dyn Read + 'a>> {
    let Place::File(range) = place else {
        return Err(is_field());
    };
    file.seek(SeekFrom::Start(range.start)).map_err(|e| Error::reading(&e))?;
    Ok(Box::new(file.take(range.end - range.start)))
}

/// The error for reading a field of a structured array.
pub(crate) fn is_field() -> Error {
    Error::unsupported("the elements of a field are not contiguous")
        .advise("cast the field, or read the whole array")
}

/// The name of something in a file, for a message: `tensor "a"`.
pub(crate) fn quoted(item: &str, name: &str) -> String {
    format!("{item} \"{}\"", crate::text::one_line(name))
}

/// The number of elements of a shape, unless it overflows.
pub(crate) fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim))
}

/// The size in bytes of `elements` in the target, unless it is more than a file can hold.
pub(crate) fn result_len(to: Encoding, elements: u64) -> Result<u64> {
    pump::byte_len(to, elements).filter(|bytes| i64::try_from(*bytes).is_ok()).ok_or_else(|| {
        Error::unsupported(format!("{elements} elements of {to} are more than a file can hold"))
    })
}

/// The entry of a tensor that is copied.
pub(crate) fn copied(name: &str, dtype: impl Into<String>, shape: Option<&[u64]>, bytes: u64) -> Entry {
    Entry {
        name: name.to_owned(),
        from: dtype.into(),
        to: None,
        shape: shape.map(<[u64]>::to_vec),
        elements: shape.and_then(elements),
        bytes_in: bytes,
        bytes_out: bytes,
        kept: None,
        counts: None,
    }
}

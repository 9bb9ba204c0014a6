//! Opening files to list and read their tensors, and writing new files.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{
    error::{Error, Result},
    formats::{
        by_extension,
        format::{Contents, FileFormat, NewTensor, Place, TensorInfo, quoted},
        input::Input,
    },
    output::Output,
    pump::byte_len,
    quantized::Quantized,
};

/// An opened file of tensors. Only its headers are held in memory.
#[derive(Debug)]
pub struct TensorFile {
    path: PathBuf,
    format: &'static dyn FileFormat,
    contents: Box<dyn Contents>,
    /// What is quantized, once it has been determined.
    quantized: OnceLock<Quantized>,
}

impl TensorFile {
    /// Opens a file of any format, recognised by its content or its extension.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be opened, [`Error::Unsupported`] if its format is unknown, [`Error::Format`] if it is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        Self::of(Input::open(path)?, None)
    }

    /// Opens a file as `format`, whatever its name and content say.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_as(path: &Path, format: &'static dyn FileFormat) -> Result<Self> {
        Self::of(Input::open(path)?, Some(format))
    }

    /// As [`open`](Self::open), for a file that is open already, read as `format` if that is given.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn of(mut input: Input, format: Option<&'static dyn FileFormat>) -> Result<Self> {
        let format = format.map_or_else(|| input.recognize(), Ok)?;
        let path = input.path.clone();
        let contents = format.open(input).map_err(|e| e.in_path(&path))?;
        Ok(Self { path, format, contents, quantized: OnceLock::new() })
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format.
    pub fn format(&self) -> &'static dyn FileFormat {
        self.format
    }

    /// The tensors, in file order. Each field of a structured array is one tensor.
    pub fn tensors(&self) -> &[TensorInfo] {
        self.contents.tensors()
    }

    /// The file's metadata: pairs of key and text, in file order.
    pub fn metadata(&self) -> &[(String, String)] {
        self.contents.metadata()
    }

    /// The index of the tensor of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.tensors().iter().position(|tensor| tensor.name == name)
    }

    /// Fails if the tensor holds codes or scales of a quantized weight, which a cast of it alone would destroy. The names of the tensors
    /// and the configuration of the checkpoint beside the file tell.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`], which names the layout.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn check_plain(&self, index: usize) -> Result<()> {
        if !self.format.holds_checkpoints() {
            return Ok(());
        }
        let listed = self.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor.dtype()));
        let quantized = self.quantized.get_or_init(|| Quantized::find(&self.path, listed));
        let tensor = &self.tensors()[index];
        quantized.check(&tensor.name, tensor.dtype()).map_err(|e| e.in_path(&self.path))
    }

    /// A reader of the bytes of a tensor, in the dtype, storage and byte order given by [`TensorInfo::buffer`]. It stops at the end
    /// of the tensor. Errors in compressed data are reported by the end of it at the latest.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for fields of structured arrays, whose bytes are not contiguous, [`Error::Format`] or [`Error::Io`] if
    /// the bytes cannot be read.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        let tensor = &self.contents.tensors()[index];
        let place = quoted("tensor", &tensor.name);
        let path = &self.path;
        self.contents.reader(index).map_err(|e| e.at(place).in_path(path))
    }

    /// The bytes of a tensor, as [`reader`](Self::reader) reads them.
    ///
    /// # Errors
    ///
    /// As [`reader`](Self::reader), and [`Error::Format`] if there are fewer or more bytes than the header declares.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn read(&mut self, index: usize) -> Result<Vec<u8>> {
        let tensor = &self.contents.tensors()[index];
        let name = tensor.name.clone();
        // Encoded elements take a different number of bytes in the file.
        let size = match (tensor.buffer, tensor.elements) {
            (Some(buffer), Some(elements)) => byte_len(buffer, elements).unwrap_or(u64::MAX),
            _ => tensor.bytes,
        };
        let mut bytes = Vec::new();
        // A hostile header may overstate the size of compressed data. Uncompressed bytes were checked against the file's length.
        if let (Place::File(_), Ok(size)) = (&tensor.place, usize::try_from(size)) {
            bytes.reserve_exact(size.saturating_add(1));
        }
        let read = self.reader(index)?.take(size.saturating_add(1)).read_to_end(&mut bytes);
        let failed = |e: Error| e.at(quoted("tensor", &name)).in_path(&self.path);
        read.map_err(|e| failed(Error::reading(&e)))?;
        if bytes.len() as u64 != size {
            let what = format!("the tensor does not have the {size} bytes that dtype and shape need");
            return Err(failed(Error::format(what)));
        }
        Ok(bytes)
    }
}

/// Writes a new file in the format named by the extension of `path`. The file appears complete or not at all; with `overwrite` it
/// may replace an existing one. Only `.safetensors` files hold `metadata`. An ONNX model cannot be made from tensors alone.
///
/// # Errors
///
/// [`Error::Unsupported`] if the extension names no format, [`Error::Request`] if the data of a tensor does not match its shape, [`Error::Exists`],
/// [`Error::Unsupported`] if the format cannot hold such tensors, [`Error::Io`] if writing fails.
pub fn save(
    path: &Path,
    tensors: &[NewTensor<'_>],
    metadata: &[(String, String)],
    overwrite: bool,
) -> Result<()> {
    let format = by_extension(path)?;
    let mut output = Output::create(path, overwrite)?;
    format.write(tensors, metadata, &mut output).map_err(|e| e.at_path(path))?;
    output.commit()
}

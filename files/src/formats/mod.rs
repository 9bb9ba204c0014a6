//! The file formats: one module and one row of [`FORMATS`] for each.
//!
//! A module names and recognises its format, lists and reads the tensors of a file ([`Contents`]), decides what a job
//! does to them, and does it ([`Work`]). All code that enumerates formats iterates the table.

mod foreign;
pub(crate) mod format;
pub(crate) mod input;
mod npy;
pub(crate) mod npz;
mod onnx;
mod safetensors;

use std::{
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use crate::{
    error::{Error, Result},
    path::extension,
};

pub use self::{
    format::{Compression, Contents, FileFormat, Job, NewTensor, Place, Probe, TensorInfo, Work},
    input::Input,
    safetensors::{Declared, safetensors_header},
};
pub use crate::extensions::extensions;

/// All formats. No file is recognised as more than one of them, so their order only matters in listings.
pub static FORMATS: &[&dyn FileFormat] = &[&safetensors::Safetensors, &npy::Npy, &npz::Npz, &onnx::Onnx];

/// The number of bytes from the start of a file that [`FileFormat::recognizes`] is given.
const HEAD: u64 = 256;

impl Input {
    /// Recognises the format by the content, or by the extension if no format recognises the content.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the file is of no known format.
    pub fn recognize(&mut self) -> Result<&'static dyn FileFormat> {
        let failed = |e: &std::io::Error| Error::reading(e).at_path(&self.path);
        let mut head = Vec::new();
        (&mut self.file).take(HEAD).read_to_end(&mut head).map_err(|e| failed(&e))?;
        let found = FORMATS.iter().copied().find(|format| {
            format.recognizes(&mut Probe { head: &head, length: self.length, file: &mut self.file })
        });
        self.file.seek(SeekFrom::Start(0)).map_err(|e| failed(&e))?;
        // A damaged file may not be recognised by its content, but the format that its extension names can say what is wrong with it.
        let named = || format_of(&extension(&self.path));
        found.or_else(named).ok_or_else(|| foreign::unknown(&self.path, &head))
    }
}

/// The format that the extension of `path` names.
///
/// # Errors
///
/// [`Error::Unsupported`] if it names no known format.
pub fn by_extension(path: &Path) -> Result<&'static dyn FileFormat> {
    format_of(&extension(path)).ok_or_else(|| foreign::unknown(path, &[]))
}

/// The format of this extension.
fn format_of(extension: &str) -> Option<&'static dyn FileFormat> {
    FORMATS.iter().copied().find(|format| format.extensions().contains(&extension))
}

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static dyn FileFormat> {
    FORMATS.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
}

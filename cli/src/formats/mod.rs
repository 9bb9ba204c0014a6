//! The file formats. Each lists its tensors ([`Listed`]), says what a job would do ([`Entry`]), and does it.

pub mod npy;
pub mod npz;
pub mod onnx;
pub mod safetensors;

use std::{
    fs::{self, File},
    path::Path,
};

use lanecast::{BufferType, DType};
use serde::Serialize;

use crate::{
    error::{Failure, Result},
    options::Settings,
    output::Output,
    pump::{self, Pump},
    report::Entry,
    select::Selection,
};

/// The most axes that a tensor may have: NumPy and PyTorch have no more.
const MOST_AXES: usize = 64;

/// A file format, known by the extension of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.safetensors`
    Safetensors,
    /// `.npy`
    Npy,
    /// `.npz`
    Npz,
    /// `.onnx`
    Onnx,
}

impl Format {
    /// The format of the file `path`.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "safetensors" => Ok(Self::Safetensors),
            "npy" => Ok(Self::Npy),
            "npz" => Ok(Self::Npz),
            "onnx" => Ok(Self::Onnx),
            _ => Err(Failure::usage("not a known file format")
                .at_path(path)
                .advise("name a .safetensors, .npy, .npz or .onnx file")),
        }
    }
}

/// What `cast` was asked to do.
#[derive(Debug)]
pub struct Job<'a> {
    /// The input file.
    pub input: &'a Path,
    /// How.
    pub settings: Settings,
    /// Which tensors.
    pub selection: Selection,
    /// To which dtype.
    pub to: DType,
}

/// An opened file for which it is decided what to do.
pub trait Work {
    /// What will be done, one entry per tensor.
    fn entries(&self) -> &[Entry];

    /// Does it, and says what became of the values.
    fn run(self, pump: &mut Pump, output: &mut Output) -> Result<Vec<Entry>>;
}

/// A tensor as `inspect` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name, none in a `.npy` file.
    pub name: String,
    /// Its dtype, or the descriptor of something that is none.
    pub dtype: String,
    /// Its shape, if it has one.
    pub shape: Option<Vec<u64>>,
    /// How many elements it has.
    pub elements: Option<u64>,
    /// How many bytes they take.
    pub bytes: u64,
}

/// A listed file.
#[derive(Debug, Default)]
pub struct Listing {
    /// Its tensors, in the order of the file.
    pub tensors: Vec<Listed>,
    /// Free text that the file carries.
    pub metadata: Vec<(String, String)>,
}

/// Opens an input, which has to be a regular file, and measures it.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let failed = |e: &std::io::Error| Failure::system("cannot open", e).at_path(path);
    // Looked at first: opening a pipe would wait for its other end.
    if !fs::metadata(path).map_err(|e| failed(&e))?.is_file() {
        return Err(Failure::io("not a regular file").at_path(path).advise("name a file"));
    }
    let file = File::open(path).map_err(|e| failed(&e))?;
    let length = file.metadata().map_err(|e| failed(&e))?.len();
    Ok((file, length))
}

/// The number of elements of a shape, unless it overflows.
pub fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim))
}

/// The bytes that `elements` become, which a file of the real world has room for.
fn result_len(to: BufferType, elements: u64) -> Result<u64> {
    pump::byte_len(to, elements).filter(|bytes| i64::try_from(*bytes).is_ok()).ok_or_else(|| {
        Failure::unsupported(format!("{elements} elements of {to} are more than a file can hold"))
    })
}

/// The entry of a tensor that is copied.
fn copied(name: &str, dtype: impl Into<String>, shape: Option<&[u64]>, bytes: u64) -> Entry {
    Entry {
        name: name.to_owned(),
        from: dtype.into(),
        to: None,
        shape: shape.map(<[u64]>::to_vec),
        elements: shape.and_then(elements),
        bytes_in: bytes,
        bytes_out: bytes,
        counts: None,
    }
}

//! The files of scaled tensors: bare elements, `.npy`, or a `.safetensors` file that has all parts and says how they were made.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    path::Path,
};

use lanecast::{
    ByteOrder, Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Storage,
    names::Namespace,
    scaled::{ScaledError, Scheme},
};
use lanecast_files::{Error, NewTensor, Output, TensorFile, TensorInfo, formats};
use serde::{Deserialize, Serialize};

use super::sink::{self, Content, Source, is_standard};
use crate::{
    args::Writing,
    error::{Failure, Result},
};

/// The failure of a scaled cast.
pub fn refused(error: ScaledError) -> Failure {
    match error {
        ScaledError::NonFinite { .. } | ScaledError::Global { .. } => Failure::format(error.to_string()),
        ScaledError::Cast(error) => error.into(),
        error => Failure::usage(error.to_string()),
    }
}

/// The key of the metadata of a `.safetensors` file: a JSON object of [`Record`]s by the names of the tensors.
const KEY: &str = "lanecast.scaled";

/// The name of a tensor that has none.
pub const UNNAMED: &str = "tensor";

/// How a scaled tensor was made: what its codes and scales do not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The name of the scheme.
    pub scheme: String,
    /// The dtype of the elements that were scaled.
    pub source: String,
    /// The dtype of the codes.
    pub element: String,
    /// The shape of the tensor.
    pub shape: Vec<usize>,
    /// How codes of less than a byte are stored.
    pub storage: String,
    /// The order of the elements.
    pub layout: String,
}

impl Record {
    pub fn new(scheme: &Scheme, name: &str, source: DType, shape: &[usize]) -> Self {
        Self {
            scheme: name.to_owned(),
            source: source.name().to_owned(),
            element: scheme.element.name().to_owned(),
            shape: shape.to_vec(),
            storage: "packed".to_owned(),
            layout: "row-major".to_owned(),
        }
    }

    /// The metadata of a file with this tensor only.
    pub fn to_metadata(&self, tensor: &str) -> Result<Vec<(String, String)>> {
        let records = serde_json::to_string(&serde_json::json!({ tensor: self }));
        let failed = |e: serde_json::Error| Failure::io(format!("cannot write the metadata, {e}"));
        Ok(vec![(KEY.to_owned(), records.map_err(failed)?)])
    }

    /// The records of a file.
    pub fn all(file: &TensorFile) -> Result<Vec<(String, Record)>> {
        let Some((_, text)) = file.metadata().iter().find(|(key, _)| key == KEY) else {
            return Ok(Vec::new());
        };
        let records: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).unwrap_or_default();
        let record = |(name, value)| Some((name, serde_json::from_value(value).ok()?));
        let records: Vec<_> = records.into_iter().filter_map(record).collect();
        match records.is_empty() {
            true => {
                let what = format!("the metadata {KEY:?} does not describe scaled tensors");
                Err(Failure::format(what).at_path(file.path()))
            }
            false => Ok(records),
        }
    }
}

/// The kind of a file, by its extension: that of bare elements says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bare,
    Npy,
    Safetensors,
}

impl Kind {
    pub fn of(path: &Path) -> Kind {
        match formats::by_extension(path).map(|format| format.name()) {
            Ok("npy") => Kind::Npy,
            Ok("safetensors") => Kind::Safetensors,
            _ => Kind::Bare,
        }
    }
}

/// A part of a scaled tensor: its codes, its scales and so on.
#[derive(Clone, Debug)]
pub struct Part {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Elements in the byte order of files. Elements of less than a byte are packed.
    pub bytes: Vec<u8>,
}

impl Part {
    /// A part whose elements are in the byte order of the host.
    pub fn new(dtype: DType, shape: Vec<usize>, mut bytes: Vec<u8>) -> Self {
        swap(&mut bytes, dtype.size());
        Self { dtype, shape, bytes }
    }

    /// The elements in the byte order of the host.
    pub fn into_native(mut self) -> Vec<u8> {
        swap(&mut self.bytes, self.dtype.size());
        self.bytes
    }

    fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Writes the part to a file of its own.
    fn write(&self, path: &Path, output: &mut Output) -> Result<()> {
        if Kind::of(path) != Kind::Npy {
            return output.writer().write_all(&self.bytes).map_err(|e| Failure::writing(&e).at_path(path));
        }
        let bytes = recast(&self.bytes, little(self.dtype), one_per_byte(self.dtype), self.elements())?;
        let shape = wide(&self.shape);
        let tensor = NewTensor { name: "", dtype: self.dtype, shape: &shape, data: &bytes };
        Ok(formats::by_extension(path)?.write(&[tensor], &[], output)?)
    }

    /// The dtype and the shape in a `.safetensors` file, which has no names for integers of less than a byte, and no elements that end
    /// within a byte: such codes are bytes.
    fn stored(&self) -> (DType, Vec<u64>) {
        let whole = (self.elements() * self.dtype.bits() as usize).is_multiple_of(8);
        match Namespace::Safetensors.name(self.dtype) {
            Some(_) if whole => (self.dtype, wide(&self.shape)),
            _ => (DType::UInt8, vec![self.bytes.len() as u64]),
        }
    }
}

fn wide(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|axis| *axis as u64).collect()
}

fn little(dtype: DType) -> Encoding {
    Encoding::packed(dtype).with_order(ByteOrder::Little)
}

/// As `.npy` files store elements.
fn one_per_byte(dtype: DType) -> Encoding {
    Encoding::with_storage(dtype, Storage::Byte).with_order(ByteOrder::Little)
}

/// The same elements in another storage or byte order.
fn recast(bytes: &[u8], from: Encoding, to: Encoding, n: usize) -> Result<Vec<u8>> {
    if from == to {
        return Ok(bytes.to_vec());
    }
    let mut out = vec![0; to.byte_len(n).unwrap_or(usize::MAX)];
    CastPlan::new(from, to, &CastOptions::RUST)?.run(Bytes::new(bytes, n), BytesMut::new(&mut out, n))?;
    Ok(out)
}

/// Elements of several bytes are in the byte order of the host in memory, and little-endian in files.
fn swap(elements: &mut [u8], size: usize) {
    if cfg!(target_endian = "big") && size > 1 {
        elements.chunks_mut(size).for_each(<[u8]>::reverse);
    }
}

/// Writes each part to its file. The files appear together or not at all. Returns whether one of them is a stream.
pub fn write_each(parts: &[(&Path, Part)], writing: &Writing) -> Result<bool> {
    if parts.iter().filter(|(path, _)| is_standard(path)).count() > 1 {
        let what = "two outputs go to standard output";
        return Err(Failure::usage(what).advise("give `-` to one of them, or write a .safetensors file"));
    }
    // All are started before anything is written: a stream cannot be taken back.
    let mut outputs = Vec::new();
    for (i, (path, part)) in parts.iter().enumerate() {
        let named = (!is_standard(path)).then_some(*path);
        let output = match i {
            0 => sink::start(named, writing, Content::Elements, None),
            _ => sink::open(named, writing, Content::Elements, None),
        };
        outputs.push((output?, *path, part));
    }
    // A stream comes last, when all files are written.
    outputs.sort_by_key(|(output, ..)| output.is_stream());
    let to_stream = outputs.iter().any(|(output, ..)| output.is_stream());
    let Some((mut last, path, part)) = outputs.pop() else { return Ok(false) };
    for (mut output, path, part) in outputs {
        part.write(path, &mut output)?;
        last.attach(output)?;
    }
    part.write(path, &mut last)?;
    last.commit()?;
    Ok(to_stream)
}

/// Writes all parts to one `.safetensors` file: the codes under `name`, the others with their suffixes.
pub fn write_together(
    path: &Path,
    name: &str,
    parts: &[(&str, Part)],
    metadata: &[(String, String)],
    writing: &Writing,
) -> Result<()> {
    let mut output = sink::start(Some(path), writing, Content::Tensors, None)?;
    let stored: Vec<_> = parts
        .iter()
        .map(|(suffix, part)| {
            let (dtype, shape) = part.stored();
            (format!("{name}{suffix}"), dtype, shape, &part.bytes)
        })
        .collect();
    let tensors: Vec<_> = stored
        .iter()
        .map(|(name, dtype, shape, data)| NewTensor { name, dtype: *dtype, shape, data })
        .collect();
    formats::by_extension(path)?.write(&tensors, metadata, &mut output)?;
    Ok(output.commit()?)
}

/// Reads elements of `dtype` in this shape from a file of their own.
pub fn read(path: &Path, what: &str, dtype: DType, shape: Vec<usize>) -> Result<Part> {
    if Kind::of(path) == Kind::Npy {
        let mut file = TensorFile::open(path)?;
        return read_tensor(&mut file, 0, what, dtype, shape);
    }
    let n = shape.iter().try_fold(1_usize, |n, axis| n.checked_mul(*axis));
    let want = n.and_then(|n| Encoding::packed(dtype).byte_len(n));
    let want = want.ok_or_else(|| refused(ScaledError::Shape))?;
    let source = Source::open((!is_standard(path)).then_some(path))?;
    let place = source.place;
    let mut bytes = Vec::new();
    // One byte more shows that there are too many.
    let limit = (want as u64).saturating_add(1);
    let failed = |e: io::Error| Failure::from(Error::reading(&e)).at(&place);
    source.reader.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    check_len(what, want, &bytes).map_err(|failure| failure.at(&place))?;
    Ok(Part { dtype, shape, bytes })
}

fn check_len(what: &str, want: usize, bytes: &[u8]) -> Result<()> {
    if bytes.len() == want {
        return Ok(());
    }
    let has = if bytes.len() > want { "more".to_owned() } else { counted(bytes.len(), "byte") };
    let verb = if what.ends_with('s') { "take" } else { "takes" };
    let wrong = format!("the {what} {verb} {}, and the file has {has}", counted(want, "byte"));
    Err(Failure::format(wrong).advise("check --shape, --scheme, --from and --to"))
}

/// `1 scale`, `2 scales`
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Reads a tensor of a file whose header says what it is: it must have `dtype`, or be bytes that do not say, and as many elements as the
/// shape.
pub fn read_tensor(
    file: &mut TensorFile,
    index: usize,
    what: &str,
    dtype: DType,
    shape: Vec<usize>,
) -> Result<Part> {
    let info = file.tensors()[index].clone();
    let place = place(file, &info);
    let failed = |what: String| Failure::format(what).at(&place);
    let buffer = match info.buffer {
        // Bytes that are codes.
        Some(buffer) if buffer.dtype() != dtype && carries(buffer.dtype(), dtype) => None,
        Some(buffer) if buffer.dtype() != dtype => {
            let wrong = format!("the {what} must be {dtype}, and the file has {}", buffer.dtype());
            return Err(failed(wrong).advise("check --scheme, --from and --to"));
        }
        buffer => buffer,
    };
    if info.fortran_order && shape.iter().filter(|axis| **axis > 1).count() > 1 {
        return Err(Failure::unsupported(format!("the {what} are in Fortran order"))
            .at(&place)
            .advise("save them in C order: numpy.ascontiguousarray"));
    }
    let n: usize = shape.iter().product();
    let bytes = file.read(index)?;
    let has_elements = info.elements.is_none_or(|have| have == n as u64) || buffer.is_none();
    let is_npy = file.format().name() == "npy";
    let buffer = buffer.unwrap_or(if is_npy { one_per_byte(dtype) } else { little(dtype) });
    let want = buffer.byte_len(n).unwrap_or(usize::MAX);
    check_len(what, want, &bytes).map_err(|failure| failure.at(&place))?;
    if !has_elements {
        return Err(failed(format!("the {what} do not have the {} of the shape", counted(n, "element"))));
    }
    Ok(Part { dtype, shape, bytes: recast(&bytes, buffer, little(dtype), n)? })
}

/// Whether elements of a dtype that people use to store others may be `dtype`.
fn carries(stored: DType, dtype: DType) -> bool {
    stored == DType::UInt8 && dtype.size() == 1 || stored == DType::UInt16 && dtype == DType::BFloat16
}

fn place(file: &TensorFile, info: &TensorInfo) -> String {
    match info.name.as_str() {
        "" => file.path().display().to_string(),
        name => format!("{}, tensor {name:?}", file.path().display()),
    }
}

/// The index of the tensor that `name` names, or of the only one that `fits`.
pub fn find(file: &TensorFile, name: Option<&str>, fits: impl Fn(&str) -> bool) -> Result<usize> {
    let tensors = file.tensors();
    if let Some(name) = name.filter(|_| file.format().name() != "npy") {
        return file.find(name).ok_or_else(|| {
            Failure::usage(format!("no tensor is called {name:?}"))
                .at_path(file.path())
                .advise("`lanecast inspect` lists the tensors of a file")
        });
    }
    let mut fitting = (0..tensors.len()).filter(|index| fits(&tensors[*index].name));
    match (fitting.next(), fitting.next()) {
        (Some(index), None) => Ok(index),
        (found, _) => {
            let what =
                if found.is_some() { "the file has several tensors" } else { "the file has no tensor" };
            Err(Failure::usage(what).at_path(file.path()).advise("name one with --tensor"))
        }
    }
}

/// The shape of a tensor of a file.
pub fn shape_of(info: &TensorInfo) -> Option<Vec<usize>> {
    info.shape.as_ref()?.iter().map(|axis| usize::try_from(*axis).ok()).collect()
}

/// The suffixes of the names of the parts in a `.safetensors` file.
pub const SCALES: &str = "_scale";
pub const GLOBAL: &str = "_global_scale";
pub const ZERO_POINTS: &str = "_zero_point";

/// Whether a tensor of this name is a part of another one.
pub fn is_companion(name: &str) -> bool {
    [SCALES, GLOBAL, ZERO_POINTS].iter().any(|suffix| name.ends_with(suffix))
}

/// Refuses an extension of a format that does not hold a part alone.
pub fn check_alone(path: &Path, option: &str) -> Result<()> {
    let foreign = ["safetensors", "st", "npz", "onnx"].map(OsStr::new);
    match path.extension().filter(|extension| foreign.contains(extension)) {
        Some(_) => Err(Failure::usage(format!("{option} holds bare elements or an array"))
            .at_path(path)
            .advise("name another file, or give only --data a .safetensors file")),
        None => Ok(()),
    }
}

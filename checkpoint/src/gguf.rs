//! The header of a GGUF file: metadata, and where the tensors are. `write` makes one.

mod names;
mod write;

use std::{
    fs::File,
    io::{BufReader, Read, Seek},
    path::{Path, PathBuf},
};

use lanecast::{DType, gguf::BlockFormat};
use lanecast_files::{Error, Result};
use serde_json::{Map, Value};

use crate::{
    error::{invalid, unsupported},
    source::{Elements, Stored, Via},
};

pub(crate) use self::{names::stays, write::shard};

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"GGUF";

/// The numbers of the element types.
const TYPES: &[(u32, Elements)] = &[
    (0, Elements::Plain(DType::Float32)),
    (1, Elements::Plain(DType::Float16)),
    (2, Elements::Blocks(BlockFormat::Q4_0)),
    (3, Elements::Blocks(BlockFormat::Q4_1)),
    (6, Elements::Blocks(BlockFormat::Q5_0)),
    (7, Elements::Blocks(BlockFormat::Q5_1)),
    (8, Elements::Blocks(BlockFormat::Q8_0)),
    (10, Elements::Blocks(BlockFormat::Q2_K)),
    (11, Elements::Blocks(BlockFormat::Q3_K)),
    (12, Elements::Blocks(BlockFormat::Q4_K)),
    (13, Elements::Blocks(BlockFormat::Q5_K)),
    (14, Elements::Blocks(BlockFormat::Q6_K)),
    (20, Elements::Blocks(BlockFormat::IQ4_NL)),
    (23, Elements::Blocks(BlockFormat::IQ4_XS)),
    (24, Elements::Plain(DType::Int8)),
    (25, Elements::Plain(DType::Int16)),
    (26, Elements::Plain(DType::Int32)),
    (27, Elements::Plain(DType::Int64)),
    (28, Elements::Plain(DType::Float64)),
    (30, Elements::Plain(DType::BFloat16)),
    (34, Elements::Blocks(BlockFormat::TQ1_0)),
    (35, Elements::Blocks(BlockFormat::TQ2_0)),
    (39, Elements::Blocks(BlockFormat::MXFP4)),
    (40, Elements::Blocks(BlockFormat::NVFP4)),
];

/// The most levels of nested arrays in the metadata.
const DEEPEST: usize = 4;
/// The most axes of a tensor.
const MOST_AXES: u32 = 8;

/// The metadata of a file.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    /// The values by their keys.
    pub(crate) values: Map<String, Value>,
    /// The keys in the order of the file, and the bytes of their values, each after the number of its type.
    pairs: Vec<(String, Vec<u8>)>,
    /// What the places of tensors are multiples of.
    alignment: u64,
}

/// The header of a file.
pub(crate) struct Header {
    pub(crate) metadata: Metadata,
    pub(crate) tensors: Vec<Stored>,
}

/// The files of the model that `path` belongs to: itself, or all parts of a split model (`-00001-of-00003.gguf`).
pub(crate) fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    let metadata = read(path).map_err(|e| e.in_path(path))?.metadata.values;
    let count = metadata.get("split.count").and_then(Value::as_u64);
    let count = count.unwrap_or(0);
    // A number of 16 bits.
    if count > u64::from(u16::MAX) {
        return Err(
            invalid(format!("a model has at most 65535 files, not {count} (split.count)")).at_path(path)
        );
    }
    if count < 2 {
        return Ok(vec![path.to_owned()]);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let end = format!("-of-{count:05}.gguf");
    let stem = name.strip_suffix(&end).and_then(|stem| stem.get(..stem.len().checked_sub(6)?));
    let stem = stem.ok_or_else(|| {
        invalid(format!(
            "the model is split into {count} files, and the name of this one does not end with \"{end}\""
        ))
        .at_path(path)
    })?;
    Ok((1..=count).map(|part| path.with_file_name(format!("{stem}-{part:05}{end}"))).collect())
}

/// Reads the header of a file.
pub(crate) fn read(path: &Path) -> Result<Header> {
    let file = File::open(path).map_err(|e| Error::system("cannot open", &e))?;
    let length = file.metadata().map_err(|e| Error::system("cannot open", &e))?.len();
    let mut from = Reader { file: BufReader::new(file), length, seen: Vec::new() };
    let magic = from.bytes(4)?;
    let version = from.u32()?;
    if magic != MAGIC || !(2..=3).contains(&version) {
        return Err(unsupported(format!("version {version} of GGUF is not read; 2 and 3 are")));
    }
    let (count, pairs) = (from.u64()?, from.u64()?);
    let mut metadata = Metadata { values: Map::new(), pairs: Vec::new(), alignment: 32 };
    for _ in 0..pairs {
        let key = from.text()?;
        from.seen.clear();
        let kind = from.u32()?;
        let value = from.value(kind, 0)?;
        metadata.pairs.push((key.clone(), std::mem::take(&mut from.seen)));
        metadata.values.insert(key, value);
    }
    let mut tensors = Vec::new();
    for _ in 0..count {
        from.seen.clear();
        tensors.push(from.tensor()?);
    }
    let alignment = metadata.values.get("general.alignment").and_then(Value::as_u64);
    metadata.alignment = alignment.unwrap_or(metadata.alignment).max(1);
    let position = from.file.stream_position().map_err(|e| Error::reading(&e))?;
    let start = position.checked_next_multiple_of(metadata.alignment).unwrap_or(u64::MAX);
    for tensor in &mut tensors {
        let end = start.checked_add(tensor.start).and_then(|start| start.checked_add(tensor.bytes as u64));
        if end.is_none_or(|end| end > length) {
            return Err(invalid("the tensor extends beyond the end of the file")
                .at(format!("tensor \"{}\"", tensor.name)));
        }
        tensor.start += start;
    }
    Ok(Header { metadata, tensors })
}

struct Reader {
    file: BufReader<File>,
    length: u64,
    /// The bytes that were read since it was emptied.
    seen: Vec<u8>,
}

impl Reader {
    fn bytes(&mut self, n: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // A hostile length allocates no more than the file has.
        let read = (&mut self.file)
            .take(n.min(self.length))
            .read_to_end(&mut bytes)
            .map_err(|e| Error::reading(&e))?;
        self.seen.extend_from_slice(&bytes);
        if read as u64 == n { Ok(bytes) } else { Err(invalid("the header ends early")) }
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|e| Error::reading(&e))?;
        self.seen.extend_from_slice(&bytes);
        Ok(bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.number().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String> {
        let n = self.u64()?;
        Ok(String::from_utf8_lossy(&self.bytes(n)?).into_owned())
    }

    /// A value of the metadata.
    fn value(&mut self, kind: u32, depth: usize) -> Result<Value> {
        Ok(match kind {
            0 => self.number::<1>()?[0].into(),
            1 => i8::from_le_bytes(self.number()?).into(),
            2 => u16::from_le_bytes(self.number()?).into(),
            3 => i16::from_le_bytes(self.number()?).into(),
            4 => self.u32()?.into(),
            5 => i32::from_le_bytes(self.number()?).into(),
            // The fewest digits that give the same float32 again.
            6 => f32::from_le_bytes(self.number()?).to_string().parse::<f64>().ok().into(),
            7 => (self.number::<1>()?[0] != 0).into(),
            8 => self.text()?.into(),
            9 if depth < DEEPEST => {
                let (kind, n) = (self.u32()?, self.u64()?);
                let mut values = Vec::new();
                for _ in 0..n {
                    values.push(self.value(kind, depth + 1)?);
                }
                values.into()
            }
            10 => self.u64()?.into(),
            11 => i64::from_le_bytes(self.number()?).into(),
            12 => f64::from_le_bytes(self.number()?).into(),
            kind => return Err(invalid(format!("the metadata has a value of the unknown type {kind}"))),
        })
    }

    /// A tensor, whose start is counted from the beginning of the data.
    fn tensor(&mut self) -> Result<Stored> {
        let (name, axes) = (self.text()?, self.u32()?);
        let at = |e: Error| e.at(format!("tensor \"{name}\""));
        if axes > MOST_AXES {
            return Err(at(invalid(format!("the tensor has {axes} axes"))));
        }
        let mut shape = Vec::new();
        for _ in 0..axes {
            shape.push(usize::try_from(self.u64()?).unwrap_or(usize::MAX));
        }
        // The first axis of the file varies fastest.
        shape.reverse();
        let (number, start) = (self.u32()?, self.u64()?);
        let found = TYPES.iter().find(|(of, _)| *of == number).map(|(_, elements)| elements.clone());
        let elements = found.unwrap_or(Elements::Unknown(number));
        let n = shape.iter().try_fold(1_usize, |n, axis| n.checked_mul(*axis));
        let rows_are_blocks =
            |format: &BlockFormat| shape.last().is_some_and(|n| n.is_multiple_of(format.block_elements()));
        let bytes = match (&elements, n) {
            (Elements::Plain(dtype), Some(n)) => n.checked_mul(dtype.size()),
            (Elements::Blocks(format), Some(n)) if rows_are_blocks(format) => format.byte_len(n),
            (Elements::Unknown(_), Some(_)) => Some(0),
            _ => None,
        };
        let bytes = bytes.ok_or_else(|| at(invalid(format!("the shape {shape:?} does not fit the type"))))?;
        Ok(Stored { name, elements, shape, file: 0, start, bytes, via: Via::File })
    }
}

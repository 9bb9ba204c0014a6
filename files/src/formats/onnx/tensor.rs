//! One tensor of a model: its declaration, and where its elements are.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek, SeekFrom},
    path::{Component, Path},
};

use lanecast::{
    DType, Encoding,
    onnx::{Contents, ElementType, Payload},
};

use super::{
    schema::{entry, tensor},
    wire::{Field, Source, Span, Value, bad},
};
use crate::{
    error::{Error, Result},
    formats::{
        format::{MOST_AXES, elements, quoted},
        input::open,
    },
    pump::byte_len,
};

/// Where elements are.
#[derive(Clone, Debug)]
pub enum Place {
    /// In `raw_data`.
    Raw(Span),
    /// In the typed field for their type.
    Typed,
    /// In a file of the model's folder, from this byte on.
    External { location: String, offset: u64 },
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name. For the value of a node, the name of the node's output.
    pub name: String,
    /// The name in its message, if it is the value of a node. (It has no meaning.)
    pub label: Option<String>,
    /// `data_type`
    pub code: i64,
    /// Its shape.
    pub shape: Vec<u64>,
    /// How many elements it has.
    pub elements: u64,
    /// Where they are.
    pub place: Place,
    /// The bytes that they take there.
    pub bytes: u64,
    /// The message.
    pub message: Span,
    /// The fields of the message other than name, type and elements.
    pub kept: Vec<Span>,
    /// The tensor that an earlier cast made this one from.
    pub origin: Option<Origin>,
}

/// The original name and dtype of a tensor that was cast.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Its name.
    pub name: String,
    /// Its dtype.
    pub dtype: DType,
}

impl Tensor {
    /// Reads a tensor from its message and checks that it is consistent. If `output` is given, the tensor is the value of the node
    /// with that output.
    pub fn read(source: &mut Source, message: Span, output: Option<&str>) -> Result<Self> {
        let mut raw = Parts::default();
        let mut at = message.start;
        while let Some(field) = source.field(&mut at, message.end)? {
            raw.take(source, &field)?;
        }
        let label = output.map(|output| std::mem::replace(&mut raw.name, output.to_owned()));
        let place = quoted("tensor", &raw.name);
        raw.check(message, label).map_err(|e| e.at(place))
    }

    /// The dtype, if the elements are numbers of a type that this program knows.
    pub fn dtype(&self) -> Option<DType> {
        ElementType::from_code(i32::try_from(self.code).ok()?)?.dtype()
    }

    /// The name of the element type.
    pub fn type_name(&self) -> String {
        match i32::try_from(self.code).ok().and_then(ElementType::from_code) {
            Some(element) => element.to_string(),
            None => format!("type {}", self.code),
        }
    }

    /// A reader of the elements in the form of `raw_data`, from the model file or from an external file in its `folder`.
    pub fn reader<'a>(&self, source: &'a mut Source, folder: &Path) -> Result<Box<dyn Read + 'a>> {
        match &self.place {
            Place::Raw(span) => Ok(Box::new(source.reader(*span).map_err(|e| Error::reading(&e))?)),
            Place::Typed => Ok(Box::new(Cursor::new(self.typed(source)?))),
            Place::External { location, offset } => {
                let mut file = external(folder, location, *offset, self.bytes)?;
                file.seek(SeekFrom::Start(*offset)).map_err(|e| Error::reading(&e))?;
                Ok(Box::new(file.take(self.bytes)))
            }
        }
    }

    /// Fails if the elements cannot be read.
    pub fn check(&self, source: &mut Source, folder: &Path) -> Result<()> {
        match &self.place {
            Place::Raw(_) => Ok(()),
            Place::Typed => self.typed(source).map(drop),
            Place::External { location, offset } => external(folder, location, *offset, self.bytes).map(drop),
        }
    }

    /// The elements of a typed field, packed.
    fn typed(&self, source: &mut Source) -> Result<Vec<u8>> {
        let mut fields = Entries::default();
        let mut at = self.message.start;
        while let Some(field) = source.field(&mut at, self.message.end)? {
            fields.take(source, &field)?;
        }
        let count = usize::try_from(self.elements).map_err(|_| Error::format("the shape overflows"))?;
        let code = i32::try_from(self.code).unwrap_or_default();
        let payload: Payload<'_> = Payload {
            float_data: &fields.float,
            int32_data: &fields.int32,
            int64_data: &fields.int64,
            double_data: &fields.double,
            uint64_data: &fields.uint64,
            ..Payload::new(code, count)
        };
        match payload.read() {
            Ok(Contents::Numbers(_, bytes)) => Ok(bytes.into_owned()),
            Ok(Contents::Strings(_)) => Err(Error::unsupported("the elements are text")),
            Err(error) => Err(Error::format(error.to_string())),
        }
    }
}

/// Opens the file of external elements and checks that it holds them.
fn external(folder: &Path, location: &str, offset: u64, bytes: u64) -> Result<File> {
    let outside = || {
        Error::format(format!("external data in \"{location}\", which is not inside the model's folder"))
            .advise("move the file into the folder of the model")
    };
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    // A backslash is a separator on Windows, where the model may be used later.
    if location.is_empty() || location.contains('\\') || !Path::new(location).components().all(inside) {
        return Err(outside());
    }
    let path = folder.join(location);
    let failed = |e: io::Error| Error::system("cannot open", &e).at_path(&path);
    // Symbolic links must not lead out of the folder either, except to the blobs of the cache that the folder is in.
    let (real, folder) = (path.canonicalize().map_err(failed)?, folder.canonicalize().map_err(failed)?);
    if !real.starts_with(&folder) && !is_blob_of(&folder, &real) {
        return Err(outside());
    }
    let (file, len) = open(&real)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= len => Ok(file),
        _ => Err(Error::format(format!(
            "external data of {bytes} bytes from byte {offset} on, where \"{location}\" has {len} bytes"
        ))),
    }
}

/// Whether `file` is a blob of the cache in which `folder` is a snapshot, or a folder of one. In the cache of the Hugging Face hub the
/// files of `MODEL/snapshots/REVISION` are links to files in `MODEL/blobs`.
fn is_blob_of(folder: &Path, file: &Path) -> bool {
    let snapshots = folder.ancestors().skip(1).find(|path| path.ends_with("snapshots"));
    snapshots.and_then(Path::parent).is_some_and(|model| file.parent() == Some(&model.join("blobs")))
}

/// Whether a field holds elements.
fn is_data(number: u32) -> bool {
    matches!(
        number,
        tensor::RAW_DATA
            | tensor::FLOAT_DATA
            | tensor::INT32_DATA
            | tensor::STRING_DATA
            | tensor::INT64_DATA
            | tensor::DOUBLE_DATA
            | tensor::UINT64_DATA
    )
}

/// The fields of a tensor as they are in the message.
#[derive(Default)]
struct Parts {
    name: String,
    code: i64,
    shape: Vec<i64>,
    segment: bool,
    raw: Option<Span>,
    typed: u64,
    external: bool,
    keys: Vec<(String, String)>,
    kept: Vec<Span>,
}

impl Parts {
    fn take(&mut self, source: &mut Source, field: &Field) -> Result<()> {
        let told = [tensor::DATA_TYPE, tensor::NAME, tensor::EXTERNAL_DATA, tensor::DATA_LOCATION];
        if !told.contains(&field.number) && !is_data(field.number) {
            match self.kept.last_mut() {
                Some(last) if last.end == field.whole.start => last.end = field.whole.end,
                _ => self.kept.push(field.whole),
            }
        }
        match field.number {
            tensor::DIMS => integers(source, field, |dim| {
                if self.shape.len() == MOST_AXES {
                    return Err(Error::format(format!("more than {MOST_AXES} axes")));
                }
                self.shape.push(dim as i64);
                Ok(())
            })?,
            tensor::DATA_TYPE => self.code = field.varint("a data type")? as i64,
            tensor::SEGMENT => self.segment = true,
            tensor::NAME => self.name = source.name(field.bytes("a name")?)?,
            tensor::RAW_DATA => {
                let first = self.raw.replace(field.bytes("raw_data")?).is_none();
                if !first {
                    return Err(bad("a second raw_data", field.whole.start));
                }
            }
            number if is_data(number) => self.typed += field.whole.len(),
            tensor::EXTERNAL_DATA => {
                if self.keys.len() == 100 {
                    return Err(bad("more than 100 keys of external data", field.whole.start));
                }
                let span = field.bytes("a key of external data")?;
                self.keys.push(key_and_value(source, span)?);
            }
            tensor::DATA_LOCATION => {
                self.external = field.varint("a data location")? == tensor::EXTERNAL;
            }
            _ => {}
        }
        Ok(())
    }

    fn check(self, message: Span, label: Option<String>) -> Result<Tensor> {
        if self.segment {
            return Err(Error::unsupported("the tensor is a segment of a larger one"));
        }
        let shape: Option<Vec<u64>> = self.shape.iter().map(|dim| u64::try_from(*dim).ok()).collect();
        let shape = shape.ok_or_else(|| Error::format("a dimension is negative"))?;
        let count = elements(&shape).ok_or_else(|| Error::format("the shape overflows"))?;
        let element = i32::try_from(self.code).ok().and_then(ElementType::from_code);
        let need = match element.and_then(ElementType::dtype) {
            Some(dtype) => {
                let need = byte_len(Encoding::packed(dtype), count);
                Some(need.ok_or_else(|| Error::format("the size overflows"))?)
            }
            None => None,
        };
        let two = || Error::format("more than one field holds elements");
        let (place, bytes) = if self.external {
            if self.typed > 0 || self.raw.is_some_and(|raw| raw.len() > 0) {
                return Err(two());
            }
            self.external_place(need)?
        } else if let Some(raw) = self.raw {
            if self.typed > 0 {
                return Err(two());
            }
            if let Some(need) = need.filter(|need| *need != raw.len()) {
                return Err(Error::format(format!(
                    "type and shape need {need} bytes, raw_data has {}",
                    raw.len()
                )));
            }
            (Place::Raw(raw), raw.len())
        } else {
            (Place::Typed, self.typed)
        };
        let Parts { name, code, kept, .. } = self;
        Ok(Tensor { name, label, code, shape, elements: count, place, bytes, message, kept, origin: None })
    }

    fn external_place(&self, need: Option<u64>) -> Result<(Place, u64)> {
        let key =
            |name: &str| self.keys.iter().rfind(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let number = |name: &str| match key(name) {
            None => Ok(None),
            Some(text) => match text.parse::<u64>() {
                Ok(value) => Ok(Some(value)),
                Err(_) => Err(Error::format(format!("the {name} of external data is \"{text}\""))),
            },
        };
        let location = key("location").ok_or_else(|| Error::format("external data without a location"))?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?);
        let bytes = match (need, length) {
            (Some(need), Some(length)) if need != length => {
                let what = format!("type and shape need {need} bytes, the external data has {length}");
                return Err(Error::format(what));
            }
            (Some(bytes), _) | (None, Some(bytes)) => bytes,
            (None, None) => {
                return Err(Error::format("external data of an unknown type without a length"));
            }
        };
        Ok((Place::External { location: location.to_owned(), offset }, bytes))
    }
}

/// A `StringStringEntryProto`.
pub fn key_and_value(source: &mut Source, span: Span) -> Result<(String, String)> {
    let (mut key, mut value) = (String::new(), String::new());
    let mut at = span.start;
    while let Some(field) = source.field(&mut at, span.end)? {
        match field.number {
            entry::KEY => key = source.name(field.bytes("a key")?)?,
            entry::VALUE => value = source.name(field.bytes("a value")?)?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Calls `take` for each number of a field, which may be packed.
fn integers(source: &mut Source, field: &Field, mut take: impl FnMut(u64) -> Result<()>) -> Result<()> {
    match field.value {
        Value::Varint(value) => take(value),
        Value::Bytes(span) => {
            let mut at = span.start;
            while at < span.end {
                take(source.varint(&mut at, span.end)?)?;
            }
            Ok(())
        }
        _ => Err(bad("not an integer", field.whole.start)),
    }
}

/// The elements of the typed fields.
#[derive(Default)]
struct Entries {
    float: Vec<f32>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    double: Vec<f64>,
    uint64: Vec<u64>,
}

impl Entries {
    fn take(&mut self, source: &mut Source, field: &Field) -> Result<()> {
        match field.number {
            tensor::FLOAT_DATA => match field.value {
                Value::Fixed32(bits) => self.float.push(f32::from_bits(bits)),
                _ => words(source, field, |word| self.float.push(f32::from_bits(u32::from_le_bytes(word))))?,
            },
            tensor::DOUBLE_DATA => match field.value {
                Value::Fixed64(bits) => self.double.push(f64::from_bits(bits)),
                _ => words(source, field, |word| self.double.push(f64::from_bits(u64::from_le_bytes(word))))?,
            },
            // Negative numbers are stored in 64 bits.
            tensor::INT32_DATA => integers(source, field, |x| {
                let x = i32::try_from(x as i64);
                self.int32.push(x.map_err(|_| bad("a number of more than 32 bits", field.whole.start))?);
                Ok(())
            })?,
            tensor::INT64_DATA => integers(source, field, |x| {
                self.int64.push(x as i64);
                Ok(())
            })?,
            tensor::UINT64_DATA => integers(source, field, |x| {
                self.uint64.push(x);
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }
}

/// Calls `take` for each packed word.
fn words<const N: usize>(source: &mut Source, field: &Field, mut take: impl FnMut([u8; N])) -> Result<()> {
    let span = field.bytes("a packed field")?;
    let bytes = source.read(span)?;
    let (words, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(bad("a packed field ends inside a number", span.start));
    }
    words.iter().for_each(|word| take(*word));
    Ok(())
}

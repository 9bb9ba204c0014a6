//! `.onnx`: a model, whose initializers and constants are the tensors.
//!
//! *Law.* What this program does not have to change stays as it is, to the byte: fields are found by their numbers and copied,
//! also those that a later version of ONNX brings. And the model keeps its meaning: of an initializer `W` that is cast, the new
//! form is called `W__bfloat16`, and a `Cast` node, first in the graph, makes `W` of it. Whatever uses `W`, in this graph or in
//! those inside it, still finds it, with its old dtype. With a node `Constant` and its output `W` it is the same, and the `Cast`
//! node follows it.
//!
//! Tensors of fewer than [`SMALL`] elements are left alone unless they are asked for by name. Most are not weights but settings of
//! operators: an exponent, a bound, the small number that keeps a divisor from zero, which a narrow dtype makes zero. Some have to
//! be known when shapes are inferred, such as the scales of `Resize`, and inference does not look through a `Cast`. And the node
//! takes more bytes than so few elements can save.
//!
//! *Method.* The structure is read once, without the elements ([`model`]). The new model is a rope ([`wire::Rope`]) of new bytes,
//! pieces of the old file and tensors; it is written from front to back, each tensor cast as a stream.

mod model;
mod schema;
mod tensor;
mod wire;

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    path::{Path, PathBuf},
};

use lanecast::{
    BufferType, DType,
    onnx::{Attributes, Cast, ElementType, Error},
};

use self::{
    model::{LARGEST, Message, Model, Part},
    tensor::{Place, Tensor},
    wire::{Piece, Rope, Source, put_bytes_field, put_varint_field},
};
use super::{Job, Listed, Listing, Work, copied, open, result_len, safetensors::quoted};
use crate::{
    error::{Failure, Result},
    options::in_files,
    output::Output,
    pump::{Extent, Lane, Pump},
    report::Entry,
};

/// Elements in other files begin at multiples of this, so that a program can map them.
const PAGE: u64 = 4096;

/// Tensors with fewer elements are not cast unless `--include` names them. (`roi` of `Resize` has two for each axis.)
const SMALL: u64 = 16;

/// Lists the initializers and constants of the model `path`.
pub fn list(path: &Path) -> Result<Listing> {
    let (file, length) = open(path)?;
    let model = Model::read(&mut Source::new(file, length), None).map_err(|e| e.in_path(path))?;
    let tensors = model
        .tensors
        .into_iter()
        .map(|t| Listed {
            dtype: t.type_name(),
            elements: Some(t.elements),
            bytes: t.bytes,
            shape: Some(t.shape),
            name: t.name,
        })
        .collect();
    Ok(Listing { tensors, metadata: model.metadata })
}

/// What becomes of a tensor that is cast.
#[derive(Debug)]
struct Change {
    from: DType,
    /// Its new name.
    name: String,
    /// The name of the node.
    node: String,
}

/// A model and what to do with it.
#[derive(Debug)]
pub struct Recast<'a> {
    job: &'a Job<'a>,
    source: Source,
    /// The folder of the model.
    folder: PathBuf,
    model: Model,
    /// One per tensor.
    changes: Vec<Option<Change>>,
    entries: Vec<Entry>,
    /// The version of Cast.
    version: u32,
}

impl<'a> Recast<'a> {
    /// Reads the structure and decides.
    pub fn new(job: &'a Job<'a>) -> Result<Self> {
        if ElementType::from(job.to).code().is_none() {
            return Err(Failure::unsupported(format!("ONNX has no type for {}", job.to))
                .at_path(job.input)
                .advise("choose another dtype or another format"));
        }
        let (file, length) = open(job.input)?;
        let mut source = Source::new(file, length);
        let mark = format!("__{}", job.to);
        let model = Model::read(&mut source, Some(&mark)).map_err(|e| e.in_path(job.input))?;
        let folder = folder_of(job.input);
        let mut recast = Self {
            job,
            source,
            folder,
            changes: Vec::new(),
            entries: Vec::with_capacity(model.tensors.len()),
            version: 0,
            model,
        };
        recast.decide(&mark).map_err(|e| e.in_path(job.input))?;
        Ok(recast)
    }

    fn decide(&mut self, mark: &str) -> Result<()> {
        let mut names = Names { taken: std::mem::take(&mut self.model.marked), wanted: HashMap::new() };
        for (index, tensor) in self.model.tensors.iter().enumerate() {
            let place = || quoted(&tensor.name);
            let mut entry = copied(&tensor.name, tensor.type_name(), Some(&tensor.shape), tensor.bytes);
            let chosen = tensor.dtype().filter(|from| {
                // Up to IR version 3 all initializers had to be inputs; later, those that are may be replaced by a caller.
                let constant = !self.model.inputs[index] || self.model.ir_version.0 < 4;
                let selection = &self.job.selection;
                constant
                    && *from != self.job.to
                    && selection.chooses(&tensor.name, *from)
                    && (tensor.elements >= SMALL || selection.names_explicitly(&tensor.name))
            });
            let change = match chosen {
                None => None,
                Some(from) => {
                    if tensor.name.is_empty() {
                        return Err(Failure::format("an initializer without a name"));
                    }
                    if self.model.has_training {
                        let what = "the model says how it is trained, and names its initializers there";
                        return Err(Failure::unsupported(what).advise("remove its training_info first"));
                    }
                    self.version = cast_version(&self.model, from, self.job.to).map_err(|e| e.at(place()))?;
                    if tensor.label.is_some() {
                        constant_holds(&self.model, self.job.to).map_err(|e| e.at(place()))?;
                    }
                    tensor.check(&mut self.source, &self.folder).map_err(|e| e.at(place()))?;
                    let to = BufferType::packed(self.job.to);
                    // The pair is refused before anything is written.
                    self.job.settings.plan(BufferType::packed(from), to)?;
                    entry.bytes_out = result_len(to, tensor.elements)?;
                    entry.to = Some(self.job.to.name().to_owned());
                    let name = names.unique(&format!("{}{mark}", tensor.name));
                    let node = names.unique(&format!("Cast_{name}"));
                    Some(Change { from, name, node })
                }
            };
            if change.is_none() && matches!(tensor.place, Place::External { .. }) {
                tensor.check(&mut self.source, &self.folder).map_err(|e| e.at(place()))?;
            }
            self.changes.push(change);
            self.entries.push(entry);
        }
        Ok(())
    }

    /// The new model; `location` is the file beside it for the elements that stand in one now.
    fn rope(&self, location: &str, offsets: &[Option<u64>]) -> Rope {
        let mut rope = Rope::default();
        let changed = self.changes.iter().any(Option::is_some);
        let (version, field) = self.model.ir_version;
        let least = if changed { ir_version(self.job.to).max(version) } else { version };
        let drops =
            self.changes.iter().zip(&self.model.inputs).any(|(change, input)| change.is_some() && *input);
        let least = if drops { least.max(4) } else { least };
        let graph = &self.model.graph;
        let mut parts = [(field, None), (graph.whole, Some(graph))];
        parts.sort_by_key(|(span, _)| span.start);
        let mut at = 0;
        for (span, graph) in parts {
            rope.old(at, span.start);
            match graph {
                Some(graph) => rope.message_field(graph.number, self.message(graph, location, offsets)),
                None if least == version => rope.old(span.start, span.end),
                None => rope.varint_field(schema::model::IR_VERSION, least),
            }
            at = span.end;
        }
        rope.old(at, self.source.all().end);
        rope
    }

    /// A graph, or what holds one.
    fn message(&self, message: &Message, location: &str, offsets: &[Option<u64>]) -> Rope {
        let mut rope = Rope::default();
        let change = |index: &usize| self.changes[*index].as_ref();
        if message.is_graph {
            for part in &message.parts {
                if let Part::Initializer(_, index) = part
                    && let Some(change) = change(index)
                {
                    let name = &self.model.tensors[*index].name;
                    rope.bytes_field(schema::graph::NODE, &cast_node(change, name, self.version));
                }
            }
        }
        let renamed: HashSet<&str> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Initializer(_, index) if change(index).is_some() => {
                    Some(self.model.tensors[*index].name.as_str())
                }
                _ => None,
            })
            .collect();
        let mut at = message.inner.start;
        for part in &message.parts {
            let whole = part.whole();
            rope.old(at, whole.start);
            at = whole.end;
            match part {
                Part::Message(inner) => {
                    rope.message_field(inner.number, self.message(inner, location, offsets));
                }
                Part::Input(_, name) if renamed.contains(name.as_str()) => {}
                Part::Initializer(_, index) if change(index).is_some() || offsets[*index].is_some() => {
                    let tensor = self.tensor(*index, location, offsets[*index]);
                    rope.message_field(schema::graph::INITIALIZER, tensor);
                }
                Part::Constant(inner, index) if change(index).is_some() || offsets[*index].is_some() => {
                    rope.message_field(inner.number, self.message(inner, location, offsets));
                    if let Some(change) = change(index) {
                        let name = &self.model.tensors[*index].name;
                        rope.bytes_field(inner.number, &cast_node(change, name, self.version));
                    }
                }
                // Only of constants that are not as they were.
                Part::Value(_, index) => {
                    let tensor = self.tensor(*index, location, offsets[*index]);
                    rope.message_field(schema::attribute::T, tensor);
                }
                Part::Output(_, index) if change(index).is_some() => {
                    let name = change(index).map_or("", |change| &change.name);
                    rope.bytes_field(schema::node::OUTPUT, name.as_bytes());
                }
                Part::Initializer(..) | Part::Input(..) | Part::Constant(..) | Part::Output(..) => {
                    rope.old(whole.start, whole.end);
                }
            }
        }
        rope.old(at, message.inner.end);
        rope
    }

    /// A tensor with another name, type or place.
    fn tensor(&self, index: usize, location: &str, offset: Option<u64>) -> Rope {
        use schema::{entry, tensor};
        let (old, change) = (&self.model.tensors[index], &self.changes[index]);
        let mut rope = Rope::default();
        for span in &old.kept {
            rope.old(span.start, span.end);
        }
        let code = match change {
            Some(_) => ElementType::from(self.job.to).code().map_or(old.code, i64::from),
            None => old.code,
        };
        rope.varint_field(tensor::DATA_TYPE, code as u64);
        let name = match (&old.label, change) {
            (Some(label), _) => label,
            (None, Some(change)) => &change.name,
            (None, None) => &old.name,
        };
        if old.label.is_none() || !name.is_empty() {
            rope.bytes_field(tensor::NAME, name.as_bytes());
        }
        let bytes = self.entries[index].bytes_out;
        match offset {
            None => {
                rope.open_field(tensor::RAW_DATA, bytes);
                rope.tensor(index, bytes);
            }
            Some(offset) => {
                let keys =
                    [("location", location), ("offset", &offset.to_string()), ("length", &bytes.to_string())];
                for (key, value) in keys {
                    let mut pair = Vec::new();
                    put_bytes_field(&mut pair, entry::KEY, key.as_bytes());
                    put_bytes_field(&mut pair, entry::VALUE, value.as_bytes());
                    rope.bytes_field(tensor::EXTERNAL_DATA, &pair);
                }
                rope.varint_field(tensor::DATA_LOCATION, tensor::EXTERNAL);
            }
        }
        rope
    }

    /// Where the elements that are in other files now will begin in the one that is written, and its length.
    fn offsets(&self) -> (Vec<Option<u64>>, u64) {
        let mut end = 0_u64;
        let place = |(tensor, entry): (&Tensor, &Entry)| {
            matches!(tensor.place, Place::External { .. }).then(|| {
                let start = end.next_multiple_of(PAGE);
                end = start.saturating_add(entry.bytes_out);
                start
            })
        };
        (self.model.tensors.iter().zip(&self.entries).map(place).collect(), end)
    }

    /// Casts or copies the elements of a tensor.
    fn transfer(&mut self, index: usize, pump: &mut Pump, output: &mut Output) -> Result<()> {
        let (tensor, entry) = (&self.model.tensors[index], &mut self.entries[index]);
        let shown = output.path().to_owned();
        let on_input = |e: Failure| e.at(quoted(&tensor.name)).in_path(self.job.input);
        let on_output = |e: Failure| e.at_path(&shown);
        let mut reader = tensor.reader(&mut self.source, &self.folder).map_err(on_input)?;
        let Some(change) = &self.changes[index] else {
            return pump
                .copy(&mut reader, output.writer(), tensor.bytes)
                .map_err(|stopped| stopped.fail(on_input, on_output));
        };
        let mut lane =
            Lane::new(&self.job.settings, in_files(change.from), in_files(self.job.to)).map_err(on_input)?;
        let passed = pump
            .cast(&mut lane, &mut reader, output.writer(), Extent::Elements(tensor.elements))
            .map_err(|stopped| stopped.fail(on_input, on_output))?;
        entry.counts = Some(passed.counts);
        Ok(())
    }

    /// Writes the elements that stand in a file of their own.
    fn write_data(&mut self, offsets: &[Option<u64>], pump: &mut Pump, data: &mut Output) -> Result<()> {
        let mut at = 0;
        for (index, offset) in offsets.iter().enumerate() {
            let Some(offset) = *offset else { continue };
            let gap = vec![0; (offset - at) as usize];
            data.writer().write_all(&gap).map_err(|e| Failure::writing(&e).at_path(data.path()))?;
            self.transfer(index, pump, data)?;
            at = offset + self.entries[index].bytes_out;
        }
        Ok(())
    }
}

impl Work for Recast<'_> {
    fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn run(mut self, pump: &mut Pump, output: &mut Output) -> Result<Vec<Entry>> {
        let shown = output.path().to_owned();
        if let Some(name) = &self.model.other_external
            && !same_folder(&self.folder, &folder_of(&shown))
        {
            return Err(Failure::unsupported(
                "a tensor that is no initializer or constant has its elements in another file",
            )
            .at(quoted(name))
            .in_path(self.job.input)
            .advise("write the output into the folder of the model"));
        }
        let (offsets, data_len) = self.offsets();
        let has_data = offsets.iter().any(Option::is_some);
        if i64::try_from(data_len).is_err() {
            return Err(
                Failure::unsupported("the result is more than a file can hold").in_path(self.job.input)
            );
        }
        let mut data_path = shown.clone().into_os_string();
        data_path.push(".data");
        let data_path = PathBuf::from(data_path);
        let location = data_path.file_name().and_then(|name| name.to_str());
        let location = match location {
            Some(name) if !name.contains('\\') => name,
            _ if !has_data => "",
            _ => {
                return Err(Failure::usage("the name of the output cannot stand in a model")
                    .at_path(&shown)
                    .advise("choose another name"));
            }
        };
        let rope = self.rope(location, &offsets);
        if rope.len > LARGEST {
            return Err(Failure::unsupported(format!(
                "the model would have {} bytes, which are too many",
                rope.len
            ))
            .in_path(self.job.input)
            .advise("save it with its tensors in external files first"));
        }
        if has_data {
            let mut data = output.companion(&data_path)?;
            self.write_data(&offsets, pump, &mut data)?;
            output.attach(data);
        }
        for piece in rope.pieces {
            let place = |e: &std::io::Error| Failure::writing(e).at_path(&shown);
            match piece {
                Piece::New(bytes) => output.writer().write_all(&bytes).map_err(|e| place(&e))?,
                Piece::Tensor(index, _) => self.transfer(index, pump, output)?,
                Piece::Old(span) => {
                    let mut reader = self.source.reader(span).map_err(|e| Failure::reading(&e))?;
                    pump.copy(&mut reader, output.writer(), span.len()).map_err(|stopped| {
                        stopped.fail(|e| e.at_path(self.job.input), |e| e.at_path(&shown))
                    })?;
                }
            }
        }
        Ok(self.entries)
    }
}

/// The version of Cast in the model, which has to know both dtypes.
fn cast_version(model: &Model, from: DType, to: DType) -> Result<u32> {
    // At run time the node goes back.
    match Cast::new(model.opset()?, to, from, &Attributes::NONE) {
        Ok(cast) => Ok(cast.version()),
        Err(Error::Cast(error)) => Err(error.into()),
        Err(error) => {
            let advice = match error {
                Error::Type { since: Some(since), .. } => format!(
                    "bring the model to opset {since} or later first, for example with onnx.version_converter, or choose another dtype"
                ),
                _ => "choose another dtype, or leave the tensor out with --exclude".to_owned(),
            };
            Err(Failure::unsupported(error.to_string()).advise(advice))
        }
    }
}

/// Fails if `Constant` has no values of a dtype that `Cast` has: its version 1 of other numbers than floats, its version 25, the
/// newest in opset 28, of floats of 6 bits.
fn constant_holds(model: &Model, dtype: DType) -> Result<()> {
    let (version, advice) = match dtype {
        DType::Float6E2M3FN | DType::Float6E3M2FN => {
            (25, "make an initializer of it, choose another dtype, or leave it out with --exclude")
        }
        DType::Float16 | DType::Float32 | DType::Float64 => return Ok(()),
        _ if model.opset()? >= 9 => return Ok(()),
        _ => (1, "bring the model to opset 9 or later first, for example with onnx.version_converter"),
    };
    Err(Failure::unsupported(format!("Constant-{version} does not hold {dtype}")).advise(advice))
}

/// The first IR version that has a dtype in tensors.
fn ir_version(dtype: DType) -> u64 {
    match dtype {
        DType::BFloat16 => 4,
        DType::Float8E4M3FN | DType::Float8E4M3FNUZ | DType::Float8E5M2 | DType::Float8E5M2FNUZ => 9,
        DType::UInt4 | DType::Int4 => 10,
        DType::Float4E2M1FN => 11,
        DType::Float8E8M0FNU => 12,
        DType::UInt2 | DType::Int2 => 13,
        DType::Float6E2M3FN | DType::Float6E3M2FN => 14,
        _ => 1,
    }
}

/// The node that makes the old tensor of the new one.
fn cast_node(change: &Change, name: &str, version: u32) -> Vec<u8> {
    use schema::{attribute, node};
    let mut to = Vec::new();
    put_bytes_field(&mut to, attribute::NAME, b"to");
    let element = ElementType::from(change.from);
    if version < 6 {
        put_bytes_field(&mut to, attribute::S, element.name().unwrap_or_default().as_bytes());
        put_varint_field(&mut to, attribute::TYPE, attribute::STRING);
    } else {
        put_varint_field(&mut to, attribute::I, element.code().unwrap_or_default() as u64);
        put_varint_field(&mut to, attribute::TYPE, attribute::INT);
    }
    let mut cast = Vec::new();
    put_bytes_field(&mut cast, node::INPUT, change.name.as_bytes());
    put_bytes_field(&mut cast, node::OUTPUT, name.as_bytes());
    put_bytes_field(&mut cast, node::NAME, change.node.as_bytes());
    put_bytes_field(&mut cast, node::OP_TYPE, b"Cast");
    put_bytes_field(&mut cast, node::ATTRIBUTE, &to);
    cast
}

/// Names that nothing else has.
struct Names {
    /// The names with the mark: those of the model, and those given.
    taken: HashSet<String>,
    /// How often a name was wanted.
    wanted: HashMap<String, u64>,
}

impl Names {
    fn unique(&mut self, wanted: &str) -> String {
        let count = self.wanted.entry(wanted.to_owned()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 { wanted.to_owned() } else { format!("{wanted}_{count}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn same_folder(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

//! A cast of a model.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
    path::{Path, PathBuf},
};

use lanecast::{DType, Encoding, Kind, onnx::ElementType};

use super::{
    model::{LARGEST, Model},
    nodes::{Change, Names, cast_node, cast_version, constant_holds, ir_version},
    part::{Message, Part},
    schema,
    tensor::{Origin, Place, Tensor},
    wire::{Piece, Rope, Source, put_bytes_field},
};
use crate::{
    error::{Error, Result},
    formats::{
        format::{Job, Work, copied, quoted, result_len},
        input::Input,
    },
    output::Output,
    path::folder,
    pump::{Extent, Lane, Pump},
    report::Entry,
    select::Selection,
    settings::in_files,
};

/// The alignment of elements in external files, so that a program can map them.
const PAGE: u64 = 4096;

/// Tensors with fewer elements are not cast unless the selection names them. (`roi` of `Resize` has two for each axis.)
const SMALL: u64 = 16;

/// A model and what to do with it.
#[derive(Debug)]
pub struct Recast<'a> {
    job: &'a Job,
    path: PathBuf,
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
    /// Reads the structure and decides what to cast.
    pub fn new(input: Input, job: &'a Job) -> Result<Self> {
        if ElementType::from(job.to).code().is_none() {
            return Err(Error::unsupported(format!("ONNX has no type for {}", job.to))
                .advise("choose another dtype or another format"));
        }
        let mut source = Source::new(input.file, input.length);
        let mark = format!("__{}", job.to);
        let model = Model::read(&mut source, Some(&mark))?;
        let mut recast = Self {
            job,
            source,
            folder: folder(&input.path),
            path: input.path,
            changes: Vec::new(),
            entries: Vec::with_capacity(model.tensors.len()),
            version: 0,
            model,
        };
        recast.decide(&mark)?;
        Ok(recast)
    }

    fn decide(&mut self, mark: &str) -> Result<()> {
        let mut names = Names { taken: std::mem::take(&mut self.model.marked), wanted: HashMap::new() };
        for (index, tensor) in self.model.tensors.iter().enumerate() {
            let place = || quoted("tensor", &tensor.name);
            let mut entry = copied(&tensor.name, tensor.type_name(), Some(&tensor.shape), tensor.bytes);
            let chosen = tensor.dtype().filter(|from| {
                // Up to IR version 3 all initializers had to be inputs. Since then, a caller may replace those that are.
                let constant = !self.model.inputs[index] || self.model.ir_version.0 < 4;
                let selection = &self.job.selection;
                entry.kept = leaves_out(selection, tensor, *from);
                if entry.kept.is_some() {
                    return false;
                }
                // A tensor that was cast before may be cast again, whatever its size.
                let known = tensor.origin.is_some() || selection.names_explicitly(&tensor.name);
                let large = tensor.elements >= SMALL || known;
                let checks = [
                    (*from != self.job.to, "of the target dtype already"),
                    (constant, "an input, which a caller may replace"),
                    (large, "smaller than 16 elements"),
                ];
                entry.kept = checks.iter().find(|(met, _)| !met).map(|(_, reason)| *reason);
                entry.kept.is_none()
            });
            let change = match chosen {
                None => None,
                Some(from) => {
                    if tensor.name.is_empty() {
                        return Err(Error::format("an initializer without a name"));
                    }
                    if self.model.has_training {
                        let what =
                            "the model has training information, which refers to its initializers by name";
                        return Err(Error::unsupported(what).advise("remove its training_info first"));
                    }
                    let origin = match &tensor.origin {
                        Some(origin) => origin.clone(),
                        None => Origin { name: tensor.name.clone(), dtype: from },
                    };
                    // With its original dtype and name the tensor needs no node.
                    let back = origin.dtype == self.job.to;
                    if !back {
                        self.version = cast_version(&self.model, origin.dtype, self.job.to)
                            .map_err(|e| e.at(place()))?;
                        if tensor.label.is_some() {
                            constant_holds(&self.model, self.job.to).map_err(|e| e.at(place()))?;
                        }
                    }
                    tensor.check(&mut self.source, &self.folder).map_err(|e| e.at(place()))?;
                    let to = Encoding::packed(self.job.to);
                    // An unsupported pair is refused here, before anything is written.
                    let _ = self.job.settings.plan(Encoding::packed(from), to)?;
                    entry.bytes_out = result_len(to, tensor.elements)?;
                    entry.to = Some(self.job.to.name().to_owned());
                    Some(if back {
                        Change { from, name: origin.name.clone(), origin, node: None }
                    } else {
                        let name = names.unique(&format!("{}{mark}", origin.name));
                        let node = Some(names.unique(&format!("Cast_{name}")));
                        Change { from, name, origin, node }
                    })
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

    /// The new model; `location` is the file beside it for elements that are external now.
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

    /// The new form of a graph, or of a message that contains one.
    fn message(&self, message: &Message, location: &str, offsets: &[Option<u64>]) -> Rope {
        let mut rope = Rope::default();
        let change = |index: &usize| self.changes[*index].as_ref();
        if message.is_graph {
            for part in &message.parts {
                if let Part::Initializer(_, index) = part
                    && let Some(node) = change(index).and_then(|change| cast_node(change, self.version))
                {
                    rope.bytes_field(schema::graph::NODE, &node);
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
                Part::Cast(_, index)
                    if change(index).is_some() && self.model.tensors[*index].origin.is_some() => {}
                Part::Initializer(_, index) if change(index).is_some() || offsets[*index].is_some() => {
                    let tensor = self.tensor(*index, location, offsets[*index]);
                    rope.message_field(schema::graph::INITIALIZER, tensor);
                }
                Part::Constant(inner, index) if change(index).is_some() || offsets[*index].is_some() => {
                    rope.message_field(inner.number, self.message(inner, location, offsets));
                    if let Some(node) = change(index).and_then(|change| cast_node(change, self.version)) {
                        rope.bytes_field(inner.number, &node);
                    }
                }
                // Present only for constants that change.
                Part::Value(_, index) => {
                    let tensor = self.tensor(*index, location, offsets[*index]);
                    rope.message_field(schema::attribute::T, tensor);
                }
                Part::Output(_, index) if change(index).is_some() => {
                    let name = change(index).map_or("", |change| &change.name);
                    rope.bytes_field(schema::node::OUTPUT, name.as_bytes());
                }
                Part::Initializer(..)
                | Part::Input(..)
                | Part::Constant(..)
                | Part::Output(..)
                | Part::Cast(..) => {
                    rope.old(whole.start, whole.end);
                }
            }
        }
        rope.old(at, message.inner.end);
        rope
    }

    /// The new form of a tensor, with its new name, type or place.
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

    /// The offsets, in the external file to be written, of elements that are external now, and the length of that file.
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
    fn transfer(&mut self, index: usize, pump: &mut Pump<'_>, output: &mut Output) -> Result<()> {
        let (tensor, entry) = (&self.model.tensors[index], &mut self.entries[index]);
        let shown = output.path().to_owned();
        let on_input = |e: Error| e.at(quoted("tensor", &tensor.name)).in_path(&self.path);
        let on_output = |e: Error| e.at_path(&shown);
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

    /// Writes the external file.
    fn write_data(&mut self, offsets: &[Option<u64>], pump: &mut Pump<'_>, data: &mut Output) -> Result<()> {
        let mut at = 0;
        for (index, offset) in offsets.iter().enumerate() {
            let Some(offset) = *offset else { continue };
            let gap = vec![0; (offset - at) as usize];
            data.writer().write_all(&gap).map_err(|e| Error::writing(&e).at_path(data.path()))?;
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

    fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// The names that tensors had before earlier casts.
    fn groups(&self) -> Vec<&str> {
        let origins = self.model.tensors.iter().filter_map(|tensor| tensor.origin.as_ref());
        origins.map(|origin| origin.name.as_str()).collect()
    }

    fn run(mut self: Box<Self>, pump: &mut Pump<'_>, output: &mut Output) -> Result<Vec<Entry>> {
        let shown = output.path().to_owned();
        if let Some(name) = &self.model.other_external
            && !same_folder(&self.folder, &folder(&shown))
        {
            return Err(Error::unsupported(
                "a tensor that is neither an initializer nor a constant has its elements in another file",
            )
            .at(quoted("tensor", name))
            .in_path(&self.path)
            .advise("write the output into the folder of the model"));
        }
        let (offsets, data_len) = self.offsets();
        let has_data = offsets.iter().any(Option::is_some);
        if i64::try_from(data_len).is_err() {
            return Err(Error::unsupported("the result is more than a file can hold").in_path(&self.path));
        }
        let mut data_path = shown.clone().into_os_string();
        data_path.push(".data");
        let data_path = PathBuf::from(data_path);
        let location = data_path.file_name().and_then(|name| name.to_str());
        let location = match location {
            Some(name) if !name.contains('\\') => name,
            _ if !has_data => "",
            _ => {
                return Err(Error::request("the name of the output cannot be written in a model")
                    .at_path(&shown)
                    .advise("choose another name"));
            }
        };
        let rope = self.rope(location, &offsets);
        if rope.len > LARGEST {
            return Err(Error::unsupported(format!(
                "the model would have {} bytes, more than the format allows",
                rope.len
            ))
            .in_path(&self.path)
            .advise("save it with its tensors in external files first"));
        }
        if has_data {
            let mut data = output.companion(&data_path)?;
            self.write_data(&offsets, pump, &mut data)?;
            output.attach(data)?;
        }
        for piece in rope.pieces {
            let place = |e: &std::io::Error| Error::writing(e).at_path(&shown);
            match piece {
                Piece::New(bytes) => output.writer().write_all(&bytes).map_err(|e| place(&e))?,
                Piece::Tensor(index, _) => self.transfer(index, pump, output)?,
                Piece::Old(span) => {
                    let mut reader = self.source.reader(span).map_err(|e| Error::reading(&e))?;
                    pump.copy(&mut reader, output.writer(), span.len())
                        .map_err(|stopped| stopped.fail(|e| e.at_path(&self.path), |e| e.at_path(&shown)))?;
                }
            }
        }
        Ok(self.entries)
    }
}

/// Why the selection leaves out a tensor of the dtype `from`; `None` if it does not. A tensor that an earlier cast made is also matched
/// by its original name and dtype, so that a cast can be undone for the whole model.
fn leaves_out(selection: &Selection, tensor: &Tensor, from: DType) -> Option<&'static str> {
    let reason = selection.leaves_out(&tensor.name, Some(from));
    let Some(origin) = &tensor.origin else { return reason };
    if selection.excludes(&tensor.name) || selection.excludes(&origin.name) {
        return Some("excluded by name");
    }
    let included = selection.includes(&tensor.name) || selection.includes(&origin.name);
    if selection.has_include() && !included {
        return Some("not included by name");
    }
    let floats = selection.source().is_none() && origin.dtype.kind() == Kind::Float;
    if floats || selection.chooses_dtype(from) { None } else { reason.or(Some("of another dtype")) }
}

fn same_folder(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

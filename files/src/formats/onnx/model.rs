//! A model: its graphs with their initializers and the values of their `Constant` nodes, wherever they are, and what has to be
//! known to change them.

use std::collections::{HashMap, HashSet};

use super::{
    nodes::{CastNode, made_by_cast},
    schema::{attribute, function, graph, model, node, opset, sparse, tensor, training, value_info},
    tensor::{Tensor, key_and_value},
    wire::{Field, Source, Span, bad},
};
use crate::error::{Error, Result};

/// A protobuf message has no more bytes.
pub const LARGEST: u64 = i32::MAX as u64;

/// Graphs in graphs. (A reader of protobuf allows a hundred messages in messages.)
const DEEPEST: usize = 30;

/// About so many bytes are held of the structure of a model: room for 45,000 tensors or inputs. Each takes memory here that a
/// hostile file does not have to spend.
const ROOM: usize = 34 << 20;

/// A message that is a graph or holds one, with its parts that may change, in their order.
#[derive(Debug)]
pub struct Message {
    /// Its number as a field.
    pub number: u32,
    /// All bytes of the field.
    pub whole: Span,
    /// The message itself.
    pub inner: Span,
    /// Whether it is a graph.
    pub is_graph: bool,
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a message that may change.
#[derive(Debug)]
pub enum Part {
    /// A message that is a graph or holds one.
    Message(Message),
    /// The initializer of this index.
    Initializer(Span, usize),
    /// An input of this name, which is an initializer as well.
    Input(Span, String),
    /// A node `Constant` whose value is the tensor of this index.
    Constant(Message, usize),
    /// The output of such a node.
    Output(Span, usize),
    /// The tensor of this index, in the attribute of such a node.
    Value(Span, usize),
    /// The node that an earlier cast put behind the tensor of this index, if that has an origin.
    Cast(Span, usize),
}

impl Part {
    /// All its bytes.
    pub fn whole(&self) -> Span {
        match self {
            Self::Message(message) | Self::Constant(message, _) => message.whole,
            Self::Initializer(whole, _)
            | Self::Input(whole, _)
            | Self::Output(whole, _)
            | Self::Value(whole, _)
            | Self::Cast(whole, _) => *whole,
        }
    }
}

/// A model.
#[derive(Debug)]
pub struct Model {
    /// `ir_version`, with its field.
    pub ir_version: (u64, Span),
    /// The domains and versions of `opset_import`.
    pub opsets: Vec<(String, u64)>,
    /// The graph.
    pub graph: Message,
    /// The initializers and constants of all graphs, in the order of the file.
    pub tensors: Vec<Tensor>,
    /// For each of them, whether it is an input of its graph as well.
    pub inputs: Vec<bool>,
    /// The names that contain the mark.
    pub marked: HashSet<String>,
    /// The name of a tensor that is not among them but has its elements in another file.
    pub other_external: Option<String>,
    /// Whether it says how it is trained.
    pub has_training: bool,
    /// Free text.
    pub metadata: Vec<(String, String)>,
}

/// What is gathered on the way through the graphs.
struct Scan<'a> {
    source: &'a mut Source,
    /// New names contain this, if there are any; so may old ones.
    mark: Option<&'a str>,
    tensors: Vec<Tensor>,
    inputs: Vec<bool>,
    marked: HashSet<String>,
    /// How often names occur that an earlier cast may have given: as initializers, inputs and outputs.
    made: HashMap<String, u64>,
    /// The nodes of the graph that is read which an earlier cast may have made.
    casts: Vec<(Span, CastNode)>,
    other_external: Option<String>,
    /// Whether tensors are those of the graphs of the model, and not of its training or functions.
    owned: bool,
    /// Bytes that may be held still.
    room: usize,
}

impl Model {
    /// Reads the structure of a model, and which of its names contain `mark`.
    pub fn read(source: &mut Source, mark: Option<&str>) -> Result<Self> {
        let all = source.all();
        if all.len() > LARGEST {
            return Err(Error::format(format!("{} bytes are more than a model may have", all.len())));
        }
        let mut scan = Scan {
            source,
            mark,
            tensors: Vec::new(),
            inputs: Vec::new(),
            marked: HashSet::new(),
            made: HashMap::new(),
            casts: Vec::new(),
            other_external: None,
            owned: true,
            room: ROOM,
        };
        let (mut ir_version, mut graph, mut has_training) = (None, None, false);
        let (mut opsets, mut metadata, mut producer) =
            (Vec::new(), Vec::new(), [String::new(), String::new()]);
        let mut at = 0;
        while let Some(field) = scan.source.field(&mut at, all.end)? {
            match field.number {
                model::IR_VERSION => {
                    once(&mut ir_version, (field.varint("the IR version")?, field.whole), &field)?;
                }
                model::PRODUCER_NAME => producer[0] = scan.source.name(field.bytes("a name")?)?,
                model::PRODUCER_VERSION => producer[1] = scan.source.name(field.bytes("a version")?)?,
                model::OPSET_IMPORT => {
                    few(&opsets, "imports of opsets")?;
                    opsets.push(read_opset(scan.source, field.bytes("an opset")?)?);
                }
                model::METADATA_PROPS => {
                    few(&metadata, "metadata")?;
                    let (key, value) = key_and_value(scan.source, field.bytes("metadata")?)?;
                    scan.hold(192 + 3 * (key.len() + value.len()))?;
                    metadata.push((key, value));
                }
                model::GRAPH => {
                    let message = scan.graph(&field, 0)?;
                    once(&mut graph, message, &field)?;
                }
                model::FUNCTIONS => {
                    let inner = field.bytes("a function")?;
                    scan.children(inner, |number| number == function::NODE, Scan::node_of_other)?;
                }
                model::TRAINING_INFO => {
                    has_training = true;
                    let inner = field.bytes("training information")?;
                    let graphs = |n| n == training::INITIALIZATION || n == training::ALGORITHM;
                    scan.children(inner, graphs, Scan::graph_of_other)?;
                }
                _ => {}
            }
        }
        let Some(graph) = graph else {
            return Err(Error::format("there is no graph in it, so it is not an ONNX model"));
        };
        let Some(ir_version) = ir_version else {
            return Err(Error::format("there is no IR version in it, so it is not an ONNX model"));
        };
        let mut all = vec![("ir_version".to_owned(), ir_version.0.to_string())];
        let producer = producer.join(" ");
        all.push(("producer".to_owned(), producer.trim().to_owned()));
        all.extend(opsets.iter().map(|(domain, version): &(String, u64)| {
            let domain = if domain.is_empty() { "ai.onnx" } else { domain };
            (format!("opset {domain}"), version.to_string())
        }));
        all.extend(metadata);
        let Scan { mut tensors, inputs, marked, other_external, made, .. } = scan;
        for tensor in &mut tensors {
            // It has its name from its tensor or node, and goes to its Cast node: whatever else uses it must find it.
            if made.get(&tensor.name).is_none_or(|n| *n != 2) {
                tensor.origin = None;
            }
        }
        let metadata = all;
        Ok(Self {
            ir_version,
            opsets,
            graph,
            tensors,
            inputs,
            marked,
            other_external,
            has_training,
            metadata,
        })
    }

    /// The opset of the default domain that the model imports.
    pub fn opset(&self) -> Result<u32> {
        let mut versions =
            self.opsets.iter().filter(|(domain, _)| domain.is_empty() || domain == "ai.onnx").map(|o| o.1);
        match (versions.next(), versions.next()) {
            (Some(version), None) => {
                u32::try_from(version).map_err(|_| Error::format(format!("opset {version} does not exist")))
            }
            (Some(_), Some(_)) => Err(Error::format("two opsets of the default domain are imported")),
            // Before IR version 3 there were no imports, and one opset.
            (None, _) if self.ir_version.0 < 3 => Ok(1),
            (None, _) => Err(Error::unsupported("the model imports no opset of the default domain")
                .advise("import one that has Cast")),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, field: &Field) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(bad(format!("a second field {}", field.number), field.whole.start)),
    }
}

fn few<T>(list: &[T], what: &str) -> Result<()> {
    if list.len() < 10_000 { Ok(()) } else { Err(Error::format(format!("too many {what}"))) }
}

fn read_opset(source: &mut Source, span: Span) -> Result<(String, u64)> {
    let (mut domain, mut version) = (String::new(), 0);
    let mut at = span.start;
    while let Some(field) = source.field(&mut at, span.end)? {
        match field.number {
            opset::DOMAIN => domain = source.name(field.bytes("a domain")?)?,
            opset::VERSION => version = field.varint("a version")?,
            _ => {}
        }
    }
    Ok((domain, version))
}

impl Scan<'_> {
    /// Calls `visit` for the fields of a message that have these numbers.
    fn children(
        &mut self,
        inner: Span,
        wanted: impl Fn(u32) -> bool,
        visit: impl Fn(&mut Self, &Field) -> Result<()>,
    ) -> Result<()> {
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            if wanted(field.number) {
                visit(self, &field)?;
            }
        }
        Ok(())
    }

    fn node_of_other(&mut self, field: &Field) -> Result<()> {
        let owned = std::mem::replace(&mut self.owned, false);
        let done = self.node(field, 0).map(drop);
        self.owned = owned;
        done
    }

    fn graph_of_other(&mut self, field: &Field) -> Result<()> {
        let owned = std::mem::replace(&mut self.owned, false);
        let done = self.graph(field, 0).map(drop);
        self.owned = owned;
        done
    }

    /// Takes room for what is remembered.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        let left = self.room.checked_sub(bytes).ok_or_else(|| {
            Error::unsupported("a model of more tensors, inputs or graphs than this program reads")
                .advise("split the model")
        })?;
        self.room = left;
        Ok(())
    }

    /// Remembers a name that contains the mark.
    fn name(&mut self, field: &Field) -> Result<String> {
        let name = self.source.name(field.bytes("a name")?)?;
        self.remember(&name)?;
        Ok(name)
    }

    /// Counts a name that a value has or that is used for one.
    fn used(&mut self, name: &str) {
        if self.mark.is_some() && made_by_cast(name).is_some() {
            *self.made.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn remember(&mut self, name: &str) -> Result<()> {
        if self.mark.is_some_and(|mark| name.contains(mark)) {
            self.hold(128 + name.len())?;
            self.marked.insert(name.to_owned());
        }
        Ok(())
    }

    fn graph(&mut self, field: &Field, depth: usize) -> Result<Message> {
        let inner = field.bytes("a graph")?;
        if depth > DEEPEST {
            return Err(bad(format!("more than {DEEPEST} graphs in graphs"), inner.start));
        }
        self.hold(400)?;
        let (mut parts, mut inputs, mut initializers) = (Vec::new(), HashSet::new(), HashSet::new());
        let outer = std::mem::take(&mut self.casts);
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                graph::NODE => parts.extend(self.node(&field, depth)?),
                graph::INITIALIZER => {
                    let tensor = Tensor::read(self.source, field.bytes("an initializer")?, None)?;
                    self.remember(&tensor.name)?;
                    self.used(&tensor.name);
                    if !self.owned {
                        self.look_at(&tensor);
                        continue;
                    }
                    if !initializers.insert(tensor.name.clone()) {
                        return Err(bad(
                            format!("the initializer \"{}\" stands twice", tensor.name),
                            field.whole.start,
                        ));
                    }
                    parts.push(Part::Initializer(field.whole, self.push(tensor)?));
                }
                graph::INPUT | graph::OUTPUT | graph::VALUE_INFO => {
                    let name = self.value_name(field.bytes("a value")?)?;
                    // What is known of a value is no use of it.
                    if field.number != graph::VALUE_INFO {
                        self.used(&name);
                    }
                    if field.number == graph::INPUT && self.owned {
                        self.hold(400 + 3 * name.len())?;
                        inputs.insert(name.clone());
                        parts.push(Part::Input(field.whole, name));
                    }
                }
                graph::SPARSE_INITIALIZER => self.sparse(&field)?,
                _ => {}
            }
        }
        // Those of graphs inside this one have their entries already.
        self.inputs.resize(self.tensors.len(), false);
        for part in &parts {
            if let Part::Initializer(_, index) = part {
                self.inputs[*index] = inputs.contains(&self.tensors[*index].name);
            }
        }
        parts.retain(|part| !matches!(part, Part::Input(_, name) if !initializers.contains(name)));
        let casts = std::mem::replace(&mut self.casts, outer);
        self.find_cast_before(&casts, &mut parts);
        Ok(Message { number: field.number, whole: field.whole, inner, is_graph: true, parts })
    }

    /// Finds the tensors of a graph that an earlier cast made, and its nodes among `casts`, which become parts.
    fn find_cast_before(&mut self, casts: &[(Span, CastNode)], parts: &mut Vec<Part>) {
        let by_input: HashMap<&str, &(Span, CastNode)> =
            casts.iter().map(|cast| (cast.1.input.as_str(), cast)).collect();
        let mut found = Vec::new();
        for part in parts.iter() {
            let (Part::Initializer(_, index) | Part::Constant(_, index)) = part else { continue };
            let tensor = &mut self.tensors[*index];
            if let Some((span, node)) = by_input.get(tensor.name.as_str())
                && made_by_cast(&tensor.name).is_some_and(|(_, dtype)| tensor.dtype() == Some(dtype))
            {
                tensor.origin = Some(node.origin.clone());
                found.push(Part::Cast(*span, *index));
            }
        }
        parts.extend(found);
        parts.sort_by_key(|part| part.whole().start);
    }

    /// The index that a tensor gets.
    fn push(&mut self, tensor: Tensor) -> Result<usize> {
        let index = self.tensors.len();
        self.hold(700 + 4 * tensor.name.len() + 24 * tensor.shape.len())?;
        self.tensors.push(tensor);
        Ok(index)
    }

    /// A node, if it holds graphs or is a constant.
    fn node(&mut self, field: &Field, depth: usize) -> Result<Option<Part>> {
        let inner = field.bytes("a node")?;
        let (mut operator, mut standard, mut output, mut counts) = (String::new(), true, None, [0_u64; 2]);
        let (mut inputs, mut label) = (Vec::new(), String::new());
        let mut at = inner.start;
        // What the attributes are is known only when all else is, which may stand behind them.
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                node::INPUT => {
                    let name = self.name(&field)?;
                    self.used(&name);
                    // Of interest is only whether there is more than one.
                    inputs.truncate(1);
                    inputs.push(name);
                }
                node::NAME => label = self.name(&field)?,
                node::OUTPUT => {
                    counts[0] += 1;
                    let name = self.name(&field)?;
                    self.used(&name);
                    output = Some((field.whole, name));
                }
                node::OP_TYPE => operator = self.source.name(field.bytes("an operator")?)?,
                node::DOMAIN => {
                    let domain = self.source.name(field.bytes("a domain")?)?;
                    standard = domain.is_empty() || domain == "ai.onnx";
                }
                node::ATTRIBUTE => counts[1] += 1,
                _ => {}
            }
        }
        let output = output.filter(|(_, name)| !name.is_empty() && standard && self.owned);
        if let (true, [input], Some((_, output)), [1, 1]) =
            (operator == "Cast" && self.mark.is_some(), &inputs[..], &output, counts)
            && let Some(node) = CastNode::read(self.source, inner, &label, input, output)?
        {
            self.casts.push((field.whole, node));
            return Ok(None);
        }
        let output = output.filter(|_| operator == "Constant");
        let mut parts = Vec::new();
        let mut at = inner.start;
        while counts[1] > 0
            && let Some(attribute) = self.source.field(&mut at, inner.end)?
        {
            if attribute.number != node::ATTRIBUTE {
                continue;
            }
            if let Some((whole, name)) = &output
                && counts == [1, 1]
                && let Some(value) = self.value(&attribute)?
            {
                let tensor = Tensor::read(self.source, value.bytes("a tensor")?, Some(name))?;
                let index = self.push(tensor)?;
                let value = vec![Part::Value(value.whole, index)];
                let inside = attribute.bytes("an attribute")?;
                let mut parts = vec![Part::Output(*whole, index)];
                parts.extend(holder(&attribute, inside, value).map(Part::Message));
                // In the order of the file.
                parts.sort_by_key(|part| part.whole().start);
                return Ok(holder(field, inner, parts).map(|message| Part::Constant(message, index)));
            }
            parts.extend(self.attribute(&attribute, depth)?.map(Part::Message));
        }
        Ok(holder(field, inner, parts).map(Part::Message))
    }

    /// The tensor of an attribute `value` of a constant, if that holds nothing else.
    fn value(&mut self, field: &Field) -> Result<Option<Field>> {
        let inner = field.bytes("an attribute")?;
        // IR version 1 had no types of attributes.
        let (mut named, mut typed, mut tensor, mut count) = (false, true, None, 0_u64);
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                attribute::NAME => named = self.source.name(field.bytes("a name")?)? == "value",
                attribute::T => {
                    count += 1;
                    tensor = Some(field);
                }
                attribute::TYPE => typed = field.varint("a type")? == attribute::TENSOR,
                attribute::I
                | attribute::S
                | attribute::G
                | attribute::TENSORS
                | attribute::GRAPHS
                | attribute::SPARSE_TENSOR
                | attribute::SPARSE_TENSORS => count += 1,
                _ => {}
            }
        }
        Ok(tensor.filter(|_| named && typed && count == 1))
    }

    /// An attribute, if it holds graphs.
    fn attribute(&mut self, field: &Field, depth: usize) -> Result<Option<Message>> {
        let inner = field.bytes("an attribute")?;
        let mut parts = Vec::new();
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                attribute::G | attribute::GRAPHS => parts.push(Part::Message(self.graph(&field, depth + 1)?)),
                attribute::T | attribute::TENSORS => self.other_tensor(&field)?,
                attribute::SPARSE_TENSOR | attribute::SPARSE_TENSORS => self.sparse(&field)?,
                _ => {}
            }
        }
        Ok(holder(field, inner, parts))
    }

    fn sparse(&mut self, field: &Field) -> Result<()> {
        let tensors = |number| number == sparse::VALUES || number == sparse::INDICES;
        self.children(field.bytes("a sparse tensor")?, tensors, Self::other_tensor)
    }

    /// A tensor that stays as it is; it may still have a name or a file.
    fn other_tensor(&mut self, field: &Field) -> Result<()> {
        let inner = field.bytes("a tensor")?;
        let (mut name, mut external) = (String::new(), false);
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                tensor::NAME => name = self.name(&field)?,
                tensor::DATA_LOCATION => external = field.varint("a data location")? == tensor::EXTERNAL,
                _ => {}
            }
        }
        if external {
            self.other_external = Some(name);
        }
        Ok(())
    }

    fn look_at(&mut self, tensor: &Tensor) {
        if matches!(tensor.place, super::tensor::Place::External { .. }) {
            self.other_external = Some(tensor.name.clone());
        }
    }

    fn value_name(&mut self, inner: Span) -> Result<String> {
        let mut name = String::new();
        let mut at = inner.start;
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            if field.number == value_info::NAME {
                name = self.name(&field)?;
            }
        }
        Ok(name)
    }
}

fn holder(field: &Field, inner: Span, parts: Vec<Part>) -> Option<Message> {
    let message = Message { number: field.number, whole: field.whole, inner, is_graph: false, parts };
    (!message.parts.is_empty()).then_some(message)
}

//! The walk through the graphs of a model, which finds the tensors and the names that are taken.

use std::collections::{HashMap, HashSet};

use super::{
    cast_node::{CastNode, made_by_cast},
    part::{Message, Part},
    schema::{attribute, graph, node, sparse, tensor, value_info},
    tensor::Tensor,
    wire::{Field, Source, Span, bad},
};
use crate::error::{Error, Result};

/// The deepest nesting of graphs. (Protobuf readers allow a hundred nested messages.)
const DEEPEST: usize = 30;

/// The approximate limit on memory for the structure of a model: enough for 45,000 tensors or inputs. Each takes more memory here than
/// the bytes that a hostile file needs to declare it.
const ROOM: usize = 34 << 20;

/// What is collected during the walk through the graphs.
pub(super) struct Scan<'a> {
    pub(super) source: &'a mut Source,
    /// The text that new names will contain, if tensors are to be renamed. Old names may contain it too.
    mark: Option<&'a str>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) inputs: Vec<bool>,
    pub(super) marked: HashSet<String>,
    /// For names that an earlier cast may have given: how often each occurs as an initializer, input or output.
    pub(super) made: HashMap<String, u64>,
    /// The nodes of the current graph that an earlier cast may have made.
    casts: Vec<(Span, CastNode)>,
    pub(super) other_external: Option<String>,
    /// Whether the walk is in the graphs of the model itself, not in its training information or functions.
    owned: bool,
    /// Bytes of memory that are left.
    room: usize,
}

impl<'a> Scan<'a> {
    /// A scan that has read nothing yet.
    pub(super) fn new(source: &'a mut Source, mark: Option<&'a str>) -> Self {
        Self {
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
        }
    }

    /// Calls `visit` for the fields of a message with these numbers.
    pub(super) fn children(
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

    pub(super) fn node_of_other(&mut self, field: &Field) -> Result<()> {
        let owned = std::mem::replace(&mut self.owned, false);
        let done = self.node(field, 0).map(drop);
        self.owned = owned;
        done
    }

    pub(super) fn graph_of_other(&mut self, field: &Field) -> Result<()> {
        let owned = std::mem::replace(&mut self.owned, false);
        let done = self.graph(field, 0).map(drop);
        self.owned = owned;
        done
    }

    /// Takes `bytes` of the room; fails if there is less.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<()> {
        let left = self.room.checked_sub(bytes).ok_or_else(|| {
            Error::unsupported("the model has more tensors, inputs or graphs than this program reads")
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

    /// Counts a name where a value is defined or used.
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

    pub(super) fn graph(&mut self, field: &Field, depth: usize) -> Result<Message> {
        let inner = field.bytes("a graph")?;
        if depth > DEEPEST {
            return Err(bad(format!("graphs nested more than {DEEPEST} deep"), inner.start));
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
                            format!("the initializer \"{}\" occurs twice", tensor.name),
                            field.whole.start,
                        ));
                    }
                    parts.push(Part::Initializer(field.whole, self.push(tensor)?));
                }
                graph::INPUT | graph::OUTPUT | graph::VALUE_INFO => {
                    let name = self.value_name(field.bytes("a value")?)?;
                    // Type information about a value is not a use of it.
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
        // The tensors of subgraphs have their entries already.
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

    /// Finds the tensors of a graph that an earlier cast made; their nodes in `casts` become parts.
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

    /// Adds a tensor and returns its index.
    fn push(&mut self, tensor: Tensor) -> Result<usize> {
        let index = self.tensors.len();
        self.hold(700 + 4 * tensor.name.len() + 24 * tensor.shape.len())?;
        self.tensors.push(tensor);
        Ok(index)
    }

    /// Reads a node; returns it if it contains graphs or is a constant.
    fn node(&mut self, field: &Field, depth: usize) -> Result<Option<Part>> {
        let inner = field.bytes("a node")?;
        let (mut operator, mut standard, mut output, mut counts) = (String::new(), true, None, [0_u64; 2]);
        let (mut inputs, mut label) = (Vec::new(), String::new());
        let mut at = inner.start;
        // The attributes can only be interpreted once the other fields are known, which may come after them.
        while let Some(field) = self.source.field(&mut at, inner.end)? {
            match field.number {
                node::INPUT => {
                    let name = self.name(&field)?;
                    self.used(&name);
                    // It only matters whether there is more than one.
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

    /// The tensor of a constant's attribute `value`, if that holds nothing else.
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

    /// Reads an attribute; returns it if it contains graphs.
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

    /// Reads a tensor that is not changed; it may still have a name or external elements.
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

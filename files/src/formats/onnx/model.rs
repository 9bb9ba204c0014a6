//! A model: its graphs with their initializers and the values of their `Constant` nodes, at any depth, and what is needed to change
//! them.

use std::collections::HashSet;

use super::{
    part::Message,
    scan::Scan,
    schema::{function, model, opset, training},
    tensor::{Tensor, key_and_value},
    wire::{Field, Source, Span, bad},
};
use crate::error::{Error, Result};

/// The largest size of a protobuf message in bytes.
pub const LARGEST: u64 = i32::MAX as u64;

/// A model.
#[derive(Debug)]
pub struct Model {
    /// `ir_version`, and the bytes of its field.
    pub ir_version: (u64, Span),
    /// The domain and version of each `opset_import`.
    pub opsets: Vec<(String, u64)>,
    /// The graph.
    pub graph: Message,
    /// The initializers and constants of all graphs, in the order of the file.
    pub tensors: Vec<Tensor>,
    /// For each tensor, whether it is also an input of its graph.
    pub inputs: Vec<bool>,
    /// The names that contain the mark.
    pub marked: HashSet<String>,
    /// The name of a tensor that is not in `tensors` but has its elements in another file.
    pub other_external: Option<String>,
    /// Whether it has training information.
    pub has_training: bool,
    /// The metadata: pairs of key and text.
    pub metadata: Vec<(String, String)>,
}

impl Model {
    /// Reads the structure of a model, and collects the names that contain `mark`.
    pub fn read(source: &mut Source, mark: Option<&str>) -> Result<Self> {
        let all = source.all();
        if all.len() > LARGEST {
            return Err(Error::format(format!(
                "the file has {} bytes, more than a model may have",
                all.len()
            )));
        }
        let mut scan = Scan::new(source, mark);
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
            return Err(Error::format("the file has no graph, so it is not an ONNX model"));
        };
        let Some(ir_version) = ir_version else {
            return Err(Error::format("the file has no IR version, so it is not an ONNX model"));
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
            // The name occurs where the tensor is defined and in its Cast node. If anything else uses it, it must stay.
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
            // Before IR version 3 there were no imports, and only one opset.
            (None, _) if self.ir_version.0 < 3 => Ok(1),
            (None, _) => Err(Error::unsupported("the model imports no opset of the default domain")
                .advise("import an opset that has Cast")),
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

//! `.onnx`: a model, whose initializers and constants are the tensors.
//!
//! *Law.* Everything that does not have to change stays byte for byte the same: fields are found by their numbers and copied,
//! including fields from later versions of ONNX. And the model keeps its meaning: when an initializer `W` is cast, the result is
//! called `W__bfloat16`, and a `Cast` node at the start of the graph makes `W` from it. All uses of `W`, in this graph or in its
//! subgraphs, still find it, in its old dtype. The output `W` of a `Constant` node is treated the same way; its `Cast` node follows
//! the `Constant`.
//!
//! Tensors of fewer than [`recast::SMALL`] elements are not cast unless an include names them. Most are not weights but settings of
//! operators: an exponent, a bound, or the small number that keeps a divisor from zero, which a narrow dtype would round to zero.
//! Some, such as the scales of `Resize`, must be known when shapes are inferred, and inference does not look through a `Cast`. And
//! the node takes more bytes than so few elements can save.
//!
//! *Method.* The structure is read once, without the elements ([`model`]). The new model is a rope ([`wire::Rope`]) of new bytes,
//! pieces of the old file, and tensors. It is written from front to back, and each tensor is cast as a stream.

mod cast_node;
mod model;
mod nodes;
mod part;
mod recast;
mod scan;
mod schema;
mod tensor;
mod wire;

use std::{io::Read, path::PathBuf};

use self::{model::Model, recast::Recast, tensor::Tensor, wire::Source};
use super::{
    format::{Contents, FileFormat, Job, NewTensor, Place, Probe, TensorInfo, Work},
    input::Input,
};
use crate::{
    error::{Error, Result},
    extensions,
    output::Output,
    path::folder,
    settings::in_files,
};

/// The most fields that are read to recognise a model. (Each opset import and each function is one field.)
const MAX_PROBED: usize = 10_000;

/// The format.
#[derive(Debug)]
pub struct Onnx;

impl FileFormat for Onnx {
    fn name(&self) -> &'static str {
        "onnx"
    }

    fn extensions(&self) -> &'static [&'static str] {
        extensions::ONNX
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    /// The format has no magic number. A file is a model if its fields fill it exactly and include an IR version and a graph.
    fn recognizes(&self, probe: &mut Probe<'_>) -> bool {
        let Ok(file) = probe.file.try_clone() else { return false };
        let mut source = Source::new(file, probe.length);
        let (mut at, mut version, mut graph) = (0, false, false);
        for _ in 0..MAX_PROBED {
            match source.field(&mut at, probe.length) {
                Ok(Some(field)) => match field.number {
                    schema::model::IR_VERSION => version |= field.varint("").is_ok(),
                    schema::model::GRAPH => graph |= field.bytes("").is_ok(),
                    _ => {}
                },
                Ok(None) => return version && graph,
                Err(_) => return false,
            }
        }
        false
    }

    fn open(&self, input: Input) -> Result<Box<dyn Contents>> {
        let mut source = Source::new(input.file, input.length);
        let model = Model::read(&mut source, None)?;
        let tensors = model.tensors.iter().map(info).collect();
        Ok(Box::new(Opened { source, folder: folder(&input.path), model, tensors }))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    fn write(&self, _: &[NewTensor<'_>], _: &[(String, String)], _: &mut Output) -> Result<()> {
        Err(Error::unsupported("an ONNX model cannot be made from tensors alone")
            .advise("write another format"))
    }
}

/// A model opened to be read.
#[derive(Debug)]
struct Opened {
    source: Source,
    folder: PathBuf,
    model: Model,
    tensors: Vec<TensorInfo>,
}

impl Contents for Opened {
    fn tensors(&self) -> &[TensorInfo] {
        &self.tensors
    }

    fn metadata(&self) -> &[(String, String)] {
        &self.model.metadata
    }

    fn reader(&mut self, index: usize) -> Result<Box<dyn Read + '_>> {
        self.model.tensors[index].reader(&mut self.source, &self.folder)
    }
}

/// A tensor as the caller sees it.
fn info(tensor: &Tensor) -> TensorInfo {
    TensorInfo {
        name: tensor.name.clone(),
        buffer: tensor.dtype().map(in_files),
        described: tensor.type_name(),
        shape: Some(tensor.shape.clone()),
        fortran_order: false,
        elements: Some(tensor.elements),
        bytes: tensor.bytes,
        place: match &tensor.place {
            tensor::Place::Raw(span) => Place::File(span.start..span.end),
            tensor::Place::Typed => Place::Encoded,
            tensor::Place::External { location, offset } => {
                Place::External { location: location.clone(), offset: *offset }
            }
        },
        compression: None,
    }
}

//! `.onnx`: a model, whose initializers and constants are the tensors.
//!
//! *Law.* What this program does not have to change stays as it is, to the byte: fields are found by their numbers and copied,
//! also those that a later version of ONNX brings. And the model keeps its meaning: of an initializer `W` that is cast, the new
//! form is called `W__bfloat16`, and a `Cast` node, first in the graph, makes `W` of it. Whatever uses `W`, in this graph or in
//! those inside it, still finds it, with its old dtype. With a node `Constant` and its output `W` it is the same, and the `Cast`
//! node follows it.
//!
//! Tensors of fewer than [`recast::SMALL`] elements are left alone unless they are asked for by name. Most are not weights but settings of
//! operators: an exponent, a bound, the small number that keeps a divisor from zero, which a narrow dtype makes zero. Some have to
//! be known when shapes are inferred, such as the scales of `Resize`, and inference does not look through a `Cast`. And the node
//! takes more bytes than so few elements can save.
//!
//! *Method.* The structure is read once, without the elements ([`model`]). The new model is a rope ([`wire::Rope`]) of new bytes,
//! pieces of the old file and tensors; it is written from front to back, each tensor cast as a stream.

mod model;
mod nodes;
mod recast;
mod scan;
mod schema;
mod tensor;
mod wire;

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use self::{model::Model, recast::Recast, tensor::Tensor, wire::Source};
use super::{Contents, FileFormat, Input, Job, NewTensor, Place, Probe, TensorInfo, Work};
use crate::{
    error::{Error, Result},
    output::Output,
    settings::in_files,
};

/// Fields of a model that are looked at to recognise one. (Each import of an opset and each function is one.)
const MAX_PROBED: usize = 10_000;

/// The format.
#[derive(Debug)]
pub struct Onnx;

impl FileFormat for Onnx {
    fn name(&self) -> &'static str {
        "onnx"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["onnx"]
    }

    fn help(&self) -> &'static str {
        include_str!("help.txt")
    }

    /// The format has no magic number. Its fields have to fill the file, an IR version and a graph among them.
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
        Ok(Box::new(Opened { source, folder: folder_of(&input.path), model, tensors }))
    }

    fn plan<'a>(&self, input: Input, job: &'a Job) -> Result<Box<dyn Work + 'a>> {
        Ok(Box::new(Recast::new(input, job)?))
    }

    fn write(&self, _: &[NewTensor<'_>], _: &[(String, String)], _: &mut Output) -> Result<()> {
        Err(Error::unsupported("tensors alone are no ONNX model").advise("write another format"))
    }
}

/// A model that is read.
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

fn quoted(name: &str) -> String {
    super::quoted("tensor", name)
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

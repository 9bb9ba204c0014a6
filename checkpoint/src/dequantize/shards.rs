//! The new shards: what is in each, and how it is written.

use std::{io::Write, path::Path};

use lanecast::DType;
use lanecast_files::{Error, Result, formats::Declared, formats::safetensors_header};
use serde_json::Value;

use super::{Job, Step};
use crate::{
    checkpoint::{Checkpoint, Content, FP8, Tensor, little},
    layouts::COMFY_METADATA,
};

/// A file of the output.
pub(super) struct Shard {
    pub(super) name: String,
    /// The indices of its tensors.
    contents: Vec<usize>,
    declared: Vec<Declared>,
    /// Whether each tensor is decoded.
    decoded: Vec<bool>,
    metadata: Vec<(String, String)>,
}

impl Shard {
    /// The files that have tensors, in the order of the checkpoint.
    pub(super) fn all(checkpoint: &Checkpoint, to: DType) -> Vec<Self> {
        let source = &checkpoint.source;
        let single = source.files.len() == 1;
        let name = |name: &str| match crate::folder::plain_name(name) {
            Some(_) if single => crate::source::SINGLE.to_owned(),
            Some(plain) => plain,
            None => name.to_owned(),
        };
        let empty = |file: &crate::source::TensorsFile| Self {
            name: name(&file.name),
            contents: Vec::new(),
            declared: Vec::new(),
            decoded: Vec::new(),
            metadata: plain_metadata(&file.metadata),
        };
        let mut shards: Vec<Self> = source.files.iter().map(empty).collect();
        for (index, (tensor, content)) in checkpoint.tensors().iter().zip(&checkpoint.contents).enumerate() {
            let shard = &mut shards[source.tensors[content.id()].file];
            let shape = tensor.shape.iter().map(|axis| *axis as u64).collect();
            let dtype = target(tensor, content, to);
            shard.decoded.push(tensor.dtype != Some(dtype));
            shard.declared.push(Declared { name: tensor.name.clone(), dtype, shape });
            shard.contents.push(index);
        }
        // Shards of scales only.
        if shards.iter().any(|shard| !shard.contents.is_empty()) {
            shards.retain(|shard| !shard.contents.is_empty());
        }
        shards
    }

    /// Whether one of its tensors is decoded.
    pub(super) fn decodes(&self) -> bool {
        self.decoded.contains(&true)
    }

    /// Bytes of its tensors.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |tensor: &Declared| {
            let n = tensor.shape.iter().product::<u64>();
            usize::try_from(n).ok().and_then(|n| little(tensor.dtype).byte_len(n)).unwrap_or(usize::MAX)
                as u64
        };
        self.declared.iter().map(bytes).fold(0, u64::saturating_add)
    }

    /// The names of its tensors.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().map(|tensor| &*tensor.name)
    }

    /// Writes the file `path`.
    pub(super) fn write(&self, job: &mut Job<'_, '_>, out: &mut dyn Write, path: &Path) -> Result<()> {
        let written = |e: std::io::Error| Error::writing(&e).at_path(path);
        let (head, order) =
            safetensors_header(&self.declared, &self.metadata).map_err(|e| e.in_path(path))?;
        out.write_all(&head).map_err(written)?;
        let checkpoint = job.checkpoint;
        for place in order {
            let (index, declared) = (self.contents[place], &self.declared[place]);
            let (tensor, content) = (&checkpoint.tensors()[index], &checkpoint.contents[index]);
            job.check()?;
            checkpoint.decode_content(content, declared.dtype, false, &mut |bytes| {
                out.write_all(bytes).map_err(written)?;
                job.report.bytes_out += bytes.len() as u64;
                if let Some(progress) = &mut job.callbacks.progress {
                    let (done, total) = (job.report.bytes_out, job.total);
                    progress(Step { file: &self.name, tensor: &tensor.name, done, total });
                }
                job.check()
            })?;
            job.report.warnings.extend(checkpoint.doubt(content)?);
            job.report.bytes_in += tensor.stored_bytes;
            match self.decoded[place] {
                true => job.report.tensors_decoded += 1,
                false => job.report.tensors_copied += 1,
            }
        }
        Ok(())
    }
}

/// The dtype of a tensor in the output.
fn target(tensor: &Tensor, content: &Content, to: DType) -> DType {
    match (content, tensor.dtype) {
        // 8-bit floats without scales are decoded too: few loaders read them, and the cast is exact.
        (Content::Plain(_), Some(dtype)) if !FP8.contains(&dtype) => dtype,
        _ => to,
    }
}

/// The metadata of a header without what describes quantization: the layers of ComfyUI, the classes of torchao.
fn plain_metadata(metadata: &[(String, String)]) -> Vec<(String, String)> {
    let is_class = |text: &str| {
        let value: Option<Value> = serde_json::from_str(text).ok();
        value.is_some_and(|value| value.get("_type").is_some())
    };
    let kept =
        |(key, text): &&(String, String)| key != COMFY_METADATA && key != "tensor_names" && !is_class(text);
    metadata.iter().filter(kept).cloned().collect()
}

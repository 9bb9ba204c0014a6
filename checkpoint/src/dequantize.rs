//! [`dequantize`]: a checkpoint in, a plain checkpoint out.
//!
//! *Law.* The output has the weights decoded, all other tensors as they are, and a configuration without quantization. It appears complete
//! or not at all.
//!
//! *Method.* The plan has all tensors of the checkpoint; `write` writes it to a folder of a temporary name beside the output, which is then
//! renamed.

use std::path::Path;

use lanecast::DType;
use lanecast_files::{Result, formats::Declared};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    checkpoint::{Checkpoint, Content, FP8, Tensor},
    config,
    error::request,
    gguf,
    layouts::COMFY_METADATA,
    named,
    prepared::{Outcome, Prepared},
    source::{Elements, Source},
    write::{
        Callbacks, Cut, GGUF_NAMES, NewTensor, Notes, Plan, Written, becomes_file, copied_files,
        gguf_metadata, name_shards, names_gguf,
    },
};

/// Files that describe the quantization, or are rewritten.
pub(crate) const REPLACED: &[&str] =
    &["config.json", "hf_quant_config.json", "quantize_config.json", "quant_config.json"];

/// What [`dequantize`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The dtype of decoded weights: float16, bfloat16 or float32.
    #[serde(with = "named")]
    pub to: DType,
    /// Whether scales, biases and tables may be NaN or infinite. Otherwise such numbers are an error.
    pub allow_nan: bool,
    /// Whether the output may exist. It is then replaced, with all files that are in it.
    pub replace: bool,
    /// The threads that read and compute, beside the one that writes. `None` takes as many as there are cores, and at most eight.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Options {
    /// Decodes to `to`, and refuses scales that are not finite and outputs that exist.
    pub fn to(to: DType) -> Self {
        Self { to, allow_nan: false, replace: false, threads: None }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The layout of the weights.
    pub layout: String,
    /// The dtype of decoded weights.
    pub to: String,
    /// Weights that were decoded.
    pub tensors_decoded: usize,
    /// Tensors that were copied.
    pub tensors_copied: usize,
    /// Tensors that the output does not have: scales and other companions of weights, and scales of activations.
    pub tensors_dropped: usize,
    /// Bytes of tensors that were read, with their scales.
    pub bytes_in: u64,
    /// Bytes of tensors that were written.
    pub bytes_out: u64,
    /// The files that were written, by their paths in the output.
    pub files: Vec<String>,
    /// What a reader should know about the checkpoint.
    pub warnings: Vec<String>,
}

/// Decodes all weights of the checkpoint `src`, and writes a plain checkpoint to the folder `dst`.
///
/// Weights get the dtype `to`, and so do 8-bit floats without scales. All other tensors keep theirs. Shards keep their names; companions of
/// the weights are dropped, and so is the description of the quantization in `config.json`, whose dtype becomes `to`. All files that are no
/// weights are copied. A single `.safetensors` file may become a file: `dst` then has this extension. A GGUF model may become a `.gguf` file
/// with the same names and metadata. Otherwise its tensors keep their names, and the metadata goes to `gguf_metadata.json`: the folder is no
/// model that transformers loads.
///
/// ```no_run
/// use lanecast::DType;
/// use lanecast_checkpoint::{Callbacks, Options, dequantize};
/// let options = Options::to(DType::BFloat16);
/// let report = dequantize("DeepSeek-V3".as_ref(), "DeepSeek-V3-bf16".as_ref(), &options, Callbacks::default())?;
/// println!("{} weights decoded", report.tensors_decoded);
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`Checkpoint::open`] and [`Checkpoint::read`]; [`Error::Request`](crate::Error::Request) if `to` is another dtype, or one folder
/// is in the other; [`Error::Exists`](crate::Error::Exists) if `dst` exists, is not empty and may not be replaced;
/// [`Error::Cancelled`](crate::Error::Cancelled). Nothing is left of the output then.
pub fn dequantize(src: &Path, dst: &Path, options: &Options, mut callbacks: Callbacks<'_>) -> Result<Report> {
    let decoding = Decoding::open(src, dst, options)?;
    let written = decoding.plan(dst)?.write(dst, options.replace, &mut callbacks)?;
    decoding.report(written)
}

/// A checkpoint to decode.
pub(crate) struct Decoding {
    checkpoint: Checkpoint,
    options: Options,
    /// Whether names of GGUF are in an output that is none.
    loses_names: bool,
}

impl Decoding {
    /// The output `dst` says by its name whether it is a GGUF file.
    pub(crate) fn open(src: &Path, dst: &Path, options: &Options) -> Result<Self> {
        if !matches!(options.to, DType::Float16 | DType::BFloat16 | DType::Float32) {
            return Err(request(format!(
                "weights decode to float16, bfloat16 or float32, not to {}",
                options.to
            )));
        }
        let opened = Checkpoint::open(src)?;
        let checkpoint = if options.allow_nan { opened.with_nan_allowed() } else { opened };
        if !tensors(&checkpoint, options.to).iter().any(|tensor| tensor.is_changed) {
            return Err(request("the checkpoint has no quantized weights").at_path(src));
        }
        let loses_names = checkpoint.source.gguf.is_some() && !names_gguf(dst);
        Ok(Self { checkpoint, options: *options, loses_names })
    }

    fn report(&self, written: Written) -> Result<Report> {
        let checkpoint = &self.checkpoint;
        let mut report = Report {
            layout: checkpoint.layout().to_owned(),
            to: self.options.to.name().to_owned(),
            tensors_decoded: written.changed,
            tensors_copied: written.copied,
            tensors_dropped: checkpoint.source.tensors.len() - checkpoint.tensors().len(),
            bytes_in: written.bytes_in,
            bytes_out: written.bytes_out,
            files: written.files,
            warnings: checkpoint.warnings().to_vec(),
        };
        if self.loses_names {
            report.warnings.push(GGUF_NAMES.to_owned());
        }
        report.warnings.extend(written.notes.warnings);
        report.warnings.extend(checkpoint.unequal_factors()?);
        Ok(report)
    }
}

impl Prepared for Decoding {
    fn source(&self) -> &Source {
        &self.checkpoint.source
    }

    fn replaces(&self) -> bool {
        self.options.replace
    }

    fn plan(&self, dst: &Path) -> Result<Plan<'_>> {
        let (source, to) = (&self.checkpoint.source, self.options.to);
        let new = tensors(&self.checkpoint, to);
        let shards = if names_gguf(dst) {
            let elements = |tensor: &NewTensor<'_>| Elements::Plain(tensor.declared.dtype);
            vec![gguf::shard(source, new, dst, &Elements::Plain(to), elements)?]
        } else {
            name_shards(source, new, Cut::Keep, |file| plain_metadata(&source.files[file].metadata))
        };
        let is_file = becomes_file(source, shards.len(), dst)?;
        let config = source.config.as_ref().filter(|_| source.is_folder);
        let config = config.map(|config| ("config.json", config::plain(&config.text, to.name())));
        Ok(Plan {
            shards,
            copied: if is_file { Vec::new() } else { copied_files(source, REPLACED)? },
            texts: config.into_iter().chain(gguf_metadata(source)).collect(),
            index: source.index.as_ref().map(|index| &index.value),
            is_file,
            threads: self.options.threads,
        })
    }

    fn outcome(&self, written: Written) -> Result<Outcome> {
        Ok(Outcome::Dequantize(self.report(written)?))
    }
}

/// The tensors of the output.
pub(crate) fn tensors<'a>(checkpoint: &'a Checkpoint, to: DType) -> Vec<NewTensor<'a>> {
    let new = |(tensor, content): (&'a Tensor, &'a Content)| {
        let dtype = target(tensor, content, to);
        let shape = tensor.shape.iter().map(|axis| *axis as u64).collect();
        NewTensor {
            declared: Declared { name: tensor.name.clone(), dtype, shape },
            file: checkpoint.source.tensors[content.id()].file,
            bytes_in: tensor.stored_bytes,
            is_changed: tensor.dtype != Some(dtype),
            part: checkpoint.part(content, dtype),
            produce: Box::new(move |range, sink| {
                let is_first = range.start == 0;
                checkpoint.decode_bytes(content, dtype, range, sink)?;
                // What is doubtful about the tensor is said once.
                let warnings = if is_first { checkpoint.doubts(content)? } else { Vec::new() };
                Ok(Notes { warnings, ..Notes::default() })
            }),
        }
    };
    checkpoint.tensors().iter().zip(&checkpoint.contents).map(new).collect()
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
pub(crate) fn plain_metadata(metadata: &[(String, String)]) -> Vec<(String, String)> {
    let is_class = |text: &str| {
        let value: Option<Value> = serde_json::from_str(text).ok();
        value.is_some_and(|value| value.get("_type").is_some())
    };
    let kept =
        |(key, text): &&(String, String)| key != COMFY_METADATA && key != "tensor_names" && !is_class(text);
    metadata.iter().filter(kept).cloned().collect()
}

//! [`quantize`]: a plain checkpoint in, a quantized one that loaders take out; and [`requantize`], from one layout to another.
//!
//! *Law.* A code is the one nearest to the exact quotient of the element by the stored scale. What the layouts differ in are names, dtypes,
//! packing and descriptions, never values. The output appears complete or not at all.
//!
//! *Method.* `choose` decides by options and `names` which tensors are weights, and with which `scheme`. A first pass over weights with a
//! scale for the tensor finds largest magnitudes. A [`Layout`](layout::Layout) then lists the tensors of each weight. `cast` and `table` make
//! their bytes band by band of a [`Matrix`](matrix::Matrix), and `write` writes them.

mod bitsandbytes;
mod cast;
mod choose;
mod comfy;
mod compressed;
mod deepseek;
#[cfg(test)]
mod divisions;
mod gguf;
mod gpt_oss;
mod kept;
mod layout;
mod matrix;
mod modelopt;
mod mxfp8;
mod names;
mod scheme;
mod table;

use std::{cmp::Reverse, collections::HashMap, path::Path, sync::Arc};

use lanecast::{Bytes, DType, gguf::BlockFormat, scaled::Amax};
use lanecast_files::{Result, formats::Declared};
use serde::Serialize;

pub(crate) use names::{FUSED, Stacked, fused, set_of, stack, stacked};
pub use {layout::QuantLayout, scheme::QuantScheme};

use crate::{
    checkpoint::{Checkpoint, Content, little},
    config,
    dequantize::{REPLACED, plain_metadata},
    error::{invalid, lost, request, unsupported},
    source::Elements,
    write::{
        Callbacks, Cut, NewTensor, Notes, Plan, Shard, becomes_file, check_apart, copied_files, name_shards,
        names_gguf, pretty,
    },
};
use choose::{Chosen, choose};
use kept::{Kept, Room};
use layout::{Layout, Make, Maker, Output};
use matrix::Matrix;

/// What [`quantize`] and [`requantize`] do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantizeOptions {
    /// The codes of weights.
    pub scheme: QuantScheme,
    /// How they are stored.
    pub layout: QuantLayout,
    /// Schemes of weights whose names match a glob. The first match wins, and such weights are quantized even if they would stay by their
    /// names.
    pub map: Vec<(String, QuantScheme)>,
    /// Globs of the names of weights that stay as they are.
    pub ignore: Vec<String>,
    /// Whether the scales of `nf4` and `fp4` are quantized themselves.
    pub double_quant: bool,
    /// Whether the output may exist. It is then replaced, with all files that are in it.
    pub replace: bool,
    /// The threads that read and compute, beside the one that writes. `None` takes as many as there are cores, of which eight are enough.
    pub threads: Option<usize>,
}

impl QuantizeOptions {
    /// One scheme for all weights that do not stay by their names. An output that exists is an error.
    pub fn new(scheme: QuantScheme, layout: QuantLayout) -> Self {
        let (map, ignore) = (Vec::new(), Vec::new());
        Self { scheme, layout, map, ignore, double_quant: false, replace: false, threads: None }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QuantizeReport {
    /// The layout of the output.
    pub layout: String,
    /// The scheme of weights that no pattern names.
    pub scheme: String,
    /// Weights of the output that were quantized.
    pub weights_quantized: usize,
    /// Tensors that were copied.
    pub tensors_copied: usize,
    /// Modules with a matrix that stays as it is, as the configuration lists them.
    pub ignored: Vec<String>,
    /// Bytes of tensors that were read. The first pass is not counted.
    pub bytes_in: u64,
    /// Bytes of tensors that were written.
    pub bytes_out: u64,
    /// The files that were written, by their paths in the output; none if it is one file.
    pub files: Vec<String>,
    /// What a reader should know about the result.
    pub warnings: Vec<String>,
}

/// A weight that is quantized.
#[derive(Clone, Debug)]
struct Weight {
    /// Its module: the name without `.weight`.
    module: String,
    scheme: QuantScheme,
    matrix: Matrix,
    /// Whether values must stay as they are.
    lossless: bool,
    /// The largest magnitude of the weight and of those that share its scale, if the scheme has a scale of the tensor.
    amax: f32,
    /// The mean of the largest magnitudes of its blocks, if these are quantized.
    offset: f32,
}

/// Quantizes the weights of the plain checkpoint `src`, and writes a checkpoint to `dst` that loaders of the layout take, with the
/// description of the quantization.
///
/// Weights are the matrices `*.weight` of linear modules. Norms, embeddings, routers, heads, convolutions and vision towers stay unless a
/// pattern of [`map`](QuantizeOptions::map) names them; so do weights whose columns no whole block divides. Codes are rounded to the nearest
/// for the stored scale; nothing is calibrated. Weights that a runtime fuses share the scale of the tensor.
///
/// `src` is a folder and becomes a folder; for [`QuantLayout::Comfy`] it may be a `.safetensors` file and become one. For [`QuantLayout::Gguf`]
/// both are `.gguf` files: names and metadata are kept, and so are the types of what `llama-quantize` leaves out. Shards keep their names, and
/// all files that are no weights are copied. Memory holds bands of rows. Weights whose scales are far from the codes in the file are read twice.
///
/// ```no_run
/// use lanecast_checkpoint::{Callbacks, QuantLayout, QuantScheme, QuantizeOptions, quantize};
/// let options = QuantizeOptions::new(QuantScheme::Nvfp4, QuantLayout::CompressedTensors);
/// let report = quantize("Qwen3-8B".as_ref(), "Qwen3-8B-NVFP4".as_ref(), &options, Callbacks::default())?;
/// println!("{} weights quantized", report.weights_quantized);
/// # Ok::<(), lanecast_checkpoint::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`Checkpoint::open`]; [`Error::Request`](crate::Error::Request) if the layout has no such scheme, the checkpoint is quantized, a
/// pattern matches nothing, no weight is quantized, experts are stacked in an unknown way, or one folder is in the other;
/// [`Error::Loss`](crate::Error::Loss) if a weight has a NaN or an infinity; [`Error::Exists`](crate::Error::Exists) if `dst` exists, is not
/// empty and may not be replaced; [`Error::Cancelled`](crate::Error::Cancelled). Nothing is left of the output then.
pub fn quantize(
    src: &Path,
    dst: &Path,
    options: &QuantizeOptions,
    callbacks: Callbacks<'_>,
) -> Result<QuantizeReport> {
    options.layout.check(options)?;
    let checkpoint = open(src, options.layout)?;
    let mut contents = checkpoint.contents.iter();
    if contents.any(|content| !matches!(content, Content::Plain(_))) {
        let what = format!(
            "the checkpoint is quantized (layout {}); dequantize it first, or requantize it without loss",
            checkpoint.layout()
        );
        return Err(request(what).at_path(src));
    }
    run(&checkpoint, dst, options, callbacks, false)
}

/// Writes the quantized weights of the checkpoint `src` with other codes of the same values: MXFP4 as 8-bit floats in tiles, for example.
///
/// Scales of the output are powers of two. All weights that are quantized in `src` get the scheme; all other tensors stay.
///
/// # Errors
///
/// As [`quantize`]. [`Error::Loss`](crate::Error::Loss) names the first element that the scheme cannot hold; zeros may lose their signs.
/// [`Error::Request`](crate::Error::Request) if the checkpoint is not quantized, or if a scheme has no powers of two as scales.
pub fn requantize(
    src: &Path,
    dst: &Path,
    options: &QuantizeOptions,
    callbacks: Callbacks<'_>,
) -> Result<QuantizeReport> {
    options.layout.check(options)?;
    let asked = || options.map.iter().map(|(_, scheme)| *scheme).chain([options.scheme]);
    if let Some(scheme) = asked().find(|scheme| !scheme.has_powers()) {
        let have = QuantScheme::NAMED.iter().filter(|(_, scheme)| scheme.has_powers());
        let have = scheme::listed(have.map(|(name, _)| *name));
        let what =
            format!("{scheme} has no scales that are powers of two, which keep every digit, as {have} have");
        return Err(request(what));
    }
    let checkpoint = open(src, options.layout)?;
    if checkpoint.layout() == "plain" {
        return Err(request("the checkpoint has no quantized weights; quantize it").at_path(src));
    }
    run(&checkpoint, dst, options, callbacks, true)
}

fn open(src: &Path, layout: QuantLayout) -> Result<Checkpoint> {
    let checkpoint = Checkpoint::open(src)?;
    match (checkpoint.source.gguf.is_some(), layout == QuantLayout::Gguf) {
        (true, false) => {
            let what = "GGUF names tensors as no loader of the layout does; the layout gguf keeps the names";
            Err(unsupported(what).at_path(src))
        }
        (false, true) => {
            let what = "the layout gguf quantizes only .gguf files: other checkpoints lack the names and the metadata of GGUF";
            Err(request(what).at_path(src))
        }
        _ => Ok(checkpoint),
    }
}

fn run(
    checkpoint: &Checkpoint,
    dst: &Path,
    options: &QuantizeOptions,
    mut callbacks: Callbacks<'_>,
    again: bool,
) -> Result<QuantizeReport> {
    let (source, layout) = (&checkpoint.source, options.layout.target());
    let is_comfy = options.layout == QuantLayout::Comfy;
    if is_comfy && source.files.len() != 1 {
        return Err(request("ComfyUI loads one file, and the checkpoint has several").at_path(&source.folder));
    }
    let is_gguf = options.layout == QuantLayout::Gguf;
    if is_gguf != names_gguf(dst) {
        let what =
            format!("the layout gguf is written to a .gguf file, and the layout is {}", options.layout);
        return Err(request(what).at_path(dst));
    }
    if !is_comfy && !is_gguf && !source.is_folder {
        let what = format!(
            "the layout {} is described in config.json; give the folder of the model",
            options.layout
        );
        return Err(request(what).at_path(&source.files[0].path));
    }
    let is_file = becomes_file(source, source.files.len(), dst)?;
    let mut chosen = choose(checkpoint, options, layout, again)?;
    measure(checkpoint, &mut chosen.weights, options, &callbacks)?;
    let mut report = QuantizeReport {
        layout: options.layout.to_string(),
        scheme: options.scheme.to_string(),
        weights_quantized: chosen.weights.len(),
        ignored: chosen.ignored.clone(),
        warnings: [checkpoint.warnings(), &chosen.warnings].concat(),
        ..QuantizeReport::default()
    };
    let mut texts = Vec::new();
    if let Some(quantization) = layout.config(&chosen, options) {
        let text = match &source.config {
            Some(config) if config.value.is_object() => &config.text,
            Some(config) => return Err(invalid("the configuration is no JSON object").at_path(&config.path)),
            None => {
                let what = format!(
                    "{}: the folder has no config.json; the output has one for the quantization only",
                    source.folder.display()
                );
                report.warnings.push(what);
                "{}"
            }
        };
        texts.push(("config.json", config::quantized(text, &quantization)));
    } else if let Some(config) = source.config.as_ref().filter(|_| source.is_folder) {
        texts.push(("config.json", config.text.clone()));
    }
    if let Some(text) = layout.hf_quant_config(&chosen, options).as_ref().and_then(pretty) {
        texts.push(("hf_quant_config.json", text));
    }
    let metadata = |file: usize| {
        let mut metadata = plain_metadata(&source.files[file].metadata);
        metadata.extend(layout.metadata(&chosen.weights));
        metadata
    };
    let new = tensors(checkpoint, &chosen, layout, options);
    let shards = match gguf::format(options.scheme).filter(|_| is_gguf) {
        Some(format) => vec![gguf_shard(checkpoint, &chosen, new, dst, format)?],
        None => name_shards(source, new, Cut::Keep, metadata),
    };
    let index = source.index.as_ref().map(|index| &index.value);
    let copied = if is_file { Vec::new() } else { copied_files(source, REPLACED)? };
    let plan = Plan { shards, copied, texts, index, threads: options.threads };
    let written = if is_file {
        plan.write_file(dst, options.replace, &mut callbacks)?
    } else {
        check_apart(&source.folder, dst, source.is_folder)?;
        plan.write_folder(dst, options.replace, &mut callbacks)?
    };
    (report.tensors_copied, report.files) = (written.copied, written.files);
    (report.bytes_in, report.bytes_out) = (written.bytes_in, written.bytes_out);
    report.warnings.extend(written.notes.warnings);
    Ok(report)
}

/// The GGUF file, whose main blocks have this format.
fn gguf_shard<'a>(
    checkpoint: &Checkpoint,
    chosen: &Chosen,
    mut tensors: Vec<NewTensor<'a>>,
    dst: &Path,
    format: BlockFormat,
) -> Result<Shard<'a>> {
    let blocks: HashMap<&str, BlockFormat> = (chosen.weights.iter())
        .filter_map(|weight| Some((&*weight.module, gguf::format(weight.scheme)?)))
        .collect();
    let source = &checkpoint.source;
    // Tensors keep their order.
    tensors.sort_by_key(|tensor| source.names.get(&tensor.declared.name));
    crate::gguf::shard(source, tensors, dst, &Elements::Blocks(format), |tensor| {
        let of = blocks.get(&*tensor.declared.name);
        of.map_or(Elements::Plain(tensor.declared.dtype), |format| Elements::Blocks(*format))
    })
}

/// The tensors of the output.
fn tensors<'a>(
    checkpoint: &'a Checkpoint,
    chosen: &'a Chosen,
    layout: &dyn Layout,
    options: &QuantizeOptions,
) -> Vec<NewTensor<'a>> {
    let file = |index: usize| checkpoint.source.tensors[checkpoint.contents[index].id()].file;
    let wide = |shape: &[usize]| shape.iter().map(|axis| *axis as u64).collect();
    let (mut tensors, room) = (Vec::new(), Room::new());
    for weight in &chosen.weights {
        let index = weight.matrix.tensor;
        let (tensor, content) = (&checkpoint.tensors()[index], &checkpoint.contents[index]);
        let [rows, cols] = weight.shape();
        // Codes are first.
        let mut bytes_in = match tensor.dtype {
            Some(dtype) => (rows * cols * dtype.size()) as u64,
            None => tensor.stored_bytes,
        };
        let mut doubted = matches!(content, Content::Coded(_));
        let outputs = layout.outputs(weight, tensor.dtype.unwrap_or(DType::Float32), options);
        let bytes = |output: &Output| {
            let bytes = little(output.dtype).byte_len(output.shape.iter().product());
            bytes.map_or(u64::MAX, |bytes| bytes as u64)
        };
        let scales = kept_scales(&outputs, bytes, &room);
        for output in outputs {
            let (all, doubt) = (bytes(&output), std::mem::take(&mut doubted));
            let (part, make) = (output.make.part(weight), output.make);
            let maker = Maker { checkpoint, weight, make, all, scales: scales.clone() };
            tensors.push(NewTensor {
                declared: Declared { name: output.name, dtype: output.dtype, shape: wide(&output.shape) },
                file: file(index),
                bytes_in: std::mem::take(&mut bytes_in),
                is_changed: true,
                part,
                produce: Box::new(move |range, sink| {
                    let is_doubted = doubt && range.start == 0;
                    maker.produce(range, sink)?;
                    let warnings = if is_doubted { checkpoint.doubts(content)? } else { Vec::new() };
                    Ok(Notes { warnings, ..Notes::default() })
                }),
            });
        }
    }
    for index in &chosen.plain {
        let (tensor, content) = (&checkpoint.tensors()[*index], &checkpoint.contents[*index]);
        // Only codes have no dtype, and these are chosen.
        let Some(dtype) = tensor.dtype else { continue };
        tensors.push(NewTensor {
            declared: Declared { name: tensor.name.clone(), dtype, shape: wide(&tensor.shape) },
            file: file(*index),
            bytes_in: tensor.stored_bytes,
            is_changed: false,
            part: checkpoint.part(content, dtype),
            produce: Box::new(move |range, sink| {
                checkpoint.decode_bytes(content, dtype, range, sink)?;
                Ok(Notes::default())
            }),
        });
    }
    tensors
}

/// The scales of a weight, their bytes, and where they are kept if its codes are written before them.
fn kept_scales(
    outputs: &[Output],
    bytes: impl Fn(&Output) -> u64,
    room: &Arc<Room>,
) -> Option<(Arc<Make>, u64, Arc<Kept>)> {
    let codes = outputs.iter().find(|output| matches!(*output.make, Make::Codes(..)))?;
    let scales = outputs.iter().find(|output| matches!(*output.make, Make::Scales(..)))?;
    let place = |of: &Output| (Reverse(of.dtype.size()), of.name.clone());
    (place(codes) < place(scales)).then(|| (scales.make.clone(), bytes(scales), Arc::new(Kept::new(room))))
}

/// The first pass: largest magnitudes of weights with a scale for the tensor, shared by those that a runtime fuses, and means of scales.
fn measure(
    checkpoint: &Checkpoint,
    weights: &mut [Weight],
    options: &QuantizeOptions,
    callbacks: &Callbacks<'_>,
) -> Result<()> {
    let set = |weight: &Weight| match weight.scheme {
        // Blocks of GGUF have no scale of the tensor.
        _ if options.layout == QuantLayout::Gguf => None,
        QuantScheme::Nvfp4 => Some(set_of(&weight.module)),
        QuantScheme::Fp8Tensor => Some(weight.module.clone()),
        _ => None,
    };
    let mut largest: HashMap<String, Amax> = HashMap::new();
    for weight in weights.iter_mut() {
        callbacks.check()?;
        if options.double_quant {
            weight.offset = table::mean(&table::absmaxes(checkpoint, weight)?);
        }
        let Some(set) = set(weight) else { continue };
        let mut all = Amax::default();
        weight.matrix.bands(checkpoint, &mut |band| {
            let bytes = Bytes::new(band.bytes, band.rows * weight.matrix.cols);
            let amax = Amax::of(little(band.dtype), bytes);
            all = all.merge(amax.map_err(|e| weight.matrix.at(checkpoint, unsupported(e.to_string())))?);
            callbacks.check()
        })?;
        if all.has_non_finite() {
            let what = format!("an element is {}, which the codes cannot hold", all.largest());
            return Err(weight.matrix.at(checkpoint, lost(what)));
        }
        let shared = largest.entry(set).or_default();
        *shared = shared.merge(all);
    }
    for weight in weights {
        if let Some(amax) = set(weight).and_then(|set| largest.get(&set)) {
            weight.amax = amax.finite();
        }
    }
    Ok(())
}

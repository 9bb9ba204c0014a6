//! [`quantize`]: a plain checkpoint in, a quantized one that loaders take out; and [`requantize`], from one layout to another.
//!
//! *Law.* A code is the one nearest to the exact quotient of the element by the stored scale. What the layouts differ in are names, dtypes,
//! packing and descriptions, never values. The output appears complete or not at all.
//!
//! *Method.* `choose` decides by options and `names` which tensors are weights, and with which `scheme`. A first pass over weights with a
//! scale for the tensor finds largest magnitudes. A [`Layout`](layout::Layout) then lists the tensors of each weight. `cast` and `table` make
//! their bytes band by band of a [`Matrix`](matrix::Matrix), and `write` writes them.

mod awq;
mod bitsandbytes;
mod cast;
mod choose;
mod comfy;
mod compressed;
mod deepseek;
#[cfg(test)]
mod divisions;
mod experts;
mod gguf;
mod gpt_oss;
mod gptq;
mod kept;
mod layout;
mod like;
mod matrix;
mod measure;
mod modelopt;
mod moved;
mod mxfp8;
mod names;
mod options;
mod scheme;
mod table;

use std::{
    cmp::Reverse,
    ops::Range,
    path::Path,
    sync::{Arc, OnceLock},
};

use lanecast::DType;
use lanecast_files::{Result, formats::Declared};

pub(crate) use names::{FUSED, Stack, Stacked, fused, set_of, stack, stacked};
pub use {
    layout::QuantLayout,
    options::{Experts, QuantizeOptions, QuantizeReport},
    scheme::QuantScheme,
};

use crate::{
    activations,
    checkpoint::{Checkpoint, Content, little},
    config,
    dequantize::{REPLACED, plain_metadata},
    error::{MERGE, invalid, request, request_with, unsupported},
    prepared::{Extent, Measured, Outcome, Prepared},
    source::Source,
    write::{
        Callbacks, Cut, NewTensor, Notes, Plan, Written, becomes_file, copied_files, name_shards, names_gguf,
        pretty,
    },
};
use choose::{Chosen, choose};
use kept::{Kept, Room};
use layout::{Layout, Make, Maker, Output};
use matrix::Matrix;
use moved::Move;

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
    /// What is moved of its codes, if they stay as they are.
    moved: Option<Move>,
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
/// The errors of [`Checkpoint::open`]; [`Error::Request`](crate::Error::Request) if the layout has no such scheme, the checkpoint is quantized, a
/// pattern matches nothing, no weight is quantized, experts are stacked in an unknown way, or one folder is in the other;
/// [`Error::Loss`](crate::Error::Loss) if a weight has a NaN or an infinity; [`Error::Exists`](crate::Error::Exists) if `dst` exists, is not
/// empty and may not be replaced; [`Error::Cancelled`](crate::Error::Cancelled). Nothing is left of the output then.
pub fn quantize(
    src: &Path,
    dst: &Path,
    options: &QuantizeOptions,
    mut callbacks: Callbacks<'_>,
) -> Result<QuantizeReport> {
    Quantization::open(src, dst, options)?.write(dst, &mut callbacks)
}

/// Writes the quantized weights of the checkpoint `src` with other codes of the same values: MXFP4 as 8-bit floats in tiles, for example.
///
/// All weights that are quantized in `src` get the scheme; all other tensors stay. Codes and scales of [`QuantScheme::Nvfp4`] and
/// [`QuantScheme::W4a16`] are moved as they are: NVFP4, MXFP4 with scales that are near each other, and the 4-bit integers of
/// compressed-tensors, GPTQ and AWQ. The scales of other schemes are powers of two. MXFP4 that stays [`QuantScheme::Mxfp4`] keeps its bytes.
///
/// The stacked experts of gpt-oss become modules of [`QuantLayout::CompressedTensors`], as llm-compressor makes them, with their biases.
/// transformers does not load these, and a warning says so. Such modules of MXFP4 become a stack of [`QuantLayout::GptOss`] if all experts and
/// biases are there and no other weight is quantized.
///
/// # Errors
///
/// As [`quantize`]. [`Error::Loss`](crate::Error::Loss) names the first element that the scheme cannot hold; zeros may lose their signs.
/// [`Error::Request`](crate::Error::Request) if the checkpoint is not quantized, or if a scheme has no powers of two as scales and other
/// codes than the weights.
pub fn requantize(
    src: &Path,
    dst: &Path,
    options: &QuantizeOptions,
    mut callbacks: Callbacks<'_>,
) -> Result<QuantizeReport> {
    Quantization::open_again(src, dst, options)?.write(dst, &mut callbacks)
}

/// Codes to make of the weights of a checkpoint.
pub(crate) struct Quantization {
    checkpoint: Checkpoint,
    options: QuantizeOptions,
    chosen: Chosen,
    /// The weights that the first pass measures, and their bytes.
    pass: Vec<(usize, Extent)>,
    /// What was chosen, with the measurements of the first pass.
    measured: OnceLock<Chosen>,
}

impl Quantization {
    /// Opens a plain checkpoint.
    pub(crate) fn open(src: &Path, dst: &Path, options: &QuantizeOptions) -> Result<Self> {
        options.layout.check(options)?;
        if options.layout.needs_codes() {
            let what = format!(
                "only requantize writes the layout {}: its codes come from another layout of the same integers",
                options.layout
            );
            return Err(request(what));
        }
        let checkpoint = open(src, options.layout)?;
        if checkpoint.contents.iter().any(|content| !matches!(content, Content::Plain(_))) {
            let what = format!(
                "the checkpoint is quantized (layout {}); dequantize it first, or requantize it without loss",
                checkpoint.layout()
            );
            return Err(request(what).at_path(src));
        }
        Self::choose(checkpoint, dst, options, false)
    }

    /// Opens a quantized checkpoint, whose codes are quantized again without loss.
    pub(crate) fn open_again(src: &Path, dst: &Path, options: &QuantizeOptions) -> Result<Self> {
        options.layout.check(options)?;
        let asked = || options.map.iter().map(|(_, scheme)| *scheme).chain([options.scheme]);
        let keeps = |scheme: QuantScheme| scheme.has_powers() || scheme.is_moved();
        if let Some(scheme) = asked().find(|scheme| !keeps(*scheme)) {
            let named = |wanted: fn(QuantScheme) -> bool| {
                let have = QuantScheme::NAMED.iter().filter(|(_, scheme)| wanted(*scheme));
                scheme::listed(have.map(|(name, _)| *name))
            };
            let what = format!(
                "{scheme} has no scales that are powers of two, which keep every digit, as {} have; codes and scales of {} are moved as they are",
                named(QuantScheme::has_powers),
                named(QuantScheme::is_moved)
            );
            return Err(request(what));
        }
        if options.experts == Experts::Keep {
            return Err(request(
                "experts that are quantized cannot stay as they are; leave out that they are kept",
            ));
        }
        let checkpoint = open(src, options.layout)?;
        if checkpoint.layout() == "plain" {
            return Err(request("the checkpoint has no quantized weights; quantize it").at_path(src));
        }
        Self::choose(checkpoint, dst, options, true)
    }

    fn choose(checkpoint: Checkpoint, dst: &Path, options: &QuantizeOptions, again: bool) -> Result<Self> {
        let (source, layout) = (&checkpoint.source, options.layout);
        let is_comfy = layout == QuantLayout::Comfy;
        if is_comfy && source.files.len() != 1 {
            let what = format!("ComfyUI loads one file, and the checkpoint has {}", source.files.len());
            return Err(request_with(what, MERGE).at_path(&source.folder));
        }
        let is_gguf = layout == QuantLayout::Gguf;
        if is_gguf != names_gguf(dst) {
            let what = format!("the layout gguf is written to a .gguf file, and the layout is {layout}");
            return Err(request(what).at_path(dst));
        }
        if !is_comfy && !is_gguf && !source.is_folder {
            let what =
                format!("the layout {layout} is described in config.json; give the folder of the model");
            return Err(request(what).at_path(&source.files[0].path));
        }
        let mut chosen = choose(&checkpoint, options, layout.target(), again)?;
        if chosen.weights.iter().any(|weight| matches!(weight.moved, Some(Move::Nvfp4(_)))) {
            chosen.warnings.extend(checkpoint.unequal_factors()?);
        }
        let pass = measure::pass(&checkpoint, &chosen.weights, options);
        Ok(Self { checkpoint, options: options.clone(), chosen, pass, measured: OnceLock::new() })
    }

    fn chosen(&self) -> &Chosen {
        self.measured.get().unwrap_or(&self.chosen)
    }

    fn write(&self, dst: &Path, callbacks: &mut Callbacks<'_>) -> Result<QuantizeReport> {
        // A wrong output is an error before the first pass.
        self.plan(dst)?;
        self.measure_all(callbacks)?;
        let written = self.plan(dst)?.write(dst, self.options.replace, callbacks)?;
        Ok(self.report(written))
    }

    fn report(&self, written: Written) -> QuantizeReport {
        let (source, chosen) = (&self.checkpoint.source, self.chosen());
        let mut warnings = [self.checkpoint.warnings(), &chosen.warnings].concat();
        if source.config.is_none() && self.options.layout.target().config(chosen, &self.options).is_some() {
            let what = format!(
                "{}: the folder has no config.json; the output has one for the quantization only",
                source.folder.display()
            );
            warnings.push(what);
        }
        warnings.extend(self.dropped());
        warnings.extend(written.notes.warnings);
        QuantizeReport {
            layout: self.options.layout.to_string(),
            scheme: self.options.scheme.to_string(),
            weights_quantized: chosen.weights.len() + chosen.joined.len(),
            tensors_copied: written.copied,
            ignored: chosen.ignored.clone(),
            bytes_in: written.bytes_in,
            bytes_out: written.bytes_out,
            files: written.files,
            warnings,
        }
    }

    /// A warning about scales of activations that the output lacks: only weights are described there.
    fn dropped(&self) -> Option<String> {
        let source = &self.checkpoint.source;
        let dropped = activations::dropped(source, |name| self.checkpoint.find(name).is_some());
        let (first, n) = (dropped.first()?, dropped.len());
        let (path, name) = (source.files[first.file].path.display(), &first.name);
        let all = if n == 1 {
            "the scale is".to_owned()
        } else {
            format!("it and {} other {} are", n - 1, if n == 2 { "scale" } else { "scales" })
        };
        Some(format!(
            "{path}, tensor \"{name}\": {all} dropped: the output quantizes weights only, and runtimes scale activations as they come or not at all"
        ))
    }

    /// The files that describe the quantization.
    fn texts(&self) -> Result<Vec<(&'static str, String)>> {
        let (source, layout) = (&self.checkpoint.source, self.options.layout.target());
        let mut texts = Vec::new();
        if let Some(quantization) = layout.config(self.chosen(), &self.options) {
            let text = match &source.config {
                Some(config) if config.value.is_object() => &config.text,
                Some(config) => {
                    return Err(invalid("the configuration is no JSON object").at_path(&config.path));
                }
                None => "{}",
            };
            texts.push(("config.json", config::quantized(text, &quantization)));
        } else if let Some(config) = source.config.as_ref().filter(|_| source.is_folder) {
            texts.push(("config.json", config.text.clone()));
        }
        let described = layout.hf_quant_config(self.chosen(), &self.options);
        texts.extend(described.as_ref().and_then(pretty).map(|text| ("hf_quant_config.json", text)));
        Ok(texts)
    }
}

impl Prepared for Quantization {
    fn source(&self) -> &Source {
        &self.checkpoint.source
    }

    fn replaces(&self) -> bool {
        self.options.replace
    }

    fn plan(&self, dst: &Path) -> Result<Plan<'_>> {
        let (source, layout) = (&self.checkpoint.source, self.options.layout.target());
        let is_file = becomes_file(source, source.files.len(), dst)?;
        let metadata = |file: usize| {
            let mut metadata = plain_metadata(&source.files[file].metadata);
            metadata.extend(layout.metadata(&self.chosen().weights));
            metadata
        };
        let new = tensors(&self.checkpoint, self.chosen(), layout, &self.options);
        let shards = match gguf::format(self.options.scheme).filter(|_| names_gguf(dst)) {
            Some(format) => vec![gguf::shard(&self.checkpoint, self.chosen(), new, dst, format)?],
            None => name_shards(source, new, Cut::Keep, metadata),
        };
        Ok(Plan {
            shards,
            copied: if is_file { Vec::new() } else { copied_files(source, REPLACED)? },
            texts: self.texts()?,
            index: source.index.as_ref().map(|index| &index.value),
            is_file,
            threads: self.options.threads,
        })
    }

    fn outcome(&self, written: Written) -> Result<Outcome> {
        Ok(Outcome::Quantize(self.report(written)))
    }

    fn unmeasured(&self) -> Vec<Extent> {
        self.pass.iter().map(|(_, extent)| *extent).collect()
    }

    fn measure(&self, index: usize, range: Range<u64>, callbacks: &Callbacks<'_>) -> Result<Measured> {
        self.measure_range(index, range, callbacks)
    }

    fn take(&self, measured: &[Measured]) {
        self.share(measured);
    }
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
            // A stack has several weights.
            None => {
                let part = u128::from(tensor.stored_bytes) * (rows * cols) as u128;
                (part / tensor.elements().max(1) as u128) as u64
            }
        };
        let mut doubted = matches!(content, Content::Coded(_));
        let outputs = layout.outputs(weight, chosen, tensor.dtype.unwrap_or(DType::Float32), options);
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
    experts::tensors(checkpoint, chosen, &mut tensors);
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

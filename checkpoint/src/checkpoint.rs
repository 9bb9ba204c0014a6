//! [`Checkpoint`]: the logical tensors of a checkpoint, and their values.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use lanecast::{ByteOrder, DType, Encoding, gguf::BlockFormat};
use lanecast_files::Result;

use crate::{
    activations,
    coding::{Coding, Id},
    error::{At, invalid, request, unsupported},
    faults::Faults,
    gguf,
    layouts::{Context, Weight, recognise, resolve},
    source::{Elements, Source, Stored},
    torch,
};

/// The ends of the names of tensors that mean something only beside codes.
const TELLING: &[&str] = &[
    "weight_scale",
    "weight_scale_inv",
    "weight_scale_2",
    "_scale_inv",
    "weight_packed",
    "weight_global_scale",
    "weight_zero_point",
    "weight_shape",
    "weight_g_idx",
    ".qweight",
    ".qzeros",
    ".g_idx",
    ".comfy_quant",
    ".scale_weight",
    ".scale_input",
    ".absmax",
    ".quant_map",
    ".SCB",
    "_qdata",
    "_act_pre_scale",
    "_per_tensor_scale",
    "input_scale",
    "input_global_scale",
    "qscale_weight",
    "qscale_act",
    "pre_quant_scale",
];

/// 8-bit floats.
pub(crate) const FP8: &[DType] =
    &[DType::Float8E4M3FN, DType::Float8E5M2, DType::Float8E4M3FNUZ, DType::Float8E5M2FNUZ];

/// A tensor of a checkpoint as a plain checkpoint would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name in a plain checkpoint.
    pub name: String,
    /// Its shape, in elements.
    pub shape: Vec<usize>,
    /// The dtype that it is stored as; `None` for codes.
    pub dtype: Option<DType>,
    /// The layout of its codes, `plain` if it has none.
    pub layout: &'static str,
    /// The bytes that it takes in the checkpoint, with its scales.
    pub stored_bytes: u64,
}

impl Tensor {
    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Where the values of a tensor come from.
#[derive(Debug)]
pub(crate) enum Content {
    Plain(Id),
    /// Blocks of a GGUF file, and a scale for all of them.
    Blocks(Id, Option<Id>),
    Coded(Box<Coding>),
}

impl Content {
    /// The stored tensor that decides the place in the checkpoint.
    pub(crate) fn id(&self) -> Id {
        match self {
            Self::Plain(id) | Self::Blocks(id, _) => *id,
            Self::Coded(coding) => coding.codes,
        }
    }
}

/// An opened checkpoint. Only headers and small descriptions are held in memory.
#[derive(Debug)]
pub struct Checkpoint {
    pub(crate) source: Source,
    pub(crate) contents: Vec<Content>,
    tensors: Vec<Tensor>,
    names: HashMap<String, usize>,
    layout: &'static str,
    warnings: Vec<String>,
    pub(crate) allow_nan: bool,
    pub(crate) threads: Option<usize>,
}

impl Checkpoint {
    /// Opens a checkpoint and recognises every weight. It is a folder or a file:
    ///
    /// * a folder with `model.safetensors.index.json` and its shards, or `.safetensors` files; without those, one with
    ///   `pytorch_model.bin.index.json`, with files of PyTorch or with a `.npz` file;
    /// * a file: `.safetensors`, `.gguf`, `.npz`, or one that `torch.save` wrote (`.bin`, `.pt`, `.pth`). The pickle of such a file is read as
    ///   data: nothing in it is run.
    ///
    /// # Errors
    ///
    /// [`Io`](crate::Error::Io) if a file cannot be opened; [`Format`](crate::Error::Format) if the files, their index, the configuration and
    /// the tensors do not agree; [`Unsupported`](crate::Error::Unsupported) if a layout is not decoded. The message names the file and the
    /// tensor.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &mut Faults::fatal())
    }

    /// Whether a file that begins with these bytes is a checkpoint of a kind that only [`open`](Self::open) reads: one of GGUF or of PyTorch. 512
    /// bytes are enough.
    #[must_use]
    pub fn recognizes(head: &[u8]) -> bool {
        head.starts_with(gguf::MAGIC) || torch::begins(head)
    }

    /// Opens what is not faulty.
    pub(crate) fn open_with(path: &Path, faults: &mut Faults) -> Result<Self> {
        Self::of(Source::open(path, faults)?, faults)
    }

    /// Recognises every weight.
    pub(crate) fn of(source: Source, faults: &mut Faults) -> Result<Self> {
        let warnings = source.warnings.clone();
        let mut checkpoint = Self {
            contents: Vec::new(),
            tensors: Vec::new(),
            names: HashMap::new(),
            layout: "GGUF",
            warnings,
            allow_nan: false,
            threads: None,
            source,
        };
        match checkpoint.source.gguf.is_some() {
            true => checkpoint.list_blocks(faults)?,
            false => checkpoint.list_weights(faults)?,
        }
        Ok(checkpoint)
    }

    /// The same checkpoint, in which scales, biases and tables may be NaN or infinite, and values are then what arithmetic makes of them.
    /// Otherwise such numbers are an error.
    #[must_use]
    pub fn with_nan_allowed(self) -> Self {
        Self { allow_nan: true, ..self }
    }

    /// The same checkpoint, whose tensors are [read](Self::read) on at most `threads` threads; without this, as many as there are cores, and at
    /// most eight. A small tensor is read on the calling thread.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The layout of the weights that are quantized: `plain` if none is.
    pub fn layout(&self) -> &'static str {
        self.layout
    }

    /// What a reader should know: evidence that is incomplete, and tensors that may not be what they seem.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The tensors, in the order of the files.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The tensor of a name.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        self.names.get(name).map(|index| &self.tensors[*index])
    }

    fn add(&mut self, tensor: Tensor, content: Content) -> Result<()> {
        if self.names.contains_key(&tensor.name) {
            let stored = &self.source.tensors[content.id()];
            let what = format!("two tensors of the checkpoint are \"{}\" when they are decoded", tensor.name);
            return Err(invalid(what).tensor(&self.source, stored));
        }
        self.names.insert(tensor.name.clone(), self.tensors.len());
        self.tensors.push(tensor);
        self.contents.push(content);
        Ok(())
    }

    fn add_plain(&mut self, id: Id) -> Result<()> {
        let Stored { name, shape, bytes, .. } = self.source.tensors[id].clone();
        let dtype = self.source.tensors[id].dtype();
        self.add(
            Tensor { name, shape, dtype, layout: "plain", stored_bytes: bytes as u64 },
            Content::Plain(id),
        )
    }

    /// The tensors of a GGUF file.
    fn list_blocks(&mut self, faults: &mut Faults) -> Result<()> {
        // The scale of a tensor of NVFP4 is another tensor.
        let scale = |tensor: &Stored| {
            let names = [tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name), &tensor.name];
            names.iter().find_map(|name| self.source.names.get(&format!("{name}.scale")).copied())
        };
        let nvfp4 = |tensor: &Stored| tensor.elements == Elements::Blocks(BlockFormat::NVFP4);
        let scales: HashMap<Id, Id> = (self.source.tensors.iter().enumerate())
            .filter(|(_, tensor)| nvfp4(tensor))
            .filter_map(|(id, tensor)| Some((id, scale(tensor)?)))
            .collect();
        let used: HashSet<Id> = scales.values().copied().collect();
        for id in (0..self.source.tensors.len()).filter(|id| !used.contains(id)) {
            let tensor = &self.source.tensors[id];
            let added = match tensor.elements {
                Elements::Plain(_) => self.add_plain(id),
                Elements::Blocks(format) => {
                    let (name, shape) = (tensor.name.clone(), tensor.shape.clone());
                    let tensor = Tensor {
                        name,
                        shape,
                        dtype: None,
                        layout: format.name(),
                        stored_bytes: tensor.bytes as u64,
                    };
                    self.add(tensor, Content::Blocks(id, scales.get(&id).copied()))
                }
                Elements::Unknown(number) => {
                    Err(unsupported(format!("the type {number} of GGUF is not decoded"))
                        .tensor(&self.source, tensor))
                }
            };
            faults.value(added)?;
        }
        Ok(())
    }

    /// The tensors of safetensors files: weights of the layout, and plain ones.
    fn list_weights(&mut self, faults: &mut Faults) -> Result<()> {
        let (weights, used, layout, warnings) = {
            let context = Context::new(&self.source);
            // Nothing is known about the tensors of an unknown method.
            let Some(method) = faults.value(recognise(&context))? else { return Ok(()) };
            let mut weights: Vec<Option<Weight>> = Vec::new();
            let mut used: HashMap<Id, Id> = HashMap::new();
            // The weights whose codes are faulty; what belongs to them is no fault of its own.
            let mut faulty: HashSet<&str> = HashSet::new();
            for id in 0..self.source.tensors.len() {
                let weight = faults.value(resolve(method.as_ref(), &context, id))?.unwrap_or_else(|| {
                    faulty.insert(stem(&self.source.tensors[id].name));
                    used.insert(id, id);
                    None
                });
                for other in weight.iter().flat_map(|weight| &weight.companions) {
                    if let Some(first) = used.insert(*other, id) {
                        let what = format!(
                            "two weights use the tensor: \"{}\" and \"{}\"",
                            self.source.tensors[first].name, self.source.tensors[id].name
                        );
                        faults.add(invalid(what).tensor(&self.source, &self.source.tensors[*other]))?;
                    }
                }
                weights.push(weight);
            }
            let mut warnings = method.warnings();
            let kept = activations::drop_scales(&self.source, &weights, &mut used, &mut warnings);
            for (id, tensor) in self.source.tensors.iter().enumerate() {
                if weights[id].is_some() || used.contains_key(&id) || kept.contains(&id) {
                    continue;
                }
                if method.is_marker(tensor) || !faulty.is_empty() && belongs(&tensor.name, &faulty) {
                    used.insert(id, id);
                    continue;
                }
                let plain = self.check_plain(tensor, &context, method.as_ref(), &mut warnings);
                if faults.value(plain)?.is_none() {
                    used.insert(id, id);
                }
            }
            warnings.extend(self.padding(&weights));
            let layout = if weights.iter().any(Option::is_some) { method.name() } else { "plain" };
            (weights, used, layout, warnings)
        };
        self.layout = layout;
        self.warnings.extend(warnings);
        for (id, weight) in weights.into_iter().enumerate() {
            match weight {
                Some(weight) => {
                    let stored = weight
                        .companions
                        .iter()
                        .chain([&id])
                        .map(|id| self.source.tensors[*id].bytes as u64)
                        .sum();
                    let (name, shape) = (weight.name, weight.coding.shape.clone());
                    let tensor = Tensor { name, shape, dtype: None, layout, stored_bytes: stored };
                    let added = self.add(tensor, Content::Coded(Box::new(weight.coding)));
                    faults.value(added)?;
                }
                None if used.contains_key(&id) => {}
                None => {
                    let added = self.add_plain(id);
                    faults.value(added)?;
                }
            }
        }
        Ok(())
    }

    /// A warning about weights whose shape only the model knows: the first one, and how many there are.
    fn padding(&self, weights: &[Option<Weight>]) -> Option<String> {
        let padded =
            |weight: &&Weight| weight.coding.scales.as_ref().is_some_and(|scales| scales.swizzled.is_some());
        let first = weights.iter().flatten().find(padded)?;
        let (coding, n) = (&first.coding, weights.iter().flatten().filter(padded).count());
        let tensor = &self.source.tensors[coding.codes];
        let bias = self.source.names.contains_key(&format!("{}.bias", first.module));
        Some(format!(
            "{}, tensor \"{}\": the {}{} columns may end with padding, up to a multiple of 16 or 32: only the model knows its shape ({n} such {})",
            self.source.files[tensor.file].path.display(),
            tensor.name,
            if bias { String::new() } else { format!("{} rows and ", coding.rows) },
            coding.cols,
            if n == 1 { "weight" } else { "weights" },
        ))
    }

    /// Fails if a tensor that belongs to no weight means something only beside codes.
    fn check_plain(
        &self,
        tensor: &Stored,
        context: &Context<'_>,
        method: &dyn crate::layouts::Method,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let layout = match context.method() {
            Some(name) => format!("the layout {} (by \"{name}\" in the configuration)", method.name()),
            None => format!("the layout {} (by the tensors; no configuration names one)", method.name()),
        };
        let dtype = tensor.dtype();
        // Scales that are powers of two mean nothing alone.
        let scale = dtype == Some(DType::Float8E8M0FNU);
        if scale || TELLING.iter().chain(method.telling()).any(|end| tensor.name.ends_with(end)) {
            let what = format!("the tensor belongs to no weight of {layout}");
            return Err(invalid(what).tensor(&self.source, tensor));
        }
        let narrow = dtype.is_some_and(|dtype| FP8.contains(&dtype) || dtype == DType::Float4E2M1FN);
        if narrow && !method.allows_plain_fp8() {
            let what = format!(
                "the tensor has {}-bit floats without scales, and {layout} has none",
                dtype.map_or(8, DType::bits)
            );
            return Err(invalid(what).tensor(&self.source, tensor));
        }
        let whole = matches!(dtype, Some(DType::Int8 | DType::UInt8 | DType::UInt32 | DType::Int32));
        if whole && tensor.name.ends_with(".weight") && tensor.shape.len() > 1 {
            let file = self.source.files[tensor.file].path.display();
            warnings.push(format!(
                "{file}, tensor \"{}\": integers without scales are kept; they may be packed codes",
                tensor.name
            ));
        }
        Ok(())
    }

    /// The tensor of a name, and where its values come from.
    pub(crate) fn content(&self, name: &str) -> Result<(&Tensor, &Content)> {
        let index = self.names.get(name);
        let index = index
            .ok_or_else(|| request(format!("no tensor is called \"{name}\"")).at_path(&self.source.folder))?;
        Ok((&self.tensors[*index], &self.contents[*index]))
    }
}

/// What the names of the tensors of a weight begin with, by the name of its codes.
fn stem(codes: &str) -> &str {
    let ends = [".weight_packed", ".weight", ".qweight", "_blocks", "_qdata"];
    ends.iter().find_map(|end| codes.strip_suffix(end)).unwrap_or(codes)
}

/// Whether a name begins with one of these stems, up to a dot or an underscore.
fn belongs(name: &str, stems: &HashSet<&str>) -> bool {
    name.match_indices(['.', '_']).any(|(end, _)| stems.contains(&name[..end]))
}

/// Little-endian elements. Elements of less than a byte are packed.
pub(crate) fn little(dtype: DType) -> Encoding {
    Encoding::packed(dtype).with_order(ByteOrder::Little)
}

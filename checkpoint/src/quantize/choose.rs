//! Which tensors of a checkpoint are quantized, and with which scheme.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lanecast::DType;
use lanecast_files::{Error, Result, Selection};

use super::{
    Experts, QuantLayout, QuantizeOptions, Weight,
    experts::{self, Bias, Joined, Split},
    gguf,
    layout::Layout,
    matrix::Matrix,
    moved::Move,
    names,
    scheme::QuantScheme,
};
use crate::{
    checkpoint::{Checkpoint, Content, Tensor},
    coding::Coding,
    config::model_type,
    error::{At, request},
    layouts::Context,
};

/// Names that are listed in a warning.
const NAMED: usize = 3;

/// What becomes of the tensors.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// The weights that are quantized, in the order of the files.
    pub(super) weights: Vec<Weight>,
    /// The stacks that experts of MXFP4 become.
    pub(super) joined: Vec<Joined>,
    /// Biases of experts whose stack is split.
    pub(super) biases: Vec<Bias>,
    /// The indices of tensors that stay.
    pub(super) plain: Vec<usize>,
    /// The modules with a matrix that stays, and what runtimes call those that they fuse.
    pub(super) ignored: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Patterns of names, which match a tensor by its name or that of its module.
pub(super) struct Pattern(Selection);

impl Pattern {
    pub(super) fn new(glob: &str) -> Result<Self> {
        let selection = Selection::new(None, &[glob.to_owned()], &[]);
        // The place of the error would be an option that this one is not.
        let what = |e: Error| e.detail().map_or_else(String::new, |detail| detail.what.clone());
        selection.map(Self).map_err(|e| request(what(e)))
    }

    pub(super) fn matches(&self, tensor: &str) -> bool {
        let module = tensor.strip_suffix(".weight").unwrap_or(tensor);
        self.0.includes(tensor) || self.0.includes(module)
    }
}

/// Chooses by the options, then by the names.
struct Chooser<'a> {
    checkpoint: &'a Checkpoint,
    options: &'a QuantizeOptions,
    layout: &'a dyn Layout,
    map: Vec<(Pattern, QuantScheme)>,
    ignore: Vec<Pattern>,
    model_type: &'a str,
    /// Whether codes are quantized again, and other tensors stay.
    again: bool,
    /// Whether the configuration of GPTQ says that all zero points are the middle.
    is_symmetric: bool,
    chosen: Chosen,
    /// Matrices whose number of columns no block divides.
    odd: Vec<String>,
    /// The stacks that become modules.
    split: Vec<Split>,
}

/// Chooses the tensors of a checkpoint. `again` chooses those that are quantized.
pub(super) fn choose(
    checkpoint: &Checkpoint,
    options: &QuantizeOptions,
    layout: &dyn Layout,
    again: bool,
) -> Result<Chosen> {
    let map = options.map.iter().map(|(glob, scheme)| Ok((Pattern::new(glob)?, *scheme)));
    let config = checkpoint.source.config.as_ref().map(|config| &config.value);
    let mut chooser = Chooser {
        checkpoint,
        options,
        layout,
        map: map.collect::<Result<_>>()?,
        ignore: options.ignore.iter().map(|glob| Pattern::new(glob)).collect::<Result<_>>()?,
        model_type: config.and_then(model_type).unwrap_or_default(),
        again,
        is_symmetric: checkpoint.layout() == "GPTQ"
            && Context::new(&checkpoint.source).config().is_some_and(|config| config["sym"] == true),
        chosen: Chosen::default(),
        odd: Vec::new(),
        split: Vec::new(),
    };
    let joined = match again && layout.takes_stacks() {
        true => experts::join(checkpoint, chooser.model_type)?,
        false => Vec::new(),
    };
    let mut used: HashSet<usize> = joined.iter().flat_map(Joined::biases).collect();
    used.extend(joined.iter().flat_map(Joined::weights).map(|weight| weight.matrix.tensor));
    chooser.chosen.joined = joined;
    for (index, (tensor, content)) in checkpoint.tensors().iter().zip(&checkpoint.contents).enumerate() {
        if !chooser.add(index, tensor, content, used.contains(&index))? {
            chooser.chosen.plain.push(index);
            if let (Some(module), [_, _]) = (tensor.name.strip_suffix(".weight"), &tensor.shape[..]) {
                chooser.chosen.ignored.push(module.to_owned());
            }
            if let (Some(stack), [_, _, _]) = (names::stack(&tensor.name), &tensor.shape[..]) {
                // The module that has the tensor.
                let linear = tensor.name.strip_suffix(".weight").filter(|_| stack.linear).map(str::to_owned);
                chooser.chosen.ignored.push(linear.unwrap_or(stack.experts));
            }
        }
    }
    let mut split = std::mem::take(&mut chooser.split);
    if split.iter().any(Split::alternates) {
        let what = "the stacked experts become modules as llm-compressor makes them for gpt-oss: transformers does not load these, and fills the experts with random numbers; vLLM was not tested";
        chooser.chosen.warnings.push(what.to_owned());
    }
    chooser.chosen.biases = experts::split_biases(checkpoint, &mut split, &mut chooser.chosen.plain)?;
    chooser.check_patterns()?;
    chooser.check_groups()?;
    chooser.finish()
}

impl Chooser<'_> {
    /// Adds the weights of a tensor, unless it is one of a stack; returns whether there are any.
    fn add(&mut self, index: usize, tensor: &Tensor, content: &Content, is_joined: bool) -> Result<bool> {
        let castable = matches!(tensor.dtype, Some(DType::Float16 | DType::BFloat16 | DType::Float32));
        let is_wanted = match content {
            Content::Plain(_) if is_joined => return Ok(true),
            Content::Plain(_) => castable && !self.again,
            Content::Coded(_) => self.again,
            Content::Blocks(..) => false,
        };
        let ignored = self.ignore.iter().any(|pattern| pattern.matches(&tensor.name));
        if !is_wanted || ignored && !self.again {
            return Ok(false);
        }
        let explicit = self.map.iter().find(|(pattern, _)| pattern.matches(&tensor.name));
        let explicit = explicit.map(|(_, scheme)| *scheme);
        if ignored {
            return Err(self.place(
                index,
                request("a weight that is quantized cannot stay as it is; leave out the pattern"),
            ));
        }
        if is_joined {
            return Ok(true);
        }
        let scheme = explicit.unwrap_or(self.options.scheme);
        if self.layout.is_gguf() {
            return self.add_blocks(index, tensor, scheme, explicit.is_some());
        }
        let is_stack = names::stacks_matrices(&tensor.name, &tensor.shape);
        let is_expert = names::stack(&tensor.name).is_some() || tensor.name.contains("expert");
        if is_stack && is_expert && self.options.experts == Experts::Keep && explicit.is_none() {
            return Ok(false);
        }
        if is_stack && !names::stays(tensor.name.strip_suffix(".weight").unwrap_or(&tensor.name)) {
            return self.add_stack(index, tensor, scheme, content);
        }
        let (Some(module), [rows, cols]) = (tensor.name.strip_suffix(".weight"), &tensor.shape[..]) else {
            return match self.again {
                true => Err(self.place(index, request(format!(
                    "a quantized tensor of the shape {:?} cannot be quantized again: only matrices \"*.weight\" can",
                    tensor.shape
                )))),
                false => Ok(false),
            };
        };
        if self.layout.takes_stacks() && self.again {
            let what = format!(
                "the layout {} stores experts only, and the weight is none of a whole set",
                self.layout.name()
            );
            return Err(self.place(index, request(what)));
        }
        if self.layout.takes_stacks() || tensor.elements() == 0 && !self.again {
            return Ok(false);
        }
        if explicit.is_none() && !self.again && names::stays(module) {
            return Ok(false);
        }
        if let (true, Content::Coded(coding)) = (scheme.is_moved(), content) {
            return self.add_moved(index, module, [*rows, *cols], scheme, coding);
        }
        if !cols.is_multiple_of(scheme.group()) && !self.layout.pads() {
            if explicit.is_some() || self.again {
                let what = format!(
                    "{scheme} needs a multiple of {} columns, and the weight has {cols}",
                    scheme.group()
                );
                return Err(self.place(index, request(what)));
            }
            self.odd.push(module.to_owned());
            return Ok(false);
        }
        let moved = match content {
            Content::Coded(coding) if scheme == QuantScheme::Mxfp4 => Move::mxfp4(coding, false),
            _ => None,
        };
        let matrix = Matrix::whole(index, *rows, *cols);
        self.push(module.to_owned(), scheme, matrix, moved);
        Ok(true)
    }

    /// Adds a weight of a GGUF file.
    fn add_blocks(
        &mut self,
        index: usize,
        tensor: &Tensor,
        scheme: QuantScheme,
        explicit: bool,
    ) -> Result<bool> {
        let stored = &self.checkpoint.source.tensors[self.checkpoint.contents[index].id()];
        let ([leading @ .., rows, cols], Some(format)) = (&tensor.shape[..], gguf::format(scheme)) else {
            return Ok(false);
        };
        if !explicit && crate::gguf::stays(stored) || tensor.elements() == 0 {
            return Ok(false);
        }
        let block = format.block_elements();
        if !cols.is_multiple_of(block) {
            if explicit {
                let what = format!("{scheme} needs a multiple of {block} columns, and the weight has {cols}");
                return Err(self.place(index, request(what)));
            }
            self.odd.push(tensor.name.clone());
            return Ok(false);
        }
        let whole = Matrix::whole(index, *rows, *cols);
        let matrix = Matrix { batches: 0..leading.iter().product(), ..whole };
        self.push(tensor.name.clone(), scheme, matrix, None);
        Ok(true)
    }

    /// Adds a weight whose codes stay as they are.
    fn add_moved(
        &mut self,
        index: usize,
        module: &str,
        [rows, cols]: [usize; 2],
        scheme: QuantScheme,
        coding: &Coding,
    ) -> Result<bool> {
        let moved = match scheme {
            QuantScheme::Nvfp4 => Move::nvfp4(self.checkpoint, coding, self.layout.divides(), false)?,
            _ => Move::int4(self.checkpoint, coding, self.is_symmetric)?,
        };
        let group = if matches!(moved, Move::Int4(_)) || self.layout.pads() { 1 } else { scheme.group() };
        let [rows_of, cols_of] = self.layout.words();
        if !rows.is_multiple_of(rows_of) || !cols.is_multiple_of(cols_of.max(group)) {
            let what = format!(
                "{scheme} of the layout {} needs a multiple of {rows_of} rows and of {} columns, and the weight has {rows} and {cols}",
                self.layout.name(),
                cols_of.max(group)
            );
            return Err(self.place(index, request(what)));
        }
        self.push(module.to_owned(), scheme, Matrix::whole(index, rows, cols), Some(moved));
        Ok(true)
    }

    fn push(&mut self, module: String, scheme: QuantScheme, matrix: Matrix, moved: Option<Move>) {
        let lossless = self.again;
        let weight = Weight { module, scheme, matrix, lossless, amax: 0.0, offset: 0.0, moved };
        self.chosen.weights.push(weight);
    }

    /// Fails if the groups of integers differ, and the layout describes only one of them. A row that is not longer than a group is one.
    fn check_groups(&mut self) -> Result<()> {
        let int4s = || self.chosen.weights.iter().filter_map(|weight| Some((weight, weight.int4()?)));
        let groups: BTreeSet<usize> = int4s().filter_map(|(_, int4)| int4.group).collect();
        if let (1, Some(group)) = (groups.len(), groups.first().copied()) {
            for weight in &mut self.chosen.weights {
                let cols = weight.matrix.cols;
                if let Some(Move::Int4(int4)) = &mut weight.moved {
                    int4.group = int4.group.or((cols <= group).then_some(group));
                }
            }
        }
        let int4s = || self.chosen.weights.iter().filter_map(|weight| Some((weight, weight.int4()?)));
        let Some((first, of_first)) = int4s().next().filter(|_| !self.layout.mixes()) else { return Ok(()) };
        if let Some((other, of_other)) = int4s().find(|(_, int4)| int4.group != of_first.group) {
            let text = |group: Option<usize>| group.map_or("a row".to_owned(), |n| format!("{n} elements"));
            let what = format!(
                "the layout {} has one group size: \"{}\" has a scale for {}, and \"{}\" for {}",
                self.layout.name(),
                first.module,
                text(of_first.group),
                other.module,
                text(of_other.group)
            );
            return Err(self.place(other.matrix.tensor, request(what)));
        }
        Ok(())
    }

    /// Adds the experts of a tensor that stacks them.
    fn add_stack(
        &mut self,
        index: usize,
        tensor: &Tensor,
        scheme: QuantScheme,
        content: &Content,
    ) -> Result<bool> {
        let [experts, a, b] = tensor.shape[..] else { return Ok(false) };
        let refused = |what: String| {
            let keep = if self.again { "" } else { "; or ignore the tensor to keep it" };
            Err(self.place(index, request(format!("{what}{keep}"))))
        };
        let stacked = names::stacked(self.model_type);
        let known = names::stack(&tensor.name).zip(stacked).filter(|(stack, of)| stack.linear == of.linear);
        let Some((names::Stack { experts: prefix, last, .. }, stacked)) = known else {
            let is_named = tensor.name.contains("expert") || names::stack(&tensor.name).is_some();
            let what = format!(
                "the tensor {:?} stacks {}, and how is not known for the model_type \"{}\"",
                tensor.shape,
                if is_named { "experts" } else { "matrices" },
                self.model_type
            );
            return refused(what);
        };
        let (rows, cols) = if stacked.transposed { (b, a) } else { (a, b) };
        let halves = last == "gate_up_proj";
        // Rows of gate and up alternate.
        let of_pairs = halves && stacked.interleaved && !self.layout.takes_stacks();
        let matrix = |batches, rows: std::ops::Range<usize>, height| Matrix {
            tensor: index,
            batches,
            rows,
            every: if of_pairs { 2 } else { 1 },
            phase: 0,
            height,
            cols,
            transposed: stacked.transposed,
        };
        if self.layout.takes_stacks() {
            if self.again {
                return refused(format!("the experts are stacked as {} stores them", self.layout.name()));
            }
            if !(stacked.transposed && stacked.interleaved) {
                return refused(format!("{} stores only the stacked experts of gpt-oss", self.layout.name()));
            }
        } else if stacked.interleaved && !(self.again && self.layout.splits_alternating_rows()) {
            let moves = if self.again { "; requantize splits them for compressed-tensors" } else { "" };
            return refused(format!(
                "the rows of gate and up alternate in these experts, which only the layout gpt-oss stores{moves}"
            ));
        } else if !self.layout.splits_stacks() {
            return refused(format!("{} has no experts that are stacked in one tensor", self.layout.name()));
        }
        if !cols.is_multiple_of(scheme.group()) || halves && rows % 2 == 1 {
            return refused(format!("{scheme} does not fit experts of {rows} rows and {cols} columns"));
        }
        if self.layout.takes_stacks() {
            let name = format!("{prefix}.{last}");
            let matrix = matrix(0..experts, 0..rows, rows);
            self.push(name, scheme, matrix, None);
            return Ok(true);
        }
        let moved = match content {
            Content::Coded(coding) => self.moved_stack(index, coding, stacked.transposed, scheme)?,
            _ => None,
        };
        let [gate, up, down] = stacked.parts;
        let parts: &[(&str, std::ops::Range<usize>, usize)] = match halves {
            true if of_pairs => &[(gate, 0..rows / 2, 0), (up, 0..rows / 2, 1)],
            true => &[(gate, 0..rows / 2, 0), (up, rows / 2..rows, 0)],
            false => &[(down, 0..rows, 0)],
        };
        let split: Vec<(String, Matrix)> = (0..experts)
            .flat_map(|e| parts.iter().map(move |part| (e, part)))
            .map(|(e, (name, range, phase))| {
                let matrix = Matrix { phase: *phase, ..matrix(e..e + 1, range.clone(), rows) };
                (format!("{prefix}.{e}.{name}"), matrix)
            })
            .collect();
        self.split.push(Split { stack: index, modules: split.clone(), rows });
        for (module, matrix) in split {
            self.push(module, scheme, matrix, moved);
        }
        Ok(true)
    }

    /// What is moved of a stack of codes; `None` if its values are quantized again.
    fn moved_stack(
        &self,
        index: usize,
        coding: &Coding,
        transposed: bool,
        scheme: QuantScheme,
    ) -> Result<Option<Move>> {
        if coding.transposed != transposed || coding.cut.is_some() || coding.groups.is_some() {
            let what = "the codes of these stacked experts are not stored in the order of the model_type";
            return Err(self.place(index, request(what)));
        }
        Ok(match scheme {
            QuantScheme::Nvfp4 => {
                Some(Move::nvfp4(self.checkpoint, coding, self.layout.divides(), transposed)?)
            }
            QuantScheme::W4a16 => Some(Move::int4(self.checkpoint, coding, self.is_symmetric)?),
            QuantScheme::Mxfp4 => Move::mxfp4(coding, transposed),
            _ => None,
        })
    }

    fn place(&self, index: usize, error: Error) -> Error {
        let source = &self.checkpoint.source;
        error.tensor(source, &source.tensors[self.checkpoint.contents[index].id()])
    }

    /// Fails if a pattern matches no tensor.
    fn check_patterns(&self) -> Result<()> {
        let names = || self.checkpoint.tensors().iter().map(|tensor| tensor.name.as_str());
        let globs = self.options.map.iter().map(|(glob, _)| glob).chain(&self.options.ignore);
        let patterns = self.map.iter().map(|(pattern, _)| pattern).chain(&self.ignore);
        for (glob, pattern) in globs.zip(patterns) {
            if !names().any(|name| pattern.matches(name)) {
                return Err(request(format!("no tensor matches the pattern \"{glob}\"")));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Chosen> {
        let Self { mut chosen, odd, options, checkpoint, .. } = self;
        if chosen.weights.is_empty() && chosen.joined.is_empty() {
            let why = match options.layout {
                QuantLayout::GptOss => {
                    ": the layout gpt-oss holds codes of the stacked experts of gpt-oss only"
                }
                _ => "",
            };
            let what = format!("no weight of the checkpoint gets the scheme {}{why}", options.scheme);
            return Err(request(what).at_path(&checkpoint.source.folder));
        }
        if let Some(first) = odd.first() {
            let what = match odd.len() {
                1 => format!("\"{first}\" stays as it is: no block divides its columns"),
                n => format!(
                    "\"{first}\" and {} other weights stay as they are: no block divides their columns",
                    n - 1
                ),
            };
            chosen.warnings.push(what);
        }
        let schemes: BTreeMap<&str, QuantScheme> =
            chosen.weights.iter().map(|weight| (weight.module.as_str(), weight.scheme)).collect();
        let plain: BTreeSet<&str> = chosen.ignored.iter().map(String::as_str).collect();
        let (mut aliases, mut torn) = (BTreeSet::new(), BTreeSet::new());
        for module in schemes.keys().chain(&plain) {
            let Some((parent, set)) = names::fused(module) else { continue };
            let parts: Vec<String> = set.parts.iter().map(|part| format!("{parent}.{part}")).collect();
            let state = |part: &String| match plain.contains(part.as_str()) {
                true => Some(None),
                false => schemes.get(part.as_str()).map(|scheme| Some(*scheme)),
            };
            let states: Vec<Option<QuantScheme>> = parts.iter().filter_map(state).collect();
            if states.iter().any(|state| *state != states[0]) {
                torn.insert(parts.join(", "));
            } else if let (Some(None), Some(alias), true) =
                (states.first(), set.alias, states.len() == parts.len())
            {
                aliases.insert(format!("{parent}.{alias}"));
            }
        }
        if !torn.is_empty() {
            let n = torn.len();
            let named: Vec<&str> = torn.iter().map(String::as_str).take(NAMED).collect();
            let what = format!(
                "vLLM computes {} as one, and they differ in their schemes ({n} such sets)",
                named.join("; ")
            );
            chosen.warnings.push(what);
        }
        chosen.ignored.extend(aliases);
        chosen.ignored.dedup();
        Ok(chosen)
    }
}

//! Stacks of experts whose codes of MXFP4 are moved: split into modules, or joined to stacks of gpt-oss; and the biases of experts.
//!
//! *Law.* No byte of a code, scale or bias changes. A stack has all experts, and each expert has all its matrices, or it is an error.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
};

use lanecast::DType;
use lanecast_files::{Result, formats::Declared};

use super::{
    Weight,
    choose::Chosen,
    matrix::Matrix,
    moved::{Move, Mover},
    names,
    scheme::QuantScheme,
};
use crate::{
    checkpoint::{Checkpoint, Content, Tensor, little},
    decode::Sink,
    error::{At, invalid, request},
    write::{NewTensor, Notes},
};

/// The bytes of some rows of a matrix, one after the other.
type Lines<'l> = dyn Fn(&Mover<'_>, Range<usize>) -> Result<Vec<u8>> + 'l;

/// Fields that are in memory at once, about.
const PATCH: usize = if cfg!(test) { 1 << 11 } else { 1 << 20 };

/// A stack that is split.
pub(super) struct Split {
    /// The index of the stack.
    pub(super) stack: usize,
    /// The modules and their rows.
    pub(super) modules: Vec<(String, Matrix)>,
    /// Outputs of an expert in the stack.
    pub(super) rows: usize,
}

impl Split {
    /// Whether rows of two modules alternate in the stack.
    pub(super) fn alternates(&self) -> bool {
        self.modules.iter().any(|(_, matrix)| matrix.every > 1)
    }
}

/// The bias of an expert: elements of the biases of a stack.
#[derive(Clone, Debug)]
pub(super) struct Bias {
    /// The module.
    module: String,
    /// The index of the biases of the stack.
    tensor: usize,
    /// The first element, the distance between elements, and how many there are.
    elements: [usize; 3],
}

/// Takes the biases of stacks that are split from the tensors that stay, and returns the biases of the modules.
pub(super) fn split_biases(
    checkpoint: &Checkpoint,
    split: &mut [Split],
    plain: &mut Vec<usize>,
) -> Result<Vec<Bias>> {
    let tensors = checkpoint.tensors();
    let names: HashMap<&str, usize> = plain.iter().map(|index| (&*tensors[*index].name, *index)).collect();
    let mut biases = Vec::new();
    for Split { stack, modules, rows } in split {
        let stack = &tensors[*stack];
        let Some(tensor) = names.get(&*format!("{}_bias", stack.name)).copied() else { continue };
        let want = [stack.shape[0], *rows];
        let is_whole = tensors[tensor].dtype.is_some_and(|dtype| !dtype.is_sub_byte());
        if tensors[tensor].shape != want || !is_whole {
            let what = format!(
                "the biases of the experts \"{}\" have the shape {:?}, and need {want:?} in a dtype of whole bytes",
                stack.name, tensors[tensor].shape
            );
            return Err(place(checkpoint, tensor, invalid(what)));
        }
        plain.retain(|index| *index != tensor);
        for (module, matrix) in modules.drain(..) {
            let first = matrix.batches.start * *rows + matrix.stored_row(0);
            biases.push(Bias { module, tensor, elements: [first, matrix.every, matrix.rows.len()] });
        }
    }
    Ok(biases)
}

/// Experts that become a stack of gpt-oss.
#[derive(Clone, Debug)]
pub(super) struct Joined {
    /// The name of the stack: `a.experts.gate_up_proj`.
    name: String,
    /// The matrices of each expert. Their rows alternate.
    parts: Vec<Vec<Weight>>,
    /// The biases of these matrices, by the indices of tensors.
    biases: Vec<Vec<usize>>,
}

impl Joined {
    /// All matrices.
    pub(super) fn weights(&self) -> impl Iterator<Item = &Weight> {
        self.parts.iter().flatten()
    }

    /// The indices of all biases.
    pub(super) fn biases(&self) -> impl Iterator<Item = usize> {
        self.biases.iter().flatten().copied()
    }

    /// Rows of an expert in the stack, and columns.
    fn shape(&self) -> [usize; 2] {
        let [rows, cols] = self.parts[0][0].shape();
        [rows * self.parts[0].len(), cols]
    }

    /// Passes the rows of a range of bytes to a sink. A row has `pitch` bytes, which `lines` reads.
    fn produce(
        &self,
        checkpoint: &Checkpoint,
        pitch: usize,
        range: Range<u64>,
        lines: &Lines<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let ([height, cols], n) = (self.shape(), self.parts[0].len());
        let row = |byte: u64| usize::try_from(byte / pitch.max(1) as u64).unwrap_or(usize::MAX);
        let (mut first, end) = (row(range.start), row(range.end));
        let step = (PATCH / cols.max(1)).max(1).next_multiple_of(n);
        while first < end {
            let (expert, top) = (first / height, first % height);
            let bottom = height.min(top + step).min(top + (end - first));
            let rows = top / n..bottom.div_ceil(n);
            let parts: Vec<Vec<u8>> = (self.parts[expert].iter())
                .filter_map(|weight| Mover::new(checkpoint, weight))
                .map(|mover| lines(&mover, rows.clone()))
                .collect::<Result<_>>()?;
            let mut out = Vec::with_capacity((bottom - top) * pitch);
            for row in top..bottom {
                let at = (row / n - rows.start) * pitch;
                out.extend_from_slice(&parts[row % n][at..at + pitch]);
            }
            sink(&out)?;
            first += bottom - top;
        }
        Ok(())
    }

    fn bias(&self, checkpoint: &Checkpoint, sink: &mut Sink<'_>) -> Result<()> {
        for expert in &self.biases {
            let parts: Vec<Vec<u8>> =
                expert.iter().map(|index| plain_bytes(checkpoint, *index)).collect::<Result<_>>()?;
            let size = checkpoint.tensors()[expert[0]].dtype.map_or(1, DType::size);
            let rows = parts[0].len() / size;
            let elements =
                (0..rows).flat_map(|row| parts.iter().map(move |part| &part[row * size..][..size]));
            sink(&elements.flatten().copied().collect::<Vec<u8>>())?;
        }
        Ok(())
    }
}

/// The stacks of gpt-oss that the experts of a checkpoint become.
pub(super) fn join(checkpoint: &Checkpoint, model_type: &str) -> Result<Vec<Joined>> {
    let stacked = names::stacked(model_type).filter(|of| of.transposed && of.interleaved);
    let Some(names::Stacked { parts: [gate, up, down], .. }) = stacked else {
        let what = format!(
            "only models of the model_type \"gpt_oss\" have the experts of this layout, and the model_type is \"{model_type}\""
        );
        return Err(request(what).at_path(&checkpoint.source.folder));
    };
    let tensors = checkpoint.tensors();
    let index: HashMap<&str, usize> =
        tensors.iter().enumerate().map(|(index, tensor)| (tensor.name.as_str(), index)).collect();
    // The numbers of the experts of each list.
    let mut experts: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for (tensor, content) in tensors.iter().zip(&checkpoint.contents) {
        if let (Some((prefix, number, part)), Content::Coded(_)) = (expert(tensor), content)
            && [gate, up, down].contains(&part)
        {
            experts.entry(prefix).or_default().insert(number);
        }
    }
    let mut joined = Vec::new();
    for (prefix, numbers) in experts {
        for (last, parts) in [("gate_up_proj", &[gate, up][..]), ("down_proj", &[down])] {
            let name = format!("{prefix}.{last}");
            let mut stack = Joined { name, parts: Vec::new(), biases: Vec::new() };
            for (want, number) in numbers.iter().enumerate() {
                let missing = |name: &str| {
                    let what =
                        format!("the experts \"{prefix}\" lack \"{name}\", which the layout gpt-oss needs");
                    request(what).at_path(&checkpoint.source.folder)
                };
                if want != *number {
                    return Err(missing(&format!("{prefix}.{want}.{gate}.weight")));
                }
                let find = |name: String| index.get(&*name).copied().ok_or_else(|| missing(&name));
                let of = |part: &&str| find(format!("{prefix}.{number}.{part}.weight"));
                let bias = |part: &&str| find(format!("{prefix}.{number}.{part}.bias"));
                let weights = parts.iter().map(of).collect::<Result<Vec<usize>>>()?;
                stack.parts.push(
                    weights
                        .iter()
                        .map(|index| weight(checkpoint, *index))
                        .collect::<Result<Vec<Weight>>>()?,
                );
                stack.biases.push(parts.iter().map(bias).collect::<Result<Vec<usize>>>()?);
            }
            check_alike(checkpoint, &stack)?;
            joined.push(stack);
        }
    }
    Ok(joined)
}

/// The parts of the name of a matrix of an expert: `a.experts`, the number of the expert, and the name of the matrix.
fn expert(tensor: &Tensor) -> Option<(&str, usize, &str)> {
    let (parent, part) = tensor.name.strip_suffix(".weight")?.rsplit_once('.')?;
    let (prefix, number) = parent.rsplit_once('.')?;
    let is_list = prefix.rsplit('.').next() == Some("experts");
    Some((prefix, number.parse().ok()?, part)).filter(|_| is_list)
}

/// A matrix of MXFP4, as it is.
fn weight(checkpoint: &Checkpoint, index: usize) -> Result<Weight> {
    let tensor = &checkpoint.tensors()[index];
    let moved = match &checkpoint.contents[index] {
        Content::Coded(coding) => Move::mxfp4(coding, false),
        _ => None,
    };
    let (Some(moved), [rows, cols]) = (moved, &tensor.shape[..]) else {
        let what = "the layout gpt-oss stores experts of MXFP4, and the weight has other codes or none";
        return Err(place(checkpoint, index, request(what)));
    };
    if !cols.is_multiple_of(32) {
        let what = format!("mxfp4 needs a multiple of 32 columns, and the weight has {cols}");
        return Err(place(checkpoint, index, request(what)));
    }
    let module = tensor.name.trim_end_matches(".weight").to_owned();
    let (scheme, matrix) = (QuantScheme::Mxfp4, Matrix::whole(index, *rows, *cols));
    Ok(Weight { module, scheme, matrix, lossless: true, amax: 0.0, offset: 0.0, moved: Some(moved) })
}

/// Fails if experts of a stack have different shapes, or biases that do not fit.
fn check_alike(checkpoint: &Checkpoint, stack: &Joined) -> Result<()> {
    let tensors = checkpoint.tensors();
    let [rows, cols] = stack.parts[0][0].shape();
    if let Some(other) = stack.weights().find(|weight| weight.shape() != [rows, cols]) {
        let what = format!(
            "the experts of a stack have one shape: \"{}\" has {:?}, and \"{}\" [{rows}, {cols}]",
            other.module,
            other.shape(),
            stack.parts[0][0].module
        );
        return Err(place(checkpoint, other.matrix.tensor, request(what)));
    }
    let first = &tensors[stack.biases[0][0]];
    let fits = |index: &usize| {
        let bias = &tensors[*index];
        bias.shape == [rows]
            && bias.dtype.is_some_and(|dtype| !dtype.is_sub_byte())
            && bias.dtype == first.dtype
    };
    match stack.biases().find(|index| !fits(index)) {
        Some(index) => {
            let what = format!(
                "the biases of the experts of a stack have one dtype and a value for each of {rows} rows, and this one has the shape {:?}",
                tensors[index].shape
            );
            Err(place(checkpoint, index, request(what)))
        }
        None => Ok(()),
    }
}

/// Adds the tensors of stacks and biases to the tensors of the output.
pub(super) fn tensors<'a>(checkpoint: &'a Checkpoint, chosen: &'a Chosen, out: &mut Vec<NewTensor<'a>>) {
    let all = checkpoint.tensors();
    let file = |index: usize| checkpoint.source.tensors[checkpoint.contents[index].id()].file;
    let wide = |shape: &[usize]| shape.iter().map(|axis| *axis as u64).collect();
    for stack in &chosen.joined {
        let ([rows, cols], experts) = (stack.shape(), stack.parts.len());
        let file = file(stack.parts[0][0].matrix.tensor);
        let bytes_in = stack.weights().map(|weight| all[weight.matrix.tensor].stored_bytes).sum();
        let uint8 =
            |name: String, shape: &[usize]| Declared { name, dtype: DType::UInt8, shape: wide(shape) };
        out.push(NewTensor {
            declared: uint8(format!("{}_blocks", stack.name), &[experts, rows, cols / 32, 16]),
            file,
            bytes_in,
            is_changed: true,
            part: (cols / 2).max(1) as u64,
            produce: Box::new(move |range, sink| {
                let codes = |mover: &Mover<'_>, rows: Range<usize>| {
                    mover.check_codes()?;
                    let fields = mover.fields(rows, false)?;
                    Ok(fields.as_chunks().0.iter().map(|[low, high]| low | high << 4).collect())
                };
                stack.produce(checkpoint, cols / 2, range, &codes, sink)?;
                Ok(Notes::default())
            }),
        });
        out.push(NewTensor {
            declared: uint8(format!("{}_scales", stack.name), &[experts, rows, cols / 32]),
            file,
            bytes_in: 0,
            is_changed: true,
            part: (cols / 32).max(1) as u64,
            produce: Box::new(move |range, sink| {
                stack.produce(checkpoint, cols / 32, range, &|mover, rows| mover.scales(rows), sink)?;
                Ok(Notes::default())
            }),
        });
        let dtype = all[stack.biases[0][0]].dtype.unwrap_or(DType::Float32);
        out.push(NewTensor {
            declared: Declared { name: format!("{}_bias", stack.name), dtype, shape: wide(&[experts, rows]) },
            file,
            bytes_in: stack.biases().map(|index| all[index].stored_bytes).sum(),
            is_changed: false,
            part: u64::MAX,
            produce: Box::new(move |_, sink| stack.bias(checkpoint, sink).map(|()| Notes::default())),
        });
    }
    for Bias { module, tensor, elements: [first, every, len] } in &chosen.biases {
        let (file, Some(dtype)) = (file(*tensor), all[*tensor].dtype) else { continue };
        let bytes = little(dtype).byte_len(*len).map_or(0, |bytes| bytes as u64);
        out.push(NewTensor {
            declared: Declared { name: format!("{module}.bias"), dtype, shape: wide(&[*len]) },
            file,
            bytes_in: bytes,
            is_changed: false,
            part: u64::MAX,
            produce: Box::new(move |_, sink| {
                let (bytes, size) = (plain_bytes(checkpoint, *tensor)?, dtype.size());
                let elements = bytes.chunks_exact(size).skip(*first).step_by(*every).take(*len);
                sink(&elements.flatten().copied().collect::<Vec<u8>>())?;
                Ok(Notes::default())
            }),
        });
    }
}

/// The bytes of a plain tensor.
fn plain_bytes(checkpoint: &Checkpoint, index: usize) -> Result<Vec<u8>> {
    let (mut bytes, dtype) = (Vec::new(), checkpoint.tensors()[index].dtype.unwrap_or(DType::Float32));
    checkpoint.decode_content(&checkpoint.contents[index], dtype, false, &mut |part| {
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

fn place(checkpoint: &Checkpoint, index: usize, error: lanecast_files::Error) -> lanecast_files::Error {
    let source = &checkpoint.source;
    error.tensor(source, &source.tensors[checkpoint.contents[index].id()])
}

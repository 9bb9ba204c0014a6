//! Which tensors of two checkpoints are compared with each other.
//!
//! Tensors with the same name are compared. A tensor that only one side has is split by its name, into the weights that a runtime fuses or
//! the weights of experts that it stacks. If the other side has all of them, they are compared with the tensor.

use std::collections::HashMap;

use super::{
    Incomparable,
    pair::{Chain, Order, Pair, Part},
};
use crate::{
    checkpoint::{Checkpoint, Tensor},
    config::model_type,
    quantize::{FUSED, Stack, Stacked, stack, stacked},
};

/// The names of the weights of an expert in `gate_up_proj` and in `down_proj`.
const EXPERTS: &[(&str, &[&[&str]])] = &[
    ("gate_up_proj", &[&["gate_proj", "up_proj"], &["w1", "w3"]]),
    ("down_proj", &[&["down_proj"], &["w2"]]),
];

/// The tensors of two checkpoints.
#[derive(Default)]
pub(super) struct Matched<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) only_a: Vec<String>,
    pub(super) only_b: Vec<String>,
    pub(super) incomparable: Vec<Incomparable>,
}

/// Matches the tensors, in the order of `a`.
pub(super) fn matched<'a>(a: &'a Checkpoint, b: &'a Checkpoint) -> Matched<'a> {
    let (a, b) = (Side::new(a), Side::new(b));
    let (splits_a, splits_b) = (Splits::new(&a, &b), Splits::new(&b, &a));
    let mut out = Matched::default();
    for part in a.parts() {
        let name = part.tensor.name.as_str();
        if let Some(other) = b.get(name) {
            let order = a.order_beside(part, &b, other);
            let fits = order.is_some() || part.tensor.shape == other.tensor.shape;
            out.add(name, fits, Chain::one(part, order), Chain::one(other, None));
        } else if let Some(split) = splits_a.whole(name) {
            out.add(name, split.fits, Chain::one(part, split.order), split.chain());
        } else if let Some(split) = splits_b.part(name) {
            if split.parts[0].tensor.name == name {
                let whole = Chain::one(split.whole, split.order);
                out.add(&split.whole.tensor.name, split.fits, split.chain(), whole);
            }
        } else {
            out.only_a.push(name.to_owned());
        }
    }
    let is_only =
        |name: &str| a.get(name).is_none() && splits_b.whole(name).is_none() && splits_a.part(name).is_none();
    out.only_b = b.parts().map(|part| part.tensor.name.clone()).filter(|name| is_only(name)).collect();
    out
}

impl<'a> Matched<'a> {
    fn add(&mut self, name: &str, fits: bool, a: Chain<'a>, b: Chain<'a>) {
        match fits && Pair::is_comparable(&a, &b) {
            true => self.pairs.push(Pair { a, b }),
            false => {
                let (name, a, b) = (name.to_owned(), a.with_shape(), b.with_shape());
                self.incomparable.push(Incomparable { name, a, b });
            }
        }
    }
}

/// The tensors of one checkpoint.
struct Side<'a> {
    checkpoint: &'a Checkpoint,
    /// How the model stacks experts, if that is known.
    stacked: Option<Stacked>,
}

impl<'a> Side<'a> {
    fn new(checkpoint: &'a Checkpoint) -> Self {
        let config = checkpoint.source.config.as_ref().map(|config| &config.value);
        Self { checkpoint, stacked: config.and_then(model_type).and_then(stacked) }
    }

    fn parts(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let contents = self.checkpoint.tensors().iter().zip(&self.checkpoint.contents);
        contents.map(|(tensor, content)| Part { tensor, content })
    }

    fn get(&self, name: &str) -> Option<Part<'a>> {
        let (tensor, content) = self.checkpoint.content(name).ok()?;
        Some(Part { tensor, content })
    }

    /// How a stack is permuted beside the stack of the same name of the other side, whose matrices are transposed.
    fn order_beside(&self, part: Part<'_>, of: &Self, other: Part<'_>) -> Option<Order> {
        let ([n, rows, cols], [m, other_rows, other_cols]) =
            (&part.tensor.shape[..], &other.tensor.shape[..])
        else {
            return None;
        };
        let is_transpose = (n, rows, cols) == (m, other_cols, other_rows);
        let models = self.stacked.zip(of.stacked);
        let differs = match models.filter(|(a, b)| a.interleaved == b.interleaved) {
            Some((a, b)) => a.transposed != b.transposed,
            None => rows != cols,
        };
        let stacks = stack(&part.tensor.name).is_some() && is_transpose && differs;
        stacks.then_some(Order { rows: *cols, cols: *rows, transposed: true, interleaved: false })
    }
}

/// A tensor of one side, and the weights of the other side that it fuses or stacks.
struct Split<'a> {
    whole: Part<'a>,
    parts: Vec<Part<'a>>,
    order: Option<Order>,
    /// Whether the shapes fit.
    fits: bool,
}

impl<'a> Split<'a> {
    fn chain(&self) -> Chain<'a> {
        Chain { parts: self.parts.clone(), order: None }
    }
}

/// The tensors of one side that the other side has in parts.
struct Splits<'a> {
    all: Vec<Split<'a>>,
    wholes: HashMap<&'a str, usize>,
    parts: HashMap<&'a str, usize>,
}

impl<'a> Splits<'a> {
    fn new(side: &Side<'a>, other: &Side<'a>) -> Self {
        let mut splits = Self { all: Vec::new(), wholes: HashMap::new(), parts: HashMap::new() };
        for whole in side.parts().filter(|part| other.get(&part.tensor.name).is_none()) {
            let Some(parts) = parts(whole.tensor, side, other) else { continue };
            let index = splits.all.len();
            splits.wholes.insert(&whole.tensor.name, index);
            splits.parts.extend(parts.iter().map(|part| (part.tensor.name.as_str(), index)));
            let stacked = side.stacked.or(other.stacked);
            let (fits, order) = match stacked_shape(whole.tensor) {
                Some(_) => stack_order(whole.tensor, &parts, stacked),
                None => (follow(whole.tensor, &parts), None),
            };
            splits.all.push(Split { whole, parts, order, fits });
        }
        splits
    }

    /// The split of a tensor that is split.
    fn whole(&self, name: &str) -> Option<&Split<'a>> {
        self.wholes.get(name).map(|index| &self.all[*index])
    }

    /// The split with this part.
    fn part(&self, name: &str) -> Option<&Split<'a>> {
        self.parts.get(name).map(|index| &self.all[*index])
    }
}

/// The experts, the last part of the name, and what the names of their weights end with, if a tensor stacks weights or biases of experts.
fn stacked_shape(tensor: &Tensor) -> Option<(String, &'static str, &'static str)> {
    let name = tensor.name.as_str();
    let bias = name.strip_suffix("_bias").or_else(|| name.strip_suffix(".bias"));
    let Stack { experts, last, .. } = stack(bias.unwrap_or(name))?;
    match (tensor.shape.len(), bias) {
        (3, None) => Some((experts, last, "weight")),
        (2, Some(_)) => Some((experts, last, "bias")),
        _ => None,
    }
}

/// The weights that a tensor fuses or stacks, if the other side has them all and this side has none of them.
fn parts<'a>(whole: &Tensor, side: &Side<'a>, other: &Side<'a>) -> Option<Vec<Part<'a>>> {
    let get = |name: String| other.get(&name).filter(|_| side.get(&name).is_none());
    if let Some((experts, last, end)) = stacked_shape(whole) {
        let (_, spellings) = EXPERTS.iter().find(|(name, _)| *name == last)?;
        let of = |names: &&[&str]| -> Option<Vec<Part<'a>>> {
            let each = (0..whole.shape[0]).flat_map(|expert| names.iter().map(move |name| (expert, name)));
            each.map(|(expert, name)| get(format!("{experts}.{expert}.{name}.{end}"))).collect()
        };
        return spellings.iter().find_map(of).filter(|parts| !parts.is_empty());
    }
    let (module, end) = whole.name.rsplit_once('.')?;
    let (parent, last) = module.rsplit_once('.')?;
    let set = FUSED.iter().find(|set| set.alias == Some(last))?;
    set.parts.iter().map(|part| get(format!("{parent}.{part}.{end}"))).collect()
}

/// Whether the rows of the parts follow each other in the whole.
fn follow(whole: &Tensor, parts: &[Part<'_>]) -> bool {
    let rows: usize = parts.iter().map(|part| part.tensor.shape.first().copied().unwrap_or(0)).sum();
    let like = |part: &Part<'_>| part.tensor.shape.get(1..) == whole.shape.get(1..);
    whole.shape.first() == Some(&rows) && parts.iter().all(like)
}

/// Whether the matrices of a stack fit its weights, and how they are permuted.
fn stack_order(whole: &Tensor, parts: &[Part<'_>], stacked: Option<Stacked>) -> (bool, Option<Order>) {
    let first = &parts[0].tensor.shape;
    let per_expert = parts.len() / whole.shape[0];
    let rows = per_expert * first.first().copied().unwrap_or(0);
    // A bias is a matrix of one column.
    let cols = first.get(1).copied().unwrap_or(1);
    let (is_stored, is_transpose) = match &whole.shape[1..] {
        [outputs] => ([*outputs, 1] == [rows, cols], false),
        [x, y] => {
            let (plain, transposed) = ([*x, *y] == [rows, cols], [*y, *x] == [rows, cols]);
            let is_transpose = stacked.map_or(!plain, |stacked| stacked.transposed);
            (if is_transpose { transposed } else { plain }, is_transpose)
        }
        _ => (false, false),
    };
    let fits = is_stored && parts.iter().all(|part| part.tensor.shape == *first);
    let interleaved = per_expert == 2 && stacked.is_some_and(|stacked| stacked.interleaved);
    let order = Order { rows, cols, transposed: is_transpose, interleaved };
    (fits, (is_transpose || interleaved).then_some(order))
}

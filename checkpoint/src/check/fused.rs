//! Weights that loaders concatenate: they need one way of storing codes, and one global scale.

use std::collections::BTreeMap;

use super::{Finding, Kind, Loader, Severity, Subject};
use crate::{
    checkpoint::{Content, Tensor},
    coding::{Coding, Factor, Id},
    quantize::fused,
};

/// Layouts whose loaders concatenate nothing.
const SEPARATE: &[&str] = &["MLX", "ComfyUI", "GGUF"];

/// A part of a set: the last part of its name, and its weight.
type Part<'t> = (&'t str, &'t Tensor, &'t Content);

/// Adds a finding for each set whose parts differ.
pub(super) fn check(of: &Subject<'_>, findings: &mut Vec<Finding>) {
    // Parts that differ are refused or have wrong values there. Other loaders may fuse nothing.
    let severity = match of.loader {
        Some(Loader::Vllm | Loader::Sglang) => Severity::Error,
        Some(_) => return,
        None if SEPARATE.contains(&of.checkpoint.layout()) => return,
        None => Severity::Warning,
    };
    let mut sets: BTreeMap<(&str, &str), Vec<Part<'_>>> = BTreeMap::new();
    for (tensor, content) in of.contents() {
        let module = tensor.name.strip_suffix(".weight").unwrap_or_default();
        if let Some((parent, set)) = fused(module) {
            let part = module.rsplit('.').next().unwrap_or(module);
            sets.entry((parent, set.parts[0])).or_default().push((part, tensor, content));
        }
    }
    for ((parent, _), parts) in sets {
        let [(first, tensor, content), rest @ ..] = &parts[..] else { continue };
        let (stored, first_content) = (of.stored(content), content);
        let storage = storage(tensor, content);
        let mut said = false;
        for (part, tensor, content) in rest {
            let other = self::storage(tensor, content);
            if !said && other != storage && !has_same_blocks(first_content, content) {
                said = true;
                let what = format!(
                    "loaders concatenate \"{first}\" and \"{part}\" of \"{parent}\", which are stored differently: {storage} and {other}"
                );
                let remedy = "quantize all parts in one way, or none";
                findings.push(of.finding(Kind::FusedSet, severity, stored, what, remedy));
            }
        }
        let globals: Vec<(&str, f32)> =
            parts.iter().filter_map(|(part, _, content)| Some((*part, global(of, content)?))).collect();
        let Some((_, value)) = globals.first() else { continue };
        if globals.iter().any(|(_, other)| other != value) {
            let all: Vec<String> = globals.iter().map(|(part, value)| format!("{part} {value}")).collect();
            let what = format!(
                "loaders concatenate parts of \"{parent}\" and use one global scale for all of them, and they have unequal ones: {}",
                all.join(", ")
            );
            let remedy = "quantize the parts again with one global scale";
            findings.push(of.finding(Kind::FusedSet, severity, stored, what, remedy));
        }
    }
}

/// Whether two weights have codes of one kind in blocks of one size. A weight of one block of 128 rows is stored as others of several are.
fn has_same_blocks(one: &Content, other: &Content) -> bool {
    let (Content::Coded(one), Content::Coded(other)) = (one, other) else { return false };
    let (Some(a), Some(b)) = (&one.scales, &other.scales) else { return false };
    let same = |[a, b]: [usize; 2], [of_a, of_b]: [usize; 2]| {
        a == b && of_a >= a && of_b >= b || a >= of_a && b >= of_b
    };
    let is_same_kind = one.packing.bits == other.packing.bits && one.values.name() == other.values.name();
    is_same_kind
        && same([a.block[0], b.block[0]], [one.rows, other.rows])
        && same([a.block[1], b.block[1]], [one.cols, other.cols])
}

/// How a weight is stored, in words.
fn storage(tensor: &Tensor, content: &Content) -> String {
    match content {
        Content::Plain(_) => tensor.dtype.map_or("plain", |dtype| dtype.name()).to_owned(),
        Content::Blocks(..) => tensor.layout.to_owned(),
        Content::Coded(coding) => coded(coding),
    }
}

fn coded(coding: &Coding) -> String {
    let block = coding.scales.as_ref().map(|scales| {
        // A block of a whole row or matrix has the size of the weight.
        let axis = |size: usize, all: usize| if size >= all { "all".to_owned() } else { size.to_string() };
        format!(
            " in blocks of {} by {}",
            axis(scales.block[0], coding.rows),
            axis(scales.block[1], coding.cols)
        )
    });
    let bits = coding.packing.bits;
    format!("codes of {bits} bits ({}){}", coding.values.name(), block.unwrap_or_default())
}

/// The global scale of a weight.
fn global(of: &Subject<'_>, content: &Content) -> Option<f32> {
    let Content::Coded(coding) = content else { return None };
    let (Factor::Times(id) | Factor::Over(id)) = coding.factor else { return None };
    one_float(of, id)
}

/// The value of a tensor that has one `float32`.
fn one_float(of: &Subject<'_>, id: Id) -> Option<f32> {
    let source = &of.checkpoint.source;
    let bytes = source.read_all(&source.tensors[id]).ok()?;
    Some(f32::from_le_bytes(bytes.try_into().ok()?))
}

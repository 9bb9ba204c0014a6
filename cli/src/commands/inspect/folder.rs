//! A checkpoint, a folder or a file: its modules as a tree, and what each dtype takes.

use std::{collections::BTreeMap, path::Path};

use indicatif::BinaryBytes;
use lanecast_checkpoint::{Checkpoint, Tensor};
use lanecast_files::{Selection, Stats};
use serde::Serialize;

use super::values::{self, Named, Request};
use crate::{
    args::{Inspect, Sort},
    error::{Failure, Result},
    output,
    report::json,
    terminal, text,
};

#[derive(Serialize)]
struct Inspected<'a> {
    /// The path of a checkpoint that is a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The path of a checkpoint that is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    layout: &'a str,
    tensors: Vec<Row<'a>>,
    totals: Vec<Total<'a>>,
    parameters: u64,
    bytes: u64,
    warnings: &'a [String],
}

/// A tensor as a plain checkpoint would have it.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    /// `null` for codes.
    dtype: Option<&'a str>,
    layout: &'a str,
    shape: &'a [usize],
    elements: u64,
    /// With scales and other companions.
    bytes: u64,
    /// Absent unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a Stats>,
}

impl<'a> Row<'a> {
    fn new(tensor: &'a Tensor, stats: Option<&'a Stats>) -> Self {
        Self {
            name: &tensor.name,
            dtype: tensor.dtype.map(|dtype| dtype.name()),
            layout: tensor.layout,
            shape: &tensor.shape,
            elements: tensor.elements() as u64,
            bytes: tensor.stored_bytes,
            stats,
        }
    }
}

/// The tensors that are stored in one way.
#[derive(Clone, Default, Serialize)]
struct Total<'a> {
    stored: &'a str,
    tensors: u64,
    parameters: u64,
    bytes: u64,
}

/// The dtype, or the layout of codes.
fn stored(tensor: &Tensor) -> &str {
    tensor.dtype.map_or(tensor.layout, |dtype| dtype.name())
}

/// Lists the tensors of a checkpoint, which is called `shown` in messages.
pub fn run(args: &Inspect, path: &Path, shown: &Path) -> Result<()> {
    if let (true, Some(_)) = (path.is_dir(), args.format) {
        let what = "--format is for files, not for folders";
        return Err(Failure::usage(what).at_path(shown).advise("name the .safetensors files in it"));
    }
    list(args, path, shown).map_err(|failure| failure.renamed(path, shown))
}

fn list(args: &Inspect, path: &Path, shown: &Path) -> Result<()> {
    let checkpoint = Checkpoint::open(path)?;
    let placed = |e: lanecast_files::Error| {
        let option = e.detail().map(|detail| format!("{}, --{}", shown.display(), detail.place));
        Failure::from(e).placed(option)
    };
    let selection = Selection::new(None, &args.include, &args.exclude).map_err(placed)?;
    selection
        .check_patterns(checkpoint.tensors().iter().map(|tensor| tensor.name.as_str()))
        .map_err(placed)?;
    let mut tensors: Vec<&Tensor> =
        checkpoint.tensors().iter().filter(|tensor| selection.allows(&tensor.name)).collect();
    match args.sort {
        Some(Sort::Name) => tensors.sort_by(|x, y| x.name.cmp(&y.name)),
        Some(Sort::Size) => tensors.sort_by_key(|tensor| std::cmp::Reverse(tensor.stored_bytes)),
        None => {}
    }
    let request = Request::new(args);
    let stats = request.of_checkpoint(&checkpoint, &tensors)?;
    let totals = totals(&tensors);
    let path_is_folder = path.is_dir();
    // The name of a temporary file says nothing.
    let name = |warning: &String| warning.replace(&*path.to_string_lossy(), &shown.to_string_lossy());
    let warnings: Vec<String> = checkpoint.warnings().iter().map(name).collect();
    let parameters = totals.iter().map(|total| total.parameters).sum();
    let bytes = totals.iter().map(|total| total.bytes).sum();
    if args.json {
        let of = |i: usize| stats.get(i).and_then(Option::as_ref);
        let path = Some(shown.display().to_string());
        let (folder, file) = if path_is_folder { (path, None) } else { (None, path) };
        let tensors = tensors.iter().enumerate().map(|(i, tensor)| Row::new(tensor, of(i))).collect();
        let (layout, warnings) = (checkpoint.layout(), &warnings);
        return output::print(&json(&Inspected {
            folder,
            file,
            layout,
            tensors,
            totals,
            parameters,
            bytes,
            warnings,
        })?);
    }
    for warning in warnings.iter().filter(|_| !terminal::quiet()) {
        // Standard error may be closed.
        let _ = terminal::warning(&format!("lanecast: warning: {}\n", text::one_line(warning)));
    }
    let mut rows = vec![["name", "stored as", "shape", "parameters", "size"].map(str::to_owned).to_vec()];
    match args.sort {
        Some(_) => rows.extend(tensors.iter().map(|tensor| leaf(text::shown(&tensor.name), tensor))),
        None => Node::of(&tensors).rows(0, &mut rows),
    }
    let mut out = text::headed(&rows);
    let head = ["stored as", "tensors", "parameters", "bytes", "bits per parameter"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Total { stored, tensors, parameters, bytes } in &totals {
        let bits = 8.0 * *bytes as f64 / (*parameters).max(1) as f64;
        rows.push(vec![
            (*stored).to_owned(),
            tensors.to_string(),
            amount(*parameters),
            text::size(*bytes),
            format!("{bits:.2}"),
        ]);
    }
    out.push_str(&format!("\n{}", text::headed(&rows)));
    if request.wanted {
        let named: Vec<Named<'_>> =
            tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.dtype)).collect();
        out.push_str(&values::tables(&named, &stats, args));
    }
    let count = text::count(tensors.len() as u64, "tensor");
    out.push_str(&format!(
        "{count}, {} parameters, {}, layout {}\n",
        amount(parameters),
        text::bytes(bytes),
        checkpoint.layout()
    ));
    output::print_styled(&out)
}

/// The totals, the largest first.
fn totals<'a>(tensors: &[&'a Tensor]) -> Vec<Total<'a>> {
    let mut totals: BTreeMap<&str, Total<'a>> = BTreeMap::new();
    for tensor in tensors {
        let total = totals.entry(stored(tensor)).or_default();
        total.stored = stored(tensor);
        total.tensors += 1;
        total.parameters += tensor.elements() as u64;
        total.bytes += tensor.stored_bytes;
    }
    let mut totals: Vec<Total<'a>> = totals.into_values().collect();
    totals.sort_by_key(|total| std::cmp::Reverse(total.bytes));
    totals
}

/// A number of parameters for people: `950`, `1.54 M`, `671.03 B`.
fn amount(n: u64) -> String {
    let units = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")];
    match units.iter().find(|(unit, _)| n as f64 >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", n as f64 / unit),
        None => n.to_string(),
    }
}

fn leaf(name: String, tensor: &Tensor) -> Vec<String> {
    let shape: Vec<u64> = tensor.shape.iter().map(|axis| *axis as u64).collect();
    let size = BinaryBytes(tensor.stored_bytes).to_string();
    vec![name, stored(tensor).to_owned(), text::tuple(&shape), amount(tensor.elements() as u64), size]
}

/// A part of a name. Numbers are in numeric order, before words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'t> {
    Number(u64),
    Word(&'t str),
}

impl<'t> Part<'t> {
    fn of(text: &'t str) -> Self {
        // Leading zeros would make two parts equal.
        let number = text.parse::<u64>().ok().filter(|number| number.to_string() == text);
        number.map_or(Self::Word(text), Self::Number)
    }

    fn shown(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => text::one_line(word),
        }
    }
}

/// A module: what is behind a part of the names of tensors.
#[derive(Default)]
struct Node<'t> {
    tensor: Option<&'t Tensor>,
    children: BTreeMap<Part<'t>, Node<'t>>,
    parameters: u64,
    bytes: u64,
    /// Names, dtypes and shapes of all tensors below, for modules that are alike.
    signature: String,
}

impl<'t> Node<'t> {
    fn of(tensors: &[&'t Tensor]) -> Self {
        let mut root = Self::default();
        for tensor in tensors {
            let mut node = &mut root;
            for part in tensor.name.split('.') {
                node = node.children.entry(Part::of(part)).or_default();
            }
            node.tensor = Some(tensor);
        }
        root.sum();
        root
    }

    fn sum(&mut self) {
        if let Some(tensor) = self.tensor {
            (self.parameters, self.bytes) = (tensor.elements() as u64, tensor.stored_bytes);
            self.signature = format!("{} {:?} {}", stored(tensor), tensor.shape, tensor.stored_bytes);
        }
        for (part, child) in &mut self.children {
            child.sum();
            self.parameters += child.parameters;
            self.bytes += child.bytes;
            self.signature.push_str(&format!("({part:?}{})", child.signature));
        }
    }

    /// Adds a row for each module and tensor below. Numbered modules that are alike share their rows.
    fn rows(&self, depth: usize, rows: &mut Vec<Vec<String>>) {
        let children: Vec<(Part<'t>, &Self)> =
            self.children.iter().map(|(part, child)| (*part, child)).collect();
        let alike = |x: &(Part<'t>, &Self), y: &(Part<'t>, &Self)| match (x.0, y.0) {
            (Part::Number(x_at), Part::Number(y_at)) => {
                x_at.checked_add(1) == Some(y_at) && x.1.signature == y.1.signature
            }
            _ => false,
        };
        for run in children.chunk_by(alike) {
            let [(part, first), .., (last, _)] = run else {
                let (part, child) = run[0];
                child.named(part.shown(), depth, rows);
                continue;
            };
            let n = run.len() as u64;
            rows.push(first.module(format!("{}-{}", part.shown(), last.shown()), depth, n));
            first.rows(depth + 1, rows);
        }
    }

    /// Adds the rows of this module. Modules with one child are joined with it.
    fn named(&self, name: String, depth: usize, rows: &mut Vec<Vec<String>>) {
        match (self.tensor, self.children.first_key_value()) {
            (None, Some((part, child))) if self.children.len() == 1 => {
                child.named(format!("{name}.{}", part.shown()), depth, rows);
            }
            (tensor, first) => {
                rows.extend(tensor.map(|tensor| leaf(indented(&name, depth), tensor)));
                if first.is_some() {
                    rows.push(self.module(name, depth, 1));
                    self.rows(depth + 1, rows);
                }
            }
        }
    }

    /// The row of a module, or of `n` modules that are alike.
    fn module(&self, name: String, depth: usize, n: u64) -> Vec<String> {
        let alike = if n == 1 { String::new() } else { format!("{n} alike, each as below") };
        let size = BinaryBytes(n * self.bytes).to_string();
        vec![indented(&name, depth), alike, String::new(), amount(n * self.parameters), size]
    }
}

fn indented(name: &str, depth: usize) -> String {
    format!("{}{}", "  ".repeat(depth), if name.is_empty() { "-" } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_two_decimals() {
        let of =
            [(0, "0"), (999, "999"), (1000, "1.00 K"), (1_540_000, "1.54 M"), (671_026_419_200, "671.03 B")];
        assert!(of.iter().all(|(n, text)| amount(*n) == *text));
    }

    #[test]
    fn parts_are_numbers_or_words() {
        assert!(Part::of("2") < Part::of("10") && Part::of("10") < Part::of("a"));
        assert_eq!(Part::of("01"), Part::Word("01"));
    }
}

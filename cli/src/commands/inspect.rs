//! `lanecast inspect`.

mod folder;
mod histogram;
mod values;

use std::path::Path;

use lanecast::{ByteOrder, DType};
use lanecast_files::{Error, Number, Place, Progress, Selection, Settings, Stats, TensorFile, TensorInfo};
use serde::Serialize;

use super::{progress::Bar, sink::tensor_file};
use crate::{
    args::{Inspect, Sort},
    error::{Failure, Result},
    meant::Target,
    output,
    report::{in_words, json},
    signals, text,
};

#[derive(Serialize)]
struct Inspected<'a> {
    file: String,
    format: &'static str,
    tensors: Vec<Row<'a>>,
    bytes: u64,
    metadata: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    dtype: &'a str,
    shape: Option<&'a [u64]>,
    elements: Option<u64>,
    bytes: u64,
    /// `little` or `big`, for elements of several bytes.
    byte_order: Option<&'static str>,
    /// `C` or `F`.
    memory_order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compressed_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external: Option<External<'a>>,
    /// Absent unless requested; `null` if the tensor has no statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<&'a Option<Stats>>,
}

#[derive(Serialize)]
struct External<'a> {
    location: &'a str,
    offset: u64,
}

impl<'a> Row<'a> {
    fn new(tensor: &'a TensorInfo, stats: Option<&'a Option<Stats>>) -> Self {
        let external = match &tensor.place {
            Place::External { location, offset } => Some(External { location, offset: *offset }),
            _ => None,
        };
        Self {
            name: &tensor.name,
            dtype: &tensor.described,
            shape: tensor.shape.as_deref(),
            elements: tensor.elements,
            bytes: tensor.bytes,
            byte_order: byte_order(tensor),
            memory_order: tensor.shape.as_ref().map(|_| if tensor.fortran_order { "F" } else { "C" }),
            compression: tensor.compression.as_ref().map(|of| of.method.as_str()),
            compressed_bytes: tensor.compression.as_ref().map(|of| of.bytes),
            external,
            stats,
        }
    }

    /// How the elements are stored, in words.
    fn layout(&self) -> String {
        let mut words = Vec::new();
        words.extend(self.byte_order.map(|order| format!("{order}-endian")));
        words.extend(
            self.memory_order.map(|order| if order == "F" { "Fortran order" } else { "C order" }.into()),
        );
        if let (Some(method), Some(bytes)) = (self.compression, self.compressed_bytes) {
            words.push(match method {
                "stored" => method.to_owned(),
                method => format!("{} to {}", text::one_line(method), text::count(bytes, "byte")),
            });
        }
        words.extend(
            self.external
                .as_ref()
                .map(|External { location, offset }| format!("in {} at {offset}", text::one_line(location))),
        );
        words.join(", ")
    }
}

fn byte_order(tensor: &TensorInfo) -> Option<&'static str> {
    let buffer = tensor.buffer.filter(|buffer| buffer.dtype().size() > 1)?;
    Some(match buffer.order() {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    })
}

/// Runs the subcommand.
pub fn run(args: &Inspect) -> Result<()> {
    signals::watch();
    for (i, input) in args.inputs.iter().enumerate() {
        if args.inputs.len() > 1 && !args.json {
            let path = input.display().to_string();
            let before = if i > 0 { "\n" } else { "" };
            output::print(&format!("{before}{}:\n", text::one_line(&path)))?;
        }
        match input.is_dir() {
            true => folder::run(args, input)?,
            false => file(args, input)?,
        }
    }
    Ok(())
}

/// The different targets of `--what-if`.
fn targets(args: &Inspect) -> Vec<Target> {
    let mut targets = Vec::new();
    for target in args.what_if.iter().flat_map(|targets| &targets.0) {
        if !targets.contains(target) {
            targets.push(*target);
        }
    }
    targets
}

/// Lists the tensors of a file.
fn file(args: &Inspect, input: &Path) -> Result<()> {
    let mut file = TensorFile::of(tensor_file(input)?, args.format)?;
    let mut chosen = choose(args, &file)?;
    let of = |index: &usize| &file.tensors()[*index];
    match args.sort {
        Some(Sort::Name) => chosen.sort_by(|x, y| of(x).name.cmp(&of(y).name)),
        Some(Sort::Size) => chosen.sort_by_key(|index| std::cmp::Reverse(of(index).bytes)),
        None => {}
    }
    let mut dtypes: Vec<DType> = Vec::new();
    for target in targets(args) {
        match target {
            Target::DType(dtype) => dtypes.push(dtype),
            Target::Scheme(name, _) => {
                let what = format!("{name} is a scheme, and --what-if counts what casts to dtypes lose");
                let advice = "name the folder of the checkpoint, for which --what-if takes schemes";
                return Err(Failure::usage(what).at_path(input).advise(advice));
            }
        }
    }
    let targets = dtypes;
    let with_stats = args.stats || args.histogram || !targets.is_empty();
    let mut stats = Vec::new();
    if with_stats {
        let settings = Settings::default();
        let total = chosen.iter().map(|index| file.tensors()[*index].bytes).fold(0, u64::saturating_add);
        let (bar, mut done) = (Bar::new(Some(total)), 0);
        let mut go_on = |bytes: u64| {
            done += bytes;
            bar.show(Progress { done, total: Some(total) });
            if signals::ended() { Err(Error::Cancelled) } else { Ok(()) }
        };
        for index in &chosen {
            stats.push(file.stats(*index, &targets, &settings, &mut go_on)?);
        }
    }
    let rows: Vec<Row> =
        chosen.iter().enumerate().map(|(i, index)| Row::new(&file.tensors()[*index], stats.get(i))).collect();
    let bytes = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
    if args.json {
        let metadata = file.metadata().iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
        let (path, format) = (file.path().display().to_string(), file.format().name());
        return output::print(&json(&Inspected { file: path, format, tensors: rows, bytes, metadata })?);
    }
    let mut out = to_text(&file, &rows, bytes);
    if with_stats {
        let infos: Vec<&TensorInfo> = chosen.iter().map(|index| &file.tensors()[*index]).collect();
        out.push_str(&statistics(&infos, &stats));
        if !targets.is_empty() {
            out.push_str(&losses(&infos, &stats));
        }
        if args.histogram {
            out.push_str(&histogram::draw_all(&infos, &stats));
        }
    }
    output::print_styled(&out)
}

/// The indices of the tensors that the patterns select.
fn choose(args: &Inspect, file: &TensorFile) -> Result<Vec<usize>> {
    let placed = |e: lanecast_files::Error| {
        let file = file.path().display();
        let option = e.detail().map(|detail| format!("{file}, --{}", detail.place));
        Failure::from(e).placed(option)
    };
    let selection = Selection::new(None, &args.include, &args.exclude).map_err(placed)?;
    selection.check_patterns(file.tensors().iter().map(|tensor| tensor.name.as_str())).map_err(placed)?;
    Ok((0..file.tensors().len()).filter(|index| selection.allows(&file.tensors()[*index].name)).collect())
}

fn to_text(file: &TensorFile, tensors: &[Row<'_>], bytes: u64) -> String {
    let mut rows = vec![["name", "dtype", "shape", "bytes", "layout"].map(str::to_owned).to_vec()];
    for tensor in tensors {
        rows.push(vec![
            text::shown(tensor.name),
            text::one_line(tensor.dtype),
            tensor.shape.map_or_else(|| "-".to_owned(), text::tuple),
            text::size(tensor.bytes),
            tensor.layout(),
        ]);
    }
    let mut out = text::headed(&rows);
    let count = text::count(tensors.len() as u64, "tensor");
    out.push_str(&format!("{count}, {}\n", text::bytes(bytes)));
    for (key, value) in file.metadata() {
        out.push_str(&format!("metadata {} = {}\n", text::one_line(key), text::one_line(value)));
    }
    out
}

fn statistics(tensors: &[&TensorInfo], stats: &[Option<Stats>]) -> String {
    let head = ["name", "min", "max", "NaN", "infinite", "zero", "subnormal"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (tensor, stats) in tensors.iter().zip(stats) {
        let mut row = vec![text::shown(&tensor.name)];
        match stats {
            Some(of) => {
                row.extend([of.min, of.max].map(|x| number(x, tensor.dtype())));
                row.extend([of.nan, of.infinities, of.zeros, of.subnormals].map(|n| n.to_string()));
            }
            None => row.extend(vec!["-".to_owned(); head.len() - 1]),
        }
        rows.push(row);
    }
    format!("\n{}", text::headed(&rows))
}

/// A number in the fewest digits that distinguish it from all others of its dtype.
fn number(number: Option<Number>, dtype: Option<DType>) -> String {
    let wide = matches!(dtype, Some(DType::Float64 | DType::Complex128));
    match number {
        None => "-".to_owned(),
        Some(Number::Int(x)) => x.to_string(),
        Some(Number::Float(x)) => {
            let plain = x == 0.0 || (1e-4..1e7).contains(&x.abs());
            match (plain, wide) {
                (true, true) => x.to_string(),
                (false, true) => format!("{x:e}"),
                (true, false) => (x as f32).to_string(),
                (false, false) => format!("{:e}", x as f32),
            }
        }
    }
}

fn losses(tensors: &[&TensorInfo], stats: &[Option<Stats>]) -> String {
    let mut rows = vec![["name", "cast to", "bytes", "lost"].map(str::to_owned).to_vec()];
    for (tensor, stats) in tensors.iter().zip(stats) {
        for cast in stats.iter().flat_map(|stats| &stats.what_if) {
            let counts = cast.counts.counts();
            let lost: Vec<String> = counts
                .iter()
                .filter(|(_, n)| *n > 0)
                .map(|(name, n)| format!("{n} {}", in_words(name, *n)))
                .collect();
            let lost = if lost.is_empty() { "nothing".to_owned() } else { lost.join(", ") };
            rows.push(vec![
                text::shown(&tensor.name),
                cast.to.name().to_owned(),
                cast.bytes.to_string(),
                lost,
            ]);
        }
    }
    format!("\n{}", text::headed(&rows))
}

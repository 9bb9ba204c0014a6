//! A file of tensors: how each of them is stored.

use lanecast::ByteOrder;
use lanecast_files::{Input, Place, Selection, Stats, TensorFile, TensorInfo};
use serde::Serialize;

use super::values::{self, Named, Request};
use crate::{
    args::{Inspect, Sort},
    error::{Failure, Result},
    output,
    report::json,
    text,
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

/// Lists the tensors of a file.
pub fn run(args: &Inspect, input: Input) -> Result<()> {
    let mut file = TensorFile::of(input, args.format)?;
    let mut chosen = choose(args, &file)?;
    let of = |index: &usize| &file.tensors()[*index];
    match args.sort {
        Some(Sort::Name) => chosen.sort_by(|x, y| of(x).name.cmp(&of(y).name)),
        Some(Sort::Size) => chosen.sort_by_key(|index| std::cmp::Reverse(of(index).bytes)),
        None => {}
    }
    let request = Request::new(args);
    let stats = request.of_file(&mut file, &chosen)?;
    let rows: Vec<Row> =
        chosen.iter().enumerate().map(|(i, index)| Row::new(&file.tensors()[*index], stats.get(i))).collect();
    let bytes = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
    if args.json {
        let metadata = file.metadata().iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
        let (path, format) = (file.path().display().to_string(), file.format().name());
        return output::print(&json(&Inspected { file: path, format, tensors: rows, bytes, metadata })?);
    }
    let mut out = to_text(&file, &rows, bytes);
    if request.wanted {
        let named = |index: &usize| (file.tensors()[*index].name.as_str(), file.tensors()[*index].dtype());
        let named: Vec<Named<'_>> = chosen.iter().map(named).collect();
        out.push_str(&values::tables(&named, &stats, args));
        out.push_str(&values::losses(&named, &stats));
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

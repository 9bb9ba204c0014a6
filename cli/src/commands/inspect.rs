//! `lanecast inspect`.

use lanecast_files::{TensorFile, TensorInfo};
use serde::Serialize;

use crate::{args::Inspect, error::Result, output, report::json, terminal, text};

#[derive(Serialize)]
struct Inspected<'a> {
    file: String,
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
}

impl<'a> From<&'a TensorInfo> for Row<'a> {
    fn from(tensor: &'a TensorInfo) -> Self {
        Self {
            name: &tensor.name,
            dtype: &tensor.described,
            shape: tensor.shape.as_deref(),
            elements: tensor.elements,
            bytes: tensor.bytes,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Inspect) -> Result<()> {
    let file = match args.format {
        Some(format) => TensorFile::open_as(&args.input, format),
        None => TensorFile::open(&args.input),
    }?;
    let bytes = file.tensors().iter().map(|t| t.bytes).fold(0, u64::saturating_add);
    if args.json {
        let metadata = file.metadata().iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
        let tensors = file.tensors().iter().map(Row::from).collect();
        let file = args.input.display().to_string();
        return output::print(&json(&Inspected { file, tensors, bytes, metadata })?);
    }
    terminal::print(&to_text(&file, bytes))
}

fn to_text(file: &TensorFile, bytes: u64) -> String {
    let mut rows = vec![["name", "dtype", "shape", "bytes"].map(str::to_owned).to_vec()];
    for tensor in file.tensors() {
        rows.push(vec![
            text::one_line(if tensor.name.is_empty() { "-" } else { &tensor.name }),
            text::one_line(&tensor.described),
            tensor.shape.as_deref().map_or_else(|| "-".to_owned(), text::tuple),
            tensor.bytes.to_string(),
        ]);
    }
    let mut out = text::headed(&rows);
    out.push_str(&format!(
        "{}, {}\n",
        text::count(file.tensors().len() as u64, "tensor"),
        text::count(bytes, "byte")
    ));
    for (key, value) in file.metadata() {
        out.push_str(&format!("metadata {} = {}\n", text::one_line(key), text::one_line(value)));
    }
    out
}

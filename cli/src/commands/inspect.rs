//! `lanecast inspect`.

use serde::Serialize;

use crate::{
    args::Inspect,
    error::Result,
    formats::{Format, Listed, Listing, npy, npz, onnx, safetensors},
    output,
    report::json,
    terminal, text,
};

#[derive(Serialize)]
struct Inspected<'a> {
    file: String,
    tensors: &'a [Listed],
    bytes: u64,
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// Runs the subcommand.
pub fn run(args: &Inspect) -> Result<()> {
    let listing = match Format::of(&args.input)? {
        Format::Safetensors => safetensors::list(&args.input),
        Format::Npy => npy::list(&args.input),
        Format::Npz => npz::list(&args.input),
        Format::Onnx => onnx::list(&args.input),
    }?;
    let bytes = listing.tensors.iter().map(|t| t.bytes).fold(0, u64::saturating_add);
    if args.json {
        let metadata = listing.metadata.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
        let file = args.input.display().to_string();
        return output::print(&json(&Inspected { file, tensors: &listing.tensors, bytes, metadata })?);
    }
    terminal::print(&to_text(&listing, bytes))
}

fn to_text(listing: &Listing, bytes: u64) -> String {
    let mut rows = vec![["name", "dtype", "shape", "bytes"].map(str::to_owned).to_vec()];
    for tensor in &listing.tensors {
        rows.push(vec![
            text::one_line(if tensor.name.is_empty() { "-" } else { &tensor.name }),
            text::one_line(&tensor.dtype),
            tensor.shape.as_deref().map_or_else(|| "-".to_owned(), text::tuple),
            tensor.bytes.to_string(),
        ]);
    }
    let mut out = text::headed(&rows);
    out.push_str(&format!("{} tensors, {bytes} bytes\n", listing.tensors.len()));
    for (key, value) in &listing.metadata {
        out.push_str(&format!("metadata {} = {}\n", text::one_line(key), text::one_line(value)));
    }
    out
}

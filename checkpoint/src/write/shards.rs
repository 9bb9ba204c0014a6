//! The names of shards, their index, and how tensors are divided among them.

use serde_json::Value;

use super::{NewTensor, Shard};
use crate::{
    folder::plain_name,
    source::{SINGLE, Source},
};

/// How tensors are divided among files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Each stays in the file that has it.
    Keep,
    /// Files have at most this number of bytes of tensors, unless a tensor has more.
    Size(u64),
}

/// Divides tensors, in the order of the files of the source, among shards, and names the shards. `metadata` returns the metadata of a file of the source.
pub(crate) fn name_shards<'a>(
    source: &Source,
    tensors: Vec<NewTensor<'a>>,
    cut: Cut,
    metadata: impl Fn(usize) -> Vec<(String, String)>,
) -> Vec<Shard<'a>> {
    match cut {
        Cut::Keep => kept(source, tensors, metadata),
        Cut::Size(most) => cut_by_size(tensors, most, metadata),
    }
}

/// A shard for each file that has tensors, under its name.
fn kept<'a>(
    source: &Source,
    tensors: Vec<NewTensor<'a>>,
    metadata: impl Fn(usize) -> Vec<(String, String)>,
) -> Vec<Shard<'a>> {
    let single = source.files.len() == 1 && source.missing.is_empty();
    let name = |name: &str| match plain_name(name) {
        Some(_) if single => SINGLE.to_owned(),
        Some(plain) => plain,
        // Readers of a folder without an index look for the extension.
        None if single && !name.ends_with(".safetensors") => SINGLE.to_owned(),
        None => name.to_owned(),
    };
    let empty = |(file, of): (usize, &crate::source::TensorsFile)| Shard {
        name: name(&of.name),
        metadata: metadata(file),
        tensors: Vec::new(),
        gguf: None,
    };
    let mut shards: Vec<Shard<'_>> = source.files.iter().enumerate().map(empty).collect();
    for tensor in tensors {
        shards[tensor.file].tensors.push(tensor);
    }
    // A file may have had companions of weights only.
    if shards.iter().any(|shard| !shard.tensors.is_empty()) {
        shards.retain(|shard| !shard.tensors.is_empty());
    }
    if let ([shard], true, true) = (&mut shards[..], source.is_folder, source.missing.is_empty()) {
        SINGLE.clone_into(&mut shard.name);
    }
    shards
}

/// Shards of at most `most` bytes, unless a tensor has more.
fn cut_by_size<'a>(
    tensors: Vec<NewTensor<'a>>,
    most: u64,
    metadata: impl Fn(usize) -> Vec<(String, String)>,
) -> Vec<Shard<'a>> {
    let first = metadata(tensors.first().map_or(0, |tensor| tensor.file));
    let mut parts: Vec<Vec<NewTensor<'a>>> = vec![Vec::new()];
    let mut size = 0_u64;
    for tensor in tensors {
        let bytes = tensor.bytes();
        let (last, n) = (parts.len() - 1, size.saturating_add(bytes));
        if n > most && !parts[last].is_empty() {
            parts.push(vec![tensor]);
            size = bytes;
        } else {
            parts[last].push(tensor);
            size = n;
        }
    }
    let count = parts.len();
    let name = |i: usize| match count {
        1 => SINGLE.to_owned(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", i + 1),
    };
    let shard = |(i, tensors)| Shard { name: name(i), metadata: first.clone(), tensors, gguf: None };
    parts.into_iter().enumerate().map(shard).collect()
}

/// The index of the shards: other members of the old one stay.
pub(crate) fn index(old: Option<&Value>, shards: &[Shard<'_>], total: u64) -> Value {
    let mut index = old.and_then(Value::as_object).cloned().unwrap_or_default();
    let mut metadata = index.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    metadata.insert("total_size".to_owned(), total.into());
    index.insert("metadata".to_owned(), metadata.into());
    let names = shards.iter().flat_map(|shard| {
        let file = Value::from(shard.name.clone());
        shard.tensors.iter().map(move |tensor| (tensor.declared.name.clone(), file.clone()))
    });
    let map: serde_json::Map<String, Value> = names.collect();
    index.insert("weight_map".to_owned(), map.into());
    index.into()
}

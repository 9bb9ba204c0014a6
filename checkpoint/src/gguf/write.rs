//! A GGUF file made of another one: the metadata is copied, and tensors keep their names and their order.
//!
//! *Law.* Keys keep their types and their order. Only `general.file_type` and `general.quantization_version` change, and what describes the
//! parts of a split model goes.

use std::path::Path;

use lanecast::{DType, gguf::BlockFormat};
use lanecast_files::{Result, formats::Declared};

use super::{MAGIC, Metadata, TYPES};
use crate::{
    error::{At, request, unsupported},
    folder::file_name,
    source::{Elements, Source, Stored},
    write::{NewTensor, Notes, Shard},
};

/// The version of the container.
const VERSION: u32 = 3;
/// The version of the blocks of ggml.
const QUANTIZATION_VERSION: u32 = 2;
/// The number of the type `uint32` in the metadata.
const UINT32: u32 = 4;
const FILE_TYPE: &str = "general.file_type";
const QUANTIZATION: &str = "general.quantization_version";
/// Keys that describe the parts of a split model.
const SPLIT: &str = "split.";
/// The largest alignment that is written.
const MAX_ALIGNMENT: u64 = 1 << 16;

/// The numbers by which ggml knows files that mostly have elements of a type.
const FILE_TYPES: &[(Elements, u32)] = &[
    (Elements::Plain(DType::Float32), 0),
    (Elements::Plain(DType::Float16), 1),
    (Elements::Blocks(BlockFormat::Q4_0), 2),
    (Elements::Blocks(BlockFormat::Q4_1), 3),
    (Elements::Blocks(BlockFormat::Q8_0), 7),
    (Elements::Blocks(BlockFormat::Q5_0), 8),
    (Elements::Blocks(BlockFormat::Q5_1), 9),
    (Elements::Plain(DType::BFloat16), 32),
    (Elements::Blocks(BlockFormat::MXFP4), 38),
    (Elements::Blocks(BlockFormat::NVFP4), 39),
];

/// The number of the type of a file that mostly has such elements.
fn file_type(elements: &Elements) -> Result<u32> {
    let found = FILE_TYPES.iter().find(|(of, _)| of == elements);
    found.map(|(_, number)| *number).ok_or_else(|| {
        let Elements::Plain(dtype) = elements else {
            return unsupported("blocks of this type are not written");
        };
        request(format!("a GGUF file has weights of float32, float16 or bfloat16, not of {dtype}"))
    })
}

/// The only file of the output `dst`, whose tensors are mostly of the type `main`. Its tensors are in the source by the same names, and `elements_of`
/// returns what they become.
pub(crate) fn shard<'a>(
    source: &Source,
    tensors: Vec<NewTensor<'a>>,
    dst: &Path,
    main: &Elements,
    elements_of: impl Fn(&NewTensor<'_>) -> Elements,
) -> Result<Shard<'a>> {
    let Some(metadata) = &source.gguf else {
        let what = "only a .gguf file can become a .gguf file: other checkpoints lack the names and the metadata of GGUF";
        return Err(request(what).at_path(dst));
    };
    let file_type = file_type(main)?;
    let alignment = metadata.alignment;
    if !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
        let what =
            format!("the alignment {alignment} is no power of two up to {MAX_ALIGNMENT} (general.alignment)");
        return Err(unsupported(what).at_path(&source.files[0].path));
    }
    let (mut table, mut start, mut padded) = (Vec::new(), 0_u64, Vec::new());
    for tensor in tensors {
        let stored = &source.tensors[source.names[&tensor.declared.name]];
        let elements = elements_of(&tensor);
        let (number, bytes) = sized(stored, &elements)
            .ok_or_else(|| unsupported("GGUF has no such elements").tensor(source, stored))?;
        put_text(&mut table, &stored.name);
        table.extend((stored.shape.len() as u32).to_le_bytes());
        // The axis that varies fastest is the first.
        table.extend(stored.shape.iter().rev().flat_map(|axis| (*axis as u64).to_le_bytes()));
        table.extend(number.to_le_bytes());
        table.extend(start.to_le_bytes());
        let whole = bytes.next_multiple_of(alignment);
        start += whole;
        padded.push(pad(tensor, elements != stored.elements, bytes, whole));
    }
    let mut head = MAGIC.to_vec();
    head.extend(VERSION.to_le_bytes());
    head.extend((padded.len() as u64).to_le_bytes());
    put_pairs(&mut head, metadata, file_type);
    head.extend(table);
    head.resize((head.len() as u64).next_multiple_of(alignment) as usize, 0);
    Ok(Shard { name: file_name(dst), metadata: Vec::new(), tensors: padded, gguf: Some(head) })
}

/// The number of a type, and the bytes of a tensor of it.
fn sized(stored: &Stored, elements: &Elements) -> Option<(u32, u64)> {
    let (number, _) = TYPES.iter().find(|(_, of)| of == elements)?;
    let bytes = match elements {
        Elements::Plain(dtype) => stored.len().checked_mul(dtype.size())?,
        Elements::Blocks(format) => format.byte_len(stored.len())?,
        Elements::Unknown(_) => return None,
    };
    Some((*number, bytes as u64))
}

/// A tensor as its bytes with zeros behind them, `whole` bytes in all.
fn pad(tensor: NewTensor<'_>, is_changed: bool, bytes: u64, whole: u64) -> NewTensor<'_> {
    let NewTensor { declared, file, bytes_in, part, produce, .. } = tensor;
    NewTensor {
        declared: Declared { name: declared.name, dtype: DType::UInt8, shape: vec![whole] },
        file,
        bytes_in,
        is_changed,
        part,
        produce: Box::new(move |range, sink| {
            let own = range.start.min(bytes)..range.end.min(bytes);
            let zeros = range.end - range.start.max(bytes).min(range.end);
            // A tensor without bytes is produced, too.
            let notes = match own.is_empty() && range.start > 0 {
                true => Notes::default(),
                false => produce(own, sink)?,
            };
            if zeros > 0 {
                sink(&vec![0; zeros as usize])?;
            }
            Ok(notes)
        }),
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

/// The number of pairs, and the pairs.
fn put_pairs(out: &mut Vec<u8>, metadata: &Metadata, file_type: u32) {
    let new = [(FILE_TYPE, file_type), (QUANTIZATION, QUANTIZATION_VERSION)];
    let number = |number: u32| [UINT32, number].map(u32::to_le_bytes).concat();
    let mut pairs: Vec<(&str, Vec<u8>)> = Vec::new();
    for (key, value) in metadata.pairs.iter().filter(|(key, _)| !key.starts_with(SPLIT)) {
        let value = match new.iter().find(|(name, _)| name == key) {
            Some((_, value)) => number(*value),
            None => value.clone(),
        };
        pairs.push((key, value));
    }
    for (key, value) in new {
        if pairs.iter().all(|(other, _)| *other != key) {
            pairs.push((key, number(value)));
        }
    }
    out.extend((pairs.len() as u64).to_le_bytes());
    for (key, value) in pairs {
        put_text(out, key);
        out.extend(value);
    }
}

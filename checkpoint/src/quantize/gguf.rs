//! GGUF: blocks of codes with their scales, in one file that llama.cpp loads. The blocks equal ggml's reference byte for byte.

use std::{collections::HashMap, ops::Range, path::Path};

use lanecast::{
    Bytes, CastOptions, CastPlan, DType,
    gguf::{BlockFormat, GgufError, quantize},
};
use lanecast_files::Result;
use serde_json::Value;

use super::{
    QuantizeOptions, Weight,
    choose::Chosen,
    layout::{Layout, Make, Output},
    scheme::QuantScheme,
};
use crate::{
    checkpoint::{Checkpoint, little},
    decode::Sink,
    error::{lost, unsupported},
    source::Elements,
    write::{NewTensor, Shard},
};

pub(super) struct Gguf;

/// The schemes and their blocks.
const FORMATS: &[(QuantScheme, BlockFormat)] = &[
    (QuantScheme::Q8_0, BlockFormat::Q8_0),
    (QuantScheme::Q4_0, BlockFormat::Q4_0),
    (QuantScheme::Q4_1, BlockFormat::Q4_1),
    (QuantScheme::Q5_0, BlockFormat::Q5_0),
    (QuantScheme::Q5_1, BlockFormat::Q5_1),
    (QuantScheme::Mxfp4, BlockFormat::MXFP4),
    (QuantScheme::Nvfp4, BlockFormat::NVFP4),
];

/// The blocks of a scheme of this layout.
pub(super) fn format(scheme: QuantScheme) -> Option<BlockFormat> {
    FORMATS.iter().find(|(of, _)| *of == scheme).map(|(_, format)| *format)
}

impl Layout for Gguf {
    fn name(&self) -> &'static str {
        "gguf"
    }

    fn schemes(&self) -> &'static [QuantScheme] {
        const LIST: [QuantScheme; FORMATS.len()] = {
            let mut list = [QuantScheme::Q8_0; FORMATS.len()];
            let mut i = 0;
            while i < FORMATS.len() {
                list[i] = FORMATS[i].0;
                i += 1;
            }
            list
        };
        &LIST
    }

    fn mixes(&self) -> bool {
        true
    }

    fn is_gguf(&self) -> bool {
        true
    }

    fn outputs(
        &self,
        weight: &Weight,
        _chosen: &Chosen,
        _source: DType,
        _options: &QuantizeOptions,
    ) -> Vec<Output> {
        let Some(format) = format(weight.scheme) else { return Vec::new() };
        let [rows, cols] = weight.shape();
        let bytes = format.byte_len(rows * cols).unwrap_or(0);
        vec![weight.output("", DType::UInt8, &[bytes], Make::Blocks(format))]
    }

    fn config(&self, _chosen: &Chosen, _options: &QuantizeOptions) -> Option<Value> {
        None
    }
}

/// Passes the blocks of rows of a weight to a sink.
pub(super) fn produce(
    checkpoint: &Checkpoint,
    weight: &Weight,
    format: BlockFormat,
    rows: Range<usize>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let (cols, mut values, mut blocks) = (weight.matrix.cols, Vec::new(), Vec::new());
    weight.matrix.bands_of(checkpoint, rows, &mut |band| {
        let n = band.rows * cols;
        values.resize(n, 0.0_f32);
        let widen = CastPlan::new(little(band.dtype), DType::Float32, &CastOptions::RUST)?;
        widen.run(Bytes::new(band.bytes, n), &mut values[..])?;
        blocks.resize(format.byte_len(n).unwrap_or(0), 0);
        let at = |index: usize| format!("element ({}, {})", band.first + index / cols, index % cols);
        quantize(format, &values, &mut blocks).map_err(|e| {
            let error = match e {
                GgufError::NonFinite { index } => {
                    lost(format!("{} is {}, which the codes cannot hold", at(index), values[index]))
                }
                GgufError::ScaleOverflow { index, .. } => lost(format!(
                    "the scale of the block at {} is infinite in {}; keep the weight with ignore",
                    at(index),
                    weight.scheme
                )),
                other => unsupported(other.to_string()),
            };
            weight.matrix.at(checkpoint, error)
        })?;
        sink(&blocks)
    })
}

/// The GGUF file, whose main blocks have this format.
pub(super) fn shard<'a>(
    checkpoint: &Checkpoint,
    chosen: &Chosen,
    mut tensors: Vec<NewTensor<'a>>,
    dst: &Path,
    main: BlockFormat,
) -> Result<Shard<'a>> {
    let blocks: HashMap<&str, BlockFormat> = (chosen.weights.iter())
        .filter_map(|weight| Some((&*weight.module, format(weight.scheme)?)))
        .collect();
    let source = &checkpoint.source;
    // Tensors keep their order.
    tensors.sort_by_key(|tensor| source.names.get(&tensor.declared.name));
    crate::gguf::shard(source, tensors, dst, &Elements::Blocks(main), |tensor| {
        let of = blocks.get(&*tensor.declared.name);
        of.map_or(Elements::Plain(tensor.declared.dtype), |format| Elements::Blocks(*format))
    })
}

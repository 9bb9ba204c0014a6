//! The first pass: what must be known of whole weights, and of those that share a scale, before a code can be made.
//!
//! *Law.* Measurements of ranges merge to the measurement of the weight, however it is divided.

use std::{collections::HashMap, ops::Range};

use lanecast::{Bytes, scaled::Amax};
use lanecast_files::Result;

use super::{
    QuantLayout, Quantization, QuantizeOptions, Weight, choose::Chosen, matrix::Matrix, moved::Mover,
    names::set_of, scheme::QuantScheme, table,
};
use crate::{
    checkpoint::{Checkpoint, little},
    error::{lost, unsupported},
    parallel::{Stop, count, in_order},
    prepared::{Extent, Measured},
    write::Callbacks,
};

/// Bytes of a weight that a thread measures at once.
const RANGE: u64 = if cfg!(test) { 1 << 10 } else { 1 << 20 };

/// The weights that share the scale of this one's tensor; `None` if it has none.
fn shares(weight: &Weight, options: &QuantizeOptions) -> Option<String> {
    match weight.scheme {
        // Blocks of GGUF have no scale of the tensor.
        _ if options.layout == QuantLayout::Gguf => None,
        _ if weight.moved.is_some() => weight.moved_set(),
        QuantScheme::Nvfp4 => Some(set_of(&weight.module)),
        QuantScheme::Fp8Tensor => Some(weight.module.clone()),
        _ => None,
    }
}

/// The weights to measure, by their indices, and their bytes.
pub(super) fn pass(
    checkpoint: &Checkpoint,
    weights: &[Weight],
    options: &QuantizeOptions,
) -> Vec<(usize, Extent)> {
    let extent = |weight: &Weight| {
        let row = row(checkpoint, weight);
        let bytes = row * weight.matrix.all_rows() as u64;
        // Only rows that are stored one after the other can be read alone, and the mean is one of all blocks.
        let is_one = weight.matrix.transposed || weight.matrix.batches.len() != 1;
        Extent { bytes, part: if is_one || options.double_quant { u64::MAX } else { row } }
    };
    let weights = weights.iter().enumerate();
    let measured = weights.filter(|(_, weight)| options.double_quant || shares(weight, options).is_some());
    measured.map(|(index, weight)| (index, extent(weight))).collect()
}

/// Ranges of a weight that threads measure, each about [`RANGE`] bytes.
fn ranges(Extent { bytes, part }: Extent) -> impl Iterator<Item = Range<u64>> + Send {
    let step = match part {
        // Only the whole can be measured.
        u64::MAX => bytes.max(1),
        _ => (RANGE / part.max(1)).max(1) * part.max(1),
    };
    // An empty weight is measured, too.
    let n = bytes.div_ceil(step).max(1);
    (0..n).map(move |i| i * step..bytes.min((i + 1) * step))
}

/// Bytes of a row of the source.
fn row(checkpoint: &Checkpoint, weight: &Weight) -> u64 {
    let dtype = checkpoint.tensors()[weight.matrix.tensor].dtype;
    (weight.matrix.cols * dtype.map_or(1, |dtype| dtype.size())) as u64
}

impl Quantization {
    /// Measures bytes of a weight of the pass: whole rows, or all of it.
    pub(super) fn measure_range(
        &self,
        index: usize,
        range: Range<u64>,
        callbacks: &Callbacks<'_>,
    ) -> Result<Measured> {
        let (weight, Extent { bytes, .. }) = self.pass[index];
        let weight = &self.chosen.weights[weight];
        if range == (0..bytes) {
            return self.measure_weight(weight, callbacks);
        }
        let row = row(&self.checkpoint, weight).max(1);
        let at = |byte: u64| weight.matrix.rows.start + usize::try_from(byte / row).unwrap_or(usize::MAX);
        let matrix = Matrix { rows: at(range.start)..at(range.end), ..weight.matrix.clone() };
        self.measure_weight(&Weight { matrix, ..weight.clone() }, callbacks)
    }

    fn measure_weight(&self, weight: &Weight, callbacks: &Callbacks<'_>) -> Result<Measured> {
        let (checkpoint, matrix) = (&self.checkpoint, &weight.matrix);
        callbacks.check()?;
        let mut measured = Measured::default();
        if self.options.double_quant {
            measured.offset = table::mean(&table::absmaxes(checkpoint, weight)?).into();
        }
        if shares(weight, &self.options).is_none() {
            return Ok(measured);
        }
        if let Some(mover) = Mover::new(checkpoint, weight) {
            return Ok(Measured { amax: mover.largest(0..matrix.all_rows())?, ..measured });
        }
        let mut all = Amax::default();
        matrix.bands(checkpoint, &mut |band| {
            let bytes = Bytes::new(band.bytes, band.rows * matrix.cols);
            let amax = Amax::of(little(band.dtype), bytes);
            all = all.merge(amax.map_err(|e| matrix.at(checkpoint, unsupported(e.to_string())))?);
            callbacks.check()
        })?;
        if all.has_non_finite() {
            let what = format!("an element is {}, which the codes cannot hold", all.largest());
            return Err(matrix.at(checkpoint, lost(what)));
        }
        Ok(Measured { amax: all.finite().into(), ..measured })
    }

    /// Measures all weights of the pass. Several threads measure one that is large.
    pub(super) fn measure_all(&self, callbacks: &Callbacks<'_>) -> Result<()> {
        let ranges = self
            .pass
            .iter()
            .enumerate()
            .flat_map(|(index, (_, extent))| ranges(*extent).map(move |range| ((index, range), 1)));
        let measure = |(index, range): (usize, Range<u64>), stop: &Stop| {
            let cancelled = || stop.check().is_err();
            let watched = Callbacks { progress: None, cancelled: Some(&cancelled) };
            Ok((index, self.measure_range(index, range, &watched)?))
        };
        let mut all = vec![Measured::default(); self.pass.len()];
        in_order(count(self.options.threads), ranges, measure, |measured| {
            callbacks.check()?;
            if let Some((index, measured)) = measured {
                all[index] = measured.merge(all[index]);
            }
            Ok(())
        })?;
        self.share(&all);
        Ok(())
    }

    /// Gives the weights their measurements, and to those that a runtime fuses the largest of them.
    pub(super) fn share(&self, measured: &[Measured]) {
        self.measured.get_or_init(|| {
            let mut chosen: Chosen = self.chosen.clone();
            let mut largest: HashMap<String, f64> = HashMap::new();
            for ((index, _), measured) in self.pass.iter().zip(measured) {
                let weight = &mut chosen.weights[*index];
                weight.offset = measured.offset as f32;
                if let Some(set) = shares(weight, &self.options) {
                    let shared = largest.entry(set).or_default();
                    *shared = shared.max(measured.amax);
                }
            }
            for weight in &mut chosen.weights {
                if let Some(amax) = shares(weight, &self.options).and_then(|set| largest.get(&set)) {
                    weight.amax = *amax as f32;
                }
            }
            chosen
        });
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use lanecast::{DType, half::bf16};

    use super::*;
    use crate::{quantize::QuantLayout::CompressedTensors, write::divisions::write};

    #[test]
    fn ranges_are_whole_rows_of_the_whole_weight() {
        for (bytes, part) in [(10_000, 24), (10_000, 5_000), (96, 24), (0, 24), (0, 0), (10_000, u64::MAX)] {
            let all: Vec<Range<u64>> = ranges(Extent { bytes, part }).collect();
            assert!(all[0].start == 0 && all[all.len() - 1].end == bytes, "{bytes} {part}: {all:?}");
            assert!(
                all.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].end.is_multiple_of(part))
            );
            assert_eq!(all.len() == 1, bytes <= RANGE.max(part) || part == u64::MAX, "{bytes} {part}");
        }
    }

    /// The largest magnitude of one weight may be in any range.
    #[test]
    fn threads_measure_parts_of_one_weight() {
        let folder = tempfile::tempdir().expect("a folder");
        for at in [0, 5_000, 8_191] {
            let value = |i| bf16::from_f32(if i == at { -7.0 } else { 0.25 }).to_le_bytes();
            let data: Vec<u8> = (0..8192).flat_map(value).collect();
            let tensor = lanecast_files::NewTensor {
                name: "m.up.weight",
                dtype: DType::BFloat16,
                shape: &[128, 64],
                data: &data,
            };
            write(folder.path(), &[tensor], "{}");
            let options = QuantizeOptions {
                threads: Some(3),
                ..QuantizeOptions::new(QuantScheme::Nvfp4, CompressedTensors)
            };
            let of = Quantization::open(folder.path(), &folder.path().join("x"), &options).expect("a source");
            let calls = Cell::new(0);
            let cancelled = || {
                calls.set(calls.get() + 1);
                false
            };
            of.measure_all(&Callbacks { progress: None, cancelled: Some(&cancelled) }).expect("measurements");
            assert_eq!(of.chosen().weights[0].amax, 7.0, "{at}");
            // The caller looks whether it should go on after each range.
            assert!(calls.get() >= 16, "{}", calls.get());
        }
    }
}

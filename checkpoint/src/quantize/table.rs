//! Codes of bitsandbytes: entries of a table times the largest magnitude of 64 elements, and int8 with the largest magnitude of each row.
//!
//! *Law.* A code is the entry nearest to the exact quotient of the element by the largest magnitude. Blocks run across rows. bitsandbytes
//! multiplies by a rounded reciprocal, so it may choose the other of two entries that are equally near except for a rounding.

use std::ops::Range;

use lanecast::{Bytes, CastOptions, CastPlan, DType};
use lanecast_files::Result;

use super::{Weight, matrix::Band};
use crate::{
    checkpoint::{Checkpoint, little},
    decode::Sink,
    error::lost,
};

/// Elements of a block.
pub(super) const BLOCK: usize = 64;
/// Scales of a block of scales that are quantized themselves.
pub(super) const NESTED: usize = 256;

/// The table of `nf4`.
const NF4: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

/// The magnitudes of `fp4` times 12, by their codes; bit 3 is the sign.
const FP4: [f32; 8] = [0.0, 0.0625, 8.0, 12.0, 4.0, 6.0, 2.0, 3.0];

/// A table of 16 codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Nf4,
    Fp4,
}

impl Table {
    /// Its name in the files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nf4 => "nf4",
            Self::Fp4 => "fp4",
        }
    }

    /// The value of each code.
    pub(super) fn values(self) -> [f32; 16] {
        match self {
            Self::Nf4 => NF4,
            Self::Fp4 => std::array::from_fn(|code| {
                let magnitude = FP4[code % 8] / 12.0;
                // Both zeros are positive.
                if code > 8 { -magnitude } else { magnitude }
            }),
        }
    }
}

/// A table in the order in which codes are found.
struct Encoder {
    table: Table,
    /// The codes in the order of their values, or of their magnitudes if there is a sign.
    order: Vec<u8>,
    /// The sums of neighbours, which are twice their midpoints.
    sums: Vec<f64>,
}

impl Encoder {
    fn new(table: Table) -> Self {
        let values = table.values();
        let mut order: Vec<u8> = match table {
            Table::Nf4 => (0..16).collect(),
            Table::Fp4 => (0..8).collect(),
        };
        order.sort_by(|a, b| values[usize::from(*a)].total_cmp(&values[usize::from(*b)]));
        let value = |code: u8| f64::from(values[usize::from(code)]);
        let sums = order.windows(2).map(|pair| value(pair[0]) + value(pair[1])).collect();
        Self { table, order, sums }
    }

    /// The codes of a block, one in each byte.
    fn codes(&self, block: &[f32], absmax: f32, out: &mut Vec<u8>) {
        // Elements are compared with the midpoints times the largest magnitude. Float64 holds these: sums have at most 26 bits, products 50.
        let mut midpoints = [f64::INFINITY; 15];
        for (midpoint, sum) in midpoints.iter_mut().zip(&self.sums) {
            *midpoint = sum * f64::from(absmax);
        }
        let find = |twice: f64| self.order[midpoints.iter().filter(|midpoint| twice > **midpoint).count()];
        out.extend(block.iter().map(|x| {
            let twice = 2.0 * f64::from(*x);
            match self.table {
                // Every code stands for zero; this one says so.
                Table::Nf4 if absmax == 0.0 => 7,
                Table::Nf4 => find(twice),
                Table::Fp4 if *x < 0.0 => find(-twice) | 8,
                Table::Fp4 => find(twice),
            }
        }));
    }
}

/// What a tensor of a weight has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Two codes in a byte, the first in the upper bits.
    Codes(Table),
    /// The largest magnitude of each block.
    Absmax,
    /// The same as codes of [`dynamic_map`], less the offset of the weight.
    NestedCodes,
    /// The largest magnitudes of blocks of those.
    NestedAbsmax,
    /// int8 codes.
    Int8,
    /// The largest magnitude of each row.
    RowAbsmax,
}

impl Part {
    /// Bytes of a number of rows; `None` if they have none of their own.
    pub(super) fn len(self, rows: usize, cols: usize) -> Option<usize> {
        let n = rows * cols;
        let bytes = match self {
            Self::Codes(_) => n / 2,
            Self::Absmax => n / BLOCK * size_of::<f32>(),
            Self::Int8 => n,
            Self::RowAbsmax => rows * size_of::<f32>(),
            Self::NestedCodes | Self::NestedAbsmax => return None,
        };
        // Blocks run across rows.
        let is_whole = matches!(self, Self::Int8 | Self::RowAbsmax) || n.is_multiple_of(BLOCK);
        is_whole.then_some(bytes)
    }
}

/// Passes the bytes that rows of a weight become to a sink.
pub(super) fn produce(
    checkpoint: &Checkpoint,
    weight: &Weight,
    part: Part,
    rows: Range<usize>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if matches!(part, Part::NestedCodes | Part::NestedAbsmax) {
        return nested(&absmaxes(checkpoint, weight)?, weight.offset, part, sink);
    }
    let cols = weight.matrix.cols;
    each_band(checkpoint, weight, rows, &mut |values| {
        let mut bytes = Vec::new();
        match part {
            Part::Codes(table) => {
                let (encoder, mut codes) = (Encoder::new(table), Vec::with_capacity(values.len()));
                values.chunks(BLOCK).for_each(|block| encoder.codes(block, largest(block), &mut codes));
                let pair = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or(0);
                bytes.extend(codes.chunks(2).map(pair));
            }
            Part::Int8 => {
                let row = |row: &[f32]| {
                    let absmax = f64::from(largest(row));
                    row.iter().map(|x| int8(f64::from(*x), absmax)).collect::<Vec<_>>()
                };
                bytes.extend(values.chunks(cols).flat_map(row));
            }
            Part::RowAbsmax => bytes.extend(values.chunks(cols).flat_map(|row| largest(row).to_le_bytes())),
            _ => bytes.extend(values.chunks(BLOCK).flat_map(|block| largest(block).to_le_bytes())),
        }
        sink(&bytes)
    })
}

/// The int8 code nearest to `127 x / absmax`. The quotient of 31 by 24 bits lies on the side of every midpoint on which the exact one is.
fn int8(x: f64, absmax: f64) -> u8 {
    if absmax == 0.0 { 0 } else { (127.0 * x / absmax).round_ties_even() as i8 as u8 }
}

/// The largest magnitude of finite numbers.
fn largest(block: &[f32]) -> f32 {
    block.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

/// Calls `take` with the elements of each band of some rows, in order.
fn each_band(
    checkpoint: &Checkpoint,
    weight: &Weight,
    rows: Range<usize>,
    take: &mut dyn FnMut(&[f32]) -> Result<()>,
) -> Result<()> {
    let mut values = Vec::new();
    weight.matrix.bands_of(checkpoint, rows, &mut |band: &Band<'_>| {
        let n = band.rows * weight.matrix.cols;
        values.resize(n, 0.0_f32);
        let widen = CastPlan::new(little(band.dtype), DType::Float32, &CastOptions::RUST)?;
        widen.run(Bytes::new(band.bytes, n), &mut values[..])?;
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            let (row, col) = (band.first + i / weight.matrix.cols, i % weight.matrix.cols);
            let what = format!("element ({row}, {col}) is {}, which the codes cannot hold", values[i]);
            return Err(weight.matrix.at(checkpoint, lost(what)));
        }
        take(&values)
    })
}

/// The largest magnitudes of all blocks.
pub(super) fn absmaxes(checkpoint: &Checkpoint, weight: &Weight) -> Result<Vec<f32>> {
    let mut absmaxes = Vec::new();
    each_band(checkpoint, weight, 0..weight.matrix.all_rows(), &mut |values| {
        absmaxes.extend(values.chunks(BLOCK).map(largest));
        Ok(())
    })?;
    Ok(absmaxes)
}

/// The mean of numbers, which is subtracted from them before they are quantized.
pub(super) fn mean(values: &[f32]) -> f32 {
    let sum: f64 = values.iter().copied().map(f64::from).sum();
    (sum / values.len().max(1) as f64) as f32
}

/// Codes of largest magnitudes, or the largest magnitudes of those.
fn nested(absmaxes: &[f32], offset: f32, part: Part, sink: &mut Sink<'_>) -> Result<()> {
    let map = dynamic_map();
    let mut bytes = Vec::new();
    for block in absmaxes.chunks(NESTED) {
        let block: Vec<f32> = block.iter().map(|absmax| absmax - offset).collect();
        let absmax = f64::from(largest(&block));
        match part {
            Part::NestedAbsmax => bytes.extend((absmax as f32).to_le_bytes()),
            _ => bytes.extend(block.iter().map(|x| {
                let above = map.partition_point(|entry| f64::from(*entry) * absmax < f64::from(*x));
                let distance = |i: usize| (f64::from(map[i]) * absmax - f64::from(*x)).abs();
                let (below, above) = (above.saturating_sub(1), above.min(map.len() - 1));
                (if distance(above) < distance(below) { above } else { below }) as u8
            })),
        }
    }
    sink(&bytes)
}

/// The table of 256 numbers that bitsandbytes quantizes scales with: zero, one, and seven decades. Each decade
/// has twice as many numbers as the one below.
pub(super) fn dynamic_map() -> Vec<f32> {
    let mut map = vec![0.0, 1.0];
    for decade in 0..7 {
        let (n, power) = (1_usize << decade, 10_f64.powi(decade - 6) as f32);
        // The ends of n equal parts of 0.1 to 1, counted from the nearer end and rounded once, as torch's vector loop makes them.
        let step = (1.0 - 0.1_f32) / n as f32;
        let end = |i: usize| match i < n.div_ceil(2) {
            true => step.mul_add(i as f32, 0.1),
            false => (-step).mul_add((n - i) as f32, 1.0),
        };
        for i in 0..n {
            let middle = (end(i) + end(i + 1)) / 2.0 * power;
            map.extend([middle, -middle]);
        }
    }
    map.sort_by(f32::total_cmp);
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_ordered_and_symmetric_where_bitsandbytes_has_them_so() {
        assert!(NF4.windows(2).all(|pair| pair[0] < pair[1]));
        let fp4 = Table::Fp4.values();
        assert_eq!((fp4[1], fp4[3], fp4[8], fp4[11]), (0.0625 / 12.0, 1.0, 0.0, -1.0));
        let map = dynamic_map();
        assert_eq!((map.len(), map[0], map[255]), (256, -map[254], 1.0));
        assert!(map.windows(2).all(|pair| pair[0] < pair[1]));
    }

    /// Every entry times the largest magnitude has its own code, and numbers between two have the nearer one.
    #[test]
    fn codes_are_the_nearest_entries() {
        for table in [Table::Nf4, Table::Fp4] {
            for absmax in [1.0_f32, 0.3, 7e-5] {
                let block: Vec<f32> = (0..=600).map(|i| (i as f32 / 300.0 - 1.0) * absmax).collect();
                let mut codes = Vec::new();
                Encoder::new(table).codes(&block, absmax, &mut codes);
                for (x, code) in block.iter().zip(codes) {
                    let distance = |value: f32| (f64::from(value) * f64::from(absmax) - f64::from(*x)).abs();
                    let have = distance(table.values()[usize::from(code)]);
                    assert!(table.values().iter().all(|value| distance(*value) >= have), "{x} {code}");
                }
            }
            let mut zeros = Vec::new();
            Encoder::new(table).codes(&[0.0; 3], 0.0, &mut zeros);
            assert!(zeros.iter().all(|code| table.values()[usize::from(*code)] == 0.0));
        }
    }

    #[test]
    fn int8_codes_round_to_the_nearest_even() {
        assert_eq!(
            [int8(2.5, 127.0), int8(-3.5, 127.0), int8(1.0, 1.0), int8(0.0, 0.0)],
            [2, -4_i8 as u8, 127, 0]
        );
    }
}

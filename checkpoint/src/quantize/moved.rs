//! [`Move`]: codes that another layout stores as they are, in another order, beside scales of the same values.
//!
//! *Law.* The value of every element stays: no code and no scale is rounded. What a layout cannot store so is an error that names the first
//! value that would change.
//!
//! *Method.* Codes are read as fields of a patch of the stored matrix, transposed if the layouts differ in that, and packed again. Memory holds
//! the patch. Scales that are transposed, and zero points, are made whole: they are small beside the codes.

mod plan;

use std::ops::Range;

use lanecast::{Bytes, CastOptions, CastPlan, DType};
use lanecast_files::{Error, Result};

pub(super) use plan::{Int4, Move};

use super::{Weight, cast::swizzle_rows, matrix::TILE, names::set_of};
use crate::{
    checkpoint::{Checkpoint, Content, little},
    coding::{Coding, Packing, ScaleData, Zeros},
    decode::Sink,
    error::{invalid, lost, not_finite},
    unpack::swizzle,
};

/// Fields that are in memory at once, about.
const PATCH: usize = if cfg!(test) { 1 << 11 } else { 1 << 20 };
/// The fewest fields of a range that is transposed: its rows are read in pieces, which should not be short.
const SLAB: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };
/// The zero point of symmetric codes of 4 bits.
const MIDDLE: u8 = 8;
/// The exponents that scales of `float8_e4m3fn` can have.
const EXPONENTS: [i32; 2] = [-9, 8];

/// How a layout stores a part of what is moved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Codes of a matrix, or of its transpose, padded with zeros to a multiple of `pad`.
    Codes { packing: Packing, transposed: bool, pad: usize },
    /// Scales in the shape of their grid or of its transpose, or swizzled.
    Scales { transposed: bool, swizzled: bool },
    /// Zero points on the grid of scales or on its transpose; less one if fields are so.
    Zeros { packing: Packing, transposed: bool, less_one: bool },
    /// The group of each input. A group has this number of inputs.
    Groups(usize),
}

/// The power of two that is the scale of the tensor for MXFP4 with this largest scale: of those whose reciprocal is one, too, the one that makes
/// the largest block scale 2^8.
fn exponent(largest: f32) -> i32 {
    match largest == 0.0 {
        true => 0,
        // Exact: a power of two.
        false => (f64::from(largest).log2() as i32 - EXPONENTS[1]).max(-126),
    }
}

/// 2 to a power that a float64 has.
fn power(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

impl Weight {
    /// The scale of the tensor of NVFP4 that is moved, as the layout stores it; `None` if nothing is moved.
    pub(super) fn moved_global(&self, divides: bool) -> Option<f32> {
        let sign = if divides { -1 } else { 1 };
        match self.moved? {
            Move::Nvfp4(global) => Some(global),
            Move::Mxfp4 => Some(power(sign * exponent(self.amax)) as f32),
            Move::Int4(_) | Move::Same => None,
        }
    }

    /// The integers that are moved.
    pub(super) fn int4(&self) -> Option<Int4> {
        match self.moved {
            Some(Move::Int4(int4)) => Some(int4),
            _ => None,
        }
    }

    /// The set of weights that share the scale of the tensor that MXFP4 gets.
    pub(super) fn moved_set(&self) -> Option<String> {
        (self.moved == Some(Move::Mxfp4)).then(|| set_of(&self.module))
    }
}

/// A weight that is moved.
pub(super) struct Mover<'a> {
    checkpoint: &'a Checkpoint,
    weight: &'a Weight,
    coding: &'a Coding,
    moved: Move,
}

impl<'a> Mover<'a> {
    /// `None` if the weight is not moved.
    pub(super) fn new(checkpoint: &'a Checkpoint, weight: &'a Weight) -> Option<Self> {
        match (&checkpoint.contents[weight.matrix.tensor], weight.moved) {
            (Content::Coded(coding), Some(moved)) => Some(Self { checkpoint, weight, coding, moved }),
            _ => None,
        }
    }

    fn at(&self, error: Error) -> Error {
        self.weight.matrix.at(self.checkpoint, error)
    }

    /// Passes a range of the bytes of a part to a sink. It begins at a multiple of [`len`](Part::len).
    pub(super) fn produce(&self, part: Part, range: Range<u64>, sink: &mut Sink<'_>) -> Result<()> {
        // Rows without columns have no bytes.
        if range.is_empty() {
            return Ok(());
        }
        let range = range.start as usize..range.end as usize;
        match part {
            Part::Codes { packing, transposed, pad } => self.codes(packing, transposed, pad, range, sink),
            Part::Groups(group) => {
                let groups = (range.start / 4..range.end / 4).map(|i| (i / group.max(1)) as i32);
                sink(&groups.flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
            }
            Part::Scales { transposed: false, swizzled } => {
                let [height, _] = self.weight.shape();
                let (unit, bytes) = part.rows(self.weight).unwrap_or((height, range.len().max(1)));
                let rows = range.start / bytes * unit..(range.end.div_ceil(bytes) * unit).min(height);
                let scales = self.scales(rows.clone())?;
                sink(&if swizzled { swizzle_rows(&scales, rows.len()) } else { scales })
            }
            Part::Scales { transposed: true, .. } => {
                let [height, _] = self.weight.shape();
                let scales = self.scales(0..height)?;
                let size = self.scale_dtype().size();
                let wide = scales.len() / size / height.max(1);
                sink(&flip(&scales, [height, wide], size)[range])
            }
            Part::Zeros { packing, transposed, less_one } => {
                let [height, wide] = self.grid();
                let fields = self.zeros()?;
                let (fields, [height, wide]) = match transposed {
                    true => (flip(&fields, [height, wide], 1), [wide, height]),
                    false => (fields, [height, wide]),
                };
                let mut out = vec![0; packing.stored_rows(height) * packing.pitch];
                for (row, fields) in fields.chunks_exact(wide.max(1)).enumerate() {
                    let less = |field: &u8| if less_one { field.wrapping_sub(1) & 15 } else { *field };
                    packing.pack(&mut out, row, &fields.iter().map(less).collect::<Vec<u8>>());
                }
                sink(&out[range])
            }
        }
    }

    /// Whether the stored matrix is the transpose of the weight.
    fn is_transposed(&self) -> bool {
        self.coding.transposed != self.weight.matrix.transposed
    }

    /// Rows of the weight and groups of a row.
    fn grid(&self) -> [usize; 2] {
        let [rows, _] = self.weight.shape();
        let [a, b] = self.coding.scales.as_ref().map_or([0, 0], |scales| scales.grid);
        [rows, if self.is_transposed() { a } else { b }]
    }

    /// Fields of rows of the weight, or of rows of its transpose.
    pub(super) fn fields(&self, rows: Range<usize>, transposed: bool) -> Result<Vec<u8>> {
        let [n, k] = self.weight.shape();
        let (coding, cols) = (self.coding, if transposed { n } else { k });
        let (source, matrix) = (&self.checkpoint.source, &self.weight.matrix);
        if self.is_transposed() == transposed {
            let span = matrix.span(&rows);
            let patch = coding.patch(source, matrix.batches.start, span.clone(), 0..coding.cols)?;
            let mut fields = vec![0; rows.len() * cols];
            for (row, fields) in span.step_by(matrix.every).zip(fields.chunks_exact_mut(cols.max(1))) {
                patch.unpack(row, 0..cols, fields);
            }
            return Ok(fields);
        }
        let patch = coding.patch(source, 0, 0..cols, rows.clone())?;
        let mut fields = vec![0; cols * rows.len()];
        for (row, fields) in fields.chunks_exact_mut(rows.len().max(1)).enumerate() {
            patch.unpack(row, rows.clone(), fields);
        }
        Ok(flip(&fields, [cols, rows.len()], 1))
    }

    fn codes(
        &self,
        packing: Packing,
        transposed: bool,
        pad: usize,
        range: Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        self.check_codes()?;
        let [n, k] = self.weight.shape();
        let [height, width] = if transposed { [k, n] } else { [n, k] };
        // Rows that share stored rows.
        let deep = packing.deep();
        let (first, end) = (range.start / packing.pitch * deep, range.end / packing.pitch * deep);
        debug_assert!(end <= packing.stored_rows(height.next_multiple_of(pad)) * deep);
        let most = if transposed == self.is_transposed() { PATCH } else { SLAB };
        let step = (most / width.max(1)).max(1).next_multiple_of(deep);
        for top in (first..end).step_by(step) {
            let bottom = end.min(top + step);
            let mut out = vec![0; (bottom - top) / deep * packing.pitch];
            let rows = top.min(height)..bottom.min(height);
            if !rows.is_empty() {
                let fields = self.fields(rows, transposed)?;
                for (row, fields) in fields.chunks_exact(width.max(1)).enumerate() {
                    packing.pack(&mut out, row, fields);
                }
            }
            sink(&out)?;
        }
        Ok(())
    }

    /// Fails if the codes have fewer bytes than the weight needs.
    pub(super) fn check_codes(&self) -> Result<()> {
        let Coding { packing, rows, codes, batches, .. } = self.coding;
        let need = packing.stored_rows(*rows).saturating_mul(packing.pitch).saturating_mul(*batches);
        let have = self.checkpoint.source.tensors[*codes].bytes;
        match have < need {
            true => Err(self.at(invalid(format!("the codes have {have} bytes, and need {need}")))),
            false => Ok(()),
        }
    }

    fn scale_dtype(&self) -> DType {
        match self.coding.scales.as_ref().map(|scales| &scales.data) {
            Some(ScaleData::Tensor(_, dtype)) => *dtype,
            _ => DType::Float32,
        }
    }

    /// The scales of rows of the weight, in the order of the rows, as the layout stores them.
    pub(super) fn scales(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let stored = self.stored_scales(rows.clone())?;
        self.check_scales(&stored, rows.start)?;
        match self.moved {
            Move::Mxfp4 => self.block_scales(&stored, rows.start),
            Move::Int4(Int4 { symmetric: true, .. }) => self.check_symmetric().map(|()| stored),
            _ => Ok(stored),
        }
    }

    /// The scales of rows of the weight as they are stored, in the order of the rows.
    fn stored_scales(&self, rows: Range<usize>) -> Result<Vec<u8>> {
        let (Some(scales), source) = (&self.coding.scales, &self.checkpoint.source) else {
            return Ok(Vec::new());
        };
        let ScaleData::Tensor(id, dtype) = &scales.data else { return Ok(Vec::new()) };
        let (tensor, size) = (&source.tensors[*id], dtype.size());
        let ([_, groups], pitch) = (self.grid(), scales.grid[1] * size);
        if let Some(wide) = scales.swizzled {
            let tiles = rows.start / TILE..rows.end.div_ceil(TILE);
            let tile = TILE * wide;
            let bytes = source.read_pieces(tensor, tiles.start * tile, [tile, tile], tiles.len())?;
            let first = tiles.start * TILE;
            let places = rows.flat_map(|row| (0..groups).map(move |col| swizzle(row - first, col, wide)));
            return Ok(places.map(|place| bytes[place]).collect());
        }
        if self.is_transposed() {
            let pieces = [pitch, rows.len() * size];
            let columns = source.read_pieces(tensor, rows.start * size, pieces, groups)?;
            return Ok(flip(&columns, [groups, rows.len()], size));
        }
        let matrix = &self.weight.matrix;
        let first = matrix.batches.start * scales.grid[0] + matrix.stored_row(rows.start);
        source.read_pieces(tensor, first * pitch, [matrix.every * pitch, pitch], rows.len())
    }

    /// Fails if a scale is NaN or infinite.
    fn check_scales(&self, stored: &[u8], first: usize) -> Result<()> {
        if self.checkpoint.allow_nan {
            return Ok(());
        }
        let (dtype, [_, groups]) = (self.scale_dtype(), self.grid());
        let n = stored.len() / dtype.size();
        let mut values = vec![0.0_f64; n];
        let plan = CastPlan::new(little(dtype), DType::Float64, &CastOptions::RUST)?;
        plan.run(Bytes::new(stored, n), &mut values[..])?;
        match values.iter().position(|value| !value.is_finite()) {
            Some(i) => {
                let (row, col) = (first + i / groups.max(1), i % groups.max(1));
                let what = format!("the scale of group {col} of row {row} is {}", values[i]);
                Err(self.at(not_finite(what)))
            }
            None => Ok(()),
        }
    }

    /// Scales of 16 elements for powers of two of 32.
    fn block_scales(&self, stored: &[u8], first: usize) -> Result<Vec<u8>> {
        let ([_, groups], global) = (self.grid(), exponent(self.weight.amax));
        let [_, cols] = self.weight.shape();
        let (mut out, [low, high]) = (Vec::with_capacity(2 * stored.len()), EXPONENTS);
        for (i, byte) in stored.iter().enumerate() {
            let own = i32::from(*byte) - 127;
            if !(low..=high).contains(&(own - global)) {
                let (row, block) = (first + i / groups.max(1), i % groups.max(1));
                let fields = self.fields(row..row + 1, false)?;
                let of_block = &fields[32 * block..cols.min(32 * block + 32)];
                if let Some(col) = of_block.iter().position(|field| field & 7 != 0) {
                    let what = format!(
                        "element ({row}, {}) has the scale 2^{own}, and the largest scale of the weights that share one in nvfp4 is 2^{}: \
                         scales of float8_e4m3fn reach from 2^{low} to 2^{high}",
                        32 * block + col,
                        f64::from(self.weight.amax).log2(),
                    );
                    return Err(self.at(lost(what)));
                }
            }
            let scale = match (own - global).clamp(low, high) {
                normal @ -6.. => ((normal + 7) << 3) as u8,
                subnormal => 1 << (subnormal + 9),
            };
            // The last block of a row may be half of one.
            let blocks = (cols - 32 * (i % groups)).div_ceil(16).min(2);
            out.extend(std::iter::repeat_n(scale, blocks));
        }
        Ok(out)
    }

    /// The largest scale of blocks that have codes other than zero, in rows of the weight; 0 if there are none.
    pub(super) fn largest(&self, rows: Range<usize>) -> Result<f64> {
        let ([_, groups], [_, cols]) = (self.grid(), self.weight.shape());
        let (mut largest, step) = (0.0_f64, (PATCH / cols.max(1)).max(1));
        for top in rows.clone().step_by(step) {
            let rows = top..rows.end.min(top + step);
            let stored = self.stored_scales(rows.clone())?;
            self.check_scales(&stored, self.weight.matrix.rows.start + top)?;
            let fields = self.fields(rows, false)?;
            let lines = fields.chunks_exact(cols.max(1)).zip(stored.chunks_exact(groups.max(1)));
            for (fields, scales) in lines {
                let blocks = fields.chunks(32).zip(scales);
                let nonzero = blocks.filter(|(fields, _)| fields.iter().any(|field| field & 7 != 0));
                let most = nonzero.map(|(_, byte)| power(i32::from(*byte) - 127));
                largest = most.fold(largest, f64::max);
            }
        }
        Ok(largest)
    }

    /// The zero points, in the order of the rows of the weight.
    fn zeros(&self) -> Result<Vec<u8>> {
        let [rows, groups] = self.grid();
        let Zeros::Tensor { id, packing, less_one, .. } = self.coding.zeros else {
            return Ok(vec![MIDDLE; rows * groups]);
        };
        let bytes = self.checkpoint.source.read_all(&self.checkpoint.source.tensors[id])?;
        let [height, width] = if self.is_transposed() { [groups, rows] } else { [rows, groups] };
        if bytes.len() < packing.stored_rows(height) * packing.pitch {
            return Err(self.at(invalid("the zero points have too few bytes")));
        }
        let mut fields = vec![0; height * width];
        for (row, fields) in fields.chunks_exact_mut(width.max(1)).enumerate() {
            packing.unpack(&bytes, row, 0..width, fields);
        }
        if less_one {
            fields.iter_mut().for_each(|field| *field = field.wrapping_add(1) & 15);
        }
        Ok(if self.is_transposed() { flip(&fields, [height, width], 1) } else { fields })
    }

    /// Fails if a zero point is not that of symmetric codes.
    fn check_symmetric(&self) -> Result<()> {
        let (zeros, [_, groups]) = (self.zeros()?, self.grid());
        match zeros.iter().position(|zero| *zero != MIDDLE) {
            Some(i) => {
                let (row, col) = (i / groups.max(1), i % groups.max(1));
                let what = format!(
                    "the configuration calls the codes symmetric (\"sym\"), and the zero point of group {col} of row {row} is {}, not {MIDDLE}",
                    zeros[i]
                );
                Err(self.at(lost(what)))
            }
            None => Ok(()),
        }
    }
}

impl Part {
    /// Rows of the weight that become whole bytes of their own, and how many bytes.
    fn rows(self, weight: &Weight) -> Option<(usize, usize)> {
        let [n, k] = weight.shape();
        match self {
            Self::Codes { packing, transposed: false, .. } => Some((1, packing.pitch)),
            Self::Codes { packing, transposed: true, .. } => {
                let lines = (SLAB / n.max(1)).max(1).div_ceil(packing.deep());
                Some((lines, lines * packing.pitch))
            }
            Self::Scales { transposed: false, swizzled } => {
                let (group, size) = match weight.moved? {
                    Move::Int4(Int4 { group, scales, .. }) => (group.unwrap_or(k), scales.size()),
                    Move::Nvfp4(_) | Move::Mxfp4 => (16, 1),
                    Move::Same => (32, 1),
                };
                let groups = k.div_ceil(group.max(1));
                let groups = if swizzled { groups.next_multiple_of(4) } else { groups };
                Some((TILE, TILE * groups * size))
            }
            Self::Groups(_) => Some((1, 4)),
            Self::Scales { transposed: true, .. } | Self::Zeros { .. } => None,
        }
    }

    /// Bytes of the smallest range that can be produced alone; `u64::MAX` if only all of them can.
    pub(super) fn len(self, weight: &Weight) -> u64 {
        self.rows(weight).map_or(u64::MAX, |(_, bytes)| bytes.max(1) as u64)
    }
}

/// The transpose of a matrix of elements of `size` bytes.
fn flip(matrix: &[u8], [rows, cols]: [usize; 2], size: usize) -> Vec<u8> {
    super::matrix::transpose(matrix, [rows, cols], size)
}

//! What is beside the codes of a weight: scales, zero points, biases, groups, the factor.

use std::ops::Range;

use lanecast::{Bytes, CastOptions, CastPlan, DType, Encoding};
use lanecast_files::Result;

use crate::{
    checkpoint::little,
    coding::{Axis, Codes, Coding, Factor, Id, ScaleData, Scales, Zeros},
    error::{At, invalid, not_finite},
    source::{Source, Stored},
    unpack::swizzle,
};

/// Rows of a tile of swizzled scales.
const TILE: usize = 128;

/// The part of the grid of blocks that a decoder has in memory.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Rows of the grid, counted through all matrices.
    pub(super) lines: Range<usize>,
    /// Columns.
    pub(super) blocks: Range<usize>,
}

impl Window {
    fn whole(coding: &Coding) -> Self {
        let [rows, cols] = coding.scales.as_ref().map_or([0, 0], |scales| scales.grid);
        Self { lines: 0..coding.batches * rows, blocks: 0..cols }
    }

    /// The blocks of at least one row of the weight. Rows are counted through all matrices of `height` rows.
    pub(super) fn of_rows(coding: &Coding, height: usize, rows: &Range<usize>) -> Self {
        let whole = Self::whole(coding);
        let Some(scales) = coding.scales.as_ref().filter(|_| coding.groups.is_none()) else { return whole };
        let line = |row: usize| row / height * scales.grid[0] + row % height / scales.block[0];
        Self { lines: line(rows.start)..line(rows.end - 1) + 1, ..whole }
    }

    /// The blocks of at least one column of a matrix.
    pub(super) fn of_columns(coding: &Coding, batch: usize, cols: &Range<usize>) -> Self {
        let whole = Self::whole(coding);
        let Some(scales) = &coding.scales else { return whole };
        let lines = batch * scales.grid[0]..(batch + 1) * scales.grid[0];
        let block = |col: usize| col / scales.block[1];
        match coding.groups {
            Some((_, Axis::Columns)) => Self { lines, ..whole },
            _ => Self { lines, blocks: block(cols.start)..block(cols.end - 1) + 1 },
        }
    }
}

/// A weight with scales in memory: all of them, or the scales of a part.
pub(crate) struct Decoder<'a> {
    pub(crate) source: &'a Source,
    pub(crate) coding: &'a Coding,
    pub(crate) codes: &'a Stored,
    pub(super) window: Window,
    /// The value of every field.
    pub(crate) table: Vec<f64>,
    /// The scales of the window as they are stored; computed ones as `float32`. Swizzled ones begin with a whole tile.
    scales: Vec<u8>,
    /// Bytes of a scale.
    scale_size: usize,
    to_f64: Option<CastPlan>,
    /// The zero points of the matrices of the window.
    zeros: Vec<u8>,
    biases: Vec<u8>,
    pub(crate) groups: Vec<usize>,
    /// The factor, if all of the tensor has it.
    pub(crate) factor: Option<f32>,
    /// Whether values are integers less zero points, times finite scales.
    pub(super) is_affine: bool,
}

/// Scales, zero points and biases of a row of blocks, in the columns of the window.
#[derive(Default)]
pub(crate) struct Line {
    of: Option<usize>,
    pub(crate) scales: Vec<f64>,
    pub(crate) zeros: Vec<f64>,
    pub(crate) biases: Vec<f64>,
    /// The scales as they are stored.
    pub(super) stored: Vec<u8>,
    fields: Vec<u8>,
}

impl Line {
    /// Casts the scales that are stored.
    fn cast(&mut self, plan: &CastPlan, scales: &Scales) -> Result<()> {
        let n = self.stored.len() / plan.source().dtype().size();
        floats(plan, &self.stored, n, &mut self.scales)?;
        if scales.zero_is_zero {
            let scales = self.scales.iter_mut().zip(&self.stored);
            scales.filter(|(_, byte)| **byte == 0).for_each(|(scale, _)| *scale = 0.0);
        }
        Ok(())
    }
}

/// The plan of a cast to numbers of the host.
fn to_f64(from: Encoding) -> Result<CastPlan> {
    Ok(CastPlan::new(from, DType::Float64, &CastOptions::RUST)?)
}

/// Casts `n` elements to float64.
fn floats(plan: &CastPlan, bytes: &[u8], n: usize, out: &mut Vec<f64>) -> Result<()> {
    out.clear();
    out.resize(n, 0.0);
    Ok(plan.run(Bytes::new(bytes, n), &mut out[..])?)
}

impl<'a> Decoder<'a> {
    /// Reads and checks what is beside the codes.
    pub(crate) fn new(source: &'a Source, coding: &'a Coding, allow_nan: bool) -> Result<Self> {
        Self::of(source, coding, allow_nan, Window::whole(coding))
    }

    /// Reads and checks what is beside the codes of a part of the weight.
    pub(super) fn of(
        source: &'a Source,
        coding: &'a Coding,
        allow_nan: bool,
        window: Window,
    ) -> Result<Self> {
        let codes = &source.tensors[coding.codes];
        let need = coding.batches * coding.packing.stored_rows(coding.rows) * coding.packing.pitch;
        // The last row may be shorter.
        let missing = (coding.rows * coding.cols - coding.elements.min(coding.rows * coding.cols))
            * coding.packing.bits as usize
            / 8;
        if coding.batches == 1 && codes.bytes < need - missing || coding.batches != 1 && codes.bytes < need {
            return Err(invalid(format!(
                "the codes have {} bytes, and the shape {:?} needs {need}",
                codes.bytes, coding.shape
            ))
            .tensor(source, codes));
        }
        let mut decoder = Self {
            source,
            coding,
            codes,
            window,
            table: table(&coding.values, coding.packing.bits)?,
            scales: Vec::new(),
            scale_size: 0,
            to_f64: None,
            zeros: Vec::new(),
            biases: Vec::new(),
            groups: Vec::new(),
            factor: None,
            is_affine: !allow_nan
                && matches!(coding.values, Codes::Signed | Codes::Unsigned)
                && !matches!(coding.zeros, Zeros::None)
                && matches!(coding.factor, Factor::None)
                && coding.biases.is_none(),
        };
        if coding.elements == 0 {
            return Ok(decoder);
        }
        if let (false, Codes::Table(values)) = (allow_nan, &coding.values)
            && let Some((i, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite())
        {
            return Err(
                not_finite(format!("entry {i} of the table of codes is {value}")).tensor(source, codes)
            );
        }
        decoder.read_factor()?;
        decoder.read_scales(allow_nan)?;
        Ok(decoder)
    }

    /// A tensor, which must have as many bytes as the shape of the weight needs.
    fn companion(&self, id: Id, need: usize) -> Result<&'a Stored> {
        let tensor = &self.source.tensors[id];
        if tensor.bytes != need {
            let shape = &self.coding.shape;
            return Err(invalid(format!(
                "{} has {} bytes, and a weight {shape:?} needs {need}",
                tensor.described(),
                tensor.bytes
            ))
            .tensor(self.source, tensor));
        }
        Ok(tensor)
    }

    /// The elements of `size` bytes of a tensor that are in the window of the grid, which has `cols` columns.
    fn in_window(&self, id: Id, cols: usize, size: usize) -> Result<Vec<u8>> {
        let Window { lines, blocks } = &self.window;
        let [rows, _] = self.coding.scales.as_ref().map_or([0, 0], |scales| scales.grid);
        let tensor = self.companion(id, self.coding.batches * rows * cols * size)?;
        let first = (lines.start * cols + blocks.start) * size;
        self.source.read_pieces(tensor, first, [cols * size, blocks.len() * size], lines.len())
    }

    fn read_factor(&mut self) -> Result<()> {
        let (Factor::Times(id) | Factor::Over(id)) = self.coding.factor else { return Ok(()) };
        let tensor = &self.source.tensors[id];
        let wrong = |what: String| invalid(what).tensor(self.source, tensor);
        if tensor.len() != 1 || tensor.dtype() != Some(DType::Float32) {
            return Err(wrong(format!(
                "the scale of the tensor must be one float32, not {}",
                tensor.described()
            )));
        }
        let bytes = self.source.read_all(tensor)?;
        let factor = f32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[i]));
        if !(factor.is_finite() && factor > 0.0) {
            return Err(wrong(format!(
                "the scale of the tensor is {factor}, and must be positive and finite"
            )));
        }
        self.factor = Some(factor);
        Ok(())
    }

    fn read_scales(&mut self, allow_nan: bool) -> Result<()> {
        let coding = self.coding;
        let Some(scales) = &coding.scales else { return Ok(()) };
        let [rows, cols] = scales.grid;
        let (stored, dtype) = match &scales.data {
            ScaleData::Tensor(id, dtype) => (*id, *dtype),
            ScaleData::Nested(nested) => (nested.absmax, DType::Float32),
        };
        self.to_f64 = Some(to_f64(little(dtype))?);
        self.scale_size = dtype.size();
        self.scales = match (&scales.data, scales.swizzled) {
            (ScaleData::Tensor(id, _), Some(wide)) => {
                let tensor = self.companion(*id, rows.next_multiple_of(TILE) * wide * dtype.size())?;
                let tiles = self.window.lines.start / TILE..self.window.lines.end.div_ceil(TILE);
                let tile = TILE * wide * dtype.size();
                self.source.read_pieces(tensor, tiles.start * tile, [tile, tile], tiles.len())?
            }
            (ScaleData::Tensor(id, dtype), None) => self.in_window(*id, cols, dtype.size())?,
            (ScaleData::Nested(nested), _) => {
                nested.scales(&self.in_window(nested.absmax, cols, 1)?, self.window.lines.start * cols)
            }
        };
        if let Zeros::Tensor { id, packing, .. } = &coding.zeros {
            let matrix = packing.stored_rows(rows) * packing.pitch;
            let tensor = self.companion(*id, coding.batches * matrix)?;
            let batches = self.window.lines.start / rows..self.window.lines.end.div_ceil(rows);
            let read = |first, count| self.source.read_pieces(tensor, first, [matrix, matrix], count);
            self.zeros = read(batches.start * matrix, batches.len())?;
        }
        if let Some(id) = coding.biases {
            self.biases = self.in_window(id, cols, dtype.size())?;
        }
        if let Some((id, axis)) = coding.groups {
            let (n, limit) = match axis {
                Axis::Rows => (coding.rows, rows),
                Axis::Columns => (coding.cols, cols),
            };
            let groups = self.source.read_all(self.companion(id, 4 * n)?)?;
            for (i, group) in groups.chunks_exact(4).enumerate() {
                let group = i32::from_le_bytes([0, 1, 2, 3].map(|i| group[i]));
                let group = usize::try_from(group).ok().filter(|group| *group < limit);
                self.groups.push(group.ok_or_else(|| {
                    invalid(format!("entry {i} names no group: there are {limit}"))
                        .tensor(self.source, &self.source.tensors[id])
                })?);
            }
        }
        if allow_nan {
            return Ok(());
        }
        let mut line = Line::default();
        for row in self.window.lines.clone() {
            self.load(&mut line, row)?;
            let biases = coding.biases.map(|id| ("bias", id, &line.biases));
            for (what, id, values) in [("scale", stored, &line.scales)].into_iter().chain(biases) {
                if let Some(col) = values.iter().position(|value| !value.is_finite()) {
                    let (value, col) = (values[col], self.window.blocks.start + col);
                    return Err(not_finite(format!("the {what} of block ({row}, {col}) is {value}"))
                        .tensor(self.source, &self.source.tensors[id]));
                }
            }
        }
        Ok(())
    }

    /// The scales of rows of blocks, counted through all matrices, as they are stored. They are in the window, which has all columns.
    pub(crate) fn stored_scales(&self, lines: Range<usize>) -> &[u8] {
        let Window { lines: held, blocks } = &self.window;
        let line = blocks.len() * self.scale_size;
        &self.scales[(lines.start - held.start) * line..(lines.end - held.start) * line]
    }

    /// Whether a scale is one byte.
    pub(super) fn has_scales_of_a_byte(&self) -> bool {
        self.scale_size == 1
    }

    /// A line with the scale that each byte stands for, without zero points of a tensor and biases.
    pub(super) fn every_scale(&self) -> Result<Line> {
        let mut line = Line { stored: (0..=u8::MAX).collect(), ..Line::default() };
        if let (Some(scales), Some(to_f64)) = (&self.coding.scales, &self.to_f64) {
            line.cast(to_f64, scales)?;
        }
        if let Zeros::Constant(zero) = self.coding.zeros {
            line.zeros = vec![f64::from(zero); line.scales.len()];
        }
        Ok(line)
    }

    /// Loads scales, zero points and biases of a row of blocks, counted through all matrices.
    pub(crate) fn load(&self, line: &mut Line, row: usize) -> Result<()> {
        let (Some(scales), Some(to_f64)) = (&self.coding.scales, &self.to_f64) else { return Ok(()) };
        if line.of == Some(row) {
            return Ok(());
        }
        line.of = Some(row);
        let [rows, _] = scales.grid;
        let Window { lines, blocks } = &self.window;
        let (at, len) = (row - lines.start, blocks.len() * self.scale_size);
        let of_row = at * len..(at + 1) * len;
        let swizzled: Vec<u8>;
        let bytes = match scales.swizzled {
            None => &self.scales[of_row.clone()],
            Some(stored) => {
                let row = row - lines.start / TILE * TILE;
                swizzled = blocks.clone().map(|col| self.scales[swizzle(row, col, stored)]).collect();
                &swizzled
            }
        };
        line.stored.clear();
        line.stored.extend_from_slice(bytes);
        line.cast(to_f64, scales)?;
        if !self.biases.is_empty() {
            floats(to_f64, &self.biases[of_row], blocks.len(), &mut line.biases)?;
        }
        match &self.coding.zeros {
            Zeros::None => {}
            Zeros::Constant(zero) => line.zeros = vec![f64::from(*zero); blocks.len()],
            Zeros::Tensor { packing, signed, less_one, .. } => {
                let matrix = packing.stored_rows(rows) * packing.pitch;
                let matrix = &self.zeros[(row / rows - lines.start / rows) * matrix..];
                line.fields.resize(blocks.len(), 0);
                packing.unpack(matrix, row % rows, blocks.clone(), &mut line.fields);
                let mask = u8::MAX >> (8 - packing.bits);
                let value = |field: &u8| match (signed, less_one) {
                    (true, _) => f64::from(sign_extend(*field, packing.bits)),
                    (false, true) => f64::from(field.wrapping_add(1) & mask),
                    (false, false) => f64::from(*field),
                };
                line.zeros = line.fields.iter().map(value).collect();
            }
        }
        Ok(())
    }
}

fn sign_extend(field: u8, bits: u32) -> i8 {
    ((field << (8 - bits)) as i8) >> (8 - bits)
}

/// The value of every field of a number of bits.
fn table(values: &Codes, bits: u32) -> Result<Vec<f64>> {
    let fields: Vec<u8> = (0..=u8::MAX >> (8 - bits)).collect();
    let mut table = Vec::new();
    match values {
        Codes::Signed => table.extend(fields.iter().map(|field| f64::from(sign_extend(*field, bits)))),
        Codes::Unsigned => table.extend(fields.iter().map(|field| f64::from(*field))),
        Codes::Table(values) => table.extend(values.iter().copied().map(f64::from)),
        Codes::Float(dtype) => {
            // One code in each byte.
            let one = Encoding::with_storage(*dtype, lanecast::Storage::Byte);
            let plan = to_f64(one)?;
            floats(&plan, &fields, fields.len(), &mut table)?;
        }
    }
    table.resize(256, 0.0);
    Ok(table)
}

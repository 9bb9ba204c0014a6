//! The decoder: values of a [`Coding`], for all layouts.
//!
//! *Law.* A value is the exact `(code - zero) * scale`, times or over the factor, plus the bias, rounded once to the target.
//!
//! *Method.* The value is formed in float64 and cast. That is one rounding:
//! * `(code - zero) * scale` is exact. A code has at most 24 bits (an entry of a table; 9 with a zero point), a scale at most 24.
//! * Times a factor of 24 bits it is still exact: layouts with a factor have codes and scales of at most 4 bits.
//! * Over a factor of 24 bits, the float64 quotient `p / f` lies on the same side of every midpoint `m` of the target as the exact one. `m`
//!   has at most 25 bits, so `m f` has 49, and `p` has at most 31: if `p` is not `m f`, it differs from it by at least 2^-49 of it, and the
//!   rounding of the quotient by at most 2^-53.
//! * A sum with a bias is rounded to odd: the residue that Knuth's sum gives exactly makes the last bit odd. A second rounding, to at most
//!   25 bits, is then that of the exact sum.
//!
//! Float64 holds the exponents of all factors: each is between 2^-149 and 2^128.

use std::ops::Range;

use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::little,
    coding::{Along, Axis, Codes, Coding, Factor, ScaleData, Zeros},
    error::{At, invalid, not_finite},
    fast::Fast,
    source::{Source, Stored},
    unpack::swizzle,
};

/// Elements that are decoded at once.
const PART: usize = 1 << 18;
/// The fewest columns of a panel that is transposed, and the rows of its strips.
const PANEL: usize = 64;
const STRIP: usize = 32;

/// What receives the values of a weight, in order.
pub(crate) type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// A weight with its scales in memory.
pub(crate) struct Decoder<'a> {
    pub(crate) source: &'a Source,
    pub(crate) coding: &'a Coding,
    pub(crate) codes: &'a Stored,
    /// The value of every field.
    pub(crate) table: Vec<f64>,
    /// The scales as they are stored; computed ones as `float32`.
    pub(crate) scales: Vec<u8>,
    to_f64: Option<CastPlan>,
    zeros: Vec<u8>,
    biases: Vec<u8>,
    pub(crate) groups: Vec<usize>,
    /// The factor, if it is that of a tensor.
    pub(crate) factor: Option<f32>,
}

/// Scales, zero points and biases of a row of blocks.
#[derive(Default)]
pub(crate) struct Line {
    of: Option<usize>,
    pub(crate) scales: Vec<f64>,
    pub(crate) zeros: Vec<f64>,
    pub(crate) biases: Vec<f64>,
    fields: Vec<u8>,
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
            table: table(&coding.values, coding.packing.bits)?,
            scales: Vec::new(),
            to_f64: None,
            zeros: Vec::new(),
            biases: Vec::new(),
            groups: Vec::new(),
            factor: None,
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

    /// Bytes of a tensor, which must be as many as the shape of the weight needs.
    fn companion(&self, id: usize, need: usize) -> Result<Vec<u8>> {
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
        self.source.read_all(tensor)
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
        let n = match scales.swizzled {
            Some(cols) => rows.next_multiple_of(128) * cols,
            None => coding.batches * rows * cols,
        };
        self.scales = match &scales.data {
            ScaleData::Tensor(id, dtype) => self.companion(*id, n * dtype.size())?,
            ScaleData::Nested(nested) => nested.scales(&self.companion(nested.absmax, n)?),
        };
        if let Zeros::Tensor { id, packing, .. } = &coding.zeros {
            self.zeros = self.companion(*id, coding.batches * packing.stored_rows(rows) * packing.pitch)?;
        }
        if let Some(id) = coding.biases {
            self.biases = self.companion(id, n * dtype.size())?;
        }
        if let Some((id, axis)) = coding.groups {
            let (n, limit) = match axis {
                Axis::Rows => (coding.rows, rows),
                Axis::Columns => (coding.cols, cols),
            };
            let groups = self.companion(id, 4 * n)?;
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
        for row in 0..coding.batches * rows {
            self.load(&mut line, row)?;
            let biases = coding.biases.map(|id| ("bias", id, &line.biases));
            for (what, id, values) in [("scale", stored, &line.scales)].into_iter().chain(biases) {
                if let Some(col) = values.iter().position(|value| !value.is_finite()) {
                    let value = values[col];
                    return Err(not_finite(format!("the {what} of block ({row}, {col}) is {value}"))
                        .tensor(self.source, &self.source.tensors[id]));
                }
            }
        }
        Ok(())
    }

    /// Loads scales, zero points and biases of a row of blocks, counted through all matrices.
    pub(crate) fn load(&self, line: &mut Line, row: usize) -> Result<()> {
        let (Some(scales), Some(to_f64)) = (&self.coding.scales, &self.to_f64) else { return Ok(()) };
        if line.of == Some(row) {
            return Ok(());
        }
        line.of = Some(row);
        let [rows, cols] = scales.grid;
        let size = self.scales.len()
            / (scales.swizzled.map_or(self.coding.batches * rows * cols, |n| rows.next_multiple_of(128) * n))
                .max(1);
        let swizzled: Vec<u8>;
        let bytes = match scales.swizzled {
            None => &self.scales[row * cols * size..(row + 1) * cols * size],
            Some(stored) => {
                swizzled = (0..cols).map(|col| self.scales[swizzle(row, col, stored)]).collect();
                &swizzled
            }
        };
        floats(to_f64, bytes, cols, &mut line.scales)?;
        if scales.zero_is_zero {
            line.scales
                .iter_mut()
                .zip(bytes)
                .filter(|(_, byte)| **byte == 0)
                .for_each(|(scale, _)| *scale = 0.0);
        }
        if !self.biases.is_empty() {
            let of_row = row * cols * size..(row + 1) * cols * size;
            floats(to_f64, &self.biases[of_row], cols, &mut line.biases)?;
        }
        match &self.coding.zeros {
            Zeros::None => {}
            Zeros::Constant(zero) => line.zeros = vec![f64::from(*zero); cols],
            Zeros::Tensor { packing, signed, less_one, .. } => {
                let matrix = packing.stored_rows(rows) * packing.pitch;
                let matrix = &self.zeros[row / rows * matrix..];
                line.fields.resize(cols, 0);
                packing.unpack(matrix, row % rows, 0..cols, &mut line.fields);
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

    /// Writes the values of a row of a matrix in the columns `cols` to `out`.
    fn decode(
        &self,
        line: &mut Line,
        fields: &[u8],
        at: (usize, usize),
        cols: Range<usize>,
        out: &mut [f64],
    ) -> Result<()> {
        let (batch, row) = at;
        let Some(scales) = &self.coding.scales else {
            out.iter_mut().zip(fields).for_each(|(out, field)| *out = self.table[usize::from(*field)]);
            return Ok(());
        };
        let axis = self.coding.groups.map(|(_, axis)| axis);
        let block = if axis == Some(Axis::Rows) { self.groups[row] } else { row / scales.block[0] };
        self.load(line, batch * scales.grid[0] + block)?;
        let factor = self.times_over();
        let of = |block: usize| Block {
            scale: line.scales[block],
            zero: line.zeros.get(block).copied().unwrap_or(0.0),
            bias: line.biases.get(block).copied(),
            factor,
        };
        let code = |field: &u8| self.table[usize::from(*field)];
        let width = scales.block[1];
        if axis == Some(Axis::Columns) || width == 1 {
            for ((out, field), col) in out.iter_mut().zip(fields).zip(cols) {
                let block = if axis == Some(Axis::Columns) { self.groups[col] } else { col };
                *out = of(block).value(code(field));
            }
            return Ok(());
        }
        // Blocks of columns, of which the first may have begun before.
        let (mut done, mut col) = (0, cols.start);
        while done < fields.len() {
            let block = of(col / width);
            let end = fields.len().min(done + width - col % width);
            for (out, field) in out[done..end].iter_mut().zip(&fields[done..end]) {
                *out = block.value(code(field));
            }
            col += end - done;
            done = end;
        }
        Ok(())
    }

    /// What values are multiplied by, and divided by.
    fn times_over(&self) -> (f64, f64) {
        let factor = self.factor.map_or(1.0, f64::from);
        match self.coding.factor {
            Factor::Times(_) => (factor, 1.0),
            Factor::Over(_) => (1.0, factor),
            Factor::OverConstant(over) => (1.0, f64::from(over)),
            Factor::None => (1.0, 1.0),
        }
    }

    /// Decodes the weight to little-endian elements of `to`, in C order of its shape, in parts. The loops of [`lanecast::scaled`] decode
    /// layouts that they know, unless `plainly` is set.
    pub(crate) fn run(&self, to: DType, plainly: bool, sink: &mut Sink<'_>) -> Result<()> {
        // An axis of an empty weight may be longer than memory.
        if self.coding.elements == 0 {
            return Ok(());
        }
        if let Some(fast) = Fast::new(self, to).filter(|_| !plainly) {
            return fast.run(sink);
        }
        let mut emit = Emit {
            plan: CastPlan::new(DType::Float64, little(to), &CastOptions::RUST)?,
            to,
            left: self.coding.elements,
            out: Vec::new(),
            sink,
        };
        match self.coding.transposed {
            true => self.run_transposed(&mut emit),
            false => self.run_in_order(&mut emit),
        }
    }

    fn run_in_order(&self, emit: &mut Emit<'_, '_>) -> Result<()> {
        let Coding { packing, batches, .. } = *self.coding;
        let [rows, cols] = self.coding.cut.unwrap_or([self.coding.rows, self.coding.cols]);
        let step = (PART / cols.max(1)).max(1);
        let (mut line, mut fields) = (Line::default(), vec![0; cols]);
        let mut values = Vec::new();
        for batch in 0..batches {
            for first in (0..rows).step_by(step) {
                let count = step.min(rows - first);
                let (matrix, offset) = self.matrix(batch, first, count)?;
                values.resize(count * cols, 0.0);
                for (i, values) in values.chunks_exact_mut(cols.max(1)).enumerate() {
                    packing.unpack(&matrix, first + i - offset, 0..cols, &mut fields);
                    self.decode(&mut line, &fields, (batch, first + i), 0..cols, values)?;
                }
                emit.emit(&values)?;
            }
        }
        Ok(())
    }

    /// Panels of columns, each of which is read from the packed codes of a whole matrix in memory. A panel is decoded in strips of rows, so
    /// that both sides of the transposition stay in the caches.
    fn run_transposed(&self, emit: &mut Emit<'_, '_>) -> Result<()> {
        let Coding { packing, batches, rows, cols, .. } = *self.coding;
        let step = (PART / rows.max(1)).max(PANEL);
        let mut line = Line::default();
        let (mut fields, mut strip) = (vec![0; step], vec![0.0; step * STRIP]);
        let mut turned = Vec::new();
        for batch in 0..batches {
            let (matrix, _) = self.matrix(batch, 0, rows)?;
            for first in (0..cols).step_by(step) {
                let count = step.min(cols - first);
                turned.resize(count * rows, 0.0);
                for top in (0..rows).step_by(STRIP) {
                    let height = STRIP.min(rows - top);
                    for (i, values) in strip.chunks_exact_mut(count).take(height).enumerate() {
                        let panel = first..first + count;
                        packing.unpack(&matrix, top + i, panel.clone(), &mut fields[..count]);
                        self.decode(&mut line, &fields[..count], (batch, top + i), panel, values)?;
                    }
                    for col in 0..count {
                        let column = &mut turned[col * rows + top..][..height];
                        for (i, out) in column.iter_mut().enumerate() {
                            *out = strip[i * count + col];
                        }
                    }
                }
                emit.emit(&turned)?;
            }
        }
        Ok(())
    }

    /// Codes of `count` rows from `first` on: the bytes, and the row that they begin with.
    pub(crate) fn matrix(&self, batch: usize, first: usize, count: usize) -> Result<(Vec<u8>, usize)> {
        let Coding { packing, rows, .. } = self.coding;
        let whole = packing.stored_rows(*rows);
        let (first, count) = match packing.along {
            Along::Rows => (first, count),
            Along::Columns => (0, whole),
        };
        let start = (batch * whole + first) * packing.pitch;
        let mut bytes = vec![0; count * packing.pitch];
        let have = self.codes.bytes.saturating_sub(start).min(bytes.len());
        self.source.read(self.codes, start, &mut bytes[..have])?;
        Ok((bytes, first))
    }
}

/// What the codes of a block have in common.
struct Block {
    scale: f64,
    zero: f64,
    bias: Option<f64>,
    factor: (f64, f64),
}

impl Block {
    /// The value of a code.
    fn value(&self, code: f64) -> f64 {
        // Without a zero point nothing is subtracted, so -0 stays -0.
        let code = if self.zero == 0.0 { code } else { code - self.zero };
        let (times, over) = self.factor;
        let mut value = code * self.scale * times;
        if over != 1.0 {
            value /= over;
        }
        if let Some(bias) = self.bias {
            value = sum_to_odd(value, bias);
        }
        match value.is_nan() {
            true if code.is_nan() => f64::NAN.copysign(code),
            true => f64::NAN,
            false => value,
        }
    }
}

/// Values on their way to the target.
struct Emit<'e, 's> {
    plan: CastPlan,
    to: DType,
    /// Elements that are left.
    left: usize,
    out: Vec<u8>,
    sink: &'e mut Sink<'s>,
}

impl Emit<'_, '_> {
    fn emit(&mut self, values: &[f64]) -> Result<()> {
        let n = values.len().min(self.left);
        self.left -= n;
        self.out.resize(Encoding::packed(self.to).byte_len(n).unwrap_or(0), 0);
        self.plan.run(&values[..n], BytesMut::new(&mut self.out, n)).map_err(Error::from)?;
        (self.sink)(&self.out)
    }
}

fn sign_extend(field: u8, bits: u32) -> i8 {
    ((field << (8 - bits)) as i8) >> (8 - bits)
}

/// The value of every field of so many bits.
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

/// The sum, exact or with an odd last bit between the two neighbours of the exact one.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let (of_a, of_b) = (sum - b, sum - (sum - b));
    let residue = (a - of_a) + (b - of_b);
    if residue == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The exact sum lies toward the residue: the neighbour on that side has an odd last bit.
    if residue > 0.0 { sum.next_up() } else { sum.next_down() }
}

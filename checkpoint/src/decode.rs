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
//!   25 bits, then rounds the exact sum.
//!
//! Float64 holds the exponents of all factors: each is between 2^-149 and 2^128.

use std::ops::Range;

use lanecast::{BytesMut, CastOptions, CastPlan, DType};
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::little,
    coding::{Along, Axis, Coding, Factor, Packing},
    fast::Fast,
    source::Source,
};

mod lookup;
#[cfg(test)]
mod ranges;
mod scales;

use lookup::Lookup;
use scales::Window;
pub(crate) use scales::{Decoder, Line};

/// Elements that are decoded at once.
const PART: usize = 1 << 18;
/// Bytes that are decoded at once of a transposed matrix: its rows are read in pieces, which should not be short.
const SLAB: usize = 1 << 21;
/// The fewest columns that are read at once of such a matrix.
const COLUMNS: usize = 128;
/// The fewest columns of a panel that is transposed, and the rows of its strips.
const PANEL: usize = 64;
const STRIP: usize = 32;
/// Fields that fill whole words of 32 bits, whatever their width is.
pub(crate) const WORDS: usize = 32;

/// What receives the values of a weight, in order.
pub(crate) type Sink<'s> = dyn FnMut(&[u8]) -> Result<()> + 's;

/// How a weight is decoded.
pub(crate) struct Decoding<'a> {
    pub(crate) source: &'a Source,
    pub(crate) coding: &'a Coding,
    pub(crate) allow_nan: bool,
    pub(crate) to: DType,
    /// Whether the loops of [`lanecast::scaled`] and tables stay out of it.
    pub(crate) plainly: bool,
}

impl Coding {
    /// Rows and columns of a matrix of the weight.
    fn matrix(&self) -> [usize; 2] {
        let [rows, cols] = self.cut.unwrap_or([self.rows, self.cols]);
        if self.transposed { [cols, rows] } else { [rows, cols] }
    }

    /// Elements of the smallest part that is decoded alone without waste: rows of whole blocks.
    pub(crate) fn unit(&self) -> usize {
        let [_, width] = self.matrix();
        let block = self.scales.as_ref().map_or(1, |scales| scales.block[0]);
        let rows = match self.transposed {
            true => COLUMNS,
            false if block < self.rows => block,
            false => 1,
        };
        (rows * width).max(1)
    }
}

impl Decoding<'_> {
    /// Decodes elements, counted in C order of the shape, to little-endian elements, in parts. The loops of [`lanecast::scaled`] decode
    /// layouts that they know.
    pub(crate) fn run(&self, elements: Range<usize>, sink: &mut Sink<'_>) -> Result<()> {
        let Self { source, coding, allow_nan, to, plainly } = *self;
        // An axis of an empty weight may be longer than memory.
        if coding.elements == 0 {
            return Decoder::new(source, coding, allow_nan).map(drop);
        }
        if elements.is_empty() {
            return Ok(());
        }
        let [height, width] = coding.matrix();
        let mut emit = Emit {
            plan: CastPlan::new(DType::Float64, little(to), &CastOptions::RUST)?,
            to,
            skip: elements.start % width * to.size(),
            left: elements.len() * to.size(),
            out: Vec::new(),
            sink,
        };
        let rows = elements.start / width..elements.end.div_ceil(width);
        if coding.transposed {
            for (batch, cols) in pieces(rows, height, (SLAB / to.size() / width).max(COLUMNS)) {
                let decoder =
                    Decoder::of(source, coding, allow_nan, Window::of_columns(coding, batch, &cols))?;
                match Fast::new(&decoder, to).filter(|_| !plainly) {
                    Some(fast) => fast.columns(batch, cols, &mut emit)?,
                    None => decoder.panels(batch, cols, &mut emit)?,
                }
            }
            return Ok(());
        }
        let decoder = Decoder::of(source, coding, allow_nan, Window::of_rows(coding, height, &rows))?;
        let fast = Fast::new(&decoder, to).filter(|_| !plainly);
        let mut lookup = Lookup::new(&decoder, to).filter(|_| !plainly);
        for (batch, rows) in pieces(rows, height, height) {
            match &fast {
                Some(fast) => fast.run(batch, rows, &mut emit)?,
                None => decoder.rows(batch, rows, lookup.as_mut(), &mut emit)?,
            }
        }
        Ok(())
    }
}

/// Rows that are counted through all matrices of `height` rows: pieces of at most `most` rows, each with its matrix and its rows in there.
fn pieces(rows: Range<usize>, height: usize, most: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut next = rows.start;
    std::iter::from_fn(move || {
        let (batch, first) = (next / height, next % height);
        let count = most.min(height - first).min(rows.end - next);
        next += count;
        (count > 0).then_some((batch, first..first + count))
    })
}

/// The codes of some rows and columns of a matrix.
pub(crate) struct Patch {
    pub(crate) bytes: Vec<u8>,
    packing: Packing,
    row: usize,
    col: usize,
}

impl Patch {
    /// Writes the fields of a row in some columns to `out`. Both are counted in the matrix.
    pub(crate) fn unpack(&self, row: usize, cols: Range<usize>, out: &mut [u8]) {
        self.packing.unpack(&self.bytes, row - self.row, cols.start - self.col..cols.end - self.col, out);
    }
}

impl Coding {
    /// Reads the codes of some rows and columns of a matrix as it is stored.
    pub(crate) fn patch(
        &self,
        source: &Source,
        batch: usize,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> Result<Patch> {
        let packing = self.packing;
        let all = packing.stored_rows(self.rows);
        let word = |fields: usize| fields / WORDS * packing.bits as usize * 4;
        let (row, lines, col, bytes) = match packing.along {
            Along::Rows if cols == (0..self.cols) => (rows.start, rows, 0, 0..packing.pitch),
            Along::Rows => {
                let end = word(cols.end.next_multiple_of(WORDS)).min(packing.pitch);
                (rows.start, rows, cols.start / WORDS * WORDS, word(cols.start)..end)
            }
            Along::Columns => {
                let end = (word(rows.end.next_multiple_of(WORDS)) / 4).min(all);
                let row = rows.start / WORDS * WORDS;
                (row, word(rows.start) / 4..end, cols.start, 4 * cols.start..4 * cols.end)
            }
        };
        let first = (batch * all + lines.start) * packing.pitch + bytes.start;
        let pieces = [packing.pitch, bytes.len()];
        let packing = Packing { pitch: bytes.len(), ..packing };
        let bytes = source.read_pieces(&source.tensors[self.codes], first, pieces, lines.len())?;
        Ok(Patch { bytes, packing, row, col })
    }
}

impl Decoder<'_> {
    /// Reads the codes of some rows and columns of a matrix.
    pub(crate) fn patch(&self, batch: usize, rows: Range<usize>, cols: Range<usize>) -> Result<Patch> {
        self.coding.patch(self.source, batch, rows, cols)
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
        let first = self.window.blocks.start;
        let of = |block: usize| self.block(line, block - first);
        let code = |field: &u8| self.table[usize::from(*field)];
        let width = scales.block[1];
        if width == 1 && axis != Some(Axis::Columns) && self.is_affine {
            let cols = cols.start - first..cols.end - first;
            let blocks = line.scales[cols.clone()].iter().zip(&line.zeros[cols]);
            for ((out, field), (scale, zero)) in out.iter_mut().zip(fields).zip(blocks) {
                *out = (code(field) - zero) * scale;
            }
            return Ok(());
        }
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

    /// What the codes of a block of a line have in common.
    fn block(&self, line: &Line, block: usize) -> Block {
        Block {
            scale: line.scales[block],
            zero: line.zeros.get(block).copied().unwrap_or(0.0),
            bias: line.biases.get(block).copied(),
            factor: self.times_over(),
        }
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

    /// Rows of a matrix, whose values are looked up if there are tables.
    fn rows(
        &self,
        batch: usize,
        rows: Range<usize>,
        mut lookup: Option<&mut Lookup<'_>>,
        emit: &mut Emit<'_, '_>,
    ) -> Result<()> {
        let [_, cols] = self.coding.matrix();
        let step = (PART / cols).max(1);
        let (mut line, mut fields) = (Line::default(), vec![0; cols]);
        let (mut values, mut out, row_bytes) = (Vec::new(), Vec::new(), cols * emit.to.size());
        for first in rows.clone().step_by(step) {
            let rows = first..rows.end.min(first + step);
            let patch = self.patch(batch, rows.clone(), 0..self.coding.cols)?;
            if let Some(lookup) = &mut lookup {
                out.resize(rows.len() * row_bytes, 0);
                for (row, out) in rows.zip(out.chunks_exact_mut(row_bytes)) {
                    patch.unpack(row, 0..cols, &mut fields);
                    lookup.row(&mut line, &fields, (batch, row), out)?;
                }
                emit.bytes(&out)?;
                continue;
            }
            values.resize(rows.len() * cols, 0.0);
            for (row, values) in rows.zip(values.chunks_exact_mut(cols)) {
                patch.unpack(row, 0..cols, &mut fields);
                self.decode(&mut line, &fields, (batch, row), 0..cols, values)?;
            }
            emit.values(&values)?;
        }
        Ok(())
    }

    /// Columns of a matrix, as rows. Their codes are in memory; panels of them are decoded in strips of rows, so that both sides of the
    /// transposition stay in the caches.
    fn panels(&self, batch: usize, cols: Range<usize>, emit: &mut Emit<'_, '_>) -> Result<()> {
        let rows = self.coding.rows;
        let step = (PART / rows).max(PANEL);
        let mut line = Line::default();
        let (mut fields, mut strip) = (vec![0; step], vec![0.0; step * STRIP]);
        let mut turned = Vec::new();
        let patch = self.patch(batch, 0..rows, cols.clone())?;
        for first in cols.clone().step_by(step) {
            let panel = first..cols.end.min(first + step);
            let count = panel.len();
            turned.resize(count * rows, 0.0);
            for top in (0..rows).step_by(STRIP) {
                let height = STRIP.min(rows - top);
                for (i, values) in strip.chunks_exact_mut(count).take(height).enumerate() {
                    patch.unpack(top + i, panel.clone(), &mut fields[..count]);
                    self.decode(&mut line, &fields[..count], (batch, top + i), panel.clone(), values)?;
                }
                for col in 0..count {
                    let column = &mut turned[col * rows + top..][..height];
                    for (i, out) in column.iter_mut().enumerate() {
                        *out = strip[i * count + col];
                    }
                }
            }
            emit.values(&turned)?;
        }
        Ok(())
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

/// Elements on their way to the target.
pub(crate) struct Emit<'e, 's> {
    plan: CastPlan,
    to: DType,
    /// Bytes that are dropped before the first one that is wanted.
    skip: usize,
    /// Bytes that are wanted.
    left: usize,
    out: Vec<u8>,
    sink: &'e mut Sink<'s>,
}

impl Emit<'_, '_> {
    /// Drops more bytes at the beginning.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.skip += bytes;
    }

    fn values(&mut self, values: &[f64]) -> Result<()> {
        let (n, mut out) = (values.len(), std::mem::take(&mut self.out));
        out.resize(n * self.to.size(), 0);
        self.plan.run(values, BytesMut::new(&mut out, n)).map_err(Error::from)?;
        self.bytes(&out)?;
        self.out = out;
        Ok(())
    }

    /// Passes on what is wanted of these bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let first = self.skip.min(bytes.len());
        let n = self.left.min(bytes.len() - first);
        (self.skip, self.left) = (self.skip - first, self.left - n);
        if n == 0 { Ok(()) } else { (self.sink)(&bytes[first..first + n]) }
    }
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

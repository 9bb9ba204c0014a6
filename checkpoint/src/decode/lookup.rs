//! Weights of at most 4 bits: what the codes of a block stand for is computed once, and then looked up.
//!
//! *Law.* The bits are the same as with the plain decoder, whose value of a code and a block is used.

use lanecast::{BytesMut, CastOptions, CastPlan, DType};
use lanecast_files::Result;

use super::{Decoder, Line};
use crate::{
    checkpoint::little,
    coding::{Scales, Zeros},
};

/// Entries of a table.
const CODES: usize = 16;

/// Tables of elements of the target, in which codes are looked up.
pub(super) struct Lookup<'d> {
    of: &'d Decoder<'d>,
    scales: &'d Scales,
    to: DType,
    /// Whether there is a table for each byte that a scale may be, and not one for each block of a row.
    is_by_byte: bool,
    /// The tables, and the row of blocks that they are of.
    tables: Vec<u8>,
    line: Option<usize>,
}

impl<'d> Lookup<'d> {
    /// Tables for a weight, if they are worth it: there must be fewer entries than elements.
    pub(super) fn new(of: &'d Decoder<'_>, to: DType) -> Option<Self> {
        let coding = of.coding;
        let scales =
            coding.scales.as_ref().filter(|_| coding.packing.bits <= 4 && coding.groups.is_none())?;
        let by_scale_only = coding.biases.is_none() && !matches!(coding.zeros, Zeros::Tensor { .. });
        let is_by_byte = by_scale_only && of.has_scales_of_a_byte();
        let is_worth = is_by_byte && scales.block[1] >= CODES || scales.block[1] >= 2 * CODES;
        is_worth.then(|| Self { of, scales, to, is_by_byte, tables: Vec::new(), line: None })
    }

    /// Writes the elements of fields of a row of a matrix, from its first column on.
    pub(super) fn row(
        &mut self,
        line: &mut Line,
        fields: &[u8],
        at: (usize, usize),
        out: &mut [u8],
    ) -> Result<()> {
        let (batch, row) = at;
        let row = batch * self.scales.grid[0] + row / self.scales.block[0];
        self.of.load(line, row)?;
        if self.line.is_none() || !self.is_by_byte && self.line != Some(row) {
            match self.is_by_byte {
                true => self.fill(&self.of.every_scale()?)?,
                false => self.fill(line)?,
            }
            self.line = Some(row);
        }
        match self.to.size() {
            2 => self.look_up::<2>(line, fields, out),
            4 => self.look_up::<4>(line, fields, out),
            _ => self.look_up::<8>(line, fields, out),
        }
        Ok(())
    }

    /// Makes a table for each scale of a line.
    fn fill(&mut self, line: &Line) -> Result<()> {
        let codes = &self.of.table[..CODES];
        let n = line.scales.len() * CODES;
        let blocks = (0..line.scales.len()).map(|i| self.of.block(line, i));
        let values: Vec<f64> =
            blocks.flat_map(|block| codes.iter().map(move |code| block.value(*code))).collect();
        self.tables.resize(n * self.to.size(), 0);
        let plan = CastPlan::new(DType::Float64, little(self.to), &CastOptions::RUST)?;
        Ok(plan.run(&values[..], BytesMut::new(&mut self.tables, n))?)
    }

    fn look_up<const N: usize>(&self, line: &Line, fields: &[u8], out: &mut [u8]) {
        let tables = self.tables.as_chunks::<N>().0.as_chunks::<CODES>().0;
        let (out, width) = (out.as_chunks_mut::<N>().0, self.scales.block[1]);
        for (block, (fields, out)) in fields.chunks(width).zip(out.chunks_mut(width)).enumerate() {
            let table = &tables[if self.is_by_byte { usize::from(line.stored[block]) } else { block }];
            for (out, field) in out.iter_mut().zip(fields) {
                *out = table[usize::from(*field) % CODES];
            }
        }
    }
}

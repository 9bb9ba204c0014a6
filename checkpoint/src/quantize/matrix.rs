//! [`Matrix`]: a weight as the source stores it, read in bands of rows.
//!
//! *Law.* Bands are the elements of the source, or the exact values of its codes; what is not exact is an error.

use std::ops::Range;

use lanecast::DType;
use lanecast_files::{Error, Result};

use crate::{
    checkpoint::{Checkpoint, Content},
    coding::Coding,
    error::{At, lost},
    source::Stored,
};

/// Elements of a band, about. A band has whole tiles of 128 rows.
const BAND: usize = 1 << 19;
/// Rows of the tiles of schemes and of swizzled scales.
pub(super) const TILE: usize = 128;
/// Rows and columns of the squares that are transposed at once.
const SQUARE: usize = 32;

/// Matrices of a tensor of the source.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    /// The index of the tensor in the checkpoint.
    pub(super) tensor: usize,
    /// Which matrices of the tensor: more than one only if all of them are one weight.
    pub(super) batches: Range<usize>,
    /// Which rows of each are the weight, counted in steps of `every`.
    pub(super) rows: Range<usize>,
    /// The distance between rows of the weight: 2 if its rows alternate with the rows of another weight.
    pub(super) every: usize,
    /// The row of the tensor that is row 0, below `every`.
    pub(super) phase: usize,
    /// Rows of a matrix of the tensor, as many as the weight has or more.
    pub(super) height: usize,
    /// Columns.
    pub(super) cols: usize,
    /// Whether the tensor has the columns as rows.
    pub(super) transposed: bool,
}

/// Rows of a weight, as little-endian elements.
pub(super) struct Band<'b> {
    /// The first row, counted through all matrices.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) dtype: DType,
    pub(super) bytes: &'b [u8],
}

/// What takes bands.
type Take<'t> = dyn FnMut(&Band<'_>) -> Result<()> + 't;

impl Matrix {
    /// The whole of a tensor of two axes.
    pub(super) fn whole(tensor: usize, rows: usize, cols: usize) -> Self {
        let rows = 0..rows;
        Self { tensor, batches: 0..1, height: rows.end, rows, every: 1, phase: 0, cols, transposed: false }
    }

    /// Rows of the weight, through all matrices.
    pub(super) fn all_rows(&self) -> usize {
        self.rows.len() * self.batches.len()
    }

    /// The row of the tensor that is a row of the weight, counted in one matrix.
    pub(super) fn stored_row(&self, row: usize) -> usize {
        (self.rows.start + row) * self.every + self.phase
    }

    /// The rows of the tensor from the first of some rows of the weight to the last. Every [`every`](Self::every)-th of them is one of these.
    pub(super) fn span(&self, rows: &Range<usize>) -> Range<usize> {
        let first = self.stored_row(rows.start);
        first..first + rows.len().saturating_sub(1) * self.every + rows.len().min(1)
    }

    /// Rows of a band.
    fn step(&self) -> usize {
        (BAND / self.cols.max(1)).max(1).next_multiple_of(TILE)
    }

    /// Rows that every part of the weight begins at a multiple of, so that no tile goes beyond a part or a matrix.
    pub(super) fn unit(&self) -> usize {
        if self.batches.len() == 1 || self.rows.len().is_multiple_of(TILE) { TILE } else { 1 }
    }

    /// Calls `take` with all bands, in order. A band does not go beyond a matrix.
    pub(super) fn bands(&self, checkpoint: &Checkpoint, take: &mut Take<'_>) -> Result<()> {
        self.bands_of(checkpoint, 0..self.all_rows(), take)
    }

    /// Calls `take` with the bands of some rows, counted through all matrices, in order.
    pub(super) fn bands_of(
        &self,
        checkpoint: &Checkpoint,
        rows: Range<usize>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        match &checkpoint.contents[self.tensor] {
            Content::Plain(id) => self.plain_bands(checkpoint, &checkpoint.source.tensors[*id], rows, take),
            Content::Coded(coding)
                if self.transposed || coding.batches != 1 || self.rows.len() != self.height =>
            {
                self.stacked_bands(checkpoint, coding, rows, take)
            }
            content => self.decoded_bands(checkpoint, content, rows, take),
        }
    }

    fn plain_bands(
        &self,
        checkpoint: &Checkpoint,
        stored: &Stored,
        rows: Range<usize>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let (source, dtype) = (&checkpoint.source, stored.dtype().unwrap_or(DType::Float32));
        let (size, mut first) = (dtype.size(), rows.start);
        while first < rows.end {
            let (batch, row) = (first / self.rows.len(), first % self.rows.len());
            let rows = self.step().min(self.rows.len() - row).min(rows.end - first);
            let (span, matrix) =
                (self.span(&(row..row + rows)), (self.batches.start + batch) * self.height * self.cols);
            let bytes = if self.transposed {
                let pieces = [self.height * size, span.len() * size];
                let columns = source.read_pieces(stored, (matrix + span.start) * size, pieces, self.cols)?;
                self.thin(transpose(&columns, [self.cols, span.len()], size), size)
            } else {
                let pieces = [self.every * self.cols * size, self.cols * size];
                source.read_pieces(stored, (matrix + span.start * self.cols) * size, pieces, rows)?
            };
            take(&Band { first, rows, dtype, bytes: &bytes })?;
            first += rows;
        }
        Ok(())
    }

    /// The rows of the weight among rows from one of them on, of elements of `size` bytes.
    fn thin(&self, span: Vec<u8>, size: usize) -> Vec<u8> {
        match self.every {
            1 => span,
            every => span.chunks((self.cols * size).max(1)).step_by(every).flatten().copied().collect(),
        }
    }

    /// The exact values of codes that are stacked, as `float32`. The stored matrices have the rows of the weights.
    fn stacked_bands(
        &self,
        checkpoint: &Checkpoint,
        coding: &Coding,
        rows: Range<usize>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let flat = Content::Coded(Box::new(Coding { transposed: false, ..coding.clone() }));
        let mut first = rows.start;
        while first < rows.end {
            let (batch, row) = (first / self.rows.len(), first % self.rows.len());
            let rows = self.step().min(self.rows.len() - row).min(rows.end - first);
            let (span, top) = (self.span(&(row..row + rows)), (self.batches.start + batch) * self.height);
            let elements = (top + span.start) * self.cols..(top + span.end) * self.cols;
            let mut values = Vec::with_capacity(elements.len() * size_of::<f64>());
            checkpoint.decode_range(&flat, DType::Float64, false, elements, &mut |part| {
                values.extend_from_slice(part);
                Ok(())
            })?;
            let (values, mut bytes) = (self.thin(values, size_of::<f64>()), Vec::new());
            for (i, value) in values.as_chunks().0.iter().enumerate() {
                let at = (row + i / self.cols.max(1), i % self.cols.max(1));
                bytes.extend(self.exact(checkpoint, f64::from_le_bytes(*value), at)?.to_le_bytes());
            }
            take(&Band { first, rows, dtype: DType::Float32, bytes: &bytes })?;
            first += rows;
        }
        Ok(())
    }

    /// A value as `float32`.
    fn exact(&self, checkpoint: &Checkpoint, value: f64, (row, col): (usize, usize)) -> Result<f32> {
        let narrow = value as f32;
        if f64::from(narrow) != value {
            let what = format!(
                "element ({row}, {col}) is {value:e}, which no power of two times a code of 8 bits is"
            );
            return Err(self.at(checkpoint, lost(what)));
        }
        Ok(narrow)
    }

    /// The exact values of codes, as `float32`.
    fn decoded_bands(
        &self,
        checkpoint: &Checkpoint,
        content: &Content,
        rows: Range<usize>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let band = self.step() * self.cols * size_of::<f32>();
        let elements = rows.start * self.cols..rows.end * self.cols;
        let (mut bytes, mut element, mut first) = (Vec::new(), elements.start, rows.start);
        let mut emit = |bytes: &[u8], take: &mut Take<'_>| {
            let rows = bytes.len() / (self.cols.max(1) * size_of::<f32>());
            first += rows;
            take(&Band { first: first - rows, rows, dtype: DType::Float32, bytes })
        };
        checkpoint.decode_range(content, DType::Float64, false, elements, &mut |part| {
            for value in part.as_chunks().0 {
                let at = (element / self.cols, element % self.cols);
                bytes.extend(self.exact(checkpoint, f64::from_le_bytes(*value), at)?.to_le_bytes());
                element += 1;
            }
            while bytes.len() >= band {
                emit(&bytes[..band], take)?;
                bytes.drain(..band);
            }
            Ok(())
        })?;
        match bytes.is_empty() {
            true => Ok(()),
            false => emit(&bytes, take),
        }
    }

    /// The error with the tensor as its place.
    pub(super) fn at(&self, checkpoint: &Checkpoint, error: Error) -> Error {
        let stored = &checkpoint.source.tensors[checkpoint.contents[self.tensor].id()];
        error.tensor(&checkpoint.source, stored)
    }
}

/// A matrix of elements of `size` bytes with its columns as rows.
pub(super) fn transpose(matrix: &[u8], [rows, cols]: [usize; 2], size: usize) -> Vec<u8> {
    let mut out = vec![0; matrix.len()];
    for top in (0..cols).step_by(SQUARE) {
        for left in (0..rows).step_by(SQUARE) {
            for col in top..cols.min(top + SQUARE) {
                for row in left..rows.min(left + SQUARE) {
                    let (from, to) = ((row * cols + col) * size, (col * rows + row) * size);
                    out[to..to + size].copy_from_slice(&matrix[from..from + size]);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::divisions::write;

    /// Rows of a stack that alternate with other rows, stored as rows or as columns.
    #[test]
    fn rows_may_alternate() {
        let (folder, value) = (tempfile::tempdir().expect("a folder"), |i: usize| i as f32);
        let data: Vec<u8> = (0..2 * 6 * 4).flat_map(|i| value(i).to_le_bytes()).collect();
        let tensor =
            lanecast_files::NewTensor { name: "x", dtype: DType::Float32, shape: &[2, 6, 4], data: &data };
        write(folder.path(), &[tensor], "{}");
        let checkpoint = Checkpoint::open(folder.path()).expect("a checkpoint");
        for (transposed, height, cols) in [(false, 6, 4), (true, 4, 6)] {
            for (phase, batches) in [(0, 0..1), (1, 1..2), (1, 0..2)] {
                let rows = 1..height / 2;
                let matrix = Matrix {
                    tensor: 0,
                    batches: batches.clone(),
                    rows: rows.clone(),
                    every: 2,
                    phase,
                    height,
                    cols,
                    transposed,
                };
                let element = |batch: usize, row: usize, col: usize| match transposed {
                    true => value(24 * batch + col * height + row),
                    false => value(24 * batch + row * cols + col),
                };
                let places = batches.flat_map(|batch| rows.clone().map(move |row| (batch, 2 * row + phase)));
                let want: Vec<u8> = places
                    .flat_map(|(batch, row)| (0..cols).map(move |col| (batch, row, col)))
                    .flat_map(|(batch, row, col)| element(batch, row, col).to_le_bytes())
                    .collect();
                let mut have = Vec::new();
                let mut take = |band: &Band<'_>| {
                    have.extend_from_slice(band.bytes);
                    Ok(())
                };
                matrix.bands(&checkpoint, &mut take).expect("bands");
                assert_eq!(have, want, "{transposed} {phase}");
            }
        }
    }
}

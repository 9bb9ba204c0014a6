//! [`Pair`]: tensors of both sides that have the same elements, after at most a permutation.

use lanecast::DType;
use lanecast_files::Result;

use super::{
    Difference,
    measure::Measure,
    streams::{Side, Streams},
};
use crate::checkpoint::{Checkpoint, Content, Tensor};

/// A tensor of one side.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) content: &'a Content,
}

impl Part<'_> {
    /// The dtype, or the layout of codes.
    fn described(&self) -> String {
        self.tensor.dtype.map_or(self.tensor.layout, |dtype| dtype.name()).to_owned()
    }

    fn is_complex(&self) -> bool {
        self.tensor.dtype.is_some_and(is_complex)
    }
}

fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::Complex64 | DType::Complex128)
}

/// How each matrix of a stack is permuted, so that its rows are in the order of the weights that it stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Rows of a permuted matrix.
    pub(super) rows: usize,
    /// Columns of a permuted matrix.
    pub(super) cols: usize,
    /// Whether the stored matrix is the transpose.
    pub(super) transposed: bool,
    /// Whether the rows of two weights alternate; the permuted ones follow each other.
    pub(super) interleaved: bool,
}

impl Order {
    /// The number of elements of a matrix.
    pub(super) fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Permutes the elements of a matrix, of `size` bytes each.
    pub(super) fn permute(&self, matrix: &[u8], size: usize) -> Vec<u8> {
        let Self { rows, cols, .. } = *self;
        let mut out = Vec::with_capacity(matrix.len());
        for row in 0..rows {
            let stored = match (self.interleaved, row < rows / 2) {
                (false, _) => row,
                (true, true) => 2 * row,
                (true, false) => 2 * (row - rows / 2) + 1,
            };
            if !self.transposed {
                out.extend_from_slice(&matrix[stored * cols * size..][..cols * size]);
                continue;
            }
            for col in 0..cols {
                out.extend_from_slice(&matrix[(col * rows + stored) * size..][..size]);
            }
        }
        out
    }
}

/// The tensors of one side, one after the other. All have the same dtype, or codes.
pub(super) struct Chain<'a> {
    pub(super) parts: Vec<Part<'a>>,
    /// How the matrices of the only part are permuted.
    pub(super) order: Option<Order>,
}

impl<'a> Chain<'a> {
    pub(super) fn one(part: Part<'a>, order: Option<Order>) -> Self {
        Self { parts: vec![part], order }
    }

    pub(super) fn first(&self) -> Part<'a> {
        self.parts[0]
    }

    fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.tensor.stored_bytes).sum()
    }

    fn elements(&self) -> u64 {
        self.parts.iter().map(|part| part.tensor.elements() as u64).sum()
    }

    /// Dtype or layout, and all shapes.
    pub(super) fn with_shape(&self) -> String {
        let shapes: Vec<String> = self.parts.iter().map(|part| format!("{:?}", part.tensor.shape)).collect();
        let (few, more) = shapes.split_at(shapes.len().min(3));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        format!("{} {}{more}", self.first().described(), few.join(", "))
    }

    /// The dtype to decode to beside the other side.
    fn decoded(&self, other: &Self) -> DType {
        let (own, of) = (self.first(), other.first());
        match (own.tensor.dtype, of.tensor.dtype) {
            (Some(dtype), _) if is_complex(dtype) || of.is_complex() => DType::Complex128,
            // Elements of less than a byte cannot be permuted, and float32 holds them.
            (Some(dtype), _) if self.order.is_some() && dtype.bits() < 8 => DType::Float32,
            (Some(dtype), _) => dtype,
            (None, Some(DType::Float64)) if matches!(own.content, Content::Coded(_)) => DType::Float64,
            (None, Some(dtype @ (DType::Float16 | DType::BFloat16))) => dtype,
            (None, None) => self.exact().unwrap_or(DType::Float32),
            (None, _) => DType::Float32,
        }
    }

    /// The dtype that holds the values of codes before they are rounded to one of fewer digits; `None` if nothing is decoded.
    pub(super) fn exact(&self) -> Option<DType> {
        let is_blocks = |part: &Part<'_>| matches!(part.content, Content::Blocks(..));
        match self.first().tensor.dtype {
            Some(_) => None,
            // The formulas of GGUF are those of float32.
            None if self.parts.iter().any(is_blocks) => Some(DType::Float32),
            None => Some(DType::Float64),
        }
    }
}

/// A part of a pair that is reported alone.
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    /// Dtype or layout in `a`.
    pub(super) a: String,
    /// Dtype or layout in `b`.
    pub(super) b: String,
    /// The dtype that distances are counted in.
    pub(super) ulps: Option<DType>,
    /// The number of values.
    pub(super) values: u64,
}

/// As many elements of both sides.
pub(super) struct Pair<'a> {
    pub(super) a: Chain<'a>,
    pub(super) b: Chain<'a>,
}

impl<'a> Pair<'a> {
    /// Whether tensors whose shapes fit can be compared.
    pub(super) fn is_comparable(a: &Chain<'a>, b: &Chain<'a>) -> bool {
        let parts = || a.parts.iter().chain(&b.parts);
        let like = |chain: &Chain<'a>| {
            chain.parts.iter().all(|part| part.tensor.dtype == chain.first().tensor.dtype)
        };
        let is_single = a.parts.len() == 1 && b.parts.len() == 1;
        let has_codes = parts().any(|part| part.tensor.dtype.is_none());
        let is_complex = parts().any(Part::is_complex);
        like(a) && like(b) && !(is_complex && (has_codes || !is_single))
    }

    /// The bytes that both sides store.
    pub(super) fn bytes(&self) -> u64 {
        self.a.bytes() + self.b.bytes()
    }

    /// Values of an element.
    fn per_element(&self) -> u64 {
        if self.a.first().is_complex() || self.b.first().is_complex() { 2 } else { 1 }
    }

    /// The number of values.
    pub(super) fn values(&self) -> u64 {
        self.per_element() * self.a.elements()
    }

    /// What is reported: the tensors of the side that has more.
    fn pieces(&self) -> Vec<Piece> {
        let longer = if self.b.parts.len() > self.a.parts.len() { &self.b } else { &self.a };
        // A matrix that is permuted has the shape of the other side.
        let shapes = if self.a.order.is_some() { &self.b } else { longer };
        let ulps = coarser(self.a.first().tensor.dtype, self.b.first().tensor.dtype);
        let piece = |(part, shape): (&Part<'a>, &Part<'a>)| Piece {
            name: part.tensor.name.clone(),
            shape: shape.tensor.shape.clone(),
            a: self.a.first().described(),
            b: self.b.first().described(),
            ulps,
            values: self.per_element() * part.tensor.elements() as u64,
        };
        longer.parts.iter().zip(&shapes.parts).map(piece).collect()
    }

    /// Decodes both sides, and measures each piece.
    pub(super) fn measure(
        &self,
        a: &Checkpoint,
        b: &Checkpoint,
        go_on: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Vec<Difference>> {
        let pieces = self.pieces();
        let ulps = pieces[0].ulps;
        let sides = [
            Side::new(a, &self.a, self.per_element(), self.a.decoded(&self.b), ulps)?,
            Side::new(b, &self.b, self.per_element(), self.b.decoded(&self.a), ulps)?,
        ];
        let (mut found, mut measure, mut done) = (Vec::new(), Measure::default(), 0);
        Streams::run(&sides, &mut |left, right| {
            // A call has values of one tensor of each side, and so of one piece.
            while measure.values() == pieces[found.len()].values {
                let full = std::mem::take(&mut measure);
                found.push(full.difference(&pieces[found.len()]));
            }
            measure.add(left, right);
            done += left.values.len() as u64;
            go_on(done)
        })?;
        while let Some(piece) = pieces.get(found.len()) {
            found.push(std::mem::take(&mut measure).difference(piece));
        }
        if let ([left], [right], [difference]) = (&self.a.parts[..], &self.b.parts[..], &mut found[..])
            && left.tensor.dtype == right.tensor.dtype
            && matches!(left.tensor.dtype, Some(DType::Int64 | DType::UInt64))
            && self.a.order.is_none()
        {
            difference.different = different_integers((a, left), (b, right))?;
        }
        Ok(found)
    }
}

/// The number of 64-bit integers that differ. `float64` cannot tell all of them apart. Both tensors are read whole.
fn different_integers(a: (&Checkpoint, &Part<'_>), b: (&Checkpoint, &Part<'_>)) -> Result<u64> {
    let read = |(checkpoint, part): (&Checkpoint, &Part<'_>)| {
        checkpoint.source.read_all(&checkpoint.source.tensors[part.content.id()])
    };
    let (left, right) = (read(a)?, read(b)?);
    let differ = left.chunks_exact(8).zip(right.chunks_exact(8)).filter(|(left, right)| left != right);
    Ok(differ.count() as u64)
}

/// The float dtype in which distances are counted.
fn coarser(a: Option<DType>, b: Option<DType>) -> Option<DType> {
    let mantissa = |dtype: &DType| dtype.finfo().map(|info| info.mantissa_bits);
    let real = |dtype: DType| match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        real => real,
    };
    match (a.map(real), b.map(real)) {
        (None, None) => Some(DType::BFloat16),
        (Some(one), None) | (None, Some(one)) => mantissa(&one).map(|_| one),
        (Some(a), Some(b)) => Some(if mantissa(&a)? <= mantissa(&b)? { a } else { b }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permuted_rows_are_those_of_the_weights() {
        // The rows 0 1, 2 3, 4 5 and 6 7.
        let rows: Vec<u8> = (0..8).collect();
        let order = Order { rows: 4, cols: 2, transposed: false, interleaved: true };
        assert_eq!(order.permute(&rows, 1), [0, 1, 4, 5, 2, 3, 6, 7]);
        let order = Order { transposed: true, ..order };
        // The columns 0 4, 1 5, 2 6 and 3 7.
        assert_eq!(order.permute(&rows, 1), [0, 4, 2, 6, 1, 5, 3, 7]);
        let order = Order { rows: 2, cols: 2, interleaved: false, ..order };
        assert_eq!(order.permute(&rows, 2), [0, 1, 4, 5, 2, 3, 6, 7]);
    }
}

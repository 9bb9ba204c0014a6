//! Where blocks are: every granularity is blocks of three axes.

use super::{error::ScaledError, scheme::Granularity};
use core::ops::Range;

/// The approximate number of elements that are scaled at once. When they are read a second time, they are still in the first or second cache.
const SLAB: usize = 8192;

/// A tensor of three axes in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) shape: [usize; 3],
    pub(super) block: [usize; 3],
}

impl Blocks {
    pub(super) fn new(granularity: Granularity, shape: &[usize]) -> Result<Self, ScaledError> {
        let product = |axes: &[usize]| {
            axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(*axis)).ok_or(ScaledError::Shape)
        };
        // Lengths are also counted in bits: up to 16 for a code.
        if product(shape)? > usize::MAX / 16 {
            return Err(ScaledError::Shape);
        }
        let place = |axis: isize| {
            let index = if axis < 0 { axis + shape.len() as isize } else { axis };
            let missing = ScaledError::Axis { axis, axes: shape.len() };
            usize::try_from(index).ok().filter(|index| *index < shape.len()).ok_or(missing)
        };
        let around = |at: usize| -> Result<[usize; 3], ScaledError> {
            // Were an axis 0, the product of the others might overflow.
            if product(shape)? == 0 {
                return Ok([0, 0, 0]);
            }
            Ok([product(&shape[..at])?, shape[at], product(&shape[at + 1..])?])
        };
        let (shape, block) = match granularity {
            Granularity::Tensor => {
                let n = product(shape)?;
                ([1, 1, n], [1, 1, n])
            }
            Granularity::Axis(axis) => {
                let shape = around(place(axis)?)?;
                (shape, [shape[0], 1, shape[2]])
            }
            Granularity::Block { len: 0, .. } => return Err(ScaledError::EmptyBlock),
            Granularity::Block { axis, len } => {
                let at = place(axis)?;
                let whole = around(at)?;
                if at + 1 == shape.len() {
                    ([1, whole[0], whole[1]], [1, 1, len.min(whole[1])])
                } else {
                    (whole, [1, len.min(whole[1]), 1])
                }
            }
            Granularity::Tile { rows: 0, .. } | Granularity::Tile { cols: 0, .. } => {
                return Err(ScaledError::EmptyBlock);
            }
            Granularity::Tile { rows, cols } => {
                let last = place(-1)?;
                let whole = match last.checked_sub(1) {
                    Some(row) => {
                        let [outer, height, _] = around(row)?;
                        [outer, height, if outer == 0 { 0 } else { shape[last] }]
                    }
                    None => [1, 1, shape[last]],
                };
                (whole, [1, rows.min(whole[1]), cols.min(whole[2])])
            }
        };
        Ok(Self { shape, block: block.map(|axis| axis.max(1)) })
    }

    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Blocks along each of the three axes.
    fn counts(&self) -> [usize; 3] {
        core::array::from_fn(|axis| self.shape[axis].div_ceil(self.block[axis]))
    }

    pub(super) fn scales(&self) -> usize {
        self.counts().iter().product()
    }

    /// How many consecutive elements of a row share a block.
    pub(super) fn run(&self) -> usize {
        self.block[2]
    }

    /// Whether blocks are more than one run.
    pub(super) fn is_tiled(&self) -> bool {
        self.block[1] > 1
    }

    /// The block of an element.
    pub(super) fn of(&self, element: usize) -> usize {
        let [_, b, c] = self.shape;
        let [x, y, z] = self.block;
        let (i, j, k) = (element / (b * c), element / c % b, element % c);
        let counts = self.counts();
        ((i / x) * counts[1] + j / y) * counts[2] + k / z
    }

    /// The end of the slab that begins at an element: a range of elements that has all elements of its blocks.
    fn slab_end(&self, start: usize) -> usize {
        let [a, b, c] = self.shape;
        let [x, y, z] = self.block;
        let n = self.elements();
        if x > 1 && a > 1 {
            return n;
        }
        let mut end = start;
        while end < n && (end == start || end - start < SLAB) {
            end = if y > 1 {
                let (i, j) = (end / (b * c), end / c % b);
                (i * b + (j / y * y + y).min(b)) * c
            } else if c <= SLAB {
                end + c
            } else {
                // Rows that are long end within.
                let row_end = (end / c + 1) * c;
                (end + z.max(SLAB / z * z)).min(row_end)
            };
        }
        end
    }

    /// All slabs in order: their elements and their blocks.
    pub(super) fn slabs(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let (n, mut start) = (self.elements(), 0);
        core::iter::from_fn(move || {
            (start < n).then(|| {
                let elements = start..self.slab_end(start);
                start = elements.end;
                let blocks = self.of(elements.start)..self.of(elements.end - 1) + 1;
                (elements, blocks)
            })
        })
    }

    /// All blocks in order, each as runs that are a row apart; `None` if blocks extend over the outer axis.
    pub(super) fn tiles(&self) -> Option<impl Iterator<Item = Tile> + '_> {
        let [a, b, c] = self.shape;
        let [x, y, z] = self.block;
        let [_, down, across] = self.counts();
        if x > 1 && a > 1 {
            return None;
        }
        Some((0..self.scales()).map(move |block| {
            let (i, j, k) = (block / (down * across), block / across % down * y, block % across * z);
            Tile { start: (i * b + j) * c + k, rows: y.min(b - j), len: z.min(c - k), stride: c, block }
        }))
    }

    /// The elements of `elements` in pieces of at most `most`, in order.
    pub(super) fn pieces(&self, elements: Range<usize>, most: usize) -> impl Iterator<Item = Piece> + '_ {
        let [a, b, c] = self.shape;
        let [x, y, z] = self.block;
        let counts = self.counts();
        // Rows whose blocks follow each other, in runs of the same length, are one row.
        let alone = (y == 1 || b == 1) && c.is_multiple_of(z);
        let row = match alone {
            true if x == 1 || a == 1 => a * b * c,
            true => b * c,
            false => c,
        };
        let rows_of_outer = (b * c).checked_div(row).unwrap_or(0);
        let first_block = move |index: usize| match (alone, rows_of_outer) {
            (_, 0) => 0,
            (true, _) => index / x * counts[1] * counts[2],
            (false, _) => (index / b / x * counts[1] + index % b / y) * counts[2],
        };
        let mut start = elements.start;
        let (mut index, mut k) = (start.checked_div(row).unwrap_or(0), start.checked_rem(row).unwrap_or(0));
        core::iter::from_fn(move || {
            if start >= elements.end {
                return None;
            }
            // What begins within a run ends with it.
            let within = !k.is_multiple_of(z);
            let whole = if z >= most || within { most.min(z - k % z) } else { most / z * z };
            let len = whole.min(row - k).min(elements.end - start);
            let piece = Piece { elements: start..start + len, run: z, block: first_block(index) + k / z };
            (start, k) = (start + len, k + len);
            if k == row {
                (index, k) = (index + 1, 0);
            }
            Some(piece)
        })
    }
}

/// A block whose runs are `stride` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) start: usize,
    pub(super) rows: usize,
    /// Elements of a run.
    pub(super) len: usize,
    pub(super) stride: usize,
    pub(super) block: usize,
}

/// Consecutive elements of blocks that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) elements: Range<usize>,
    /// How many consecutive elements share a block. The last run may be shorter; otherwise the piece is a part of one run.
    pub(super) run: usize,
    /// The block of the first one.
    pub(super) block: usize,
}

impl Piece {
    /// The number of its blocks.
    pub(super) fn blocks(&self) -> usize {
        self.elements.len().div_ceil(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The block of every element by the definition of the granularity.
    fn blocks_of(granularity: Granularity, shape: &[usize]) -> Vec<usize> {
        let n: usize = shape.iter().product();
        let axes = shape.len();
        let mut sizes = Vec::from(shape);
        match granularity {
            Granularity::Tensor => {}
            Granularity::Axis(axis) => sizes[axis.rem_euclid(axes as isize) as usize] = 1,
            Granularity::Block { axis, len } => {
                sizes.fill(1);
                sizes[axis.rem_euclid(axes as isize) as usize] = len;
            }
            Granularity::Tile { rows, cols } => {
                sizes.fill(1);
                sizes[axes - 1] = cols;
                if axes > 1 {
                    sizes[axes - 2] = rows;
                }
            }
        }
        (0..n)
            .map(|element| {
                let (mut rest, mut block, mut stride) = (element, 0, 1);
                for axis in (0..axes).rev() {
                    block += rest % shape[axis] / sizes[axis] * stride;
                    stride *= shape[axis].div_ceil(sizes[axis]);
                    rest /= shape[axis];
                }
                block
            })
            .collect()
    }

    #[test]
    fn every_element_has_its_block_and_every_slab_whole_blocks() {
        let granularities = [
            Granularity::Tensor,
            Granularity::Axis(0),
            Granularity::Axis(-1),
            Granularity::Axis(1),
            Granularity::Block { axis: -1, len: 32 },
            Granularity::Block { axis: 0, len: 3 },
            Granularity::Block { axis: 1, len: 5 },
            Granularity::Tile { rows: 4, cols: 7 },
            Granularity::Tile { rows: 128, cols: 128 },
        ];
        for shape in [&[3, 4, 5][..], &[1, 1], &[2, 9000], &[130, 140], &[7, 33, 2, 3], &[40, 41]] {
            for granularity in granularities {
                let want = blocks_of(granularity, shape);
                let blocks = Blocks::new(granularity, shape).expect("fits");
                let n = want.len();
                assert_eq!((blocks.elements(), blocks.scales()), (n, want.iter().max().expect("some") + 1));
                for most in [1, 2, 7, 64] {
                    let mut got = Vec::new();
                    for (elements, _) in blocks.slabs() {
                        for piece in blocks.pieces(elements, most) {
                            let len = piece.elements.len();
                            assert!(piece.elements.start == got.len() && len > 0 && len <= most);
                            got.extend((0..len).map(|i| piece.block + i / piece.run));
                        }
                    }
                    assert_eq!(got, want, "{granularity:?} {shape:?} in pieces of {most}");
                }
                if let Some(tiles) = blocks.tiles() {
                    let mut got = alloc::vec![usize::MAX; n];
                    for tile in tiles {
                        for row in 0..tile.rows {
                            let start = tile.start + row * tile.stride;
                            got[start..start + tile.len].fill(tile.block);
                        }
                    }
                    assert_eq!(got, want, "{granularity:?} {shape:?} in tiles");
                }
                let mut next = (0, 0);
                for (elements, scales) in blocks.slabs() {
                    assert_eq!((elements.start, scales.start), next, "{granularity:?} {shape:?}");
                    next = (elements.end, scales.end);
                    assert!(want[elements.clone()].iter().all(|block| scales.contains(block)));
                    assert!(want[elements.end..].iter().all(|block| !scales.contains(block)));
                }
                assert_eq!(next, (n, blocks.scales()), "{granularity:?} {shape:?}");
            }
        }
    }

    #[test]
    fn nothing_has_no_blocks() {
        for granularity in
            [Granularity::Tensor, Granularity::Axis(0), Granularity::Block { axis: -1, len: 32 }]
        {
            let blocks = Blocks::new(granularity, &[0, 5]).expect("fits");
            assert_eq!(
                (blocks.elements(), blocks.slabs().count(), blocks.pieces(0..0, 8).count()),
                (0, 0, 0)
            );
        }
        assert_eq!(Blocks::new(Granularity::Axis(2), &[1, 2]), Err(ScaledError::Axis { axis: 2, axes: 2 }));
        assert_eq!(Blocks::new(Granularity::Tensor, &[usize::MAX, 2]), Err(ScaledError::Shape));
        // The largest tensor, whatever its blocks are.
        for granularity in [Granularity::Tensor, Granularity::Axis(0), Granularity::Tile { rows: 2, cols: 3 }]
        {
            for shape in [&[usize::MAX / 16][..], &[2, usize::MAX / 32], &[usize::MAX / 32, 2]] {
                let blocks = Blocks::new(granularity, shape).expect("fits");
                assert_eq!(blocks.slabs().next().map(|(elements, _)| elements.start), Some(0));
                assert!(blocks.pieces(0..blocks.elements(), usize::MAX).next().is_some());
            }
            let more = Blocks::new(granularity, &[usize::MAX / 16 + 1]);
            assert_eq!(more, Err(ScaledError::Shape));
        }
        let none = Granularity::Block { axis: 0, len: 0 };
        assert_eq!(Blocks::new(none, &[1]), Err(ScaledError::EmptyBlock));
    }
}

//! A tensor in parts: consecutive elements that are a tensor of the same granularity by themselves.
//!
//! The codes of a part begin at a whole byte. Parts have whole blocks, or are *cut*: then they may lie within a block, and have their
//! scales from elsewhere.

use super::blocks::Blocks;
use core::{mem, ops::Range};

/// Blocks of this many parts are cast part by part.
pub(super) const TOO_LARGE: usize = 4;

/// The next bytes of a buffer.
pub(super) fn next<'b>(buffer: &mut &'b mut [u8], len: usize) -> &'b mut [u8] {
    let (here, behind) = mem::take(buffer).split_at_mut(len);
    *buffer = behind;
    here
}

/// A part of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) elements: Range<usize>,
    /// The blocks that its elements belong to.
    pub(super) scales: Range<usize>,
    /// The part as a tensor.
    pub(super) blocks: Blocks,
}

/// How a tensor is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    blocks: Blocks,
    /// The shape of a part: a number of whole outer indices, of whole rows of one, or of elements of a row.
    step: [usize; 3],
}

impl Cut {
    /// Cuts into parts of about `target` elements, whose codes have `bits` bits; within blocks if `within`. Parts are larger where blocks
    /// or bytes require it.
    pub(super) fn new(blocks: Blocks, target: usize, within: bool, bits: usize) -> Cut {
        let ([a, b, c], [x, y, z]) = (blocks.shape, blocks.block);
        // The number of units for a part, so that it has whole bytes.
        let count = |unit: usize| {
            let bytes = (1..=8).find(|k| (k * (unit * bits % 8)).is_multiple_of(8)).unwrap_or(8);
            (target / unit.max(1)).max(1).next_multiple_of(bytes)
        };
        let whole_bytes = |elements: usize, parts: usize| parts <= 1 || (elements * bits).is_multiple_of(8);
        let step = if a * b * c == 0 || (x > 1 && !within) {
            [a, b, c]
        } else if b * c <= target || !whole_bytes(b * c, a) {
            [count(b * c).min(a), b, c]
        } else if y * c <= target {
            [1, (count(y * c) * y).min(b), c]
        } else if within && c <= target && whole_bytes(y * c, a * b.div_ceil(y)) {
            [1, count(c).min(y), c]
        } else if (y == 1 || within) && z <= target && whole_bytes(c, a * b) {
            [1, 1, (count(z) * z).min(c)]
        } else if within && whole_bytes(c, a * b) && whole_bytes(z, c.div_ceil(z)) {
            [1, 1, count(1).min(z)]
        } else {
            [1, (count(y * c) * y).min(b), c]
        };
        Cut { blocks, step }
    }

    /// Elements of the largest part.
    pub(super) fn largest(&self) -> usize {
        self.step.iter().product()
    }

    /// All parts, in order.
    pub(super) fn parts(self) -> impl Iterator<Item = Part> {
        let Cut { blocks, step } = self;
        let ([a, b, c], [_, y, z]) = (blocks.shape, blocks.block);
        let (n, mut start) = (blocks.elements(), 0);
        // As far as the end of the axis, and of the block unless parts have whole ones.
        let length = |step: usize, at: usize, axis: usize, block: usize| {
            let end = if step.is_multiple_of(block) { axis } else { axis.min((at / block + 1) * block) };
            step.min(end - at)
        };
        core::iter::from_fn(move || {
            if start == n {
                return None;
            }
            let (i, j, k) = (start / (b * c), start / c % b, start % c);
            let shape = if step[2] < c {
                [1, 1, length(step[2], k, c, z)]
            } else if step[1] < b {
                [1, length(step[1], j, b, y), c]
            } else {
                [step[0].min(a - i), b, c]
            };
            let elements = start..start + shape.iter().product::<usize>();
            start = elements.end;
            let block = core::array::from_fn(|axis| blocks.block[axis].min(shape[axis]));
            let part = Blocks { shape, block };
            let first = blocks.of(elements.start);
            Some(Part { elements, scales: first..first + part.scales(), blocks: part })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheme::Granularity;
    use super::*;
    use alloc::vec::Vec;

    /// The block of every element.
    fn each_block(blocks: Blocks) -> Vec<usize> {
        let pieces = blocks.pieces(0..blocks.elements(), 64);
        pieces
            .flat_map(|piece| {
                piece.elements.clone().map(move |i| piece.block + (i - piece.elements.start) / piece.run)
            })
            .collect()
    }

    /// Parts are in order, begin at whole bytes, and their elements have the blocks that they have in the whole.
    #[test]
    fn parts_are_tensors() {
        let granularities = [
            Granularity::Tensor,
            Granularity::Axis(0),
            Granularity::Axis(-1),
            Granularity::Axis(1),
            Granularity::Block { axis: -1, len: 8 },
            Granularity::Block { axis: 0, len: 3 },
            Granularity::Block { axis: 1, len: 5 },
            Granularity::Tile { rows: 4, cols: 7 },
        ];
        for shape in [&[3, 4, 5][..], &[1, 1], &[2, 900], &[30, 41], &[7, 33, 2, 3], &[40, 64], &[0, 3]] {
            for granularity in granularities {
                let Ok(blocks) = Blocks::new(granularity, shape) else { continue };
                let n = blocks.elements();
                let of_all = each_block(blocks);
                for (target, within, bits) in [8, 50, 300]
                    .into_iter()
                    .flat_map(|t| [(t, false, 8), (t, true, 8), (t, false, 4), (t, true, 6)])
                {
                    let cut = Cut::new(blocks, target, within, bits);
                    let (mut next, mut seen) = (0, Vec::new());
                    for part in cut.parts() {
                        assert_eq!(part.elements.start, next, "{granularity:?} {shape:?} {cut:?}");
                        assert!((next * bits).is_multiple_of(8), "{granularity:?} {shape:?} {cut:?}");
                        assert!(
                            part.elements.len() <= cut.largest()
                                && part.blocks.elements() == part.elements.len()
                        );
                        next = part.elements.end;
                        let its: Vec<_> =
                            each_block(part.blocks).iter().map(|i| i + part.scales.start).collect();
                        assert_eq!(its, of_all[part.elements.clone()], "{granularity:?} {shape:?} {cut:?}");
                        if !within {
                            seen.extend(part.scales);
                        }
                    }
                    assert_eq!(next, n);
                    // Without cuts within blocks, every block is in one part.
                    assert!(
                        within || seen == (0..if n == 0 { 0 } else { blocks.scales() }).collect::<Vec<_>>()
                    );
                }
            }
        }
        // Lengths near the largest do not overflow.
        for (bits, unit) in [(4, 3), (6, 5), (16, 1)] {
            for granularity in [Granularity::Axis(0), Granularity::Tile { rows: 1000, cols: 1000 }] {
                for shape in [[usize::MAX / 16 / unit, unit], [unit, usize::MAX / 16 / unit]] {
                    let blocks = Blocks::new(granularity, &shape).expect("fits");
                    for (target, within) in [(8, true), (8, false), (1 << 20, true), (usize::MAX, false)] {
                        let cut = Cut::new(blocks, target, within, bits);
                        let part = cut.parts().next().expect("a part");
                        assert!(part.elements.len() <= cut.largest(), "{cut:?}");
                    }
                }
            }
        }
        let row = Blocks::new(Granularity::Tensor, &[1 << 20]).expect("fits");
        assert_eq!(Cut::new(row, 1 << 16, false, 8).largest(), 1 << 20);
        assert_eq!(Cut::new(row, 1 << 16, true, 8).parts().count(), 16);
    }
}

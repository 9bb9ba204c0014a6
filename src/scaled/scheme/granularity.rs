//! Which elements share a scale.

use alloc::vec::Vec;

/// Which elements share a scale. Axes are counted from the first one, or from the last one if they are negative, as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// All of them.
    Tensor,
    /// Those with the same index along an axis: for weights of the shape `[out, in]`, axis 0 is a scale per row.
    Axis(isize),
    /// Blocks of `len` elements along an axis. The last one may be shorter.
    Block {
        /// The axis.
        axis: isize,
        /// Elements of a block.
        len: usize,
    },
    /// Tiles of the last two axes. Those at the ends may be smaller.
    Tile {
        /// Elements along the last axis but one.
        rows: usize,
        /// Elements along the last axis.
        cols: usize,
    },
}

impl Granularity {
    /// The shape of the scales of a tensor: the number of blocks along each axis.
    ///
    /// ```
    /// use lanecast::scaled::Granularity;
    /// assert_eq!(Granularity::Tile { rows: 128, cols: 128 }.scales_shape(&[300, 128]), [3, 1]);
    /// assert_eq!(Granularity::Axis(0).scales_shape(&[300, 128]), [300, 1]);
    /// ```
    pub fn scales_shape(self, shape: &[usize]) -> Vec<usize> {
        let axes = shape.len();
        let at = |axis: isize, index: usize| axis == index as isize || axis == index as isize - axes as isize;
        let block = |index: usize| match self {
            Granularity::Tensor => shape[index],
            Granularity::Axis(axis) if at(axis, index) => 1,
            Granularity::Axis(_) => shape[index],
            Granularity::Block { axis, len } if at(axis, index) => len,
            Granularity::Block { .. } => 1,
            Granularity::Tile { cols, .. } if index + 1 == axes => cols,
            Granularity::Tile { rows, .. } if index + 2 == axes => rows,
            Granularity::Tile { .. } => 1,
        };
        (0..axes).map(|index| shape[index].div_ceil(block(index).max(1))).collect()
    }
}

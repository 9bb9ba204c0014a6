//! What a plan does to one field of the destination, and how several fields are done as one run.

use crate::plan::CastPlan;
use alloc::{string::String, vec::Vec};
use lanecast_kernels::{DType, Encoding};

/// The longest row that is slower than one pass over the items per element: a row of 3 costs as much as 7 or 8 such passes.
const FEW: usize = 8;

/// One axis of a run: its length, and its strides in bytes. A stride of 0 in the source repeats an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub len: usize,
    pub src: usize,
    pub dst: usize,
}

/// What is done to one element.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// It is cast. The plan is for elements in native byte order; the encodings have the actual order.
    Cast { plan: CastPlan, from: Encoding, to: Encoding },
    /// `src` bytes are copied to `dst` bytes, truncated or padded with 0.
    Bytes { src: usize, dst: usize },
    /// The same for four-byte characters whose byte order changes.
    Swapped { src: usize, dst: usize },
    /// This many bytes of the destination become 0.
    Zero(usize),
}

impl Op {
    /// Bytes of an element on both sides.
    pub fn sizes(&self) -> (usize, usize) {
        match self {
            Op::Cast { from, to, .. } => (from.dtype().size(), to.dtype().size()),
            Op::Bytes { src, dst } => (*src, *dst),
            Op::Swapped { src, dst } => (4 * src, 4 * dst),
            Op::Zero(size) => (0, *size),
        }
    }

    /// Whether both do the same. (All casts of a plan have the same options and the same tier.)
    fn is(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Cast { from: a, to: b, .. }, Op::Cast { from: c, to: d, .. }) => (a, b) == (c, d),
            (Op::Bytes { .. }, Op::Bytes { .. })
            | (Op::Swapped { .. }, Op::Swapped { .. })
            | (Op::Zero(_), Op::Zero(_)) => self.sizes() == other.sizes(),
            _ => false,
        }
    }

    /// A cast that changes nothing is a copy.
    pub fn simplified(self) -> Op {
        match self {
            Op::Cast { from, to, .. }
                if from == to && from.dtype() != DType::Bool && !from.dtype().is_sub_byte() =>
            {
                let size = from.dtype().size();
                Op::Bytes { src: size, dst: size }
            }
            op => op,
        }
    }
}

/// A field of the destination that is not a struct, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// Its name, qualified by the structs that contain it.
    pub field: String,
    /// Its offset in the items.
    pub src: usize,
    pub dst: usize,
    /// The axes of its sub-array and of the sub-arrays that contain it, the outermost first.
    pub axes: Vec<Axis>,
    pub op: Op,
}

impl Leaf {
    /// Elements in an item.
    pub fn count(&self) -> usize {
        self.axes.iter().fold(1, |n, axis| n.saturating_mul(axis.len))
    }

    /// Whether it writes nothing.
    pub fn is_empty(&self) -> bool {
        self.op.sizes().1 == 0 || self.axes.iter().any(|axis| axis.len == 0)
    }

    /// Reduces the leaf to its simplest form; `None` if it does nothing.
    fn simplified(mut self) -> Option<Leaf> {
        if self.is_empty() {
            return None;
        }
        self.op = self.op.simplified();
        self.merge();
        Some(self)
    }

    /// Merges axes that continue each other, and copies of neighbours.
    fn merge(&mut self) {
        merge(&mut self.axes);
        while let Some(&Axis { len, src, dst }) = self.axes.last() {
            self.op = match self.op {
                Op::Bytes { src: from, dst: to } if from == to && (src, dst) == (from, to) => {
                    Op::Bytes { src: from * len, dst: to * len }
                }
                Op::Zero(size) if size == dst => Op::Zero(size * len),
                _ => break,
            };
            self.axes.pop();
        }
    }

    /// The run itself or, if it has few elements, one run per element, in which the items are the long axis.
    pub fn columns(self, src_size: usize, dst_size: usize) -> Vec<Leaf> {
        let mut whole = alloc::vec![Axis { len: 2, src: src_size, dst: dst_size }];
        whole.extend_from_slice(&self.axes);
        merge(&mut whole);
        if whole.len() == 1 || self.count() > FEW {
            return alloc::vec![self];
        }
        let mut columns = alloc::vec![Leaf { axes: Vec::new(), ..self.clone() }];
        for axis in &self.axes {
            let along = columns.iter().flat_map(|from| {
                (0..axis.len).map(|i| Leaf {
                    src: from.src + i * axis.src,
                    dst: from.dst + i * axis.dst,
                    ..from.clone()
                })
            });
            columns = along.collect();
        }
        columns
    }

    /// The number of elements, if they are contiguous on both sides.
    fn contiguous(&self) -> Option<usize> {
        match self.axes[..] {
            [] => Some(1),
            [Axis { len, src, dst }] if (src, dst) == self.op.sizes() => Some(len),
            _ => None,
        }
    }

    /// Merges `next` into this leaf, if it begins where this one ends.
    fn join(&mut self, next: &Leaf) -> bool {
        let (Some(here), Some(there)) = (self.contiguous(), next.contiguous()) else {
            return false;
        };
        let (src, dst) = self.op.sizes();
        let follows = next.src == self.src + here * src && next.dst == self.dst + here * dst;
        match (&mut self.op, &next.op) {
            (Op::Bytes { src: a, dst: b }, Op::Bytes { src: c, dst: d })
                if follows && a == b && c == d && here == 1 && there == 1 =>
            {
                *a += c;
                *b += d;
                true
            }
            (Op::Zero(size), Op::Zero(more)) if next.dst == self.dst + *size && here == 1 && there == 1 => {
                *size += more;
                true
            }
            (op @ Op::Cast { .. }, next) if follows && op.is(next) => {
                self.axes = alloc::vec![Axis { len: here + there, src, dst }];
                true
            }
            _ => false,
        }
    }
}

/// Merges neighbouring axes if the outer one continues where the inner one ends, and drops axes of length 1.
pub(super) fn merge(axes: &mut Vec<Axis>) {
    axes.retain(|axis| axis.len != 1);
    let mut i = 1;
    while i < axes.len() {
        let (outer, inner) = (axes[i - 1], axes[i]);
        if Some(outer.src) == inner.len.checked_mul(inner.src)
            && Some(outer.dst) == inner.len.checked_mul(inner.dst)
        {
            axes[i - 1] = Axis { len: outer.len * inner.len, ..inner };
            axes.remove(i);
        } else {
            i += 1;
        }
    }
}

/// The leaves, merged where several can run as one.
pub(super) fn runs(leaves: &[Leaf], src_size: usize, dst_size: usize) -> Vec<Leaf> {
    let mut joined: Vec<Leaf> = Vec::new();
    for leaf in leaves.iter().cloned().filter_map(Leaf::simplified) {
        if !joined.last_mut().is_some_and(|last| last.join(&leaf)) {
            joined.push(leaf);
        }
    }
    joined.into_iter().flat_map(|run| run.columns(src_size, dst_size)).collect()
}

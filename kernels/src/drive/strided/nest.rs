//! Loop nests over two layouts at once.

use super::{axes::Axes, layout::Layout};
use crate::dtype::Encoding;

/// A loop: its length, its stride on each side, and its stride in C order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) src: isize,
    pub(super) dst: isize,
    /// The distance in elements to the next element in C order; 0 in a nest that does not number its elements.
    pub(super) index: isize,
}

/// An axis of length one.
pub(super) const ONCE: Axis = Axis { len: 1, src: 0, dst: 0, index: 0 };

/// Where an element is: bytes from the first element on both sides, and its number in C order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    pub(super) src: isize,
    pub(super) dst: isize,
    pub(super) index: isize,
}

/// The loops, the innermost first; at least one.
pub(super) struct Nest {
    axes: Axes<Axis>,
    count: usize,
    /// The offsets from the first elements of the layouts to the first elements of the loops.
    pub(super) start: Offsets,
}

/// One side of the innermost loop.
#[derive(Clone, Copy)]
struct Side {
    buffer: Encoding,
}

impl Side {
    /// The bytes of `len` contiguous elements of the innermost loop.
    fn bytes(self, len: usize) -> Option<isize> {
        let bits = self.buffer.bits_per_element() as usize;
        let whole = len.checked_mul(bits)?.is_multiple_of(8);
        if whole { isize::try_from(self.buffer.byte_len(len)?).ok() } else { None }
    }

    /// Whether a loop with the stride `outer` continues where a loop of `len` steps of `inner` bytes ends. `last` says that the inner loop is the
    /// innermost one, where packed elements have strides of less than a byte.
    fn continues(self, len: usize, inner: isize, outer: isize, last: bool) -> bool {
        let end = if last && self.buffer.is_packed() {
            self.bytes(len)
        } else {
            isize::try_from(len).ok().and_then(|len| len.checked_mul(inner))
        };
        end == Some(outer)
    }
}

impl Nest {
    /// The loops of two layouts of the same shape, which must not be empty. `numbered` elements have an index in C order.
    pub(super) fn new(from: &Layout, to: &Layout, numbered: bool) -> Nest {
        let mut step = numbered as isize;
        let one = Axis {
            len: 1,
            src: from.encoding().dtype().size() as isize,
            dst: to.encoding().dtype().size() as isize,
            index: step,
        };
        let mut nest =
            Nest { axes: Axes::all(one, from.shape().len().max(1)), count: 0, start: Offsets::default() };
        let pinned = from.encoding().is_packed() || to.encoding().is_packed();
        let lengths = from.shape().iter().zip(from.strides().iter().zip(to.strides()));
        let mut axes = lengths.rev().map(|(len, (src, dst))| {
            let index = step;
            // The step is at most the number of elements.
            step *= *len as isize;
            Axis { len: *len, src: *src, dst: *dst, index }
        });
        if pinned {
            // Packed elements are contiguous along the last axis, which stays the innermost loop.
            nest.axes[0] = axes.next().unwrap_or(one);
            nest.count = 1;
        }
        for mut axis in axes.filter(|axis| axis.len > 1) {
            if axis.dst < 0 || axis.dst == 0 && axis.src < 0 {
                let last = axis.len as isize - 1;
                // The offsets are within the spans of the layouts, and the index belongs to an element.
                nest.start.src += last * axis.src;
                nest.start.dst += last * axis.dst;
                nest.start.index += last * axis.index;
                axis = Axis { len: axis.len, src: -axis.src, dst: -axis.dst, index: -axis.index };
            }
            nest.insert(axis, pinned as usize);
        }
        nest.count = nest.count.max(1);
        nest.join(Side { buffer: from.encoding() }, Side { buffer: to.encoding() });
        nest
    }

    /// Inserts an axis after the axes with smaller strides in the destination.
    fn insert(&mut self, axis: Axis, from: usize) {
        let mut at = self.count;
        while at > from && self.axes[at - 1].dst > axis.dst {
            self.axes[at] = self.axes[at - 1];
            at -= 1;
        }
        self.axes[at] = axis;
        self.count += 1;
    }

    /// Merges loops that continue each other on both sides and in C order.
    fn join(&mut self, from: Side, to: Side) {
        let mut kept = 0;
        for i in 1..self.count {
            let (inner, outer) = (self.axes[kept], self.axes[i]);
            let last = kept == 0;
            let joined = inner.len.checked_mul(outer.len).filter(|_| {
                from.continues(inner.len, inner.src, outer.src, last)
                    && to.continues(inner.len, inner.dst, outer.dst, last)
                    && inner.len as isize * inner.index == outer.index
            });
            if let Some(len) = joined {
                self.axes[kept].len = len;
            } else {
                kept += 1;
                self.axes[kept] = outer;
            }
        }
        self.count = kept + 1;
    }

    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes[..self.count]
    }
}

/// Iterates over the offsets of loops, the innermost loop first.
#[derive(Clone)]
pub(super) struct Odometer<'a> {
    axes: &'a [Axis],
    at: Axes<usize>,
    now: Offsets,
    done: bool,
}

impl<'a> Odometer<'a> {
    /// An odometer over axes that are not empty.
    pub(super) fn new(axes: &'a [Axis]) -> Odometer<'a> {
        Odometer { axes, at: Axes::all(0, axes.len()), now: Offsets::default(), done: false }
    }
}

impl Iterator for Odometer<'_> {
    type Item = Offsets;

    #[inline]
    fn next(&mut self) -> Option<Offsets> {
        if self.done {
            return None;
        }
        let was = self.now;
        for (axis, at) in self.axes.iter().zip(self.at.iter_mut()) {
            *at += 1;
            self.now = self.now.moved(1, axis);
            if *at < axis.len {
                return Some(was);
            }
            *at = 0;
            self.now = self.now.moved(-(axis.len as isize), axis);
        }
        self.done = true;
        Some(was)
    }
}

impl Offsets {
    /// Moves `steps` steps along an axis.
    #[inline]
    pub(super) const fn moved(self, steps: isize, axis: &Axis) -> Offsets {
        Offsets {
            src: self.src + steps * axis.src,
            dst: self.dst + steps * axis.dst,
            index: self.index + steps * axis.index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    fn nest(from: Encoding, src: &[isize], to: Encoding, dst: &[isize], shape: &[usize]) -> Nest {
        let layout = |buffer, strides| Layout::new(buffer, shape, strides).expect("a good layout");
        Nest::new(&layout(from, src), &layout(to, dst), false)
    }

    #[test]
    fn loops() {
        let (f32, f16) = (Encoding::new(DType::Float32), Encoding::new(DType::Float16));
        let axis = |len, src, dst| Axis { len, src, dst, index: 0 };
        let got = nest(f32, &[48, 16, 4], f16, &[24, 8, 2], &[2, 3, 4]);
        assert_eq!(got.axes(), [axis(24, 4, 2)], "contiguous");
        let got = nest(f32, &[4, 8, 24], f16, &[2, 4, 12], &[2, 3, 4]);
        assert_eq!(got.axes(), [axis(24, 4, 2)], "the first axis innermost");
        let got = nest(f32, &[-48, -16, -4], f16, &[-24, -8, -2], &[2, 3, 4]);
        assert_eq!(
            (got.axes(), got.start),
            (&[axis(24, 4, 2)][..], Offsets { src: -92, dst: -46, index: 0 })
        );
        let got = nest(f32, &[16, 4], f16, &[16, 2], &[3, 4]);
        assert_eq!(got.axes(), [axis(4, 4, 2), axis(3, 16, 16)], "rows with gaps");
        let got = nest(f32, &[4, 12], f16, &[8, 2], &[3, 4]);
        assert_eq!(got.axes(), [axis(4, 12, 2), axis(3, 4, 8)], "transposed");
        let got = nest(f32, &[0, 0], f16, &[8, 2], &[3, 4]);
        assert_eq!(got.axes(), [axis(12, 0, 2)], "one element repeated");
        let got = nest(f32, &[], f16, &[], &[]);
        assert_eq!(got.axes(), [axis(1, 4, 2)]);
        let packed = Encoding::packed(DType::Int4);
        let got = nest(f32, &[16, 4], packed, &[2, 1], &[3, 4]);
        assert_eq!(got.axes(), [axis(12, 4, 1)], "rows of whole bytes");
        let got = nest(f32, &[20, 4], packed, &[3, 1], &[3, 5]);
        assert_eq!(got.axes(), [axis(5, 4, 1), axis(3, 20, 3)]);
        let got = nest(packed, &[2, 1], f32, &[4, 12], &[3, 4]);
        assert_eq!(got.axes(), [axis(4, 1, 12), axis(3, 2, 4)], "the packed axis stays the innermost");
    }

    /// Loops join only if the numbers of their elements continue, and a reversed loop counts backwards.
    #[test]
    fn numbers_in_c_order() {
        let layout =
            |strides: [isize; 2]| Layout::new(DType::Float32, &[3, 4], &strides).expect("a good layout");
        let axis = |len, stride, index| Axis { len, src: stride, dst: stride, index };
        let numbered = |strides| Nest::new(&layout(strides), &layout(strides), true);
        assert_eq!(numbered([16, 4]).axes(), [axis(12, 4, 1)]);
        assert_eq!(numbered([4, 12]).axes(), [axis(3, 4, 4), axis(4, 12, 1)]);
        let reversed = numbered([-16, 4]);
        assert_eq!(reversed.axes(), [axis(4, 4, 1), axis(3, 16, -4)]);
        assert_eq!(reversed.start, Offsets { src: -32, dst: -32, index: 8 });
    }

    #[test]
    fn offsets_come_in_order() {
        let axes = [Axis { len: 2, src: 1, dst: 10, index: 3 }, Axis { len: 3, src: -5, dst: 0, index: -1 }];
        let all: alloc::vec::Vec<_> = Odometer::new(&axes).map(|at| (at.src, at.dst, at.index)).collect();
        assert_eq!(all, [(0, 0, 0), (1, 10, 3), (-5, 0, -1), (-4, 10, 2), (-10, 0, -2), (-9, 10, 1)]);
        assert_eq!(Odometer::new(&[]).count(), 1);
    }
}

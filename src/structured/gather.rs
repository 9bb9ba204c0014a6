//! Runs over elements that are not contiguous.
//!
//! *Law.* The elements of a run are visited in C order, the source's and the destination's in step, so that gathering, casting and
//! scattering agree on which is which. All offsets were checked when the structs were made; a slice that is too short would
//! panic, not be overrun.

use super::plan::Axis;
use crate::BufferType;
use alloc::{vec, vec::Vec};

/// Elements of a piece take at most this many bytes on each side.
const PIECE: usize = 4096;
/// Contiguous elements are cast where they lie from this length on.
const LONG: usize = 64;

/// Room for a piece of both sides.
pub(super) struct Stage {
    src: [u8; PIECE],
    dst: [u8; PIECE],
}

impl Stage {
    pub fn new() -> Stage {
        Stage { src: [0; PIECE], dst: [0; PIECE] }
    }
}

/// A walk over all elements of some axes on one side.
struct Cursor<'a> {
    axes: &'a [Axis],
    step: fn(&Axis) -> usize,
    index: Vec<usize>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(axes: &'a [Axis], at: usize, step: fn(&Axis) -> usize) -> Cursor<'a> {
        Cursor { axes, step, index: vec![0; axes.len()], at }
    }

    /// The next at most `n` elements: where they begin, how far apart and how many they are. They stand on one innermost axis.
    fn next(&mut self, n: usize) -> (usize, usize, usize) {
        let at = self.at;
        let Some((inner, outer)) = self.axes.split_last() else {
            return (at, 0, 1);
        };
        let last = outer.len();
        let step = (self.step)(inner);
        let n = n.min(inner.len - self.index[last]);
        self.index[last] += n;
        self.at += n * step;
        // Where an axis ends, the next outer one goes on.
        let mut i = last;
        while self.index[i] == self.axes[i].len {
            self.at -= self.axes[i].len * (self.step)(&self.axes[i]);
            self.index[i] = 0;
            if i == 0 {
                break;
            }
            i -= 1;
            self.index[i] += 1;
            self.at += (self.step)(&self.axes[i]);
        }
        (at, step, n)
    }
}

/// Calls `run` for pieces of contiguous elements until all are done: the source's, the destination's, how many, and how many came
/// before.
pub(super) fn cast<E>(
    axes: &[Axis],
    (src, src_at): (&[u8], usize),
    (dst, dst_at): (&mut [u8], usize),
    (from_type, to_type): (BufferType, BufferType),
    stage: &mut Stage,
    mut run: impl FnMut(&[u8], &mut [u8], usize, usize) -> Result<(), E>,
) -> Result<(), E> {
    let total: usize = axes.iter().map(|axis| axis.len).product();
    let mut from = Cursor::new(axes, src_at, |axis| axis.src);
    let mut to = Cursor::new(axes, dst_at, |axis| axis.dst);
    let (src_size, dst_size) = (from_type.dtype().size(), to_type.dtype().size());
    let contiguous = axes.last().is_none_or(|axis| (axis.src, axis.dst) == (src_size, dst_size));
    let inner = axes.last().map_or(1, |axis| axis.len);
    let piece = PIECE / src_size.max(dst_size).max(1);
    let mut done = 0;
    while done < total {
        if contiguous && (inner >= LONG || inner == total) {
            let (src_at, _, n) = from.next(usize::MAX);
            let (dst_at, _, _) = to.next(usize::MAX);
            run(&src[src_at..src_at + n * src_size], &mut dst[dst_at..dst_at + n * dst_size], n, done)?;
            done += n;
            continue;
        }
        let n = piece.min(total - done);
        let (src_stage, dst_stage) = (&mut stage.src[..n * src_size], &mut stage.dst[..n * dst_size]);
        let mut have = 0;
        while have < n {
            let (at, step, count) = from.next(n - have);
            gather(&src[at..], step, &mut src_stage[have * src_size..][..count * src_size], src_size);
            have += count;
        }
        run(src_stage, dst_stage, n, done)?;
        have = 0;
        while have < n {
            let (at, step, count) = to.next(n - have);
            scatter(&dst_stage[have * dst_size..][..count * dst_size], &mut dst[at..], step, dst_size);
            have += count;
        }
        done += n;
    }
    Ok(())
}

/// Brings elements of `size` bytes, `step` bytes apart, together.
fn gather(src: &[u8], step: usize, out: &mut [u8], size: usize) {
    if step == size {
        return out.copy_from_slice(&src[..out.len()]);
    }
    fn sized<const N: usize>(src: &[u8], step: usize, out: &mut [u8]) {
        for (i, out) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
            out.copy_from_slice(&src[i * step..][..N]);
        }
    }
    match size {
        1 => sized::<1>(src, step, out),
        2 => sized::<2>(src, step, out),
        4 => sized::<4>(src, step, out),
        8 => sized::<8>(src, step, out),
        _ => sized::<16>(src, step, out),
    }
}

/// The way back.
fn scatter(src: &[u8], dst: &mut [u8], step: usize, size: usize) {
    if step == size {
        return dst[..src.len()].copy_from_slice(src);
    }
    fn sized<const N: usize>(src: &[u8], dst: &mut [u8], step: usize) {
        for (i, src) in src.as_chunks::<N>().0.iter().enumerate() {
            dst[i * step..][..N].copy_from_slice(src);
        }
    }
    match size {
        1 => sized::<1>(src, dst, step),
        2 => sized::<2>(src, dst, step),
        4 => sized::<4>(src, dst, step),
        8 => sized::<8>(src, dst, step),
        _ => sized::<16>(src, dst, step),
    }
}

/// Calls `each` with where every element begins in the source and in the destination.
fn each(axes: &[Axis], src_at: usize, dst_at: usize, mut each: impl FnMut(usize, usize)) {
    let total: usize = axes.iter().map(|axis| axis.len).product();
    let mut from = Cursor::new(axes, src_at, |axis| axis.src);
    let mut to = Cursor::new(axes, dst_at, |axis| axis.dst);
    let mut done = 0;
    while done < total {
        let (src, src_step, n) = from.next(usize::MAX);
        let (dst, dst_step, _) = to.next(usize::MAX);
        (0..n).for_each(|i| each(src + i * src_step, dst + i * dst_step));
        done += n;
    }
}

/// Copies `from` bytes to `to`, cut off or filled up with 0.
pub(super) fn copy(
    axes: &[Axis],
    (src, src_at): (&[u8], usize),
    (dst, dst_at): (&mut [u8], usize),
    (from, to): (usize, usize),
) {
    fn sized<const N: usize>(
        axes: &[Axis],
        (src, src_at): (&[u8], usize),
        (dst, dst_at): (&mut [u8], usize),
    ) {
        each(axes, src_at, dst_at, |s, d| dst[d..][..N].copy_from_slice(&src[s..][..N]));
    }
    let (src, dst) = ((src, src_at), (dst, dst_at));
    match (from, to) {
        (1, 1) => return sized::<1>(axes, src, dst),
        (2, 2) => return sized::<2>(axes, src, dst),
        (4, 4) => return sized::<4>(axes, src, dst),
        (8, 8) => return sized::<8>(axes, src, dst),
        (12, 12) => return sized::<12>(axes, src, dst),
        (16, 16) => return sized::<16>(axes, src, dst),
        _ => {}
    }
    let ((src, src_at), (dst, dst_at)) = (src, dst);
    let common = from.min(to);
    each(axes, src_at, dst_at, |s, d| {
        dst[d..d + common].copy_from_slice(&src[s..s + common]);
        dst[d + common..d + to].fill(0);
    });
}

/// [`copy`] of `from` characters to `to`, the bytes of each reversed.
pub(super) fn swap(
    axes: &[Axis],
    (src, src_at): (&[u8], usize),
    (dst, dst_at): (&mut [u8], usize),
    (from, to): (usize, usize),
) {
    let common = 4 * from.min(to);
    each(axes, src_at, dst_at, |s, d| {
        dst[d..d + common].copy_from_slice(&src[s..s + common]);
        dst[d..d + common].as_chunks_mut::<4>().0.iter_mut().for_each(|char| char.reverse());
        dst[d + common..d + 4 * to].fill(0);
    });
}

/// Writes `size` zeros.
pub(super) fn zero(axes: &[Axis], dst: &mut [u8], dst_at: usize, size: usize) {
    each(axes, 0, dst_at, |_, d| dst[d..d + size].fill(0));
}

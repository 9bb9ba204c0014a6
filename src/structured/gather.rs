//! Runs over elements that are not contiguous.
//!
//! *Law.* The elements of a run are visited in C order, in step on both sides, so that gathering, casting and scattering process
//! them in the same order. All offsets were checked when the structs were made; a slice that is too short would cause a panic, not
//! an overrun.

use super::leaf::Axis;
use alloc::{vec, vec::Vec};
use lanecast_kernels::Encoding;

/// The size limit of a piece in bytes, on each side.
const PIECE: usize = 4096;
/// The length from which contiguous elements are cast directly.
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

    /// The next elements, at most `n`, all on one innermost axis: their offset, their stride and their number.
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
        // At the end of an axis, advance the next outer one.
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

/// Calls `run` for pieces of contiguous elements until all are done, with the source, the destination, the number of elements, and the
/// number of elements before them.
pub(super) fn cast<E>(
    axes: &[Axis],
    (src, src_at): (&[u8], usize),
    (dst, dst_at): (&mut [u8], usize),
    (from_type, to_type): (Encoding, Encoding),
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

/// Copies elements of `size` bytes that are `step` bytes apart to contiguous memory.
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

/// The reverse of [`gather`].
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

/// Calls `each` with the offsets of every element in the source and in the destination.
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

/// Copies `from` bytes to `to` bytes, truncated or padded with 0.
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

/// [`copy`] of `from` characters to `to` characters, with the bytes of each reversed.
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

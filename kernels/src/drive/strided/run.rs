//! The loops around a kernel, for arrays of any layout.

use super::fill::fill;
use super::nest::ONCE;
use super::{
    error::ViewError,
    layout::Layout,
    nest::{Axis, Nest, Odometer},
    overlap::{self, Together},
    places::Places,
    view::{View, ViewMut},
};
use crate::{
    drive::blocks::Stack,
    dtype::Encoding,
    route::{Kernel, Streaming},
    vector::{
        machine::{BLOCK_ELEMENTS, CACHE_LINE, RUN, SECOND_CACHE},
        non_temporal::NonTemporal,
    },
};
use core::slice;

/// The shortest run, in bytes, that uses non-temporal stores.
const STREAMED: usize = 1 << 18;
/// A number of elements that take less than that on both sides, whatever their dtype.
const SHORT: usize = STREAMED / 32;

impl Kernel {
    /// Checks that [`run_strided`](Self::run_strided) would cast; used before views are split.
    ///
    /// # Errors
    ///
    /// As [`run_strided`](Self::run_strided).
    pub fn check_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<(), ViewError> {
        self.together(src, dst).map(|_| ())
    }

    pub(super) fn together(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<Together, ViewError> {
        for (plan, view) in [(self.source(), src.encoding()), (self.target(), dst.encoding())] {
            if plan != view {
                return Err(ViewError::WrongEncoding { plan, view });
            }
        }
        let (from, to) = (src.layout().shape(), dst.layout().shape());
        if from.len() != to.len() {
            return Err(ViewError::AxesMismatch { src: from.len(), dst: to.len() });
        }
        if let Some(axis) = (0..from.len()).find(|axis| from[*axis] != to[*axis]) {
            return Err(ViewError::LengthMismatch { axis, src: from[axis], dst: to[axis] });
        }
        overlap::check(src, dst)
    }

    /// Casts every element of a view to the element at the same position of another view of the same shape.
    ///
    /// # Errors
    ///
    /// [`ViewError::WrongEncoding`] if a view has a different encoding from the kernel, [`ViewError::AxesMismatch`] or
    /// [`ViewError::LengthMismatch`] if the shapes differ, [`ViewError::Overlap`]; then nothing is written.
    pub fn run_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<(), ViewError> {
        let results = match self.together(src, dst)? {
            Together::Apart => Results::Written,
            Together::InPlace => Results::Replace,
        };
        let _guard = self.guard();
        // SAFETY: the views have their elements, and `together` has determined how these relate to each other. The guard is held.
        unsafe { self.run_nest((src.first(), src.layout()), (dst.first(), dst.layout()), results, Plain) };
        Ok(())
    }

    /// Casts the elements of two layouts at their first elements, in runs of `runs`.
    ///
    /// # Safety
    ///
    /// The elements of the source may be read. Unless the results are dropped, the elements of the destination may be written; no two of these
    /// share bytes, and they share none with the source unless each begins at the first byte of its own source element (`Replace`). The caller
    /// holds the guard of the runs.
    pub(super) unsafe fn run_nest<R: Runs>(
        &self,
        (src, from): (*const u8, &Layout),
        (dst, to): (*mut u8, &Layout),
        results: Results,
        runs: R,
    ) {
        let elements = from.elements();
        if elements == 0 {
            return;
        }
        let nest = Nest::new(from, to, runs.are_numbered());
        let bytes = |buffer: Encoding| buffer.byte_len(elements).unwrap_or(usize::MAX);
        let total = bytes(self.source()).saturating_add(bytes(self.target()));
        // If elements are far apart, each has its own cache line.
        let lines = [from, to].map(|layout| {
            layout.span().map_or(0, |span| span.len().min(elements.saturating_mul(CACHE_LINE)))
        });
        let lines = lines[0].saturating_add(lines[1]);
        let streaming = if self.streams(total) { Streaming::Always } else { Streaming::Never };
        let kernel = self.with_streaming(streaming);
        let mut cast = Cast {
            kernel: &kernel,
            runs,
            results,
            s: self.source().dtype().size(),
            d: self.target().dtype().size(),
            ahead: self.token().non_temporal().filter(|_| lines > SECOND_CACHE),
        };
        let (src, dst) = (src.wrapping_offset(nest.start.src), dst.wrapping_offset(nest.start.dst));
        // SAFETY: the elements of the nest are all the caller's, and the guard is held.
        unsafe { cast.all(src, dst, nest.start.index, nest.axes()) };
    }
}

/// How runs, contiguous elements with contiguous results, are cast.
pub(super) trait Runs {
    /// Whether each run has a high fixed cost: then short runs are copied to a block together.
    const SLOW: bool;

    /// Whether the runs are given the places of their elements.
    fn are_numbered(&self) -> bool;

    /// Casts `n` elements. Returns false if the results are not needed: then not all are written.
    ///
    /// # Safety
    ///
    /// `src` is readable for the bytes of `n` elements of the source and `dst` is writable for the bytes of `n` elements of the destination; they
    /// do not overlap. The caller holds the guard. `places` are the places of these elements.
    unsafe fn run(
        &mut self,
        kernel: &Kernel,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        places: &Places<'_>,
    ) -> bool;
}

/// The runs of a plain cast.
struct Plain;

impl Runs for Plain {
    const SLOW: bool = false;

    fn are_numbered(&self) -> bool {
        false
    }

    #[inline]
    unsafe fn run(
        &mut self,
        kernel: &Kernel,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        _: &Places<'_>,
    ) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe { run_plain(kernel, src, dst, n) };
        true
    }
}

/// Casts a run. All loops share this code.
///
/// # Safety
///
/// As [`Runs::run`].
#[inline(never)]
unsafe fn run_plain(kernel: &Kernel, src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if n < SHORT && kernel.run_alone(src, dst, n) {
            return;
        }
        let (read, written) = (bytes(kernel.source(), n), bytes(kernel.target(), n));
        let src = slice::from_raw_parts(src, read);
        let dst = slice::from_raw_parts_mut(dst.cast(), written);
        if read + written >= STREAMED {
            kernel.run_cut(src, dst, n);
        } else {
            kernel.run_unguarded(src, dst, n);
        }
    }
}

/// What happens to the results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// They go to the destination.
    Written,
    /// They replace their elements: they stay on the stack until all elements of a block have been read.
    Replace,
    /// They stay on the stack: there is no destination.
    Dropped,
}

/// The parameters that all loops share.
pub(super) struct Cast<'a, R> {
    pub(super) kernel: &'a Kernel,
    pub(super) runs: R,
    pub(super) results: Results,
    /// Bytes of an element of the source in byte storage.
    pub(super) s: usize,
    /// Bytes of an element of the destination in byte storage.
    pub(super) d: usize,
    /// The prefetch instructions, if the data is not in a near cache: otherwise gathering, or casting to the stack, would not keep the memory
    /// busy.
    pub(super) ahead: Option<&'static NonTemporal>,
}

impl<R: Runs> Cast<'_, R> {
    /// # Safety
    ///
    /// The elements that the axes lead to from `src` may be read. Unless the results are dropped, the elements that they lead to from `dst` may be
    /// written; no two of these share bytes, and they share none with the source unless each begins at the first byte of its own source element
    /// (`Replace`). The caller holds the guard.
    unsafe fn all(&mut self, src: *const u8, dst: *mut u8, first: isize, axes: &[Axis]) {
        let [inner, outer @ ..] = axes else { return };
        let packed = self.kernel.source().is_packed() || self.kernel.target().is_packed();
        let dense = inner.src == self.s as isize && inner.dst == self.d as isize;
        let written = self.results == Results::Written;
        let long = if R::SLOW { 4 * RUN } else { RUN };
        // SAFETY: the caller's promise is the same.
        unsafe {
            if packed {
                self.packed(src, dst, first, *inner, outer);
            } else if dense && written && (inner.len >= long || outer.is_empty()) {
                for at in Odometer::new(outer) {
                    let places = Places::row(first + at.index, *inner);
                    self.run(src.offset(at.src), dst.offset(at.dst), inner.len, &places);
                }
            } else if let (Some(other), true) = (self.turned(axes), written) {
                self.tiles(src, dst, first, *inner, outer, other);
            } else {
                self.blocks(src, dst, first, axes);
            }
        }
    }

    /// Whether there is a destination. A plain cast has one.
    #[inline]
    fn keeps(&self) -> bool {
        !R::SLOW || self.results != Results::Dropped
    }

    /// Casts a run; see [`Runs::run`].
    ///
    /// # Safety
    ///
    /// As [`Runs::run`].
    #[inline]
    pub(super) unsafe fn run(&mut self, src: *const u8, dst: *mut u8, n: usize, places: &Places<'_>) -> bool {
        // SAFETY: the caller's promise is the same.
        unsafe { self.runs.run(self.kernel, src, dst, n, places) }
    }

    // Each loop has its own stack frame, so that the stack holds only the blocks of one of them.

    /// Casts with packed elements on either side along the innermost axis: row by row, in blocks of whole bytes.
    ///
    /// # Safety
    ///
    /// As [`all`](Self::all).
    #[inline(never)]
    unsafe fn packed(&mut self, src: *const u8, dst: *mut u8, start: isize, inner: Axis, outer: &[Axis]) {
        let (from, to) = (self.kernel.source(), self.kernel.target());
        let together = |buffer: Encoding, step: isize, size: usize| {
            buffer.is_packed() || step == size as isize || inner.len == 1
        };
        let read = together(from, inner.src, self.s);
        let write = together(to, inner.dst, self.d) && self.results == Results::Written;
        let block = if read && write { inner.len } else { BLOCK_ELEMENTS };
        let place = |buffer: Encoding, step: isize, first: usize| match buffer.is_packed() {
            true => bytes(buffer, first) as isize,
            false => first as isize * step,
        };
        let copy = self.kernel.token().copy();
        let mut gathered = Stack::<{ BLOCK_ELEMENTS * 16 }>::new();
        let mut results = Stack::<{ BLOCK_ELEMENTS * 16 }>::new();
        for row in Odometer::new(outer) {
            for first in (0..inner.len).step_by(block) {
                let n = block.min(inner.len - first);
                let places = Places::row(start + row.index, inner).after(first);
                // SAFETY: `n` elements of a row, which begin at a whole byte because blocks do; the stack has room for a block.
                unsafe {
                    let mut at = src.offset(row.src + place(from, inner.src, first));
                    let out = dst.wrapping_offset(row.dst + place(to, inner.dst, first));
                    if !read {
                        copy(self.s, at, [inner.src, 0], gathered.start(), [self.s as isize, 0], [n, 1]);
                        at = gathered.start();
                    }
                    if write {
                        self.run(at, out, n, &places);
                    } else if self.run(at, results.start(), n, &places) && self.keeps() {
                        if to.is_packed() {
                            results.start().copy_to_nonoverlapping(out, bytes(to, n));
                        } else {
                            copy(self.d, results.start(), [self.d as isize, 0], out, [inner.dst, 0], [n, 1]);
                        }
                    }
                }
            }
        }
    }

    /// All other casts: elements are gathered unless contiguous, cast, and scattered unless contiguous.
    ///
    /// # Safety
    ///
    /// As [`all`](Self::all).
    #[inline(never)]
    unsafe fn blocks(&mut self, src: *const u8, dst: *mut u8, first: isize, axes: &[Axis]) {
        // A value that is repeated along the innermost axis is cast once and written repeatedly.
        let (repeat, axes) = match axes {
            [first, rest @ ..] if first.src == 0 && first.len > 1 => (*first, rest),
            all => (ONCE, all),
        };
        let [x, y] = [0, 1].map(|i| axes.get(i).copied().unwrap_or(ONCE));
        let outer = axes.get(2..).unwrap_or_default();
        let mut gathered = Stack::<{ BLOCK_ELEMENTS * 16 }>::new();
        let mut results = Stack::<{ BLOCK_ELEMENTS * 16 }>::new();
        let (from_stack, to_stack) = (gathered.start(), results.start());
        let (s, d, kept, copy) = (self.s, self.d, self.keeps(), self.kernel.token().copy());
        let plane = |step: usize, width: usize| [step as isize, (step * width) as isize];
        let scatter = |dst: *mut u8, from: *const u8, width: usize, height: usize| {
            let steps = [x.dst, y.dst];
            // SAFETY: a plane of results, which has room; the elements are on the stack.
            unsafe {
                if repeat.len > 1 {
                    fill(d, from, dst, steps, [width, height], repeat);
                } else {
                    copy(d, from, plane(d, width), dst, steps, [width, height]);
                }
            }
        };
        if x.len.saturating_mul(y.len) <= BLOCK_ELEMENTS / 2 && !outer.is_empty() {
            // A block has several planes.
            let size = x.len * y.len;
            let (mut reads, mut writes) = (Odometer::new(outer), Odometer::new(outer));
            loop {
                let mut planes = 0;
                for at in reads.by_ref().take(BLOCK_ELEMENTS / size) {
                    // SAFETY: a plane of elements; the stack has room for a block of them.
                    unsafe {
                        let to = from_stack.add(planes * size * s);
                        copy(s, src.offset(at.src), [x.src, y.src], to, plane(s, x.len), [x.len, y.len]);
                    }
                    planes += 1;
                }
                if planes == 0 {
                    return;
                }
                let places = Places { first, x, y, repeat, planes: Some(&writes) };
                // SAFETY: the elements were gathered, and the results have room, because each plane has room in the destination.
                let ran = unsafe { self.run(from_stack, to_stack, planes * size, &places) };
                for (i, at) in writes.by_ref().take(planes).enumerate() {
                    if ran && kept {
                        // SAFETY: as above.
                        unsafe { scatter(dst.offset(at.dst), to_stack.add(i * size * d), x.len, y.len) };
                    }
                }
            }
        }
        // For adjacent lines the hardware prefetcher does better.
        let near = x.src.unsigned_abs() <= CACHE_LINE && x.dst.unsigned_abs() < CACHE_LINE && repeat.len == 1;
        let ahead = self.ahead.filter(|_| !near);
        // For data outside the caches smaller blocks are better, with and without prefetching.
        let block = if self.ahead.is_some() && !R::SLOW {
            let elements = match near {
                true if x.dst == d as isize => 2048 / s,
                true => 2048 / s.max(d),
                false => 1024 / s.max(d),
            };
            elements.clamp(128, BLOCK_ELEMENTS)
        } else {
            BLOCK_ELEMENTS
        };
        let width = x.len.min(block);
        let height = if width == x.len { (block / width).min(y.len) } else { 1 };
        for start in Odometer::new(outer) {
            for row in (0..y.len).step_by(height) {
                let height = height.min(y.len - row);
                for col in (0..x.len).step_by(width) {
                    let width = width.min(x.len - col);
                    let start = start.moved(col as isize, &x).moved(row as isize, &y);
                    let together = |x: isize, y: isize, size: usize| {
                        (x == size as isize || width == 1) && (y == (size * width) as isize || height == 1)
                    };
                    let n = width * height;
                    let places = Places::plane(first + start.index, [x, y], width, repeat);
                    // SAFETY: `n` elements of the source and of the destination; the stack has room for both.
                    unsafe {
                        let mut at = src.offset(start.src);
                        let out = dst.wrapping_offset(start.dst);
                        if let Some(tools) = ahead {
                            ask(tools, at, [x.src, y.src], [width, height]);
                            if kept {
                                ask(tools, out, [x.dst, y.dst], [width, height]);
                            }
                        }
                        if !together(x.src, y.src, s) {
                            copy(s, at, [x.src, y.src], from_stack, plane(s, width), [width, height]);
                            at = from_stack;
                        }
                        let written = self.results == Results::Written;
                        if together(x.dst, y.dst, d) && repeat.len == 1 && written {
                            self.run(at, out, n, &places);
                        } else if self.run(at, to_stack, n, &places) && kept {
                            scatter(out, to_stack, width, height);
                        }
                    }
                }
            }
        }
    }
}

/// Prefetches the lines of the block after a block of `len` elements, with these strides along its axes.
fn ask(tools: &NonTemporal, block: *const u8, step: [isize; 2], len: [usize; 2]) {
    let (mut start, mut apart, mut count) = (block, step, len);
    if len[1] > 1 {
        start = start.wrapping_offset(len[1] as isize * step[1]);
    } else {
        start = start.wrapping_offset(len[0] as isize * step[0]);
    }
    if apart[1] == len[0] as isize * apart[0] {
        (apart[1], count) = (0, [len[0] * len[1], 1]);
    }
    for row in 0..count[1] as isize {
        ask_rows(tools, start.wrapping_offset(row * apart[1]), apart[0], count[0], 1);
    }
}

/// Prefetches the lines of rows of `len` bytes, `step` bytes apart; includes the lines between rows if the rows are close together.
pub(super) fn ask_rows(tools: &NonTemporal, start: *const u8, step: isize, rows: usize, len: usize) {
    if step.unsigned_abs() > CACHE_LINE {
        for i in 0..rows as isize {
            (tools.prefetch)(start.wrapping_offset(i * step), len);
        }
    } else {
        let bytes = rows as isize * step;
        (tools.prefetch)(start.wrapping_offset(bytes.min(0)), bytes.unsigned_abs());
    }
}

/// The bytes of `n` elements of an existing buffer, which do not overflow.
pub(super) const fn bytes(buffer: Encoding, n: usize) -> usize {
    let bits = buffer.bits_per_element() as usize;
    n / 8 * bits + (n % 8 * bits).div_ceil(8)
}

/// Every path through the loops, small enough for Miri; the full comparison is in `tests/strided.rs` of the root crate.
#[cfg(test)]
mod tests;

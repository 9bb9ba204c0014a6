//! Casts between views that detect losses.
//!
//! Elements are numbered and cast in C order, block by block. A block is gathered to the stack unless its elements are contiguous,
//! cast by [`LossDetector`] as a buffer, and scattered unless the destination is contiguous. Packed elements are cast row by row,
//! because a row begins at a whole byte; blocks of other elements may span several rows.

use super::{
    copy::copy,
    error::ViewError,
    nest::{Axis, Nest, Odometer},
    overlap::Together,
    run::bytes,
    view::{View, ViewMut},
};
use crate::{
    drive::Stack,
    loss::{LossDetector, Losses, Lost, Sought},
    machine::BLOCK_ELEMENTS,
};
use core::slice;

impl LossDetector {
    /// [`run`](Self::run) between views in C order; the index counts in that order. The elements of the destination from the lost
    /// element on are unspecified.
    ///
    /// # Errors
    ///
    /// As [`Kernel::run_strided`](crate::Kernel::run_strided).
    pub fn run_strided(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<Option<Lost>, ViewError> {
        let mut sought = Sought::First(None);
        self.run_views(src, dst, &mut sought)?;
        Ok(sought.first())
    }

    /// [`run_counted`](Self::run_counted) between views.
    ///
    /// # Errors
    ///
    /// As [`Kernel::run_strided`](crate::Kernel::run_strided).
    pub fn run_strided_counted(&self, src: &View<'_>, dst: &mut ViewMut<'_>) -> Result<Losses, ViewError> {
        let mut sought = Sought::Counts(Losses::default());
        self.run_views(src, dst, &mut sought)?;
        Ok(sought.counts())
    }

    /// [`run_masked`](Self::run_masked) between views, with bits in C order. `None`, with nothing written, if the mask has fewer bits
    /// than there are elements.
    ///
    /// # Errors
    ///
    /// As [`Kernel::run_strided`](crate::Kernel::run_strided).
    pub fn run_strided_masked(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        mask: &mut [u8],
    ) -> Result<Option<usize>, ViewError> {
        let Some(mask) = mask.get_mut(..src.layout().elements().div_ceil(8)) else { return Ok(None) };
        let mut sought = Sought::Mask(mask, 0);
        self.run_views(src, dst, &mut sought)?;
        Ok(Some(sought.count()))
    }

    fn run_views(
        &self,
        src: &View<'_>,
        dst: &mut ViewMut<'_>,
        sought: &mut Sought<'_>,
    ) -> Result<(), ViewError> {
        let kernel = self.kernel();
        let together = kernel.together(src, dst)?;
        if src.layout().elements() == 0 {
            return Ok(());
        }
        if self.is_idle() {
            return kernel.run_strided(src, dst);
        }
        let nest = Nest::in_order(src.layout(), dst.layout());
        let cast = Blocks {
            detector: self,
            in_place: together == Together::InPlace,
            sizes: [kernel.from().dtype().size(), kernel.to().dtype().size()],
        };
        // SAFETY: the views have all elements of the nest; no two elements of the destination share bytes, and `together` has found
        // how they lie to those of the source.
        unsafe { cast.all(src.first(), dst.first(), nest.axes(), sought) };
        Ok(())
    }
}

struct Blocks<'a> {
    detector: &'a LossDetector,
    /// Whether elements are replaced in place: then results stay on the stack until all elements of a block have been read.
    in_place: bool,
    /// The size in bytes of an element in byte storage, for the source and the destination.
    sizes: [usize; 2],
}

/// Elements on the stack.
type Elements = Stack<{ BLOCK_ELEMENTS * 16 }>;

impl Blocks<'_> {
    /// # Safety
    ///
    /// The elements that the axes lead to from `src` may be read and those from `dst` written; of these, no two share bytes, and they
    /// share none with the source unless each begins where its own element does (`in_place`).
    unsafe fn all(&self, src: *const u8, dst: *mut u8, axes: &[Axis], sought: &mut Sought<'_>) {
        let [inner, outer @ ..] = axes else { return };
        let kernel = self.detector.kernel();
        let [read, write] = [(kernel.from(), inner.src, 0), (kernel.to(), inner.dst, 1)]
            .map(|(side, step, i)| side.is_packed() || step == self.sizes[i] as isize || inner.len == 1);
        let write = write && !self.in_place;
        let [mut gathered, mut results] = [const { Elements::new() }; 2];
        let (gathered, results) = (gathered.start(), results.start());
        let packed = kernel.from().is_packed() || kernel.to().is_packed();
        if read && write && (packed || outer.is_empty() || inner.len >= 8 * BLOCK_ELEMENTS) {
            let mut first = 0;
            for (from, to) in Odometer::new(outer) {
                // SAFETY: a row of elements that follow each other, and its results.
                if !unsafe { self.cast(src.offset(from), dst.offset(to), inner.len, first, sought) } {
                    return;
                }
                first += inner.len;
            }
            return;
        }
        let mut first = 0;
        // A block consists of parts of rows: `(from, to)` of the row, the first element, and the number of elements.
        let mut rows = Odometer::new(outer);
        let mut row = rows.next().map(|row| (row, 0));
        while let Some((start, at)) = row {
            let mut writes = rows.clone();
            let mut count = 0;
            let mut part = (start, at);
            // The last part may end inside its row.
            loop {
                let len = (inner.len - part.1).min(BLOCK_ELEMENTS - count);
                let (from, step) = match kernel.from().is_packed() {
                    true => (bytes(kernel.from(), part.1) as isize, 1),
                    false => (part.1 as isize * inner.src, inner.src),
                };
                // SAFETY: `len` elements of the row from `part.1` on; the stack has room for a block of them. Parts of packed rows begin
                // at whole bytes, since blocks are multiples of 8 and hold a part of one row only.
                unsafe {
                    let from = src.offset(part.0.0 + from);
                    let to = gathered.add(count * self.sizes[0]);
                    if kernel.from().is_packed() {
                        from.copy_to_nonoverlapping(to, bytes(kernel.from(), len));
                    } else {
                        copy(self.sizes[0], from, [step, 0], to, [self.sizes[0] as isize, 0], [len, 1]);
                    }
                }
                count += len;
                part.1 += len;
                row = if part.1 < inner.len { Some(part) } else { rows.next().map(|row| (row, 0)) };
                match row {
                    Some(next) if count < BLOCK_ELEMENTS && !packed => part = next,
                    _ => break,
                }
            }
            // SAFETY: the elements were gathered, and the stack has room for as many results.
            let goes_on = unsafe { self.cast(gathered, results, count, first, sought) };
            let (mut part, mut done) = ((start, at), 0);
            while done < count {
                let len = (inner.len - part.1).min(count - done);
                // SAFETY: the same parts of rows in the destination; the results are on the stack.
                unsafe {
                    let from = results.add(done * self.sizes[1]);
                    if kernel.to().is_packed() {
                        let to = dst.offset(part.0.1 + bytes(kernel.to(), part.1) as isize);
                        from.copy_to_nonoverlapping(to, bytes(kernel.to(), len));
                    } else {
                        let to = dst.offset(part.0.1 + part.1 as isize * inner.dst);
                        copy(self.sizes[1], from, [self.sizes[1] as isize, 0], to, [inner.dst, 0], [len, 1]);
                    }
                }
                done += len;
                if done < count {
                    part = (writes.next().unwrap_or_default(), 0);
                }
            }
            if !goes_on {
                return;
            }
            first += count;
        }
    }

    /// Casts `n` contiguous elements, the first of which has the index `first`. Returns false if the rest is not needed.
    ///
    /// # Safety
    ///
    /// `src` is readable for the bytes of `n` elements of the source and `dst` writable for those of the destination; they do not
    /// overlap.
    unsafe fn cast(
        &self,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        first: usize,
        sought: &mut Sought<'_>,
    ) -> bool {
        let kernel = self.detector.kernel();
        // SAFETY: the caller's promise; nothing is said of what is in `dst`.
        let (src, dst) = unsafe {
            (
                slice::from_raw_parts(src, bytes(kernel.from(), n)),
                slice::from_raw_parts_mut(dst.cast(), bytes(kernel.to(), n)),
            )
        };
        self.detector.run_part(src, dst, n, first, sought)
    }
}

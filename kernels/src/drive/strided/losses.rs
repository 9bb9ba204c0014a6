//! Casts between views that detect losses.
//!
//! Plain casts (`run`) provide the loops: [`LossDetector`] casts every run of contiguous elements as a buffer. Runs come in the order that suits
//! the memory, so each has its [`Places`]: the indices of its elements in C order. Most runs lose nothing, and their places are not read. The lost
//! elements of a run are marked in a bitmap in the order of the run. From the bitmap, the mask of the whole cast is updated, or the lowest index
//! becomes the first lost element so far. Once an element is lost, only runs with an element before it are cast.

use super::{
    error::ViewError,
    layout::Layout,
    overlap::Together,
    places::{BITS, PIECE, Places},
    run::{Results, Runs, bytes},
    view::{View, ViewMut},
};
use crate::{
    drive::{
        blocks::Stack,
        loss::{LossDetector, Lost, Sought},
    },
    route::Kernel,
    vector::loss::{Loss, Losses},
};
use core::{ptr, slice};

impl LossDetector {
    /// [`run`](Self::run) between views; the lost element is the first in C order, and the index counts in that order. Each element of the
    /// destination before the lost one has either been cast or is unchanged; all elements from the lost one on are unspecified.
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

    /// The first element that [`run_strided`](Self::run_strided) would lose, without a destination.
    ///
    /// # Errors
    ///
    /// [`ViewError::WrongEncoding`] if the view has a different encoding from the kernel.
    pub fn find_strided(&self, src: &View<'_>) -> Result<Option<Lost>, ViewError> {
        let mut sought = Sought::First(None);
        self.look(src, &mut sought)?;
        Ok(sought.first())
    }

    /// The losses of [`run_strided_counted`](Self::run_strided_counted), without a destination.
    ///
    /// # Errors
    ///
    /// As [`find_strided`](Self::find_strided).
    pub fn count_strided(&self, src: &View<'_>) -> Result<Losses, ViewError> {
        let mut sought = Sought::Counts(Losses::default());
        self.look(src, &mut sought)?;
        Ok(sought.counts())
    }

    /// The mask of [`run_strided_masked`](Self::run_strided_masked), without a destination.
    ///
    /// # Errors
    ///
    /// As [`find_strided`](Self::find_strided).
    pub fn mask_strided(&self, src: &View<'_>, mask: &mut [u8]) -> Result<Option<usize>, ViewError> {
        let Some(mask) = mask.get_mut(..src.layout().elements().div_ceil(8)) else { return Ok(None) };
        let mut sought = Sought::Mask(mask, 0);
        self.look(src, &mut sought)?;
        Ok(Some(sought.count()))
    }

    /// Searches for losses, block by block on the stack.
    fn look(&self, src: &View<'_>, sought: &mut Sought<'_>) -> Result<(), ViewError> {
        let (plan, view) = (self.kernel().source(), src.encoding());
        if plan != view {
            return Err(ViewError::WrongEncoding { plan, view });
        }
        if !self.is_idle() {
            let dropped = (ptr::null_mut(), &src.layout().clone().with_encoding(self.kernel().target()));
            // SAFETY: the view has the elements, and the results are dropped.
            unsafe { self.search(src, dropped, Results::Dropped, sought) };
        }
        Ok(())
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
        if self.is_idle() {
            return self.kernel().run_strided(src, dst);
        }
        let results = match self.kernel().together(src, dst)? {
            Together::Apart => Results::Written,
            Together::InPlace => Results::Replace,
        };
        // SAFETY: the views have their elements; no two elements of the destination share bytes, and `together` has determined how they relate to
        // the elements of the source.
        unsafe { self.search(src, (dst.first(), dst.layout()), results, sought) };
        Ok(())
    }

    /// # Safety
    ///
    /// As [`Kernel::run_nest`].
    unsafe fn search(
        &self,
        src: &View<'_>,
        dst: (*mut u8, &Layout),
        results: Results,
        sought: &mut Sought<'_>,
    ) {
        let _guard = self.guard();
        let search = Search { detector: self, sought, lost: [0xFF; BITS] };
        // SAFETY: the caller's promise.
        unsafe { self.kernel().run_nest((src.first(), src.layout()), dst, results, search) };
    }
}

/// A search for losses.
pub(super) struct Search<'a, 'b> {
    detector: &'a LossDetector,
    sought: &'a mut Sought<'b>,
    /// The bitmap of a piece: the bits of lost elements are cleared. Between pieces, all bits are set.
    lost: [u8; BITS],
}

impl Runs for Search<'_, '_> {
    const SLOW: bool = true;

    fn are_numbered(&self) -> bool {
        !matches!(self.sought, Sought::Counts(_))
    }

    #[inline(never)]
    unsafe fn run(
        &mut self,
        kernel: &Kernel,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        places: &Places<'_>,
    ) -> bool {
        let all = |n: usize| [bytes(kernel.source(), n), bytes(kernel.target(), n)];
        // Data on the stack is no longer than a piece.
        let streams = n > PIECE && kernel.streams(all(n).iter().sum());
        (0..n).step_by(PIECE).all(|at| {
            let (len, [read, written]) = (PIECE.min(n - at), all(at));
            // SAFETY: the caller's elements, from an element that begins at a whole byte of both sides. More elements than a piece are one row.
            unsafe { self.piece(src.add(read), dst.add(written), len, streams, &places.after(at)) }
        })
    }
}

impl Search<'_, '_> {
    /// # Safety
    ///
    /// As [`run`](Runs::run), of at most a piece.
    unsafe fn piece(
        &mut self,
        src: *const u8,
        dst: *mut u8,
        n: usize,
        streams: bool,
        places: &Places<'_>,
    ) -> bool {
        let (from, to) = (self.detector.kernel().source(), self.detector.kernel().target());
        // SAFETY: the caller's promise; `dst` need not be initialised.
        let (src, dst) = unsafe {
            (slice::from_raw_parts(src, bytes(from, n)), slice::from_raw_parts_mut(dst.cast(), bytes(to, n)))
        };
        if let Sought::Counts(sum) = self.sought {
            let mut part = Sought::Counts(Losses::default());
            // SAFETY: the slices are the bytes of `n` elements, and the caller holds the guard.
            unsafe { self.detector.run_unguarded(src, dst, n, streams, &mut part) };
            let part = part.counts();
            Loss::ALL.iter().for_each(|loss| sum.add(*loss, part.of(*loss) * places.repeat.len as u64));
            return true;
        }
        if let Sought::First(Some(found)) = self.sought
            && found.index <= places.lowest(n)
        {
            return false;
        }
        let mut part = Sought::Mask(&mut self.lost, 0);
        // SAFETY: as above.
        unsafe { self.detector.run_unguarded(src, dst, n, streams, &mut part) };
        let count = part.count();
        if count == 0 {
            return true;
        }
        let goes_on = match self.sought {
            Sought::Mask(mask, lost) => {
                *lost += count * places.repeat.len;
                places.clear(&self.lost, n, mask);
                true
            }
            Sought::First(found) => {
                let (index, i) = places.first_lost(&self.lost, n);
                if found.is_none_or(|before| index < before.index) {
                    // If elements are packed, the elements before it in its byte are in the same row, so they are not lost.
                    let first = if from.is_packed() { i - i % 8 } else { i };
                    let mut room = Stack::<{ 8 * 16 }>::new();
                    let mut one = Sought::First(None);
                    let len = if from.is_packed() { 8.min(n - first) } else { 1 };
                    let (src, out) = (&src[from.span(first, len)], &mut room.bytes()[..bytes(to, len)]);
                    // SAFETY: the slices are the bytes of `len` elements, and the caller holds the guard.
                    unsafe { self.detector.run_unguarded(src, out, len, false, &mut one) };
                    *found = one.first().map(|lost| Lost { index, ..lost });
                }
                false
            }
            Sought::Counts(_) => true,
        };
        self.lost[..n.div_ceil(8)].fill(0xFF);
        goes_on
    }
}

//! Casts between addresses, for callers that have pointers and lengths.

use crate::kernel::Kernel;
use core::{ops::Range, slice};

/// Why a cast between addresses was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PtrError {
    /// The elements take more bytes than memory can hold.
    TooLarge,
    /// The source and the destination overlap but do not begin at the same byte. The ranges count from the lower address.
    Overlap {
        /// The bytes of the source.
        src: Range<usize>,
        /// The bytes of the destination.
        dst: Range<usize>,
    },
}

impl Kernel {
    /// Casts `n` elements at `src` to `n` elements at `dst`: in place if the addresses are equal.
    ///
    /// # Errors
    ///
    /// [`PtrError`]; then nothing is written.
    ///
    /// # Safety
    ///
    /// `src` is readable for the bytes of `n` elements of the source, which are initialised, and `dst` writable for those of `n` elements
    /// of the target; no one else accesses them meanwhile. If there are no elements, the pointers may be null or dangling.
    #[inline]
    pub unsafe fn run_ptr(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), PtrError> {
        let (Some(read), Some(written)) = (self.from().byte_len(n), self.to().byte_len(n)) else {
            return Err(PtrError::TooLarge);
        };
        if n == 0 {
            return Ok(());
        }
        let (start, end) = (src.addr(), dst.addr());
        if start == end {
            // SAFETY: `dst` is writable for the results; the bytes behind them belong to the source, which the caller gives up by naming its
            // address twice. The elements of the source are initialised.
            unsafe {
                let buffer = slice::from_raw_parts_mut(dst.cast(), read.max(written));
                self.run_in_place_uninit(buffer, n);
            }
            return Ok(());
        }
        // Neither sum wraps: both ranges are memory.
        if start < end.wrapping_add(written) && end < start.wrapping_add(read) {
            let low = start.min(end);
            let range = |at: usize, len: usize| at - low..at - low + len;
            return Err(PtrError::Overlap { src: range(start, read), dst: range(end, written) });
        }
        let _guard = self.guard();
        // SAFETY: the caller's memory: initialised where it is read, and the two ranges do not overlap, as was just found. They are the bytes
        // of `n` elements of either side, and the guard is held.
        unsafe {
            let src = slice::from_raw_parts(src, read);
            let dst = slice::from_raw_parts_mut(dst.cast(), written);
            self.run_cut(src, dst, n);
        }
        Ok(())
    }
}

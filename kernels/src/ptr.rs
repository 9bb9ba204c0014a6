//! Casts between addresses, for callers that have pointers and lengths.

use crate::kernel::Kernel;
use core::{ops::Range, slice};

/// Casts between addresses, for plans and with the errors of plans.
///
/// The `unsafe` code is in this crate, so that the crate of the plans needs none: it only provides the kernel and the error type.
pub trait RunPtr {
    /// Why a cast is refused.
    type Error;

    /// The kernel that casts.
    #[doc(hidden)]
    fn ptr_kernel(&self) -> &Kernel;

    /// The error of a cast of `n` elements that was refused.
    #[doc(hidden)]
    fn ptr_error(&self, refused: PtrError, n: usize) -> Self::Error;

    /// Casts the `n` elements at `src` to `n` elements at `dst`; in place, as `run_in_place` does, if the two addresses are equal.
    ///
    /// Unlike slices, the destination need not be initialised, and source and destination may be the same memory.
    ///
    /// # Errors
    ///
    /// The source and the destination overlap but do not begin at the same byte, or no memory can hold `n` elements. Then nothing is
    /// written.
    ///
    /// # Safety
    ///
    /// * `src` is readable for the bytes of `n` elements of the source's type, and these are initialised;
    /// * `dst` is writable for the bytes of `n` elements of the target's type;
    /// * no one else writes the former or accesses the latter until the call returns.
    ///
    /// Any alignment will do. If `n` is 0, the pointers may be null or dangling.
    #[inline]
    unsafe fn run_ptr(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), Self::Error> {
        // SAFETY: the caller promises the same.
        unsafe { run(self.ptr_kernel(), src, dst, n) }.map_err(|refused| self.ptr_error(refused, n))
    }
}

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

/// # Safety
///
/// As [`RunPtr::run_ptr`].
#[inline]
unsafe fn run(kernel: &Kernel, src: *const u8, dst: *mut u8, n: usize) -> Result<(), PtrError> {
    let (Some(read), Some(written)) = (kernel.from().byte_len(n), kernel.to().byte_len(n)) else {
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
            kernel.run_in_place_uninit(buffer, n);
        }
        return Ok(());
    }
    // Neither sum wraps: both ranges are memory.
    if start < end.wrapping_add(written) && end < start.wrapping_add(read) {
        let low = start.min(end);
        let range = |at: usize, len: usize| at - low..at - low + len;
        return Err(PtrError::Overlap { src: range(start, read), dst: range(end, written) });
    }
    let _guard = kernel.guard();
    // SAFETY: the caller's memory: initialised where it is read, and the two ranges do not overlap, as was just found. They are the bytes
    // of `n` elements of either side, and the guard is held.
    unsafe {
        let src = slice::from_raw_parts(src, read);
        let dst = slice::from_raw_parts_mut(dst.cast(), written);
        kernel.run_cut(src, dst, n);
    }
    Ok(())
}

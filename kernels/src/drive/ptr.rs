//! Casts between addresses, for callers that have pointers and lengths.

use crate::route::Kernel;
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
    /// The numbers of bytes of `n` elements of the source and of the target. The two ranges must not overlap, unless the addresses are equal.
    ///
    /// # Errors
    ///
    /// [`PtrError`].
    #[inline]
    pub fn check_ptr(&self, src: *const u8, dst: *const u8, n: usize) -> Result<(usize, usize), PtrError> {
        let (Some(read), Some(written)) = (self.source().byte_len(n), self.target().byte_len(n)) else {
            return Err(PtrError::TooLarge);
        };
        let (start, end) = (src.addr(), dst.addr());
        // Neither sum wraps: both ranges are memory.
        if n > 0 && start != end && start < end.wrapping_add(written) && end < start.wrapping_add(read) {
            let low = start.min(end);
            let range = |at: usize, len: usize| at - low..at - low + len;
            return Err(PtrError::Overlap { src: range(start, read), dst: range(end, written) });
        }
        Ok((read, written))
    }

    /// Casts `n` elements at `src` to `n` elements at `dst`: in place if the addresses are equal. Bytes are only read through `src` and
    /// only written through `dst`.
    ///
    /// # Errors
    ///
    /// [`PtrError`]; then nothing is written.
    ///
    /// # Safety
    ///
    /// `src` is readable for the bytes of `n` elements of the source, which are initialised, and `dst` is writable for the bytes of `n` elements
    /// of the target; nothing else accesses these bytes meanwhile. If there are no elements, the pointers may be null or dangling.
    #[inline]
    pub unsafe fn run_ptr(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), PtrError> {
        let (read, written) = self.check_ptr(src, dst, n)?;
        if n == 0 {
            return Ok(());
        }
        if src.addr() == dst.addr() {
            // SAFETY: the caller's promise is the same.
            unsafe { self.run_in_place_at(src, dst, n) };
            return Ok(());
        }
        let _guard = self.guard();
        // SAFETY: the caller's memory is initialised where it is read, and the check above found that the two ranges do not overlap. They are the
        // bytes of `n` elements of either side, and the guard is held.
        unsafe {
            let src = slice::from_raw_parts(src, read);
            let dst = slice::from_raw_parts_mut(dst.cast(), written);
            self.run_cut(src, dst, n);
        }
        Ok(())
    }
}

/// Tests small enough for Miri; `tests/ptr.rs` of the root crate tests every pair.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::Tier, dtype::DType, exact::Rules};
    use alloc::{vec, vec::Vec};

    /// In place, either pointer is derived from no more than its own elements.
    #[test]
    fn in_place_by_pointers_of_the_elements() {
        for (from, to, n) in [
            (DType::Float32, DType::Int8, 4),
            (DType::Float32, DType::Int8, 1500),
            (DType::Int8, DType::Float32, 4),
            (DType::Int8, DType::Float32, 1100),
            (DType::Float32, DType::Int32, 3),
        ] {
            let kernel =
                Kernel::new(Tier::Scalar, from.into(), to.into(), &Rules::common(to, true)).expect("scalar");
            let (read, written) = (n * from.size(), n * to.size());
            let values: Vec<u8> = (0..read).map(|i| (i * 37 + i / 256) as u8).collect();
            let mut want = vec![0; written];
            kernel.run(&values, &mut want, n).expect("large enough");
            let mut buffer = values.clone();
            buffer.resize(read.max(written), 0);
            let start = buffer.as_mut_ptr();
            // SAFETY: bytes of the buffer, which nothing else accesses before the last use of both.
            unsafe {
                let (src, dst) = if read > written {
                    (start, slice::from_raw_parts_mut(start, written).as_mut_ptr())
                } else {
                    (slice::from_raw_parts_mut(start, read).as_mut_ptr(), start)
                };
                kernel.run_ptr(src, dst, n).expect("the same address");
            }
            assert_eq!(buffer[..written], want, "{kernel:?}");
        }
    }
}

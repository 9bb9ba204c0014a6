//! Casts between addresses, for libraries that have pointers and lengths: the only module of this crate with `unsafe`.

#![allow(unsafe_code, reason = "only the caller knows what is at an address")]

use super::cast_plan::CastPlan;
use crate::error::CastError;
use lanecast_kernels::{Bytes, BytesMut, Encoding, InPlace, Layout, PtrError, View, ViewMut, Written};

impl CastPlan {
    /// Casts the `n` elements at `src` to `n` elements at `dst`; [in place](InPlace), if the two are the same
    /// address.
    ///
    /// This is [`run`](Self::run) of [`Bytes`] for callers that have pointers, and for them the cheapest call. Unlike a slice, the memory at
    /// `dst` need not be initialised, and a cast in place may name its memory twice. Elements are only read through `src` and results are
    /// only written through `dst`, so either pointer may be derived from its own elements alone.
    ///
    /// ```
    /// use lanecast::{CastOptions, CastPlan, DType};
    /// let plan = CastPlan::new(DType::Float32, DType::Int8, &CastOptions::RUST)?;
    /// let mut buffer = [1.5_f32, -300.0];
    /// let start = buffer.as_mut_ptr().cast::<u8>();
    /// // SAFETY: the bytes of two elements of float32, which hold two of int8 as well.
    /// unsafe { plan.run_ptr(start, start, 2)? };
    /// # if cfg!(target_endian = "little") {
    /// assert_eq!(buffer[0].to_bits() as u16, 0x8001);
    /// # }
    /// # Ok::<(), lanecast::CastError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CastError::Overlap`] if the two share bytes and do not begin at the same one, with ranges from the lower of the two addresses,
    /// or [`CastError::TooLarge`]; then nothing is written. [`CastError::Rejected`] as [`run`](Self::run).
    ///
    /// # Safety
    ///
    /// * `src` is readable for the bytes of `n` elements of [`source`](Self::source), and these are initialised;
    /// * `dst` is writable for the bytes of `n` elements of [`target`](Self::target);
    /// * until the call returns, nothing else writes to the source or accesses the destination.
    ///
    /// Any alignment will do. If `n` is 0, the pointers may be null or dangling.
    #[inline]
    pub unsafe fn run_ptr(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), CastError> {
        if self.is_plain() {
            // SAFETY: the caller promises the same.
            return match unsafe { self.kernel().run_ptr(src, dst, n) } {
                Ok(()) => Ok(()),
                Err(error) => Err(self.not_by_address(error, n)),
            };
        }
        // SAFETY: the caller promises the same.
        unsafe { self.run_parts_of_memory(src, dst, n) }
    }

    /// # Safety
    ///
    /// As [`run_ptr`](Self::run_ptr).
    #[inline(never)]
    unsafe fn run_parts_of_memory(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), CastError> {
        if let Err(error) = self.kernel().check_ptr(src, dst, n) {
            return Err(self.not_by_address(error, n));
        }
        // The elements have no more bytes than memory, as was just found.
        let len = |side: Encoding| side.byte_len(n).unwrap_or_default();
        let (read, written) = (len(self.source()), len(self.target()));
        if src.addr() == dst.addr() {
            // SAFETY: the caller's memory, of which the elements of the source are initialised.
            return self.run(InPlace, unsafe { BytesMut::from_raw(dst, read.max(written), n) });
        }
        // SAFETY: the caller's memory: two ranges that do not overlap, the first of which is initialised.
        unsafe { self.run(Bytes::from_raw(src, read, n), BytesMut::from_raw(dst, written, n)) }
    }

    #[cold]
    fn not_by_address(&self, error: PtrError, n: usize) -> CastError {
        match error {
            PtrError::Overlap { src, dst } => CastError::Overlap { src, dst },
            PtrError::TooLarge => {
                let encoding =
                    if self.source().byte_len(n).is_none() { self.source() } else { self.target() };
                CastError::TooLarge { elements: n, encoding }
            }
        }
    }
}

/// Two views of one buffer, for a cast from one to the other.
pub(super) fn within(
    buffer: &mut [u8],
    src: &Layout,
    dst: &Layout,
    cast: impl FnOnce(&View<'_>, &mut ViewMut<'_>) -> Result<(), CastError>,
) -> Result<(), CastError> {
    let (start, len) = (buffer.as_mut_ptr(), buffer.len());
    src.check_bounds(len)?;
    dst.check_bounds(len)?;
    // SAFETY: both lie in the buffer, which is borrowed until the call returns. The callers of this function only cast from the one to the
    // other, and a cast checks how they lie to each other.
    let (src, mut dst) =
        unsafe { (View::from_raw(start, src.clone()), ViewMut::from_raw(start, dst.clone())?) };
    cast(&src, &mut dst)
}

/// Reports to the owner of uninitialised memory that a cast has written all results.
pub(super) fn all_written(written: Written<'_>) {
    // SAFETY: the one caller has cast the operands that came with this value: on one thread as a whole, or all parts of them, which are a
    // partition. A part that fails is an error, and then the caller does not come here.
    unsafe { written.all() };
}

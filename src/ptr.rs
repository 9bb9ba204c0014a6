//! Casts between addresses, for libraries that have pointers and lengths: the only module of this crate with `unsafe`.

#![allow(unsafe_code, reason = "only the caller knows what is at an address")]

use crate::{CastError, CastPlan};
use lanecast_kernels::PtrError;

impl CastPlan {
    /// Casts the `n` elements at `src` to `n` elements at `dst`; in place, as [`run_in_place`](Self::run_in_place), if the two are the
    /// same address.
    ///
    /// Unlike a slice, the memory of the destination need not be initialised, and that of a cast in place may be named twice. Elements are
    /// only read through `src` and results are only written through `dst`, so either pointer may be derived from its own elements alone.
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
    /// or [`CastError::TooLarge`]; then nothing is written.
    ///
    /// # Safety
    ///
    /// * `src` is readable for the bytes of `n` elements of [`source`](Self::source), and these are initialised;
    /// * `dst` is writable for the bytes of `n` elements of [`target`](Self::target);
    /// * no one else writes the former or accesses the latter until the call returns.
    ///
    /// Any alignment will do. If `n` is 0, the pointers may be null or dangling.
    #[inline]
    pub unsafe fn run_ptr(&self, src: *const u8, dst: *mut u8, n: usize) -> Result<(), CastError> {
        // SAFETY: the caller promises the same.
        match unsafe { self.kernel().run_ptr(src, dst, n) } {
            Ok(()) => Ok(()),
            Err(PtrError::Overlap { src, dst }) => Err(CastError::Overlap { src, dst }),
            Err(PtrError::TooLarge) => Err(self.shortage(usize::MAX, usize::MAX, n)),
        }
    }
}

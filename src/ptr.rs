//! Casts between addresses: [`RunPtr`] for plans.

use crate::{CastError, CastPlan};
use lanecast_kernels::{Kernel, PtrError, RunPtr};

/// The errors are [`CastError::Overlap`], with ranges from the lower of the two addresses, and [`CastError::TooLarge`].
///
/// ```
/// use lanecast::{CastOptions, CastPlan, DType, RunPtr};
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
impl RunPtr for CastPlan {
    type Error = CastError;

    fn ptr_kernel(&self) -> &Kernel {
        self.kernel()
    }

    fn ptr_error(&self, refused: PtrError, n: usize) -> CastError {
        match refused {
            PtrError::Overlap { src, dst } => CastError::Overlap { src, dst },
            PtrError::TooLarge => self.shortage(usize::MAX, usize::MAX, n),
        }
    }
}

//! Casts that scale in registers, for the pairs that have them.

use super::{Factors, Step, fits};
use crate::{data::Data, dtype::DType, exact::Rounding, kernel::Kernel};

/// A loop over whole blocks.
///
/// # Safety
///
/// As [`vector::scaled::run`](crate::vector::scaled::run).
pub(crate) type FusedFn = unsafe fn(*const u8, *mut u8, usize, usize, &Factors<'_>, &Data);

/// A loop and the lanes of its registers, four of which are a block.
#[derive(Clone, Copy)]
pub(crate) struct Fused {
    pub(crate) run: FusedFn,
    pub(crate) lanes: usize,
}

/// A cast that does a [`Step`] with its elements and stores them as a kernel does.
#[derive(Clone, Copy)]
pub struct ScaledCast {
    fused: Fused,
    step: Step,
    size: usize,
    bits: usize,
    data: &'static Data,
}

impl core::fmt::Debug for ScaledCast {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ScaledCast").field("step", &self.step).finish_non_exhaustive()
    }
}

impl ScaledCast {
    /// The cast from `from` that stores what `kernel`, one of float32, makes of the results of a step; `None` if the tier has none, or if
    /// the kernel does not round to the nearest, ties to even, and saturate.
    pub fn new(kernel: &Kernel, from: DType, step: Step) -> Option<Self> {
        let fused = kernel.tier().fused(from, kernel.to(), step)?;
        let data = kernel.data();
        let size = from.size();
        // The constants are those of the target if it is made in one step.
        let single = data.to == kernel.to().dtype() && kernel.from().dtype() == DType::Float32;
        // The bodies have the environment's direction, and those of integers no other answer to overflow.
        let nearest = data.rules.rounding == Rounding::NearestEven && data.rules.saturate;
        (single && nearest).then_some(Self {
            fused,
            step,
            size,
            bits: kernel.to().bits_per_element() as usize,
            data,
        })
    }

    /// Casts the elements of whole blocks, and returns how many those are: none if runs do not fit blocks, a slice is too short or a
    /// factor missing. For callers in the default floating-point environment.
    #[inline]
    pub fn run(&self, src: &[u8], dst: &mut [u8], n: usize, run: usize, factors: &Factors<'_>) -> usize {
        let lanes = self.fused.lanes;
        let block = 4 * lanes;
        let done = n / block * block;
        let regular = run.is_multiple_of(block)
            || run >= n
            || (block.is_multiple_of(run.max(1)) && run.is_multiple_of(lanes));
        let long = src.len() / self.size >= done && dst.len() >= done / 8 * self.bits;
        if !regular || !long || !fits(self.step, done, run, factors) {
            return 0;
        }
        // SAFETY: the tier of the kernel can run here; slices, runs and factors were checked.
        unsafe { (self.fused.run)(src.as_ptr(), dst.as_mut_ptr(), done, run, factors, self.data) };
        done
    }
}

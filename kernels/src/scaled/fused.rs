//! Casts that scale in registers, for the pairs that have them.

use super::{Factors, Step, fits};
use crate::{data::Data, dtype::DType, kernel::Kernel, storage::BufferType};

/// A loop over whole blocks.
///
/// # Safety
///
/// As [`vector::scaled::run`](crate::vector::scaled::run).
pub(crate) type FusedFn = unsafe fn(*const u8, *mut u8, usize, usize, &Factors<'_>, [&Data; 2]);

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
    /// Bits of an element of the source and of the target, in their storage.
    bits: [usize; 2],
    /// The constants of the source and of the target.
    data: [&'static Data; 2],
}

impl core::fmt::Debug for ScaledCast {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ScaledCast").field("step", &self.step).finish_non_exhaustive()
    }
}

impl ScaledCast {
    /// The cast from `from` that stores what `kernel`, one of float32, makes of the results of a step; `None` if the tier has none.
    pub fn new(kernel: &Kernel, from: DType, step: Step) -> Option<Self> {
        let fused = kernel.tier().fused(from, kernel.to(), step)?;
        // The constants are those of the target if it is made in one step.
        let single = kernel.data().to == kernel.to().dtype() && kernel.from().dtype() == DType::Float32;
        single.then_some(Self {
            fused,
            step,
            bits: [from.into(), kernel.to()].map(bits),
            data: [kernel.data(); 2],
        })
    }

    /// The cast from the codes that `load` casts to float32 to the target of `store`, a cast from float32, with a step between them;
    /// `None` if the tier has none.
    pub fn decoder(load: &Kernel, store: &Kernel, step: Step) -> Option<Self> {
        let fused = load.tier().decoder(load.from(), store.to().dtype(), step)?;
        let through = [load.to(), store.from()].iter().all(|of| *of == BufferType::new(DType::Float32));
        let single = load.data().to == DType::Float32 && store.data().to == store.to().dtype();
        let fits = through && single && load.tier() == store.tier();
        fits.then_some(Self {
            fused,
            step,
            bits: [load.from(), store.to()].map(bits),
            data: [load.data(), store.data()],
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
        // A block has whole bytes of every width.
        let long = src.len() >= done / 8 * self.bits[0] && dst.len() >= done / 8 * self.bits[1];
        if !regular || !long || !fits(self.step, done, run, factors) {
            return 0;
        }
        // SAFETY: the tier of the kernel can run here; slices, runs and factors were checked.
        unsafe { (self.fused.run)(src.as_ptr(), dst.as_mut_ptr(), done, run, factors, self.data) };
        done
    }
}

fn bits(of: BufferType) -> usize {
    of.bits_per_element() as usize
}

//! The kernels of `vector` for this tier.

use super::simd::Avx2;
use crate::{
    dtype::DType,
    format::data::Data,
    vector::{
        self, Families, Loaded, Simd,
        casts::target::Target,
        kernel::{KernelFn, Steps},
        small::FloatFamily,
        style::Mode,
    },
};

impl Families for Avx2 {
    avx2_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller's promise is the same.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}

/// See [`vector::small_in_mode`].
pub(in crate::arch::x86) fn small_in_mode<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn {
    vector::small_in_mode::<Avx2, S, F>(mode)
}

/// See [`vector::in_mode`].
pub(in crate::arch::x86) fn through_float32(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    vector::in_mode::<Avx2, Avx2>(from, to, mode)
}

crate::vector::scaled::define_scaled!(avx2_fn, Avx2);

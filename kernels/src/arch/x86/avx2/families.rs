//! The kernels of `vector` for this tier.

use super::simd::Avx2;
use crate::{
    dtype::{DType, Flavor, Spec},
    format::{data::Data, *},
    vector::{
        self, Simd,
        casts::target::Target,
        kernel::{KernelFn, Steps},
    },
};

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn vector<S: Format, T: Target<Avx2>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: as the caller's.
        unsafe { vector::run::<Avx2, S, T>(Avx2::new_unchecked(), src, dst, n, data, vector::<S, T>) }
    }
}

vector::define_families!(vector, plain);
vector::define_integers!(vector, to_bytes);
vector::define_styles!(vector, vector, styled);

crate::vector::scaled::define_scaled!(avx2_fn, Avx2);

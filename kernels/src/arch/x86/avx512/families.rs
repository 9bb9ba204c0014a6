//! The kernels of `vector` for this tier.

use super::{
    super::{avx2, fine},
    simd::Avx512,
};
use crate::{
    dtype::{DType, Flavor, Spec},
    format::{data::Data, *},
    vector::{
        self, Simd,
        casts::target::Target,
        kernel::{KernelFn, Steps},
    },
};

/// The kernels of `vector`, for one combination of finer features.
macro_rules! vector_kernels {
    ($name:ident, $plain:ident, $function:ident, $simd:ty) => {
        $function! {
            /// # Safety
            ///
            /// As [`KernelFn`], and the CPU has the finer features too.
            unsafe fn $name<S: Format, T: Target<$simd>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
                // SAFETY: as the caller's.
                unsafe { vector::run::<$simd, S, T>(<$simd>::new_unchecked(), src, dst, n, data, $name::<S, T>) }
            }
        }

        vector::define_families!($name, $plain);
    };
}
vector_kernels!(vector, plain, avx512_fn, Avx512<false, false>);
vector_kernels!(vector_vbmi, plain_vbmi, vbmi_fn, Avx512<true, false>);
vector_kernels!(vector_bf16, plain_bf16, bf16_fn, Avx512<false, true>);

vector::define_integers!(vector, to_bytes);
vector::define_styles!(vector, vector_vbmi, styled);

/// See [`styled`]; the kernel is one that this CPU has.
pub(super) fn through_float32(from: DType, to: DType, style: u8) -> Option<Steps> {
    if to.size() == 1 && fine::found() & fine::VBMI == 0 {
        avx2::styled(from, to, style)
    } else {
        styled(from, to, style)
    }
}

crate::vector::scaled::define_scaled!(avx512_fn, Avx512<false, false>);

//! The kernels of `vector` for this tier.

use super::{
    super::{avx2, fine},
    simd::Avx512,
};
use crate::{
    dtype::DType,
    format::data::Data,
    vector::{self, Families, Loaded, Simd, casts::target::Target, kernel::Steps, style::Mode},
};

/// The tokens of the tier: plain, with permutations of bytes (`Permuting`), and with the conversion to bfloat16 (`Converting`).
pub(super) type Plain = Avx512<false, false>;
pub(super) type Permuting = Avx512<true, false>;
pub(super) type Converting = Avx512<false, true>;

impl Families for Avx512<false, false> {
    avx512_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller's promise is the same.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}
impl Families for Avx512<true, false> {
    vbmi_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller's promise is the same.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}
impl Families for Avx512<false, true> {
    bf16_fn! {
        unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: the caller's promise is the same.
            unsafe { vector::run::<Self, S, T>(Self::new_unchecked(), src, dst, n, data, Self::run::<S, T>) }
        }
    }
}

/// See [`vector::in_mode`]; the kernel is chosen for the features of this CPU.
pub(super) fn through_float32(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    if to.size() == 1 && !fine::found().vbmi {
        avx2::through_float32(from, to, mode)
    } else {
        vector::in_mode::<Plain, Permuting>(from, to, mode)
    }
}

crate::vector::scaled::define_scaled!(avx512_fn, Avx512<false, false>);

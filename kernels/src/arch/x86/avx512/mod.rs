//! The tier `avx512`.
//!
//! `direct` names the kernels that are written for it. All other pairs are the plain loop of the scalar tier, compiled anew
//! for the tier's instructions: its bodies have no branches, and the compiler makes vector code of them.

mod bytes;
mod simd;
mod wide;

use super::{copy::avx512 as copy, fine};
use crate::{
    arch::scalar,
    dtype::COUNT,
    format::*,
    table::{KernelFn, Table, define_table, has_overflow_rule},
    vector,
};
use simd::Avx512;

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: as the caller's.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// The kernels of `vector`, for one combination of finer features.
macro_rules! vector_kernels {
    ($name:ident, $features:literal, $simd:ty) => {
        /// # Safety
        ///
        /// As [`KernelFn`], and the CPU has the finer features too.
        #[target_feature(
            enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq"
        )]
        #[target_feature(enable = $features)]
        unsafe fn $name<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<$simd, S, D, SATURATE>(src, dst, n, $name::<S, D, SATURATE>) }
        }
    };
}
vector_kernels!(vector, "avx512f", Avx512<false, false>);
vector_kernels!(vector_vbmi, "avx512vbmi", Avx512<true, false>);
vector_kernels!(vector_bf16, "avx512bf16", Avx512<false, true>);

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::kernel::<S, D, FINE>(saturate) {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        // Bytes are all that VBMI packs, and bfloat16 all that BF16 makes.
        let kernel: [KernelFn; 2] = match D::DTYPE.size() {
            1 if FINE & fine::VBMI != 0 => [vector_vbmi::<S, D, false>, vector_vbmi::<S, D, true>],
            2 if FINE & fine::BF16 != 0 => [vector_bf16::<S, D, false>, vector_bf16::<S, D, true>],
            _ => [vector::<S, D, false>, vector::<S, D, true>],
        };
        return Some(kernel[saturate as usize]);
    }
    wide::kernel::<S, D>(saturate)
}

crate::dtype::for_each_dtype!(define_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] =
    [table::<0>(), table::<1>(), table::<2>(), table::<3>()];

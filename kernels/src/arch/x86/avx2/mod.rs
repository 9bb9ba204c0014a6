//! The tier `avx2`.
//!
//! `direct` names the kernels that are written for it, which are those of almost all pairs. The few others are the plain loop of the
//! scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

mod bytes;
mod simd;
mod wide;

use super::copy::avx2 as copy;
use crate::{
    arch::scalar,
    data::Data,
    dtype::{COUNT, DType},
    exact::Rules,
    format::*,
    storage::BufferType,
    table::{
        KernelFn, PACKED_FROM, PACKED_TO, PackedTable, Rounded, Table, define_packed_table, define_table,
        has_overflow_rule, same_bits, same_truth,
    },
    vector,
};
use simd::Avx2;

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: as the caller's.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn vector<S: Format, D: Format, const SATURATE: bool, const PACKED: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: as the caller's.
    unsafe {
        vector::run::<Avx2, S, D, SATURATE, PACKED>(src, dst, n, data, vector::<S, D, SATURATE, PACKED>)
    }
}

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::kernel::<S, D>(saturate) {
        return Some(kernel);
    }
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(wide::float16_to_bfloat16);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return Some(if saturate { vector::<S, D, true, false> } else { vector::<S, D, false, false> });
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernels that pack what they have made.
const fn packed<S: Format, D: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::packed::<S, D, SIDES>(saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    Some(if saturate { vector::<S, D, true, true> } else { vector::<S, D, false, true> })
}

crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
pub(super) static TABLE: Table = Table { packed: Some(&PACKED), ..table::<0>() };
static PACKED: PackedTable = packed_table::<0>();

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(_: BufferType, _: BufferType, _: &Rules) -> Option<Rounded> {
    None
}

crate::loss::define_loops!(suspect, #[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]);

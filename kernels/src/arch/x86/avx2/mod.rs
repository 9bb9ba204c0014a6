//! The tier `avx2`.
//!
//! `direct` names the kernels that are written for it. All other pairs are the plain loop of the scalar tier, compiled anew
//! for the tier's instructions: its bodies have no branches, and the compiler makes vector code of them.

mod bytes;
mod simd;
mod wide;

use super::copy::avx2 as copy;
use crate::{
    arch::scalar,
    data::Data,
    dtype::{COUNT, DType, Flavor, Spec},
    exact::Rules,
    format::*,
    storage::BufferType,
    table::{
        KernelFn, PACKED_FROM, PACKED_TO, PackedTable, Rounded, Steps, Table, define_packed_table,
        define_table, has_overflow_rule, same_bits, same_truth,
    },
    vector::{
        self,
        target::{F32Odd, Target},
    },
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
unsafe fn vector<S: Format, T: Target>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: as the caller's.
    unsafe { vector::run::<Avx2, S, T>(src, dst, n, data, vector::<S, T>) }
}

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn two_step<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: as the caller's.
    unsafe { vector::two_step::<Avx2, S>(src, dst, n, data, vector::<S, F32Odd>) }
}

vector::define_families!(vector, plain);
vector::define_styles!(vector, two_step, styled);

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::kernel::<S, D>(saturate) {
        return Some(kernel);
    }
    if matches!((S::DTYPE, D::DTYPE), (DType::Float16, DType::BFloat16)) {
        return Some(wide::float16_to_bfloat16);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        return plain::<S>(D::DTYPE, saturate, false);
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
    plain::<S>(D::DTYPE, saturate, true)
}

crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
pub(super) static TABLE: Table = Table { packed: Some(&PACKED), ..table::<0>() };
static PACKED: PackedTable = packed_table::<0>();

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(from: BufferType, to: BufferType, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        return None;
    }
    let (style, direction) = vector::style::style(d, rules);
    if style == vector::style::PLAIN {
        let run = if from.is_packed() || to.is_packed() {
            TABLE.get_packed(from, to, rules.saturate)?
        } else {
            TABLE.get(s, d, rules.saturate)
        };
        return Some(Rounded { run, direction, second: None });
    }
    if from.is_packed() || to.is_packed() {
        return None;
    }
    let Steps { first, second } = styled(s, d, style)?;
    Some(Rounded { run: first, direction, second })
}

crate::loss::define_loops!(suspect, #[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]);

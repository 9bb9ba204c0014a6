//! The tier `avx512`.
//!
//! `direct` names the kernels that are written for it, which are those of almost all pairs. The few others are the plain loop of the
//! scalar tier, compiled anew for the tier's instructions: its bodies have no branches, and the compiler makes vector code of
//! them.

mod bytes;
mod packed;
mod simd;
mod wide;

use super::{copy::avx512 as copy, fine};
use crate::{
    arch::scalar,
    data::Data,
    dtype::COUNT,
    exact::Rules,
    format::*,
    storage::BufferType,
    table::{
        KernelFn, PACKED_FROM, PACKED_TO, PackedTable, Rounded, Table, define_packed_table, define_table,
        has_overflow_rule, same_bits, same_truth,
    },
    vector,
};
use simd::Avx512;

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
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
        unsafe fn $name<S: Format, D: Format, const SATURATE: bool, const PACKED: bool>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            data: &Data,
        ) {
            // SAFETY: as the caller's.
            unsafe {
                vector::run::<$simd, S, D, SATURATE, PACKED>(
                    src,
                    dst,
                    n,
                    data,
                    $name::<S, D, SATURATE, PACKED>,
                )
            }
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
    if let Some(kernel) = wide::preferred::<S, D>() {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        // Bytes are all that VBMI packs, and bfloat16 all that BF16 makes.
        let kernel: [KernelFn; 2] = match D::DTYPE.size() {
            1 if FINE & fine::VBMI != 0 => {
                [vector_vbmi::<S, D, false, false>, vector_vbmi::<S, D, true, false>]
            }
            2 if FINE & fine::BF16 != 0 => {
                [vector_bf16::<S, D, false, false>, vector_bf16::<S, D, true, false>]
            }
            _ => [vector::<S, D, false, false>, vector::<S, D, true, false>],
        };
        return Some(kernel[saturate as usize]);
    }
    wide::kernel::<S, D>(saturate)
}

/// The kernels of packed storage.
const fn packed<S: Format, D: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::packed::<S, D, FINE, SIDES>(saturate) {
        return Some(kernel);
    }
    if !vector::covers(S::DTYPE, D::DTYPE) {
        return None;
    }
    let kernel: [KernelFn; 2] = if FINE & fine::VBMI != 0 {
        [vector_vbmi::<S, D, false, true>, vector_vbmi::<S, D, true, true>]
    } else {
        [vector::<S, D, false, true>, vector::<S, D, true, true>]
    };
    Some(kernel[saturate as usize])
}

crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] = crate::arch::fine::by_combination!(with_packed);
/// Those of packed storage: only VBMI matters to them.
static PACKED: [PackedTable; 2] = [packed_table::<0>(), packed_table::<{ fine::VBMI }>()];

const fn with_packed<const FINE: u8>() -> Table {
    Table { packed: Some(&PACKED[(FINE & fine::VBMI != 0) as usize]), ..table::<FINE>() }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(_: BufferType, _: BufferType, _: &Rules) -> Option<Rounded> {
    None
}

crate::loss::define_loops!(suspect, #[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]);

//! The tier `avx512`.
//!
//! `direct` names the kernels that are written for it. All other pairs are the plain loop of the scalar tier, compiled anew
//! for the tier's instructions: its bodies have no branches, and the compiler makes vector code of them.

mod bytes;
mod packed;
mod simd;
mod wide;

use super::{copy::avx512 as copy, fine};
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
    ($name:ident, $plain:ident, $features:literal, $simd:ty) => {
        /// # Safety
        ///
        /// As [`KernelFn`], and the CPU has the finer features too.
        #[target_feature(
            enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq"
        )]
        #[target_feature(enable = $features)]
        unsafe fn $name<S: Format, T: Target>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            // SAFETY: as the caller's.
            unsafe { vector::run::<$simd, S, T>(src, dst, n, data, $name::<S, T>) }
        }

        vector::define_families!($name, $plain);
    };
}
vector_kernels!(vector, plain, "avx512f", Avx512<false, false>);
vector_kernels!(vector_vbmi, plain_vbmi, "avx512vbmi", Avx512<true, false>);
vector_kernels!(vector_bf16, plain_bf16, "avx512bf16", Avx512<false, true>);

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn two_step<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: as the caller's.
    unsafe { vector::two_step::<Avx512<false, false>, S>(src, dst, n, data, vector::<S, F32Odd>) }
}

vector::define_styles!(vector, two_step, styled);
vector::define_styles!(vector_vbmi, two_step, styled_vbmi);

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if let Some(kernel) = bytes::kernel::<S, D, FINE>(saturate) {
        return Some(kernel);
    }
    if let Some(kernel) = wide::preferred::<S, D>() {
        return Some(kernel);
    }
    if vector::covers(S::DTYPE, D::DTYPE) {
        // Bytes are all that VBMI packs, and bfloat16 all that BF16 makes.
        return match D::DTYPE.size() {
            1 if FINE & fine::VBMI != 0 => plain_vbmi::<S>(D::DTYPE, saturate, false),
            2 if FINE & fine::BF16 != 0 => plain_bf16::<S>(D::DTYPE, saturate, false),
            _ => plain::<S>(D::DTYPE, saturate, false),
        };
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
    if FINE & fine::VBMI != 0 {
        plain_vbmi::<S>(D::DTYPE, saturate, true)
    } else {
        plain::<S>(D::DTYPE, saturate, true)
    }
}

crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] =
    [with_packed::<0>(0), with_packed::<1>(1), with_packed::<2>(0), with_packed::<3>(1)];
/// Those of packed storage: only VBMI matters to them.
static PACKED: [PackedTable; 2] = [packed_table::<0>(), packed_table::<{ fine::VBMI }>()];

const fn with_packed<const FINE: u8>(packed: usize) -> Table {
    Table { packed: Some(&PACKED[packed]), ..table::<FINE>() }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(from: BufferType, to: BufferType, rules: &Rules) -> Option<Rounded> {
    let (s, d) = (from.dtype(), to.dtype());
    if !vector::rounds(s, d) {
        return None;
    }
    let found = fine::found();
    let (style, direction) = vector::style::style(d, rules);
    if style == vector::style::PLAIN {
        let table = &TABLES[found as usize];
        let run = if from.is_packed() || to.is_packed() {
            table.get_packed(from, to, rules.saturate)?
        } else {
            table.get(s, d, rules.saturate)
        };
        return Some(Rounded { run, direction, second: None });
    }
    if from.is_packed() || to.is_packed() {
        return None;
    }
    let steps =
        if d.size() == 1 && found & fine::VBMI != 0 { styled_vbmi(s, d, style) } else { styled(s, d, style) };
    let Steps { first, second } = steps?;
    Some(Rounded { run: first, direction, second })
}

crate::loss::define_loops!(suspect, #[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]);

//! The tier `avx512`.
//!
//! Most pairs are the plain loop of the scalar tier, compiled anew for the tier's instructions: its bodies have no branches,
//! and the compiler makes vector code of them. `direct` names the others.

use super::fine;
use crate::{
    arch::scalar,
    dtype::{COUNT, DType},
    format::*,
    table::{KernelFn, Table, define_table, has_overflow_rule},
};
#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use half::f16;

common_kernels! {
    features: "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq",
    lanes: 16,
    float16: _mm256_loadu_si256 _mm256_storeu_si256,
    float32: _mm512_loadu_ps _mm512_storeu_ps,
    widen: _mm512_cvtph_ps,
    narrow: _mm512_cvtps_ph,
}

crate::dtype::for_each_dtype!(define_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] = [table::<0>(), table::<1>(), table::<2>(), table::<3>()];

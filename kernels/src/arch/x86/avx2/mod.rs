//! The tier `avx2`.
//!
//! Most pairs are the plain loop of the scalar tier, compiled anew for the tier's instructions: its bodies have no branches,
//! and the compiler makes vector code of them. `direct` names the others.

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
    features: "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    lanes: 8,
    float16: _mm_loadu_si128 _mm_storeu_si128,
    float32: _mm256_loadu_ps _mm256_storeu_ps,
    widen: _mm256_cvtph_ps,
    narrow: _mm256_cvtps_ph,
}

crate::dtype::for_each_dtype!(define_table);
pub(super) static TABLE: Table = table::<0>();

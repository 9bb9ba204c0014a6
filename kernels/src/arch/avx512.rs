//! The tier `avx512`.
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

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: as the caller's.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// float16 to float32 by the conversion instruction, which does with NaN what the specification says.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn f16_to_f32(src: *const u8, dst: *mut u8, n: usize) {
    let whole = n - n % LANES;
    for i in (0..whole).step_by(LANES) {
        // SAFETY: the elements `i .. i + LANES` are among the caller's `n`; the loads and stores are unaligned ones.
        unsafe {
            let codes = _mm256_loadu_si256(src.add(2 * i).cast());
            _mm512_storeu_ps(dst.add(4 * i).cast(), _mm512_cvtph_ps(codes));
        }
    }
    // SAFETY: as the caller's, for the elements behind the whole vectors.
    unsafe { scalar::cast_each::<f16, f32, true>(src.add(2 * whole), dst.add(4 * whole), n - whole) }
}

/// float32 to float16 by the conversion instruction, with a rounding of its own.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq")]
unsafe fn f32_to_f16(src: *const u8, dst: *mut u8, n: usize) {
    let whole = n - n % LANES;
    for i in (0..whole).step_by(LANES) {
        // SAFETY: as in `f16_to_f32`.
        unsafe {
            let codes = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(src.add(4 * i).cast()));
            _mm256_storeu_si256(dst.add(2 * i).cast(), codes);
        }
    }
    // SAFETY: as the caller's, for the elements behind the whole vectors.
    unsafe { scalar::cast_each::<f32, f16, true>(src.add(4 * whole), dst.add(2 * whole), n - whole) }
}

const LANES: usize = 16;

const fn direct(from: DType, to: DType) -> Option<KernelFn> {
    match (from, to) {
        (DType::Float16, DType::Float32) => Some(f16_to_f32),
        (DType::Float32, DType::Float16) => Some(f32_to_f16),
        _ => None,
    }
}

crate::dtype::for_each_dtype!(define_table);

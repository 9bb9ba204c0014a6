//! The operations whose results depend on the rounding direction of the floating-point environment, as assembly under the names of their
//! intrinsics.
//!
//! *Law.* While the environment rounds in a direction other than to nearest, a kernel contains no float operation that is known to the compiler
//! and whose result depends on the direction. The compiler assumes the default environment, so it may replace an intrinsic by the nearest
//! result. For example, in optimised code it turns `_mm256_add_ps` of 1 and 2^-30 into
//!
//! ```text
//! store <8 x float> splat (float 1.000000e+00), ptr %dst
//! ```
//!
//! while the CPU, rounding up, returns `1 + 2^-23` for
//!
//! ```text
//! call <8 x float> asm "vaddps ${0:t}, ${1:t}, ${2:t}", "=x,x,x"(<8 x float> splat (float 1.0), <8 x float> splat (float 0x3E10000000000000))
//! ```
//!
//! The tests compare both for every operation here, and print which intrinsics are folded.
//!
//! *Method.* Each function is one instruction. The assembly is `pure`: its result depends on its operands and on the control bits of MXCSR, and
//! those bits are constant while a kernel runs. So the compiler may merge, move and drop these operations inside a kernel. It cannot move them
//! out of a kernel, because it cannot follow the pointer through which the kernel is called (`fpenv`).
//!
//! The operands are registers, because assembly cannot leave the choice between a register and memory to the compiler. So a common kernel that
//! converts what it loads keeps its intrinsic, and the directions have a separate kernel.
//!
//! *Intrinsics that stay*: in kernels that run in a direction, these need no assembly:
//!
//! * integers, permutations, comparisons, minima, maxima;
//! * conversions that name their rounding: truncation, an immediate operand, or the embedded rounding of AVX-512;
//! * conversions to a wider float, or of integers that the float holds;
//! * exact arithmetic: multiplication by a power of two, a sum that the float holds, the remainder of a sum that was rounded before. The
//!   direction affects only the sign of a difference that is zero, and no kernel uses that sign;
//! * results that do not depend on the direction: a conversion of a value out of the target's range, which stays out of range in every
//!   direction, and a product that underflows before it is rounded to the integer 0.
//!
//! The tests of `fpenv` count them. Miri has no rounding directions, and uses the intrinsics (`super`).

use super::intrinsics::{__m128, __m128i, __m256, __m256d, __m256i};
#[cfg(feature = "avx512")]
use super::intrinsics::{__m512, __m512d, __m512i};
use core::arch::asm;

/// Functions of registers that are one instruction: `x` is the result; `a` and `b` are the arguments.
macro_rules! instructions {
    ($($(<const $how:ident>)? $name:ident($($arg:ident: $type:ty, $class:ident),*) -> $result:ty, $x:ident, $feature:literal = $text:literal;)*) => {$(
        #[inline]
        #[target_feature(enable = $feature)]
        pub(super) fn $name$(<const $how: i32>)?($($arg: $type),*) -> $result {
            let x;
            // SAFETY: an instruction between registers that the CPU has.
            unsafe {
                asm!(
                    $text,
                    x = lateout($x) x,
                    $($arg = in($class) $arg,)*
                    $(how = const $how,)?
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            x
        }
    )*};
}

/// `a * b + c`.
macro_rules! fused {
    ($($name:ident($type:ty, $class:ident, $feature:literal) = $instruction:literal;)*) => {$(
        #[inline]
        #[target_feature(enable = $feature)]
        pub(super) fn $name(mut a: $type, b: $type, c: $type) -> $type {
            // SAFETY: an instruction between registers that the CPU has.
            unsafe {
                asm!(
                    concat!($instruction, " {a}, {b}, {c}"),
                    a = inlateout($class) a,
                    b = in($class) b,
                    c = in($class) c,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            a
        }
    )*};
}

fused! {
    _mm256_fmadd_ps(__m256, ymm_reg, "fma") = "vfmadd213ps";
}
instructions! {
    _mm256_add_ps(a: __m256, ymm_reg, b: __m256, ymm_reg) -> __m256, ymm_reg, "avx" = "vaddps {x}, {a}, {b}";
    _mm256_add_pd(a: __m256d, ymm_reg, b: __m256d, ymm_reg) -> __m256d, ymm_reg, "avx" = "vaddpd {x}, {a}, {b}";
    <const HOW> _mm256_round_ps(a: __m256, ymm_reg) -> __m256, ymm_reg, "avx" = "vroundps {x}, {a}, {how}";
    <const HOW> _mm256_round_pd(a: __m256d, ymm_reg) -> __m256d, ymm_reg, "avx" = "vroundpd {x}, {a}, {how}";
    _mm256_cvtps_epi32(a: __m256, ymm_reg) -> __m256i, ymm_reg, "avx" = "vcvtps2dq {x}, {a}";
    _mm256_cvtpd_ps(a: __m256d, ymm_reg) -> __m128, xmm_reg, "avx" = "vcvtpd2ps {x}, {a}";
    _mm256_cvtepi32_ps(a: __m256i, ymm_reg) -> __m256, ymm_reg, "avx" = "vcvtdq2ps {x}, {a}";
    <const HOW> _mm256_cvtps_ph(a: __m256, ymm_reg) -> __m128i, xmm_reg, "f16c" = "vcvtps2ph {x}, {a}, {how}";
}

#[cfg(feature = "avx512")]
fused! {
    _mm512_fmadd_ps(__m512, zmm_reg, "avx512f") = "vfmadd213ps";
    _mm512_fmadd_pd(__m512d, zmm_reg, "avx512f") = "vfmadd213pd";
}
#[cfg(feature = "avx512")]
instructions! {
    _mm512_add_ps(a: __m512, zmm_reg, b: __m512, zmm_reg) -> __m512, zmm_reg, "avx512f" = "vaddps {x}, {a}, {b}";
    _mm512_add_pd(a: __m512d, zmm_reg, b: __m512d, zmm_reg) -> __m512d, zmm_reg, "avx512f" = "vaddpd {x}, {a}, {b}";
    _mm512_cvtps_epi32(a: __m512, zmm_reg) -> __m512i, zmm_reg, "avx512f" = "vcvtps2dq {x}, {a}";
    _mm512_cvtps_epu32(a: __m512, zmm_reg) -> __m512i, zmm_reg, "avx512f" = "vcvtps2udq {x}, {a}";
    _mm512_cvtps_epu64(a: __m256, ymm_reg) -> __m512i, zmm_reg, "avx512dq" = "vcvtps2uqq {x}, {a}";
    _mm512_cvtpd_epu32(a: __m512d, zmm_reg) -> __m256i, ymm_reg, "avx512f" = "vcvtpd2udq {x}, {a}";
    _mm512_cvtpd_epi64(a: __m512d, zmm_reg) -> __m512i, zmm_reg, "avx512dq" = "vcvtpd2qq {x}, {a}";
    _mm512_cvtpd_epu64(a: __m512d, zmm_reg) -> __m512i, zmm_reg, "avx512dq" = "vcvtpd2uqq {x}, {a}";
    _mm512_maskz_cvtps_epi32(k: u16, kreg, a: __m512, zmm_reg) -> __m512i, zmm_reg, "avx512f" = "vcvtps2dq {x}{{{k}}}{{z}}, {a}";
    _mm512_maskz_cvtps_epi64(k: u8, kreg, a: __m256, ymm_reg) -> __m512i, zmm_reg, "avx512dq" = "vcvtps2qq {x}{{{k}}}{{z}}, {a}";
    _mm512_maskz_cvtpd_epi32(k: u8, kreg, a: __m512d, zmm_reg) -> __m256i, ymm_reg, "avx512f" = "vcvtpd2dq {x}{{{k}}}{{z}}, {a}";
    _mm512_maskz_cvtpd_epi64(k: u8, kreg, a: __m512d, zmm_reg) -> __m512i, zmm_reg, "avx512dq" = "vcvtpd2qq {x}{{{k}}}{{z}}, {a}";
    _mm512_cvtpd_ps(a: __m512d, zmm_reg) -> __m256, ymm_reg, "avx512f" = "vcvtpd2ps {x}, {a}";
    _mm512_cvtepi32_ps(a: __m512i, zmm_reg) -> __m512, zmm_reg, "avx512f" = "vcvtdq2ps {x}, {a}";
    _mm512_cvtepu32_ps(a: __m512i, zmm_reg) -> __m512, zmm_reg, "avx512f" = "vcvtudq2ps {x}, {a}";
    _mm512_cvtepi64_ps(a: __m512i, zmm_reg) -> __m256, ymm_reg, "avx512dq" = "vcvtqq2ps {x}, {a}";
    _mm512_cvtepu64_ps(a: __m512i, zmm_reg) -> __m256, ymm_reg, "avx512dq" = "vcvtuqq2ps {x}, {a}";
    _mm512_cvtepi64_pd(a: __m512i, zmm_reg) -> __m512d, zmm_reg, "avx512dq" = "vcvtqq2pd {x}, {a}";
    _mm512_cvtepu64_pd(a: __m512i, zmm_reg) -> __m512d, zmm_reg, "avx512dq" = "vcvtuqq2pd {x}, {a}";
    <const HOW> _mm512_cvtps_ph(a: __m512, zmm_reg) -> __m256i, ymm_reg, "avx512f" = "vcvtps2ph {x}, {a}, {how}";
}

#[cfg(test)]
mod tests;

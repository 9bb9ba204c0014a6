//! Packs with saturation as one instruction, for compilers that would make several (`build.rs`).
//!
//! The standard library of Rust 1.96 to 1.98 writes a pack as clamps and a narrowing shuffle, and LLVM does not always turn these back into the
//! instruction: kernels had both clamps before every pack. The compiler moves and merges pure assembly like other instructions. Other compilers
//! do without it, because assembly takes its operands only from registers and hides that they are integers.

use core::arch::asm;
#[cfg(target_arch = "x86")]
use core::arch::x86::{__m256i, __m512i};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__m256i, __m512i};

macro_rules! packs {
    ($($name:ident($vector:ty, $register:ident, $feature:literal) = $instruction:literal;)*) => {$(
        #[inline]
        #[target_feature(enable = $feature)]
        pub(super) fn $name(a: $vector, b: $vector) -> $vector {
            let packed;
            // SAFETY: an instruction between registers that the CPU has.
            unsafe {
                asm!(
                    concat!($instruction, " {packed}, {a}, {b}"),
                    packed = lateout($register) packed,
                    a = in($register) a,
                    b = in($register) b,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            packed
        }
    )*};
}

packs! {
    _mm256_packs_epi16(__m256i, ymm_reg, "avx2") = "vpacksswb";
    _mm256_packs_epi32(__m256i, ymm_reg, "avx2") = "vpackssdw";
    _mm256_packus_epi16(__m256i, ymm_reg, "avx2") = "vpackuswb";
    _mm256_packus_epi32(__m256i, ymm_reg, "avx2") = "vpackusdw";
    _mm512_packs_epi16(__m512i, zmm_reg, "avx512bw") = "vpacksswb";
    _mm512_packs_epi32(__m512i, zmm_reg, "avx512bw") = "vpackssdw";
    _mm512_packus_epi16(__m512i, zmm_reg, "avx512bw") = "vpackuswb";
    _mm512_packus_epi32(__m512i, zmm_reg, "avx512bw") = "vpackusdw";
}

//! The operations whose results depend on the rounding direction of the floating-point environment, as assembly.
//!
//! *Law.* While the environment rounds in a direction other than to nearest, a kernel contains no float operation that is known to the compiler
//! and whose result depends on the direction. The compiler assumes the default environment, so it may replace an intrinsic by the nearest
//! result.
//!
//! *Method.* Each function is one instruction, or one for each half of a register. The assembly is `pure`: its result depends on its operands
//! and on FPCR, and FPCR is constant while a kernel runs. So the compiler may merge, move and drop these operations inside a kernel. It cannot
//! move them out of a kernel, because it cannot follow the pointer through which the kernel is called (`fpenv`). The conversions of float16 and
//! bfloat16 are assembly as well because their intrinsics are younger than the oldest Rust that this crate supports.
//!
//! *Intrinsics that stay* have the same result in every direction, so it does not matter whether the compiler folds them:
//!
//! * integers, permutations, comparisons, minima, maxima, absolute values, negations;
//! * conversions that name their rounding: truncation, `fcvtxn` (to odd), `frinta` (ties away);
//! * conversions to a wider float, or of integers that the float holds;
//! * exact arithmetic: multiplication by a power of two without underflow, or the remainder of a sum that was rounded before. The direction
//!   affects only the sign of a difference that is zero, and no kernel uses that sign.

use super::simd::Neon;
use core::arch::{aarch64::*, asm};

type V = uint32x4_t;

/// Functions of registers that are one instruction.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*) = $text:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(self, $($arg: V),*) -> V {
            let x: V;
            // SAFETY: the token proves the instruction; it touches registers only.
            unsafe {
                asm!($text, x = lateout(vreg) x, $($arg = in(vreg) $arg,)* options(pure, nomem, nostack, preserves_flags));
            }
            x
        }
    )*};
}

pub(super) use instructions;

/// Functions that narrow two registers into one: an instruction for the low half, and one for the high half.
macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident = $low:literal, $high:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(self, low: V, high: V) -> V {
            let mut x: V;
            // SAFETY: the token proves the instructions; they touch registers only.
            unsafe {
                asm!($low, x = lateout(vreg) x, low = in(vreg) low, options(pure, nomem, nostack, preserves_flags));
                asm!($high, x = inout(vreg) x, high = in(vreg) high, options(pure, nomem, nostack, preserves_flags));
            }
            x
        }
    )*};
}

impl<const BF16: bool, const FP16: bool> Neon<BF16, FP16> {
    instructions! {
        /// Float32 of int32.
        f32_of_i32(a) = "scvtf {x:v}.4s, {a:v}.4s";
        /// Float32 of uint32.
        f32_of_u32(a) = "ucvtf {x:v}.4s, {a:v}.4s";
        /// Float64 of int64.
        f64_of_i64(a) = "scvtf {x:v}.2d, {a:v}.2d";
        /// Float64 of uint64.
        f64_of_u64(a) = "ucvtf {x:v}.2d, {a:v}.2d";
        /// Float32 as integral values.
        round_f32(a) = "frinti {x:v}.4s, {a:v}.4s";
        /// Float64 as integral values.
        round_f64(a) = "frinti {x:v}.2d, {a:v}.2d";
        /// `a + b` of float64.
        add_f64(a, b) = "fadd {x:v}.2d, {a:v}.2d, {b:v}.2d";
        /// Float16 of int16. The CPU has FEAT_FP16.
        f16_of_i16(a) = "scvtf {x:v}.8h, {a:v}.8h";
        /// Float16 of uint16. The CPU has FEAT_FP16.
        f16_of_u16(a) = "ucvtf {x:v}.8h, {a:v}.8h";
        /// Float32 of the float16 in the low half of a register.
        f32_of_low_f16(a) = "fcvtl {x:v}.4s, {a:v}.4h";
        /// Float32 of the float16 in the high half of a register.
        f32_of_high_f16(a) = "fcvtl2 {x:v}.4s, {a:v}.8h";
    }
    pairs! {
        /// Float32 of float64.
        f32_of_f64 = "fcvtn {x:v}.2s, {low:v}.2d", "fcvtn2 {x:v}.4s, {high:v}.2d";
        /// Float16 of float32.
        f16_of_f32 = "fcvtn {x:v}.4h, {low:v}.4s", "fcvtn2 {x:v}.8h, {high:v}.4s";
        /// Bfloat16 of float32. The CPU has FEAT_BF16.
        bf16_by_instruction = "bfcvtn {x:v}.4h, {low:v}.4s", "bfcvtn2 {x:v}.8h, {high:v}.4s";
    }

    /// `c + a * b` of float32, rounded once.
    #[inline(always)]
    pub(super) fn mul_add_f32(self, mut c: V, a: V, b: V) -> V {
        // SAFETY: the token proves the instruction; it touches registers only.
        unsafe {
            asm!("fmla {c:v}.4s, {a:v}.4s, {b:v}.4s", c = inout(vreg) c, a = in(vreg) a, b = in(vreg) b,
                options(pure, nomem, nostack, preserves_flags));
        }
        c
    }
}

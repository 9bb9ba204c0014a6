//! The operations whose results depend on the rounding direction of the floating-point environment, as assembly.
//!
//! *Law.* While a direction other than to nearest is set, a kernel contains no float operation known to the compiler whose result
//! depends on the direction. The compiler assumes the default environment, so it may replace an intrinsic by the nearest result.
//!
//! *Method.* Each function is one instruction, or a pair of them for the two halves of a register. The assembly is `pure`: its result
//! depends on its operands and on FPCR, and FPCR is constant while a kernel runs. So the compiler may merge, move and drop these
//! operations inside a kernel. It cannot move them out of one: it cannot follow the pointer through which a kernel is called
//! (`fpenv`). The conversions of float16 and its arithmetic, in `targets` and `halves`, are assembly as well.
//!
//! *Intrinsics that stay* have the same result in every direction, so it does not matter whether the compiler folds them:
//!
//! * integers, permutations, comparisons, minima, maxima, absolute values, negations;
//! * conversions that name their rounding: truncation, `fcvtxn` (to odd), `frinta` (ties away);
//! * conversions to a wider float, or of integers that the float holds;
//! * arithmetic that is exact: multiplication by a power of two without underflow, or the remainder of a sum that was rounded before.
//!   Only the sign of a difference that is zero depends on the direction, and no kernel uses that sign.

use super::*;

/// Functions of registers that are one instruction.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident),*): $register:ty = $text:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The CPU has the tier.
        #[inline(always)]
        pub(super) unsafe fn $name($($arg: $register),*) -> $register {
            let x: $register;
            // SAFETY: the CPU has the instruction, by the caller; it touches registers only.
            unsafe {
                asm!($text, x = lateout(vreg) x, $($arg = in(vreg) $arg,)* options(pure, nomem, nostack, preserves_flags));
            }
            x
        }
    )*};
}
instructions! {
    /// Float32 of int32.
    f32_of_i32_env(a): uint32x4_t = "scvtf {x:v}.4s, {a:v}.4s";
    /// Float32 of uint32.
    f32_of_u32_env(a): uint32x4_t = "ucvtf {x:v}.4s, {a:v}.4s";
    /// Float64 of int64.
    f64_of_i64_env(a): uint64x2_t = "scvtf {x:v}.2d, {a:v}.2d";
    /// Float64 of uint64.
    f64_of_u64_env(a): uint64x2_t = "ucvtf {x:v}.2d, {a:v}.2d";
    /// Float32 as integral values.
    round_f32_env(a): uint32x4_t = "frinti {x:v}.4s, {a:v}.4s";
    /// Float64 as integral values.
    round_f64_env(a): uint64x2_t = "frinti {x:v}.2d, {a:v}.2d";
    /// `a + b` of float64.
    add_f64_env(a, b): uint64x2_t = "fadd {x:v}.2d, {a:v}.2d, {b:v}.2d";
}

/// `a * b + c` of float32, rounded once.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
pub(super) unsafe fn fma_f32_env(a: uint32x4_t, b: uint32x4_t, mut c: uint32x4_t) -> uint32x4_t {
    // SAFETY: the CPU has the instruction, by the caller; it touches registers only.
    unsafe {
        asm!("fmla {c:v}.4s, {a:v}.4s, {b:v}.4s", c = inout(vreg) c, a = in(vreg) a, b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    c
}

/// Float32 of the float64 in two registers.
///
/// # Safety
///
/// The CPU has the tier.
#[inline(always)]
pub(super) unsafe fn f32_of_f64_env(low: uint64x2_t, high: uint64x2_t) -> uint32x4_t {
    let mut x: uint32x4_t;
    // SAFETY: the CPU has the instructions, by the caller; they touch registers only.
    unsafe {
        asm!("fcvtn {x:v}.2s, {low:v}.2d", x = lateout(vreg) x, low = in(vreg) low,
            options(pure, nomem, nostack, preserves_flags));
        asm!("fcvtn2 {x:v}.4s, {high:v}.2d", x = inout(vreg) x, high = in(vreg) high,
            options(pure, nomem, nostack, preserves_flags));
    }
    x
}

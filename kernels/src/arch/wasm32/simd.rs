//! The registers of WebAssembly: the operations of [`Simd`] and [`Blocks`].
//!
//! *Shuffles with constant lanes* move bytes: engines recognise those that interleave lanes or take every second lane. Narrowing instructions
//! saturate, and compilers replace them by sequences that they take for equal, lane by lane or wrongly
//! (<https://github.com/rust-lang/rust/issues/157456>). So kernels use them only for signed integers whose range the compiler does not know.

use crate::{
    format::data::Direction,
    vector::{Blocks, Simd, each},
};
use core::arch::wasm32::*;

/// The tier. All code of the target is compiled for it, so there is nothing to prove.
///
/// The target has no rounding direction of its own. Operations that obey a direction use the token's direction if the kernel is `DIRECTED`, and
/// round to nearest in all other kernels.
#[derive(Clone, Copy)]
pub(super) struct Wasm128<const DIRECTED: bool> {
    pub(super) direction: Direction,
}

/// Methods that map registers to a register. `$m` is the token.
macro_rules! operations {
    ($m:ident: $($name:ident $(<$(const $c:ident: $type:ty),+>)? ($($arg:ident),*) = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name $(<$(const $c: $type),+>)? (self, $($arg: v128),*) -> v128 {
            #[allow(unused_variables, reason = "most operations need nothing of the token")]
            let $m = self;
            $body
        }
    )*};
}
pub(super) use operations;

/// Shuffles of two registers by lanes.
macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident = $shuffle:ident $lanes:tt;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(super) fn $name(a: v128, b: v128) -> v128 {
            shuffles!(@ $shuffle $lanes, a, b)
        }
    )*};
    (@ $shuffle:ident [$($lane:literal)*], $a:ident, $b:ident) => { $shuffle::<$($lane),*>($a, $b) };
}
shuffles! {
    /// Keeps the even bytes of two registers.
    even_8 = i8x16_shuffle[0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30];
    /// Keeps the odd bytes of two registers.
    odd_8 = i8x16_shuffle[1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31];
    even_16 = i16x8_shuffle[0 2 4 6 8 10 12 14];
    odd_16 = i16x8_shuffle[1 3 5 7 9 11 13 15];
    even_32 = i32x4_shuffle[0 2 4 6];
    odd_32 = i32x4_shuffle[1 3 5 7];
    /// Keeps the low halves of two registers.
    even_64 = i64x2_shuffle[0 2];
    odd_64 = i64x2_shuffle[1 3];
    /// Interleaves the lanes of the low halves of two registers, or of the high halves.
    low_8 = i8x16_shuffle[0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23];
    high_8 = i8x16_shuffle[8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31];
    low_16 = i16x8_shuffle[0 8 1 9 2 10 3 11];
    high_16 = i16x8_shuffle[4 12 5 13 6 14 7 15];
    low_32 = i32x4_shuffle[0 4 1 5];
    high_32 = i32x4_shuffle[2 6 3 7];
    /// The lowest bytes of lanes of 32 bits, in both halves of the result.
    first_bytes = i8x16_shuffle[0 4 8 12 16 20 24 28 0 4 8 12 16 20 24 28];
    /// The highest bytes of lanes of 32 bits, in both halves of the result.
    last_bytes = i8x16_shuffle[3 7 11 15 19 23 27 31 3 7 11 15 19 23 27 31];
}

/// The lowest byte of every lane of 32 bits.
#[inline(always)]
pub(super) fn low_bytes([a, b, c, d]: [v128; 4]) -> v128 {
    even_64(first_bytes(a, b), first_bytes(c, d))
}

/// Whether a lane of 32 bits has a bit that is set.
#[inline(always)]
pub(super) fn any([a, b, c, d]: [v128; 4]) -> bool {
    v128_any_true(v128_or(v128_or(a, b), v128_or(c, d)))
}

/// Clamps int32 to the range of int16.
#[inline(always)]
pub(super) fn halves([a, b, c, d]: [v128; 4]) -> [v128; 2] {
    [i16x8_narrow_i32x4(a, b), i16x8_narrow_i32x4(c, d)]
}

/// Clamps int16 to the range of bytes.
#[inline(always)]
pub(super) fn bytes<const SIGNED: bool>(x: [v128; 2]) -> v128 {
    // The mean of a number with itself. If the compiler saw that they were narrowed before, it would clamp int32 by comparisons.
    let [a, b] = x.map(|x| u16x8_avgr(x, x));
    if SIGNED { i8x16_narrow_i16x8(a, b) } else { u8x16_narrow_i16x8(a, b) }
}

/// # Safety
///
/// A register can be read.
#[inline(always)]
pub(super) unsafe fn load(p: *const u8) -> v128 {
    // SAFETY: the caller grants the register; the instruction needs no alignment.
    unsafe { v128_load(p.cast()) }
}

/// # Safety
///
/// A register can be written.
#[inline(always)]
pub(super) unsafe fn store(p: *mut u8, x: v128) {
    // SAFETY: the caller grants the register; the instruction needs no alignment.
    unsafe { v128_store(p.cast(), x) }
}

impl<const DIRECTED: bool> Simd for Wasm128<DIRECTED> {
    type V = v128;

    operations! { m:
        and(a, b) = v128_and(a, b);
        or(a, b) = v128_or(a, b);
        xor(a, b) = v128_xor(a, b);
        add(a, b) = u32x4_add(a, b);
        sub(a, b) = u32x4_sub(a, b);
        shr<const BY: u32>(a) = u32x4_shr(a, BY);
        min_u(a, b) = u32x4_min(a, b);
        max_u(a, b) = u32x4_max(a, b);
        min_i(a, b) = i32x4_min(a, b);
        max_i(a, b) = i32x4_max(a, b);
        mul(a, b) = f32x4_mul(a, b);
        fma(a, b, c) = m.fused(a, b, c);
        fma_env(a, b, c) = m.mul_add_env(a, b, c);
        div(a, b) = f32x4_div(a, b);
        nudge(x, excess) = {
            let zero = f32x4_splat(0.0);
            // All ones are -1.
            u32x4_add(u32x4_sub(x, f32x4_lt(excess, zero)), f32x4_gt(excess, zero))
        };
        max_across<const K: u32>(a, b) = u32x4_max(even_32(a, b), odd_32(a, b));
        min_f(a, b) = f32x4_pmin(b, a);
        select_nan(x, yes, no) = v128_bitselect(no, yes, f32x4_eq(x, x));
        select_eq(a, b, yes, no) = v128_bitselect(yes, no, u32x4_eq(a, b));
        pack_high_halves(a, b) = odd_16(a, b);
        sign_nonzero(code, sign) = v128_or(code, v128_andnot(sign, u8x16_eq(code, u8x16_splat(0))));
        in_order<const APART: bool>(x) = x;
    }
    #[inline(always)]
    unsafe fn new_unchecked() -> Self {
        Self { direction: Direction::NearestEven }
    }
    #[inline(always)]
    fn splat(self, x: u32) -> v128 {
        u32x4_splat(x)
    }
    #[inline(always)]
    fn any_nan(self, x: [v128; 4]) -> bool {
        any(each!(x, |x| f32x4_ne(x, x)))
    }
    #[inline(always)]
    fn pack_low<const APART: bool>(self, x: [v128; 4]) -> v128 {
        low_bytes(x)
    }
    #[inline(always)]
    fn pack_counts<const APART: bool>(self, x: [v128; 4], mantissa: u32, field: u32) -> v128 {
        // The shifted exponent is added to the count.
        let sums = each!(x, |x| u32x4_add(x, u32x4_shr(x, 23 - mantissa)));
        u8x16_sub(low_bytes(sums), u8x16_splat((field << mantissa) as u8))
    }
    #[inline(always)]
    fn pack_sign<const APART: bool>(self, [a, b, c, d]: [v128; 4]) -> v128 {
        even_64(last_bytes(a, b), last_bytes(c, d))
    }
}

impl<const DIRECTED: bool> Blocks for Wasm128<DIRECTED> {
    const LANES: usize = 4;

    operations! { m:
        shl<const BY: u32>(a) = u32x4_shl(a, BY);
        // No kernel in blocks has a direction.
        round(x) = i32x4_trunc_sat_f32x4(f32x4_nearest(x));
        max_bytes(a, b) = i8x16_max(a, b);
    }
    #[inline(always)]
    fn pack_saturated<const APART: bool, const SIGNED: bool>(self, x: [v128; 4]) -> v128 {
        bytes::<SIGNED>(halves(x))
    }
    #[inline(always)]
    fn any_low_half(self, x: [v128; 4], low: v128) -> bool {
        let [a, b, c, d] = each!(x, |x| u16x8_eq(x, low));
        v128_any_true(v128_and(v128_or(v128_or(a, b), v128_or(c, d)), u32x4_splat(0xFFFF)))
    }

    #[inline(always)]
    unsafe fn load_32<const PART: bool>(self, p: *const u8, _: usize) -> [v128; 4] {
        // SAFETY: the caller's block is four registers.
        each!([0, 1, 2, 3], |k| unsafe { load(p.add(16 * k)) })
    }
    #[inline(always)]
    unsafe fn load_16<const PART: bool>(self, p: *const u8, _: usize) -> [v128; 2] {
        // SAFETY: the caller's block is two registers.
        unsafe { [load(p), load(p.add(16))] }
    }
    #[inline(always)]
    unsafe fn load_high_16<const PART: bool>(self, p: *const u8, n: usize) -> [v128; 4] {
        // SAFETY: the caller grants the block.
        let [a, b] = unsafe { self.load_16::<PART>(p, n) };
        let zero = u16x8_splat(0);
        [low_16(zero, a), high_16(zero, a), low_16(zero, b), high_16(zero, b)]
    }
    #[inline(always)]
    unsafe fn store_8<const PART: bool>(self, p: *mut u8, x: v128, _: usize) {
        // SAFETY: the caller's block is a register.
        unsafe { store(p, x) }
    }
    #[inline(always)]
    unsafe fn store_packed<const BITS: u32, const PART: bool>(self, p: *mut u8, x: v128, _: usize) {
        const { assert!(BITS == 4, "no scaled cast packs others") };
        let pairs = v128_or(x, u16x8_shr(x, 4));
        // SAFETY: the caller's block of half-bytes is half a register.
        unsafe { v128_store64_lane::<0>(even_8(pairs, pairs), p.cast()) }
    }
    #[inline(always)]
    unsafe fn store_16<const PART: bool>(self, p: *mut u8, x: [v128; 2], _: usize) {
        // SAFETY: the caller's block is two registers.
        unsafe {
            store(p, x[0]);
            store(p.add(16), x[1]);
        }
    }
    #[inline(always)]
    unsafe fn store_32<const PART: bool>(self, p: *mut u8, x: [v128; 4], _: usize) {
        // SAFETY: the caller's block is four registers.
        each!([0, 1, 2, 3], |k| unsafe { store(p.add(16 * k), x[k]) });
    }
}

//! Pairs with an integer or a 64-bit number on one side: the compiler's plain loops are slow for them.
//!
//! A kernel runs in units of 8 elements. A [`Source`] loads a unit into one of a few kinds of lanes: integers ([`ints`]) or floats ([`floats`]),
//! of 32 or of 64 bits. [`Lanes`] says how each kind becomes integers of any width or floats. A [`Target`] takes as many units as fill a
//! register and stores them. Packing instructions work within halves of a register, so the order is restored once, at the end.
//!
//! The elements after the whole blocks are cast by a block that overlaps the last one, or unit by unit if there is no whole block. Fewer than 8
//! elements go through the stack ([`few`]).

mod bools;
mod floats;
mod halves;
mod ints;
mod targets;
mod units;
mod words;

use super::simd::Avx2;
use crate::{
    arch::x86::intrinsics::*,
    dtype::{DType, Spec},
    exact::{Rounding, Rules},
    format::{
        data::{Data, Direction},
        *,
    },
    vector::{
        self, Simd,
        kernel::{KernelFn, Rounded},
        short::padded,
        style::{Away, Common, Directed, Mode, Odd, RoundingMode},
    },
};
use core::marker::PhantomData;
use floats::{F32, F64};
use half::{bf16, f16};
pub(super) use halves::to_bf16 as float16_to_bfloat16;
use ints::{I32, I64, U32, U64};
use num_complex::Complex;
use targets::{Int8, Int16, Int32, Int64, Real, Target};
use units::{Source, UNIT, even_32, even_64, few, in_order, load, load_16, load_pd, overlapping};

/// The kernel of a pair, if it is one of these.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    let to = D::DTYPE;
    let (from_bits, to_bits) = (S::DTYPE.size() * 8, to.size() * 8);
    let to_int = matches!(to.spec(), Spec::Int { .. });
    let narrowing = to_int && to_bits < from_bits;
    let to_float = matches!(to, DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128);
    match S::DTYPE {
        DType::Int64 | DType::UInt64 if matches!(to, DType::Bool) => Some(bools::run::<u64>),
        DType::Float64 if matches!(to, DType::Bool) => Some(bools::run::<f64>),
        DType::Complex64 if matches!(to, DType::Bool) => Some(bools::run::<Complex<f32>>),
        DType::Complex128 if matches!(to, DType::Bool) => Some(bools::run::<Complex<f64>>),
        // The compiler widens integers well.
        DType::Int16 if narrowing => words::kernel::<true>(to, saturate),
        DType::UInt16 if narrowing => words::kernel::<false>(to, saturate),
        DType::Int32 if narrowing => pick::<i32>(to, saturate),
        DType::UInt32 if narrowing => pick::<u32>(to, saturate),
        DType::Int64 if narrowing || to_float => pick::<i64>(to, saturate),
        DType::UInt64 if narrowing || to_float => pick::<u64>(to, saturate),
        // The kernels through float32 make targets of up to 8 bits; they have the same loads.
        DType::Float16 if to_bits > 8 => pick::<f16>(to, saturate),
        DType::BFloat16 if matches!(to, DType::Float64 | DType::Complex128) => pick::<Widened>(to, saturate),
        DType::BFloat16 if to_bits > 8 => pick::<bf16>(to, saturate),
        DType::Float32 if to_bits > 8 => pick::<f32>(to, saturate),
        DType::Float64 => pick::<f64>(to, saturate),
        DType::Complex64 if matches!(to, DType::Complex128) => Some(parts::<f32, Real<f64>, Common>),
        DType::Complex128 if matches!(to, DType::Complex64) => Some(parts::<f64, Real<f32>, Common>),
        DType::Complex64 if matches!(to, DType::Float32) => pick::<Complex<f32>>(to, saturate),
        DType::Complex128 if matches!(to, DType::Float64) => pick::<Complex<f64>>(to, saturate),
        _ => None,
    }
}

define_pick!();
define_rounded!(
    f16, f16, vector::to_bytes::<Avx2, f16>();
    bf16, bf16, vector::to_bytes::<Avx2, bf16>();
    f32, f32, vector::to_bytes::<Avx2, f32>();
    f64, f64, to_bytes::<f64>();
);

avx2_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<S: Source, D: Target, const SATURATE: bool, R: RoundingMode>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        let block = const { UNIT * D::UNITS };
        // SAFETY: blocks and units begin at elements and end at the last one or before.
        unsafe {
            let at = |i: usize| (src.add(i * S::SIZE), dst.add(i * D::SIZE));
            let do_block = |i: usize| {
                let (src, dst) = at(i);
                D::block::<S, SATURATE, R>(src, dst, data);
            };
            if R::MODE != Mode::Common {
                // Short casts under rare rules have no loop of their own: less machine code counts more than their speed.
                if n >= block {
                    overlapping(n, block, do_block);
                } else if n > 0 {
                    padded(Avx2::new_unchecked(), run::<S, D, SATURATE, R>, block, S::SIZE, D::SIZE, src, dst, n, data);
                }
            } else if S::LIGHT && n >= 2 * block {
                overlapping(n, 2 * block, |i| {
                    do_block(i);
                    do_block(i + block);
                });
            } else if n >= block {
                overlapping(n, block, do_block);
            } else if D::UNITS > 1 && n >= UNIT {
                overlapping(n, UNIT, |i| {
                    let (src, dst) = at(i);
                    D::unit::<S, SATURATE, R, false>(src, dst, UNIT, data);
                });
            } else {
                few(dst, D::SIZE, n, |stack| D::unit::<S, SATURATE, R, true>(src, stack, n, data));
            }
            // The compiler adds this where a register of 256 bits is written, but not where one is only read from memory, as by the conversion
            // of float64 to float32. Without it, a call took 110 ns rather than 5 ns on an Intel Xeon if the caller used instructions of SSE.
            _mm256_zeroupper();
        }
    }
}

avx2_fn! {
    /// Casts the parts of complex numbers as real numbers.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`] of the complex pair.
    unsafe fn parts<S: Source, D: Target, R: RoundingMode>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: `n` complex numbers are as many bytes as `2 * n` reals.
        unsafe { run::<S, D, true, R>(src, dst, 2 * n, data) }
    }
}

/// bfloat16 as float64: the elements are unpacked into two registers, and no register has to be split again.
struct Widened;

impl Source for Widened {
    const SIZE: usize = 2;
    type Lanes<R: RoundingMode> = F64<R>;
    #[inline(always)]
    unsafe fn load<R: RoundingMode, const PART: bool>(src: *const u8, n: usize) -> F64<R> {
        // SAFETY: the caller's promise.
        unsafe {
            let (zero, x) = (_mm_setzero_si128(), load_16::<PART>(src, n));
            let (low, high) = (_mm_unpacklo_epi16(zero, x), _mm_unpackhi_epi16(zero, x));
            F64(
                [_mm256_cvtps_pd(_mm_castsi128_ps(low)), _mm256_cvtps_pd(_mm_castsi128_ps(high))],
                PhantomData,
            )
        }
    }
}

impl Source for bf16 {
    const SIZE: usize = 2;
    type Lanes<R: RoundingMode> = F32<R>;
    #[inline(always)]
    unsafe fn load<R: RoundingMode, const PART: bool>(src: *const u8, n: usize) -> F32<R> {
        // SAFETY: the caller's promise.
        unsafe {
            let high = _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(load_16::<PART>(src, n)));
            F32(_mm256_castsi256_ps(high), PhantomData)
        }
    }
    #[inline(always)]
    unsafe fn load_four<R: RoundingMode>(src: *const u8) -> [F32<R>; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            // Moves the halves of a unit to where unpacking takes them from.
            let [x, y] =
                [in_order(load::<2, false>(src, 4 * UNIT, 0)), in_order(load::<2, false>(src, 4 * UNIT, 1))];
            let zero = _mm256_setzero_si256();
            [
                F32(_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, x)), PhantomData),
                F32(_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, x)), PhantomData),
                F32(_mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, y)), PhantomData),
                F32(_mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, y)), PhantomData),
            ]
        }
    }
}

macro_rules! sources {
    ($($type:ty => $lanes:ident $($light:ident)?, |$src:ident, $n:ident, $part:ident| $body:expr;)*) => {$(
        impl Source for $type {
            const SIZE: usize = size_of::<$type>();
            $(const $light: bool = true;)?
            type Lanes<R: RoundingMode> = $lanes<R>;
            #[inline(always)]
            unsafe fn load<R: RoundingMode, const $part: bool>($src: *const u8, $n: usize) -> $lanes<R> {
                // SAFETY: the caller's promise.
                $lanes(unsafe { $body }, PhantomData)
            }
        }
    )*};
}

sources! {
    i32 => I32 LIGHT, |src, n, PART| load::<4, PART>(src, n, 0);
    u32 => U32 LIGHT, |src, n, PART| load::<4, PART>(src, n, 0);
    i64 => I64 LIGHT, |src, n, PART| [load::<8, PART>(src, n, 0), load::<8, PART>(src, n, 1)];
    u64 => U64 LIGHT, |src, n, PART| [load::<8, PART>(src, n, 0), load::<8, PART>(src, n, 1)];
    f16 => F32, |src, n, PART| _mm256_cvtph_ps(load_16::<PART>(src, n));
    f32 => F32, |src, n, PART| _mm256_castsi256_ps(load::<4, PART>(src, n, 0));
    f64 => F64, |src, n, PART| [load_pd::<8, PART>(src, n, 0), load_pd::<8, PART>(src, n, 1)];
    Complex<f32> => F32 LIGHT, |src, n, PART| {
        _mm256_castsi256_ps(even_32(load::<8, PART>(src, n, 0), load::<8, PART>(src, n, 1)))
    };
    Complex<f64> => F64 LIGHT, |src, n, PART| [
        even_64(load_pd::<16, PART>(src, n, 0), load_pd::<16, PART>(src, n, 1)),
        even_64(load_pd::<16, PART>(src, n, 2), load_pd::<16, PART>(src, n, 3)),
    ];
}

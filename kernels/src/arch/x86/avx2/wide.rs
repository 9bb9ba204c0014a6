//! Pairs with an integer or a 64-bit number on one side: what the plain loops of the compiler do badly.
//!
//! A kernel goes in units of 8 elements. A [`Source`] loads them into lanes of one of few kinds: integers ([`ints`]) or floats
//! ([`floats`]), of 32 or of 64 bits. [`Lanes`] says how a kind becomes integers of any width or floats. A [`Target`] takes
//! as many units as fill a register and stores them. Instructions that pack work within halves of a register, so the
//! order is restored once, at the end.
//!
//! What is left behind the whole blocks is done by overlapping the last one, or unit by unit if there is no whole block. Fewer
//! than 8 elements take their way through the stack ([`few`]).

mod bools;
mod floats;
mod halves;
mod ints;
mod targets;
mod words;

use super::simd::Avx2;
use crate::arch::native::{env, intrinsics::*};
use crate::{
    data::{Data, Direction},
    dtype::{DType, Spec},
    exact::{Rounding, Rules},
    format::*,
    table::{KernelFn, Rounded},
    vector::{
        self, Simd,
        short::padded,
        style::{Away, Common, Directed, Mode, Odd, RoundingMode},
    },
};
use core::{marker::PhantomData, mem::MaybeUninit};
use floats::{F32, F64};
use half::{bf16, f16};
pub(super) use halves::to_bf16 as float16_to_bfloat16;
use ints::{I32, I64, U32, U64};
use num_complex::Complex;
use targets::{Int8, Int16, Int32, Int64, Real, Target, pack_8, pack_16, pack_words, store};

/// Elements of a unit.
const UNIT: usize = 8;

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
        // Up to 8 bits are made by the kernels through float32, which have the same loads.
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
                // Less machine code counts more than the short casts of rare rules.
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
            // The compiler does this where a register of 256 bits is written, but not where one is only read from memory, as by the conversion
            // of float64 to float32. Without it, calls took 110 ns in place of 5 on an Intel Xeon, where the caller has instructions of SSE.
            _mm256_zeroupper();
        }
    }
}

/// Calls `f` at all steps of `0..n`, and once more for the last `step` elements if the steps do not end there.
///
/// `n` is at least `step`.
#[inline(always)]
fn overlapping(n: usize, step: usize, mut f: impl FnMut(usize)) {
    let (mut i, mut end) = (0, n - n % step);
    // One place that calls the body, so that it is there once.
    loop {
        while i < end {
            f(i);
            i += step;
        }
        if end == n {
            return;
        }
        (i, end) = (n - step, n);
    }
}

/// Fewer elements than a unit: all is written to the stack, and what there is of it copied, in pieces of constant sizes.
///
/// # Safety
///
/// `n < UNIT` elements of `size` bytes can be written to `dst`; `unit` writes a unit.
#[inline(always)]
unsafe fn few(mut dst: *mut u8, size: usize, n: usize, unit: impl FnOnce(*mut u8)) {
    #[repr(align(32))]
    struct Stack([MaybeUninit<u8>; UNIT * 16]);
    let mut stack = Stack([const { MaybeUninit::uninit() }; UNIT * 16]);
    unit(stack.0.as_mut_ptr().cast());
    let mut written = stack.0.as_ptr().cast::<u8>();
    for piece in [4, 2, 1] {
        if n & piece != 0 {
            // SAFETY: the pieces add up to `n` elements, of which the stack has more.
            unsafe {
                dst.copy_from_nonoverlapping(written, piece * size);
                (written, dst) = (written.add(piece * size), dst.add(piece * size));
            }
        }
    }
}

avx2_fn! {
    /// The parts of complex numbers, as reals.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`] of the complex pair.
    unsafe fn parts<S: Source, D: Target, R: RoundingMode>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: `n` complex numbers are as many bytes as `2 * n` reals.
        unsafe { run::<S, D, true, R>(src, dst, 2 * n, data) }
    }
}

/// An element type on the source's side.
trait Source {
    /// Bytes of an element.
    const SIZE: usize;
    /// Whether there is so little to do that the loop itself counts.
    const LIGHT: bool = false;
    /// The lanes, to be rounded in a way.
    type Lanes<R: RoundingMode>: Lanes;
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be read, [`UNIT`] unless `PART`.
    unsafe fn load<R: RoundingMode, const PART: bool>(src: *const u8, n: usize) -> Self::Lanes<R>;
    /// Four units.
    ///
    /// # Safety
    ///
    /// The CPU has the tier. Four units can be read.
    #[inline(always)]
    unsafe fn load_four<R: RoundingMode>(src: *const u8) -> [Self::Lanes<R>; 4] {
        let unit = const { UNIT * Self::SIZE };
        // SAFETY: the caller's promise.
        unsafe {
            [
                Self::load::<R, false>(src, UNIT),
                Self::load::<R, false>(src.add(unit), UNIT),
                Self::load::<R, false>(src.add(2 * unit), UNIT),
                Self::load::<R, false>(src.add(3 * unit), UNIT),
            ]
        }
    }
}

/// What a kind of lanes becomes, as far as [`kernel`] asks it.
///
/// # Safety
///
/// Of every method: the CPU has the tier, and the floating-point environment is the one that the way of rounding asks for.
trait Lanes: Copy {
    /// Two units as integers of 16 bits, the low ones, or saturated.
    unsafe fn int16<const SATURATE: bool, const SIGNED: bool>(x: [Self; 2], data: &Data) -> __m256i;
    /// Four units as integers of up to 8 bits, the low ones, or saturated; to 8 unless `NARROW`.
    unsafe fn int8<const SATURATE: bool, const SIGNED: bool, const NARROW: bool>(
        x: [Self; 4],
        data: &Data,
    ) -> __m256i;
    /// The low 32 bits, or saturated.
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> __m256i {
        never::<Self, _>()
    }
    /// The low 64 bits, or saturated.
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const SIGNED: bool>(self, _: &Data) -> [__m256i; 2] {
        never::<Self, _>()
    }
    /// Float32.
    #[inline(always)]
    unsafe fn f32(self) -> __m256 {
        never::<Self, _>()
    }
    /// Float64.
    #[inline(always)]
    unsafe fn f64(self) -> [__m256d; 2] {
        never::<Self, _>()
    }
}

/// The body of a method that is not asked of a kind of lanes: using it does not compile.
fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "`kernel` asks for a pair that has no method") };
    unreachable!()
}

/// Register `k` of those that hold `n` elements of `SIZE` bytes, a multiple of 4.
#[inline(always)]
unsafe fn load<const SIZE: usize, const PART: bool>(p: *const u8, n: usize, k: usize) -> __m256i {
    // SAFETY: as of `Source::load`; the masks are 8 of the 16 lanes. A part may end before the register.
    unsafe {
        let p = p.wrapping_add(32 * k);
        if PART {
            let lanes = (n * (SIZE / 4)).saturating_sub(8 * k).min(8);
            let masks: &[i32; 16] = &[-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
            _mm256_maskload_epi32(p.cast(), _mm256_loadu_si256(masks.as_ptr().add(8 - lanes).cast()))
        } else {
            _mm256_loadu_si256(p.cast())
        }
    }
}

#[inline(always)]
unsafe fn load_pd<const SIZE: usize, const PART: bool>(p: *const u8, n: usize, k: usize) -> __m256d {
    // SAFETY: as of `Source::load`.
    unsafe { _mm256_castsi256_pd(load::<SIZE, PART>(p, n, k)) }
}

/// A unit of elements of 16 bits.
#[inline(always)]
unsafe fn load_16<const PART: bool>(p: *const u8, n: usize) -> __m128i {
    // SAFETY: as of `Source::load`; there are no masks for 16 bits, but the parts are all among the `n < 8` elements.
    unsafe {
        if !PART {
            return _mm_loadu_si128(p.cast());
        }
        let u64_at = |i: usize| p.add(2 * i).cast::<u64>().read_unaligned();
        let u32_at = |i: usize| p.add(2 * i).cast::<u32>().read_unaligned();
        let u16_at = |i: usize| p.add(2 * i).cast::<u16>().read_unaligned();
        let (low, high) = match n {
            0 => (0, 0),
            1 => (u16_at(0) as u64, 0),
            2 | 3 => (u32_at(0) as u64 | (u16_at(n - 1) as u64) << (16 * (n - 1)), 0),
            // The last four overlap the first.
            _ => (u64_at(0), (u64_at(n - 4) as u128 >> (16 * (8 - n))) as u64),
        };
        _mm_set_epi64x(high as i64, low as i64)
    }
}

/// bfloat16 as float64: unpacked into two registers, of which none has to be taken apart again.
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
            // The halves of a unit where unpacking takes them from.
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

/// The even lanes of 32 bits of two registers.
#[inline(always)]
unsafe fn even_32(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let even = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        in_order(_mm256_castps_si256(even))
    }
}

/// The order of what was packed in each half of a register, 64 bits from each of two registers.
#[inline(always)]
unsafe fn in_order(x: __m256i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(x) }
}

/// The order of bytes that were packed from eight registers of 64-bit lanes: pairs of elements, every other one in the other
/// half of the register.
#[inline(always)]
unsafe fn pairs_in_order(x: __m256i) -> __m256i {
    // SAFETY: as of the methods of `Lanes`.
    unsafe {
        let order = _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
        _mm256_shuffle_epi8(in_order(x), _mm256_broadcastsi128_si256(order))
    }
}

/// The even lanes of 64 bits of two registers.
#[inline(always)]
unsafe fn even_64(a: __m256d, b: __m256d) -> __m256d {
    // SAFETY: as of the methods of `Lanes`.
    unsafe { _mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_unpacklo_pd(a, b)) }
}

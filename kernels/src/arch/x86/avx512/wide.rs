//! Pairs with an integer or a 64-bit number on one side: the compiler's plain loops are slow for them.
//!
//! A kernel runs in steps of 16 elements. A [`Source`] loads a step into one of a few kinds of lanes ([`lanes`]): integers or floats, of 32 or
//! of 64 bits. [`Lanes`] says how each kind becomes integers of any width or floats, with one instruction or a few: AVX-512 converts between all
//! of them. A [`Target`] stores the result. The last, incomplete step masks its loads and stores.
//!
//! * *Saturating to a narrow integer* clamps only where the narrowing instructions do not saturate themselves. Codes of 2 and 4 bits are clamped
//!   again as bytes, because a register holds more bytes ([`sub_byte`] casts integers to them).
//! * *Wrapping from a float*: see [`lanes`].
//! * *Complex numbers* are moved: real parts are extracted, or zeros are added to them. Complex to complex is a cast of twice as many reals.

mod ints;
mod lanes;
mod narrow;
mod sub_byte;
mod targets;
mod units;

use super::families::Plain;
use crate::{
    arch::x86::intrinsics::*,
    dtype::{DType, Spec},
    exact::{Rounding, Rules},
    format::{
        data::{Data, Direction},
        *,
    },
    vector::{
        self,
        kernel::{KernelFn, Rounded},
        style::{Away, Common, Directed, Mode, Odd, RoundingMode},
    },
};
use core::marker::PhantomData;
use half::{bf16, f16};
use ints::{I32, I64, U32, U64};
use lanes::{F32, F64, Halves, Lanes};
use num_complex::Complex;
use targets::{Int8, Int16, Int32, Int64, Real, Target, Truth};
use units::{load_32, load_64, mask};

/// Elements of a step.
const STEP: usize = 16;

/// The kernel of a pair that `vector` covers too, if this kernel is faster.
pub(super) const fn preferred(from: DType, to: DType) -> Option<KernelFn> {
    match (from, to) {
        (DType::Float32, DType::Bool) => Some(run::<f32, Truth, true, Common>),
        _ => None,
    }
}

/// The kernel of a pair, if it is one of these.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    let to = D::DTYPE;
    let to_byte = to.size() == 1;
    // Targets with lanes of 64 bits.
    let to_wide = to.alignment() == 8;
    if let Some(kernel) = narrow::kernel(S::DTYPE, to, saturate) {
        return Some(kernel);
    }
    match S::DTYPE {
        // The instruction names its rounding and ignores the environment, so the environment need not be read.
        DType::Int32 if matches!(to, DType::Float32) => Some(run::<i32, Real<f32>, true, Common>),
        DType::UInt32 if matches!(to, DType::Float32) => Some(run::<u32, Real<f32>, true, Common>),
        DType::Int64 if matches!(to, DType::Float32) => Some(run::<i64, Real<f32>, true, Common>),
        DType::UInt64 if matches!(to, DType::Float32) => Some(run::<u64, Real<f32>, true, Common>),
        DType::Int64 if matches!(to, DType::Float64) => Some(run::<i64, Real<f64>, true, Common>),
        DType::UInt64 if matches!(to, DType::Float64) => Some(run::<u64, Real<f64>, true, Common>),
        // The compiler narrows integers well, but it would clamp to less than a byte before narrowing.
        DType::Int16 if saturate => sub_byte::kernel::<i16>(to),
        DType::UInt16 if saturate => sub_byte::kernel::<u16>(to),
        DType::Int32 if saturate => sub_byte::kernel::<i32>(to),
        DType::UInt32 if saturate => sub_byte::kernel::<u32>(to),
        DType::Int64 if saturate => sub_byte::kernel::<i64>(to),
        DType::UInt64 if saturate => sub_byte::kernel::<u64>(to),
        DType::Float16 if to_wide => pick::<Wide<f16>>(to, saturate),
        DType::BFloat16 if to_wide => pick::<Wide<bf16>>(to, saturate),
        DType::Float32 if to_wide => pick::<Wide<f32>>(to, saturate),
        DType::Complex64 if matches!(to, DType::Complex128) => Some(parts::<Wide<f32>, Real<f64>, Common>),
        // The kernels of `vector` make bytes from these.
        DType::Float16 if !to_byte => pick::<f16>(to, saturate),
        DType::BFloat16 if !to_byte => pick::<bf16>(to, saturate),
        DType::Float32 if !to_byte => pick::<f32>(to, saturate),
        DType::Complex64 if matches!(to, DType::Float32) => pick::<Complex<f32>>(to, saturate),
        DType::Complex128 if matches!(to, DType::Complex64) => Some(parts::<f64, Real<f32>, Common>),
        DType::Float64 if to_wide => pick::<f64>(to, saturate),
        DType::Float64 => pick::<f64>(to, saturate),
        DType::Complex128 if matches!(to, DType::Float64) => pick::<Complex<f64>>(to, saturate),
        _ => None,
    }
}

/// The kernel from `S` to one of the targets here.
const fn pick<S: Source>(to: DType, saturate: bool) -> Option<KernelFn> {
    let [wrap, clamp]: [KernelFn; 2] = match to {
        DType::Int2 | DType::Int4 => pair::<S, Int8<false, true>, Int8<true, true>>(),
        DType::UInt2 | DType::UInt4 => pair::<S, Int8<false, true>, Int8<false, true>>(),
        DType::Int8 => pair::<S, Int8<false, true>, Int8<true, false>>(),
        DType::UInt8 => pair::<S, Int8<false, true>, Int8<false, false>>(),
        DType::Int16 => pair::<S, Int16<false>, Int16<true>>(),
        DType::UInt16 => pair::<S, Int16<false>, Int16<false>>(),
        DType::Int32 => pair::<S, Int32<false>, Int32<true>>(),
        DType::UInt32 => pair::<S, Int32<false>, Int32<false>>(),
        DType::Int64 => pair::<S, Int64<false>, Int64<true>>(),
        DType::UInt64 => pair::<S, Int64<false>, Int64<false>>(),
        DType::Float32 => [run::<S, Real<f32>, true, Common>; 2],
        DType::Float64 => [run::<S, Real<f64>, true, Common>; 2],
        DType::Complex64 => [run::<S, Complex<f32>, true, Common>; 2],
        DType::Complex128 => [run::<S, Complex<f64>, true, Common>; 2],
        _ => return None,
    };
    Some(if saturate { clamp } else { wrap })
}

/// The kernels that wrap and that saturate.
const fn pair<S: Source, Wrap: Target, Clamp: Target>() -> [KernelFn; 2] {
    [run::<S, Wrap, false, Common>, run::<S, Clamp, true, Common>]
}

/// From a float to integers: `[8, 8 with ties away, 16, 32, 64 bits][wrapping, saturating to signed, to unsigned]`.
type ToIntegers = [[KernelFn; 3]; 5];

const fn overflows<S: Source, Signed: Target, Unsigned: Target>() -> [KernelFn; 3] {
    [
        run::<S, Unsigned, false, Directed>,
        run::<S, Signed, true, Directed>,
        run::<S, Unsigned, true, Directed>,
    ]
}

/// `bytes` are the kernels to integers of up to 8 bits, in the direction and with ties away; `Wide` loads the source into lanes that
/// become integers of 64 bits.
const fn to_integers<S: Source, Wide: Source>(bytes: [[KernelFn; 3]; 2]) -> ToIntegers {
    [
        bytes[0],
        bytes[1],
        overflows::<S, Int16<true>, Int16<false>>(),
        overflows::<S, Int32<true>, Int32<false>>(),
        overflows::<Wide, Int64<true>, Int64<false>>(),
    ]
}

/// From an integer or float to a float: `[directed, ties away, to odd]`.
const fn to_float<S: Source, D: Target>() -> [KernelFn; 3] {
    [run::<S, D, true, Directed>, run::<S, D, true, Away>, run::<S, D, true, Odd>]
}

/// The kernel of a pair of byte storage under rules that are not the common ones, if it is one of these.
pub(super) fn rounded(from: DType, to: DType, rules: &Rules) -> Option<Rounded> {
    static FROM_F16: ToIntegers = to_integers::<f16, Wide<f16>>(vector::to_bytes::<Plain, f16>());
    static FROM_BF16: ToIntegers = to_integers::<bf16, Wide<bf16>>(vector::to_bytes::<Plain, bf16>());
    static FROM_F32: ToIntegers = to_integers::<f32, Wide<f32>>(vector::to_bytes::<Plain, f32>());
    // One kernel to integers of up to 8 bits for all directions and ties.
    static FROM_F64: ToIntegers =
        to_integers::<f64, f64>([overflows::<f64, Int8<true, true>, Int8<false, true>>(); 2]);
    let direction = match rules.rounding {
        Rounding::NearestEven => Direction::NearestEven,
        Rounding::NearestAway if to.float_spec().is_some() && from.float_spec().is_some() => {
            Direction::NearestEven
        }
        Rounding::NearestAway | Rounding::TowardZero | Rounding::ToOdd => Direction::TowardZero,
        Rounding::Floor => Direction::Down,
        Rounding::Ceil => Direction::Up,
    };
    if let Spec::Int { bits, signed } = to.spec() {
        let kernels = match from {
            DType::Float16 => &FROM_F16,
            DType::BFloat16 => &FROM_BF16,
            DType::Float32 => &FROM_F32,
            DType::Float64 => &FROM_F64,
            _ => return None,
        };
        if rules.rounding == Rounding::ToOdd {
            return None;
        }
        let overflow = if rules.saturate { 2 - signed as usize } else { 0 };
        let width = match bits {
            ..=8 => (rules.rounding == Rounding::NearestAway) as usize,
            _ => (bits / 8).trailing_zeros() as usize + 1,
        };
        return Some(Rounded { run: kernels[width][overflow], direction, second: None });
    }
    let kernels = match (from, to) {
        (DType::Float64, DType::Float32) => to_float::<f64, Real<f32>>(),
        (DType::Float64, DType::Complex64) => to_float::<f64, Complex<f32>>(),
        (DType::Complex128, DType::Complex64) => [
            parts::<f64, Real<f32>, Directed> as KernelFn,
            parts::<f64, Real<f32>, Away>,
            parts::<f64, Real<f32>, Odd>,
        ],
        (DType::Int32, DType::Float32) => to_float::<i32, Real<f32>>(),
        (DType::Int32, DType::Complex64) => to_float::<i32, Complex<f32>>(),
        (DType::UInt32, DType::Float32) => to_float::<u32, Real<f32>>(),
        (DType::UInt32, DType::Complex64) => to_float::<u32, Complex<f32>>(),
        (DType::Int64, DType::Float32) => to_float::<i64, Real<f32>>(),
        (DType::Int64, DType::Complex64) => to_float::<i64, Complex<f32>>(),
        (DType::Int64, DType::Float64) => to_float::<i64, Real<f64>>(),
        (DType::Int64, DType::Complex128) => to_float::<i64, Complex<f64>>(),
        (DType::UInt64, DType::Float32) => to_float::<u64, Real<f32>>(),
        (DType::UInt64, DType::Complex64) => to_float::<u64, Complex<f32>>(),
        (DType::UInt64, DType::Float64) => to_float::<u64, Real<f64>>(),
        (DType::UInt64, DType::Complex128) => to_float::<u64, Complex<f64>>(),
        _ => return None,
    };
    let way = match rules.rounding {
        Rounding::NearestAway => 1,
        Rounding::ToOdd => 2,
        _ => 0,
    };
    Some(Rounded { run: kernels[way], direction, second: None })
}

avx512_fn! {
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<S: Source, D: Target, const SATURATE: bool, R: RoundingMode>(
        mut src: *const u8,
        mut dst: *mut u8,
        mut n: usize,
        data: &Data,
    ) {
        // SAFETY: the steps begin at elements and end with the last one.
        unsafe {
            // Rare rules have no unrolled loop: less machine code counts more than their speed.
            while R::MODE == Mode::Common && n >= 2 * STEP {
                let x = [S::load::<R, false>(src, STEP), S::load::<R, false>(src.add(STEP * S::SIZE), STEP)];
                D::store::<S::Lanes<R>, SATURATE, false>(dst, x[0], STEP, data);
                D::store::<S::Lanes<R>, SATURATE, false>(dst.add(STEP * D::SIZE), x[1], STEP, data);
                (src, dst, n) = (src.add(2 * STEP * S::SIZE), dst.add(2 * STEP * D::SIZE), n - 2 * STEP);
            }
            while n >= STEP {
                D::store::<S::Lanes<R>, SATURATE, false>(dst, S::load::<R, false>(src, STEP), STEP, data);
                (src, dst, n) = (src.add(STEP * S::SIZE), dst.add(STEP * D::SIZE), n - STEP);
                if R::MODE == Mode::Common {
                    break;
                }
            }
            if n > 0 {
                D::store::<S::Lanes<R>, SATURATE, true>(dst, S::load::<R, true>(src, n), n, data);
            }
        }
    }
}

avx512_fn! {
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

/// An element type on the source's side.
trait Source {
    /// Bytes of an element.
    const SIZE: usize;
    /// The lanes that the source is loaded into, for a rounding mode.
    type Lanes<R: RoundingMode>: Lanes;
    /// # Safety
    ///
    /// The CPU has the tier. `n` elements can be read, [`STEP`] unless `PART`.
    unsafe fn load<R: RoundingMode, const PART: bool>(src: *const u8, n: usize) -> Self::Lanes<R>;
}

/// Loads 16 elements of 16 bits.
#[inline(always)]
unsafe fn load_16<const PART: bool>(p: *const u8, n: usize) -> __m256i {
    // SAFETY: as for `Source::load`.
    unsafe {
        if PART { _mm256_maskz_loadu_epi16(mask(n, 0), p.cast()) } else { _mm256_loadu_si256(p.cast()) }
    }
}

/// Loads eight elements of 16 bits, from element `8 * k` on.
#[inline(always)]
unsafe fn load_8x16<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m128i {
    // SAFETY: as for `Source::load`.
    unsafe {
        let p = p.wrapping_add(16 * k);
        if PART { _mm_maskz_loadu_epi16(mask(n, 8 * k) as u8, p.cast()) } else { _mm_loadu_si128(p.cast()) }
    }
}

/// Loads eight elements of 32 bits, from element `8 * k` on.
#[inline(always)]
unsafe fn load_8x32<const PART: bool>(p: *const u8, n: usize, k: usize) -> __m256i {
    // SAFETY: as for `Source::load`.
    unsafe {
        let p = p.wrapping_add(32 * k);
        if PART {
            _mm256_maskz_loadu_epi32(mask(n, 8 * k) as u8, p.cast())
        } else {
            _mm256_loadu_si256(p.cast())
        }
    }
}

/// Eight bfloat16 as float32.
#[inline(always)]
unsafe fn widen_bf16(x: __m128i) -> __m256 {
    // SAFETY: as for `Source::load`.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(x))) }
}

/// A source whose lanes will be widened.
struct Wide<T>(PhantomData<T>);

macro_rules! sources {
    ($($type:ty, $size:literal => $lanes:ident($src:ident, $n:ident) $body:expr;)*) => {$(
        impl Source for $type {
            const SIZE: usize = $size;
            type Lanes<R: RoundingMode> = $lanes<R>;
            #[inline(always)]
            unsafe fn load<R: RoundingMode, const PART: bool>($src: *const u8, $n: usize) -> $lanes<R> {
                // SAFETY: the caller's promise.
                $lanes(unsafe { $body }, PhantomData)
            }
        }
    )*};
}

sources! {
    f16, 2 => F32(src, n) _mm512_cvtph_ps(load_16::<PART>(src, n));
    bf16, 2 => F32(src, n) {
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(load_16::<PART>(src, n))))
    };
    i32, 4 => I32(src, n) load_32::<PART>(src, n, 0);
    u32, 4 => U32(src, n) load_32::<PART>(src, n, 0);
    i64, 8 => I64(src, n) [load_64::<PART>(src, n, 0), load_64::<PART>(src, n, 1)];
    u64, 8 => U64(src, n) [load_64::<PART>(src, n, 0), load_64::<PART>(src, n, 1)];
    f32, 4 => F32(src, n) _mm512_castsi512_ps(load_32::<PART>(src, n, 0));
    Complex<f32>, 8 => F32(src, n) {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let [a, b] = [load_64::<PART>(src, n, 0), load_64::<PART>(src, n, 1)];
        _mm512_castsi512_ps(_mm512_permutex2var_epi32(a, even, b))
    };
    Wide<f16>, 2 => Halves(src, n) [
        _mm256_cvtph_ps(load_8x16::<PART>(src, n, 0)),
        _mm256_cvtph_ps(load_8x16::<PART>(src, n, 1)),
    ];
    Wide<bf16>, 2 => Halves(src, n) [
        widen_bf16(load_8x16::<PART>(src, n, 0)),
        widen_bf16(load_8x16::<PART>(src, n, 1)),
    ];
    Wide<f32>, 4 => Halves(src, n) [
        _mm256_castsi256_ps(load_8x32::<PART>(src, n, 0)),
        _mm256_castsi256_ps(load_8x32::<PART>(src, n, 1)),
    ];
    f64, 8 => F64(src, n) [
        _mm512_castsi512_pd(load_64::<PART>(src, n, 0)),
        _mm512_castsi512_pd(load_64::<PART>(src, n, 1)),
    ];
    Complex<f64>, 16 => F64(src, n) {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let part = |k| _mm512_castsi512_pd(load_64::<PART>(src, 2 * n, k));
        [_mm512_permutex2var_pd(part(0), even, part(1)), _mm512_permutex2var_pd(part(2), even, part(3))]
    };
}

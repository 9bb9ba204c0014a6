//! The tier `neon`: every pair is a [`Source`], which brings elements into [`Lanes`], and a [`Target`], which takes them from
//! there.
//!
//! A kernel goes in blocks of two units of 16 elements: four registers of 32-bit lanes, eight of 64 bits. Sources of a byte or
//! less are looked up ([`tables`]) or need no table ([`computed`]); the others are loaded as they are ([`sources`]). [`ints`]
//! and [`floats`] are the kinds of lanes: how they become integers of any width, floats, and truth values. Encoders of the small
//! floats are those of `vector`, and so are casts that scale, over [`blocks`] of four registers.

/// An expression of each of eight registers.
macro_rules! eight {
    ([$($element:expr),*], |$x:pat_param| $result:expr) => {
        each!([$($element),*], |$x| $result)
    };
    ($eight:expr, |$x:pat_param| $result:expr) => {{
        let [a, b, c, d, e, f, g, h] = $eight;
        each!([a, b, c, d, e, f, g, h], |$x| $result)
    }};
}

pub(in crate::arch) mod backend;
mod blocks;
mod computed;
mod floats;
mod halves;
mod integral;
mod ints;
mod lookup;
mod rounded;
mod scaled;
mod simd;
mod small;
mod sources;
mod tables;
mod targets;
mod widths;

use super::{fine, packing};
use crate::{
    arch::scalar,
    data::Data,
    dtype::{COUNT, DType, Spec},
    exact::Rules,
    format::*,
    storage::Encoding,
    table::{
        Entry, KernelFn, PACKED_FROM, PACKED_TO, PackedTable, Rounded, Table, define_packed_table,
        define_table, has_overflow_rule, same_bits, same_truth,
    },
    vector::{self, bytes, each, padded_bits},
};
use core::arch::{aarch64::*, asm};
use floats::{Doubles64, Singles};
use half::{bf16, f16};
use ints::{Ints8, Ints16, Ints32, Ints64};
use num_complex::Complex;
use simd::Neon;
use sources::{Either, Source};
use targets::{Byte, Small, Target};

/// Elements of a unit.
const UNIT: usize = 16;
/// Elements of a block.
const BLOCK: usize = 2 * UNIT;

/// A unit of elements of 8, 16, 32 or 64 bits.
type Bytes = uint8x16_t;
type Halves = [uint16x8_t; 2];
type Words = [uint32x4_t; 4];
type Doubles = [uint64x2_t; 8];

/// What a kind of lanes becomes, as far as the table asks it.
///
/// # Safety
///
/// Of every method: the CPU has the tier, and the floating-point environment is the default but for the direction of rounding.
/// What is called nearest here is rounded in that direction.
trait Lanes: Copy {
    /// Whether none is NaN.
    const INTEGERS: bool = false;
    /// Whether none is negative.
    const UNSIGNED: bool = false;
    /// The low bits of truncated numbers, or the nearest integers `TO` a type with a sign or without.
    #[inline(always)]
    unsafe fn int8<const SATURATE: bool, const TO: bool>(self) -> Bytes {
        never::<Self, _>()
    }
    #[inline(always)]
    unsafe fn int16<const SATURATE: bool, const TO: bool>(self) -> Halves {
        never::<Self, _>()
    }
    #[inline(always)]
    unsafe fn int32<const SATURATE: bool, const TO: bool>(self) -> Words {
        never::<Self, _>()
    }
    #[inline(always)]
    unsafe fn int64<const SATURATE: bool, const TO: bool>(self) -> Doubles {
        never::<Self, _>()
    }
    /// Float32, nearest.
    #[inline(always)]
    unsafe fn f32(self) -> Words {
        never::<Self, _>()
    }
    /// Float32 that narrower floats round as the numbers themselves; if not `ODD`, only those that have no more exponents than
    /// float16.
    #[inline(always)]
    unsafe fn f32_odd<const ODD: bool>(self) -> Words {
        never::<Self, _>()
    }
    /// The same with infinity for what is beyond the range of float32.
    #[inline(always)]
    unsafe fn f32_odd_or_infinite(self) -> Words {
        // SAFETY: the caller's promise.
        unsafe { self.f32_odd::<true>() }
    }
    /// Bytes of which the top bits are the signs, if they are had for less than those of float32.
    #[inline(always)]
    unsafe fn signs(self) -> Option<uint32x4_t> {
        None
    }
    /// Float64, nearest.
    #[inline(always)]
    unsafe fn f64(self) -> Doubles {
        never::<Self, _>()
    }
    /// Float64, by `small::AWAY` or `small::ODD`.
    #[inline(always)]
    unsafe fn f64_rounded<const MODE: u8>(self) -> Doubles {
        never::<Self, _>()
    }
    /// Float64 that float32 rounds as the numbers themselves.
    #[inline(always)]
    unsafe fn f64_odd(self) -> Doubles {
        never::<Self, _>()
    }
    /// Bfloat16, nearest.
    #[inline(always)]
    unsafe fn bf16<const FINE: u8>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { targets::bf16_of_singles::<FINE>(self.f32_odd::<true>()) }
    }
    /// Float16, nearest.
    #[inline(always)]
    unsafe fn f16<const FINE: u8>(self) -> Halves {
        // SAFETY: the caller's promise.
        unsafe { targets::f16_of_singles(self.f32_odd::<false>()) }
    }
    /// The float16 that they are.
    #[inline(always)]
    unsafe fn halves(self) -> Halves {
        never::<Self, _>()
    }
    /// 1 where a number is not zero.
    #[inline(always)]
    unsafe fn truth(self) -> Bytes {
        never::<Self, _>()
    }
    /// Results of a byte.
    #[inline(always)]
    unsafe fn found_8(self) -> Bytes {
        never::<Self, _>()
    }
    /// Results of two bytes.
    #[inline(always)]
    unsafe fn found_16(self) -> Halves {
        never::<Self, _>()
    }
}

/// The body of a method that is not asked of a kind of lanes: using it does not compile.
fn never<L, T>() -> T {
    const { assert!(size_of::<L>() == 0, "the table asks for a pair that has no method") };
    unreachable!()
}

/// 1 for bytes that are all ones.
#[inline(always)]
unsafe fn truths(x: Bytes) -> Bytes {
    // SAFETY: the CPU has the tier, by the caller.
    unsafe { vandq_u8(x, vdupq_n_u8(1)) }
}

/// The kernel of a pair, for one combination of finer features.
macro_rules! runs {
    ($($name:ident, $features:literal;)*) => {$(
        /// # Safety
        ///
        /// As [`KernelFn`], and the CPU has the finer features too.
        #[target_feature(enable = $features)]
        unsafe fn $name<S: Source, D: Target, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
            let (s, d) = const { (S::BITS, D::BITS) };
            // SAFETY: blocks begin at whole bytes and end at the last element or before.
            unsafe {
                let tables = S::tables(data);
                let (mut from, mut to) = (src, dst);
                let (mut blocks, mut rest) = (n / BLOCK, n % BLOCK);
                loop {
                    // One place that calls the body, so that it is there once.
                    for _ in 0..blocks {
                        let x = S::load(tables, [from, from.add(bytes(UNIT, s))]);
                        D::store::<S::Lanes, SATURATE>(x, [to, to.add(bytes(UNIT, d))], data);
                        (from, to) = (from.add(bytes(BLOCK, s)), to.add(bytes(BLOCK, d)));
                    }
                    if rest == 0 {
                        return;
                    }
                    if s < 8 || d < 8 || n < BLOCK {
                        return padded_bits::<Neon>($name::<S, D, SATURATE>, BLOCK, (s, d), from, to, rest, data);
                    }
                    // The last whole block once more, overlapping the one before.
                    (from, to) = (src.add(bytes(n - BLOCK, s)), dst.add(bytes(n - BLOCK, d)));
                    (blocks, rest) = (1, 0);
                }
            }
        }
    )*};
}
runs! {
    run, "neon";
    run_bf16, "neon,bf16";
    run_fp16, "neon,fp16";
}

/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: as the caller's.
    unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// A dtype to itself: the bits, unused ones cleared.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "neon")]
unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    use computed::{Limited, Masked};
    use targets::{Found, Int};
    // SAFETY: as the caller's; `n` elements are as many times their bytes.
    unsafe {
        if n * size_of::<S>() < BLOCK {
            return scalar::copy::<S>(src, dst, n, data);
        }
        match const { (<S as Element>::DTYPE, <S as Element>::DTYPE.bits()) } {
            (DType::Bool, _) => run::<Limited<bool, bool, true, 8>, Byte<Found, 8>, true>(src, dst, n, data),
            (_, 2) => run::<Masked<0x03, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 4) => run::<Masked<0x0F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            (_, 6) => run::<Masked<0x3F, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n, data),
            _ => run::<Masked<0xFF, 8>, Byte<Int<8, false>, 8>, false>(src, dst, n * size_of::<S>(), data),
        }
    }
}

/// The parts of complex numbers, as reals.
///
/// # Safety
///
/// As [`KernelFn`] of the complex pair.
#[target_feature(enable = "neon")]
unsafe fn parts<S: Source, D: Target>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: `n` complex numbers are as many bytes as `2 * n` reals.
    unsafe { run::<S, D, true>(src, dst, 2 * n, data) }
}

/// The kernel from lanes to any target.
const fn to<S: Source, D: Format, const FINE: u8, const PACKED: bool>(saturate: bool) -> KernelFn {
    use targets::{BF16, C64, C128, F16, F32, F64, Int, Int16, Int32, Int64};
    /// Codes of a byte or less.
    const fn byte<S: Source, C: targets::Codes, const PACKED: bool>(bits: u32, saturate: bool) -> KernelFn {
        match (bits, saturate) {
            (2, false) if PACKED => run::<S, Byte<C, 2>, false>,
            (2, true) if PACKED => run::<S, Byte<C, 2>, true>,
            (4, false) if PACKED => run::<S, Byte<C, 4>, false>,
            (4, true) if PACKED => run::<S, Byte<C, 4>, true>,
            (6, false) if PACKED => run::<S, Byte<C, 6>, false>,
            (6, true) if PACKED => run::<S, Byte<C, 6>, true>,
            (_, false) => run::<S, Byte<C, 8>, false>,
            (_, true) => run::<S, Byte<C, 8>, true>,
        }
    }
    /// Integers that wrap are the same bits whatever their sign.
    const fn int<S: Source, T: Target, W: Target>(saturate: bool) -> KernelFn {
        if saturate { run::<S, T, true> } else { run::<S, W, false> }
    }
    let saturate = saturate || !has_overflow_rule(D::DTYPE);
    match D::DTYPE {
        DType::Bool => byte::<S, targets::Truth, PACKED>(8, true),
        DType::Int2 if saturate => byte::<S, Int<2, true>, PACKED>(2, true),
        DType::Int4 if saturate => byte::<S, Int<4, true>, PACKED>(4, true),
        DType::Int8 if saturate => byte::<S, Int<8, true>, PACKED>(8, true),
        DType::Int2 | DType::UInt2 => byte::<S, Int<2, false>, PACKED>(2, saturate),
        DType::Int4 | DType::UInt4 => byte::<S, Int<4, false>, PACKED>(4, saturate),
        DType::Int8 | DType::UInt8 => byte::<S, Int<8, false>, PACKED>(8, saturate),
        DType::Int16 => int::<S, Int16<true>, Int16<false>>(saturate),
        DType::UInt16 => int::<S, Int16<false>, Int16<false>>(saturate),
        DType::Int32 => int::<S, Int32<true>, Int32<false>>(saturate),
        DType::UInt32 => int::<S, Int32<false>, Int32<false>>(saturate),
        DType::Int64 => int::<S, Int64<true>, Int64<false>>(saturate),
        DType::UInt64 => int::<S, Int64<false>, Int64<false>>(saturate),
        DType::Float16 if FINE & fine::FP16 != 0 => run_fp16::<S, F16<{ fine::FP16 }>, true>,
        DType::Float16 => run::<S, F16<0>, true>,
        DType::BFloat16 if FINE & fine::BF16 != 0 => run_bf16::<S, BF16<{ fine::BF16 }>, true>,
        DType::BFloat16 => run::<S, BF16<0>, true>,
        DType::Float32 => run::<S, F32, true>,
        DType::Float64 => run::<S, F64, true>,
        DType::Complex64 => run::<S, C64, true>,
        DType::Complex128 => run::<S, C128, true>,
        _ => byte::<S, Small<D>, PACKED>(D::DTYPE.bits(), saturate),
    }
}

/// The kernel from float16 in lanes of its own width, if there is one.
const fn of_half<D: Format, const FINE: u8, const PACKED: bool>(saturate: bool) -> Option<KernelFn> {
    use halves::{E5m2, Plain, SmallOfHalf};
    use targets::{Int, Int16};
    macro_rules! byte {
        ($codes:ty, $bits:literal) => {
            if PACKED {
                run_fp16::<Plain, Byte<$codes, $bits>, true>
            } else {
                run_fp16::<Plain, Byte<$codes, 8>, true>
            }
        };
    }
    Some(match D::DTYPE {
        DType::Float8E5M2 if saturate => run::<Plain, Byte<E5m2, 8>, true>,
        DType::Float8E5M2 => run::<Plain, Byte<E5m2, 8>, false>,
        _ if FINE & fine::FP16 == 0 => return None,
        DType::Float6E2M3FN | DType::Float6E3M2FN => byte!(SmallOfHalf<D>, 6),
        DType::Float4E2M1FN => byte!(SmallOfHalf<D>, 4),
        to if halves::is_for(to) && saturate => run_fp16::<Plain, Byte<SmallOfHalf<D>, 8>, true>,
        to if halves::is_for(to) => run_fp16::<Plain, Byte<SmallOfHalf<D>, 8>, false>,
        _ if !saturate => return None,
        DType::Int2 => byte!(Int<2, true>, 2),
        DType::UInt2 => byte!(Int<2, false>, 2),
        DType::Int4 => byte!(Int<4, true>, 4),
        DType::UInt4 => byte!(Int<4, false>, 4),
        DType::Int8 => byte!(Int<8, true>, 8),
        DType::UInt8 => byte!(Int<8, false>, 8),
        DType::Int16 => run_fp16::<Plain, Int16<true>, true>,
        DType::UInt16 => run_fp16::<Plain, Int16<false>, true>,
        _ => return None,
    })
}

const fn is_small_float(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Float(f) if f.bits() <= 8)
}

/// The kernel of a pair whose source has `BITS` bits in its storage, if that is less than a byte.
const fn pair<S: Format, D: Format, const FINE: u8, const BITS: usize, const PACKED: bool>(
    saturate: bool,
) -> KernelFn {
    match S::DTYPE {
        DType::Int16 => to::<i16, D, FINE, PACKED>(saturate),
        DType::UInt16 => to::<u16, D, FINE, PACKED>(saturate),
        DType::Int32 => to::<i32, D, FINE, PACKED>(saturate),
        DType::UInt32 => to::<u32, D, FINE, PACKED>(saturate),
        DType::Int64 => to::<i64, D, FINE, PACKED>(saturate),
        DType::UInt64 => to::<u64, D, FINE, PACKED>(saturate),
        DType::Float16 | DType::BFloat16 if matches!(D::DTYPE, DType::Bool) => {
            to::<halves::Magnitudes, D, FINE, PACKED>(saturate)
        }
        DType::Float16 => match of_half::<D, FINE, PACKED>(saturate) {
            Some(kernel) => kernel,
            None => to::<f16, D, FINE, PACKED>(saturate),
        },
        DType::BFloat16 if is_small_float(D::DTYPE) => to::<halves::Upper, D, FINE, PACKED>(saturate),
        DType::BFloat16 => to::<bf16, D, FINE, PACKED>(saturate),
        DType::Float32 => to::<f32, D, FINE, PACKED>(saturate),
        DType::Float64 => to::<f64, D, FINE, PACKED>(saturate),
        DType::Complex64 if matches!(D::DTYPE, DType::Complex128) => parts::<f32, targets::F64>,
        DType::Complex128 if matches!(D::DTYPE, DType::Complex64) => parts::<f64, targets::F32>,
        DType::Complex64 if matches!(D::DTYPE, DType::Bool) => to::<Either<f32>, D, FINE, PACKED>(saturate),
        DType::Complex128 if matches!(D::DTYPE, DType::Bool) => to::<Either<f64>, D, FINE, PACKED>(saturate),
        DType::Complex64 if matches!(D::DTYPE, DType::Float32) => run::<Complex<f32>, targets::F32, true>,
        DType::Complex128 if matches!(D::DTYPE, DType::Float64) => run::<Complex<f64>, targets::F64, true>,
        _ => tables::kernel::<S, D, FINE, BITS, PACKED>(saturate),
    }
}

const fn direct<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    Some(pair::<S, D, FINE, 8, false>(saturate))
}

/// The kernels of packed storage.
const fn packed<S: Format, D: Format, const FINE: u8, const SIDES: u8>(saturate: bool) -> Option<KernelFn> {
    const fn from<S: Format, D: Format, const FINE: u8, const PACKED: bool>(
        bits: u32,
        saturate: bool,
    ) -> KernelFn {
        match bits {
            2 => pair::<S, D, FINE, 2, PACKED>(saturate),
            4 => pair::<S, D, FINE, 4, PACKED>(saturate),
            6 => pair::<S, D, FINE, 6, PACKED>(saturate),
            _ => pair::<S, D, FINE, 8, PACKED>(saturate),
        }
    }
    let bits = if SIDES & PACKED_FROM != 0 { S::DTYPE.bits() } else { 8 };
    Some(if SIDES & PACKED_TO != 0 {
        from::<S, D, FINE, true>(bits, saturate)
    } else {
        from::<S, D, FINE, false>(bits, saturate)
    })
}

/// No source is apart.
const fn of_byte<S: Format, D: Format, const FINE: u8>(_: bool) -> Entry {
    panic!("every source has a row")
}

/// Every source has a row.
const APART: bool = false;
crate::dtype::for_each_dtype!(define_table);
crate::dtype::for_each_dtype!(define_packed_table);
/// The tables of the combinations of finer features, by their bits (`fine`).
pub(super) static TABLES: [Table; fine::COMBINATIONS] = fine::by_features!(|FINE| with_packed::<FINE>());
/// Those of packed storage: only FEAT_FP16 matters to them.
static PACKED: [PackedTable; 2] = [packed_table::<0>(), packed_table::<{ fine::FP16 }>()];

const fn with_packed<const FINE: u8>() -> Table {
    Table {
        packed: Some(&PACKED[(FINE & fine::FP16 != 0) as usize]),
        tabled: Some(rounded::tabled),
        ..table::<FINE>()
    }
}

pub(super) use rounded::rounded;
pub(in crate::arch) use scaled::decoder;

/// A function with the features of the tier.
macro_rules! neon_fn {
    ($($item:tt)*) => { #[target_feature(enable = "neon")] $($item)* };
}
crate::loss::define_loops!(may_lose, neon_fn);
crate::scaled::define_scaled!(neon_fn, Neon);
vector::scaled::define_fused!(neon_fn, Neon);

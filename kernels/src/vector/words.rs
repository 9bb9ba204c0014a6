//! float16 and bfloat16 to floats of 8, 6 and 4 bits in lanes of 16 bits: twice as many as through float32.
//!
//! Codes count units: a magnitude of the source less a constant is the code of the target, followed by the bits that are
//! dropped. So a normal result is a subtraction and a shift that rounds to nearest even. The shift is a multiplication by a
//! power of two that rounds half up (`mulhrs`), done twice, of `x` and of `x - 1`: the two differ only at a tie, and
//! `up & (down | !1)` is the even one of them. Of `x` twice, it is the one away from zero. Saturating subtraction, packing and a minimum bring what is too small to zero
//! and what is too large to the limit.
//!
//! A result that is subnormal drops more bits the smaller it is. The *fast* way counts codes from below all such values, so
//! that one comparison of a block finds them (`Words::band`). A block that has one goes the *general* way, with a power of
//! two for every element. NaN, where it is not the limit, is looked for too, and then selected in every lane. After a
//! block that was not fast those that follow go the same way without a question: a question whose answer varies costs more than the general way.
//!
//! float16 and the floats with 5 exponent bits share an exponent: all results are normal, or subnormal like their sources
//! ([`same_exponent`], [`upper_halves`]).

mod constants;
mod rounded;

pub(crate) use constants::{Shape, Words, shape};
pub(crate) use rounded::{is_rounded, run_rounded};

use super::{
    Casts, Loaded, padded_bits,
    small::{FloatFamily, FnuzNanApart, FourOrSixBits, NanApart},
    style::{self, Mode},
};
use crate::{
    data::Data,
    dtype::{DType, Flavor},
    format::typed,
    table::KernelFn,
};
use half::{bf16, f16};

/// Lanes of 16 bits: what the kernels here ask of a tier beyond [`Casts`]. Two registers are a block.
///
/// # Safety
///
/// As of [`Simd`](super::Simd).
pub(crate) trait Lanes16: Casts {
    fn splat_16(self, x: u16) -> Self::V;
    fn add_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned, at least 0.
    fn sub_saturating_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned.
    fn min_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned.
    fn max_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed.
    fn add_saturating_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// Signed, `a * b / 2^15`, rounded half up.
    fn mulhrs(self, a: Self::V, b: Self::V) -> Self::V;
    /// `up & (down | !1)`
    fn even(self, up: Self::V, down: Self::V) -> Self::V;
    /// `down | (up & 1)`
    fn odd(self, down: Self::V, up: Self::V) -> Self::V;
    /// What [`power`](Self::power) needs to know of a power of two, from `2^(14 - MANTISSA)` to 32 times as much.
    fn powers<const MANTISSA: u32>(self, power: u16) -> Self::V;
    /// `power / 2^(distance >> MANTISSA)`; maybe 0 if that is less than `2^(14 - MANTISSA)`.
    fn power<const MANTISSA: u32>(self, powers: Self::V, distance: Self::V) -> Self::V;
    /// `x > than ? yes : no` of lanes without a sign.
    fn select_above(self, x: Self::V, than: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether `x > than` in any lane; neither has a sign.
    fn any_above(self, x: Self::V, than: Self::V) -> bool;
    /// Lanes of two registers as bytes, saturated, in the order of registers apart.
    fn pack_unsigned(self, a: Self::V, b: Self::V) -> Self::V;
    /// All ones in lanes with a sign, else zero.
    fn signs_16(self, a: Self::V) -> Self::V;
    /// 8 bits down.
    fn shr_8_16(self, a: Self::V) -> Self::V;
    /// Fewer than 16 bits down.
    fn shr_16(self, a: Self::V, by: u32) -> Self::V;
    /// The upper bytes of the lanes, in order.
    fn upper_bytes(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned.
    fn min_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// Unsigned, at least 0.
    fn sub_saturating_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether any byte is from 1 to `to`.
    fn any_from_1(self, x: Self::V, to: u8) -> bool;
    /// Whether any byte is one of `count` from `first` on, or `any_above(abs, than)`: one question.
    fn any_from_or_above(self, x: Self::V, first: u8, count: u8, abs: Self::V, than: Self::V) -> bool;
    /// `a ^ (b & mask)`
    fn xor_masked(self, a: Self::V, b: Self::V, mask: Self::V) -> Self::V;
}

typed! {
    /// A [`Shape`] as a parameter of kernels.
    trait Pair { SHAPE: Shape }
    BFloat16ToNanLimit =
        Shape { mantissa: 7, fnuz: false, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    BFloat16ToNanApart =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    BFloat16ToFnuzNanLimit =
        Shape { mantissa: 7, fnuz: true, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    BFloat16ToFnuzNanApart =
        Shape { mantissa: 7, fnuz: true, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    BFloat16To6 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: false };
    BFloat16ToPacked6 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: true };
    BFloat16To4 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: false };
    BFloat16ToPacked4 =
        Shape { mantissa: 7, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: true };
    Float16ToNanLimit =
        Shape { mantissa: 10, fnuz: false, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    Float16ToNanApart =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    Float16ToFnuzNanLimit =
        Shape { mantissa: 10, fnuz: true, nan_apart: false, bits: 8, same_exponent: false, packed: false };
    Float16ToFnuzNanApart =
        Shape { mantissa: 10, fnuz: true, nan_apart: true, bits: 8, same_exponent: false, packed: false };
    Float16To6 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: false };
    Float16ToPacked6 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 6, same_exponent: false, packed: true };
    Float16To4 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: false };
    Float16ToPacked4 =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 4, same_exponent: false, packed: true };
    Float16To5Exponent =
        Shape { mantissa: 10, fnuz: false, nan_apart: true, bits: 8, same_exponent: true, packed: false };
    Float16To5ExponentFnuzNanLimit =
        Shape { mantissa: 10, fnuz: true, nan_apart: false, bits: 8, same_exponent: true, packed: false };
    Float16To5ExponentFnuzNanApart =
        Shape { mantissa: 10, fnuz: true, nan_apart: true, bits: 8, same_exponent: true, packed: false };
}

/// The magnitude of infinity in the source.
const fn infinity<P: Pair>() -> u16 {
    0x7FFF >> P::SHAPE.mantissa << P::SHAPE.mantissa
}

#[inline(always)]
fn magnitudes<M: Lanes16>(m: M, x: [M::V; 2]) -> [M::V; 2] {
    let mask = m.splat_16(0x7FFF);
    [m.and(x[0], mask), m.and(x[1], mask)]
}

/// `x` without the bits that `power` drops, to nearest: ties to even, or away from zero, as `w.other` says.
#[inline(always)]
fn rounded<M: Lanes16>(m: M, x: M::V, power: M::V, w: &Words) -> M::V {
    m.even(m.mulhrs(x, power), m.mulhrs(m.add_16(x, m.splat_16(w.other)), power))
}

/// Codes without signs, packed, counted from `w.zero`: right where they are not in the band, nor, if not `NAN`, the source is
/// NaN.
#[inline(always)]
fn counted<M: Lanes16, P: Pair, const NAN: bool>(m: M, abs: [M::V; 2], w: &Words) -> M::V {
    let (below, power) = (m.splat_16(w.below), m.splat_16(w.power));
    let mut codes = abs;
    for k in 0..2 {
        let limited = if NAN { m.min_16(abs[k], m.splat_16(w.limit)) } else { abs[k] };
        codes[k] = rounded::<M>(m, m.sub_saturating_16(limited, below), power, w);
        if NAN {
            let nan = m.splat_16(w.nan as u16 + w.zero as u16);
            codes[k] = m.select_above(abs[k], m.splat_16(w.number), nan, codes[k]);
        }
    }
    m.pack_unsigned(codes[0], codes[1])
}

/// Those codes counted from zero. Without `NAN` the limit is still to be kept: bytes are half as many.
#[inline(always)]
fn from_zero<M: Lanes16, const NAN: bool>(m: M, mut codes: M::V, w: &Words) -> M::V {
    if !NAN {
        codes = m.min_8(codes, m.splat(0x0101_0101 * (w.limit_code + w.zero) as u32));
    }
    m.sub_saturating_8(codes, m.splat(0x0101_0101 * w.zero as u32))
}

/// Codes without signs, packed.
#[inline(always)]
fn general<M: Lanes16, P: Pair>(m: M, abs: [M::V; 2], w: &Words) -> M::V {
    let exponents = m.splat_16(infinity::<P>());
    let mut codes = abs;
    for k in 0..2 {
        // How far below the smallest normal value; the value is moved up by as much, but for its mantissa.
        let distance = m.sub_saturating_16(m.splat_16(w.normal), m.and(abs[k], exponents));
        let power = match P::SHAPE.mantissa {
            7 => m.power::<7>(m.powers::<7>(w.power), distance),
            _ => m.power::<10>(m.powers::<10>(w.power), distance),
        };
        let limited = if P::SHAPE.nan_apart { m.min_16(abs[k], m.splat_16(w.limit)) } else { abs[k] };
        let value = m.add_16(m.add_16(limited, distance), m.splat_16(w.start));
        codes[k] = rounded::<M>(m, value, power, w);
        if P::SHAPE.nan_apart {
            codes[k] = m.select_above(abs[k], m.splat_16(w.number), m.splat_16(w.nan as u16), codes[k]);
        }
    }
    let codes = m.pack_unsigned(codes[0], codes[1]);
    if P::SHAPE.nan_apart { codes } else { m.min_8(codes, m.splat(0x0101_0101 * w.limit_code as u32)) }
}

/// Codes without signs, packed.
#[inline(always)]
fn same_exponent<M: Lanes16, P: Pair>(m: M, abs: [M::V; 2], w: &Words) -> M::V {
    let mut codes = abs;
    for k in 0..2 {
        let mut value = m.min_16(abs[k], m.splat_16(w.limit));
        if P::SHAPE.fnuz {
            // The bias is one more, and subnormal values are doubled instead.
            value = m.add_16(value, m.min_16(value, m.splat_16(w.normal)));
        }
        codes[k] = rounded::<M>(m, value, m.splat_16(w.power), w);
        if P::SHAPE.nan_apart {
            codes[k] = m.select_above(abs[k], m.splat_16(w.number), m.splat_16(w.nan as u16), codes[k]);
        }
    }
    m.pack_unsigned(codes[0], codes[1])
}

/// The upper halves of the lanes, rounded to nearest even, in order: codes of a float with the exponent of the source, of
/// what is neither NaN nor above the limit.
#[inline(always)]
fn upper_halves<M: Lanes16>(m: M, x: [M::V; 2]) -> M::V {
    let mut sums = x;
    for k in 0..2 {
        let last = m.and(m.shr_8_16(x[k]), m.splat_16(1));
        sums[k] = m.add_16(m.add_16(x[k], m.splat_16(0x7F)), last);
    }
    m.upper_bytes(sums[0], sums[1])
}

/// The codes with the signs of `x`, in order.
#[inline(always)]
fn signed<M: Lanes16, P: Pair>(m: M, codes: M::V, x: [M::V; 2]) -> M::V {
    let signs = m.pack_sign_16(x);
    let codes = if P::SHAPE.fnuz {
        m.sign_nonzero(codes, m.and(signs, m.splat(0x8080_8080)))
    } else {
        // A sign in place of a code is NaN in a format without one: a zero of the other sign.
        match P::SHAPE.bits {
            4 => m.xor_masked(codes, m.shr::<4>(signs), m.splat(0x0808_0808)),
            6 => m.xor_masked(codes, m.shr::<2>(signs), m.splat(0x2020_2020)),
            _ => m.xor_masked(codes, signs, m.splat(0x8080_8080)),
        }
    };
    m.in_order::<true>(codes)
}

/// # Safety
///
/// As of the methods of [`Casts`].
#[inline(always)]
unsafe fn store<M: Lanes16, P: Pair, const PART: bool>(m: M, dst: *mut u8, codes: M::V, n: usize) {
    // SAFETY: as the caller's.
    unsafe {
        match (P::SHAPE.packed, P::SHAPE.bits) {
            (true, 4) => m.store_packed::<4, PART>(dst, codes, n),
            (true, 6) => m.store_packed::<6, PART>(dst, codes, n),
            _ => m.store_8::<PART>(dst, codes, n),
        }
    }
}

/// Where a block from element `i` on is stored.
const fn place<P: Pair>(i: usize) -> usize {
    if P::SHAPE.packed { i / 8 * P::SHAPE.bits as usize } else { i }
}

/// Elements that go one way after a block that could not be fast.
const RUN: usize = 1024;

/// The kernel of a pair. `whole` is the function that this one is inlined into.
///
/// # Safety
///
/// As [`KernelFn`].
#[inline(always)]
pub(crate) unsafe fn run<M: Lanes16, P: Pair>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    whole: KernelFn,
) {
    let w = &data.float.words[(P::SHAPE.mantissa == 10) as usize];
    let mut i = 0;
    // SAFETY: every block begins at an element and ends at the last one or before, or is a part that ends there; `whole`
    // is a kernel of the same pair.
    unsafe {
        while P::SHAPE.same_exponent && n - i >= M::BLOCK {
            let mut end = i + RUN;
            if !P::SHAPE.fnuz {
                let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
                let abs = magnitudes::<M>(m, x);
                if !m.any_above(m.max_16(abs[0], abs[1]), m.splat_16(w.below)) {
                    store::<M, P, false>(m, dst.add(place::<P>(i)), upper_halves::<M>(m, x), M::BLOCK);
                    i += M::BLOCK;
                    continue;
                }
            } else {
                end = n;
            }
            while i < end && n - i >= M::BLOCK {
                let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
                let codes = signed::<M, P>(m, same_exponent::<M, P>(m, magnitudes::<M>(m, x), w), x);
                store::<M, P, false>(m, dst.add(place::<P>(i)), codes, M::BLOCK);
                i += M::BLOCK;
            }
        }
        while n - i >= M::BLOCK {
            let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
            let abs = magnitudes::<M>(m, x);
            let codes = counted::<M, P, false>(m, abs, w);
            let rare = if P::SHAPE.nan_apart {
                m.any_from_or_above(codes, 1, w.band, m.max_16(abs[0], abs[1]), m.splat_16(w.number))
            } else {
                m.any_from_1(codes, w.band)
            };
            if !rare {
                let codes = signed::<M, P>(m, from_zero::<M, false>(m, codes, w), x);
                store::<M, P, false>(m, dst.add(place::<P>(i)), codes, M::BLOCK);
                i += M::BLOCK;
                continue;
            }
            let left = n - i;
            let end = i + if left < RUN { left - left % M::BLOCK } else { RUN };
            let band = m.any_from_1(codes, w.band);
            while P::SHAPE.nan_apart && !band && i < end {
                let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
                let codes = counted::<M, P, true>(m, magnitudes::<M>(m, x), w);
                if m.any_from_1(codes, w.band) {
                    break;
                }
                let codes = signed::<M, P>(m, from_zero::<M, true>(m, codes, w), x);
                store::<M, P, false>(m, dst.add(place::<P>(i)), codes, M::BLOCK);
                i += M::BLOCK;
            }
            while i < end {
                let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
                let codes = signed::<M, P>(m, general::<M, P>(m, magnitudes::<M>(m, x), w), x);
                store::<M, P, false>(m, dst.add(place::<P>(i)), codes, M::BLOCK);
                i += M::BLOCK;
            }
        }
        if i == n {
            return;
        }
        if M::MASKED || (i > 0 && !P::SHAPE.packed) {
            let count = n - i;
            if !M::MASKED {
                i = n - M::BLOCK;
            }
            let x = m.load_16::<true>(src.add(2 * i), count);
            let abs = magnitudes::<M>(m, x);
            let codes = if P::SHAPE.same_exponent {
                same_exponent::<M, P>(m, abs, w)
            } else {
                general::<M, P>(m, abs, w)
            };
            store::<M, P, true>(m, dst.add(place::<P>(i)), signed::<M, P>(m, codes, x), count);
        } else {
            let bits = const { if P::SHAPE.packed { P::SHAPE.bits as usize } else { 8 } };
            let (src, dst) = (src.add(2 * i), dst.add(place::<P>(i)));
            padded_bits::<M>(m, whole, M::BLOCK, 16, bits, src, dst, n - i, data);
        }
    }
}

/// A tier with these kernels.
pub(crate) trait WordKernels {
    /// [`run`], compiled for the tier.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn run<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data);
    /// The same for the pair that gains by permutations of bytes.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`], and the CPU has these permutations.
    unsafe fn run_permuting<P: Pair>(src: *const u8, dst: *mut u8, n: usize, data: &Data);
    /// [`run_rounded`], compiled for the tier.
    ///
    /// # Safety
    ///
    /// As of [`run_rounded`].
    unsafe fn run_rounded<const FNUZ: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
        w: &Words,
        through_float32: fn(&Data) -> KernelFn,
    );
    /// The kernel through float32 to a family of small floats in a mode.
    fn small<S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn;
}

/// The kernel of a pair under the common rules, if it is one of these.
pub(crate) const fn kernel<W: WordKernels>(
    from: DType,
    to: DType,
    packed: bool,
    saturate: bool,
) -> Option<KernelFn> {
    let Some(shape) = shape(from, to, saturate) else { return None };
    let shape = Shape { packed, ..shape };
    let kernels: &[(Shape, KernelFn)] = const {
        &[
            (BFloat16ToNanLimit::SHAPE, W::run::<BFloat16ToNanLimit>),
            (BFloat16ToNanApart::SHAPE, W::run::<BFloat16ToNanApart>),
            (BFloat16ToFnuzNanLimit::SHAPE, W::run::<BFloat16ToFnuzNanLimit>),
            (BFloat16ToFnuzNanApart::SHAPE, W::run::<BFloat16ToFnuzNanApart>),
            (BFloat16To6::SHAPE, W::run::<BFloat16To6>),
            (BFloat16ToPacked6::SHAPE, W::run::<BFloat16ToPacked6>),
            (BFloat16To4::SHAPE, W::run::<BFloat16To4>),
            (BFloat16ToPacked4::SHAPE, W::run::<BFloat16ToPacked4>),
            (Float16ToNanLimit::SHAPE, W::run::<Float16ToNanLimit>),
            (Float16ToNanApart::SHAPE, W::run::<Float16ToNanApart>),
            (Float16ToFnuzNanLimit::SHAPE, W::run::<Float16ToFnuzNanLimit>),
            (Float16ToFnuzNanApart::SHAPE, W::run::<Float16ToFnuzNanApart>),
            (Float16To6::SHAPE, W::run::<Float16To6>),
            (Float16ToPacked6::SHAPE, W::run::<Float16ToPacked6>),
            (Float16To4::SHAPE, W::run::<Float16To4>),
            (Float16ToPacked4::SHAPE, W::run::<Float16ToPacked4>),
            (Float16To5Exponent::SHAPE, W::run_permuting::<Float16To5Exponent>),
            (Float16To5ExponentFnuzNanLimit::SHAPE, W::run::<Float16To5ExponentFnuzNanLimit>),
            (Float16To5ExponentFnuzNanApart::SHAPE, W::run::<Float16To5ExponentFnuzNanApart>),
        ]
    };
    let mut i = 0;
    while i < kernels.len() {
        if kernels[i].0.is(&shape) {
            return Some(kernels[i].1);
        }
        i += 1;
    }
    None
}

/// The kernel of a pair in byte storage under a rounding other than to nearest even, if it has one here.
pub(crate) fn rounded_kernel<W: WordKernels>(from: DType, to: DType) -> Option<KernelFn> {
    /// The kernel from float16 (`HALF`) or bfloat16 to targets with or without a negative zero.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`].
    unsafe fn from_words<W: WordKernels, const HALF: bool, const FNUZ: bool>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        data: &Data,
    ) {
        fn through_float32<W: WordKernels, S: Loaded, const FNUZ: bool>(data: &Data) -> KernelFn {
            let (mode, _) = style::mode(data.to, &data.rules);
            if FNUZ {
                W::small::<S, FnuzNanApart>(mode)
            } else if data.to.bits() == 8 {
                W::small::<S, NanApart>(mode)
            } else {
                W::small::<S, FourOrSixBits>(mode)
            }
        }
        let through_float32 =
            if HALF { through_float32::<W, f16, FNUZ> } else { through_float32::<W, bf16, FNUZ> };
        // SAFETY: as the caller's.
        unsafe {
            W::run_rounded::<FNUZ>(src, dst, n, data, &data.float.words[HALF as usize], through_float32)
        }
    }
    let fnuz = matches!(to.float_spec()?.flavor, Flavor::Fnuz);
    if !is_rounded(from, to) {
        return None;
    }
    Some(match (from, fnuz) {
        (DType::Float16, false) => from_words::<W, true, false>,
        (DType::Float16, true) => from_words::<W, true, true>,
        (_, false) => from_words::<W, false, false>,
        (_, true) => from_words::<W, false, true>,
    })
}

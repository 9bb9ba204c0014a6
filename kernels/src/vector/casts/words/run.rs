//! Casts float16 and bfloat16 to floats of 8, 6 and 4 bits in lanes of 16 bits: twice as many lanes as through float32.
//!
//! Codes count units: a magnitude of the source minus a constant is the code of the target, followed by the bits to be dropped. So a normal result
//! takes a subtraction and a shift that rounds to nearest even. The shift is a multiplication by a power of two that rounds half up (`mulhrs`). It
//! runs twice, for `x` and for `x - 1`: the two results differ only at a tie, and `up & (down | !1)` selects the even one. Running it twice for
//! `x` rounds ties away from zero. Saturating subtraction turns values that are too small into zero; packing and a minimum turn values that are
//! too large into the limit.
//!
//! A subnormal result drops more bits the smaller it is. The *fast* path counts codes from below all such values, so that one comparison per block
//! finds them (`Words::band`). A block that contains one takes the *general* path, with a power of two for every element. NaN, unless it has the
//! code of the limit, is also tested for, and then selected in every lane. After a block that was not fast, the following blocks take the general
//! path without a test: a test with a varying result costs more than the general path.
//!
//! float16 and the floats with 5 exponent bits share an exponent: all results are normal, or subnormal like their sources ([`same_exponent`],
//! [`upper_halves`]).

use super::pairs::Pair;
use crate::{
    format::{data::Data, words::Words},
    vector::{Casts, kernel::KernelFn, padded_bits},
};

/// Operations on lanes of 16 bits that these kernels require of a tier in addition to [`Casts`]. Two registers are a block.
///
/// # Safety
///
/// As for [`Simd`](super::Simd).
pub(crate) trait Lanes16: Casts {
    fn splat_16(self, x: u16) -> Self::V;
    fn add_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned difference, at least 0.
    fn sub_saturating_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned minimum.
    fn min_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned maximum.
    fn max_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// The signed sum, saturated.
    fn add_saturating_16(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b / 2^15` of signed lanes, rounded half up.
    fn mulhrs(self, a: Self::V, b: Self::V) -> Self::V;
    /// `up & (down | !1)`
    fn even(self, up: Self::V, down: Self::V) -> Self::V;
    /// `down | (up & 1)`
    fn odd(self, down: Self::V, up: Self::V) -> Self::V;
    /// Prepares [`power`](Self::power) for powers of two from `2^(14 - MANTISSA)` to 32 times that.
    fn powers<const MANTISSA: u32>(self, power: u16) -> Self::V;
    /// `power / 2^(distance >> MANTISSA)`; it may be 0 if that is less than `2^(14 - MANTISSA)`.
    fn power<const MANTISSA: u32>(self, powers: Self::V, distance: Self::V) -> Self::V;
    /// `x > than ? yes : no` for unsigned lanes.
    fn select_above(self, x: Self::V, than: Self::V, yes: Self::V, no: Self::V) -> Self::V;
    /// Whether `x > than` in any lane, unsigned.
    fn any_above(self, x: Self::V, than: Self::V) -> bool;
    /// Packs the lanes of two registers to bytes, saturated, in the order of lane-split registers.
    fn pack_unsigned(self, a: Self::V, b: Self::V) -> Self::V;
    /// All ones in lanes whose top bit is set, else zero.
    fn signs_16(self, a: Self::V) -> Self::V;
    /// Shifts right by 8 bits.
    fn shr_8_16(self, a: Self::V) -> Self::V;
    /// Shifts right by fewer than 16 bits.
    fn shr_16(self, a: Self::V, by: u32) -> Self::V;
    /// Packs the upper bytes of the lanes, in order.
    fn upper_bytes(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned minimum.
    fn min_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// The unsigned difference, at least 0.
    fn sub_saturating_8(self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether any byte is from 1 to `to`.
    fn any_from_1(self, x: Self::V, to: u8) -> bool;
    /// Whether any byte is one of `count` from `first` on, or `any_above(abs, than)` holds: a single test.
    fn any_from_or_above(self, x: Self::V, first: u8, count: u8, abs: Self::V, than: Self::V) -> bool;
    /// `a ^ (b & mask)`
    fn xor_masked(self, a: Self::V, b: Self::V, mask: Self::V) -> Self::V;
}

/// The magnitude of infinity in the source.
const fn infinity<P: Pair>() -> u16 {
    0x7FFF >> P::SHAPE.mantissa << P::SHAPE.mantissa
}

#[inline(always)]
pub(super) fn magnitudes<M: Lanes16>(m: M, x: [M::V; 2]) -> [M::V; 2] {
    let mask = m.splat_16(0x7FFF);
    [m.and(x[0], mask), m.and(x[1], mask)]
}

/// Rounds `x` at the bits that `power` drops, to nearest: ties to even or away from zero, as `w.other` says.
#[inline(always)]
fn rounded<M: Lanes16>(m: M, x: M::V, power: M::V, w: &Words) -> M::V {
    m.even(m.mulhrs(x, power), m.mulhrs(m.add_16(x, m.splat_16(w.other)), power))
}

/// Codes without signs, packed, counted from `w.zero`. They are right unless they are in the band or, unless `NAN`, the source is NaN.
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

/// The same codes counted from zero. Without `NAN` this applies the limit, because bytes take half as many registers.
#[inline(always)]
fn from_zero<M: Lanes16, const NAN: bool>(m: M, mut codes: M::V, w: &Words) -> M::V {
    if !NAN {
        codes = m.min_8(codes, m.splat(0x0101_0101 * (w.limit_code + w.zero) as u32));
    }
    m.sub_saturating_8(codes, m.splat(0x0101_0101 * w.zero as u32))
}

/// The general path: codes without signs, packed.
#[inline(always)]
fn general<M: Lanes16, P: Pair>(m: M, abs: [M::V; 2], w: &Words) -> M::V {
    let exponents = m.splat_16(infinity::<P>());
    let mut codes = abs;
    for k in 0..2 {
        // The distance below the smallest normal value. The value is raised by that distance, except for its mantissa.
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

/// Codes without signs, packed, of a target with the exponent of the source.
#[inline(always)]
fn same_exponent<M: Lanes16, P: Pair>(m: M, abs: [M::V; 2], w: &Words) -> M::V {
    let mut codes = abs;
    for k in 0..2 {
        let mut value = m.min_16(abs[k], m.splat_16(w.limit));
        if P::SHAPE.fnuz {
            // The bias is larger by one, so subnormal values are doubled.
            value = m.add_16(value, m.min_16(value, m.splat_16(w.normal)));
        }
        codes[k] = rounded::<M>(m, value, m.splat_16(w.power), w);
        if P::SHAPE.nan_apart {
            codes[k] = m.select_above(abs[k], m.splat_16(w.number), m.splat_16(w.nan as u16), codes[k]);
        }
    }
    m.pack_unsigned(codes[0], codes[1])
}

/// The upper halves of the lanes, rounded to nearest even, in order: the codes of a float with the exponent of the source, for values that are
/// neither NaN nor above the limit.
#[inline(always)]
fn upper_halves<M: Lanes16>(m: M, x: [M::V; 2]) -> M::V {
    let mut sums = x;
    for k in 0..2 {
        let last = m.and(m.shr_8_16(x[k]), m.splat_16(1));
        sums[k] = m.add_16(m.add_16(x[k], m.splat_16(0x7F)), last);
    }
    m.upper_bytes(sums[0], sums[1])
}

/// Adds the signs of `x` to the codes, in order.
#[inline(always)]
fn signed<M: Lanes16, P: Pair>(m: M, codes: M::V, x: [M::V; 2]) -> M::V {
    let signs = m.pack_sign_16(x);
    let codes = if P::SHAPE.fnuz {
        m.sign_nonzero(codes, m.and(signs, m.splat(0x8080_8080)))
    } else {
        // In a format without NaN, the code of NaN is a sign bit, which the xor turns into a zero of the other sign.
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
/// As for the methods of [`Casts`].
#[inline(always)]
unsafe fn store<M: Lanes16, P: Pair, const PART: bool>(m: M, dst: *mut u8, codes: M::V, n: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match (P::SHAPE.packed, P::SHAPE.bits) {
            (true, 4) => m.store_packed::<4, PART>(dst, codes, n),
            (true, 6) => m.store_packed::<6, PART>(dst, codes, n),
            _ => m.store_8::<PART>(dst, codes, n),
        }
    }
}

/// The byte offset at which a block that begins at element `i` is stored.
const fn place<P: Pair>(i: usize) -> usize {
    if P::SHAPE.packed { i / 8 * P::SHAPE.bits as usize } else { i }
}

/// The number of elements that take the general path after a block that was not fast.
pub(super) const RUN: usize = 1024;

/// The kernel of a pair. `whole` is the function into which this one is inlined.
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
    // SAFETY: every block begins at an element and ends at the last element or before, or is a part that ends there; `whole` is a kernel of the
    // same pair.
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

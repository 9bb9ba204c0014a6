//! Kernels under roundings other than to nearest even: this module casts blocks of normal results; all other blocks go through float32.
//!
//! `mulhrs` rounds half up. Adding a number first, which depends on the sign of the element, turns that into any other direction. Rounding to odd
//! takes the odd one of the two neighbours.

use super::run::{Lanes16, RUN, magnitudes};
use crate::format::words::Words;
use crate::{dtype::DType, exact::Rounding, format::data::Data, vector::kernel::KernelFn};

/// How bits are dropped, and which codes, counted from `zero`, send their block through float32.
#[derive(Clone, Copy)]
struct Rounder {
    /// The number that is added to the magnitudes of positive elements.
    addend: u16,
    /// `addend` is xored with this for negative elements.
    negative: u16,
    /// The number that is added as well to find the upper neighbour, for rounding to odd; otherwise 0.
    upper: u16,
    /// The magnitude whose code is 0.
    below: u16,
    /// The code of zero.
    zero: u8,
    /// `count` codes from `first` on belong to subnormal results.
    first: u8,
    count: u8,
}

impl Rounder {
    #[inline(always)]
    fn new(data: &Data, w: &Words) -> Rounder {
        let dropped = 15 - w.power.trailing_zeros();
        let half = 1_u16 << (dropped - 1);
        // The increments are for 16 dropped bits.
        let [positive, negative] =
            data.rounding.dropping_16.map(|x| ((x >> (16 - dropped)) as u16).wrapping_sub(half));
        let rounder = Rounder {
            addend: positive,
            negative: positive ^ negative,
            upper: if matches!(data.rules.rounding, Rounding::ToOdd) { 2 * half - 1 } else { 0 },
            below: w.below,
            zero: w.zero,
            first: 1,
            count: w.band,
        };
        if w.start == 0 {
            // The target has the exponent of the source, so subnormal results come only from subnormal elements.
            return Rounder { below: 0, zero: 0, count: 0, ..rounder };
        }
        match data.rules.rounding {
            Rounding::TowardZero | Rounding::NearestAway => rounder,
            // These directions do not round the smallest values to zero, so a code of zero may be wrong.
            _ => Rounder { first: 0, count: w.band + 1, ..rounder },
        }
    }
}

/// Whether this module has a kernel for the pair: from 16-bit floats to floats of up to 8 bits, except targets whose exponent has the same number
/// of bits as the source's but a different bias.
pub(crate) const fn is_rounded(from: DType, to: DType) -> bool {
    match crate::format::words::shape(from, to, true) {
        Some(shape) => !(shape.same_exponent && shape.fnuz),
        None => false,
    }
}

/// A kernel to byte storage under a rounding other than to nearest even. `through_float32` finds the kernel for all blocks except blocks of normal
/// results.
///
/// # Safety
///
/// As [`KernelFn`], and the kernel found is one of the same pair.
#[inline(always)]
pub(crate) unsafe fn run_rounded<M: Lanes16, const FNUZ: bool>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    w: &Words,
    through_float32: fn(&Data) -> KernelFn,
) {
    let r = Rounder::new(data, w);
    let sign = data.float.code.sign;
    let mut i = 0;
    // SAFETY: the caller's promise is the same: blocks and runs begin at an element and end at the last element or before.
    unsafe {
        let all = |byte: u8| m.splat(0x0101_0101 * byte as u32);
        while i < n {
            while n - i >= M::BLOCK {
                let x = m.load_16::<false>(src.add(2 * i), M::BLOCK);
                let abs = magnitudes::<M>(m, x);
                let mut codes = abs;
                for k in 0..2 {
                    let value = m.sub_saturating_16(abs[k], m.splat_16(r.below));
                    let (addend, negative) = (m.splat_16(r.addend), m.splat_16(r.negative));
                    let value = m.add_saturating_16(value, m.xor_masked(addend, m.signs_16(x[k]), negative));
                    let power = m.splat_16(w.power);
                    let upper = m.mulhrs(m.add_saturating_16(value, m.splat_16(r.upper)), power);
                    codes[k] = m.odd(m.mulhrs(value, power), upper);
                }
                let codes = m.pack_unsigned(codes[0], codes[1]);
                let largest = m.max_16(abs[0], abs[1]);
                if m.any_from_or_above(codes, r.first, r.count, largest, m.splat_16(w.number)) {
                    break;
                }
                let codes = m.min_8(codes, all(w.limit_code.wrapping_add(r.zero)));
                let codes = m.sub_saturating_8(codes, all(r.zero));
                let signs = m.pack_sign_16(x);
                let codes = if FNUZ {
                    m.sign_nonzero(codes, m.and(signs, all(0x80)))
                } else {
                    m.xor_masked(codes, m.shr_16(signs, sign.leading_zeros()), all(sign))
                };
                m.store_8::<false>(dst.add(i), m.in_order::<true>(codes), M::BLOCK);
                i += M::BLOCK;
            }
            let run = if n - i < RUN { n - i } else { RUN };
            through_float32(data)(src.add(2 * i), dst.add(i), run, data);
            i += run;
        }
    }
}

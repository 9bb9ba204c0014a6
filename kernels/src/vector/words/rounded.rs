//! Formats that share an exponent, under any rounding.

use super::{super::padded_bits, Lanes16, Pair, Words, magnitudes, signed, store};
use crate::{data::Data, exact::Rounding, table::KernelFn};

/// How bits are dropped.
#[derive(Clone, Copy)]
struct Rounder {
    /// Added to positive and to negative magnitudes.
    positive: u16,
    negative: u16,
    /// 1 if the last bit that is kept is added, too.
    last: u16,
    /// The last bit that is kept, if it is set where anything is dropped.
    odd: u16,
}

/// Codes with the signs of `x`, in order, of a float with the exponent of the source.
///
/// # Safety
///
/// As of the methods of [`Lanes16`].
#[inline(always)]
unsafe fn upper_halves_rounded<M: Lanes16, P: Pair>(x: [M::V; 2], w: &Words, r: Rounder) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let m = magnitudes::<M>(x);
        let mut codes = m;
        for k in 0..2 {
            let mut value = M::min_16(m[k], M::splat_16(w.limit));
            let dropped = M::add_16(M::and(value, M::splat_16(0xFF)), M::splat_16(0xFF));
            value = M::or(value, M::and(dropped, M::splat_16(r.odd)));
            let (positive, both) = (M::splat_16(r.positive), M::splat_16(r.positive ^ r.negative));
            let increment = M::xor_masked(positive, M::signs_16(x[k]), both);
            let last = M::and(M::shr_8_16(value), M::splat_16(r.last));
            let sum = M::add_16(M::add_16(value, increment), last);
            let (number, nan) = (M::splat_16(w.number), M::splat_16(w.nan as u16));
            codes[k] = M::select_above(m[k], number, nan, M::shr_8_16(sum));
        }
        signed::<M, P>(M::pack_unsigned(codes[0], codes[1]), x)
    }
}

/// The kernel of a pair with one exponent, and negative zero, under any rounding: an addition to the magnitude, as the sign says, before
/// the upper half is taken.
///
/// # Safety
///
/// As [`KernelFn`].
#[inline(always)]
pub(crate) unsafe fn run_rounded<M: Lanes16, P: Pair>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
    whole: KernelFn,
) {
    const { assert!(P::SHAPE.same_exponent && !P::SHAPE.fnuz && P::SHAPE.nan_apart && !P::PACKED) };
    let w = &data.words[1];
    // Those of 16 dropped bits.
    let [positive, negative] = data.increments;
    let rounder = Rounder {
        positive: (positive >> 8) as u16,
        negative: (negative >> 8) as u16,
        last: matches!(data.rules.rounding, Rounding::NearestEven) as u16,
        odd: matches!(data.rules.rounding, Rounding::ToOdd) as u16 * 0x100,
    };
    let mut i = 0;
    // SAFETY: as the caller's: blocks begin at an element and end at the last one or before, or are a part that ends there; `whole`
    // is a kernel of the same pair.
    unsafe {
        while n - i >= M::BLOCK {
            let x = M::load_16::<false>(src.add(2 * i), M::BLOCK);
            store::<M, P, false>(dst.add(i), upper_halves_rounded::<M, P>(x, w, rounder), M::BLOCK);
            i += M::BLOCK;
        }
        if i == n {
        } else if M::MASKED || i > 0 {
            let count = n - i;
            if !M::MASKED {
                i = n - M::BLOCK;
            }
            let x = M::load_16::<true>(src.add(2 * i), count);
            store::<M, P, true>(dst.add(i), upper_halves_rounded::<M, P>(x, w, rounder), count);
        } else {
            padded_bits::<M>(whole, M::BLOCK, (16, 8), src.add(2 * i), dst.add(i), n - i, data);
        }
    }
}

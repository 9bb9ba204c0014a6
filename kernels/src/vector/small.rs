//! Codes of the floats of 4, 6 and 8 bits of a block of float32, over the operations of [`Simd`] alone: every tier's.
//!
//! What tells the formats of a family apart may be constants or read from [`Data`]. What tells the families apart is known at
//! compile time, and no instruction of another family is left.

use super::{
    Simd,
    style::{DIRECTED, ODD, PLAIN, TIES},
};
use crate::{
    data::Data,
    dtype::{Flavor, FloatSpec},
    format::Encoder,
};

/// The code of NaN is a magnitude like others: what is too large has it, too.
pub(crate) const NAN_AS_OVERFLOW: u8 = 0;
/// The code of NaN is another one than that of overflow.
pub(crate) const NAN_APART: u8 = 1;
/// There is no code of NaN.
pub(crate) const NO_NAN: u8 = 2;

/// The bits of a family whose width, 4 or 6, is data: no constant of the kernel.
pub(crate) const FOUR_OR_SIX: u32 = 0;

/// A family of floats with a sign.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    /// 4, 6 or 8, or [`FOUR_OR_SIX`].
    pub(crate) bits: u32,
    /// There is no negative zero.
    pub(crate) fnuz: bool,
    /// [`NAN_AS_OVERFLOW`], [`NAN_APART`] or [`NO_NAN`].
    pub(crate) nan: u8,
}

impl Family {
    /// The family of a format with the constants of its encoder.
    #[allow(dead_code, reason = "called on 64-bit Arm")]
    pub(crate) const fn new(f: FloatSpec, encoder: &Encoder) -> Self {
        let nan = match f.nan() {
            None => NO_NAN,
            Some(_) if encoder.limit == encoder.nan => NAN_AS_OVERFLOW,
            Some(_) => NAN_APART,
        };
        Family { bits: f.bits(), fnuz: matches!(f.flavor, Flavor::Fnuz), nan }
    }
}

/// The codes of floats with a sign, in order. If they are `integers`, none is NaN. `sign` are the signs, if they are packed
/// already.
///
/// One float addition rounds: that of the power of two `2^(23 - mantissa bits)` times the one below the value, whose last
/// mantissa bit then has the weight of the code's. A fused multiply-add makes that power and the sum at once. The sum is
/// `exponent << 23 | count`, and `exponent << mantissa bits` added to `count` is the code and a constant: a sum of products of
/// the two 16-bit halves.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn floats<M: Simd, const STYLE: u8, const APART: bool>(
    x: [M::V; 4],
    sign: Option<M::V>,
    integers: bool,
    family: Family,
    data: &Data,
) -> M::V {
    let encoder = data.encoder;
    // SAFETY: as the caller's.
    unsafe {
        let mut absolute = each!(x, |x| M::and(x, M::splat(0x7FFF_FFFF)));
        // The same answer for all blocks.
        if family.fnuz && STYLE != PLAIN && data.infinity_is_nan != 0 {
            let (infinity, replaced) = (M::splat(0x7F80_0000), M::splat(0x7F80_0000 | data.infinity_is_nan));
            absolute = each!(absolute, |x| M::select_eq(x, infinity, replaced, x));
        }
        let mut limited = if family.nan == NAN_APART && !integers {
            // The minimum of floats leaves NaN, whose magnitude is above the limit.
            each!(absolute, |x| M::min_u(M::min_f(M::splat(encoder.limit), x), M::splat(encoder.nan)))
        } else {
            // A limit that is NaN's code takes NaN with it.
            each!(absolute, |x| M::min_u(x, M::splat(encoder.limit)))
        };
        let mut sign = match sign {
            Some(sign) => sign,
            None => M::pack_sign::<APART>(x),
        };
        if family.nan == NO_NAN && !integers && M::any_nan(x) {
            // One test per block is cheaper than a selection per register.
            let (ones, zero) = (M::splat(u32::MAX), M::splat(0));
            let nan = each!(x, |x| M::select_nan(x, ones, zero));
            for k in 0..4 {
                limited[k] = M::select_nan(x[k], M::splat(encoder.nan), limited[k]);
            }
            // A zero of the opposite sign, or the largest positive value.
            let nan = M::pack_sign::<APART>(nan);
            sign = M::xor(sign, nan);
            sign = M::xor(sign, M::and(M::and(sign, nan), M::splat(data.nan_is_max)));
        }
        if STYLE == TIES {
            // Zero would become subnormal, and some CPUs take a hundred cycles to add subnormal numbers. The least normal number is as far
            // below the first midpoint.
            let (sticky, least) = (M::splat(data.sticky), M::splat(0x0080_0000));
            limited = each!(limited, |x| M::max_u(M::or(x, sticky), least));
        }
        let (unit, smallest) = (M::splat((127 + encoder.shift) << 23), M::splat(encoder.min_field << 23));
        // Register by register: a compiler that sees all powers before the first sum needs more registers.
        let counts = each!([0, 1, 2, 3], |k| {
            let mut value = limited[k];
            let mut power = M::max_u(M::and(value, M::splat(0x7F80_0000)), smallest);
            if STYLE == DIRECTED {
                let sign = M::and(x[k], M::splat(1 << 31));
                (power, value) = (M::or(power, sign), M::or(value, sign));
            }
            let mut count = M::fma_env(power, unit, value);
            if STYLE == DIRECTED && !M::COUNTS_DROP_SIGN {
                count = M::and(count, M::splat(0x7FFF_FFFF));
            }
            if STYLE == ODD {
                // What the sum stands for, exactly; inexact sums become odd.
                let minus = M::splat(1 << 31 | (127 + encoder.shift) << 23);
                let kept = M::fma(power, minus, count);
                count = M::select_eq(kept, value, count, M::or(count, M::splat(1)));
            }
            count
        });
        let codes = M::pack_counts::<APART>(counts, 23 - encoder.shift, encoder.min_field + encoder.shift);
        if family.bits == FOUR_OR_SIX {
            let sign = M::and(sign, M::splat(0x8080_8080));
            let either = M::or(M::shr::<2>(sign), M::shr::<4>(sign));
            let sign = M::and(either, M::splat(0x0101_0101 * data.code.sign as u32));
            return M::in_order::<APART>(M::or(codes, sign));
        }
        M::in_order::<APART>(signed::<M>(codes, sign, family))
    }
}

/// The codes of magnitudes with signs, which are the top bits of bytes.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn signed<M: Simd>(codes: M::V, sign: M::V, family: Family) -> M::V {
    // SAFETY: as the caller's.
    unsafe {
        let sign = M::and(sign, M::splat(0x8080_8080));
        // Moved down inside the byte.
        let sign = match family.bits {
            4 => M::shr::<4>(sign),
            6 => M::shr::<2>(sign),
            _ => sign,
        };
        if family.fnuz { M::sign_nonzero(codes, sign) } else { M::or(codes, sign) }
    }
}

/// The codes of `float8_e8m0fnu`, rounded up, in order: `docs/semantics.md`, section 6.5.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(crate) unsafe fn exponents<M: Simd, const SATURATE: bool, const APART: bool>(x: [M::V; 4]) -> M::V {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    // SAFETY: as the caller's.
    unsafe {
        let (min, nan) = (M::splat(MIN), M::splat(0xFF));
        let fields = each!(x, |x| {
            if SATURATE {
                let clamped = M::min_i(M::max_i(x, min), M::splat(MAX));
                M::select_nan(x, nan, up::<M>(clamped, min))
            } else {
                let above_min = M::sub(x, min);
                let inside = M::min_u(above_min, M::splat(MAX - MIN));
                M::select_eq(inside, above_min, up::<M>(x, min), nan)
            }
        });
        M::in_order::<APART>(M::pack_low::<APART>(fields))
    }
}

/// The exponent field of a float32, rounded up to a power of two; 0 for `min`, a subnormal with the field of the next power.
#[inline(always)]
unsafe fn up<M: Simd>(x: M::V, min: M::V) -> M::V {
    // SAFETY: as of the methods of `Simd`.
    unsafe {
        let one = M::splat(1);
        let field = M::shr::<23>(M::add(x, M::splat(0x7F_FFFF)));
        M::add(M::sub(field, one), M::min_u(M::sub(x, min), one))
    }
}

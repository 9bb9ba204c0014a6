//! Encodes a block of float32 as floats of 4, 6 and 8 bits, over the operations of [`Simd`] alone, for every tier.
//!
//! The differences between the formats of a family are constants, or are read from [`Data`]. The differences between families are known at compile
//! time, and no instruction for another family remains.

use super::{
    Simd,
    style::{Mode, RoundingMode},
};
use crate::{
    dtype::{Flavor, FloatSpec},
    format::{Encoder, data::Data, typed},
    vector::each,
};

/// How a float represents NaN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nan {
    /// NaN has the magnitude that values out of range have.
    AsOverflow,
    /// NaN has another magnitude than values out of range.
    Apart,
    /// There is no NaN.
    None,
}

/// The number of bits of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Four,
    Six,
    Eight,
    /// Four or six bits, as the data says: the number is no constant of the kernel.
    FourOrSix,
}

/// A family of floats with a sign.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) width: Width,
    /// There is no negative zero.
    pub(crate) fnuz: bool,
    pub(crate) nan: Nan,
}

typed! {
    /// A [`Family`] as a parameter of kernels.
    trait FloatFamily { FAMILY: Family }
    FourBits = Family { width: Width::Four, fnuz: false, nan: Nan::None };
    SixBits = Family { width: Width::Six, fnuz: false, nan: Nan::None };
    FourOrSixBits = Family { width: Width::FourOrSix, fnuz: false, nan: Nan::None };
    NanApart = Family { width: Width::Eight, fnuz: false, nan: Nan::Apart };
    NanAsOverflow = Family { width: Width::Eight, fnuz: false, nan: Nan::AsOverflow };
    FnuzNanApart = Family { width: Width::Eight, fnuz: true, nan: Nan::Apart };
    FnuzNanAsOverflow = Family { width: Width::Eight, fnuz: true, nan: Nan::AsOverflow };
}

impl Family {
    /// The family of a format, given the constants of its encoder.
    #[allow(dead_code, reason = "called on 64-bit Arm")]
    pub(crate) const fn new(f: FloatSpec, encoder: &Encoder) -> Self {
        let nan = match f.nan() {
            None => Nan::None,
            Some(_) if encoder.limit == encoder.nan => Nan::AsOverflow,
            Some(_) => Nan::Apart,
        };
        let width = match f.bits() {
            4 => Width::Four,
            6 => Width::Six,
            _ => Width::Eight,
        };
        Family { width, fnuz: matches!(f.flavor, Flavor::Fnuz), nan }
    }
}

/// What is known about the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    Any,
    /// No value is NaN.
    Integers,
    /// No value is NaN or negative.
    Naturals,
}

/// The codes of floats with a sign, in order. `sign` holds the signs, if they are already packed.
///
/// One float addition rounds: it adds `2^(23 - mantissa bits)` times the power of two at or below the value. The last mantissa bit of the sum then
/// has the weight of the code's last bit. A fused multiply-add computes that power and the sum at once. The sum is `exponent << 23 | count`, and
/// adding `exponent << mantissa bits` to `count` gives the code plus a constant: a sum of products of the two 16-bit halves.
#[inline(always)]
pub(crate) fn floats<M: Simd, R: RoundingMode, const APART: bool>(
    m: M,
    x: [M::V; 4],
    sign: Option<M::V>,
    values: Values,
    family: Family,
    data: &Data,
) -> M::V {
    let encoder = data.float.encoder;
    let numbers = values != Values::Any;
    let mut absolute =
        if values == Values::Naturals { x } else { each!(x, |x| m.and(x, m.splat(0x7FFF_FFFF))) };
    // The condition is the same for all blocks.
    if family.fnuz && R::MODE != Mode::Common && data.float.code.largest < 0x7F80_0000 {
        let (infinity, replaced) = (m.splat(0x7F80_0000), m.splat(u32::MAX));
        absolute = each!(absolute, |x| m.select_eq(x, infinity, replaced, x));
    }
    let mut limited = if family.nan == Nan::Apart && !numbers {
        // The float minimum keeps NaN, whose magnitude is above the limit.
        each!(absolute, |x| m.min_u(m.min_f(m.splat(encoder.limit), x), m.splat(encoder.nan)))
    } else {
        // If the limit has the code of NaN, NaN becomes the limit as well.
        each!(absolute, |x| m.min_u(x, m.splat(encoder.limit)))
    };
    let mut sign = match sign {
        Some(sign) => sign,
        None => m.pack_sign::<APART>(x),
    };
    if family.nan == Nan::None && !numbers && m.any_nan(x) {
        // One test per block is cheaper than a selection per register.
        let (ones, zero) = (m.splat(u32::MAX), m.splat(0));
        let nan = each!(x, |x| m.select_nan(x, ones, zero));
        for k in 0..4 {
            limited[k] = m.select_nan(x[k], m.splat(encoder.nan), limited[k]);
        }
        // NaN becomes a zero of the opposite sign, or the largest positive value.
        let nan = m.pack_sign::<APART>(nan);
        sign = m.xor(sign, nan);
        sign = m.xor(sign, m.and(m.and(sign, nan), m.splat(data.float.nan_is_max)));
    }
    if R::MODE == Mode::Away {
        // Otherwise zero would become subnormal, and some CPUs take a hundred cycles to add subnormal numbers. The least normal number is below
        // the first midpoint as well.
        let (sticky, least) = (m.splat(data.rounding.correction.sticky()), m.splat(0x0080_0000));
        limited = each!(limited, |x| m.max_u(m.or(x, sticky), least));
    }
    let (unit, smallest) = (m.splat((127 + encoder.shift) << 23), m.splat(encoder.min_field << 23));
    // Register by register: a compiler that sees all powers before the first sum uses more registers.
    let counts = each!([0, 1, 2, 3], |k| {
        let mut value = limited[k];
        let mut power = m.max_u(m.and(value, m.splat(0x7F80_0000)), smallest);
        if R::MODE == Mode::Directed {
            let sign = m.and(x[k], m.splat(1 << 31));
            (power, value) = (m.or(power, sign), m.or(value, sign));
        }
        let mut count = m.fma_env(power, unit, value);
        if R::MODE == Mode::Directed && !M::COUNTS_DROP_SIGN {
            count = m.and(count, m.splat(0x7FFF_FFFF));
        }
        if R::MODE == Mode::Odd {
            // The value that the sum represents, exactly; inexact sums become odd.
            let minus = m.splat(1 << 31 | (127 + encoder.shift) << 23);
            let kept = m.fma(power, minus, count);
            count = m.select_eq(kept, value, count, m.or(count, m.splat(1)));
        }
        count
    });
    let codes = m.pack_counts::<APART>(counts, 23 - encoder.shift, encoder.min_field + encoder.shift);
    if family.width == Width::FourOrSix {
        let sign = m.and(sign, m.splat(0x8080_8080));
        let either = m.or(m.shr::<2>(sign), m.shr::<4>(sign));
        let sign = m.and(either, m.splat(0x0101_0101 * data.float.code.sign as u32));
        return m.in_order::<APART>(m.or(codes, sign));
    }
    m.in_order::<APART>(signed::<M>(m, codes, sign, family))
}

/// Adds signs, which are the top bits of bytes, to the codes of magnitudes.
#[inline(always)]
pub(crate) fn signed<M: Simd>(m: M, codes: M::V, sign: M::V, family: Family) -> M::V {
    let sign = m.and(sign, m.splat(0x8080_8080));
    // The sign moves down inside the byte.
    let sign = match family.width {
        Width::Four => m.shr::<4>(sign),
        Width::Six => m.shr::<2>(sign),
        Width::Eight | Width::FourOrSix => sign,
    };
    if family.fnuz { m.sign_nonzero(codes, sign) } else { m.or(codes, sign) }
}

/// The codes of `float8_e8m0fnu`, rounded up, in order: `docs/semantics.md`, section 6.5.
#[inline(always)]
pub(crate) fn exponents<M: Simd, const SATURATE: bool, const APART: bool>(m: M, x: [M::V; 4]) -> M::V {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    let (min, nan) = (m.splat(MIN), m.splat(0xFF));
    let fields = each!(x, |x| {
        if SATURATE {
            let clamped = m.min_i(m.max_i(x, min), m.splat(MAX));
            m.select_nan(x, nan, up::<M>(m, clamped, min))
        } else {
            let above_min = m.sub(x, min);
            let inside = m.min_u(above_min, m.splat(MAX - MIN));
            m.select_eq(inside, above_min, up::<M>(m, x, min), nan)
        }
    });
    m.in_order::<APART>(m.pack_low::<APART>(fields))
}

/// The exponent field of a float32, rounded up to a power of two; 0 for `min`, a subnormal with the field of the next power.
#[inline(always)]
fn up<M: Simd>(m: M, x: M::V, min: M::V) -> M::V {
    let one = m.splat(1);
    let field = m.shr::<23>(m.add(x, m.splat(0x7F_FFFF)));
    m.add(m.sub(field, one), m.min_u(m.sub(x, min), one))
}

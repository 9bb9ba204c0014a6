//! The floats of 4, 6 and 8 bits. `docs/semantics.md`, section 6.
//!
//! **Decode** moves the exponent, and normalises a subnormal with one exact subtraction.
//!
//! **Encode** rounds with one float addition. It adds the power of two whose last mantissa bit has the weight of the target's last bit. The
//! addition itself then rounds to nearest even at that bit, and the low bits of the sum count the units of the value. Since codes count units, the
//! code is that count plus a multiple of the exponent. This needs no case for subnormals (the exponent is at least the smallest normal number's)
//! and none for a carry into the next exponent. Overflow and NaN are replaced beforehand by values whose count is their code.

use super::{codec::Format, newtypes::*};
use crate::{
    dtype::{DType, Flavor, FloatSpec},
    exact::{
        extended_to_f32, float_spec,
        hub::{F32, Hub},
        round::Correction,
    },
};

/// The constants of the encoder of a format with an exponent of up to 5 bits and a mantissa of up to 10.
#[derive(Clone, Copy)]
pub(crate) struct Encoder {
    /// Float32 bits of the magnitude to which all greater magnitudes are clamped.
    pub(crate) limit: u32,
    /// Float32 bits of the magnitude whose code is the code of NaN.
    pub(crate) nan: u32,
    /// The float32 exponent field of the smallest normal value.
    pub(crate) min_field: u32,
    /// Mantissa bits of float32 that the format lacks.
    pub(crate) shift: u32,
    /// The constant that the exponents leave in the sum.
    pub(crate) excess: u32,
}

impl Encoder {
    /// The value for targets without an encoder.
    pub(crate) const NONE: Self = Self { limit: 0, nan: 0, min_field: 0, shift: 0, excess: 0 };

    pub(crate) const fn new(f: FloatSpec, saturate: bool) -> Self {
        // `Hub::f32_odd` is exact enough for no wider mantissa, and a wider exponent would overflow the unit.
        assert!(f.mantissa_bits <= 10 && (f.exponent_bits <= 5 || matches!(f.flavor, Flavor::Exponent)));
        let max = f.max_finite();
        // Above the largest finite value, the codes of overflow and NaN continue to count as if they were numbers.
        let nan = match f.nan() {
            Some(nan) => extended_to_f32(f, nan),
            None => 0,
        };
        let limit = match (f.infinity(), f.nan()) {
            (Some(infinity), _) if !saturate => extended_to_f32(f, infinity),
            (None, Some(_)) if !saturate => nan,
            _ => extended_to_f32(f, max),
        };
        let shift = 23 - f.mantissa_bits;
        let min_field = (127 + 1 - f.bias) as u32;
        Self { limit, nan, min_field, shift, excess: (min_field + shift) << f.mantissa_bits }
    }

    /// The magnitude code of a float32, rounded to nearest even.
    #[inline(always)]
    pub(crate) fn magnitude(self, x: u32) -> u32 {
        let absolute = x & 0x7FFF_FFFF;
        let value = if absolute > 0x7F80_0000 { self.nan } else { self.limited(absolute) };
        self.count(self.sum(value)) & 0xFFFF
    }

    /// The smaller of a magnitude and the limit. Without a sign they also compare as signed integers, which is a single instruction.
    #[inline(always)]
    pub(crate) fn limited(self, absolute: u32) -> u32 {
        (absolute as i32).min(self.limit as i32) as u32
    }

    /// The unit of a value, and the sum of the two.
    #[inline(always)]
    fn sum(self, value: u32) -> (u32, u32) {
        let exponent = ((value & 0x7F80_0000) as i32).max((self.min_field << 23) as i32) as u32;
        let unit = exponent.wrapping_add(self.shift << 23);
        (unit, (f32::from_bits(value) + f32::from_bits(unit)).to_bits())
    }

    /// The number of units in a sum.
    #[inline(always)]
    fn count(self, (unit, sum): (u32, u32)) -> u32 {
        sum.wrapping_add(unit >> (self.shift & 31)).wrapping_sub(self.excess)
    }

    /// The magnitude code of a value that is at most the limit, or is the magnitude of NaN. `negative` is a mask.
    #[inline(always)]
    pub(crate) fn corrected(self, value: u32, negative: u32, correction: Correction) -> u32 {
        let value = value | correction.sticky();
        let (unit, sum) = self.sum(value);
        let kept = f32::from_bits(sum) - f32::from_bits(unit);
        let residual = (f32::from_bits(value) - kept).to_bits();
        let rounded_up = (residual as i32 >> 31) as u32;
        let inexact = if residual != 0 { u32::MAX } else { 0 };
        correction.code(self.count((unit, sum)), rounded_up, inexact, negative) & 0xFFFF
    }
}

/// How a small float treats signs, as masks, and where the sign bit is.
#[derive(Clone, Copy)]
pub(crate) struct Signs {
    /// How far the sign of a float32 is shifted down to the sign of the format.
    shift: u32,
    /// There is no negative zero; its code is NaN.
    zero_has_none: u32,
    /// NaN becomes a zero of the opposite sign.
    nan_flips: u32,
    /// NaN becomes a positive number.
    nan_has_none: u32,
}

impl Signs {
    /// The value for targets that are not small floats.
    pub(crate) const NONE: Self = Self { shift: 0, zero_has_none: 0, nan_flips: 0, nan_has_none: 0 };

    pub(crate) const fn new(f: FloatSpec, finite_nan_max: bool) -> Self {
        const fn mask(condition: bool) -> u32 {
            if condition { u32::MAX } else { 0 }
        }
        let finite = matches!(f.flavor, Flavor::Finite);
        assert!(finite || f.bits() >= 8, "`put_common` puts the sign of other flavors into bit 7");
        Self {
            shift: 32 - f.bits(),
            zero_has_none: mask(matches!(f.flavor, Flavor::Fnuz)),
            nan_flips: mask(finite && !finite_nan_max),
            nan_has_none: mask(finite && finite_nan_max),
        }
    }

    /// The code with this magnitude and the sign of `x`.
    #[inline(always)]
    pub(crate) fn put(self, x: u32, magnitude: u32) -> u32 {
        let nan = if x & 0x7FFF_FFFF > 0x7F80_0000 { u32::MAX } else { 0 };
        let zero = if magnitude == 0 { u32::MAX } else { 0 };
        let sign = (x ^ nan & self.nan_flips) & !(nan & self.nan_has_none | zero & self.zero_has_none);
        magnitude | (sign & 0x8000_0000) >> (self.shift & 31)
    }

    /// The same under the common rules, for a format of up to 8 bits whose flavor is known at compile time.
    #[inline(always)]
    pub(crate) fn put_common(self, flavor: Flavor, x: u32, magnitude: u32) -> u8 {
        let code = magnitude as u8;
        // All formats of these flavors have 8 bits, except formats without NaN.
        let sign = (x >> 24) as u8 & 0x80;
        match flavor {
            Flavor::Fnuz => code | if code == 0 { 0 } else { sign },
            Flavor::Finite => {
                let nan = if x & 0x7FFF_FFFF > 0x7F80_0000 { u32::MAX } else { 0 };
                code | (((x ^ nan) & 0x8000_0000) >> (self.shift & 31)) as u8
            }
            _ => code | sign,
        }
    }
}

/// The float32 bits of a magnitude of a format with an exponent of up to 5 bits that is neither infinite nor NaN.
#[inline(always)]
pub(super) fn decode_magnitude(f: FloatSpec, magnitude: u32) -> u32 {
    // A normal number only needs its exponent moved. For a subnormal one, the implicit bit is set before its mantissa and then subtracted, which
    // is exact and normalises the number.
    let implicit = ((127 + 1 - f.bias) as u32) << 23;
    let mantissa = magnitude << (23 - f.mantissa_bits);
    let subnormal = (f32::from_bits(implicit | mantissa) - f32::from_bits(implicit)).to_bits();
    let normal = mantissa + (((127 - f.bias) as u32) << 23);
    if magnitude >> f.mantissa_bits == 0 { subnormal } else { normal }
}

/// The float32 bits of a code.
#[inline(always)]
fn decode(f: FloatSpec, code: u8) -> u32 {
    const NAN: u32 = 0x7FC0_0000;
    let magnitude = code as u32 & f.magnitude_mask() as u32;
    if matches!(f.flavor, Flavor::Exponent) {
        // The code is the exponent field, except for the lowest code, a subnormal, and the highest, NaN: both set the bit below the field.
        return magnitude << 23 | ((magnitude == 0 || magnitude == 0xFF) as u32) << 22;
    }
    let sign = (code as u32 & f.sign_mask() as u32) << (32 - f.bits());
    let value = decode_magnitude(f, magnitude);
    let infinity = f.exponent_field() as u32;
    sign | match f.flavor {
        Flavor::Ieee if magnitude > infinity => NAN,
        Flavor::Ieee if magnitude == infinity => 0x7F80_0000,
        Flavor::Fn if magnitude == f.magnitude_mask() as u32 => NAN,
        Flavor::Fnuz if magnitude == 0 && sign != 0 => NAN,
        _ => value,
    }
}

/// The code of a float32.
#[inline(always)]
fn encode<const SATURATE: bool>(f: FloatSpec, encoder: Encoder, x: u32) -> u8 {
    if matches!(f.flavor, Flavor::Exponent) {
        return encode_exponent::<SATURATE>(x);
    }
    Signs::new(f, false).put_common(f.flavor, x, encoder.magnitude(x))
}

/// The `float8_e8m0fnu` code of a float32: the smallest power of two that is not less than it. Section 6.5.
#[inline(always)]
fn encode_exponent<const SATURATE: bool>(x: u32) -> u8 {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    let (below, above) = if SATURATE { (0, 0xFE) } else { (0xFF, 0xFF) };
    // The value of the smallest code is a float32 subnormal with the exponent field of the next code.
    let up = if x == MIN { 0 } else { (x.wrapping_add(0x7F_FFFF) >> 23) as u8 };
    let code = if x > MAX { above } else { up };
    let code = if x < MIN || x >> 31 != 0 { below } else { code };
    if x & 0x7FFF_FFFF > 0x7F80_0000 { 0xFF } else { code }
}

macro_rules! formats {
    ($($kind:ident ($variant:ident, $format:ty, $code:literal, $name:literal, $spec:expr, [$($alias:literal),*]))*) => {
        $(formats! { @ $kind $variant, $format })*
    };
    (@ small_float $variant:ident, $format:ty) => {
        impl Format for $format {
            type Code = u8;
            type Hub = F32;
            type Wrapping = Self;
            #[inline(always)]
            fn decode(code: u8) -> F32 {
                F32(decode(const { float_spec(DType::$variant) }, code))
            }
            #[inline(always)]
            fn encode<const SATURATE: bool>(hub: impl Hub) -> u8 {
                let f = const { float_spec(DType::$variant) };
                let encoder = const { Encoder::new(float_spec(DType::$variant), SATURATE) };
                encode::<SATURATE>(f, encoder, hub.f32_odd())
            }
            #[inline(always)]
            fn clean(code: u8) -> u8 {
                code & (0xFF >> (8 - const { float_spec(DType::$variant) }.bits()))
            }
        }
    };
    (@ $kind:ident $variant:ident, $format:ty) => {};
}
crate::dtype::for_each_dtype!(formats);

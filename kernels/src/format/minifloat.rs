//! The floats of 4, 6 and 8 bits. `docs/semantics.md`, section 6.
//!
//! **Decode** is a table of the float32 of every code, made at compile time.
//!
//! **Encode** rounds with one float addition. Adding the power of two whose last mantissa bit has the weight of the target's
//! last bit makes the addition itself round to nearest even at that place, and leaves in the low bits of the sum how many
//! units the value is. Since codes count units, the code is that count plus a multiple of the exponent: no case for
//! subnormals (the exponent is held at that of the smallest normal), none for a carry into the next exponent. Overflow and
//! NaN are brought beforehand to values whose count is their code.

use super::*;
use crate::{
    dtype::{DType, Flavor, FloatSpec},
    exact::{extended_to_f32, float_spec, float_to_f32},
    hub::{F32, Hub},
};

/// The constants of the encoder of a format with an exponent of up to 5 bits and a mantissa of up to 10.
#[derive(Clone, Copy)]
pub(crate) struct Encoder {
    /// Float32 bits of the magnitude that everything greater becomes.
    limit: u32,
    /// Float32 bits of the magnitude whose code is NaN's.
    nan: u32,
    /// The float32 exponent field of the smallest normal value.
    min_field: u32,
    /// Mantissa bits of float32 that the format lacks.
    shift: u32,
    /// What the exponents leave in the sum.
    excess: u32,
}

impl Encoder {
    pub(crate) const fn new(f: FloatSpec, saturate: bool) -> Self {
        // `Hub::f32_odd` serves no wider mantissa, and a wider exponent would overflow the unit.
        assert!(f.mantissa_bits <= 10 && (f.exponent_bits <= 5 || matches!(f.flavor, Flavor::Exponent)));
        let max = f.max_finite();
        // Above the largest finite value the codes of overflow and NaN go on counting as if they were numbers.
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

    /// The magnitude code of a float32, nearest even.
    #[inline(always)]
    pub(crate) fn magnitude(self, x: u32) -> u32 {
        let absolute = x & 0x7FFF_FFFF;
        let limited = absolute.min(self.limit);
        let value = if absolute > 0x7F80_0000 { self.nan } else { limited };
        let unit = (value & 0x7F80_0000).max(self.min_field << 23) + (self.shift << 23);
        let sum = (f32::from_bits(value) + f32::from_bits(unit)).to_bits();
        sum.wrapping_add(unit >> self.shift).wrapping_sub(self.excess) & 0xFFFF
    }
}

/// The float32 of every code of a format, repeated over the unused high bits.
const fn decode_table(f: FloatSpec) -> [u32; 256] {
    let mut table = [0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = float_to_f32(f, code as u64);
        code += 1;
    }
    table
}

/// The code of a float32.
#[inline(always)]
fn encode<const SATURATE: bool>(f: FloatSpec, encoder: Encoder, x: u32) -> u8 {
    let code = encoder.magnitude(x) as u8;
    let sign = (x >> 31 << (f.bits() - 1)) as u8;
    match f.flavor {
        // There is no negative zero, its code is NaN's.
        Flavor::Fnuz => code | if code == 0 { 0 } else { sign },
        // NaN is a zero of the opposite sign.
        Flavor::Finite => {
            let nan = x & 0x7FFF_FFFF > 0x7F80_0000;
            code | sign ^ (nan as u8) << (f.bits() - 1)
        }
        _ => code | sign,
    }
}

/// The `float8_e8m0fnu` code of a float32: the smallest power of two that is not less. Section 6.5.
#[inline(always)]
fn encode_exponent<const SATURATE: bool>(x: u32) -> u8 {
    const MIN: u32 = 0x0040_0000;
    const MAX: u32 = 0x7F00_0000;
    let (below, above) = if SATURATE { (0, 0xFE) } else { (0xFF, 0xFF) };
    // The smallest code's value is a float32 subnormal with the exponent field of the next one.
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
            #[inline(always)]
            fn decode(code: u8) -> F32 {
                static TABLE: [u32; 256] = decode_table(float_spec(DType::$variant));
                F32(TABLE[code as usize])
            }
            #[inline(always)]
            fn encode<const SATURATE: bool>(hub: impl Hub) -> u8 {
                let x = hub.f32_odd();
                if matches!(const { float_spec(DType::$variant) }.flavor, Flavor::Exponent) {
                    encode_exponent::<SATURATE>(x)
                } else {
                    encode::<SATURATE>(const { float_spec(DType::$variant) }, const { Encoder::new(float_spec(DType::$variant), SATURATE) }, x)
                }
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

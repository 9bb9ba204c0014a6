//! The hubs of float32 and float64.

use super::{Capacity, F32, F64, Hub, f64_to_f32_odd};
use crate::{
    dtype::DType,
    exact::{FLOAT32, float_spec, round::Correction},
};

/// Casts a float to an integer in range, as `as` does; written out for up to 32 bits so that the compiler vectorises it.
macro_rules! saturate {
    ($float:ident, $code:expr, $bits:expr, $signed:expr) => {{
        let (x, bits, signed) = ($float::from_bits($code), $bits, $signed);
        let max = u64::MAX >> (64 - bits + signed as u32);
        if bits == 64 {
            if signed { x as i64 as u64 } else { x as u64 }
        } else {
            let low = if signed { -(max as $float) - 1.0 } else { 0.0 };
            // The largest float that is in range; `max` is rounded up if the float has fewer bits.
            let high = max as $float;
            let high = if high as u64 > max { high.next_down() } else { high };
            // NaN becomes the low end first.
            let clamped = if x > low { x } else { low };
            let clamped = if clamped < high { clamped } else { high };
            // SAFETY: `low <= clamped <= high`, neither is NaN, and both ends are in range of the type: for at most 31 bits
            // and for signed ones that is i32, else u32.
            let integer = unsafe {
                if signed || bits < 32 {
                    clamped.to_int_unchecked::<i32>() as u64
                } else {
                    clamped.to_int_unchecked::<u32>() as u64
                }
            };
            let integer = if x > high { max } else { integer };
            if x.is_nan() { 0 } else { integer }
        }
    }};
}

/// The low bits of `±significand * 2^exponent`, truncated, in an integer of sufficient width.
macro_rules! wrap {
    ($word:ident, $negative:expr, $significand:expr, $exponent:expr) => {{
        const LAST: i32 = $word::BITS as i32 - 1;
        let (significand, exponent): ($word, i32) = ($significand, $exponent);
        let left = if exponent > LAST { 0 } else { significand << (exponent & LAST) };
        let right = if exponent < -LAST { 0 } else { significand >> (exponent.wrapping_neg() & LAST) };
        let magnitude = if exponent < 0 { right } else { left };
        (if $negative { magnitude.wrapping_neg() } else { magnitude }) as u64
    }};
}

impl Hub for F32 {
    const CAPACITY: Capacity = Capacity::float(FLOAT32);
    real!();
    #[inline(always)]
    fn f32(self) -> u32 {
        self.0
    }
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        self.0
    }
    #[inline(always)]
    fn f64(self) -> u64 {
        let x = self.0 as u64;
        let nan = (x & 0x8000_0000) << 32 | 0x7FF8_0000_0000_0000 | (x & 0x7F_FFFF) << 29;
        let value = (f32::from_bits(self.0) as f64).to_bits();
        if x & 0x7FFF_FFFF > 0x7F80_0000 { nan } else { value }
    }
    #[inline(always)]
    fn f32_in(self, _: Correction) -> u32 {
        self.0
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        if SATURATE {
            return saturate!(f32, self.0, bits, signed);
        }
        let field = (self.0 >> 23 & 0xFF) as i32;
        // A subnormal is a fraction, so its significand does not matter; infinity and NaN have no low bits.
        let significand = if field == 0xFF { 0 } else { self.0 & 0x7F_FFFF | 0x80_0000 };
        let negative = self.0 >> 31 != 0;
        if bits <= 32 {
            wrap!(u32, negative, significand, field - 150)
        } else {
            wrap!(u64, negative, significand as u64, field - 150)
        }
    }
    #[inline(always)]
    fn nonzero(self) -> bool {
        self.0 << 1 != 0
    }
}

impl Hub for F64 {
    const CAPACITY: Capacity = Capacity::float(float_spec(DType::Float64));
    real!();
    #[inline(always)]
    fn f32(self) -> u32 {
        let value = (f64::from_bits(self.0) as f32).to_bits();
        if self.is_nan() { self.nan_f32() } else { value }
    }
    #[inline(always)]
    fn f32_odd(self) -> u32 {
        let value = f64_to_f32_odd(self.0);
        if self.is_nan() { self.nan_f32() } else { value }
    }
    #[inline(always)]
    fn f64(self) -> u64 {
        self.0
    }
    #[inline(always)]
    fn f32_strict(self) -> u32 {
        self.f32_in(Correction::TO_ODD)
    }
    #[inline(always)]
    fn f32_in(self, correction: Correction) -> u32 {
        let magnitude = f64::from_bits(self.0 & (u64::MAX >> 1));
        // The mantissa has room for the sticky bit, but infinity does not.
        let sticky = if magnitude < f64::INFINITY { correction.sticky() } else { 0 };
        let nearest = (f64::from_bits(self.0 | sticky as u64) as f32).to_bits();
        let kept = f32::from_bits(nearest & 0x7FFF_FFFF) as f64;
        let rounded_up = if kept > magnitude { u32::MAX } else { 0 };
        let rounded_down = if kept < magnitude { u32::MAX } else { 0 };
        let negative = ((self.0 >> 32) as i32 >> 31) as u32;
        let value = correction.code(nearest, rounded_up, rounded_up | rounded_down, negative);
        if self.is_nan() { self.nan_f32() } else { value }
    }
    #[inline(always)]
    fn int<const SATURATE: bool>(self, bits: u32, signed: bool) -> u64 {
        if SATURATE {
            return saturate!(f64, self.0, bits, signed);
        }
        let field = (self.0 >> 52 & 0x7FF) as i32;
        let significand = if field == 0x7FF { 0 } else { self.0 & ((1 << 52) - 1) | 1 << 52 };
        wrap!(u64, self.0 >> 63 != 0, significand, field - 1075)
    }
    #[inline(always)]
    fn nonzero(self) -> bool {
        self.0 << 1 != 0
    }
}

impl F64 {
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.0 & (u64::MAX >> 1) > 0x7FF0_0000_0000_0000
    }
    /// A NaN keeps its sign and the top of its payload and becomes quiet.
    #[inline(always)]
    fn nan_f32(self) -> u32 {
        (self.0 >> 32) as u32 & 0x8000_0000 | 0x7FC0_0000 | (self.0 >> 29) as u32 & 0x3F_FFFF
    }
}

//! The codes of scales.

use super::scheme::ScaleType;
use crate::cast::cast_one;
use lanecast_kernels::{DType, F8E4M3FN, F8E8M0FNU};

/// A `float32` rounded to the dtype of a source.
pub(super) fn to_source(source: DType, x: f32) -> f32 {
    match source {
        DType::Float16 => half::f16::from_f32(x).to_f32(),
        DType::BFloat16 => half::bf16::from_f32(x).to_f32(),
        _ => x,
    }
}

/// The code of the machine epsilon of the dtype of scales.
pub(super) fn epsilon(scale: ScaleType) -> u32 {
    encode(scale, scale.dtype(DType::Float32).finfo().map_or(1.0, |float| float.eps))
}

/// The smallest normal number of `float8_e4m3fn`.
const E4M3_NORMAL: f64 = 0.015_625;

/// The code nearest to a positive value, at most the code of the largest finite value.
pub(super) fn encode(scale: ScaleType, value: f64) -> u32 {
    match scale {
        ScaleType::Float32 | ScaleType::Source => cast_one::<f64, f32>(value).min(f32::MAX).to_bits(),
        ScaleType::Float16 => u32::from(cast_one::<f64, half::f16>(value).to_bits().min(0x7BFF)),
        ScaleType::BFloat16 => u32::from(cast_one::<f64, half::bf16>(value).to_bits().min(0x7F7F)),
        ScaleType::E8M0 => u32::from(cast_one::<f64, F8E8M0FNU>(value).to_bits()),
        // Casts of single elements are slow, and there may be a scale for every 16 elements.
        ScaleType::E4M3(_) if (f64::MIN_POSITIVE..E4M3_NORMAL).contains(&value) => {
            // Multiples of 2^-9; the addition rounds to integers, ties to even.
            (value * 512.0 + 1.0 / f64::EPSILON).to_bits() as u32 & 15
        }
        ScaleType::E4M3(_) if (E4M3_NORMAL..=448.0).contains(&value) => {
            // To three bits of mantissa, ties to even.
            let bits = value.to_bits();
            let rounded = (bits + (1 << 48) - 1 + (bits >> 49 & 1)) >> 49;
            (rounded - ((1023 - 7) << 3)) as u32
        }
        ScaleType::E4M3(_) => u32::from(cast_one::<f64, F8E4M3FN>(value).to_bits()),
    }
}

/// The value of a code.
pub(super) fn decode(scale: ScaleType, code: u32) -> f64 {
    match scale {
        ScaleType::Float32 | ScaleType::Source => f64::from(f32::from_bits(code)),
        ScaleType::Float16 => f64::from(half::f16::from_bits(code as u16)),
        ScaleType::BFloat16 => f64::from(half::bf16::from_bits(code as u16)),
        ScaleType::E8M0 => cast_one(F8E8M0FNU::from_bits(code as u8)),
        ScaleType::E4M3(_) if code < 0x08 => f64::from(code) / 512.0,
        ScaleType::E4M3(_) if (0x08..0x7F).contains(&code) => {
            f64::from_bits((u64::from(code) + ((1023 - 7) << 3)) << 49)
        }
        ScaleType::E4M3(_) => cast_one(F8E4M3FN::from_bits(code as u8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaled::Global;

    /// Every scale, and every number next to the middle between two.
    #[test]
    fn scales_of_e4m3_are_cast() {
        let scale = ScaleType::E4M3(Global::Multiplier);
        for code in 0..=255 {
            let value = decode(scale, code);
            let exact: f64 = cast_one(F8E4M3FN::from_bits(code as u8));
            assert_eq!(value.to_bits(), exact.to_bits(), "{code}");
            let middle = (value + decode(scale, code + 1)) / 2.0;
            for x in [value, middle.next_down(), middle, middle.next_up()] {
                let cast = cast_one::<f64, F8E4M3FN>(x).to_bits();
                assert_eq!(encode(scale, x), u32::from(cast), "{x}");
            }
        }
    }
}

//! float16, bfloat16, float32, float64. `docs/semantics.md`, sections 4 and 5.2.

use super::{
    Format,
    minifloat::{Encoder, decode_magnitude},
};
use crate::{
    dtype::DType,
    exact::{
        float_spec,
        hub::{F32, F64, Hub},
    },
};
use half::{bf16, f16};

impl Format for f32 {
    type Code = u32;
    type Hub = F32;
    type Wrapping = Self;
    #[inline(always)]
    fn decode(code: u32) -> F32 {
        F32(code)
    }
    #[inline(always)]
    fn encode<const SATURATE: bool>(hub: impl Hub) -> u32 {
        hub.f32()
    }
}

impl Format for f64 {
    type Code = u64;
    type Hub = F64;
    type Wrapping = Self;
    #[inline(always)]
    fn decode(code: u64) -> F64 {
        F64(code)
    }
    #[inline(always)]
    fn encode<const SATURATE: bool>(hub: impl Hub) -> u64 {
        hub.f64()
    }
}

impl Format for bf16 {
    type Code = u16;
    type Hub = F32;
    type Wrapping = Self;
    #[inline(always)]
    fn decode(code: u16) -> F32 {
        F32((code as u32) << 16)
    }
    #[inline(always)]
    fn encode<const SATURATE: bool>(hub: impl Hub) -> u16 {
        let x = hub.f32_odd();
        // The last kept bit plus just under half a unit carries exactly when nearest-even rounds up; the carry out of the largest finite value
        // makes infinity.
        let rounded = x.wrapping_add(0x7FFF + (x >> 16 & 1)) >> 16;
        let nan = x >> 16 & 0x8000 | 0x7FC0;
        (if x & 0x7FFF_FFFF > 0x7F80_0000 { nan } else { rounded }) as u16
    }
}

impl Format for f16 {
    type Code = u16;
    type Hub = F32;
    type Wrapping = Self;
    #[inline(always)]
    fn decode(code: u16) -> F32 {
        let x = code as u32;
        let sign = (x & 0x8000) << 16;
        let magnitude = x & 0x7FFF;
        // Infinity, or NaN, which becomes quiet.
        let quiet = if magnitude > 0x7C00 { 0x40_0000 } else { 0 };
        let special = 0x7F80_0000 | (magnitude << 13 & 0x7F_FFFF) | quiet;
        let value = decode_magnitude(const { float_spec(DType::Float16) }, magnitude);
        F32(sign | if magnitude >= 0x7C00 { special } else { value })
    }
    #[inline(always)]
    fn encode<const SATURATE: bool>(hub: impl Hub) -> u16 {
        let x = hub.f32_odd();
        let nan = 0x7E00 | x >> 13 & 0x1FF;
        let value = const { Encoder::new(float_spec(DType::Float16), false) }.magnitude(x);
        let sign = x >> 16 & 0x8000;
        (sign | if x & 0x7FFF_FFFF > 0x7F80_0000 { nan } else { value }) as u16
    }
}

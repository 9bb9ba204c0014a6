//! Loads elements of any covered source as a block of float32.

use super::target::Target;
use crate::{format::Format, vector::Casts};
use half::{bf16, f16};
use num_complex::Complex;

/// How elements become float32.
#[derive(Clone, Copy)]
pub(crate) enum Load {
    Float32,
    BFloat16,
    Float16,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float64,
    Complex128,
}

/// A source of these kernels.
pub(crate) trait Loaded: Format {
    const LOAD: Load;
}

impl Loaded for f32 {
    const LOAD: Load = Load::Float32;
}
impl Loaded for bf16 {
    const LOAD: Load = Load::BFloat16;
}
impl Loaded for f16 {
    const LOAD: Load = Load::Float16;
}
impl Loaded for i16 {
    const LOAD: Load = Load::Int16;
}
impl Loaded for u16 {
    const LOAD: Load = Load::UInt16;
}
impl Loaded for i32 {
    const LOAD: Load = Load::Int32;
}
impl Loaded for u32 {
    const LOAD: Load = Load::UInt32;
}
impl Loaded for i64 {
    const LOAD: Load = Load::Int64;
}
impl Loaded for u64 {
    const LOAD: Load = Load::UInt64;
}
impl Loaded for f64 {
    const LOAD: Load = Load::Float64;
}
impl Loaded for Complex<f64> {
    const LOAD: Load = Load::Complex128;
}

/// # Safety
///
/// As for the methods of [`Simd`](super::Simd).
#[inline(always)]
pub(super) unsafe fn load<M: Casts, S: Loaded, T: Target<M>, const PART: bool>(
    m: M,
    p: *const u8,
    n: usize,
) -> [M::V; 4] {
    let odd = T::NEEDS_ODD;
    // SAFETY: the caller's promise is the same.
    unsafe {
        match S::LOAD {
            Load::Float32 => m.load_32::<PART>(p, n),
            Load::BFloat16 => m.load_high_16::<PART>(p, n),
            Load::Float16 => m.load_f16::<PART>(p, n),
            Load::Int16 => m.load_int16::<true, PART>(p, n),
            Load::UInt16 => m.load_int16::<false, PART>(p, n),
            Load::Int32 if odd => m.load_int32::<true, true, PART>(p, n),
            Load::Int32 => m.load_int32::<true, false, PART>(p, n),
            Load::UInt32 if odd => m.load_int32::<false, true, PART>(p, n),
            Load::UInt32 => m.load_int32::<false, false, PART>(p, n),
            Load::Int64 if odd => m.load_int64::<true, true, PART>(p, n),
            Load::Int64 => m.load_int64::<true, false, PART>(p, n),
            Load::UInt64 if odd => m.load_int64::<false, true, PART>(p, n),
            Load::UInt64 => m.load_int64::<false, false, PART>(p, n),
            Load::Float64 => match T::CLAMPED {
                true => m.load_f64::<true, PART>(p, n),
                false => m.load_f64::<false, PART>(p, n),
            },
            Load::Complex128 => m.load_c128::<PART>(p, n),
        }
    }
}

//! Elements of any covered source as a block of float32.

use super::target::Target;
use crate::vector::Casts;
use crate::{dtype::DType, format::Format};

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
pub(super) unsafe fn load<M: Casts, S: Format, T: Target<M>, const PART: bool>(
    m: M,
    p: *const u8,
    n: usize,
) -> [M::V; 4] {
    let odd = T::NEEDS_ODD;
    // SAFETY: as the caller's.
    unsafe {
        match S::DTYPE {
            DType::Float32 => m.load_32::<PART>(p, n),
            DType::BFloat16 => m.load_high_16::<PART>(p, n),
            DType::Float16 => m.load_f16::<PART>(p, n),
            DType::Int16 => m.load_int16::<true, PART>(p, n),
            DType::UInt16 => m.load_int16::<false, PART>(p, n),
            DType::Int32 if odd => m.load_int32::<true, true, PART>(p, n),
            DType::Int32 => m.load_int32::<true, false, PART>(p, n),
            DType::UInt32 if odd => m.load_int32::<false, true, PART>(p, n),
            DType::UInt32 => m.load_int32::<false, false, PART>(p, n),
            DType::Int64 if odd => m.load_int64::<true, true, PART>(p, n),
            DType::Int64 => m.load_int64::<true, false, PART>(p, n),
            DType::UInt64 if odd => m.load_int64::<false, true, PART>(p, n),
            DType::UInt64 => m.load_int64::<false, false, PART>(p, n),
            DType::Float64 => match T::CLAMPED {
                true => m.load_f64::<true, PART>(p, n),
                false => m.load_f64::<false, PART>(p, n),
            },
            DType::Complex128 => m.load_c128::<PART>(p, n),
            _ => unreachable!("`covers` lists the sources"),
        }
    }
}

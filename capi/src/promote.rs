//! Which dtype an operation computes in.

use crate::error::{
    Failure, LANECAST_BAD_OPTION, LANECAST_NO_PROMOTION, guarded, lanecast_error, lanecast_status,
};
use crate::types::{dtype, lanecast_type, number, put};
use lanecast::promote::{Casting, PromotionError, Standard, can_cast, promote};

/// The standards in the order of their numbers, which never change, whereas that of `Standard::ALL` may.
const STANDARDS: &[Standard] = &[
    Standard::MindSpore,
    Standard::MegEngine,
    Standard::MegEngineCore,
    Standard::ArrayApi,
    Standard::NumPy,
    Standard::Torch,
    Standard::Jax,
    Standard::JaxStrict,
    Standard::Onnx,
];
/// MindSpore's documented tables.
pub const LANECAST_MINDSPORE: u32 = 0;
/// MegEngine as documented.
pub const LANECAST_MEGENGINE: u32 = 1;
/// What MegEngine's operators do since version 1.9.
pub const LANECAST_MEGENGINE_CORE: u32 = 2;
/// The Python array API standard 2025.12.
pub const LANECAST_ARRAY_API: u32 = 3;
/// NumPy 2 with ml_dtypes.
pub const LANECAST_NUMPY: u32 = 4;
/// PyTorch.
pub const LANECAST_TORCH: u32 = 5;
/// JAX, standard promotion with 64-bit dtypes.
pub const LANECAST_JAX: u32 = 6;
/// JAX, strict promotion.
pub const LANECAST_JAX_STRICT: u32 = 7;
/// ONNX: operands of one dtype.
pub const LANECAST_ONNX: u32 = 8;

/// A casting rule: every value is kept.
pub const LANECAST_LOSSLESS: u32 = 0;
/// A casting rule: what the standard does by itself.
pub const LANECAST_SAFE: u32 = 1;
/// A casting rule: also to a narrower dtype of the same kind, and to higher kinds.
pub const LANECAST_SAME_KIND: u32 = 2;
/// A casting rule: every cast that the standard has.
pub const LANECAST_UNSAFE: u32 = 3;

impl From<PromotionError> for Failure {
    fn from(error: PromotionError) -> Self {
        Failure::Text(LANECAST_NO_PROMOTION, error.to_string())
    }
}

fn standard(number: u32) -> Result<Standard, Failure> {
    let found = STANDARDS.get(number as usize).copied();
    found.ok_or(Failure::Number(LANECAST_BAD_OPTION, "no standard has this number", i64::from(number)))
}

/// The dtype in which an operation on two computes. Types with flags are refused.
///
/// # Safety
///
/// `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_promote(
    standard: u32,
    a: lanecast_type,
    b: lanecast_type,
    out: *mut lanecast_type,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (standard, a, b) = (self::standard(standard)?, dtype(a)?, dtype(b)?);
            put(out, number(promote(standard, a, b)?))
        })
    }
}

/// Whether a standard allows a cast under a rule: `*out` becomes 1 or 0. Types with flags are refused.
///
/// # Safety
///
/// `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_can_cast(
    standard: u32,
    from: lanecast_type,
    to: lanecast_type,
    casting: u32,
    out: *mut i32,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (standard, from, to) = (self::standard(standard)?, dtype(from)?, dtype(to)?);
            let casting = match casting {
                LANECAST_LOSSLESS => Casting::Lossless,
                LANECAST_SAFE => Casting::Safe,
                LANECAST_SAME_KIND => Casting::SameKind,
                LANECAST_UNSAFE => Casting::Unsafe,
                other => {
                    let text = "no casting rule has this number";
                    return Err(Failure::Number(LANECAST_BAD_OPTION, text, i64::from(other)));
                }
            };
            put(out, i32::from(can_cast(standard, from, to, casting)?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_standard_has_a_number() {
        for standard in Standard::ALL {
            assert_eq!(STANDARDS.iter().filter(|other| *other == standard).count(), 1, "{standard:?}");
        }
        assert_eq!(STANDARDS.len(), Standard::ALL.len());
        assert_eq!(STANDARDS[LANECAST_TORCH as usize], Standard::Torch);
        assert_eq!(STANDARDS[LANECAST_ONNX as usize], Standard::Onnx);
    }
}

//! Which dtype an operation computes in.

use crate::error::{
    Failure, LANECAST_ERR_BAD_OPTION, LANECAST_ERR_NO_PROMOTION, guarded, lanecast_error, lanecast_status,
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
/// Whose rules of promotion apply.
pub type lanecast_standard = u32;
/// MindSpore's documented tables.
pub const LANECAST_STANDARD_MINDSPORE: lanecast_standard = 0;
/// MegEngine as documented.
pub const LANECAST_STANDARD_MEGENGINE: lanecast_standard = 1;
/// What MegEngine's operators do since version 1.9.
pub const LANECAST_STANDARD_MEGENGINE_CORE: lanecast_standard = 2;
/// The Python array API standard 2025.12.
pub const LANECAST_STANDARD_ARRAY_API: lanecast_standard = 3;
/// NumPy 2 with ml_dtypes.
pub const LANECAST_STANDARD_NUMPY: lanecast_standard = 4;
/// PyTorch.
pub const LANECAST_STANDARD_TORCH: lanecast_standard = 5;
/// JAX, standard promotion with 64-bit dtypes.
pub const LANECAST_STANDARD_JAX: lanecast_standard = 6;
/// JAX, strict promotion.
pub const LANECAST_STANDARD_JAX_STRICT: lanecast_standard = 7;
/// ONNX: operands of one dtype.
pub const LANECAST_STANDARD_ONNX: lanecast_standard = 8;

/// Which casts are allowed.
pub type lanecast_casting = u32;
/// Casts that keep every value.
pub const LANECAST_CASTING_LOSSLESS: lanecast_casting = 0;
/// Casts that the standard does by itself.
pub const LANECAST_CASTING_SAFE: lanecast_casting = 1;
/// Also casts to a narrower dtype of the same kind, and to higher kinds.
pub const LANECAST_CASTING_SAME_KIND: lanecast_casting = 2;
/// Every cast that the standard has.
pub const LANECAST_CASTING_UNSAFE: lanecast_casting = 3;

impl From<PromotionError> for Failure {
    fn from(error: PromotionError) -> Self {
        Failure::Text(LANECAST_ERR_NO_PROMOTION, error.to_string())
    }
}

fn standard(number: lanecast_standard) -> Result<Standard, Failure> {
    let found = STANDARDS.get(number as usize).copied();
    found.ok_or(Failure::Number(
        LANECAST_ERR_BAD_OPTION,
        "this number is not a lanecast_standard",
        i64::from(number),
    ))
}

/// The dtype in which an operation on two computes. Types with flags are refused.
///
/// # Safety
///
/// `out` and `error` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_promote(
    standard: lanecast_standard,
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
    standard: lanecast_standard,
    from: lanecast_type,
    to: lanecast_type,
    casting: lanecast_casting,
    out: *mut i32,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let (standard, from, to) = (self::standard(standard)?, dtype(from)?, dtype(to)?);
            let casting = match casting {
                LANECAST_CASTING_LOSSLESS => Casting::Lossless,
                LANECAST_CASTING_SAFE => Casting::Safe,
                LANECAST_CASTING_SAME_KIND => Casting::SameKind,
                LANECAST_CASTING_UNSAFE => Casting::Unsafe,
                other => {
                    let text = "this number is not a lanecast_casting";
                    return Err(Failure::Number(LANECAST_ERR_BAD_OPTION, text, i64::from(other)));
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
        assert_eq!(STANDARDS[LANECAST_STANDARD_TORCH as usize], Standard::Torch);
        assert_eq!(STANDARDS[LANECAST_STANDARD_ONNX as usize], Standard::Onnx);
    }
}

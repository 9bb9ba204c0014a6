//! The tier that new plans use.

use crate::error::{guarded, lanecast_error, lanecast_status};
use crate::types::text;
use lanecast::{CastError, Tier, tier};
use std::ffi::c_char;
use std::ptr;

/// The name of the tier that new plans use: "avx512", "avx2", "neon", "wasm128" or "scalar", a static string.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_active_tier() -> *const c_char {
    match tier::active() {
        Tier::Avx512 => c"avx512",
        Tier::Avx2 => c"avx2",
        Tier::Neon => c"neon",
        Tier::Wasm128 => c"wasm128",
        Tier::Scalar => c"scalar",
        _ => return ptr::null(),
    }
    .as_ptr()
}

/// Makes new plans of the whole process use a tier; NULL takes that back.
///
/// # Safety
///
/// `name` is NULL or a string that ends with 0; `error` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lanecast_force_tier(
    name: *const c_char,
    error: *mut lanecast_error,
) -> lanecast_status {
    // SAFETY: the pointers are as the caller promises.
    unsafe {
        guarded(error, || {
            let named = if name.is_null() {
                None
            } else {
                Some(text(name)?.parse::<Tier>().map_err(CastError::UnknownName)?)
            };
            Ok(tier::force(named)?)
        })
    }
}

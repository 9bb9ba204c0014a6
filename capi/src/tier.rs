//! The tier that new plans use.

use crate::error::{guarded, lanecast_error, lanecast_status};
use crate::types::text;
use lanecast::{CastError, Tier, tier};
use std::ffi::c_char;

/// The name of the tier that new plans use: "avx512", "avx2", "neon", "wasm128" or "scalar", a static string.
#[unsafe(no_mangle)]
pub extern "C" fn lanecast_active_tier() -> *const c_char {
    NAMES[tier::active() as usize].as_ptr().cast()
}

/// The names of all tiers, each followed by zeros.
static NAMES: [[u8; 16]; Tier::ALL.len()] = {
    let (mut names, mut i) = ([[0; 16]; Tier::ALL.len()], 0);
    while i < names.len() {
        let name = Tier::ALL[i].name().as_bytes();
        assert!(name.len() < names[i].len(), "a zero ends each name");
        let mut k = 0;
        while k < name.len() {
            names[i][k] = name[k];
            k += 1;
        }
        i += 1;
    }
    names
};

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

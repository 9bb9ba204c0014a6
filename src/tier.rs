//! Which tier new plans use.
//!
//! The strongest one that can run here, unless the environment variable `LANECAST_TIER` (`scalar`, `avx2`, `avx512`, `neon`)
//! or [`force`] says otherwise. All tiers give the same bits; a lower one is for comparing and for debugging. The choice is
//! made at the first plan and kept; plans keep the tier they were made with.

use crate::{CastError, Tier};
use alloc::{format, string::String};
use core::sync::atomic::{AtomicU8, Ordering};

/// The index of the tier in use, or [`UNDECIDED`].
static ACTIVE: AtomicU8 = AtomicU8::new(UNDECIDED);
const UNDECIDED: u8 = u8::MAX;

/// The tier that new plans use.
///
/// # Errors
///
/// [`CastError::UnknownTier`] or [`CastError::Unsupported`] if `LANECAST_TIER` names a tier that does not exist or cannot run
/// here.
#[inline]
pub fn active() -> Result<Tier, CastError> {
    // Relaxed is enough: the byte is the whole message, and every thread that decides decides the same.
    match Tier::from_index(ACTIVE.load(Ordering::Relaxed)) {
        Some(tier) => Ok(tier),
        None => decide(),
    }
}

#[cold]
fn decide() -> Result<Tier, CastError> {
    let tier = match from_environment()? {
        Some(tier) => available(tier)?,
        None => Tier::best(),
    };
    ACTIVE.store(tier as u8, Ordering::Relaxed);
    Ok(tier)
}

/// Makes new plans use `tier`, whatever the environment says; `None` goes back to the choice that is made without a call.
///
/// # Errors
///
/// [`CastError::Unsupported`], with nothing changed, if the tier cannot run here.
pub fn force(tier: Option<Tier>) -> Result<(), CastError> {
    let index = match tier {
        Some(tier) => available(tier)? as u8,
        None => UNDECIDED,
    };
    ACTIVE.store(index, Ordering::Relaxed);
    Ok(())
}

/// A sentence about the choice, for people: `"avx2 is the strongest tier that this CPU and this version have"`.
///
/// # Errors
///
/// As [`active`].
pub fn reason() -> Result<String, CastError> {
    let tier = active()?;
    Ok(match from_environment() {
        Ok(Some(asked)) if asked == tier => format!("{tier}, because LANECAST_TIER asks for it"),
        _ if tier == Tier::best() => {
            format!("{tier}, the strongest tier that both this CPU and this version have")
        }
        _ => format!("{tier}, because the program forced it"),
    })
}

pub(crate) fn available(tier: Tier) -> Result<Tier, CastError> {
    if tier.is_available() { Ok(tier) } else { Err(CastError::Unsupported { tier, status: tier.status() }) }
}

#[cfg(feature = "std")]
fn from_environment() -> Result<Option<Tier>, CastError> {
    match std::env::var_os("LANECAST_TIER") {
        Some(name) if !name.is_empty() => Ok(Some(name.to_string_lossy().parse()?)),
        _ => Ok(None),
    }
}

#[cfg(not(feature = "std"))]
fn from_environment() -> Result<Option<Tier>, CastError> {
    Ok(None)
}

//! Which tier new plans use.
//!
//! The strongest one that can run here, unless the environment variable `LANECAST_TIER` (`scalar`, `avx2`, `avx512`, `neon`)
//! or [`force`] says otherwise. All tiers give the same bits; a lower one is for comparing and for debugging. The choice is
//! made at the first plan and kept; plans keep the tier they were made with.

use crate::{CastError, Tier};
use core::sync::atomic::{AtomicU8, Ordering};

/// The index of the tier that [`force`] asked for, or [`NONE`].
static FORCED: AtomicU8 = AtomicU8::new(NONE);
/// The index of the tier that was found without it, or [`NONE`] before the first plan.
static FOUND: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = u8::MAX;

/// The tier that new plans use.
///
/// # Errors
///
/// [`CastError::UnknownTier`] or [`CastError::Unsupported`] if `LANECAST_TIER` names a tier that does not exist or cannot run
/// here.
#[inline]
pub fn active() -> Result<Tier, CastError> {
    // Relaxed is enough: each byte is the whole message, and every thread that finds finds the same.
    match Tier::from_index(FORCED.load(Ordering::Relaxed)).or(Tier::from_index(FOUND.load(Ordering::Relaxed)))
    {
        Some(tier) => Ok(tier),
        None => find(),
    }
}

#[cold]
fn find() -> Result<Tier, CastError> {
    let tier = match from_environment()? {
        Some(tier) => available(tier)?,
        None => Tier::best(),
    };
    FOUND.store(tier as u8, Ordering::Relaxed);
    Ok(tier)
}

/// Makes new plans use `tier`, whatever the environment says; `None` takes that back.
///
/// # Errors
///
/// [`CastError::Unsupported`], with nothing changed, if the tier cannot run here.
pub fn force(tier: Option<Tier>) -> Result<(), CastError> {
    let index = match tier {
        Some(tier) => available(tier)? as u8,
        None => NONE,
    };
    FORCED.store(index, Ordering::Relaxed);
    Ok(())
}

/// Why the tier in use was chosen, for people: `"the strongest tier that both this CPU and this version have"`.
///
/// # Errors
///
/// As [`active`].
pub fn reason() -> Result<&'static str, CastError> {
    active()?;
    Ok(if FORCED.load(Ordering::Relaxed) != NONE {
        "the program forced it"
    } else if from_environment()?.is_some() {
        "LANECAST_TIER asks for it"
    } else {
        "the strongest tier that both this CPU and this version have"
    })
}

fn available(tier: Tier) -> Result<Tier, CastError> {
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

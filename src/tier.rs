//! Which tier new plans use.
//!
//! It is the strongest tier that can run here, unless the environment variable `LANECAST_TIER` (`scalar`, `avx2`, `avx512`,
//! `neon`, `wasm128`) or [`force`] names another. All tiers give the same bits; lower tiers are for comparison and debugging. The choice is
//! made at the first plan and kept; plans keep the tier they were made with.
//!
//! A cast never fails because of the environment. If `LANECAST_TIER` names a tier that does not exist or cannot run here, or
//! `LANECAST_DISABLE` a CPU feature that no kernel uses, the library writes one line on standard error and ignores the name.
//! A program that would rather stop calls [`from_env`] when it starts. Without the feature `std` there is no environment.

use crate::error::CastError;
use alloc::string::String;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};
use lanecast_kernels::{Tier, TierStatus, UnknownName, typed::TierToken};

/// The index of the tier set by [`force`], or [`NONE`].
static FORCED: AtomicU8 = AtomicU8::new(NONE);
/// The index of the tier chosen without [`force`], or [`NONE`] before the first plan.
static FOUND: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = u8::MAX;

/// The tier that new plans use.
#[inline]
pub fn active() -> Tier {
    token().tier()
}

/// The tier that new plans use, with the proof that it can run here.
#[inline]
pub(crate) fn token() -> TierToken {
    match TierToken::active() {
        Some(token) => token,
        None => find(),
    }
}

/// Warns once about a wrong `LANECAST_DISABLE`; for plans whose tier is given by the caller.
#[inline]
pub(crate) fn check_features() {
    if FOUND.load(Ordering::Relaxed) == NONE {
        environment::check_features();
    }
}

#[cold]
fn find() -> TierToken {
    environment::check_tier();
    environment::check_features();
    let named = environment::tier().ok().flatten().and_then(TierToken::new);
    let token = named.unwrap_or_else(TierToken::best);
    FOUND.store(token.tier() as u8, Ordering::Relaxed);
    // Another thread may just have forced a tier.
    token.activate_first()
}

/// Makes new plans use `tier`, whatever the environment says; `None` undoes this.
///
/// # Errors
///
/// [`CastError::Unsupported`], with nothing changed, if the tier cannot run here.
pub fn force(tier: Option<Tier>) -> Result<(), CastError> {
    let Some(tier) = tier else {
        FORCED.store(NONE, Ordering::Relaxed);
        match Tier::from_index(FOUND.load(Ordering::Relaxed)).and_then(TierToken::new) {
            Some(found) => found.activate(),
            None => TierToken::deactivate(),
        }
        return Ok(());
    };
    let Some(token) = TierToken::new(tier) else {
        return Err(CastError::Unsupported { tier, status: tier.status() });
    };
    FORCED.store(tier as u8, Ordering::Relaxed);
    token.activate();
    Ok(())
}

/// Why the tier in use was chosen, in words: `"the strongest tier that both this CPU and this version have"`.
pub fn reason() -> &'static str {
    if FORCED.load(Ordering::Relaxed) != NONE {
        "the program forced it"
    } else if matches!(environment::tier(), Ok(Some(_))) {
        "LANECAST_TIER names it"
    } else {
        "the strongest tier that both this CPU and this version have"
    }
}

/// Checks the environment variables: the tier that `LANECAST_TIER` names, `None` if it is not set or empty.
///
/// Casts ignore a wrong variable and warn on standard error. A program that calls this when it starts can refuse to run
/// instead. Without the feature `std` the result is `Ok(None)`.
///
/// ```
/// use lanecast::tier;
/// match tier::from_env() {
///     Ok(tier) => println!("{}", tier.unwrap_or_else(tier::active)),
///     Err(error) => eprintln!("{error}"),
/// }
/// ```
///
/// # Errors
///
/// [`EnvError`] if `LANECAST_TIER` names a tier that does not exist or cannot run here, or `LANECAST_DISABLE` holds a name
/// that is not in [`Tier::FEATURES`].
pub fn from_env() -> Result<Option<Tier>, EnvError> {
    let tier = environment::tier()?;
    environment::disable().map(|()| tier)
}

/// An environment variable with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvError {
    /// `LANECAST_TIER` names no tier.
    UnknownTier(UnknownName),
    /// `LANECAST_TIER` names a tier that cannot run here.
    Unsupported {
        /// The tier.
        tier: Tier,
        /// Why it cannot run.
        status: TierStatus,
    },
    /// `LANECAST_DISABLE` holds a name that is not in [`Tier::FEATURES`].
    UnknownFeature {
        /// The whole value of the variable.
        value: String,
        /// The first name in it that no kernel knows.
        name: String,
    },
}

impl fmt::Display for EnvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, mut names: impl Iterator<Item = &'static str>) -> fmt::Result {
            names.next().map_or(Ok(()), |name| f.write_str(name))?;
            names.try_for_each(|name| write!(f, ", {name}"))
        }
        let available = || Tier::ALL.iter().filter(|tier| tier.is_available()).map(|tier| tier.name());
        match self {
            EnvError::UnknownTier(UnknownName { name, .. }) => {
                write!(f, "LANECAST_TIER={name:?}: no tier has this name; those that can run here are ")?;
                list(f, available())
            }
            EnvError::Unsupported { tier, status } => {
                write!(f, "LANECAST_TIER={tier}: the tier cannot run here, {status}; those that can are ")?;
                list(f, available())
            }
            EnvError::UnknownFeature { value, name } => {
                write!(
                    f,
                    "LANECAST_DISABLE={value:?}: no kernel uses a CPU feature {name:?}; the names are "
                )?;
                list(f, Tier::FEATURES.iter().copied())
            }
        }
    }
}

impl core::error::Error for EnvError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            EnvError::UnknownTier(error) => Some(error),
            EnvError::Unsupported { .. } | EnvError::UnknownFeature { .. } => None,
        }
    }
}

#[cfg(feature = "std")]
mod environment {
    use super::EnvError;
    use crate::Tier;
    use core::sync::atomic::{AtomicBool, Ordering};
    use std::{env, format, io, io::Write, string::String};

    /// The tier that `LANECAST_TIER` names.
    pub(super) fn tier() -> Result<Option<Tier>, EnvError> {
        let name = env::var_os("LANECAST_TIER").unwrap_or_default();
        if name.is_empty() {
            return Ok(None);
        }
        let tier: Tier = name.to_string_lossy().parse().map_err(EnvError::UnknownTier)?;
        if tier.is_available() {
            Ok(Some(tier))
        } else {
            Err(EnvError::Unsupported { tier, status: tier.status() })
        }
    }

    /// Checks the names in `LANECAST_DISABLE`.
    pub(super) fn disable() -> Result<(), EnvError> {
        let value = env::var_os("LANECAST_DISABLE").unwrap_or_default();
        let value = value.to_string_lossy();
        let unknown = |name: &&str| !name.is_empty() && !Tier::FEATURES.contains(name);
        match value.split(',').map(str::trim).find(unknown) {
            None => Ok(()),
            Some(name) => {
                Err(EnvError::UnknownFeature { name: name.into(), value: value.clone().into_owned() })
            }
        }
    }

    /// Warns once if `LANECAST_TIER` is wrong.
    pub(super) fn check_tier() {
        static CHECKED: AtomicBool = AtomicBool::new(false);
        once(&CHECKED, || tier().err().map(|error| (error, format!("casts use {}", Tier::best()))));
    }

    /// Warns once if `LANECAST_DISABLE` is wrong.
    pub(super) fn check_features() {
        static CHECKED: AtomicBool = AtomicBool::new(false);
        once(&CHECKED, || disable().err().map(|error| (error, "other names in it count".into())));
    }

    /// Writes the error to standard error, with what is done instead.
    fn once(checked: &AtomicBool, check: impl FnOnce() -> Option<(EnvError, String)>) {
        if checked.load(Ordering::Relaxed) || checked.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Some((error, instead)) = check() {
            // If standard error is closed, the warning is lost.
            let _ = writeln!(io::stderr(), "lanecast: warning: {error}. It is ignored, {instead}.");
        }
    }
}

#[cfg(not(feature = "std"))]
mod environment {
    use super::EnvError;
    use crate::Tier;

    pub(super) fn tier() -> Result<Option<Tier>, EnvError> {
        Ok(None)
    }

    pub(super) fn disable() -> Result<(), EnvError> {
        Ok(())
    }

    pub(super) fn check_tier() {}

    pub(super) fn check_features() {}
}

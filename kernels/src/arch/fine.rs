//! The features beyond those of a tier that some of its kernels use.
//!
//! A CPU has any combination of them, so there is a table of kernels per combination, chosen once. The environment variable
//! `LANECAST_DISABLE` names features to do without: to test what other CPUs run, and to steer clear of a slow one.

use core::sync::atomic::{AtomicU8, Ordering};

/// A feature by the name that Rust knows it by, and whether the CPU has it.
pub(super) type Feature = (&'static str, fn() -> bool);

/// The combination of this CPU as bits, in the order of a list of features; found when it is first asked for.
pub(super) struct Found(AtomicU8);

impl Found {
    const UNKNOWN: u8 = u8::MAX;

    pub(super) const fn new() -> Self {
        Self(AtomicU8::new(Self::UNKNOWN))
    }

    /// The combination that kernels may use here.
    #[inline]
    pub(super) fn get(&self, features: &[Feature]) -> u8 {
        // Relaxed is enough: the byte is the whole message, and every thread that finds finds the same.
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => self.find(features),
            found => found,
        }
    }

    #[cold]
    fn find(&self, features: &[Feature]) -> u8 {
        let mut found = 0;
        for (i, (name, has)) in features.iter().enumerate() {
            found |= ((has() && !disabled(name)) as u8) << i;
        }
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

#[cfg(feature = "std")]
fn disabled(feature: &str) -> bool {
    let names = std::env::var("LANECAST_DISABLE").unwrap_or_default();
    names.split(',').any(|name| name.trim() == feature)
}

#[cfg(not(feature = "std"))]
fn disabled(_: &str) -> bool {
    false
}

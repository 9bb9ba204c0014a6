//! The tier that typed casts use.

use crate::arch::TierToken;
use core::sync::atomic::{AtomicU8, Ordering};

/// The variant of the active token, or [`NONE`].
static ACTIVE: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = u8::MAX;

// Every access is relaxed, because the byte publishes no other data. The CPU features of a tier were checked before its token was
// made, and that holds for every thread.
impl TierToken {
    /// The active tier; `None` before there is one.
    #[inline]
    pub fn active() -> Option<TierToken> {
        // SAFETY: only variants of tokens are stored, and `NONE`, which is no variant.
        unsafe { TierToken::from_variant(ACTIVE.load(Ordering::Relaxed)) }
    }

    /// Makes this tier the active one.
    pub fn activate(self) {
        ACTIVE.store(self.variant() as u8, Ordering::Relaxed);
    }

    /// Makes this tier the active one if there is none; returns the active tier.
    pub fn activate_first(self) -> TierToken {
        let this = self.variant() as u8;
        match ACTIVE.compare_exchange(NONE, this, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => self,
            // SAFETY: as in `active`.
            Err(other) => unsafe { TierToken::from_variant(other) }.unwrap_or(self),
        }
    }

    /// Leaves no tier active.
    pub fn deactivate() {
        ACTIVE.store(NONE, Ordering::Relaxed);
    }
}

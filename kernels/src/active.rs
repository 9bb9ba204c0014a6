//! The tier that typed casts use, and the proof that it can run here.

use crate::arch::Tier;
use core::sync::atomic::{AtomicU8, Ordering};

/// A tier that can run here: functions that take one need not check it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TierToken(Tier);

/// The index of the tier, or [`NONE`].
static ACTIVE: AtomicU8 = AtomicU8::new(NONE);
const NONE: u8 = u8::MAX;

// Every access is relaxed, because the byte publishes no other data. The CPU features of a tier were checked before its token was
// made, and that holds for every thread.
impl TierToken {
    /// `None` if the tier cannot run here.
    pub fn new(tier: Tier) -> Option<TierToken> {
        tier.is_available().then_some(TierToken(tier))
    }

    /// The strongest tier that can run here.
    pub fn best() -> TierToken {
        TierToken(Tier::best())
    }

    /// The tier.
    #[inline]
    pub const fn tier(self) -> Tier {
        self.0
    }

    /// The active tier; `None` before there is one.
    #[inline]
    pub fn active() -> Option<TierToken> {
        // Only indices of tokens are stored.
        Tier::from_index(ACTIVE.load(Ordering::Relaxed)).map(TierToken)
    }

    /// Makes this the active tier.
    pub fn activate(self) {
        ACTIVE.store(self.0 as u8, Ordering::Relaxed);
    }

    /// Makes this the active tier if there is none; returns the active tier.
    pub fn activate_first(self) -> TierToken {
        match ACTIVE.compare_exchange(NONE, self.0 as u8, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => self,
            Err(other) => Tier::from_index(other).map_or(self, TierToken),
        }
    }

    /// Leaves no tier active.
    pub fn deactivate() {
        ACTIVE.store(NONE, Ordering::Relaxed);
    }
}

//! The process-wide choice of the tier, which the tests of one program share.

use lanecast::{Tier, tier};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps other tests from forcing a tier until the guard is dropped.
pub fn lock() -> MutexGuard<'static, ()> {
    static FORCED: Mutex<()> = Mutex::new(());
    FORCED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function on every available tier.
pub fn on_every_tier(check: impl FnMut(Tier)) {
    on_tiers(Tier::ALL.iter().copied().filter(|tier| tier.is_available()), check);
}

/// Calls a function on these tiers.
pub fn on_tiers(tiers: impl IntoIterator<Item = Tier>, mut check: impl FnMut(Tier)) {
    let _lock = lock();
    for tier in tiers {
        tier::force(Some(tier)).expect("it is available");
        check(tier);
    }
    tier::force(None).expect("undone");
}

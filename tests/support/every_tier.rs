//! A function called on every tier that can run here.

use lanecast::{Tier, tier};
use std::sync::{Mutex, PoisonError};

/// Calls a function on every tier. Tests that force a tier take turns.
pub fn on_every_tier(mut check: impl FnMut(Tier)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for tier in Tier::ALL.iter().copied().filter(|tier| tier.is_available()) {
        tier::force(Some(tier)).expect("it is available");
        check(tier);
    }
    tier::force(None).expect("undone");
}

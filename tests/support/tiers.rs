//! The tiers that this machine can run.

use super::say;
use lanecast::Tier;
use std::sync::OnceLock;

/// The available tiers. The absent ones are named once per test binary, and if `LANECAST_REQUIRE_TIERS` (names
/// separated by commas) asks for one of them, the test fails.
pub fn tiers() -> &'static [Tier] {
    static TIERS: OnceLock<Vec<Tier>> = OnceLock::new();
    let available = TIERS.get_or_init(|| {
        for &tier in Tier::ALL {
            if !tier.is_available() {
                say(&format!("skipped: tier {}: {}", tier.name(), tier.status()));
            }
        }
        Tier::ALL.iter().copied().filter(|tier| tier.is_available()).collect()
    });
    let required = std::env::var("LANECAST_REQUIRE_TIERS").unwrap_or_default();
    for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let tier: Tier =
            name.parse().unwrap_or_else(|_| panic!("LANECAST_REQUIRE_TIERS names no tier: {name:?}"));
        assert!(
            available.contains(&tier),
            "LANECAST_REQUIRE_TIERS: tier {name} is absent: {}",
            tier.status()
        );
    }
    available
}

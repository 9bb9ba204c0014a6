//! The tiers that this machine can run.

use super::say;
use lanecast::Tier;
use std::sync::OnceLock;

/// The available tiers. The absent ones are named once per test binary, and if `LANECAST_REQUIRE_TIERS` (names
/// separated by commas) asks for one of them, the test fails. `LANECAST_TEST_TIERS` restricts a long test to some.
pub fn tiers() -> &'static [Tier] {
    static TIERS: OnceLock<Vec<Tier>> = OnceLock::new();
    let available = TIERS.get_or_init(|| {
        for &tier in Tier::ALL {
            if !tier.is_available() {
                say(&format!("skipped: tier {}: {}", tier.name(), tier.status()));
            }
        }
        let only = std::env::var("LANECAST_TEST_TIERS").unwrap_or_default();
        let wanted = |tier: &Tier| only.is_empty() || only.split(',').any(|name| name == tier.name());
        let tiers: Vec<Tier> =
            Tier::ALL.iter().copied().filter(|tier| tier.is_available() && wanted(tier)).collect();
        assert!(!tiers.is_empty(), "LANECAST_TEST_TIERS: none of {only:?} can run here");
        tiers
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

//! Which tiers a build has, and how they are named.

use lanecast::{Tier, TierStatus, tier};

#[test]
fn targets_with_vectors_run_them() {
    let of_target = if cfg!(all(target_arch = "wasm32", target_feature = "simd128", feature = "wasm128")) {
        Some(Tier::Wasm128)
    } else if cfg!(all(target_arch = "aarch64", target_endian = "little", feature = "neon")) {
        Some(Tier::Neon)
    } else {
        None
    };
    if let Some(of_target) = of_target {
        assert_eq!(Tier::best(), of_target);
        assert!(of_target.is_available());
    }
    assert!(tier::active().is_available());
}

#[test]
fn webassembly_without_vectors_says_that_the_tier_is_not_built() {
    let expected = match (cfg!(target_arch = "wasm32"), cfg!(target_feature = "simd128")) {
        (true, true) if cfg!(feature = "wasm128") => TierStatus::Available,
        (true, _) => TierStatus::NotBuilt,
        (false, _) => TierStatus::OtherArchitecture,
    };
    assert_eq!(Tier::Wasm128.status(), expected);
}

#[test]
fn names_are_those_of_all_interfaces() {
    for (i, tier) in Tier::ALL.iter().enumerate() {
        assert_eq!(*tier as usize, i);
        assert_eq!(tier.name().parse(), Ok(*tier));
    }
}

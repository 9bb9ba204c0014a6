//! The tiers of x86.

#[path = "avx2.rs"]
mod avx2;
#[path = "avx512.rs"]
mod avx512;

use super::Tier;
use crate::table::Table;

pulp::simd_type!({
    /// Proves the tier `avx2`.
    pub(super) struct Avx2 {
        pub avx: f!("avx"),
        pub avx2: f!("avx2"),
        pub fma: f!("fma"),
        pub f16c: f!("f16c"),
        pub bmi1: f!("bmi1"),
        pub bmi2: f!("bmi2"),
        pub lzcnt: f!("lzcnt"),
        pub popcnt: f!("popcnt"),
    }

    /// Proves the tier `avx512`, beside [`Avx2`].
    pub(super) struct Avx512 {
        pub avx512f: f!("avx512f"),
        pub avx512bw: f!("avx512bw"),
        pub avx512vl: f!("avx512vl"),
        pub avx512dq: f!("avx512dq"),
    }
});

pub(super) fn detected(tier: Tier) -> Option<bool> {
    match tier {
        Tier::Avx2 => Some(Avx2::try_new().is_some()),
        Tier::Avx512 => Some(Avx2::try_new().is_some() && Avx512::try_new().is_some()),
        _ => None,
    }
}

pub(super) const fn table(tier: Tier) -> Option<&'static Table> {
    match tier {
        Tier::Avx2 => Some(&avx2::TABLE),
        Tier::Avx512 => Some(&avx512::TABLE),
        _ => None,
    }
}

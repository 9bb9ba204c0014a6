//! The tier of 64-bit Arm, which has no kernels yet.

use super::Tier;
use crate::{
    format::packed::{self, Packing},
    stream::NonTemporal,
    table::Table,
};

pulp::simd_type!({
    /// Proves the tier `neon`.
    pub(super) struct Neon {
        pub neon: f!("neon"),
    }
});

pub(super) fn detected(tier: Tier) -> Option<bool> {
    matches!(tier, Tier::Neon).then(|| Neon::try_new().is_some())
}

pub(super) fn table(_: Tier) -> Option<&'static Table> {
    None
}

pub(super) fn features(_: Tier) -> &'static [&'static str] {
    &[]
}

pub(super) fn packing(_: Tier) -> &'static Packing {
    &packed::SCALAR
}

/// Arm's cores find out by themselves that lines are written whole.
pub(super) fn non_temporal(_: Tier) -> Option<&'static NonTemporal> {
    None
}

pub(super) fn last_cache() -> usize {
    usize::MAX
}

//! The proof that a tier can run here.

use super::{FIRST, TIERS, Tier, VARIANTS};
use core::fmt;

/// A tier that can run here: functions that take one need not check it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TierToken(
    /// The index of a backend among those of all tiers, less than [`VARIANTS`]: that of the tier for the features of this CPU.
    u8,
);

impl TierToken {
    /// The scalar tier, which every CPU runs.
    pub(crate) const SCALAR: Self = TierToken(0);

    /// `None` if the tier cannot run here.
    pub fn new(tier: Tier) -> Option<Self> {
        let first = Self::first(tier)?;
        first.detected()().then(|| TierToken(first.0 + first.combination()()))
    }

    /// Whether the CPU has a tier; `None` if this build has no kernels of it.
    pub(super) fn detects(tier: Tier) -> Option<bool> {
        Self::first(tier).map(|first| first.detected()())
    }

    /// Names the first backend of a tier. It proves nothing.
    fn first(tier: Tier) -> Option<Self> {
        FIRST[tier as usize].map(TierToken)
    }

    /// The strongest tier that can run here.
    pub fn best() -> Self {
        Tier::ALL.iter().rev().find_map(|tier| Self::new(*tier)).unwrap_or(Self::SCALAR)
    }

    /// The tier.
    #[inline]
    pub const fn tier(self) -> Tier {
        TIERS[self.0 as usize]
    }

    /// The number of the kernels that run, among those of a pair for every tier and combination of CPU features.
    #[inline]
    pub(crate) const fn variant(self) -> usize {
        self.0 as usize
    }

    /// The token of a variant; `None` if there is no such variant.
    ///
    /// # Safety
    ///
    /// If there is, the variant is that of a token.
    #[inline]
    pub(crate) const unsafe fn from_variant(variant: u8) -> Option<Self> {
        if (variant as usize) < VARIANTS { Some(TierToken(variant)) } else { None }
    }
}

impl fmt::Debug for TierToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TierToken").field(&self.tier()).finish()
    }
}

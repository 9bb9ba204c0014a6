//! The proof that a tier can run here.

use super::{
    backend::for_each_field,
    built::{BACKENDS, FIRST, TIERS, VARIANTS},
    tier::{Tier, TierStatus},
};
use crate::{
    dtype::{DType, Encoding},
    exact::Rules,
    format::{lut::Lut, packed::Packing},
    vector::{
        kernel::{KernelFn, Rounded, TableFn},
        loss::{self, Shape},
        moves::{
            copy::CopyPlane,
            order::{self, Swaps},
            tile::Transpose,
        },
        non_temporal::NonTemporal,
        scaled::{self, Fused, Step},
        table::Table,
    },
};
use core::fmt;

/// A tier that can run here. Functions that take one need not check the CPU.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TierToken(
    /// The index of a backend among the backends of all tiers, less than [`VARIANTS`]: the tier's backend for the features of this CPU.
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

    /// Names the first backend of a tier, without proof that it can run.
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

    /// The number of the kernel that runs, among the kernels of a pair for every tier and combination of CPU features.
    #[inline]
    pub(crate) const fn variant(self) -> usize {
        self.0 as usize
    }

    /// The token of a variant; `None` if there is no such variant.
    ///
    /// # Safety
    ///
    /// If there is such a variant, it is the variant of some token.
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

/// Defines a method for each field of a backend.
macro_rules! define_fields {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => {
        impl TierToken {
            $(
                $(#[$doc])*
                #[inline]
                pub(crate) fn $field(self) -> $type {
                    static BY_VARIANT: [$type; VARIANTS] = {
                        let (mut fields, mut i) = ([BACKENDS[0].$field; VARIANTS], 1);
                        while i < VARIANTS {
                            fields[i] = BACKENDS[i].$field;
                            i += 1;
                        }
                        fields
                    };
                    BY_VARIANT[self.variant()]
                }
            )*
        }
    };
}
for_each_field!(define_fields);

impl TierToken {
    /// The kernel that reverses the byte order of the elements of a dtype wider than a byte.
    pub(crate) fn swap(self, dtype: DType) -> KernelFn {
        self.swaps()[order::PLACES[dtype as usize] as usize]
    }
}

impl Tier {
    /// The optional features that this CPU has and for which the tier has faster kernels, by Rust's names. `LANECAST_DISABLE` (names separated
    /// by commas) keeps kernels from using some.
    pub fn features(self) -> &'static [&'static str] {
        TierToken::new(self).map_or(&[], TierToken::features)
    }

    /// Whether the tier can run here, and if not, why.
    pub fn status(self) -> TierStatus {
        match TierToken::detects(self) {
            None if self.is_left_out() => TierStatus::NotBuilt,
            None => TierStatus::OtherArchitecture,
            Some(false) => TierStatus::CpuLacks,
            Some(true) => TierStatus::Available,
        }
    }

    /// Whether the tier can run here.
    pub fn is_available(self) -> bool {
        TierToken::detects(self) == Some(true)
    }

    /// The strongest tier that can run here.
    pub fn best() -> Tier {
        TierToken::best().tier()
    }
}

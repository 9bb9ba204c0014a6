//! The tiers that this build has: their backends, and their kernels for typed casts.

use super::{
    backend::Backend,
    tier::{Tier, for_each_tier},
};
use crate::{format::Format, vector::kernel::PairEntry};

macro_rules! define_built {
    ($(
        $(#[$doc:meta])*
        $tier:ident = $name:literal {
            architecture: $architecture:meta,
            cargo_feature: $cargo_feature:meta,
            built: $built:meta,
            required: [$($required:literal),*],
            optional: [$($optional:literal),*],
            backend: $($module:ident)::+,
        }
    )*) => {
        /// The backends of each tier that this build has.
        const BUILT: &[(Tier, &[Backend])] = &[$(
            #[cfg($built)]
            (Tier::$tier, &super::$($module)::+::backend::BACKENDS),
        )*];

        /// The kernels of a pair of byte storage under the common rules, by variant (`TierToken::variant`).
        pub(crate) const fn entries<S: Format, D: Format>(saturate: bool) -> [PairEntry; VARIANTS] {
            let tiers: &[&[PairEntry]] = &[$(
                #[cfg($built)]
                &super::$($module)::+::backend::entries::<S, D>(saturate),
            )*];
            let (mut entries, mut filled, mut tier) = ([tiers[0][0]; VARIANTS], 0, 0);
            while tier < tiers.len() {
                let mut i = 0;
                while i < tiers[tier].len() {
                    entries[filled] = tiers[tier][i];
                    (filled, i) = (filled + 1, i + 1);
                }
                tier += 1;
            }
            assert!(filled == VARIANTS, "a tier has an entry for each of its backends");
            entries
        }
    };
}
for_each_tier!(define_built);

/// The tests in this crate test only parts. Kernels of the vector tiers are tested from outside, for every pair, as users link them; compiling
/// all their machine code a second time for the tests in here would take a minute. Miri compiles none.
const PARTS_ONLY: bool = cfg!(all(test, not(miri)));

/// The number of backends.
pub(crate) const VARIANTS: usize = {
    let (mut count, mut i) = (0, 0);
    while i < BUILT.len() {
        count += BUILT[i].1.len();
        i += 1;
    }
    count
};

// `active` needs one more number, for no token at all.
const _: () = assert!(VARIANTS < u8::MAX as usize);

/// The backends that this build has. A [`TierToken`] is an index.
pub(super) const BACKENDS: [Backend; VARIANTS] = {
    let (mut backends, mut filled, mut i) = ([BUILT[0].1[0]; VARIANTS], 0, 0);
    while i < BUILT.len() {
        let (tier, of_tier) = BUILT[i];
        let mut j = 0;
        while j < of_tier.len() {
            backends[filled] = if tier.has_kernels() { of_tier[j] } else { of_tier[j].without_kernels() };
            (filled, j) = (filled + 1, j + 1);
        }
        i += 1;
    }
    backends
};

/// The tier of each backend.
pub(super) const TIERS: [Tier; VARIANTS] = {
    let (mut tiers, mut filled, mut i) = ([Tier::Scalar; VARIANTS], 0, 0);
    while i < BUILT.len() {
        let end = filled + BUILT[i].1.len();
        while filled < end {
            tiers[filled] = BUILT[i].0;
            filled += 1;
        }
        i += 1;
    }
    tiers
};

/// The first backend of each tier; `None` if this build has none.
pub(super) const FIRST: [Option<u8>; Tier::ALL.len()] = {
    let (mut first, mut i) = ([None; Tier::ALL.len()], VARIANTS);
    while i > 0 {
        i -= 1;
        first[TIERS[i] as usize] = Some(i as u8);
    }
    first
};

impl Tier {
    /// Whether this program contains the kernels of pairs, if it can run them.
    pub(crate) const fn has_kernels(self) -> bool {
        !PARTS_ONLY || matches!(self, Tier::Scalar)
    }
}

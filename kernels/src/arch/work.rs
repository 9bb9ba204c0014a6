//! Loops of other crates, compiled for the vectors of a tier.

use super::{
    tier::{Tier, for_each_tier},
    token::TierToken,
};
use crate::vector::Work;

macro_rules! define_run_work {
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
        /// Does the work with the vectors of the tier. AVX-512 uses the vectors of AVX2, so that the machine code exists only twice.
        #[inline]
        pub fn run_work<W: Work>(tier: TierToken, src: &W::Source, dst: &mut W::Destination) -> W::Output {
            match tier.tier() {
                $(
                    #[cfg($built)]
                    // SAFETY: the token proves that the CPU has the tier.
                    Tier::$tier => unsafe { super::$($module)::+::backend::run_work::<W>(src, dst) },
                )*
                // Every token belongs to a tier that is built.
                #[allow(unreachable_patterns, reason = "a build may have all tiers")]
                _ => W::run(src, dst),
            }
        }
    };
}
for_each_tier!(define_run_work);

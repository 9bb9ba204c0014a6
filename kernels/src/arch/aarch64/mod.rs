//! The tier of 64-bit Arm.

use super::Tier;
use crate::{
    dtype::DType,
    exact::Rules,
    storage::Encoding,
    table::{Entry, Rounded},
};
use crate::{
    format::{Format, packed::Packing},
    order::Swaps,
    stream::NonTemporal,
    table::Table,
    work::Work,
};

mod fine;
mod neon;
mod packing;
mod swap;
mod turn;

pulp::simd_type!({
    /// Proves the tier `neon`.
    pub(super) struct Neon {
        pub neon: f!("neon"),
    }

    /// Proves that kernels beside [`Neon`] may use the conversion to bfloat16.
    pub(super) struct Bf16 {
        pub bf16: f!("bf16"),
    }

    /// Proves that kernels beside [`Neon`] may add float16.
    pub(super) struct Fp16 {
        pub fp16: f!("fp16"),
    }
});

pub(super) fn detected(tier: Tier) -> Option<bool> {
    matches!(tier, Tier::Neon).then(|| Neon::try_new().is_some())
}

/// Does work: all code here is compiled for NEON.
///
/// # Safety
///
/// None.
#[inline]
pub(super) unsafe fn run_work<W: Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
    W::run(src, dst)
}

/// The kernels of a tier that was detected.
pub(super) fn table(tier: Tier) -> Option<&'static Table> {
    matches!(tier, Tier::Neon).then(|| &neon::TABLES[fine::found() as usize])
}

/// The variants of a pair's code, by the finer features.
pub(super) const VARIANTS: usize = fine::COMBINATIONS;

pub(super) const fn entries<S: Format, D: Format>(saturate: bool) -> [(&'static [Tier], Entry); VARIANTS] {
    [
        (&[Tier::Neon], neon::entry::<S, D, 0>(saturate)),
        (&[Tier::Neon], neon::entry::<S, D, 1>(saturate)),
        (&[Tier::Neon], neon::entry::<S, D, 2>(saturate)),
        (&[Tier::Neon], neon::entry::<S, D, 3>(saturate)),
    ]
}

/// The tiers that the kernels of a tier come from.
pub(super) fn owners(tier: Tier) -> &'static [Tier] {
    super::alone(tier)
}

/// The variant of a tier that was detected.
#[inline]
pub(super) fn variant(_: Tier) -> usize {
    1 + fine::found() as usize
}

pub(super) fn features(tier: Tier) -> &'static [&'static str] {
    if tier == Tier::Neon { fine::names(fine::found()) } else { &[] }
}

/// The loops that look for what is lost.
pub(super) fn loops(_: Tier, shape: crate::loss::Shape) -> crate::loss::Loops {
    neon::loops(shape)
}

/// The loop of a scaled cast, if there is one for the pair.
pub(super) fn fused(
    _: Tier,
    from: DType,
    to: Encoding,
    step: crate::scaled::Step,
) -> Option<crate::scaled::Fused> {
    neon::fused(from, to, step)
}

/// The loop of a scaled cast from codes, if there is one for the pair.
pub(super) fn decoder(
    _: Tier,
    from: Encoding,
    to: DType,
    step: crate::scaled::Step,
) -> Option<crate::scaled::Fused> {
    neon::decoder(from, to, step)
}

/// There are no lookups of products.
pub(super) fn products(_: Tier, _: Encoding, _: Encoding) -> Option<crate::table::KernelFn> {
    None
}

/// The loops of scaled casts.
pub(super) fn scaled(tier: Tier) -> Option<&'static crate::scaled::Loops> {
    matches!(tier, Tier::Neon).then_some(&neon::SCALED)
}

/// The kernel of a pair under rules that are not the common ones, on a tier that was detected.
pub(super) fn rounded(tier: Tier, from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    match tier {
        Tier::Neon => neon::rounded(from, to, rules),
        _ => None,
    }
}

pub(super) fn packing(_: Tier) -> &'static Packing {
    &packing::PACKING
}

pub(super) fn swaps(_: Tier) -> &'static Swaps {
    &swap::SWAPS
}

pub(super) fn transpose(_: Tier) -> &'static crate::strided::Transpose {
    &turn::TRANSPOSE
}

/// Arm's cores find out by themselves that lines are written whole.
pub(super) fn non_temporal(_: Tier) -> Option<&'static NonTemporal> {
    None
}

pub(super) fn last_cache() -> usize {
    usize::MAX
}

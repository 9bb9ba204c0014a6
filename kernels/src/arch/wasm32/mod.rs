//! The tier of WebAssembly, for programs that are compiled with its vectors (`-C target-feature=+simd128`): engines do not run modules
//! that have instructions which they lack, so there is nothing to detect.

mod floats;
mod moves;
mod ops;
mod packing;
mod pairs;
mod scaled;
mod simd;
#[cfg(test)]
mod tests;

use super::Tier;
use crate::{
    dtype::DType,
    exact::Rules,
    format::{Format, packed::Packing},
    order::Swaps,
    storage::Encoding,
    stream::NonTemporal,
    table::{Entry, Rounded, Table},
    work::Work,
};

pub(super) fn detected(tier: Tier) -> Option<bool> {
    matches!(tier, Tier::Wasm128).then_some(true)
}

/// Does work: all code here is compiled for the tier.
///
/// # Safety
///
/// None.
#[inline]
pub(super) unsafe fn run_work<W: Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
    W::run(src, dst)
}

pub(super) fn table(tier: Tier) -> Option<&'static Table> {
    matches!(tier, Tier::Wasm128).then_some(&pairs::TABLE)
}

pub(super) const VARIANTS: usize = 1;

pub(super) const fn entries<S: Format, D: Format>(saturate: bool) -> [(&'static [Tier], Entry); VARIANTS] {
    [(&[Tier::Wasm128], pairs::entry::<S, D, 0>(saturate))]
}

pub(super) fn owners(tier: Tier) -> &'static [Tier] {
    super::alone(tier)
}

#[inline]
pub(super) fn variant(_: Tier) -> usize {
    1
}

pub(super) fn features(_: Tier) -> &'static [&'static str] {
    &[]
}

pub(super) fn loops(_: Tier, shape: crate::loss::Shape) -> crate::loss::Loops {
    pairs::loops(shape)
}

pub(super) fn fused(
    _: Tier,
    from: DType,
    to: Encoding,
    step: crate::scaled::Step,
) -> Option<crate::scaled::Fused> {
    pairs::fused(from, to, step)
}

pub(super) fn decoder(
    _: Tier,
    from: Encoding,
    to: DType,
    step: crate::scaled::Step,
) -> Option<crate::scaled::Fused> {
    pairs::decoder(from, to, step)
}

pub(super) fn products(_: Tier, _: Encoding, _: Encoding) -> Option<crate::table::KernelFn> {
    None
}

pub(super) fn scaled(tier: Tier) -> Option<&'static crate::scaled::Loops> {
    matches!(tier, Tier::Wasm128).then_some(&pairs::SCALED)
}

pub(super) fn rounded(tier: Tier, from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
    match tier {
        Tier::Wasm128 => pairs::rounded(from, to, rules),
        _ => None,
    }
}

pub(super) fn packing(_: Tier) -> &'static Packing {
    &packing::PACKING
}

pub(super) fn swaps(_: Tier) -> &'static Swaps {
    &moves::SWAPS
}

pub(super) fn transpose(_: Tier) -> &'static crate::strided::Transpose {
    &moves::TRANSPOSE
}

pub(super) fn non_temporal(_: Tier) -> Option<&'static NonTemporal> {
    None
}

pub(super) fn last_cache() -> usize {
    usize::MAX
}

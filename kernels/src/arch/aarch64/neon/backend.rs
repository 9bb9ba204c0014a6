//! What the tier `neon` offers.

use super::{
    super::fine,
    pairs::{TABLES, entry, loops, rounded},
    scaled::{SCALED, decoder, fused},
};
/// All code for these targets is compiled for the tier.
pub(in crate::arch) use crate::arch::scalar::backend::run_work;
use crate::{
    arch::{
        aarch64::{Neon, packing, swap, turn},
        backend::Backend,
        environment::{by_integers, exact_to_float32, is_whole, parts},
        features::each_combination,
    },
    dtype::{DType, Element, Spec},
    format::Format,
    vector::kernel::PairEntry,
};

pub(in crate::arch) const BACKENDS: [Backend; fine::COMBINATIONS] = each_combination!(|BF16, FP16| Backend {
    detected: || Neon::try_new().is_some(),
    combination: fine::combination,
    features: fine::names([BF16, FP16]),
    rounded,
    obeys_environment,
    packing: &packing::PACKING,
    swaps: &swap::SWAPS,
    transpose: &turn::TRANSPOSE,
    // Arm's cores detect by themselves that whole cache lines are written.
    non_temporal: None,
    loops,
    scaled: Some(&SCALED),
    fused,
    decoder,
    ..Backend::new(&TABLES[fine::place([BF16, FP16])])
});

const fn obeys_environment(from: DType, to: DType) -> bool {
    let powers = matches!(from, DType::Float8E8M0FNU);
    let looked_up = from.size() == 1
        && (to.size() == 1
            || parts(to) == 32
            || matches!(to, DType::BFloat16)
            || matches!(to, DType::Float16) && !powers
            || from.is_sub_byte() && is_whole(to));
    // One exact instruction converts these.
    let converted = matches!(from.spec(), Spec::Int { bits: ..=32, .. }) && parts(to) == 64;
    !(by_integers(from, to) || exact_to_float32(from, to) || looked_up || converted)
}

pub(in crate::arch) const fn entries<S: Format, D: Format>(
    saturate: bool,
) -> [PairEntry; fine::COMBINATIONS] {
    let obeys = obeys_environment(<S as Element>::DTYPE, <D as Element>::DTYPE);
    each_combination!(|BF16, FP16| PairEntry::new(entry::<S, D, BF16, FP16>(saturate), obeys))
}

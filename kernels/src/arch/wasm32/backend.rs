//! What the tier `wasm128` offers.

use super::{
    moves, packing,
    pairs::{SCALED, TABLE, decoder, entry, fused, loops, rounded},
};
/// All code for this target is compiled for the tier.
pub(in crate::arch) use crate::arch::scalar::backend::run_work;
use crate::{
    arch::{backend::Backend, environment::by_integers},
    dtype::DType,
    format::{Element, Format},
    table::PairEntry,
};

pub(in crate::arch) const BACKENDS: [Backend; 1] = [Backend {
    rounded,
    obeys_environment,
    packing: &packing::PACKING,
    swaps: &moves::SWAPS,
    transpose: &moves::TRANSPOSE,
    loops,
    scaled: Some(&SCALED),
    fused,
    decoder,
    ..Backend::new(&TABLE)
}];

const fn obeys_environment(from: DType, to: DType) -> bool {
    !by_integers(from, to)
}

pub(in crate::arch) const fn entries<S: Format, D: Format>(saturate: bool) -> [PairEntry; 1] {
    [PairEntry::new(entry::<S, D>(saturate), obeys_environment(<S as Element>::DTYPE, <D as Element>::DTYPE))]
}

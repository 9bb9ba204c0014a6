//! What the tier `avx2` offers.

use super::{SCALED, TABLE, decoder, entry, fused, loops, rounded};
pub(in crate::arch) use crate::arch::x86::run_work;
use crate::{
    arch::{
        backend::Backend,
        environment::{by_integers, exact_to_float32},
        x86::{Avx2, packing, stream, swap, turn},
    },
    dtype::DType,
    format::{Element, Format},
    table::PairEntry,
};

pub(in crate::arch) const BACKENDS: [Backend; 1] = [Backend {
    detected: || Avx2::try_new().is_some(),
    rounded,
    obeys_environment,
    packing: &packing::PACKING,
    swaps: &swap::AVX2,
    transpose: &turn::TRANSPOSE,
    copy: turn::copy,
    non_temporal: Some(&stream::AVX2),
    loops,
    scaled: Some(&SCALED),
    fused,
    decoder,
    ..Backend::new(&TABLE)
}];

pub(in crate::arch::x86) const fn obeys_environment(from: DType, to: DType) -> bool {
    !(by_integers(from, to) || exact_to_float32(from, to))
}

pub(in crate::arch) const fn entries<S: Format, D: Format>(saturate: bool) -> [PairEntry; 1] {
    [PairEntry::new(entry::<S, D>(saturate), obeys_environment(<S as Element>::DTYPE, <D as Element>::DTYPE))]
}

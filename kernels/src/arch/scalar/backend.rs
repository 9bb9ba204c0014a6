//! What the scalar tier offers.

use super::{TABLE, rounded, typed};
use crate::{
    arch::{backend::Backend, environment::by_integers},
    dtype::{DType, Element},
    format::Format,
    vector::{Work, kernel::PairEntry},
};

pub(in crate::arch) const BACKENDS: [Backend; 1] =
    [Backend { rounded, obeys_environment, ..Backend::new(&TABLE) }];

const fn obeys_environment(from: DType, to: DType) -> bool {
    !by_integers(from, to)
}

pub(in crate::arch) const fn entries<S: Format, D: Format>(saturate: bool) -> [PairEntry; 1] {
    [PairEntry::new(typed::<S, D>(saturate), obeys_environment(<S as Element>::DTYPE, <D as Element>::DTYPE))]
}

/// Does work: all code is compiled for the scalar tier.
///
/// # Safety
///
/// None.
#[inline]
pub(in crate::arch) unsafe fn run_work<W: Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
    W::run(src, dst)
}

//! What the tier `avx512` offers. Without permutations of bytes (VBMI), kernels that need them are the kernels of `avx2`.

use super::{
    super::{avx2, fine},
    bytes::scaled::{decoder, fused, products},
    families::SCALED,
    table::{TABLES, entry, loops, rounded},
};
/// The vectors of AVX2 suffice for this work, so both tiers share its machine code.
pub(in crate::arch) use crate::arch::x86::run_work;
use crate::format::words::shape;
use crate::{
    arch::{
        backend::Backend,
        environment::{by_integers, exact_to_float32, parts},
        features::each_combination,
        x86::{Avx2, Avx512, packing, stream, swap, turn},
    },
    dtype::{DType, Element, Spec},
    format::Format,
    vector::{
        kernel::PairEntry,
        loss::{Loops, Shape},
    },
};

pub(in crate::arch) const BACKENDS: [Backend; fine::COMBINATIONS] =
    each_combination!(|VBMI, BF16| backend::<VBMI, BF16>());

const fn backend<const VBMI: bool, const BF16: bool>() -> Backend {
    let backend = Backend {
        detected: || Avx2::try_new().is_some() && Avx512::try_new().is_some(),
        combination: fine::combination,
        features: fine::names([VBMI, BF16]),
        rounded,
        obeys_environment: obeys_environment::<VBMI>,
        packing: &packing::PACKING,
        swaps: &swap::AVX512,
        transpose: &turn::TRANSPOSE,
        copy: turn::copy,
        non_temporal: Some(&stream::AVX512),
        loops: wide_loops,
        scaled: Some(&SCALED),
        ..Backend::new(&TABLES[fine::place([VBMI, BF16])])
    };
    if VBMI {
        Backend { fused, decoder, products, ..backend }
    } else {
        Backend { fused: avx2::fused, decoder: avx2::decoder, ..backend }
    }
}

/// The loops that look for losses. `within` and `rounded` run only if something may be lost, so they are the loops of AVX2: a second set is not
/// worth its machine code.
fn wide_loops(shape: Shape) -> Loops {
    let Loops { within, rounded, .. } = avx2::loops(shape);
    Loops { within, rounded, ..loops(shape) }
}

const fn obeys_environment<const VBMI: bool>(from: DType, to: DType) -> bool {
    // Integers of a byte look up only small tables.
    let integer = matches!(from, DType::Bool | DType::Int8 | DType::UInt8);
    let looked_up = from.size() == 1 && (to.size() <= 2 || parts(to) > 0 && !integer);
    // One instruction converts these; it is exact or names its rounding.
    let converted = match from.spec() {
        Spec::Int { bits: 16, .. } => parts(to) == 64,
        Spec::Int { bits: 32, .. } => parts(to) == 64 || matches!(to, DType::Float32),
        Spec::Int { bits: 64, .. } => matches!(to, DType::Float32 | DType::Float64),
        _ => false,
    };
    // The same for floats, and for 16-bit floats in lanes of their own width.
    let quiet = matches!(from, DType::Float32 | DType::Float16 | DType::BFloat16)
        && match to {
            DType::Float16 => true,
            DType::Float32 | DType::BFloat16 => matches!(from, DType::Float16),
            _ => match to.spec() {
                Spec::Int { bits: ..=8, .. } => true,
                _ => shape(from, to, true).is_some() && shape(from, to, false).is_some(),
            },
        };
    let own = by_integers(from, to) || exact_to_float32(from, to) || looked_up || converted || quiet;
    !own || !VBMI && avx2::backend::obeys_environment(from, to)
}

pub(in crate::arch) const fn entries<S: Format, D: Format>(
    saturate: bool,
) -> [PairEntry; fine::COMBINATIONS] {
    let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
    each_combination!(|VBMI, BF16| PairEntry::new(
        entry::<S, D, VBMI, BF16>(saturate),
        obeys_environment::<VBMI>(from, to)
    ))
}

//! Chooses the kernel of each pair.

use super::{
    bytes,
    each::{cast, copy},
    small,
    staged::{self, ByRules, Then},
};
use crate::{
    dtype::{COUNT, DType, Flavor, Spec},
    format::{data::Data, *},
    vector::{
        kernel::{Entry, KernelFn},
        pairs::is_copy,
        table::{self, PairKernels, Table, TierKernels},
    },
};
use core::marker::PhantomData;

/// The flavor of a float of up to 8 bits.
const fn small_flavor(dtype: DType) -> Option<Flavor> {
    match dtype.spec() {
        Spec::Float(f) if f.bits() <= 8 => Some(f.flavor),
        _ => None,
    }
}

/// Floats of up to 16 bits, except bfloat16, whose conversion takes few instructions.
const fn is_narrow_float(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Float(f) if f.bits() <= 16) && !matches!(dtype, DType::BFloat16)
}

/// Whether results are looked up: from floats of a byte to all targets, and from integers of a few bits to floats.
pub(super) const fn looks_up(from: DType, to: DType) -> bool {
    small_flavor(from).is_some() || from.is_sub_byte() && is_narrow_float(to)
}

/// Whether blocks of float32 are between source and target. A single loop would put only as many elements into a vector as the wide source
/// allows.
const fn is_staged(from: DType, to: DType) -> bool {
    from.alignment() >= 4 && !matches!(from, DType::Float32) && is_narrow_float(to)
}

/// The kernels that are shared between targets.
const fn direct<S: Format, D: Format>() -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    // Powers of two are never zero, so all are true.
    let constant = matches!((small_flavor(from), to), (Some(Flavor::Exponent), DType::Bool));
    match small_flavor(to) {
        _ if constant => None,
        _ if looks_up(from, to) => Some(bytes::look_up::<S, ByRules>),
        _ if is_staged(from, to) => Some(staged::through_f32::<S, ByRules>),
        Some(Flavor::Ieee | Flavor::Fn) => Some(small::cast::<S, small::Ieee>),
        Some(Flavor::Fnuz) => Some(small::cast::<S, small::Fnuz>),
        Some(Flavor::Finite) => Some(small::cast::<S, small::Finite>),
        Some(Flavor::Exponent) | None => None,
    }
}

/// The kernels of the tier.
pub(super) struct Kernels;

impl TierKernels for Kernels {
    type Pair<S: Format, D: Format, const SATURATE: bool> = Pair<S, D, SATURATE>;
}

/// The kernels of a pair.
pub(super) struct Pair<S, D, const SATURATE: bool>(PhantomData<(S, D)>);

impl<S: Format, D: Format, const SATURATE: bool> PairKernels for Pair<S, D, SATURATE> {
    const COPY: KernelFn = copy::<S>;
    const DIRECT: Option<KernelFn> = direct::<S, D>();
    const CAST: KernelFn = cast::<S, D, SATURATE>;
}

/// The kernel of a pair of byte storage under the common rules.
pub(in crate::arch) const fn entry<S: Format, D: Format>(saturate: bool) -> Entry {
    table::entry::<Kernels, S, D>(saturate)
}

/// One target under its common rules: its loops reference no other kernels.
struct To<D, const SATURATE: bool>(PhantomData<D>);

impl<D: Format, const SATURATE: bool> Then for To<D, SATURATE> {
    #[inline(always)]
    fn from_f32(_: &Data) -> KernelFn {
        const { entry::<f32, D>(SATURATE).run }
    }
}

/// [`entry`] for a program that has this pair only: a kernel that references no other pairs.
pub(super) const fn typed<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if direct::<S, D>().is_some() && from.is_built() && to.is_built() && !is_copy(from, to, saturate) {
        if looks_up(from, to) {
            return Entry::new(if saturate {
                bytes::look_up::<S, To<D, true>>
            } else {
                bytes::look_up::<S, To<D, false>>
            });
        }
        if is_staged(from, to) {
            return Entry::new(if saturate {
                staged::through_f32::<S, To<D, true>>
            } else {
                staged::through_f32::<S, To<D, false>>
            });
        }
    }
    entry::<S, D>(saturate)
}

pub(crate) static TABLE: Table = Table::new(&table::rows::<Kernels, COUNT>());

/// A function without any CPU features of its own.
macro_rules! scalar_fn {
    ($($item:tt)*) => { $($item)* };
}
crate::vector::loss::define_loops!(always_may_lose, scalar_fn);

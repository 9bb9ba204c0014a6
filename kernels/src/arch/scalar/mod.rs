//! The scalar tier: the law as plain loops, for every pair and every rule.
//!
//! The bodies have no branches, so that compilers may vectorise them with what the target always has. They round by the default
//! of the floating-point environment only: there are targets that have no other.
//!
//! * this file: the loop over `load, decode, encode, store`, and which pair has what;
//! * `bytes`: sources of few codes look their results up in a table that each call makes for itself;
//! * `small`: targets of small floats, one loop per source, the target as data;
//! * `rounded`: the rules that are not the common ones.

pub(in crate::arch) mod backend;
mod bytes;
mod rounded;
mod small;
#[cfg(test)]
mod tests;

use crate::{
    data::Data,
    dtype::{COUNT, DType, Flavor, Spec},
    format::*,
    table::{self, Entry, KernelFn, PairKernels, Table, TierKernels, is_copy},
};
use core::marker::PhantomData;
pub(super) use rounded::rounded;

/// `load, decode, encode, store`, one element after the other: the body of every tier that has no better one for a pair.
///
/// # Safety
///
/// As [`KernelFn`], but for the tier, which is that of the caller.
#[inline(always)]
pub(super) unsafe fn cast_each<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, D::Code>(src, dst, n, |code| D::encode::<SATURATE>(S::decode(code))) };
}

/// A function of every element.
///
/// # Safety
///
/// `src` is readable and `dst` writable for `n` elements of these sizes, at any alignment; the two do not overlap.
#[inline(always)]
unsafe fn map_each<S: Copy, D>(src: *const u8, dst: *mut u8, n: usize, f: impl Fn(S) -> D) {
    let (src, dst) = (src.cast::<S>(), dst.cast::<D>());
    for i in 0..n {
        // SAFETY: `i < n`, so the caller grants both elements; codes are plain integers of the elements' sizes, and nothing
        // is assumed of alignment.
        unsafe { dst.add(i).write_unaligned(f(src.add(i).read_unaligned())) };
    }
}

/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: as the caller's.
    unsafe { cast_each::<S, D, SATURATE>(src, dst, n) }
}

/// A dtype to itself: the bits, unused ones cleared.
///
/// # Safety
///
/// As [`KernelFn`].
pub(crate) unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize, _: &Data) {
    // SAFETY: as the caller's.
    unsafe { map_each::<S::Code, S::Code>(src, dst, n, S::clean) };
}

/// The flavor of a float of up to 8 bits.
const fn small_flavor(dtype: DType) -> Option<Flavor> {
    match dtype.spec() {
        Spec::Float(f) if f.bits() <= 8 => Some(f.flavor),
        _ => None,
    }
}

/// Floats of up to 16 bits, except bfloat16, which takes few instructions.
const fn is_narrow_float(dtype: DType) -> bool {
    matches!(dtype.spec(), Spec::Float(f) if f.bits() <= 16) && !matches!(dtype, DType::BFloat16)
}

/// Whether results are looked up: all those of floats of a byte, and the floats that integers of a few bits become.
const fn looks_up(from: DType, to: DType) -> bool {
    small_flavor(from).is_some() || from.is_sub_byte() && is_narrow_float(to)
}

/// Whether blocks of float32 are between source and target. A single loop would have as few elements in its vectors as the source has
/// in one.
const fn is_staged(from: DType, to: DType) -> bool {
    from.alignment() >= 4 && !matches!(from, DType::Float32) && is_narrow_float(to)
}

/// The kernels that are shared between targets.
const fn direct<S: Format, D: Format>() -> Option<KernelFn> {
    let (from, to) = (S::DTYPE, D::DTYPE);
    // Powers of two are all true.
    let constant = matches!((small_flavor(from), to), (Some(Flavor::Exponent), DType::Bool));
    match small_flavor(to) {
        _ if constant => None,
        _ if looks_up(from, to) => Some(bytes::look_up::<S>),
        _ if is_staged(from, to) => Some(rounded::through_f32::<S>),
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
pub(super) const fn entry<S: Format, D: Format>(saturate: bool) -> Entry {
    table::entry::<Kernels, S, D>(saturate)
}

/// [`entry`] for a program that has this pair only: a kernel that names no other pairs.
pub(super) const fn typed<S: Format, D: Format>(saturate: bool) -> Entry {
    let (from, to) = (S::DTYPE, D::DTYPE);
    if direct::<S, D>().is_some() && from.is_built() && to.is_built() && !is_copy(from, to, saturate) {
        if looks_up(from, to) {
            return Entry::new(if saturate {
                bytes::look_up_to::<S, D, true>
            } else {
                bytes::look_up_to::<S, D, false>
            });
        }
        if is_staged(from, to) {
            return Entry::new(if saturate {
                rounded::through_f32_to::<S, D, true>
            } else {
                rounded::through_f32_to::<S, D, false>
            });
        }
    }
    entry::<S, D>(saturate)
}

pub(crate) static TABLE: Table = Table::new(&table::rows::<Kernels, COUNT>());

/// A function for no features in particular.
macro_rules! scalar_fn {
    ($($item:tt)*) => { $($item)* };
}
crate::loss::define_loops!(always_may_lose, scalar_fn);

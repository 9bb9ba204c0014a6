//! The scalar tier: the law as a plain loop, for every pair.
//!
//! The bodies have no branches, so that compilers may vectorise them with what the target always has.

use crate::{
    data::Data,
    dtype::COUNT,
    exact::Rules,
    format::*,
    storage::BufferType,
    table::{KernelFn, Rounded, Table, define_table, has_overflow_rule, same_bits, same_truth},
};

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
    let (src, dst) = (src.cast::<S::Code>(), dst.cast::<D::Code>());
    for i in 0..n {
        // SAFETY: `i < n`, so the caller grants both elements; codes are plain integers of the elements' sizes, and nothing
        // is assumed of alignment.
        unsafe { dst.add(i).write_unaligned(D::encode::<SATURATE>(S::decode(src.add(i).read_unaligned()))) };
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
    let (src, dst) = (src.cast::<S::Code>(), dst.cast::<S::Code>());
    for i in 0..n {
        // SAFETY: as in `cast_each`.
        unsafe { dst.add(i).write_unaligned(S::clean(src.add(i).read_unaligned())) };
    }
}

/// The kernel of a pair under rules that are not the common ones.
pub(super) fn rounded(_: BufferType, _: BufferType, _: &Rules) -> Option<Rounded> {
    None
}

/// The reference has no short cuts.
const fn direct<S: Format, D: Format, const FINE: u8>(_: bool) -> Option<KernelFn> {
    None
}

crate::dtype::for_each_dtype!(define_table);
pub(crate) static TABLE: Table = table::<0>();

crate::loss::define_loops!(suspect_all);

//! The scalar tier: the law as a plain loop, for every pair.
//!
//! The bodies have no branches, so that compilers may vectorise them with what the target always has.

use crate::{
    dtype::{COUNT, DType, Spec},
    format::*,
    table::{KernelFn, Table, define_table},
};

/// `load, decode, encode, store`, one element after the other.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
    let (src, dst) = (src.cast::<S::Code>(), dst.cast::<D::Code>());
    for i in 0..n {
        // SAFETY: `i < n`, so the caller grants both elements; codes are plain integers of the elements' sizes, and nothing
        // is assumed of alignment.
        unsafe { dst.add(i).write_unaligned(D::encode::<SATURATE>(S::decode(src.add(i).read_unaligned()))) };
    }
}

/// A dtype to itself: the bits, unused ones cleared.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn copy<S: Format>(src: *const u8, dst: *mut u8, n: usize) {
    let (src, dst) = (src.cast::<S::Code>(), dst.cast::<S::Code>());
    for i in 0..n {
        // SAFETY: as in `cast`.
        unsafe { dst.add(i).write_unaligned(S::clean(src.add(i).read_unaligned())) };
    }
}

/// The kernel of a pair. Targets that cannot overflow have one kernel for both answers.
const fn kernel<S: Format, D: Format>(saturate: bool) -> KernelFn {
    let (from, to) = (<S as Element>::DTYPE, <D as Element>::DTYPE);
    if from as u8 == to as u8 {
        copy::<S>
    } else if saturate || !has_overflow_rule(to) {
        cast::<S, D, true>
    } else {
        cast::<S, D, false>
    }
}

const fn has_overflow_rule(to: DType) -> bool {
    match to.spec() {
        Spec::Int { .. } => true,
        Spec::Float(f) => f.bits() == 8,
        Spec::Bool | Spec::Complex(_) => false,
    }
}

crate::dtype::for_each_dtype!(define_table);

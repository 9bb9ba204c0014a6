//! What the operations on lanes ([`ops`](super::ops)) take.

use crate::{format::data::Data, vector::Simd};

/// A unit: one element for each byte of a register, in elements of 1, 2, 4 and 8 bytes.
pub(crate) type Bytes<M> = <M as Simd>::V;
pub(crate) type Halves<M> = [<M as Simd>::V; 2];
pub(crate) type Words<M> = [<M as Simd>::V; 4];
pub(crate) type Doubles<M> = [<M as Simd>::V; 8];

/// What [`LaneOps::vectorize`](super::LaneOps::vectorize) runs. Not a closure: the compiler need not inline one, and its captures go through memory.
pub(crate) trait Kernel<M> {
    /// Always inlined.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`](crate::vector::kernel::KernelFn).
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data);
}

/// How kernels go through their elements.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "a target has tiers of one way or the other")]
pub(crate) enum Pace {
    /// In blocks of two units, by pointers that advance. Less than a block goes through the stack.
    Long,
    /// In blocks of one unit if elements have more than a byte, by an index, which may take fewer instructions. Less than a block goes
    /// through the stack.
    Short,
    /// The same, but less than a block goes in quarters of a unit.
    Quarters,
}

/// The highest integer of `width` bits, up to 8.
pub(super) const fn highest(width: u32, signed: bool) -> u8 {
    0xFF >> (8 - width) >> signed as u32
}

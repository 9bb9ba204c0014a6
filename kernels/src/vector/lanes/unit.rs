//! The parameters of the operations on lanes ([`ops`](super::ops)).

use super::LaneOps;
use crate::{
    format::data::Data,
    vector::{Simd, kernel::KernelFn},
};
use core::marker::PhantomData;

/// A unit: one element for each byte of a register, in elements of 1, 2, 4 and 8 bytes.
pub(crate) type Bytes<M> = <M as Simd>::V;
pub(crate) type Halves<M> = [<M as Simd>::V; 2];
pub(crate) type Words<M> = [<M as Simd>::V; 4];
pub(crate) type Doubles<M> = [<M as Simd>::V; 8];

/// The code that [`LaneOps::vectorize`](super::LaneOps::vectorize) runs. Not a closure: the compiler may not inline a closure, and its captures go
/// through memory.
pub(crate) trait Kernel<M> {
    /// Runs the kernel. It is always inlined.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`](crate::vector::kernel::KernelFn).
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data);
}

/// A [`Kernel`] as a function.
pub(crate) trait Function {
    const FUNCTION: KernelFn;
}

/// The function of a kernel whose token calls [`LaneOps::vectorize`].
#[allow(dead_code, reason = "a tier may have functions of its own")]
pub(crate) struct Vectorized<M, K>(PhantomData<(M, K)>);

impl<M: LaneOps, K: Kernel<M>> Function for Vectorized<M, K> {
    const FUNCTION: KernelFn = vectorized::<M, K>;
}

/// # Safety
///
/// As [`KernelFn`]; the CPU has the features of the token.
unsafe fn vectorized<M: LaneOps, K: Kernel<M>>(src: *const u8, dst: *mut u8, n: usize, data: &Data) {
    // SAFETY: the caller's CPU has the features of the token.
    let m = unsafe { M::new_unchecked() }.under(data);
    // SAFETY: the caller grants the buffers.
    unsafe { m.vectorize::<K>(src, dst, n, data) }
}

/// How kernels step through their elements.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the tiers of a target do not use all of them")]
pub(crate) enum Pace {
    /// In blocks of two units. Less than a block goes through the stack.
    Long,
    /// In blocks of the part of a unit that fills a register of the target. Less than a block goes through the stack.
    Parts,
    /// In the same blocks. Less than a block goes in quarters of a unit, and less than a quarter in one that is loaded in part.
    PartsAndFew,
}

/// The limits of an integer type of up to 8 bits.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The bits of a code.
    pub(crate) ones: u8,
    pub(crate) highest: u8,
    /// In two's complement, with all bits of a byte.
    pub(crate) lowest: u8,
}

impl Limits {
    /// The limits of a byte.
    pub(crate) const fn byte(signed: bool) -> Self {
        Self::of(8, signed)
    }

    pub(crate) const fn of(width: u32, signed: bool) -> Self {
        let ones = 0xFF >> (8 - width);
        let highest = ones >> signed as u32;
        Self { ones, highest, lowest: if signed { !highest } else { 0 } }
    }
}

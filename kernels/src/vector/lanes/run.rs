//! The loop that all kernels of this module share.
//!
//! The elements after the whole blocks are cast by the last block once more, which overlaps the one before. Packed elements need not begin
//! there at a whole byte, so they go through the stack. Calls of less than a block also go through the stack, unless the tier casts them in
//! quarters of a unit ([`Short`]).

use super::{
    super::{bytes, padded_bits},
    Kernel, LaneOps, Pace,
    source::Source,
    target::Target,
};
use crate::{format::data::Data, vector::each};
use core::mem::MaybeUninit;

/// The kernel from a source to a target.
///
/// # Safety
///
/// As [`KernelFn`](crate::vector::kernel::KernelFn), for a pair with this source and this target; the CPU has the features of the token.
pub(crate) unsafe fn run<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: the caller's CPU has the features of the token.
    let m = unsafe { M::new_unchecked() }.under(data);
    // SAFETY: the caller grants the buffers.
    unsafe { m.vectorize::<Pair<S, D, SATURATE>>(src, dst, n, data) }
}

/// A source, a target, and whether it saturates.
struct Pair<S, D, const SATURATE: bool>(S, D);

impl<S, D, const SATURATE: bool> Pair<S, D, SATURATE> {
    /// Whether calls of less than a block have a function of their own.
    const fn has_short<M: LaneOps>() -> bool
    where
        S: Source<M>,
        D: Target<M>,
    {
        !matches!(M::PACE, Pace::Long) && S::BITS >= 8 && D::BITS >= 8
    }

    /// Units of a block: packed elements take two, and one of elements of a byte is too little for the loop around it.
    const fn units<M: LaneOps>() -> usize
    where
        S: Source<M>,
        D: Target<M>,
    {
        if Self::has_short::<M>() && (D::BITS > 8 || S::BITS > 64) { 1 } else { 2 }
    }

    /// Casts one unit, of elements that are not packed.
    ///
    /// # Safety
    ///
    /// A unit can be read and written.
    #[inline(always)]
    unsafe fn unit<M: LaneOps>(m: M, tables: S::Tables, src: *const u8, dst: *mut u8, data: &Data)
    where
        S: Source<M>,
        D: Target<M>,
    {
        // SAFETY: the caller's unit.
        unsafe { D::store_unit::<S::Lanes, SATURATE>(m, S::load_unit(m, tables, src), dst, data) }
    }

    /// Casts one block.
    ///
    /// # Safety
    ///
    /// A block can be read and written.
    #[inline(always)]
    unsafe fn block<M: LaneOps>(m: M, tables: S::Tables, src: *const u8, dst: *mut u8, data: &Data)
    where
        S: Source<M>,
        D: Target<M>,
    {
        let unit = const { size_of::<M::V>() };
        // SAFETY: the caller's block is one unit, or the second one begins where the first one ends.
        unsafe {
            if const { Self::units::<M>() == 1 } {
                return Self::unit(m, tables, src, dst, data);
            }
            let x = S::load(m, tables, [src, src.add(bytes(unit, S::BITS))]);
            D::store::<S::Lanes, SATURATE>(m, x, [dst, dst.add(bytes(unit, D::BITS))], data);
        }
    }
}

impl<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool> Kernel<M> for Pair<S, D, SATURATE> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        let (s, d) = const { (S::BITS, D::BITS) };
        let block = const { Self::units::<M>() * size_of::<M::V>() };
        // SAFETY: blocks begin at whole bytes and end at the last element or before; the data are those of the pair.
        unsafe {
            if const { Self::has_short::<M>() } {
                if n < block {
                    return short::<M, S, D, SATURATE>(src, dst, n, data);
                }
                let tables = S::tables(m, data);
                let (mut i, mut end) = (0, n - n % block);
                loop {
                    // One place that calls the body, so that it is there once.
                    while i < end {
                        Self::block(m, tables, src.add(bytes(i, s)), dst.add(bytes(i, d)), data);
                        i += block;
                    }
                    if end == n {
                        return;
                    }
                    (i, end) = (n - block, n);
                }
            }
            let tables = S::tables(m, data);
            let (mut from, mut to) = (src, dst);
            let (mut blocks, mut rest) = (n / block, n % block);
            loop {
                // Again one place.
                for _ in 0..blocks {
                    Self::block(m, tables, from, to, data);
                    (from, to) = (from.add(bytes(block, s)), to.add(bytes(block, d)));
                }
                if rest == 0 {
                    return;
                }
                if s < 8 || d < 8 || n < block {
                    let whole = run::<M, S, D, SATURATE>;
                    return padded_bits(m, whole, block, s, d, from, to, rest, data);
                }
                // Casts the last whole block again, overlapping the one before.
                (from, to) = (src.add(bytes(n - block, s)), dst.add(bytes(n - block, d)));
                (blocks, rest) = (1, 0);
            }
        }
    }
}

/// Casts less than a block. Not inlined, so that the loop needs no stack.
///
/// # Safety
///
/// As [`run`].
#[inline(never)]
unsafe fn short<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: the CPU has the instructions of the token: `run` has the same requirement.
    let m = unsafe { M::new_unchecked() }.under(data);
    // SAFETY: the caller's buffers.
    unsafe {
        if const { matches!(M::PACE, Pace::Quarters) } {
            m.vectorize::<Short<S, D, SATURATE>>(src, dst, n, data);
        } else if n > 0 {
            let block = const { Pair::<S, D, SATURATE>::units::<M>() * size_of::<M::V>() };
            padded_bits(m, run::<M, S, D, SATURATE>, block, S::BITS, D::BITS, src, dst, n, data);
        }
    }
}

/// The kernel of a pair for few elements: it puts units together from quarters. A quarter begins where the one before ends or, if it would end
/// behind the last element, as late as possible. The elements that it shares with the one before are cast twice, to the same results. Less than
/// a quarter goes through the stack.
struct Short<S, D, const SATURATE: bool>(S, D);

/// The bytes of the longest unit: elements of 16 bytes, as many as a register of 64 bytes has.
const MAX_UNIT: usize = 16 * 64;

impl<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool> Kernel<M> for Short<S, D, SATURATE> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        #[repr(align(64))]
        struct Unit([MaybeUninit<u8>; MAX_UNIT]);
        let (s, d) = const { (S::BITS / 8, D::BITS / 8) };
        let quarter = const { size_of::<M::V>() / 4 };
        if n < quarter {
            if n > 0 {
                let whole = short::<M, S, D, SATURATE>;
                // SAFETY: the caller's elements, fewer than a quarter.
                unsafe { padded_bits(m, whole, quarter, S::BITS, D::BITS, src, dst, n, data) };
            }
            return;
        }
        let mut read = Unit([const { MaybeUninit::uninit() }; MAX_UNIT]);
        let mut written = Unit([const { MaybeUninit::uninit() }; MAX_UNIT]);
        let (read, written) = (read.0.as_mut_ptr().cast::<u8>(), written.0.as_mut_ptr().cast::<u8>());
        // SAFETY: quarters begin at elements and end at the last one or before. The arrays have room for a unit; all its quarters are written
        // before they are read.
        unsafe {
            let tables = S::tables(m, data);
            for first in (0..n).step_by(4 * quarter) {
                let places = each!([0, 1, 2, 3], |k| (first + k * quarter).min(n - quarter));
                each!([0, 1, 2, 3], |k| {
                    let (from, to) = (src.add(places[k] * s), read.add(k * quarter * s));
                    to.copy_from_nonoverlapping(from, quarter * s);
                });
                Pair::<S, D, SATURATE>::unit(m, tables, read, written, data);
                each!([0, 1, 2, 3], |k| {
                    let (from, to) = (written.add(k * quarter * d), dst.add(places[k] * d));
                    to.copy_from_nonoverlapping(from, quarter * d);
                });
            }
        }
    }
}

/// Casts the parts of complex numbers as real numbers.
///
/// # Safety
///
/// As [`run`], for the complex pair.
pub(crate) unsafe fn parts<M: LaneOps, S: Source<M>, D: Target<M>>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: `n` complex numbers are as many bytes as `2 * n` reals.
    unsafe { run::<M, S, D, true>(src, dst, 2 * n, data) }
}

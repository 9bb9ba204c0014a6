//! The loop of every kernel here.

use super::{
    super::{bytes, padded_bits},
    LaneOps,
    ops::Kernel,
    source::Source,
    target::Target,
};
use crate::data::Data;

/// The kernel from a source to a target.
///
/// # Safety
///
/// As [`KernelFn`](crate::table::KernelFn), of a pair with this source and this target; the CPU has what the token stands for.
pub(crate) unsafe fn run<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: the CPU has what the token stands for, by the caller; the buffers are the caller's.
    unsafe {
        let m = M::new_unchecked().under(data);
        if n >= Pair::<S, D, SATURATE>::block::<M>() || const { S::BITS < 8 || D::BITS < 8 } {
            m.vectorize::<Pair<S, D, SATURATE>>(src, dst, n, data);
        } else {
            short::<M, S, D, SATURATE>(src, dst, n, data);
        }
    }
}

/// Less than a block, which are whole bytes. Apart, so that the loop needs no stack.
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
    let block = Pair::<S, D, SATURATE>::block::<M>();
    if n > 0 {
        // SAFETY: the caller's CPU and buffers.
        unsafe {
            let (m, whole) = (M::new_unchecked(), run::<M, S, D, SATURATE>);
            padded_bits(m, whole, block, S::BITS, D::BITS, src, dst, n, data);
        }
    }
}

/// A source, a target, and whether it saturates.
struct Pair<S, D, const SATURATE: bool>(S, D);

impl<S, D, const SATURATE: bool> Pair<S, D, SATURATE> {
    /// Units of a block: packed elements take two, and elements of a byte are too few for the loop around one.
    const fn units<M: LaneOps>() -> usize
    where
        S: Source<M>,
        D: Target<M>,
    {
        if S::BITS < 8 || D::BITS <= 8 && S::BITS <= 64 { 2 } else { M::UNITS }
    }

    /// Elements of a block.
    const fn block<M: LaneOps>() -> usize
    where
        S: Source<M>,
        D: Target<M>,
    {
        Self::units::<M>() * size_of::<M::V>()
    }
}

impl<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool> Kernel<M> for Pair<S, D, SATURATE> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        let (s, d) = const { (S::BITS, D::BITS) };
        let block = const { Self::block::<M>() };
        // SAFETY: blocks begin at whole bytes and end at the last element or before; the data are those of the pair. There is a whole
        // block, unless elements are packed.
        unsafe {
            let tables = S::tables(m, data);
            // In both loops one place calls the body, so that it is there once.
            if const { M::INDEXED && S::BITS >= 8 && D::BITS >= 8 } {
                let (mut i, mut end) = (0, n - n % block);
                loop {
                    while i < end {
                        let (from, to) = (src.add(bytes(i, s)), dst.add(bytes(i, d)));
                        do_block::<M, S, D, SATURATE>(m, tables, from, to, data);
                        i += block;
                    }
                    if end == n {
                        return;
                    }
                    // The last whole block once more, overlapping the one before.
                    (i, end) = (n - block, n);
                }
            }
            let (mut from, mut to) = (src, dst);
            let (mut blocks, mut rest) = (n / block, n % block);
            loop {
                for _ in 0..blocks {
                    do_block::<M, S, D, SATURATE>(m, tables, from, to, data);
                    (from, to) = (from.add(bytes(block, s)), to.add(bytes(block, d)));
                }
                if rest == 0 {
                    return;
                }
                if s < 8 || d < 8 {
                    let (from, to) = (src.add(bytes(n - rest, s)), dst.add(bytes(n - rest, d)));
                    return padded_bits(m, run::<M, S, D, SATURATE>, block, s, d, from, to, rest, data);
                }
                (from, to) = (src.add(bytes(n - block, s)), dst.add(bytes(n - block, d)));
                (blocks, rest) = (1, 0);
            }
        }
    }
}

/// # Safety
///
/// A block can be read and written.
#[inline(always)]
unsafe fn do_block<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    m: M,
    tables: S::Tables,
    from: *const u8,
    to: *mut u8,
    data: &Data,
) {
    let unit = const { size_of::<M::V>() };
    // SAFETY: the caller's block has one unit, or the second one begins where the first one ends.
    unsafe {
        if const { Pair::<S, D, SATURATE>::units::<M>() == 1 } {
            D::store_unit::<S::Lanes, SATURATE>(m, S::load_unit(m, tables, from), to, data);
        } else {
            let x = S::load(m, tables, [from, from.add(bytes(unit, S::BITS))]);
            D::store::<S::Lanes, SATURATE>(m, x, [to, to.add(bytes(unit, D::BITS))], data);
        }
    }
}

/// The parts of complex numbers, as reals.
///
/// # Safety
///
/// As [`run`], of the complex pair.
pub(crate) unsafe fn parts<M: LaneOps, S: Source<M>, D: Target<M>>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: `n` complex numbers are as many bytes as `2 * n` reals.
    unsafe { run::<M, S, D, true>(src, dst, 2 * n, data) }
}

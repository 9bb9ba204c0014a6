//! The loop that all kernels of this module share.

use super::{
    super::{bytes, padded_bits},
    LaneOps,
    ops::Kernel,
    source::Source,
    target::Target,
};
use crate::format::data::Data;

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

impl<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool> Kernel<M> for Pair<S, D, SATURATE> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        let (s, d) = const { (S::BITS, D::BITS) };
        let unit = const { size_of::<M::V>() };
        let block = const { 2 * size_of::<M::V>() };
        // SAFETY: blocks begin at whole bytes and end at the last element or before; `data` belongs to the pair.
        unsafe {
            let tables = S::tables(m, data);
            let (mut from, mut to) = (src, dst);
            let (mut blocks, mut rest) = (n / block, n % block);
            loop {
                // One place calls the body, so that its code exists once.
                for _ in 0..blocks {
                    let x = S::load(m, tables, [from, from.add(bytes(unit, s))]);
                    D::store::<S::Lanes, SATURATE>(m, x, [to, to.add(bytes(unit, d))], data);
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

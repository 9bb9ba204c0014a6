//! The loops that all kernels of this module share.
//!
//! The elements after the whole blocks are cast by the last block once more, which overlaps the one before. Packed elements need not begin
//! there at a whole byte, so they go through the stack, as do calls of less than a block. The pace of a tier ([`Pace`]) may have smaller blocks.

use super::{
    super::{bytes, padded_bits},
    Function, Kernel, LaneOps, Pace,
    part::{From, To},
    source::Source,
    target::Target,
};
use crate::{format::data::Data, vector::kernel::KernelFn};
use core::mem::MaybeUninit;

/// The kernel from a source to a target. Its requirements are as for [`KernelFn`], for a pair with this source and this target; the CPU has the
/// features of the token.
pub(crate) const fn kernel<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>() -> KernelFn {
    <M::Function<Pair<S, D, SATURATE>> as Function>::FUNCTION
}

/// Calls the kernel from a source to a target.
///
/// # Safety
///
/// As [`kernel`] requires.
#[allow(dead_code, reason = "not every target has tiers that call it")]
pub(crate) unsafe fn run<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let run = const { kernel::<M, S, D, SATURATE>() };
    // SAFETY: the caller meets the requirements.
    unsafe { run(src, dst, n, data) }
}

/// A source, a target, and whether it saturates.
pub(crate) struct Pair<S, D, const SATURATE: bool>(S, D);

impl<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool> Kernel<M> for Pair<S, D, SATURATE> {
    #[inline(always)]
    unsafe fn run(m: M, src: *const u8, dst: *mut u8, n: usize, data: &Data) {
        // SAFETY: the caller's buffers and data.
        unsafe {
            if const { matches!(M::PACE, Pace::Long) || !S::PARTS || D::BITS < 8 } {
                in_units::<M, S, D, SATURATE>(m, src, dst, n, data);
            } else {
                in_parts::<M, S, D, SATURATE>(m, src, dst, n, data);
            }
        }
    }
}

/// Casts in blocks of two units.
///
/// # Safety
///
/// As [`run`].
#[inline(always)]
unsafe fn in_units<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
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
                let whole = kernel::<M, S, D, SATURATE>();
                return padded_bits(m, whole, block, s, d, from, to, rest, data);
            }
            // The last whole block once more, overlapping the one before.
            (from, to) = (src.add(bytes(n - block, s)), dst.add(bytes(n - block, d)));
            (blocks, rest) = (1, 0);
        }
    }
}

/// Casts in blocks of a part of a unit.
///
/// # Safety
///
/// As [`run`].
#[inline(always)]
unsafe fn in_parts<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let quarter = const { size_of::<M::V>() / 4 };
    let block = const { size_of::<M::V>() / if D::BITS > 32 { 4 } else { D::BITS.div_ceil(8) } };
    // SAFETY: the caller's buffers and data; each loop has at least one step.
    unsafe {
        if const { matches!(M::PACE, Pace::Parts) } {
            if n >= block {
                blocks::<M, S, D, SATURATE, 1>(m, src, dst, n, data);
            } else if n > 0 {
                padded_bits(m, kernel::<M, S, D, SATURATE>(), block, S::BITS, D::BITS, src, dst, n, data);
            }
        } else if const { S::LIGHT && D::LIGHT } && n >= 2 * block {
            blocks::<M, S, D, SATURATE, 2>(m, src, dst, n, data);
        } else if n >= block {
            blocks::<M, S, D, SATURATE, 1>(m, src, dst, n, data);
        } else if block > quarter && n >= quarter {
            overlapping::<M, S, D, SATURATE, 1, 1>(m, src, dst, n, data);
        } else {
            few::<M, S, D, SATURATE>(m, src, dst, n, data);
        }
    }
}

/// Casts in blocks that fill a register of the target, or two if its elements have 64 bits; `BLOCKS` of them in each step.
///
/// # Safety
///
/// As [`run`]; `n` is at least a step.
#[inline(always)]
unsafe fn blocks<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool, const BLOCKS: usize>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    // SAFETY: as the caller's.
    unsafe {
        match const { D::BITS } {
            8 => overlapping::<M, S, D, SATURATE, 4, BLOCKS>(m, src, dst, n, data),
            16 => overlapping::<M, S, D, SATURATE, 2, BLOCKS>(m, src, dst, n, data),
            _ => overlapping::<M, S, D, SATURATE, 1, BLOCKS>(m, src, dst, n, data),
        }
    }
}

/// Casts in steps of `BLOCKS` times `QUARTERS` quarters of a unit, and once more the last step's elements if whole steps do not end at `n`.
///
/// # Safety
///
/// As [`run`]; `n` is at least a step.
#[inline(always)]
unsafe fn overlapping<
    M: LaneOps,
    S: Source<M>,
    D: Target<M>,
    const SATURATE: bool,
    const QUARTERS: usize,
    const BLOCKS: usize,
>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    data: &Data,
) {
    let block = const { QUARTERS * size_of::<M::V>() / 4 };
    let step = const { BLOCKS * QUARTERS * size_of::<M::V>() / 4 };
    // SAFETY: the caller's data.
    let tables = unsafe { S::tables(m, data) };
    let (mut i, mut end) = (0, n - n % step);
    // One place casts a step, so that its code exists once.
    loop {
        while i < end {
            // SAFETY: steps begin at elements and end at the last one or before.
            unsafe {
                let (src, dst) = (src.add(bytes(i, S::BITS)), dst.add(bytes(i, D::BITS)));
                part::<M, S, D, SATURATE, QUARTERS, QUARTERS>(m, tables, src, block, dst, data);
                if BLOCKS == 2 {
                    let (src, dst) = (src.add(bytes(block, S::BITS)), dst.add(bytes(block, D::BITS)));
                    part::<M, S, D, SATURATE, QUARTERS, QUARTERS>(m, tables, src, block, dst, data);
                }
            }
            i += step;
        }
        if end == n {
            return;
        }
        (i, end) = (n - step, n);
    }
}

/// Casts a part of a unit.
///
/// # Safety
///
/// The part can be read and written.
#[inline(always)]
unsafe fn part<
    M: LaneOps,
    S: Source<M>,
    D: Target<M>,
    const SATURATE: bool,
    const FROM: usize,
    const TO: usize,
>(
    m: M,
    tables: S::Tables,
    src: *const u8,
    n: usize,
    dst: *mut u8,
    data: &Data,
) {
    // SAFETY: the caller's part.
    unsafe {
        let x = S::load_part(m, tables, From::<FROM>::new(src, n));
        D::store_part::<S::Lanes, SATURATE, TO>(m, x, To::new(dst), data);
    }
}

/// Casts fewer elements than a quarter of a unit: writes a quarter to the stack and copies the `n` elements from there, in pieces of constant
/// sizes.
///
/// # Safety
///
/// As [`run`]; `n` is less than a quarter.
#[inline(always)]
unsafe fn few<M: LaneOps, S: Source<M>, D: Target<M>, const SATURATE: bool>(
    m: M,
    src: *const u8,
    mut dst: *mut u8,
    n: usize,
    data: &Data,
) {
    /// Registers have at most 64 bytes.
    const MAX_QUARTER: usize = 16;
    #[repr(align(32))]
    struct Stack([MaybeUninit<u8>; MAX_QUARTER * 16]);
    let mut stack = Stack([const { MaybeUninit::uninit() }; MAX_QUARTER * 16]);
    // SAFETY: the stack has room for a quarter. The pieces add up to `n` elements.
    unsafe {
        part::<M, S, D, SATURATE, 0, 1>(m, S::tables(m, data), src, n, stack.0.as_mut_ptr().cast(), data);
        let mut written = stack.0.as_ptr().cast::<u8>();
        for piece in [8, 4, 2, 1] {
            if piece < const { size_of::<M::V>() / 4 } && n & piece != 0 {
                dst.copy_from_nonoverlapping(written, bytes(piece, D::BITS));
                (written, dst) = (written.add(bytes(piece, D::BITS)), dst.add(bytes(piece, D::BITS)));
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

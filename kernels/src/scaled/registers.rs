//! Steps that round exactly, over the registers that the tiers share.

use super::{Factors, Word};
use crate::vector::Simd;
use core::mem::{MaybeUninit, size_of};

/// A step: the factors of a run in registers, and what becomes of the elements of a register.
///
/// # Safety
///
/// As of the methods of [`Simd`].
pub(crate) trait RegisterStep {
    /// The factors of run `i`; if `EACH`, those of as many runs from `i` on as a register has lanes.
    unsafe fn factors<M: Simd, const EACH: bool>(factors: &Factors<'_>, i: usize) -> [M::V; 3];
    unsafe fn step<M: Simd>(x: M::V, factors: &[M::V; 3]) -> M::V;
}

/// Negative zero: added to a product it changes nothing.
const NOTHING: u32 = 1 << 31;

/// The number of run `i`, or if `EACH`, those from there on.
///
/// # Safety
///
/// As of the methods of [`Simd`]; the numbers are there.
#[inline(always)]
unsafe fn fetch<M: Simd, const EACH: bool>(of: &[f32], i: usize) -> M::V {
    // SAFETY: the caller's promise.
    unsafe {
        let p = of.as_ptr().add(i);
        if EACH { p.cast::<M::V>().read_unaligned() } else { M::splat((*p).to_bits()) }
    }
}

/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn multiplied<M: Simd>(a: M::V, b: M::V) -> M::V {
    // SAFETY: the caller's promise.
    unsafe { M::fma(a, b, M::splat(NOTHING)) }
}

/// `x` moved by one unit in its last place, in the direction of `rest`.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn moved<M: Simd>(x: M::V, rest: M::V) -> M::V {
    // SAFETY: the caller's promise.
    unsafe {
        let inward = M::shr::<31>(M::xor(x, rest));
        M::sub(M::add(x, M::splat(1)), M::add(inward, inward))
    }
}

/// `x`, where `rest` is not zero the value of `moved`, and where that is NaN the value of `special`.
///
/// # Safety
///
/// As of the methods of [`Simd`].
#[inline(always)]
unsafe fn unless_exact<M: Simd>(x: M::V, rest: M::V, moved: M::V, special: M::V) -> M::V {
    // SAFETY: the caller's promise.
    unsafe {
        let magnitude = M::and(rest, M::splat(!NOTHING));
        M::select_nan(rest, special, M::select_eq(magnitude, M::splat(0), x, moved))
    }
}

/// [`Step::Times`](super::Step::Times)
pub(crate) struct Times;

impl RegisterStep for Times {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe { [fetch::<M, EACH>(factors.factor, i); 3] }
    }
    #[inline(always)]
    unsafe fn step<M: Simd>(x: M::V, factors: &[M::V; 3]) -> M::V {
        // SAFETY: the caller's promise.
        unsafe { multiplied::<M>(x, factors[0]) }
    }
}

/// [`Step::Quotient`](super::Step::Quotient): the quotient by way of the reciprocal is wrong by less than two units of the last place, so
/// the multiple of 16 units that is nearest to it is the nearest to the exact quotient, too, or the second nearest, and no other one lies
/// between them. On which side of it the exact quotient is, the remainder says, whose sign one rounding cannot change. Midpoints of the
/// targets are such multiples.
pub(crate) struct Exact<const BLOCK: bool>;

impl<const BLOCK: bool> RegisterStep for Exact<BLOCK> {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            let factor = fetch::<M, EACH>(factors.factor, i);
            let block = if BLOCK { fetch::<M, EACH>(factors.block, i) } else { factor };
            [factor, block, M::xor(fetch::<M, EACH>(factors.scale, i), M::splat(NOTHING))]
        }
    }
    #[inline(always)]
    unsafe fn step<M: Simd>(x: M::V, factors: &[M::V; 3]) -> M::V {
        let [factor, block, minus_scale] = *factors;
        // SAFETY: the caller's promise.
        unsafe {
            let near = multiplied::<M>(x, factor);
            let short = M::and(M::add(near, M::splat(8)), M::splat(!15));
            // 20 bits times 4 are exact.
            let part = if BLOCK { multiplied::<M>(short, block) } else { short };
            let rest = M::fma(part, minus_scale, x);
            unless_exact::<M>(short, rest, moved::<M>(short, rest), near)
        }
    }
}

/// [`Step::Product`](super::Step::Product)
pub(crate) struct Product<const BLOCK: bool, const ODD: bool>;

impl<const BLOCK: bool, const ODD: bool> RegisterStep for Product<BLOCK, ODD> {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            let scale = fetch::<M, EACH>(factors.scale, i);
            let block = if BLOCK { fetch::<M, EACH>(factors.block, i) } else { scale };
            [scale, block, scale]
        }
    }
    #[inline(always)]
    unsafe fn step<M: Simd>(x: M::V, factors: &[M::V; 3]) -> M::V {
        let [scale, block, _] = *factors;
        // SAFETY: the caller's promise.
        unsafe {
            // 8 bits times 4 are exact.
            let part = if BLOCK { multiplied::<M>(x, block) } else { x };
            let near = multiplied::<M>(part, scale);
            if !ODD {
                return near;
            }
            let rest = M::fma(part, scale, M::xor(near, M::splat(NOTHING)));
            let even = M::and(near, M::splat(1));
            let odd = M::select_eq(even, M::splat(0), moved::<M>(near, rest), near);
            unless_exact::<M>(near, rest, odd, near)
        }
    }
}

/// Does a step with every element.
///
/// # Safety
///
/// As [`StepFn`](super::StepFn).
#[inline(always)]
pub(crate) unsafe fn by_runs<M: Simd, S: RegisterStep>(
    x: *const Word,
    q: *mut Word,
    n: usize,
    run: usize,
    factors: &Factors<'_>,
) {
    let lanes = const { size_of::<M::V>() / 4 };
    let (mut start, mut i) = (0, 0);
    // SAFETY: all elements are among the `n`, and all runs have their factors; a register is read before it is written.
    unsafe {
        while run == 1 && n - start >= lanes {
            let factors = S::factors::<M, true>(factors, start);
            let x = x.add(start).cast::<M::V>().read_unaligned();
            q.add(start).cast::<M::V>().write_unaligned(S::step::<M>(x, &factors));
            start += lanes;
            i = start;
        }
        while start < n {
            let end = if n - start < run { n } else { start + run };
            let factors = S::factors::<M, false>(factors, i);
            while end - start >= lanes {
                let x = x.add(start).cast::<M::V>().read_unaligned();
                q.add(start).cast::<M::V>().write_unaligned(S::step::<M>(x, &factors));
                start += lanes;
            }
            if start < end {
                part::<M, S>(x.add(start), q.add(start), end - start, &factors);
            }
            (start, i) = (end, i + 1);
        }
    }
}

/// Does a step with fewer elements than a register has lanes.
///
/// # Safety
///
/// As [`by_runs`].
#[inline(always)]
unsafe fn part<M: Simd, S: RegisterStep>(x: *const Word, q: *mut Word, n: usize, factors: &[M::V; 3]) {
    let mut padded = MaybeUninit::<M::V>::zeroed();
    let words = padded.as_mut_ptr().cast::<Word>();
    // SAFETY: a register has room for `n` words, and all of it is initialised.
    unsafe {
        words.copy_from_nonoverlapping(x, n);
        padded.write(S::step::<M>(padded.assume_init(), factors));
        q.copy_from_nonoverlapping(padded.as_ptr().cast::<Word>(), n);
    }
}

//! The steps, and the largest magnitudes, over the registers that the tiers share.

use super::{Factors, Word};
use crate::vector::Simd;
use core::mem::{MaybeUninit, size_of};

/// A step: it keeps the factors of a run in registers, and applies them to the elements of a register.
///
/// # Safety
///
/// As for the methods of [`Simd`].
pub(crate) trait RegisterStep {
    /// # Safety
    ///
    /// Run `i` has its factors; if `EACH`, as many runs from `i` on have theirs as a register has lanes.
    ///
    /// Loads the factors of run `i`; if `EACH`, the factors of as many runs from `i` on as a register has lanes.
    unsafe fn factors<M: Simd, const EACH: bool>(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3];
    fn step<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V;
}

/// The sign bit.
const SIGN: u32 = 1 << 31;

/// Loads the number of run `i` or, if `EACH`, the numbers from there on.
///
/// # Safety
///
/// As for the methods of [`Simd`]; the numbers exist.
#[inline(always)]
unsafe fn fetch<M: Simd, const EACH: bool>(m: M, of: &[f32], i: usize) -> M::V {
    // SAFETY: the caller's promise.
    unsafe {
        let p = of.as_ptr().add(i);
        if EACH { p.cast::<M::V>().read_unaligned() } else { m.splat((*p).to_bits()) }
    }
}

/// A float32 next to `short`, on the side of the exact value: `excess` is the amount by which `short` is larger. The result has the sign of `x`.
/// `short` is a magnitude whose last four bits are zero.
#[inline(always)]
fn beside<M: Simd>(m: M, short: M::V, excess: M::V, x: M::V) -> M::V {
    m.or(m.nudge(short, excess), m.and(x, m.splat(SIGN)))
}

#[inline(always)]
fn negated<M: Simd>(m: M, x: M::V) -> M::V {
    m.xor(x, m.splat(SIGN))
}

/// [`Step::Times`](super::Step::Times)
pub(crate) struct Times;

impl RegisterStep for Times {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe { [fetch::<M, EACH>(m, factors.factor, i); 3] }
    }
    #[inline(always)]
    fn step<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        m.mul(x, factors[0])
    }
}

/// [`Step::Divide`](super::Step::Divide)
pub(crate) struct Divide;

impl RegisterStep for Divide {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe { [fetch::<M, EACH>(m, factors.factor, i); 3] }
    }
    #[inline(always)]
    fn step<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        m.div(x, factors[0])
    }
}

/// [`Step::Quotient`](super::Step::Quotient). A quotient computed by the reciprocal has up to four roundings, each by at most 2^-24 of it, so its
/// error is less than four units of the last place. The reciprocal that is used is larger by 2^-21 of itself, twice that error, so the product is
/// 2 to 12 units above the exact quotient. If the product is 0 to 15 units above a multiple of 16 units, the exact quotient lies between -12 and
/// 14 units from that multiple, and no other multiple is nearer. The sign of the excess, which one rounding cannot change, says on which side of
/// the multiple the quotient lies. Midpoints of the targets are such multiples.
pub(crate) struct Exact<const BLOCK: bool>;

/// 1 + 2^-21.
const LARGER: u32 = 0x3F80_0004;

impl<const BLOCK: bool> RegisterStep for Exact<BLOCK> {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            let factor = m.mul(fetch::<M, EACH>(m, factors.factor, i), m.splat(LARGER));
            let block = if BLOCK { fetch::<M, EACH>(m, factors.block, i) } else { factor };
            [negated::<M>(m, factor), block, fetch::<M, EACH>(m, factors.scale, i)]
        }
    }
    #[inline(always)]
    fn step<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        let [minus_factor, block, scale] = *factors;
        let minus = m.or(x, m.splat(SIGN));
        // NaN has the sign of `minus`.
        let short = m.and(m.mul(minus, minus_factor), m.splat(!(15 | SIGN)));
        // 20 bits times 4 bits are exact.
        let part = if BLOCK { m.mul(short, block) } else { short };
        beside::<M>(m, short, m.fma(part, scale, minus), x)
    }
}

/// [`Step::Product`](super::Step::Product)
pub(crate) struct Product<const BLOCK: bool, const BESIDE: bool>;

impl<const BLOCK: bool, const BESIDE: bool> Product<BLOCK, BESIDE> {
    /// The product with the scale of the block, which is exact: 8 bits times 4 bits.
    #[inline(always)]
    fn of_block<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        if BLOCK { m.mul(x, factors[1]) } else { x }
    }

    /// The product rounded to float32.
    #[inline(always)]
    pub(crate) fn near<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        m.mul(Self::of_block::<M>(m, x, factors), factors[0])
    }
}

impl<const BLOCK: bool, const BESIDE: bool> RegisterStep for Product<BLOCK, BESIDE> {
    #[inline(always)]
    unsafe fn factors<M: Simd, const EACH: bool>(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            let scale = fetch::<M, EACH>(m, factors.scale, i);
            let block = if BLOCK { fetch::<M, EACH>(m, factors.block, i) } else { scale };
            [scale, block, negated::<M>(m, scale)]
        }
    }
    #[inline(always)]
    fn step<M: Simd>(m: M, x: M::V, factors: &[M::V; 3]) -> M::V {
        if !BESIDE {
            return Self::near::<M>(m, x, factors);
        }
        let magnitude = m.and(x, m.splat(!SIGN));
        let short = m.and(Self::near::<M>(m, magnitude, factors), m.splat(!15));
        beside::<M>(m, short, m.fma(Self::of_block::<M>(m, magnitude, factors), factors[2], short), x)
    }
}

/// Raises the largest magnitudes of runs of `RUN` elements, a multiple of a register's lanes; it handles as many runs at once as a register has
/// lanes. Returns the number of runs that it handled; fewer than a register's lanes are left.
///
/// # Safety
///
/// As for the methods of [`Simd`]. `x` is readable for `runs * RUN` words, and `amaxes` is writable for `runs` words.
#[inline(always)]
pub(crate) unsafe fn amax_of_runs<M: Simd, const RUN: usize>(
    m: M,
    x: *const Word,
    runs: usize,
    amaxes: *mut u32,
) -> usize {
    let lanes = const { size_of::<M::V>() / 4 };
    let registers = const { RUN / (size_of::<M::V>() / 4) };
    let mut first = 0;
    // SAFETY: the caller's promise is the same; all registers belong to the runs from `first` on.
    unsafe {
        let mask = m.splat(!SIGN);
        while runs - first >= lanes {
            let mut rows = [mask; 16];
            for (i, row) in rows.iter_mut().take(lanes).enumerate() {
                let p = x.add((first + i) * RUN).cast::<M::V>();
                let mut largest = m.and(p.read_unaligned(), mask);
                for k in 1..registers {
                    largest = m.max_u(largest, m.and(p.add(k).read_unaligned(), mask));
                }
                *row = largest;
            }
            let found = across::<M>(m, &mut rows, lanes);
            let p = amaxes.add(first).cast::<M::V>();
            p.write_unaligned(m.max_u(p.read_unaligned(), found));
            first += lanes;
        }
    }
    first
}

/// The same for elements of 16 bits, in runs of `REGISTERS` registers.
///
/// # Safety
///
/// As for the methods of [`Simd`]. The elements of `runs` runs are readable at `x`, and `amaxes` is writable for `runs`.
#[inline(always)]
pub(crate) unsafe fn amax_of_halves<M: Simd, const REGISTERS: usize>(
    m: M,
    x: *const [u8; 2],
    runs: usize,
    amaxes: *mut u16,
) -> usize {
    let lanes = const { size_of::<M::V>() / 4 };
    let mut first = 0;
    // SAFETY: the caller's promise is the same; all registers belong to the runs from `first` on.
    unsafe {
        let (mask, low) = (m.splat(0x7FFF_7FFF), m.splat(0xFFFF));
        while runs - first >= lanes {
            let mut rows = [mask; 16];
            for (i, row) in rows.iter_mut().take(lanes).enumerate() {
                let p = x.cast::<M::V>().add((first + i) * REGISTERS);
                let mut largest = m.splat(0);
                for k in 0..REGISTERS {
                    let x = m.and(p.add(k).read_unaligned(), mask);
                    largest = m.max_u(largest, m.max_u(m.and(x, low), m.shr::<16>(x)));
                }
                *row = largest;
            }
            let found = across::<M>(m, &mut rows, lanes);
            let p = amaxes.add(first);
            let found = core::slice::from_raw_parts(core::ptr::from_ref(&found).cast::<u32>(), lanes);
            for (i, found) in found.iter().enumerate() {
                *p.add(i) = (*p.add(i)).max(*found as u16);
            }
            first += lanes;
        }
    }
    first
}

/// The largest lane of each of `lanes` registers.
#[inline(always)]
fn across<M: Simd>(m: M, rows: &mut [M::V; 16], lanes: usize) -> M::V {
    let mut left = lanes / 2;
    macro_rules! across {
            ($($k:literal)*) => {$(
                for i in 0..left {
                    rows[i] = m.max_across::<$k>(rows[2 * i], rows[2 * i + 1]);
                }
                left /= 2;
            )*};
        }
    across!(0 1 2 3);
    debug_assert!(left == 0);
    rows[0]
}

/// Applies a step to every element.
///
/// # Safety
///
/// As [`StepFn`](super::StepFn).
#[inline(always)]
pub(crate) unsafe fn by_runs<M: Simd, S: RegisterStep>(
    m: M,
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
            let factors = S::factors::<M, true>(m, factors, start);
            let x = x.add(start).cast::<M::V>().read_unaligned();
            q.add(start).cast::<M::V>().write_unaligned(S::step::<M>(m, x, &factors));
            start += lanes;
            i = start;
        }
        while start < n {
            let end = if n - start < run { n } else { start + run };
            let factors = S::factors::<M, false>(m, factors, i);
            while end - start >= lanes {
                let x = x.add(start).cast::<M::V>().read_unaligned();
                q.add(start).cast::<M::V>().write_unaligned(S::step::<M>(m, x, &factors));
                start += lanes;
            }
            if start < end {
                part::<M, S>(m, x.add(start), q.add(start), end - start, &factors);
            }
            (start, i) = (end, i + 1);
        }
    }
}

/// Applies a step to fewer elements than a register has lanes.
///
/// # Safety
///
/// As [`by_runs`].
#[inline(always)]
unsafe fn part<M: Simd, S: RegisterStep>(m: M, x: *const Word, q: *mut Word, n: usize, factors: &[M::V; 3]) {
    let mut padded = MaybeUninit::<M::V>::zeroed();
    let words = padded.as_mut_ptr().cast::<Word>();
    // SAFETY: a register has room for `n` words, and all of it is initialised.
    unsafe {
        words.copy_from_nonoverlapping(x, n);
        padded.write(S::step::<M>(m, padded.assume_init(), factors));
        q.copy_from_nonoverlapping(padded.as_ptr().cast::<Word>(), n);
    }
}

//! Parts of a unit in memory: as many quarters of its elements as a loop of few elements takes, or fewer elements than a quarter.
//!
//! A part fills the first registers of the lanes. The other registers repeat these, so the compiler computes their results once.

use super::{Doubles, Halves, LaneOps, Words, eight};
use crate::vector::each;

/// Where the first `QUARTERS` quarters of a unit are read; if that is 0, the first `n` elements, fewer than a quarter.
#[derive(Clone, Copy)]
pub(crate) struct From<const QUARTERS: usize> {
    p: *const u8,
    n: usize,
}

/// Where the first `QUARTERS` quarters of a unit are written.
#[derive(Clone, Copy)]
pub(crate) struct To<const QUARTERS: usize>(*mut u8);

impl<const QUARTERS: usize> From<QUARTERS> {
    /// `n` counts only if `QUARTERS` is 0.
    #[inline(always)]
    pub(crate) fn new(p: *const u8, n: usize) -> Self {
        Self { p, n }
    }

    /// Words that were widened from halves of this part, where the words of the part repeat. The compiler does not always see that they are equal.
    #[inline(always)]
    pub(super) fn widened<V: Copy>(self, x: [V; 4]) -> [V; 4] {
        let part = const { if QUARTERS == 0 { 1 } else { QUARTERS } };
        each!([0, 1, 2, 3], |k| x[k % part])
    }

    /// Register `k` of a unit that has `SIZE` registers, the size of an element in bytes.
    ///
    /// # Safety
    ///
    /// The part can be read.
    #[inline(always)]
    unsafe fn register<M: LaneOps, const SIZE: usize>(self, m: M, k: usize) -> M::V {
        let quarters = const { SIZE * if QUARTERS == 0 { 1 } else { QUARTERS } };
        // SAFETY: the caller's part has `quarters` quarters of a register. Without quarters, it has `n` elements.
        unsafe {
            let k = if quarters < 4 { 0 } else { k % (quarters / 4) };
            match (QUARTERS, quarters) {
                (0, _) => m.load_few::<SIZE>(self.p, self.n, k),
                (_, 2) => m.load_half(self.p),
                _ => m.load(self.p.add(k * size_of::<M::V>())),
            }
        }
    }
}

impl<const QUARTERS: usize> To<QUARTERS> {
    #[inline(always)]
    pub(crate) fn new(p: *mut u8) -> Self {
        Self(p)
    }

    /// Register `k` of a unit that has `SIZE` registers, the size of an element in bytes.
    ///
    /// # Safety
    ///
    /// The part can be written.
    #[inline(always)]
    unsafe fn register<M: LaneOps, const SIZE: usize>(self, m: M, k: usize, x: M::V) {
        let quarters = const { SIZE * QUARTERS };
        // SAFETY: the caller's part has `quarters` quarters of a register.
        unsafe {
            match quarters {
                1 => m.store_low::<1>(self.0, x),
                2 if k == 0 => m.store_low::<2>(self.0, x),
                _ if k < quarters / 4 => m.store(self.0.add(k * size_of::<M::V>()), x),
                _ => {}
            }
        }
    }
}

/// The elements of a byte.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(crate) unsafe fn bytes<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> M::V {
    // SAFETY: the caller's part.
    unsafe { p.register::<M, 1>(m, 0) }
}

/// The elements of 16 bits.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(crate) unsafe fn halves<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> Halves<M> {
    // SAFETY: the caller's part.
    unsafe { [p.register::<M, 2>(m, 0), p.register::<M, 2>(m, 1)] }
}

/// The elements of 32 bits.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(crate) unsafe fn words<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> Words<M> {
    // SAFETY: the caller's part.
    each!([0, 1, 2, 3], |k| unsafe { p.register::<M, 4>(m, k) })
}

/// The elements of 64 bits.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(crate) unsafe fn doubles<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> Doubles<M> {
    // SAFETY: the caller's part.
    eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| unsafe { p.register::<M, 8>(m, k) })
}

/// The real parts and the imaginary parts of complex64.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(super) unsafe fn parts_32<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> [Words<M>; 2] {
    // SAFETY: the caller's part.
    let x = unsafe { doubles(m, p) };
    [each!([0, 2, 4, 6], |k| m.even_32(x[k], x[k + 1])), each!([0, 2, 4, 6], |k| m.odd_32(x[k], x[k + 1]))]
}

/// The real parts and the imaginary parts of complex128.
///
/// # Safety
///
/// The part can be read.
#[inline(always)]
pub(super) unsafe fn parts_64<M: LaneOps, const QUARTERS: usize>(m: M, p: From<QUARTERS>) -> [Doubles<M>; 2] {
    // SAFETY: the caller's part.
    let pairs = eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| unsafe {
        [p.register::<M, 16>(m, 2 * k), p.register::<M, 16>(m, 2 * k + 1)]
    });
    [eight!(pairs, |[a, b]| m.even_64(a, b)), eight!(pairs, |[a, b]| m.odd_64(a, b))]
}

/// Stores elements of a byte.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(super) unsafe fn store_1<M: LaneOps, const QUARTERS: usize>(m: M, x: M::V, dst: To<QUARTERS>) {
    // SAFETY: the caller's part.
    unsafe { dst.register::<M, 1>(m, 0, x) }
}

/// Stores elements of 16 bits.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(crate) unsafe fn store_2<M: LaneOps, const QUARTERS: usize>(m: M, x: Halves<M>, dst: To<QUARTERS>) {
    // SAFETY: the caller's part.
    each!([0, 1], |k| unsafe { dst.register::<M, 2>(m, k, x[k]) });
}

/// Stores elements of 32 bits.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(crate) unsafe fn store_4<M: LaneOps, const QUARTERS: usize>(m: M, x: Words<M>, dst: To<QUARTERS>) {
    // SAFETY: the caller's part.
    each!([0, 1, 2, 3], |k| unsafe { dst.register::<M, 4>(m, k, x[k]) });
}

/// Stores elements of 64 bits.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(crate) unsafe fn store_8<M: LaneOps, const QUARTERS: usize>(m: M, x: Doubles<M>, dst: To<QUARTERS>) {
    // SAFETY: the caller's part.
    eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| unsafe { dst.register::<M, 8>(m, k, x[k]) });
}

/// Stores float32 as complex64: zero-extending the real part makes an imaginary part of zero.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(crate) unsafe fn store_complex_32<M: LaneOps, const QUARTERS: usize>(
    m: M,
    x: Words<M>,
    dst: To<QUARTERS>,
) {
    // SAFETY: the caller's part.
    unsafe { store_8(m, super::widen_32::<M, false>(m, x), dst) }
}

/// Stores float64 as complex128, with zeros as the imaginary parts.
///
/// # Safety
///
/// The part can be written.
#[inline(always)]
pub(crate) unsafe fn store_complex_64<M: LaneOps, const QUARTERS: usize>(
    m: M,
    x: Doubles<M>,
    dst: To<QUARTERS>,
) {
    let zero = m.splat(0);
    // SAFETY: the caller's part; each of the eight registers fills two.
    eight!([0, 1, 2, 3, 4, 5, 6, 7], |k| unsafe {
        let [a, b] = m.zip_64(x[k], zero);
        dst.register::<M, 16>(m, 2 * k, a);
        dst.register::<M, 16>(m, 2 * k + 1, b);
    });
}

//! The stages that scale and store blocks.

use super::{Factors, Product, RegisterStep, source::Source};
use crate::vector::casts::target::Target;
use crate::vector::each;
use crate::{format::data::Data, vector::Blocks};
use core::marker::PhantomData;

/// The factors of all runs, and the run of each register of a block.
pub(crate) type Runs<'a> = (&'a Factors<'a>, [usize; 4]);

/// Scales a block and stores it.
pub(crate) trait Stage<M: Blocks> {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// The factors that stay in registers for a run.
    type Held: Copy;
    unsafe fn hold(m: M, factors: &Factors<'_>, i: usize) -> Self::Held;
    /// Stores a block of the source, each of whose registers belongs to a run.
    ///
    /// # Safety
    ///
    /// As for the methods of [`Simd`](crate::vector::Simd); the block is writable.
    unsafe fn store<S: Source<M>>(
        m: M,
        x: [M::V; 4],
        held: &[Self::Held; 4],
        runs: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    );
}

/// A step, and a target that rounds its results.
pub(crate) struct Stored<F, T>(PhantomData<(F, T)>);

impl<M: Blocks, F: RegisterStep, T: Target<M>> Stage<M> for Stored<F, T> {
    const BITS: usize = T::BITS;
    type Held = [M::V; 3];
    #[inline(always)]
    unsafe fn hold(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise is the same.
        unsafe { F::factors::<M, false>(m, factors, i) }
    }
    #[inline(always)]
    unsafe fn store<S: Source<M>>(
        m: M,
        x: [M::V; 4],
        factors: &[[M::V; 3]; 4],
        _: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        const { assert!(!S::APART) };
        // SAFETY: the caller's promise is the same.
        unsafe {
            let x = each!([0, 1, 2, 3], |k| F::step::<M>(m, x[k], &factors[k]));
            T::store::<f32, false, false>(m, dst, x, None, M::BLOCK, data);
        }
    }
}

/// Products as bfloat16, rounded once.
///
/// A product rounded to float32 rounds to the same bfloat16 as the exact product, unless it lies halfway between two bfloat16. A block with such a
/// product is computed again with all bits; such blocks are rare unless scales have few significant bits. For all other blocks, half a unit is
/// added and the high halves are stored.
pub(crate) struct High<const BLOCK: bool, const BESIDE: bool>;

impl<M: Blocks, const BLOCK: bool, const BESIDE: bool> Stage<M> for High<BLOCK, BESIDE> {
    const BITS: usize = 16;
    type Held = [M::V; 3];
    #[inline(always)]
    unsafe fn hold(m: M, factors: &Factors<'_>, i: usize) -> [M::V; 3] {
        // SAFETY: the caller's promise is the same.
        unsafe { Product::<BLOCK, BESIDE>::factors::<M, false>(m, factors, i) }
    }
    #[inline(always)]
    unsafe fn store<S: Source<M>>(
        m: M,
        x: [M::V; 4],
        factors: &[[M::V; 3]; 4],
        _: Runs<'_>,
        dst: *mut u8,
        data: &Data,
    ) {
        const { assert!(!S::APART) };
        // SAFETY: the caller's promise is the same.
        unsafe {
            let near = each!([0, 1, 2, 3], |k| Product::<BLOCK, BESIDE>::near::<M>(m, x[k], &factors[k]));
            let half = m.splat(0x8000);
            let words = if m.any_low_half(near, half) {
                let exact =
                    each!([0, 1, 2, 3], |k| Product::<BLOCK, BESIDE>::step::<M>(m, x[k], &factors[k]));
                m.to_bf16::<true>(exact, data)
            } else {
                let [a, b, c, d] = each!(near, |x| m.add(x, half));
                [m.pack_high_halves(a, b), m.pack_high_halves(c, d)]
            };
            m.store_16::<false>(dst, words, M::BLOCK);
        }
    }
}

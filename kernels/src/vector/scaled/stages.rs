//! How blocks are scaled and stored.

use super::*;
use crate::vector::target::Target;

/// Scales a block by a [`RegisterStep`] and stores it.
pub(crate) trait Stage<M: Blocks> {
    /// Bits of an element in its storage.
    const BITS: usize;
    type Step: RegisterStep;
    /// Stores a block, each of whose registers has its own factors.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`](crate::vector::Simd); the block is writable.
    unsafe fn store(x: [M::V; 4], factors: &[[M::V; 3]; 4], dst: *mut u8, data: &Data);
}

/// A step, and a target that rounds its results.
pub(crate) struct Stored<F, T>(PhantomData<(F, T)>);

impl<M: Blocks, F: RegisterStep, T: Target> Stage<M> for Stored<F, T> {
    const BITS: usize = T::BITS;
    type Step = F;
    #[inline(always)]
    unsafe fn store(x: [M::V; 4], factors: &[[M::V; 3]; 4], dst: *mut u8, data: &Data) {
        // SAFETY: as the caller's.
        unsafe {
            let x = each!([0, 1, 2, 3], |k| F::step::<M>(x[k], &factors[k]));
            T::store::<M, f32, false, false>(dst, x, None, M::BLOCK, data);
        }
    }
}

/// Products as bfloat16, rounded once.
///
/// A product rounded to float32 rounds to the same bfloat16 as the exact one, unless it lies halfway between two of those. A block with such
/// a product is done again with all bits; it is rare unless scales have few significant bits. In the others, half a unit is added and the
/// high halves are stored.
pub(crate) struct High<const BLOCK: bool, const BESIDE: bool>;

impl<M: Blocks, const BLOCK: bool, const BESIDE: bool> Stage<M> for High<BLOCK, BESIDE> {
    const BITS: usize = 16;
    type Step = Product<BLOCK, BESIDE>;
    #[inline(always)]
    unsafe fn store(x: [M::V; 4], factors: &[[M::V; 3]; 4], dst: *mut u8, data: &Data) {
        // SAFETY: as the caller's.
        unsafe {
            let near = each!([0, 1, 2, 3], |k| Product::<BLOCK, BESIDE>::near::<M>(x[k], &factors[k]));
            let half = M::splat(0x8000);
            let words = if M::any_low_half(near, half) {
                let exact = each!([0, 1, 2, 3], |k| Product::<BLOCK, BESIDE>::step::<M>(x[k], &factors[k]));
                M::to_bf16::<true>(exact, data)
            } else {
                let [a, b, c, d] = each!(near, |x| M::add(x, half));
                [M::pack_high_halves(a, b), M::pack_high_halves(c, d)]
            };
            M::store_16::<false>(dst, words, M::BLOCK);
        }
    }
}

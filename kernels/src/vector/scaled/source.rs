//! The sources of the loops of scaled casts.

use crate::{format::data::Data, vector::Blocks};
use core::marker::PhantomData;
use half::bf16;

/// A source that a loop loads.
pub(crate) trait Source<M: Blocks> {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Whether the elements of two registers alternate: the first register has the elements with even indices.
    const APART: bool = false;
    /// The table that stays in registers.
    type Table;
    /// # Safety
    ///
    /// The data belongs to a kernel from the source to float32.
    unsafe fn table(m: M, data: &Data) -> Self::Table;
    /// Loads a block as float32, in order unless `APART`.
    ///
    /// # Safety
    ///
    /// As for the methods of [`Simd`](crate::vector::Simd); the block is readable.
    unsafe fn load(m: M, table: &Self::Table, p: *const u8) -> [M::V; 4];
}

/// Elements of a format, in order.
pub(crate) struct Elements<S>(PhantomData<S>);

impl<M: Blocks> Source<M> for Elements<f32> {
    const BITS: usize = 32;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): &(), p: *const u8) -> [M::V; 4] {
        // SAFETY: the caller's promise is the same.
        unsafe { m.load_32::<false>(p, M::BLOCK) }
    }
}

impl<M: Blocks> Source<M> for Elements<bf16> {
    const BITS: usize = 16;
    type Table = ();
    #[inline(always)]
    unsafe fn table(_: M, _: &Data) {}
    #[inline(always)]
    unsafe fn load(m: M, (): &(), p: *const u8) -> [M::V; 4] {
        // SAFETY: the caller's promise is the same.
        unsafe { m.load_high_16::<false>(p, M::BLOCK) }
    }
}

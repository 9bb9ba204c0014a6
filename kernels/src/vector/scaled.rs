//! Scaled casts in registers: a block is loaded as float32, multiplied by its scales, and stored.
//!
//! A [`Source`] loads blocks, a [`Stage`] scales and stores them. Quantization loads elements of a format and stores codes by a
//! [`Target`]; dequantization loads codes and stores float32 or bfloat16.

mod define;
mod stages;
pub(crate) mod words;

use super::{Blocks, bytes};
use crate::{
    data::Data,
    scaled::{Factors, Product, RegisterStep},
};
use core::marker::PhantomData;
pub(crate) use define::{Decoding, Fusing, decoder, fused};
use half::bf16;
pub(crate) use stages::{High, Runs, Stage, Stored};
pub(crate) use words::{List, Words};

/// What a loop loads.
pub(crate) trait Source<M: Blocks> {
    /// Bits of an element in its storage.
    const BITS: usize;
    /// Whether the elements of two registers alternate: the first one has those with even indices.
    const APART: bool = false;
    /// What stays in registers.
    type Table;
    /// # Safety
    ///
    /// The data is that of a kernel from the source to float32.
    unsafe fn table(m: M, data: &Data) -> Self::Table;
    /// A block as float32, in order unless `APART`.
    ///
    /// # Safety
    ///
    /// As of the methods of [`Simd`](super::Simd); the block is readable.
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
        // SAFETY: as the caller's.
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
        // SAFETY: as the caller's.
        unsafe { m.load_high_16::<false>(p, M::BLOCK) }
    }
}

/// Casts whole blocks of elements by the factors of their runs. `data` are those of the source and of the target.
///
/// # Safety
///
/// As of [`KernelFn`](crate::table::KernelFn) and of [`StepFn`](crate::scaled::StepFn) together; `n` is a multiple of a block, and so are
/// runs, unless there is one; or they are halves or quarters of a block that have whole registers, in pairs if the source is
/// [`APART`](Source::APART).
#[inline(always)]
pub(crate) unsafe fn run<M: Blocks, S: Source<M>, W: Stage<M>>(
    m: M,
    src: *const u8,
    dst: *mut u8,
    n: usize,
    run: usize,
    factors: &Factors<'_>,
    data: [&Data; 2],
) {
    let mut start = 0;
    // SAFETY: every block is among the `n` elements, and has its factors.
    unsafe {
        // Copies stay in registers.
        let (table, constants) = (S::table(m, data[0]), *data[1]);
        // A closure might stay a function without the features of the tier.
        macro_rules! block {
            ($held:expr, $runs:expr) => {{
                let x = S::load(m, &table, src.add(bytes(start, S::BITS)));
                W::store::<S>(m, x, $held, (factors, $runs), dst.add(bytes(start, W::BITS)), &constants);
                start += M::BLOCK;
            }};
        }
        if run < M::BLOCK {
            // Registers of a run.
            let (each, mut i) = (run / M::LANES, 0);
            while start < n {
                let runs = [0, 1, 2, 3].map(|k| i + k / each);
                block!(&each!(runs, |i| W::hold(m, factors, i)), runs);
                i += 4 / each;
            }
            return;
        }
        let mut i = 0;
        while start < n {
            let end = if n - start < run { n } else { start + run };
            let held = W::hold(m, factors, i);
            while start < end {
                block!(&[held; 4], [i; 4]);
            }
            i += 1;
        }
    }
}

//! Scaled casts in registers: a block is loaded as float32, multiplied by its scales, and stored.
//!
//! A [`Source`] loads blocks, and a [`Stage`] scales and stores them. Quantization loads elements of a format and stores codes by a [`Target`];
//! dequantization loads codes and stores float32 or bfloat16.

use super::Source;
use crate::vector::each;
use crate::vector::{Blocks, bytes};
use crate::{
    format::data::Data,
    vector::scaled::{Factors, Stage},
};

/// Casts whole blocks of elements by the factors of their runs. `data` holds the constants of the source and of the target.
///
/// # Safety
///
/// As for [`KernelFn`](crate::vector::kernel::KernelFn) and [`StepFn`](crate::vector::scaled::StepFn) together. `n` is a multiple of a block. Each
/// run is a multiple of a block, or there is only one run, or runs are halves or quarters of a block with whole registers, in pairs of registers
/// if the source is [`APART`](Source::APART).
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
        // Copies, which stay in registers.
        let (table, constants) = (S::table(m, data[0]), *data[1]);
        // A macro, because a closure might stay a function without the features of the tier.
        macro_rules! block {
            ($held:expr, $runs:expr) => {{
                let x = S::load(m, &table, src.add(bytes(start, S::BITS)));
                W::store::<S>(m, x, $held, (factors, $runs), dst.add(bytes(start, W::BITS)), &constants);
                start += M::BLOCK;
            }};
        }
        if run < M::BLOCK {
            // The number of registers of a run.
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

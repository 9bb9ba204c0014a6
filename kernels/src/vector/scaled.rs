//! Scaled casts without a stop in memory: a block is loaded, multiplied by its scales, and stored by a [`Target`].

use super::{Blocks, bytes, load, target::Target};
use crate::{
    data::Data,
    format::Format,
    scaled::{Factors, RegisterStep},
};

/// Casts whole blocks of elements by the factors of their runs.
///
/// # Safety
///
/// As of [`KernelFn`](crate::table::KernelFn) and of [`StepFn`](crate::scaled::StepFn) together; `n` is a multiple of a block, and so are
/// runs, unless there is one; or they are halves or quarters of a block that have whole registers.
#[inline(always)]
pub(crate) unsafe fn run<M: Blocks, S: Format, T: Target, F: RegisterStep>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    run: usize,
    factors: &Factors<'_>,
    data: &Data,
) {
    let size = const { S::DTYPE.size() };
    // A copy stays in registers.
    let constants = *data;
    let (mut start, mut i) = (0, 0);
    // SAFETY: every block is among the `n` elements, and has its factors.
    unsafe {
        if run < M::BLOCK {
            // Registers of a run.
            let each = run / M::LANES;
            while start < n {
                let mut x = load::load::<M, S, T, false>(src.add(start * size), M::BLOCK);
                for (k, x) in x.iter_mut().enumerate() {
                    *x = F::step::<M>(*x, &F::factors::<M, false>(factors, i + k / each));
                }
                T::store::<M, f32, false, false>(
                    dst.add(bytes(start, T::BITS)),
                    x,
                    None,
                    M::BLOCK,
                    &constants,
                );
                (start, i) = (start + M::BLOCK, i + 4 / each);
            }
            return;
        }
        while start < n {
            let end = if n - start < run { n } else { start + run };
            let of_run = F::factors::<M, false>(factors, i);
            while start < end {
                let mut x = load::load::<M, S, T, false>(src.add(start * size), M::BLOCK);
                for x in &mut x {
                    *x = F::step::<M>(*x, &of_run);
                }
                T::store::<M, f32, false, false>(
                    dst.add(bytes(start, T::BITS)),
                    x,
                    None,
                    M::BLOCK,
                    &constants,
                );
                start += M::BLOCK;
            }
            i += 1;
        }
    }
}

/// Makes `fused`, which finds the functions of [`run`] for the pairs that are common in scaled casts: `$function` names the features of a
/// tier and `$simd` its registers.
macro_rules! define_fused {
    ($function:ident, $simd:ty) => {
        pub(in crate::arch) fn fused(
            from: DType,
            to: BufferType,
            step: crate::scaled::Step,
        ) -> Option<crate::scaled::Fused> {
            use crate::{
                scaled::{Exact, Factors, Fused, FusedFn, Product, RegisterStep, Step, Times},
                vector::{
                    Blocks, scaled,
                    small::{NAN_APART, NO_NAN},
                    style::{DIRECTED, PLAIN},
                    target::*,
                },
            };
            $function! {
                /// # Safety
                ///
                /// As [`FusedFn`].
                unsafe fn whole<S: Format, T: Target, F: RegisterStep>(
                    src: *const u8,
                    dst: *mut u8,
                    n: usize,
                    run: usize,
                    factors: &Factors<'_>,
                    data: &Data,
                ) {
                    // SAFETY: as the caller's.
                    unsafe { scaled::run::<$simd, S, T, F>(src, dst, n, run, factors, data) }
                }
            }
            type Small = Bytes<Float<8, false, NAN_APART, PLAIN>>;
            type Four = Packed<Float<4, false, NO_NAN, PLAIN>, 4>;
            macro_rules! of_source {
                ($target:ty, $step:ty) => {
                    match from {
                        DType::Float32 => whole::<f32, $target, $step> as FusedFn,
                        DType::BFloat16 => whole::<half::bf16, $target, $step>,
                        _ => return None,
                    }
                };
            }
            let run = match (to.dtype(), to.is_packed(), step) {
                (DType::Float8E4M3FN | DType::Float8E5M2, false, Step::Times) => of_source!(Small, Times),
                (DType::Float8E4M3FN | DType::Float8E5M2, false, Step::Quotient { block: false }) => {
                    of_source!(Small, Exact<false>)
                }
                (DType::Float4E2M1FN, true, Step::Times) => of_source!(Four, Times),
                (DType::Float4E2M1FN, true, Step::Quotient { block: true }) => of_source!(Four, Exact<true>),
                (DType::Int8, false, Step::Quotient { block: false }) => {
                    of_source!(Bytes<Signed<true, DIRECTED>>, Exact<false>)
                }
                (DType::Int4, true, Step::Quotient { block: false }) => {
                    of_source!(Packed<Signed<false, DIRECTED>, 4>, Exact<false>)
                }
                (DType::BFloat16, false, Step::Product { block: false, beside: false }) => {
                    whole::<f32, BF16<PLAIN>, Product<false, false>>
                }
                (DType::BFloat16, false, Step::Product { block: false, beside: true }) => {
                    whole::<f32, BF16<PLAIN>, Product<false, true>>
                }
                (DType::BFloat16, false, Step::Product { block: true, beside: true }) => {
                    whole::<f32, BF16<PLAIN>, Product<true, true>>
                }
                _ => return None,
            };
            Some(Fused { run, lanes: <$simd>::LANES })
        }
    };
}
pub(crate) use define_fused;

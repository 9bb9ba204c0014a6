//! Which pairs have loops of their own: those that are common in scaled casts.

/// Makes `fused`, which finds the loops from elements to codes: `$function` names the features of a tier and `$simd` its registers.
macro_rules! define_fused {
    ($function:ident, $simd:ty) => {
        $function! {
            /// # Safety
            ///
            /// As [`FusedFn`](crate::vector::scaled::FusedFn).
            unsafe fn scale_blocks<S: $crate::vector::scaled::Source<$simd>, W: $crate::vector::scaled::Stage<$simd>>(
                src: *const u8,
                dst: *mut u8,
                n: usize,
                run: usize,
                factors: &crate::vector::scaled::Factors<'_>,
                data: [&Data; 2],
            ) {
                // SAFETY: the CPU has the tier, by the caller, whose blocks these are.
                unsafe {
                    let m = <$simd as $crate::vector::Simd>::new_unchecked();
                    $crate::vector::scaled::run::<$simd, S, W>(m, src, dst, n, run, factors, data)
                }
            }
        }

        pub(crate) fn fused(
            from: DType,
            to: Encoding,
            step: crate::vector::scaled::Step,
        ) -> Option<crate::vector::scaled::Fused> {
            use crate::vector::{
                Blocks,
                scaled::{Elements, Fused, FusedFn, Source, Step, words::stages},
            };
            macro_rules! of_source {
                ($stage:ty, $halves:ty) => {
                    match from {
                        DType::Float32 => (scale_blocks::<Elements<f32>, $stage> as FusedFn, false),
                        DType::BFloat16 => {
                            (scale_blocks::<$halves, $stage> as FusedFn, <$halves as Source<$simd>>::APART)
                        }
                        _ => return None,
                    }
                };
                ($stage:ty) => {
                    of_source!($stage, stages::Halves)
                };
            }
            let (run, apart) = match (to.dtype(), to.is_packed(), step) {
                (DType::Float8E4M3FN, false, Step::Times) => of_source!(stages::E4M3Times),
                (DType::Float8E5M2, false, Step::Times) => of_source!(stages::E5M2Times),
                (DType::Float8E4M3FN, false, Step::Quotient { block: false }) => of_source!(stages::E4M3),
                (DType::Float8E5M2, false, Step::Quotient { block: false }) => of_source!(stages::E5M2),
                (DType::Float4E2M1FN, true, Step::Times) => of_source!(stages::FourTimes),
                (DType::Float4E2M1FN, true, Step::Quotient { block: true }) => {
                    of_source!(stages::Four, Elements<half::bf16>)
                }
                (DType::Int8, false, Step::Quotient { block: false }) => of_source!(stages::Int8),
                (DType::Int4, true, Step::Quotient { block: false }) => of_source!(stages::Int4),
                _ => return None,
            };
            Some(Fused { run, lanes: <$simd>::LANES, least: <$simd>::LANES << u32::from(apart) })
        }
    };
}
pub(crate) use define_fused;

/// Makes `decoder`, which finds the loops from codes to float32 and bfloat16. `$e4m3`, `$e5m2`, `$e2m1`, `$int4` and `$int8` are the tier's
/// sources of `float8_e4m3fn`, of `float8_e5m2`, of packed `float4_e2m1fn`, of packed `int4`, and of `int8`.
macro_rules! define_decoders {
    ($simd:ty, $e4m3:ty, $e5m2:ty, $e2m1:ty, $int4:ty, $int8:ty) => {
        pub(crate) fn decoder(
            from: Encoding,
            to: DType,
            step: crate::vector::scaled::Step,
        ) -> Option<crate::vector::scaled::Fused> {
            use crate::vector::{
                Blocks,
                casts::target::F32,
                scaled::{Fused, FusedFn, High, Product, Step, Stored},
            };
            macro_rules! to_target {
                ($source:ty, $block:literal) => {
                    match (to, step) {
                        (DType::Float32, Step::Product { block: $block, beside: false }) => {
                            scale_blocks::<$source, Stored<Product<$block, false>, F32>> as FusedFn
                        }
                        (DType::BFloat16, Step::Product { block: $block, beside: true }) => {
                            scale_blocks::<$source, High<$block, true>>
                        }
                        (DType::BFloat16, Step::Product { block: false, beside: false }) => {
                            scale_blocks::<$source, High<false, false>>
                        }
                        _ => return None,
                    }
                };
            }
            let run = match (from.dtype(), from.is_packed(), step) {
                (DType::Float8E4M3FN, false, _) => to_target!($e4m3, false),
                (DType::Float8E5M2, false, _) => to_target!($e5m2, false),
                (DType::Float4E2M1FN, true, Step::Product { block: true, .. }) => to_target!($e2m1, true),
                (DType::Float4E2M1FN, true, _) => to_target!($e2m1, false),
                (DType::Int4, true, _) => to_target!($int4, false),
                (DType::Int8, false, _) => to_target!($int8, false),
                _ => return None,
            };
            Some(Fused { run, lanes: <$simd>::LANES, least: <$simd>::LANES })
        }
    };
}
pub(crate) use define_decoders;

//! Chooses the pairs that have their own loops: the common ones in scaled casts.

use super::{
    Elements, High, Source, Stage, Stored,
    words::{Words, stages},
};
use crate::{
    dtype::{DType, Encoding},
    format::data::Data,
    vector::{
        casts::target::F32,
        scaled::{Factors, Fused, FusedFn, Product, Step},
    },
};
use half::bf16;

/// A tier with these loops.
pub(crate) trait Fusing: Words {
    /// [`run`](super::run), compiled for the tier.
    ///
    /// # Safety
    ///
    /// As [`FusedFn`].
    unsafe fn scale_blocks<S: Source<Self>, W: Stage<Self>>(
        src: *const u8,
        dst: *mut u8,
        n: usize,
        run: usize,
        factors: &Factors<'_>,
        data: [&Data; 2],
    );
}

/// Finds the loop from elements to codes.
pub(crate) fn fused<V: Fusing>(from: DType, to: Encoding, step: Step) -> Option<Fused> {
    /// Finds the loop, and whether it loads elements of two registers alternately. `H` loads bfloat16.
    fn of<V: Fusing, W: Stage<V>, H: Source<V>>(from: DType) -> Option<(FusedFn, bool)> {
        match from {
            DType::Float32 => Some((V::scale_blocks::<Elements<f32>, W>, false)),
            DType::BFloat16 => Some((V::scale_blocks::<H, W>, H::APART)),
            _ => None,
        }
    }
    type Halves = stages::Halves;
    let (run, apart) = match (to.dtype(), to.is_packed(), step) {
        (DType::Float8E4M3FN, false, Step::Times) => of::<V, stages::E4M3Times, Halves>(from),
        (DType::Float8E5M2, false, Step::Times) => of::<V, stages::E5M2Times, Halves>(from),
        (DType::Float8E4M3FN, false, Step::Quotient { block: false }) => of::<V, stages::E4M3, Halves>(from),
        (DType::Float8E5M2, false, Step::Quotient { block: false }) => of::<V, stages::E5M2, Halves>(from),
        (DType::Float4E2M1FN, true, Step::Times) => of::<V, stages::FourTimes, Halves>(from),
        (DType::Float4E2M1FN, true, Step::Quotient { block: true }) => {
            of::<V, stages::Four, Elements<bf16>>(from)
        }
        (DType::Int8, false, Step::Quotient { block: false }) => of::<V, stages::Int8, Halves>(from),
        (DType::Int4, true, Step::Quotient { block: false }) => of::<V, stages::Int4, Halves>(from),
        _ => None,
    }?;
    Some(Fused { run, lanes: V::LANES, least: V::LANES << u32::from(apart) })
}

/// The sources of codes of a tier.
pub(crate) trait Decoding<V: Fusing> {
    /// `float8_e4m3fn`.
    type E4M3: Source<V>;
    /// `float8_e5m2`.
    type E5M2: Source<V>;
    /// Packed `float4_e2m1fn`.
    type E2M1: Source<V>;
    /// Packed `int4`.
    type Int4: Source<V>;
    /// `int8`.
    type Int8: Source<V>;
}

/// Finds the loop from codes to float32 and bfloat16.
pub(crate) fn decoder<V: Fusing, D: Decoding<V>>(from: Encoding, to: DType, step: Step) -> Option<Fused> {
    fn of<V: Fusing, Q: Source<V>, const BLOCK: bool>(to: DType, step: Step) -> Option<FusedFn> {
        match (to, step) {
            (DType::Float32, Step::Product { block, beside: false }) if block == BLOCK => {
                Some(V::scale_blocks::<Q, Stored<Product<BLOCK, false>, F32>>)
            }
            (DType::BFloat16, Step::Product { block, beside: true }) if block == BLOCK => {
                Some(V::scale_blocks::<Q, High<BLOCK, true>>)
            }
            (DType::BFloat16, Step::Product { block: false, beside: false }) => {
                Some(V::scale_blocks::<Q, High<false, false>>)
            }
            _ => None,
        }
    }
    let run = match (from.dtype(), from.is_packed(), step) {
        (DType::Float8E4M3FN, false, _) => of::<V, D::E4M3, false>(to, step),
        (DType::Float8E5M2, false, _) => of::<V, D::E5M2, false>(to, step),
        (DType::Float4E2M1FN, true, Step::Product { block: true, .. }) => of::<V, D::E2M1, true>(to, step),
        (DType::Float4E2M1FN, true, _) => of::<V, D::E2M1, false>(to, step),
        (DType::Int4, true, _) => of::<V, D::Int4, false>(to, step),
        (DType::Int8, false, _) => of::<V, D::Int8, false>(to, step),
        _ => None,
    }?;
    Some(Fused { run, lanes: V::LANES, least: V::LANES })
}

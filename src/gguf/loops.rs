//! The loops over blocks, compiled for the vectors of the tier in use.

use super::{BlockFormat, GgufError, block::Real, iq, k_quants, microscale, simple, ternary};
use crate::tier;
use core::marker::PhantomData;
use lanecast_kernels::{Work, run_work};

/// Encodes blocks. The first block begins with element `first` of the tensor. Returns the first element of the first block whose scale
/// overflows.
pub(super) fn encode(
    format: BlockFormat,
    src: &[f32],
    first: usize,
    dst: &mut [u8],
) -> Result<Option<usize>, GgufError> {
    run_work::<Encode>(tier::token(), &(format, src, first), dst)
}

/// Decodes blocks.
pub(super) fn decode(format: BlockFormat, src: &[u8], dst: &mut [f32]) {
    run_work::<Decode>(tier::token(), &(format, src), dst);
}

/// Decodes blocks of a format with a minimum to the exact values.
pub(super) fn decode_sums(format: BlockFormat, src: &[u8], dst: &mut [f64]) {
    run_work::<DecodeSums<f64>>(tier::token(), &(format, src), dst);
}

/// A call of [`encode`].
struct Encode<'a>(PhantomData<&'a ()>);

impl<'a> Work for Encode<'a> {
    type Source = (BlockFormat, &'a [f32], usize);
    type Destination = [u8];
    type Output = Result<Option<usize>, GgufError>;

    #[inline(always)]
    fn run(&(format, src, first): &Self::Source, dst: &mut [u8]) -> Self::Output {
        match format {
            BlockFormat::Q8_0 => encode_each(src, first, dst, simple::encode_q8_0),
            BlockFormat::Q4_0 => encode_each(src, first, dst, simple::encode_q4_0),
            BlockFormat::Q4_1 => encode_each(src, first, dst, simple::encode_q4_1),
            BlockFormat::Q5_0 => encode_each(src, first, dst, simple::encode_q5_0),
            BlockFormat::Q5_1 => encode_each(src, first, dst, simple::encode_q5_1),
            BlockFormat::MXFP4 => encode_each(src, first, dst, microscale::encode_mxfp4),
            BlockFormat::NVFP4 => encode_each(src, first, dst, microscale::encode_nvfp4),
            BlockFormat::Q2_K
            | BlockFormat::Q3_K
            | BlockFormat::Q4_K
            | BlockFormat::Q5_K
            | BlockFormat::Q6_K
            | BlockFormat::IQ4_NL
            | BlockFormat::IQ4_XS
            | BlockFormat::TQ1_0
            | BlockFormat::TQ2_0 => Err(GgufError::NotEncoded { format }),
        }
    }
}

/// A call of [`decode`].
struct Decode<'a>(PhantomData<&'a ()>);

impl<'a> Work for Decode<'a> {
    type Source = (BlockFormat, &'a [u8]);
    type Destination = [f32];
    type Output = ();

    #[inline(always)]
    fn run(call: &Self::Source, dst: &mut [f32]) {
        let &(format, src) = call;
        match format {
            BlockFormat::Q8_0 => decode_each(src, dst, simple::decode_q8_0),
            BlockFormat::Q4_0 => decode_each(src, dst, simple::decode_q4_0),
            BlockFormat::Q5_0 => decode_each(src, dst, simple::decode_q5_0),
            BlockFormat::MXFP4 => decode_each(src, dst, microscale::decode_mxfp4),
            BlockFormat::NVFP4 => decode_each(src, dst, microscale::decode_nvfp4),
            BlockFormat::Q3_K => decode_each(src, dst, k_quants::decode_q3_k),
            BlockFormat::Q6_K => decode_each(src, dst, k_quants::decode_q6_k),
            BlockFormat::IQ4_NL => decode_each(src, dst, iq::decode_iq4_nl),
            BlockFormat::IQ4_XS => decode_each(src, dst, iq::decode_iq4_xs),
            BlockFormat::TQ1_0 => decode_each(src, dst, ternary::decode_tq1_0),
            BlockFormat::TQ2_0 => decode_each(src, dst, ternary::decode_tq2_0),
            BlockFormat::Q4_1
            | BlockFormat::Q5_1
            | BlockFormat::Q2_K
            | BlockFormat::Q4_K
            | BlockFormat::Q5_K => DecodeSums::run(call, dst),
        }
    }
}

/// A call of [`decode`] or [`decode_sums`] for a format with a minimum.
struct DecodeSums<'a, R>(PhantomData<&'a R>);

impl<'a, R: Real> Work for DecodeSums<'a, R> {
    type Source = (BlockFormat, &'a [u8]);
    type Destination = [R];
    type Output = ();

    #[inline(always)]
    fn run(&(format, src): &Self::Source, dst: &mut [R]) {
        match format {
            BlockFormat::Q4_1 => decode_each(src, dst, simple::decode_q4_1),
            BlockFormat::Q5_1 => decode_each(src, dst, simple::decode_q5_1),
            BlockFormat::Q2_K => decode_each(src, dst, k_quants::decode_q2_k),
            BlockFormat::Q4_K => decode_each(src, dst, k_quants::decode_q4_k),
            BlockFormat::Q5_K => decode_each(src, dst, k_quants::decode_q5_k),
            _ => unreachable!("{format} has no minimum"),
        }
    }
}

/// Encodes blocks. `block` returns `None` if an element is not finite, `Some(false)` if a scale overflows.
#[inline(always)]
fn encode_each<const N: usize, const B: usize>(
    src: &[f32],
    first: usize,
    dst: &mut [u8],
    block: impl Fn(&[f32; N], &mut [u8; B]) -> Option<bool>,
) -> Result<Option<usize>, GgufError> {
    let mut overflow = None;
    for (i, (src, dst)) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0).enumerate() {
        let mut written = [0; B];
        let index = first + i * N;
        match block(src, &mut written) {
            Some(true) => {}
            Some(false) => overflow = overflow.or(Some(index)),
            None => return Err(non_finite(src, index)),
        }
        *dst = written;
    }
    Ok(overflow)
}

/// The error for a block that begins with element `first`.
#[cold]
#[inline(never)]
fn non_finite(src: &[f32], first: usize) -> GgufError {
    let at = src.iter().position(|value| !value.is_finite()).unwrap_or_default();
    GgufError::NonFinite { index: first + at }
}

/// Decodes blocks. `block` returns `false` if there may be NaNs; their bits depend on the processor and are replaced.
#[inline(always)]
fn decode_each<R: Real, const B: usize, const N: usize>(
    src: &[u8],
    dst: &mut [R],
    block: impl Fn(&[u8; B], &mut [R; N]) -> bool,
) {
    for (src, dst) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
        if !block(src, dst) {
            replace_nans(dst);
        }
    }
}

#[cold]
#[inline(never)]
fn replace_nans<R: Real>(values: &mut [R]) {
    for value in values.iter_mut().filter(|value| value.is_nan()) {
        *value = R::NAN;
    }
}

//! The element types, and the loops over blocks.

use super::{BlockFormat, GgufError, block::Real};
use crate::{Element, cast};
use half::{bf16, f16};

/// How many 16-bit elements are cast from or to wider ones at a time: a whole number of blocks of every format.
const STAGED: usize = 1024;

/// An element type: `f32`, [`bf16`] or [`struct@f16`], which all widen to float32 exactly. The trait is sealed.
pub trait Float: Blocks {}

impl Float for f32 {}
impl Float for bf16 {}
impl Float for f16 {}

/// The loops over blocks for each element type. Other crates cannot name this trait.
pub trait Blocks: Element {
    /// Encodes with the vectors of the tier in use. Not generic, so that it is compiled in this crate.
    fn quantize(call: &(BlockFormat, &[Self]), dst: &mut [u8]) -> Result<(), GgufError>;

    /// Decodes with the vectors of the tier in use. Not generic, so that it is compiled in this crate.
    fn dequantize(call: &(BlockFormat, &[u8]), dst: &mut [Self]);

    /// Decodes blocks whose values are exact in float32.
    fn decode<const B: usize, const N: usize>(
        src: &[u8],
        dst: &mut [Self],
        block: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
    );

    /// Decodes blocks whose values are exact in float64 only.
    fn decode_sums<const B: usize, const N: usize>(
        src: &[u8],
        dst: &mut [Self],
        rounded: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
        exact: impl Fn(&[u8; B], &mut [f64; N]) -> bool,
    );

    /// Encodes blocks; returns the first element of the first block whose scale overflows.
    fn encode<const N: usize, const B: usize>(
        src: &[Self],
        dst: &mut [u8],
        block: impl Fn(&[f32; N], &mut [u8; B]) -> Option<bool>,
    ) -> Result<Option<usize>, GgufError>;
}

impl Blocks for f32 {
    fn quantize(call: &(BlockFormat, &[f32]), dst: &mut [u8]) -> Result<(), GgufError> {
        super::encode(call, dst)
    }

    fn dequantize(call: &(BlockFormat, &[u8]), dst: &mut [f32]) {
        super::decode(call, dst);
    }

    #[inline(always)]
    fn decode<const B: usize, const N: usize>(
        src: &[u8],
        dst: &mut [f32],
        block: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
    ) {
        decode(src, dst, block);
    }

    #[inline(always)]
    fn decode_sums<const B: usize, const N: usize>(
        src: &[u8],
        dst: &mut [f32],
        rounded: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
        _: impl Fn(&[u8; B], &mut [f64; N]) -> bool,
    ) {
        decode(src, dst, rounded);
    }

    #[inline(always)]
    fn encode<const N: usize, const B: usize>(
        src: &[f32],
        dst: &mut [u8],
        block: impl Fn(&[f32; N], &mut [u8; B]) -> Option<bool>,
    ) -> Result<Option<usize>, GgufError> {
        encode(src, dst, 0, block)
    }
}

macro_rules! staged {
    ($($float:ty),*) => {$(
        impl Blocks for $float {
            fn quantize(call: &(BlockFormat, &[$float]), dst: &mut [u8]) -> Result<(), GgufError> {
                super::encode(call, dst)
            }

            fn dequantize(call: &(BlockFormat, &[u8]), dst: &mut [$float]) {
                super::decode(call, dst);
            }

            #[inline(always)]
            fn decode<const B: usize, const N: usize>(
                src: &[u8],
                dst: &mut [$float],
                block: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
            ) {
                decode_staged(src, dst, block);
            }

            #[inline(always)]
            fn decode_sums<const B: usize, const N: usize>(
                src: &[u8],
                dst: &mut [$float],
                _: impl Fn(&[u8; B], &mut [f32; N]) -> bool,
                exact: impl Fn(&[u8; B], &mut [f64; N]) -> bool,
            ) {
                decode_staged(src, dst, exact);
            }

            #[inline(always)]
            fn encode<const N: usize, const B: usize>(
                src: &[$float],
                dst: &mut [u8],
                block: impl Fn(&[f32; N], &mut [u8; B]) -> Option<bool>,
            ) -> Result<Option<usize>, GgufError> {
                let mut wide = [0.0; STAGED];
                let mut overflow = None;
                for (i, (src, dst)) in src.chunks(STAGED).zip(dst.chunks_mut(STAGED / N * B)).enumerate() {
                    let wide = &mut wide[..src.len()];
                    cast_all(src, wide);
                    let found = encode(wide, dst, i * STAGED, &block)?;
                    overflow = overflow.or(found);
                }
                Ok(overflow)
            }
        }
    )*};
}
staged!(bf16, f16);

/// Casts between slices of equal lengths.
fn cast_all<S: Element, D: Element>(src: &[S], dst: &mut [D]) {
    cast(src, dst).unwrap_or_else(|error| unreachable!("{error}"));
}

/// Decodes blocks into an array of floats that hold the exact values, and casts these.
#[inline(always)]
fn decode_staged<R: Real + Element, T: Element, const B: usize, const N: usize>(
    src: &[u8],
    dst: &mut [T],
    block: impl Fn(&[u8; B], &mut [R; N]) -> bool,
) {
    let mut exact = [R::ZERO; STAGED];
    for (src, dst) in src.chunks(STAGED / N * B).zip(dst.chunks_mut(STAGED)) {
        let exact = &mut exact[..dst.len()];
        decode(src, exact, &block);
        cast_all(exact, dst);
    }
}

/// Decodes blocks. `block` returns `false` if there may be NaNs; their bits depend on the processor and are replaced.
#[inline(always)]
fn decode<R: Real, const B: usize, const N: usize>(
    src: &[u8],
    dst: &mut [R],
    block: impl Fn(&[u8; B], &mut [R; N]) -> bool,
) {
    for (src, dst) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0) {
        if !block(src, dst) {
            for value in dst.iter_mut().filter(|value| value.is_nan()) {
                *value = R::NAN;
            }
        }
    }
}

/// Encodes blocks; `first` is the index of the first element in the tensor. `block` returns `None` if an element is not finite,
/// `Some(false)` if a scale overflows; this returns the first element of the first such block.
#[inline(always)]
fn encode<const N: usize, const B: usize>(
    src: &[f32],
    dst: &mut [u8],
    first: usize,
    block: impl Fn(&[f32; N], &mut [u8; B]) -> Option<bool>,
) -> Result<Option<usize>, GgufError> {
    let mut overflow = None;
    for (i, (src, dst)) in src.as_chunks().0.iter().zip(dst.as_chunks_mut().0).enumerate() {
        let mut written = [0; B];
        let index = first + i * N;
        match block(src, &mut written) {
            Some(true) => {}
            Some(false) => overflow = overflow.or(Some(index)),
            None => {
                let at = src.iter().position(|value| !value.is_finite()).unwrap_or_default();
                return Err(GgufError::NonFinite { index: index + at });
            }
        }
        *dst = written;
    }
    Ok(overflow)
}

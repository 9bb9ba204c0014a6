//! The element types. Elements of 16 bits are cast from or to wider floats, some blocks at a time.

use super::{BlockFormat, GgufError, block::Real, loops};
use crate::{Element, cast};
use half::{bf16, f16};

/// How many 16-bit elements are cast at a time: a whole number of blocks of every format.
const STAGED: usize = 1024;

/// An element type: `f32`, [`bf16`] or [`struct@f16`], which all widen to float32 exactly. The trait is sealed.
pub trait Float: Blocks {}

impl Float for f32 {}
impl Float for bf16 {}
impl Float for f16 {}

/// Blocks of each element type. Other crates cannot name this trait, and its functions are not generic, so that they are compiled in
/// this crate.
pub trait Blocks: Element {
    /// Encodes blocks; returns the first element of the first block whose scale overflows.
    fn encode(call: &(BlockFormat, &[Self]), dst: &mut [u8]) -> Result<Option<usize>, GgufError>;

    /// Decodes blocks.
    fn decode(call: &(BlockFormat, &[u8]), dst: &mut [Self]);
}

impl Blocks for f32 {
    fn encode(&(format, src): &(BlockFormat, &[f32]), dst: &mut [u8]) -> Result<Option<usize>, GgufError> {
        loops::encode(format, src, 0, dst)
    }

    fn decode(&(format, src): &(BlockFormat, &[u8]), dst: &mut [f32]) {
        loops::decode(format, src, dst);
    }
}

macro_rules! staged {
    ($($float:ty),*) => {$(
        impl Blocks for $float {
            fn encode(
                &(format, src): &(BlockFormat, &[$float]),
                dst: &mut [u8],
            ) -> Result<Option<usize>, GgufError> {
                encode_staged(format, src, dst)
            }

            fn decode(&(format, src): &(BlockFormat, &[u8]), dst: &mut [$float]) {
                if format.has_minimum() {
                    decode_staged(format, src, dst, loops::decode_sums);
                } else {
                    decode_staged(format, src, dst, loops::decode);
                }
            }
        }
    )*};
}
staged!(bf16, f16);

/// The bytes of as many blocks as are cast at a time.
fn staged_bytes(format: BlockFormat) -> usize {
    STAGED / format.block_elements() * format.block_bytes()
}

/// Casts elements to float32 and encodes them.
fn encode_staged<S: Element>(
    format: BlockFormat,
    src: &[S],
    dst: &mut [u8],
) -> Result<Option<usize>, GgufError> {
    let mut wide = [0.0; STAGED];
    let mut overflow = None;
    for (i, (src, dst)) in src.chunks(STAGED).zip(dst.chunks_mut(staged_bytes(format))).enumerate() {
        let wide = &mut wide[..src.len()];
        cast_all(src, wide);
        let found = loops::encode(format, wide, i * STAGED, dst)?;
        overflow = overflow.or(found);
    }
    Ok(overflow)
}

/// Decodes blocks into floats that hold the exact values, and casts these.
fn decode_staged<R: Real + Element, T: Element>(
    format: BlockFormat,
    src: &[u8],
    dst: &mut [T],
    decode: fn(BlockFormat, &[u8], &mut [R]),
) {
    let mut exact = [R::ZERO; STAGED];
    for (src, dst) in src.chunks(staged_bytes(format)).zip(dst.chunks_mut(STAGED)) {
        let exact = &mut exact[..dst.len()];
        decode(format, src, exact);
        cast_all(exact, dst);
    }
}

/// Casts between slices of equal lengths.
fn cast_all<S: Element, D: Element>(src: &[S], dst: &mut [D]) {
    cast(src, dst).unwrap_or_else(|error| unreachable!("{error}"));
}

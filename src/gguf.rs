//! Block formats with inline scales, as the tensors of GGUF files have them: `Q8_0`, `Q4_K`, `MXFP4` and others.
//!
//! *Law.* [`quantize`] writes the bytes that ggml's reference in C (`quantize_row_*_ref`) writes, wherever C defines them.
//! [`dequantize`] reads a block as its exact value, rounded once to the target.
//!
//! ```
//! use lanecast::gguf::{BlockFormat, dequantize, quantize};
//! let weights: Vec<f32> = (0..64).map(|i| (i as f32 - 31.5) / 64.0).collect();
//! let format = BlockFormat::Q8_0;
//! let mut blocks = vec![0; format.byte_len(weights.len()).expect("two whole blocks")];
//! quantize(format, &weights, &mut blocks)?;
//! assert_eq!(blocks.len(), 68);
//!
//! let mut back = [0.0_f32; 64];
//! dequantize(format, &blocks, &mut back)?;
//! assert!(weights.iter().zip(back).all(|(x, y)| (x - y).abs() <= 0.5 / 127.0));
//! # Ok::<(), lanecast::gguf::GgufError>(())
//! ```
//!
//! | format | elements, bytes | an element is | encoded |
//! |---|---|---|---|
//! | `Q8_0` | 32, 34 | `q * d`, *q* of 8 bits | yes |
//! | `Q4_0`, `Q5_0` | 32, 18 and 22 | `(q - 8) * d`, `(q - 16) * d` | yes |
//! | `Q4_1`, `Q5_1` | 32, 20 and 24 | `q * d + m` | yes |
//! | `MXFP4` | 32, 17 | `e2m1 * 2^e` | yes |
//! | `NVFP4` | 64, 36 | `e2m1 * s`, *s* for each 16 | yes |
//! | `Q2_K`, `Q4_K`, `Q5_K` | 256, 84, 144 and 176 | `d * s * q - dmin * m` | no |
//! | `Q3_K`, `Q6_K` | 256, 110 and 210 | `d * s * q` | no |
//! | `IQ4_NL`, `IQ4_XS` | 32, 18; 256, 136 | `d * table[q]`, `d * s * table[q]` | no |
//! | `TQ1_0`, `TQ2_0` | 256, 54 and 66 | `(q - 1) * d` | no |
//!
//! Multi-byte fields are little-endian on every host. A scale that a file has for a whole tensor beside its blocks, as with `NVFP4`,
//! is left to the caller.
//!
//! # Rounding
//!
//! ggml decodes in float32. With `d * s * q` every product has at most 24 bits and so is exact; the sums of `Q4_1`, `Q5_1`,
//! `Q2_K`, `Q4_K` and `Q5_K` are rounded, once. So the bits of ggml are the exact value rounded once to float32, and both are
//! the law. To float16 and bfloat16 the exact value is rounded once, which ggml's float32 rounded again is not: sums are computed
//! in float64 for that, which holds them exactly. Values are +-infinity above the range of the target.
//!
//! Encoding is float32 arithmetic, in ggml's order and without fused operations. A scale is rounded to float16 when it is stored, *after*
//! elements were divided by it. In `Q8_0` halves round away from zero; `Q4_0`, `Q5_0`, `Q4_1` and `Q5_1` add a half and
//! truncate; `MXFP4` and `NVFP4` choose the nearest value, of two the smaller. The scale of `MXFP4` is the power of two below the
//! largest magnitude, by a float32 logarithm, so that a magnitude a few units in the last place below a power counts as the
//! power; the scale of `NVFP4` is rounded to 3 bits of mantissa, halves up. (ggml's kernels for x86 and Arm round `Q8_0` halves to even; files are
//! made by the reference.)
//!
//! # What is not finite
//!
//! No element of a block can be NaN or infinite by itself. ggml's C ignores NaNs in the search for the scale and then converts
//! them to integers, which C leaves undefined. Here NaN and infinity are refused ([`GgufError::NonFinite`]).
//!
//! Finite elements never make a scale that is NaN, but elements so large that float16 cannot hold the scale or the minimum make an
//! infinite one. It is written as ggml writes it, and [`GgufError::ScaleOverflow`] is returned when all blocks are there: what
//! ggml leaves unsaid. Without that error everything decodes to finite float32.
//!
//! A scale so small that its reciprocal overflows is 0 in float16: then elements get the code of zero. C converts infinities to
//! integers there, undefined again. So do magnitudes below 2^-125 in `MXFP4` (its scale is 2^-127 here).
//!
//! Blocks from elsewhere may have scales that are NaN or infinite. Elements that are NaN then have the one code
//! 0x7FC00000 (0x7E00 in float16, 0x7FC0 in bfloat16) on every processor; infinities are infinities. The scale 0xFF of `MXFP4` is not NaN but 2^128, and 0x7F of
//! `NVFP4` is 0, as ggml has it.

mod block;
mod error;
mod float;
mod format;
mod iq;
mod k_quants;
mod microscale;
mod simple;
mod ternary;

pub use error::GgufError;
pub use float::Float;
pub use format::BlockFormat;

use lanecast_kernels::in_default_environment;

/// Encodes elements (`f32`, [`bf16`](half::bf16) or [`f16`](half::f16)) as blocks.
///
/// `src` is a whole number of blocks long ([`BlockFormat::block_elements`]), `dst` as many bytes as
/// [`BlockFormat::byte_len`] returns. Blocks are independent of each other, so that a tensor may be encoded in pieces, also by
/// several threads, with the same bytes.
///
/// # Errors
///
/// * [`GgufError::NotEncoded`] if the format is only read;
/// * [`GgufError::PartialBlock`] and [`GgufError::WrongLength`] for other lengths;
/// * [`GgufError::NonFinite`] for an element that is NaN or infinite; the blocks before its own are written then;
/// * [`GgufError::ScaleOverflow`] for a block whose scale or minimum is infinite in float16; all blocks are written then, that one
///   as ggml writes it.
pub fn quantize<S: Float>(format: BlockFormat, src: &[S], dst: &mut [u8]) -> Result<(), GgufError> {
    if !format.can_encode() {
        return Err(GgufError::NotEncoded { format });
    }
    check(format, src.len(), dst.len())?;
    in_default_environment(encode::<S>, &(format, src), dst)
}

/// Decodes blocks to elements (`f32`, [`bf16`](half::bf16) or [`f16`](half::f16)), every one the exact value rounded once.
///
/// `dst` is a whole number of blocks long ([`BlockFormat::block_elements`]), `src` as many bytes as
/// [`BlockFormat::byte_len`] returns. All bytes are valid blocks.
///
/// ```
/// use lanecast::gguf::{BlockFormat, dequantize};
/// use lanecast::half::bf16;
/// // The scale 2^(128 - 127), sixteen bytes of two 4-bit floats.
/// let mut block = [0x21; 17];
/// block[0] = 128;
/// let mut out = [bf16::ZERO; 32];
/// dequantize(BlockFormat::MXFP4, &block, &mut out)?;
/// assert_eq!((out[0], out[16]), (bf16::from_f32(1.0), bf16::from_f32(2.0)));
/// # Ok::<(), lanecast::gguf::GgufError>(())
/// ```
///
/// # Errors
///
/// [`GgufError::PartialBlock`] and [`GgufError::WrongLength`] for other lengths; then nothing is written.
pub fn dequantize<T: Float>(format: BlockFormat, src: &[u8], dst: &mut [T]) -> Result<(), GgufError> {
    check(format, dst.len(), src.len())?;
    in_default_environment(decode::<T>, &(format, src), dst);
    Ok(())
}

/// Whether so many elements are so many bytes.
fn check(format: BlockFormat, elements: usize, have: usize) -> Result<(), GgufError> {
    if !elements.is_multiple_of(format.block_elements()) {
        return Err(GgufError::PartialBlock { format, elements });
    }
    let need = format.byte_len(elements).unwrap_or(usize::MAX);
    if need == have { Ok(()) } else { Err(GgufError::WrongLength { format, elements, need, have }) }
}

fn encode<S: Float>(&(format, src): &(BlockFormat, &[S]), dst: &mut [u8]) -> Result<(), GgufError> {
    let overflow = match format {
        BlockFormat::Q8_0 => S::encode(src, dst, simple::encode_q8_0),
        BlockFormat::Q4_0 => S::encode(src, dst, simple::encode_q4_0),
        BlockFormat::Q4_1 => S::encode(src, dst, simple::encode_q4_1),
        BlockFormat::Q5_0 => S::encode(src, dst, simple::encode_q5_0),
        BlockFormat::Q5_1 => S::encode(src, dst, simple::encode_q5_1),
        BlockFormat::MXFP4 => S::encode(src, dst, microscale::encode_mxfp4),
        BlockFormat::NVFP4 => S::encode(src, dst, microscale::encode_nvfp4),
        BlockFormat::Q2_K
        | BlockFormat::Q3_K
        | BlockFormat::Q4_K
        | BlockFormat::Q5_K
        | BlockFormat::Q6_K
        | BlockFormat::IQ4_NL
        | BlockFormat::IQ4_XS
        | BlockFormat::TQ1_0
        | BlockFormat::TQ2_0 => return Err(GgufError::NotEncoded { format }),
    }?;
    overflow.map_or(Ok(()), |index| Err(GgufError::ScaleOverflow { format, index }))
}

fn decode<T: Float>(&(format, src): &(BlockFormat, &[u8]), dst: &mut [T]) {
    match format {
        BlockFormat::Q8_0 => T::decode(src, dst, simple::decode_q8_0),
        BlockFormat::Q4_0 => T::decode(src, dst, simple::decode_q4_0),
        BlockFormat::Q4_1 => T::decode_sums(src, dst, simple::decode_q4_1, simple::decode_q4_1),
        BlockFormat::Q5_0 => T::decode(src, dst, simple::decode_q5_0),
        BlockFormat::Q5_1 => T::decode_sums(src, dst, simple::decode_q5_1, simple::decode_q5_1),
        BlockFormat::MXFP4 => T::decode(src, dst, microscale::decode_mxfp4),
        BlockFormat::NVFP4 => T::decode(src, dst, microscale::decode_nvfp4),
        BlockFormat::Q2_K => T::decode_sums(src, dst, k_quants::decode_q2_k, k_quants::decode_q2_k),
        BlockFormat::Q3_K => T::decode(src, dst, k_quants::decode_q3_k),
        BlockFormat::Q4_K => T::decode_sums(src, dst, k_quants::decode_q4_k, k_quants::decode_q4_k),
        BlockFormat::Q5_K => T::decode_sums(src, dst, k_quants::decode_q5_k, k_quants::decode_q5_k),
        BlockFormat::Q6_K => T::decode(src, dst, k_quants::decode_q6_k),
        BlockFormat::IQ4_NL => T::decode(src, dst, iq::decode_iq4_nl),
        BlockFormat::IQ4_XS => T::decode(src, dst, iq::decode_iq4_xs),
        BlockFormat::TQ1_0 => T::decode(src, dst, ternary::decode_tq1_0),
        BlockFormat::TQ2_0 => T::decode(src, dst, ternary::decode_tq2_0),
    }
}

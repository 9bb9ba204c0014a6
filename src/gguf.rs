//! Block formats with inline scales, as in the tensors of GGUF files: `Q8_0`, `Q4_K`, `MXFP4` and others.
//!
//! *Law.* [`quantize`] writes the bytes of ggml's reference in C (`quantize_row_*_ref`) wherever C defines them. [`dequantize`]
//! returns the exact value of every element, rounded once to the target.
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
//! Multi-byte fields are little-endian on every host. If a file stores a scale for a whole tensor beside its blocks, as `NVFP4` files
//! do, the caller applies it.
//!
//! # Decoding
//!
//! ggml decodes in float32. There all products are exact, since they have at most 24 bits; only the sums of `Q4_1`, `Q5_1`, `Q2_K`,
//! `Q4_K` and `Q5_K` are rounded, once. So ggml's float32 values are the exact values rounded once, and [`dequantize`] returns the
//! same bits.
//!
//! For float16 and bfloat16 the exact value is rounded once as well (sums are computed in float64, which holds them exactly). Rounding
//! ggml's float32 values again would round some elements twice. Values above the range of the target become infinite. A zero has
//! the sign that ggml gives it: the scale's sign, or none where a table has 0 for the code of -0 (`MXFP4`, `NVFP4`).
//!
//! # Encoding
//!
//! The arithmetic is float32, in ggml's order and without fused operations:
//!
//! * Elements are multiplied by the reciprocal of the float32 scale. The scale is rounded to float16 only when it is stored, so an
//!   element is not always the nearest for the stored scale.
//! * `Q8_0` rounds halves away from zero. (ggml's kernels for x86 and Arm, which run at inference, round them to even.)
//! * `Q4_0` and `Q5_0` take the scale from the element of the largest magnitude, which gets the lowest code, -8 or -16. They and
//!   `Q4_1` and `Q5_1` add a half and truncate.
//! * `MXFP4` and `NVFP4` choose the nearest value, and in a tie the one of the smaller magnitude.
//! * The scale of `MXFP4` is 2^(floor(log2(largest magnitude)) - 2), with a logarithm rounded to float32: a magnitude that is a few units
//!   in the last place below a power of two counts as that power.
//! * The scale of `NVFP4` is a sixth of the largest magnitude, rounded to 3 bits of mantissa, halves up.
//!
//! # Values that are not finite
//!
//! No block format can represent a single NaN or infinity. ggml's C ignores NaNs when it determines the scale and then converts them to
//! integers, which is undefined. [`quantize`] refuses NaN and infinity ([`GgufError::NonFinite`]).
//!
//! Finite elements never lead to a scale that is NaN. Elements so large that the scale or the minimum overflows float16 lead to an
//! infinite one, as in ggml; [`quantize`] then writes all blocks, with the bytes of ggml, and returns
//! [`GgufError::ScaleOverflow`]. Without an error all elements decode to finite float32 values.
//!
//! Two more cases are undefined in C. A scale so small that its reciprocal overflows is 0 in float16, and its reciprocal counts as 0. If
//! all magnitudes of an `MXFP4` block are below 2^-125, its scale is the smallest, 2^-127.
//!
//! Blocks from other programs may have scales that are NaN or infinite. Elements that decode to NaN have the same bits on every
//! processor: 0x7FC00000 in float32, 0x7E00 in float16, 0x7FC0 in bfloat16. As in ggml, the scale 0xFF of `MXFP4` is 2^128, not NaN,
//! and the scale 0x7F of `NVFP4` is 0.

mod block;
mod error;
mod float;
mod format;
mod iq;
mod k_quants;
mod loops;
mod microscale;
mod simple;
mod ternary;

pub use error::GgufError;
pub use float::Float;
pub use format::BlockFormat;

use lanecast_kernels::in_default_environment;

/// Encodes elements (`f32`, [`bf16`](half::bf16) or [`f16`](half::f16)) as blocks.
///
/// `src` must hold a whole number of blocks ([`BlockFormat::block_elements`]), and `dst` must have the length that
/// [`BlockFormat::byte_len`] returns. Blocks are independent of each other, so a tensor may be encoded in pieces or by
/// several threads, with the same result.
///
/// # Errors
///
/// * [`GgufError::NotEncoded`] if the format can only be decoded;
/// * [`GgufError::PartialBlock`] and [`GgufError::WrongLength`] if the lengths do not fit;
/// * [`GgufError::NonFinite`] if an element is NaN or infinite; only the blocks before it are written;
/// * [`GgufError::ScaleOverflow`] if the scale or the minimum of a block is infinite in float16; all blocks are written, as ggml
///   writes them.
pub fn quantize<S: Float>(format: BlockFormat, src: &[S], dst: &mut [u8]) -> Result<(), GgufError> {
    if !format.can_encode() {
        return Err(GgufError::NotEncoded { format });
    }
    check(format, src.len(), dst.len())?;
    let overflow = in_default_environment(S::encode, &(format, src), dst)?;
    overflow.map_or(Ok(()), |index| Err(GgufError::ScaleOverflow { format, index }))
}

/// Decodes blocks to elements (`f32`, [`bf16`](half::bf16) or [`f16`](half::f16)), rounding every exact value once.
///
/// `dst` must hold a whole number of blocks ([`BlockFormat::block_elements`]), and `src` must have the length that
/// [`BlockFormat::byte_len`] returns. Any bytes are valid blocks.
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
/// [`GgufError::PartialBlock`] and [`GgufError::WrongLength`], with nothing written, if the lengths do not fit.
pub fn dequantize<T: Float>(format: BlockFormat, src: &[u8], dst: &mut [T]) -> Result<(), GgufError> {
    check(format, dst.len(), src.len())?;
    in_default_environment(T::decode, &(format, src), dst);
    Ok(())
}

/// Checks that the elements are whole blocks, and that the bytes are the blocks' bytes.
fn check(format: BlockFormat, elements: usize, have: usize) -> Result<(), GgufError> {
    if !elements.is_multiple_of(format.block_elements()) {
        return Err(GgufError::PartialBlock { format, elements });
    }
    let need = format.byte_len(elements).unwrap_or(usize::MAX);
    if need == have { Ok(()) } else { Err(GgufError::WrongLength { format, elements, need, have }) }
}

//! Blocks of 32 integers: `Q8_0`, `Q4_0`, `Q4_1`, `Q5_0`, `Q5_1`.
//!
//! A block begins with its scale and, in `_1` formats, its minimum (float16, little-endian). Then, in 5-bit formats, four bytes
//! with the high bits: bit *i* belongs to element *i*. Then the elements: bytes, or nibbles, where byte *j* holds element *j* in
//! its low half and element *j* + 16 in its high half.
//!
//! Encoders do the float32 operations of ggml's C in the same order. They return `None` if an element is not finite, and `Some(false)`
//! if the scale or the minimum overflows float16. Decoders return `false` if one of these is not finite, so that elements may be NaN.

use super::block::{
    Real, bytes, bytes_mut, half_at, largest_magnitude, nearest_away, nibble, range, reciprocal, set_half,
    signed_extreme, truncated,
};
use core::array;

/// Decodes the nibbles of `qs`, each with its bit of `high` as the fifth.
#[inline(always)]
fn decode_nibbles<R: Real>(qs: &[u8; 16], high: u32, element: impl Fn(i32) -> R) -> [R; 32] {
    array::from_fn(|j| {
        let fifth = if high & (1 << j) != 0 { 16 } else { 0 };
        element(i32::from(nibble(qs, j)) | fifth)
    })
}

/// Writes the low four bits of the codes to `qs`.
#[inline(always)]
fn encode_nibbles(codes: &[u32; 32], qs: &mut [u8; 16]) {
    let (first, second) = codes.split_at(16);
    for ((qs, first), second) in qs.iter_mut().zip(first).zip(second) {
        *qs = (first & 15 | (second & 15) << 4) as u8;
    }
}

/// The fifth bits of the codes.
#[inline(always)]
fn fifth_bits(codes: &[u32; 32]) -> [u8; 4] {
    let bits = codes.iter().enumerate().map(|(j, code)| if code & 16 != 0 { 1 << j } else { 0 });
    bits.fold(0, |all: u32, bit| all | bit).to_le_bytes()
}

#[inline(always)]
pub(super) fn decode_q8_0(block: &[u8; 34], out: &mut [f32; 32]) -> bool {
    let d = half_at(block, 0);
    let qs = bytes::<32>(block, 2);
    *out = array::from_fn(|j| d * f32::from(qs[j] as i8));
    d.is_finite()
}

#[inline(always)]
pub(super) fn encode_q8_0(x: &[f32; 32], block: &mut [u8; 34]) -> Option<bool> {
    let amax = largest_magnitude(x)?;
    let d = amax / 127.0;
    let inverse = reciprocal(d);
    for (x, q) in x.iter().zip(bytes_mut::<32>(block, 2)) {
        *q = nearest_away(x * inverse) as u8;
    }
    Some(set_half(block, 0, d))
}

#[inline(always)]
pub(super) fn decode_q4_0(block: &[u8; 18], out: &mut [f32; 32]) -> bool {
    let d = half_at(block, 0);
    *out = decode_nibbles(bytes(block, 2), 0, |q| (q - 8) as f32 * d);
    d.is_finite()
}

#[inline(always)]
pub(super) fn encode_q4_0(x: &[f32; 32], block: &mut [u8; 18]) -> Option<bool> {
    let extreme = signed_extreme(x)?;
    let d = extreme / -8.0;
    let inverse = reciprocal(d);
    encode_nibbles(&array::from_fn(|j| truncated(x[j] * inverse + 8.5).min(15)), bytes_mut(block, 2));
    Some(set_half(block, 0, d))
}

#[inline(always)]
pub(super) fn decode_q4_1<R: Real>(block: &[u8; 20], out: &mut [R; 32]) -> bool {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    *out = decode_nibbles(bytes(block, 4), 0, |q| R::int(q) * R::of(d) + R::of(m));
    d.is_finite() && m.is_finite()
}

#[inline(always)]
pub(super) fn encode_q4_1(x: &[f32; 32], block: &mut [u8; 20]) -> Option<bool> {
    let (low, high) = range(x)?;
    let d = (high - low) / 15.0;
    let inverse = reciprocal(d);
    encode_nibbles(&array::from_fn(|j| truncated((x[j] - low) * inverse + 0.5).min(15)), bytes_mut(block, 4));
    Some(set_half(block, 0, d) & set_half(block, 2, low))
}

#[inline(always)]
pub(super) fn decode_q5_0(block: &[u8; 22], out: &mut [f32; 32]) -> bool {
    let d = half_at(block, 0);
    let high = u32::from_le_bytes(*bytes(block, 2));
    *out = decode_nibbles(bytes(block, 6), high, |q| (q - 16) as f32 * d);
    d.is_finite()
}

#[inline(always)]
pub(super) fn encode_q5_0(x: &[f32; 32], block: &mut [u8; 22]) -> Option<bool> {
    let extreme = signed_extreme(x)?;
    let d = extreme / -16.0;
    let inverse = reciprocal(d);
    let codes = array::from_fn(|j| truncated(x[j] * inverse + 16.5).min(31));
    *bytes_mut(block, 2) = fifth_bits(&codes);
    encode_nibbles(&codes, bytes_mut(block, 6));
    Some(set_half(block, 0, d))
}

#[inline(always)]
pub(super) fn decode_q5_1<R: Real>(block: &[u8; 24], out: &mut [R; 32]) -> bool {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    let high = u32::from_le_bytes(*bytes(block, 4));
    *out = decode_nibbles(bytes(block, 8), high, |q| R::int(q) * R::of(d) + R::of(m));
    d.is_finite() && m.is_finite()
}

#[inline(always)]
pub(super) fn encode_q5_1(x: &[f32; 32], block: &mut [u8; 24]) -> Option<bool> {
    let (low, high) = range(x)?;
    let d = (high - low) / 31.0;
    let inverse = reciprocal(d);
    let codes = array::from_fn(|j| truncated((x[j] - low) * inverse + 0.5));
    *bytes_mut(block, 4) = fifth_bits(&codes);
    encode_nibbles(&codes, bytes_mut(block, 8));
    Some(set_half(block, 0, d) & set_half(block, 2, low))
}

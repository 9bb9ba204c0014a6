//! Blocks of 256 elements with two levels of scales: `Q2_K` to `Q6_K`.
//!
//! A block consists of parts of 16 or 32 elements. An element is `d * scale * q`, or with a minimum
//! `d * scale * q - dmin * minimum`; `d` and `dmin` are float16, the scale and the minimum small integers of the part.
//! Products have at most 24 bits and so are exact in float32; the difference is rounded there, and exact in float64.
//!
//! Decoders return `false` if a factor is not finite, so that elements may be NaN.

use super::block::{Real, bytes, half_at, parts};
use core::array;

/// Decodes the elements of a part: `scale * q - minimum` for the `q` of every index.
#[inline(always)]
fn fill<R: Real, const N: usize>(out: &mut [R; N], q: impl Fn(usize) -> u8, (scale, minimum): (R, R)) {
    for (j, out) in out.iter_mut().enumerate() {
        *out = scale * R::int(i32::from(q(j))) - minimum;
    }
}

/// Decodes 16 elements of a part without a minimum: `scale * (q - zero)` for the `q` of every index.
#[inline(always)]
fn centred(q: impl Fn(usize) -> i32, scale: f32, zero: i32) -> [f32; 16] {
    array::from_fn(|j| scale * (q(j) - zero) as f32)
}

/// Decodes `Q2_K`: 16 bytes with the scale (low half) and the minimum (high half) of each part; 64 bytes with the elements; `d`;
/// `dmin`. Each half of the block is 32 bytes: its first 32 elements are in bits 0 and 1, the next 32 in bits 2 and 3, and so on.
#[inline(always)]
pub(super) fn decode_q2_k<R: Real>(block: &[u8; 84], out: &mut [R; 256]) -> bool {
    let (scales, qs) = (bytes::<16>(block, 0), bytes::<64>(block, 16));
    let (d, dmin) = (half_at(block, 80), half_at(block, 82));
    for (i, (out, s)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let (scale, minimum) =
            (R::of(d) * R::int(i32::from(s & 15)), R::of(dmin) * R::int(i32::from(s >> 4)));
        let shift = i / 2 % 4 * 2;
        let q = bytes::<16>(qs, i / 8 * 32 + i % 2 * 16);
        // As an array: with `fill` this takes three times as long.
        *out = array::from_fn(|j| scale * R::int(i32::from(q[j]) >> shift & 3) - minimum);
    }
    d.is_finite() && dmin.is_finite()
}

/// Decodes `Q3_K`: 32 bytes with the high bits, bit *i* of each for the *i*th 32 elements, 0 if 4 is to be subtracted; 64 bytes with
/// the low two bits, as in `Q2_K`; 12 bytes with the scales plus 32, first the low four bits of each, then the high two; `d`.
#[inline(always)]
pub(super) fn decode_q3_k(block: &[u8; 110], out: &mut [f32; 256]) -> bool {
    let (high, qs, packed) = (bytes::<32>(block, 0), bytes::<64>(block, 32), bytes::<12>(block, 96));
    let d = half_at(block, 108);
    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = packed[i % 8] >> (i / 8 * 4) & 15;
        let top = packed[8 + i % 4] >> (i / 4 * 2) & 3;
        let scale = d * (i32::from(low | top << 4) - 32) as f32;
        let shift = i / 2 % 4 * 2;
        let q = bytes::<16>(qs, i / 8 * 32 + i % 2 * 16);
        let high = bytes::<16>(high, i % 2 * 16);
        let q = |j: usize| i32::from(q[j]) >> shift & 3 | (i32::from(high[j]) >> (i / 2) & 1) << 2;
        *out = centred(q, scale, 4);
    }
    d.is_finite()
}

/// The eight scales and minima of `Q4_K` and `Q5_K`, of 6 bits each. The low bits of eight bytes are the first four scales, then the
/// first four minima. Four more bytes have the low four bits of the others; the high bits of these are the top bits of the first eight
/// bytes.
#[inline(always)]
fn six_bits(packed: &[u8; 12]) -> [(i32, i32); 8] {
    core::array::from_fn(|i| {
        let (scale, minimum) = if i < 4 {
            (packed[i] & 63, packed[i + 4] & 63)
        } else {
            (packed[i + 4] & 15 | packed[i - 4] >> 6 << 4, packed[i + 4] >> 4 | packed[i] >> 6 << 4)
        };
        (i32::from(scale), i32::from(minimum))
    })
}

/// Decodes `Q4_K`: `d`; `dmin`; 12 bytes with the scales and minima; 128 bytes with the elements. Of every 64 elements the first half
/// is in the low nibbles of 32 bytes, the second half in the high nibbles.
#[inline(always)]
pub(super) fn decode_q4_k<R: Real>(block: &[u8; 144], out: &mut [R; 256]) -> bool {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    let (scales, qs) = (six_bits(bytes(block, 4)), bytes::<128>(block, 16));
    let factors = |(s, m)| (R::of(d) * R::int(s), R::of(dmin) * R::int(m));
    for ((i, out), [s, t]) in parts::<64, _>(out).zip(scales.as_chunks().0) {
        let (q, out) = (bytes::<32>(qs, 32 * i), out.as_chunks_mut().0);
        fill::<_, 32>(&mut out[0], |j| q[j] & 15, factors(*s));
        fill::<_, 32>(&mut out[1], |j| q[j] >> 4, factors(*t));
    }
    d.is_finite() && dmin.is_finite()
}

/// Decodes `Q5_K`: as `Q4_K`, with 32 bytes of fifth bits before the elements, bit *i* of each for the *i*th 32 elements.
#[inline(always)]
pub(super) fn decode_q5_k<R: Real>(block: &[u8; 176], out: &mut [R; 256]) -> bool {
    let (d, dmin) = (half_at(block, 0), half_at(block, 2));
    let scales = six_bits(bytes(block, 4));
    let (high, qs) = (bytes::<32>(block, 16), bytes::<128>(block, 48));
    let factors = |(s, m)| (R::of(d) * R::int(s), R::of(dmin) * R::int(m));
    for ((i, out), [s, t]) in parts::<64, _>(out).zip(scales.as_chunks().0) {
        let (q, out) = (bytes::<32>(qs, 32 * i), out.as_chunks_mut().0);
        let fifth = |j: usize, bit: u8| if high[j] & bit == 0 { 0 } else { 16 };
        fill::<_, 32>(&mut out[0], |j| q[j] & 15 | fifth(j, 1 << (2 * i)), factors(*s));
        fill::<_, 32>(&mut out[1], |j| q[j] >> 4 | fifth(j, 2 << (2 * i)), factors(*t));
    }
    d.is_finite() && dmin.is_finite()
}

/// Decodes `Q6_K`: for each half of the block 64 bytes with the low four bits, the first 64 elements in the low nibbles; then
/// for each half 32 bytes with the high two bits, the first 32 elements in bits 0 and 1; then 16 signed scales; `d`.
#[inline(always)]
pub(super) fn decode_q6_k(block: &[u8; 210], out: &mut [f32; 256]) -> bool {
    let (low, high, scales) = (bytes::<128>(block, 0), bytes::<64>(block, 128), bytes::<16>(block, 192));
    let d = half_at(block, 208);
    for (i, (out, s)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let (half, row, at) = (i / 8, i / 2 % 4, i % 2 * 16);
        let low = bytes::<16>(low, half * 64 + row % 2 * 32 + at);
        let high = bytes::<16>(high, half * 32 + at);
        let q =
            |j: usize| i32::from(low[j]) >> (row / 2 * 4) & 15 | (i32::from(high[j]) >> (row * 2) & 3) << 4;
        *out = centred(q, d * f32::from(*s as i8), 32);
    }
    d.is_finite()
}

//! Blocks of 256 elements that are -1, 0 or 1: `TQ1_0` and `TQ2_0`.
//!
//! Decoders return `false` if the scale is not finite, so that elements may be NaN.

use super::block::{bytes, half_at, parts};
use core::array;

/// Decodes one ternary digit of every byte: with the power 3^*i*, digit *i*.
///
/// A byte is a fraction in units of 1/256. The integer part of three times the fraction is the first digit, and its fractional part, the
/// product modulo 256, has the next ones.
#[inline(always)]
fn digits<const N: usize>(digits: &[u8; N], power: u8, d: f32, out: &mut [f32]) {
    let values: [f32; N] = array::from_fn(|j| {
        let digit = (u16::from(digits[j].wrapping_mul(power)) * 3) >> 8;
        (i32::from(digit) - 1) as f32 * d
    });
    out[..N].copy_from_slice(&values);
}

/// Decodes `TQ1_0`: 32 bytes with five digits each, in the order of the digits; then 16 bytes with five; then 4 bytes with four; `d`.
#[inline(always)]
pub(super) fn decode_tq1_0(block: &[u8; 54], out: &mut [f32; 256]) -> bool {
    const POWERS: [u8; 5] = [1, 3, 9, 27, 81];
    let d = half_at(block, 52);
    for (i, power) in POWERS.into_iter().enumerate() {
        digits(bytes::<32>(block, 0), power, d, &mut out[32 * i..]);
        digits(bytes::<16>(block, 32), power, d, &mut out[160 + 16 * i..]);
        if i < 4 {
            digits(bytes::<4>(block, 48), power, d, &mut out[240 + 4 * i..]);
        }
    }
    d.is_finite()
}

/// Decodes `TQ2_0`: twice 32 bytes, whose bits 0 and 1 are the first 32 elements plus 1, bits 2 and 3 the next 32, and so on; `d`.
#[inline(always)]
pub(super) fn decode_tq2_0(block: &[u8; 66], out: &mut [f32; 256]) -> bool {
    let d = half_at(block, 64);
    for (i, out) in parts::<32, _>(out) {
        let qs = bytes::<32>(block, i / 4 * 32);
        let shift = i % 4 * 2;
        *out = array::from_fn(|j| ((i32::from(qs[j]) >> shift & 3) - 1) as f32 * d);
    }
    d.is_finite()
}

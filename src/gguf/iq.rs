//! Indices into a table: `IQ4_NL` and `IQ4_XS`.
//!
//! Sixteen bytes hold the nibbles of 32 elements: byte *j* holds elements *j* and *j* + 16. Values have at most 24 bits and so are
//! exact in float32. Decoders return `false` if the float16 factor is not finite, so that elements may be NaN.

use super::block::{bytes, half_at};

/// The table, whose steps are 11 and 12 near zero and 23 and 24 at its ends.
const VALUES: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

#[inline(always)]
fn decode_32(qs: &[u8; 16], scale: f32, out: &mut [f32; 32]) {
    let values = VALUES.map(|value| scale * f32::from(value));
    let (first, second) = out.split_at_mut(16);
    for ((q, first), second) in qs.iter().zip(first).zip(second) {
        *first = values[usize::from(q & 15)];
        *second = values[usize::from(q >> 4)];
    }
}

/// Decodes `IQ4_NL`: `d`; 16 bytes of nibbles.
#[inline(always)]
pub(super) fn decode_iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) -> bool {
    let d = half_at(block, 0);
    decode_32(bytes(block, 2), d, out);
    d.is_finite()
}

/// Decodes `IQ4_XS`: `d`; two bytes with the high two bits of the eight scales; four bytes with their low four bits; 128 bytes of
/// nibbles. Scales are stored plus 32.
#[inline(always)]
pub(super) fn decode_iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) -> bool {
    let d = half_at(block, 0);
    let (high, low) = (u16::from_le_bytes(*bytes(block, 2)), bytes::<4>(block, 4));
    for (i, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let scale = i32::from(low[i / 2] >> (i % 2 * 4) & 15) | i32::from(high >> (2 * i) & 3) << 4;
        decode_32(bytes(block, 8 + 16 * i), d * (scale - 32) as f32, out);
    }
    d.is_finite()
}

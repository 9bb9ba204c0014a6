//! Blocks of 4-bit floats under 8-bit scales: `MXFP4` and `NVFP4`.
//!
//! Both store `float4_e2m1fn`, here as integers that are twice its values, under half the scale. `MXFP4` has one
//! `float8_e8m0fnu` for 32 elements; byte *j* of the rest holds elements *j* and *j* + 16. `NVFP4` has four unsigned floats
//! with 4 bits of exponent (bias 7) and 3 of mantissa for 16 elements each; byte *j* of a part holds its elements *j* and
//! *j* + 8. As in ggml, no scale of either is NaN.
//!
//! An element gets the code whose value differs least from it, with differences rounded to float32, and among equal differences
//! the smaller magnitude. Zeros get code 0, never the code of -0.

use super::block::{bytes, bytes_mut, largest_magnitude, nibble};
use core::array;

/// Twice the values of `float4_e2m1fn`. The code of -0 is +0, as in ggml's table of integers.
const TWICE: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 0.0, -1.0, -2.0, -3.0, -4.0, -6.0, -8.0, -12.0];

/// The codes of elements under half a scale, none of them of a larger magnitude than `amax`.
#[inline(always)]
fn nearest<const N: usize>(x: &[f32; N], amax: f32, half_scale: f32) -> [u8; N] {
    // An element's differences from the two values around it are exact, so the upper one is nearer if the element is above their
    // middle. Only the differences of elements much larger than all values round to the same number.
    if amax > 1e6 * half_scale {
        return x.map(|x| least_difference(x, half_scale));
    }
    // The middle below a value that overflows is infinite, so that value is never chosen.
    let halves = TWICE.map(|twice| twice * half_scale / 2.0);
    let middles: [f32; 7] = array::from_fn(|code| halves[code] + halves[code + 1]);
    array::from_fn(|j| {
        let x = x[j];
        let magnitude = middles.iter().map(|middle| u32::from(x.abs() > *middle)).sum::<u32>();
        // Negative codes have bit 3. The code of -0 is not used.
        let sign = if magnitude != 0 { x.to_bits() >> 28 & 8 } else { 0 };
        (magnitude | sign) as u8
    })
}

/// The code of an element, by comparing all differences.
#[cold]
#[inline(always)]
fn least_difference(x: f32, half_scale: f32) -> u8 {
    let (mut best, mut least) = (0, f32::INFINITY);
    for (code, twice) in (0..).zip(TWICE) {
        let difference = (twice * half_scale - x).abs();
        if difference < least {
            (best, least) = (code, difference);
        }
    }
    best
}

/// Half the value of a `float8_e8m0fnu`: 2^(code - 128). The NaN of that format reads as 2^127.
#[inline(always)]
fn half_e8m0(code: u8) -> f32 {
    f32::from_bits(if code < 2 { 0x0020_0000 << code } else { (u32::from(code) - 1) << 23 })
}

/// The scale of an `MXFP4` block: 2^(floor(log2 of the largest magnitude) - 2), the logarithm rounded to float32.
///
/// That rounding carries a magnitude just below a power of two to the power itself. Here it is done in integers, since
/// logarithms differ between systems. A magnitude `j` units of 2^-24 below 2^k has the logarithm `k - j * 2^-24 / ln 2`,
/// which rounds to `k` if `j` is less than 2^n * ln 2, where 2^(n - 23) is the distance of floats just below `k`.
#[inline(always)]
fn e8m0_for(amax: f32) -> u8 {
    const LIMITS: [u32; 7] = [0, 1, 2, 5, 11, 22, 44];
    if amax == 0.0 {
        return 0;
    }
    let code = amax.to_bits();
    // The power above, biased as the exponents of float32 are.
    let above = (code >> 23) as i32 + 1;
    let k = above - 127;
    let binade = match k {
        ..0 => k.unsigned_abs().ilog2(),
        // Floats just below 0 and 1 are so dense that no logarithm is rounded up to these.
        0..=1 => 0,
        2.. => (k as u32 - 1).ilog2(),
    };
    let below = 0x80_0000 - (code & 0x7F_FFFF);
    let exponent = if below <= LIMITS[binade as usize] { above } else { above - 1 };
    // Magnitudes below 2^-125 need a scale below the smallest. For them ggml's C converts a negative float to an unsigned integer,
    // which is undefined.
    (exponent - 2).max(0) as u8
}

#[inline(always)]
pub(super) fn decode_mxfp4(block: &[u8; 17], out: &mut [f32; 32]) -> bool {
    let half_scale = half_e8m0(block[0]);
    let values = TWICE.map(|twice| twice * half_scale);
    let qs = bytes::<16>(block, 1);
    *out = array::from_fn(|j| values[usize::from(nibble(qs, j))]);
    true
}

#[inline(always)]
pub(super) fn encode_mxfp4(x: &[f32; 32], block: &mut [u8; 17]) -> Option<bool> {
    let amax = largest_magnitude(x)?;
    block[0] = e8m0_for(amax);
    let codes = nearest(x, amax, half_e8m0(block[0]));
    let (first, second) = codes.split_at(16);
    for ((q, first), second) in bytes_mut::<16>(block, 1).iter_mut().zip(first).zip(second) {
        *q = first | second << 4;
    }
    Some(true)
}

/// Half the value of a scale of `NVFP4`. The highest bit is ignored, and 0x7F, which would be a NaN, reads as 0.
#[inline(always)]
fn half_ue4m3(code: u8) -> f32 {
    let (exponent, mantissa) = (u32::from(code >> 3 & 15), f32::from(code & 7));
    if code == 0x7F {
        0.0
    } else if exponent == 0 {
        mantissa / 1024.0
    } else {
        // 2^(exponent - 8)
        (1.0 + mantissa / 8.0) * f32::from_bits((exponent + 119) << 23)
    }
}

/// The scale of `NVFP4` for a value that is not negative, as ggml rounds it: to the nearest, halves up. There are two
/// exceptions: what would round to 256 or more is 448, and what is below 2^-6 is at most the largest subnormal. (The sum is
/// rounded, too, so that the float just below half the smallest scale goes up.)
#[inline(always)]
fn ue4m3_for(scale: f32) -> u8 {
    if scale >= 248.0 {
        return 0x7E;
    }
    if scale < 0.015_625 {
        return ((scale * 512.0 + 0.5) as u8).min(7);
    }
    // A carry out of the mantissa goes to the exponent, which is at most 14 here.
    ((scale.to_bits() - ((127 - 7) << 23) + (1 << 19)) >> 20) as u8
}

#[inline(always)]
pub(super) fn decode_nvfp4(block: &[u8; 36], out: &mut [f32; 64]) -> bool {
    for (part, (scale, out)) in bytes::<4>(block, 0).iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
        let half_scale = half_ue4m3(*scale);
        let qs = bytes::<8>(block, 4 + 8 * part);
        *out = array::from_fn(|j| TWICE[usize::from(nibble(qs, j))] * half_scale);
    }
    true
}

#[inline(always)]
pub(super) fn encode_nvfp4(x: &[f32; 64], block: &mut [u8; 36]) -> Option<bool> {
    for (part, x) in x.as_chunks::<16>().0.iter().enumerate() {
        let amax = largest_magnitude(x)?;
        block[part] = ue4m3_for(amax / 6.0);
        let codes = nearest(x, amax, half_ue4m3(block[part]));
        let (first, second) = codes.split_at(8);
        for ((q, first), second) in bytes_mut::<8>(block, 4 + 8 * part).iter_mut().zip(first).zip(second) {
            *q = first | second << 4;
        }
    }
    Some(true)
}

//! Helpers of all formats: the fields of a block, the type to compute in, rounding, and the range of a block's elements.

use core::{
    cmp::Ordering,
    hint::black_box,
    ops::{Add, Mul, Sub},
};
use half::f16;

/// The type that a decoder computes in: float32, or float64 where sums have to be exact.
pub(super) trait Real: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    const NAN: Self;
    fn of(value: f32) -> Self;
    /// An integer of at most 24 bits.
    fn int(value: i32) -> Self;
    fn is_nan(self) -> bool;
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const NAN: f32 = f32::from_bits(0x7FC0_0000);

    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn int(value: i32) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const NAN: f64 = f64::from_bits(0x7FF8_0000_0000_0000);

    #[inline(always)]
    fn of(value: f32) -> f64 {
        f64::from(value)
    }

    #[inline(always)]
    fn int(value: i32) -> f64 {
        f64::from(value)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

/// The `N` bytes of a block that begin at byte `at`.
#[inline(always)]
pub(super) fn bytes<const N: usize>(block: &[u8], at: usize) -> &[u8; N] {
    block[at..].first_chunk().expect("a field lies inside its block")
}

/// The `N` bytes of a block that begin at byte `at`, to be written.
#[inline(always)]
pub(super) fn bytes_mut<const N: usize>(block: &mut [u8], at: usize) -> &mut [u8; N] {
    block[at..].first_chunk_mut().expect("a field lies inside its block")
}

/// The parts of `N` elements of a block, with their indices, one after the other: the compiler would otherwise decode the first element
/// of every part, then the second ones, or repeat the vector code for every part.
#[inline(always)]
pub(super) fn parts<const N: usize, R>(out: &mut [R]) -> impl Iterator<Item = (usize, &mut [R; N])> {
    out.as_chunks_mut().0.iter_mut().enumerate().inspect(|_| black_box(()))
}

/// Element `j` of those in nibbles: the low halves of all bytes come first, then the high ones.
#[inline(always)]
pub(super) fn nibble<const N: usize>(bytes: &[u8; N], j: usize) -> u8 {
    if j < N { bytes[j] & 15 } else { bytes[j - N] >> 4 }
}

/// The float16 at byte `at` of a block.
#[inline(always)]
pub(super) fn half_at(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes(*bytes(block, at)).to_f32()
}

/// Rounds a scale to float16 and writes it at byte `at`; returns whether float16 holds it.
#[inline(always)]
pub(super) fn set_half(block: &mut [u8], at: usize, value: f32) -> bool {
    let half = f16::from_f32(value);
    *bytes_mut(block, at) = half.to_le_bytes();
    half.is_finite()
}

/// `1 / d`; 0 if `d` is zero or so small that this overflows.
#[inline(always)]
pub(super) fn reciprocal(d: f32) -> f32 {
    let inverse = 1.0 / d;
    if inverse.is_finite() { inverse } else { 0.0 }
}

/// 2^23: added to a float from 0 to 2^22, it leaves the nearest integer, halves to even, in the low bits of the sum.
const INTEGERS: f32 = 8_388_608.0;

/// The integer part of a float from 0 to 255. The compiler does not vectorise conversions by `as`, which saturate.
#[inline(always)]
pub(super) fn truncated(x: f32) -> u32 {
    let sum = x + INTEGERS;
    (sum.to_bits() - u32::from(sum - INTEGERS > x)) & 0xFF
}

/// The integer nearest to a float from -127 to 127, halves away from zero.
#[inline(always)]
pub(super) fn nearest_away(x: f32) -> i32 {
    let sum = x.abs() + INTEGERS;
    // A half that was rounded down to an even integer.
    let half = x.abs() - (sum - INTEGERS) == 0.5;
    let magnitude = ((sum.to_bits() & 0xFF) + u32::from(half)) as i32;
    let sign = x.to_bits() as i32 >> 31;
    (magnitude ^ sign) - sign
}

/// The maximum of an integer function of the elements' codes. The compiler vectorises maxima of integers, but not maxima of floats.
#[inline(always)]
fn largest<const N: usize>(x: &[f32; N], integer: impl Fn(u32) -> u32) -> i32 {
    x.iter().fold(i32::MIN, |most, x| most.max(integer(x.to_bits()) as i32))
}

const SIGN: u32 = 1 << 31;

/// The largest magnitude, or `None` if an element is NaN or infinite.
#[inline(always)]
pub(super) fn largest_magnitude<const N: usize>(x: &[f32; N]) -> Option<f32> {
    // Magnitudes are ordered as their codes are; infinities and NaNs come last.
    let amax = f32::from_bits(largest(x, |code| code & !SIGN) as u32);
    amax.is_finite().then_some(amax)
}

/// The smallest and the largest element, or `None` if one is NaN or infinite. Of several zeros the first is the smallest.
#[inline(always)]
pub(super) fn range<const N: usize>(x: &[f32; N]) -> Option<(f32, f32)> {
    // As signed integers, the codes of positive floats are in order and above those of negative floats, which are in reverse order.
    // With the sign flipped it is the other way round.
    let positive = largest(x, |code| code) as u32;
    let negative = largest(x, |code| code ^ SIGN) as u32 ^ SIGN;
    let nearest_zero = !(largest(x, |code| !code) as u32);
    let high = f32::from_bits(if positive < SIGN { positive } else { nearest_zero });
    let low = f32::from_bits(if negative >= SIGN { negative } else { nearest_zero });
    let low = if low == 0.0 { first_zero(x) } else { low };
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

#[cold]
#[inline(never)]
fn first_zero(x: &[f32]) -> f32 {
    x.iter().copied().find(|x| *x == 0.0).unwrap_or_default()
}

/// The first element of the largest magnitude, with its sign; +0 if all are zero; `None` if one is NaN or infinite.
#[inline(always)]
pub(super) fn signed_extreme<const N: usize>(x: &[f32; N]) -> Option<f32> {
    // The larger of the two has no sign bit, so it is the code of a magnitude.
    let positive = largest(x, |code| code);
    let negative = largest(x, |code| code ^ SIGN);
    let amax = f32::from_bits(positive.max(negative) as u32);
    if !amax.is_finite() {
        return None;
    }
    Some(match positive.cmp(&negative) {
        Ordering::Greater if amax != 0.0 => amax,
        Ordering::Less if amax != 0.0 => -amax,
        _ => first_of(x, amax),
    })
}

/// The first element of this magnitude; +0 if that is zero.
#[cold]
#[inline(never)]
fn first_of(x: &[f32], magnitude: f32) -> f32 {
    x.iter().copied().find(|x| x.abs() == magnitude && magnitude != 0.0).unwrap_or_default()
}

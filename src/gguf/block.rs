//! What the formats share: fields of a block, numbers to compute in, statistics of a block's elements.

use core::ops::{Add, Mul, Sub};
use half::f16;

/// A float that blocks are decoded in: float32, or float64 where the value is to be exact.
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

/// The largest magnitude, or `None` if an element is NaN or infinite.
#[inline(always)]
pub(super) fn largest_magnitude<const N: usize>(x: &[f32; N]) -> Option<f32> {
    // Magnitudes are ordered as their codes are, and infinities and NaNs come last. Maxima of integers become vector code.
    let code = x.iter().fold(0, |most: i32, v| most.max((v.to_bits() & 0x7FFF_FFFF) as i32));
    let amax = f32::from_bits(code as u32);
    amax.is_finite().then_some(amax)
}

/// The smallest and the largest element, or `None` if one is NaN or infinite. Of several zeros the first is the smallest.
#[inline(always)]
pub(super) fn range<const N: usize>(x: &[f32; N]) -> Option<(f32, f32)> {
    // Integers in the order of the floats; the same operation leads back.
    let ordered = |code: i32| code ^ ((code >> 31) & 0x7FFF_FFFF);
    let keys = x.map(|v| ordered(v.to_bits() as i32));
    let low = keys.iter().fold(i32::MAX, |low, &key| low.min(key));
    let high = keys.iter().fold(i32::MIN, |high, &key| high.max(key));
    let [mut low, high] = [low, high].map(|key| f32::from_bits(ordered(key) as u32));
    if low == 0.0 {
        low = *x.iter().find(|v| **v == 0.0)?;
    }
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// The first element of the largest magnitude, with its sign; 0 if all are zero; `None` if one is NaN or infinite.
#[inline(always)]
pub(super) fn signed_extreme<const N: usize>(x: &[f32; N]) -> Option<f32> {
    let (low, high) = range(x)?;
    Some(if high > -low {
        high
    } else if high < -low {
        low
    } else if high == 0.0 {
        0.0
    } else {
        *x.iter().find(|v| v.abs() == high)?
    })
}

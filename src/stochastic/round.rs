//! Rounding to the values of a dtype by random bits, in integer arithmetic on double precision.

use super::{Stochastic, philox::words};

use lanecast_kernels::{DType, Kind};

const SIGN: u64 = 1 << 63;
const FRACTION: u64 = (1 << 52) - 1;
const INFINITE: u64 = 0x7FF;

/// What rounds to the values of a dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Random {
    stochastic: Stochastic,
    /// The index of the first element in the logical tensor.
    first: u64,
    /// The bits of the fraction that every value drops.
    dropped: i64,
    /// Values with this biased exponent drop no bit; each smaller exponent drops one bit more.
    all_kept: i64,
    /// The smallest positive value and the largest one, as bits.
    least: u64,
    largest: u64,
    /// The random bits, at the top of a word of 64 bits.
    mask: u64,
}

impl Random {
    /// `None` if the dtype is no integer and no float of at most 16 bits with a zero.
    pub(crate) fn new(to: DType, stochastic: Stochastic) -> Option<Random> {
        let (mantissa_bits, least, largest) = match (to.kind(), to.finfo()) {
            (Kind::Float, Some(float)) if float.bits <= 16 && to != DType::Float8E8M0FNU => {
                (i64::from(float.mantissa_bits), float.smallest_subnormal, float.max)
            }
            (Kind::SignedInt | Kind::UnsignedInt, None) => (52, 1.0, f64::INFINITY),
            _ => return None,
        };
        let least = least.to_bits();
        Some(Random {
            stochastic,
            first: stochastic.first,
            dropped: 52 - mantissa_bits,
            all_kept: (least >> 52) as i64 + 52,
            least,
            largest: largest.to_bits(),
            mask: u64::MAX << (64 - stochastic.bits.count()),
        })
    }

    /// The same, beginning `elements` elements later.
    pub(crate) fn after(self, elements: usize) -> Random {
        Random { first: self.first.wrapping_add(elements as u64), ..self }
    }

    /// Rounds consecutive elements, from element `offset` of the cast on. Infinities and NaN stay.
    pub(crate) fn round(&self, offset: usize, values: &mut [f64]) {
        let mut random = [0; 512];
        for (i, values) in values.chunks_mut(random.len()).enumerate() {
            let first = self.after(offset).after(i * random.len()).first;
            let random = &mut random[..values.len()];
            words(self.stochastic.seed, self.stochastic.stream, first, random);
            for (value, word) in values.iter_mut().zip(random) {
                *value = f64::from_bits(self.rounded(value.to_bits(), *word));
            }
        }
    }

    /// Whether a sum carries is what decides: the discarded bits and the random ones, both aligned at the top of what is discarded. Random
    /// bits below the discarded ones, and discarded ones below the random ones, cannot change that.
    #[inline(always)]
    fn rounded(&self, bits: u64, word: u32) -> u64 {
        let (sign, x) = (bits & SIGN, bits & !SIGN);
        let exponent = x >> 52;
        let random = (u64::from(word) << 32) & self.mask;
        let dropped = self.dropped.max(self.all_kept - exponent as i64);
        // At most the fraction is dropped: the sum carries into the exponent where it has to.
        let cut = dropped.min(52) as u32;
        let near = (x + (random >> 1 >> (63 - cut))) >> cut << cut;
        // The value is less than the least one.
        let significand = if exponent == 0 { 0 } else { (x & FRACTION | 1 << 52) << 11 };
        let (_, carries) = (significand >> (dropped - 53).clamp(0, 63)).overflowing_add(random);
        let far = if carries { self.least } else { 0 };
        let rounded = if dropped > 52 { far } else { near };
        sign | if exponent == INFINITE { x } else { rounded.min(self.largest) }
    }
}

/// `x / s`, rounded toward zero, which keeps all that [`Random::round`] looks at: the bits above 2^-32 of the last one. `x` has at most 40
/// bits and `s` at most 29.
///
/// The nearest quotient is too large where its product with `s` is above `x`. That product is exact in two parts, of 24 bits of the quotient
/// and of the rest, unless the rest has enough bits that the next smaller quotient has the same upper bits anyway.
#[inline(always)]
#[cfg(feature = "scaled")]
pub(crate) fn truncated_quotient(x: f64, s: f64) -> f64 {
    let quotient = x / s;
    let bits = quotient.to_bits();
    let magnitude = f64::from_bits(bits & !SIGN);
    let high = f64::from_bits(bits & !SIGN & !((1 << 29) - 1));
    let (x, s) = (x.abs(), s.abs());
    let above = x - high * s < (magnitude - high) * s;
    f64::from_bits(bits - u64::from(above))
}

#[cfg(all(test, feature = "scaled"))]
mod tests {
    use super::*;

    /// Quotients that are less than a number of 32 bits by less than double precision can tell: `t s = 2^32 x + 1`.
    #[test]
    fn quotients_just_below_a_threshold() {
        for s in (0x80_0001..0x100_0000_u32).step_by(0x1_2346) {
            // The inverse of an odd number, by Newton's iteration.
            let t = (0..5).fold(s, |t, _| t.wrapping_mul(2_u32.wrapping_sub(s.wrapping_mul(t))));
            let x = (u64::from(t) * u64::from(s)) >> 32;
            assert_eq!(u64::from(t) * u64::from(s), (x << 32) + 1);
            if x < 1 << 22 {
                continue;
            }
            let (t, x, s) = (f64::from(t) / 4_294_967_296.0, x as f64, f64::from(s));
            assert_eq!(x / s, t);
            let below = f64::from_bits(t.to_bits() - 1);
            for (a, b, want) in [(x, s, below), (-x, s, -below), (x, -s, -below), (t * 64.0, 64.0, t)] {
                assert_eq!(truncated_quotient(a, b), want);
            }
            assert_eq!(truncated_quotient(s * 3.0, s), 3.0);
        }
        assert!(truncated_quotient(f64::NAN, 1.0).is_nan());
        assert_eq!(truncated_quotient(f64::INFINITY, 2.0), f64::INFINITY);
        assert_eq!(truncated_quotient(-0.0, 2.0).to_bits(), SIGN);
    }
}

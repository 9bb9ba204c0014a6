//! How a scale follows from the largest magnitude of a block.

use super::{
    error::ScaledError,
    plan::{ScaledPlan, is_positive},
    scheme::{Empty, Global, NonFinite, Quotient, ScaleType, Scheme},
};
use crate::{DType, F8E4M3FN, F8E8M0FNU, Kind, cast_one, finfo, half, iinfo};
use lanecast_kernels::scaled::PowerRule;

/// How a scale follows from `amax`, the largest magnitude of its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleRule {
    /// The caller gives the scales.
    Given,
    /// `amax / over`, rounded once to the dtype of the scales. If the tensor has a scale, that is `amax / (448 over)` of the tensor, and
    /// the scales of blocks are divided by it before they are rounded.
    Amax {
        /// What the largest element becomes.
        over: f32,
    },
    /// The same, but `amax / over` is rounded to `float32` before it is divided by the scale of the tensor.
    AmaxTwice {
        /// What the largest element becomes.
        over: f32,
    },
    /// The same, but `amax / over` is rounded to `float32` and multiplied by `range / amax` of the tensor. The scale of the tensor is the
    /// reciprocal of that factor, or with [`Global::Divisor`] the factor itself.
    AmaxTimesInverse {
        /// What the largest element of a block becomes.
        over: f32,
        /// What the largest element of the tensor would become without the scales of the blocks.
        range: f32,
    },
    /// The same in the dtype of the source. `amax / over`, the reciprocal of `amax` of the tensor, and the product of this reciprocal and
    /// `range` are each rounded to `float32` and then to that dtype. The scale is the product of the first and the last, rounded to `float32`
    /// and then to its dtype. A factor that overflows, because the elements of the tensor are tiny, is 1.
    AmaxTimesInverseSource {
        /// What the largest element of a block becomes.
        over: f32,
        /// What the largest element of the tensor would become without the scales of the blocks.
        range: f32,
    },
    /// As [`Amax`](Self::Amax), but `amax` is divided by the product of `over` and the scale of the tensor: the product and the quotient are
    /// rounded to `float32` before the scale is.
    AmaxOverProduct {
        /// What the largest element becomes.
        over: f32,
    },
    /// A power of two, by integer arithmetic.
    Pow2(Pow2),
    /// Integers with a zero point: the range from the smallest element to the largest one, widened to contain 0, becomes the range of the
    /// integers. See [`ScaledPlan::quantize_min_max`](super::ScaledPlan::quantize_min_max).
    MinMax,
}

/// How the largest magnitude becomes a power of two. `max` is the largest value of the codes and `emax` its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pow2 {
    /// `2^(floor(log2 amax) - emax)`: values from `max` up are clipped.
    Floor,
    /// The same after `amax` is rounded to the mantissa bits of the codes.
    Even,
    /// The smallest power of two that is not below `amax / max`.
    RoundUp,
    /// `2^(ceil(log2 amax) - emax)`.
    Ceil,
}

/// The code format of the values that a scaled cast rounds to: microscaled `int8` has six bits behind the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codes {
    /// The largest value.
    pub(super) max: f64,
    exponent: i32,
    mantissa_bits: u32,
    /// The factor of values before they become integers.
    pub(super) unit: f64,
}

/// The largest value of a dtype, that of the smaller side for integers.
pub(super) const fn largest(dtype: DType) -> Option<f64> {
    match (finfo(dtype), iinfo(dtype)) {
        (Some(float), _) => Some(float.max),
        (_, Some(int)) => Some(int.max as f64),
        _ => None,
    }
}

impl Codes {
    pub(super) fn of(scheme: &Scheme) -> Result<Self, ScaledError> {
        let refused = ScaledError::Element { dtype: scheme.element };
        let max = largest(scheme.element).ok_or(refused.clone())?;
        let kind = scheme.element.kind();
        if matches!(kind, Kind::Complex | Kind::Bool)
            || scheme.element == DType::Float8E8M0FNU
            || max > 65536.0
        {
            return Err(refused);
        }
        let float = finfo(scheme.element);
        let unit = match (scheme.rule, float) {
            (ScaleRule::Pow2(_), None) => (max as u64).div_ceil(2) as f64,
            _ => 1.0,
        };
        let max = max / unit;
        let exponent = (max.to_bits() >> 52) as i32 - 1023;
        // The unit of integers is a power of two.
        let mantissa_bits = float.map_or((unit.to_bits() >> 52) as u32 - 1023, |float| float.mantissa_bits);
        Ok(Self { max, exponent, mantissa_bits, unit })
    }
}

/// Refuses a scheme with a number that is not positive and finite.
pub(super) fn check(scheme: &Scheme) -> Result<(), ScaledError> {
    const OVER: &str = "`over` of the scale rule";
    let of_rule = match scheme.rule {
        ScaleRule::Amax { over } | ScaleRule::AmaxTwice { over } | ScaleRule::AmaxOverProduct { over } => {
            [Some((OVER, over)), None]
        }
        ScaleRule::AmaxTimesInverse { over, range } | ScaleRule::AmaxTimesInverseSource { over, range } => {
            [Some((OVER, over)), Some(("`range` of the scale rule", range))]
        }
        ScaleRule::Given | ScaleRule::Pow2(_) | ScaleRule::MinMax => [None; 2],
    };
    let of_empty = match scheme.empty {
        Empty::One | Empty::Epsilon => [None; 2],
        Empty::Floor(least) => [Some(("`Empty::Floor`", least)), None],
        Empty::AtLeast { empty, least } => {
            [Some(("`empty` of `Empty::AtLeast`", empty)), Some(("`least` of `Empty::AtLeast`", least))]
        }
    };
    let mut numbers = of_rule.into_iter().chain(of_empty).flatten();
    match numbers.find(|(_, given)| !is_positive(*given)) {
        Some((which, given)) => Err(ScaledError::Number { which, given }),
        None => Ok(()),
    }
}

/// A scale: its code, and the factor that stands for it in the arithmetic of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// The code of the dtype of the scales.
    pub(super) code: u32,
    /// What elements are divided by, or multiplied with; NaN for blocks whose codes are 0.
    pub(super) factor: f64,
}

/// The bits of infinity as `float32`.
const INFINITY: u32 = 0x7F80_0000;

/// The rule of a scheme with what it needs of the tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule<'a> {
    pub(super) scheme: &'a Scheme,
    pub(super) codes: Codes,
    /// The dtype of the source.
    source: DType,
    /// The scale of the tensor, as it is stored.
    pub(super) global: f32,
    /// The factor that the rule multiplies with, for [`ScaleRule::AmaxTimesInverse`] and its kin.
    inverse: f32,
}

impl<'a> Rule<'a> {
    /// The rule for a tensor whose largest magnitude has these bits.
    pub(super) fn of_amax(plan: &'a ScaledPlan, amax: u32) -> Self {
        let (scheme, source) = (&plan.scheme, plan.from.dtype());
        let (mut global, mut inverse) = (1.0, 1.0);
        if let ScaleType::E4M3(kind) = scheme.scale
            && amax != 0
        {
            let amax = f32::from_bits(amax);
            match scheme.rule {
                ScaleRule::Amax { over }
                | ScaleRule::AmaxTwice { over }
                | ScaleRule::AmaxOverProduct { over } => {
                    global = (f64::from(amax) / (448.0 * f64::from(over))) as f32;
                }
                ScaleRule::AmaxTimesInverse { range, .. } => {
                    inverse = (range / amax).min(f32::MAX);
                    global = if kind == Global::Divisor { inverse } else { 1.0 / inverse };
                }
                ScaleRule::AmaxTimesInverseSource { range, .. } => {
                    // The library divides by no subnormal number.
                    let least = finfo(source).map_or(0.0, |float| float.smallest_normal as f32);
                    let product = to_source(source, to_source(source, 1.0 / amax.max(least)) * range);
                    inverse = if product.is_finite() { product } else { 1.0 };
                    global = if kind == Global::Divisor { inverse } else { 1.0 / inverse };
                }
                ScaleRule::Given | ScaleRule::Pow2(_) | ScaleRule::MinMax => {}
            }
            // A tensor whose scale would be zero or infinity has the smallest or the largest scale.
            global = global.clamp(f32::from_bits(1), f32::MAX);
        }
        Self { scheme, codes: plan.codes, source, global, inverse }
    }

    /// The rule for a tensor of this largest magnitude, where elements are in double precision.
    pub(super) fn of_wide_amax(plan: &'a ScaledPlan, amax: f64) -> Self {
        let scheme = &plan.scheme;
        let global = match (scheme.scale, scheme.rule) {
            (ScaleType::E4M3(_), ScaleRule::Amax { over }) if amax != 0.0 => {
                let global = (amax / (448.0 * f64::from(over))) as f32;
                global.clamp(f32::from_bits(1), f32::MAX)
            }
            _ => 1.0,
        };
        Self { scheme, codes: plan.codes, source: plan.from.dtype(), global, inverse: 1.0 }
    }

    /// The rule for a tensor whose scale is given.
    pub(super) fn of_global(plan: &'a ScaledPlan, global: f32) -> Self {
        let scheme = &plan.scheme;
        let inverse = match scheme.scale {
            ScaleType::E4M3(Global::Divisor) => global,
            _ => 1.0 / global,
        };
        Self { scheme, codes: plan.codes, source: plan.from.dtype(), global, inverse }
    }

    /// The exact value of a scale, that of the tensor included.
    pub(super) fn value(&self, code: u32) -> f64 {
        let block = decode(self.scheme.scale, code);
        match self.scheme.scale {
            ScaleType::E4M3(Global::Multiplier) => block * f64::from(self.global),
            ScaleType::E4M3(Global::Divisor) => block / f64::from(self.global),
            _ => block,
        }
    }

    /// The value of a scale, and that of the tensor's.
    pub(super) fn parts(&self, code: u32) -> (f64, f64) {
        (decode(self.scheme.scale, code), f64::from(self.global))
    }

    /// The scale of a block whose largest magnitude has the bits `amax`.
    pub(super) fn scale(&self, amax: u32) -> Scale {
        if amax >= INFINITY {
            let code = match self.scheme.scale {
                ScaleType::Float32 | ScaleType::Source => 0x7FC0_0000,
                ScaleType::Float16 => 0x7E00,
                ScaleType::BFloat16 => 0x7FC0,
                ScaleType::E8M0 => 0xFF,
                ScaleType::E4M3(_) => 0x7F,
            };
            return Scale { code, factor: f64::NAN };
        }
        let floor = match self.scheme.empty {
            Empty::Floor(least) => amax.max(least.to_bits()),
            _ => amax,
        };
        if floor == 0 {
            let code = match (self.scheme.empty, self.scheme.scale) {
                (Empty::AtLeast { empty, .. }, scale) => encode(scale, f64::from(empty)),
                (Empty::Epsilon, scale) => epsilon(scale),
                (_, ScaleType::E8M0 | ScaleType::E4M3(_)) => 0,
                (_, scale) => encode(scale, 1.0),
            };
            return self.with_factor(code);
        }
        if let Quotient::TimesMultiplier = self.scheme.quotient
            && let ScaleRule::Amax { over } = self.scheme.rule
        {
            // The smallest multiplier has a finite reciprocal.
            let multiplier = (over / f32::from_bits(floor)).max(f32::from_bits(0x0020_0001));
            return Scale { code: (1.0 / multiplier).to_bits(), factor: f64::from(multiplier) };
        }
        let code = match self.scheme.rule {
            ScaleRule::Pow2(rule) => self.power(rule, f32::from_bits(floor).into()),
            ScaleRule::Given => encode(self.scheme.scale, 1.0),
            _ => self.by_amax(floor),
        };
        self.at_least(code)
    }

    /// The scale of a block of this largest magnitude, where elements are in double precision and quotients exact. The rule is a power of two or
    /// an amplitude.
    pub(super) fn scale_of(&self, amax: f64) -> Scale {
        let floor = match self.scheme.empty {
            Empty::Floor(least) => amax.max(f64::from(least)),
            _ => amax,
        };
        if !amax.is_finite() || floor == 0.0 {
            return self.scale(if amax == 0.0 { 0 } else { INFINITY });
        }
        let code = match self.scheme.rule {
            ScaleRule::Pow2(rule) => self.power(rule, floor),
            ScaleRule::Amax { over } => self.by_quotient(floor, over),
            _ => encode(self.scheme.scale, 1.0),
        };
        self.at_least(code)
    }

    /// The scale of a code that the rule gives, unless that is too small.
    fn at_least(&self, mut code: u32) -> Scale {
        match self.scheme.empty {
            // The codes of positive values are ordered as the values are.
            Empty::AtLeast { least, .. } => code = code.max(encode(self.scheme.scale, f64::from(least))),
            Empty::Epsilon if code == 0 => code = epsilon(self.scheme.scale),
            _ => {}
        }
        self.with_factor(code)
    }

    /// The scale of this code.
    pub(super) fn with_factor(&self, code: u32) -> Scale {
        let block = decode(self.scheme.scale, code);
        let total = match self.scheme.scale {
            ScaleType::E4M3(Global::Multiplier) => block as f32 * self.global,
            ScaleType::E4M3(Global::Divisor) => block as f32 / self.global,
            _ => block as f32,
        };
        let (divisor, factor) = match self.scheme.quotient {
            Quotient::Exact => (self.value(code), self.value(code)),
            Quotient::Divide | Quotient::DivideUnsigned | Quotient::DivideSource => {
                (f64::from(total), f64::from(total))
            }
            // In libraries that multiply, the reciprocal of a scale of zero is infinity.
            Quotient::TimesReciprocal | Quotient::TimesMultiplier => (1.0, f64::from(1.0 / total)),
            Quotient::TimesGlobalReciprocal => (1.0, f64::from(1.0 / self.global / block as f32)),
        };
        // Nothing is divided by zero, infinity or NaN: the codes of the block are 0.
        let divides = divisor != 0.0 && divisor.is_finite() && factor != 0.0;
        let factor = if divides { factor } else { f64::NAN };
        Scale { code, factor }
    }

    fn by_amax(&self, amax: u32) -> u32 {
        let amax = f32::from_bits(amax);
        match (self.scheme.rule, self.scheme.scale) {
            (ScaleRule::AmaxTwice { over }, ScaleType::E4M3(_)) => {
                self.not_zero(f64::from(amax / over / self.global))
            }
            (ScaleRule::AmaxTimesInverse { over, .. }, _) => {
                self.not_zero(f64::from(amax / over * self.inverse))
            }
            (ScaleRule::AmaxTimesInverseSource { over, .. }, _) => {
                self.not_zero(f64::from(to_source(self.source, amax / over) * self.inverse))
            }
            (ScaleRule::AmaxOverProduct { over }, ScaleType::E4M3(_)) => {
                self.not_zero(f64::from(amax / (over * self.global)))
            }
            (
                ScaleRule::Amax { over }
                | ScaleRule::AmaxTwice { over }
                | ScaleRule::AmaxOverProduct { over },
                _,
            ) => self.by_quotient(f64::from(amax), over),
            (ScaleRule::Given | ScaleRule::Pow2(_) | ScaleRule::MinMax, _) => self.not_zero(1.0),
        }
    }

    /// The code of `amax / over`, rounded once.
    fn by_quotient(&self, amax: f64, over: f32) -> u32 {
        // Double precision holds enough bits of the quotient that the second rounding is the only one that matters: numerators have 24
        // to 40 and denominators at most 29, unless `over` is a number of many bits.
        let (over, global) = (f64::from(over), f64::from(self.global));
        self.not_zero(match self.scheme.scale {
            ScaleType::E4M3(Global::Multiplier) => amax / (over * global),
            ScaleType::E4M3(Global::Divisor) => amax * global / over,
            _ => amax / over,
        })
    }

    pub(super) fn not_zero(&self, scale: f64) -> u32 {
        let code = encode(self.scheme.scale, scale);
        // A scale that is rounded to zero would divide by zero.
        match (self.scheme.scale, self.scheme.empty) {
            (ScaleType::Float32 | ScaleType::Float16 | ScaleType::BFloat16, Empty::One) => code.max(1),
            _ => code,
        }
    }

    /// The code of the power of two.
    fn power(&self, rule: Pow2, amax: f64) -> u32 {
        // In double precision every float32 other than zero is a normal number, and so is every product of codes and scales.
        let bits = amax.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1));
        let of_max = self.codes.max.to_bits() & ((1 << 52) - 1);
        let up = match rule {
            Pow2::Floor => false,
            Pow2::Ceil => fraction > 0,
            Pow2::RoundUp => fraction > of_max,
            // From halfway between the largest significand and 2 on.
            Pow2::Even => fraction >= (1 << 52) - (1 << (51 - self.codes.mantissa_bits)),
        };
        let exponent = (exponent + i32::from(up) - self.codes.exponent).clamp(-127, 127);
        match self.scheme.scale {
            ScaleType::E8M0 => (exponent + 127) as u32,
            scale => encode(scale, f64::from_bits(((exponent + 1023) as u64) << 52)),
        }
    }

    /// The rule of a power of two for the loops of a tier; `None` for codes whose subnormal magnitudes have scales other than the smallest.
    pub(super) fn power_rule(&self, rule: Pow2) -> Option<PowerRule> {
        let addend = match rule {
            Pow2::Floor => 0,
            Pow2::Ceil => 0x007F_FFFF,
            // The fraction of the largest code has few bits.
            Pow2::RoundUp => 0x007F_FFFF - (self.codes.max.to_bits() >> 29 & 0x007F_FFFF) as u32,
            Pow2::Even => 1 << (22 - self.codes.mantissa_bits),
        };
        let exponent = u32::try_from(self.codes.exponent).ok()?;
        (exponent >= 2).then_some(PowerRule { addend, exponent })
    }

    /// Whether blocks with NaN or infinity have the scale of their finite elements.
    pub(super) fn ignores_non_finite(&self) -> bool {
        self.scheme.non_finite == NonFinite::Saturate
    }
}

/// A `float32` rounded to the dtype of a source.
pub(super) fn to_source(source: DType, x: f32) -> f32 {
    match source {
        DType::Float16 => half::f16::from_f32(x).to_f32(),
        DType::BFloat16 => half::bf16::from_f32(x).to_f32(),
        _ => x,
    }
}

/// The code of the machine epsilon of the dtype of scales.
fn epsilon(scale: ScaleType) -> u32 {
    encode(scale, finfo(scale.dtype(DType::Float32)).map_or(1.0, |float| float.eps))
}

/// The smallest normal number of `float8_e4m3fn`.
const E4M3_NORMAL: f64 = 0.015_625;

/// The code nearest to a positive value, at most that of the largest finite one.
fn encode(scale: ScaleType, value: f64) -> u32 {
    match scale {
        ScaleType::Float32 | ScaleType::Source => cast_one::<f64, f32>(value).min(f32::MAX).to_bits(),
        ScaleType::Float16 => u32::from(cast_one::<f64, half::f16>(value).to_bits().min(0x7BFF)),
        ScaleType::BFloat16 => u32::from(cast_one::<f64, half::bf16>(value).to_bits().min(0x7F7F)),
        ScaleType::E8M0 => u32::from(cast_one::<f64, F8E8M0FNU>(value).to_bits()),
        // Casts of single elements are slow, and there may be a scale for every 16 elements.
        ScaleType::E4M3(_) if (f64::MIN_POSITIVE..E4M3_NORMAL).contains(&value) => {
            // Multiples of 2^-9; the addition rounds to integers, ties to even.
            (value * 512.0 + 1.0 / f64::EPSILON).to_bits() as u32 & 15
        }
        ScaleType::E4M3(_) if (E4M3_NORMAL..=448.0).contains(&value) => {
            // To three bits of mantissa, ties to even.
            let bits = value.to_bits();
            let rounded = (bits + (1 << 48) - 1 + (bits >> 49 & 1)) >> 49;
            (rounded - ((1023 - 7) << 3)) as u32
        }
        ScaleType::E4M3(_) => u32::from(cast_one::<f64, F8E4M3FN>(value).to_bits()),
    }
}

/// The value of a code.
fn decode(scale: ScaleType, code: u32) -> f64 {
    match scale {
        ScaleType::Float32 | ScaleType::Source => f64::from(f32::from_bits(code)),
        ScaleType::Float16 => f64::from(half::f16::from_bits(code as u16)),
        ScaleType::BFloat16 => f64::from(half::bf16::from_bits(code as u16)),
        ScaleType::E8M0 => cast_one(F8E8M0FNU::from_bits(code as u8)),
        ScaleType::E4M3(_) if code < 0x08 => f64::from(code) / 512.0,
        ScaleType::E4M3(_) if (0x08..0x7F).contains(&code) => {
            f64::from_bits((u64::from(code) + ((1023 - 7) << 3)) << 49)
        }
        ScaleType::E4M3(_) => cast_one(F8E4M3FN::from_bits(code as u8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every scale, and every number next to the middle between two.
    #[test]
    fn scales_of_e4m3_are_cast() {
        let scale = ScaleType::E4M3(Global::Multiplier);
        for code in 0..=255 {
            let value = decode(scale, code);
            let exact: f64 = cast_one(F8E4M3FN::from_bits(code as u8));
            assert_eq!(value.to_bits(), exact.to_bits(), "{code}");
            let middle = (value + decode(scale, code + 1)) / 2.0;
            for x in [value, middle.next_down(), middle, middle.next_up()] {
                let cast = cast_one::<f64, F8E4M3FN>(x).to_bits();
                assert_eq!(encode(scale, x), u32::from(cast), "{x}");
            }
        }
    }
}

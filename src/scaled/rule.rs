//! [`Rule`]: the scale of a block from its largest magnitude.

use super::{
    codes::Codes,
    resolved::{INFINITY, Resolved},
    scale_code::{decode, encode, epsilon, to_source},
    scheme::{Empty, Global, NonFinite, Pow2, Quotient, ScaleRule, ScaleType, Scheme},
};
use core::ops::Range;
use lanecast_kernels::{DType, scaled::PowerRule};

/// Scales that the loops of a tier can divide by, without a remainder that underflows.
pub(super) const NORMAL: Range<f32> = f32::from_bits((127 - 64) << 23)..f32::from_bits((127 + 64) << 23);

/// A scale: its code, and the factor that stands for it in the arithmetic of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// The code of the dtype of the scales.
    pub(super) code: u32,
    /// What elements are divided by, or multiplied with; NaN for blocks whose codes are 0.
    pub(super) factor: f64,
}

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

/// The scale of a tensor of this largest magnitude: the largest block then has the largest scale of `float8_e4m3fn`.
fn tensor_scale(kind: Global, amax: f64, over: f32) -> f32 {
    let most = 448.0 * f64::from(over);
    (match kind {
        Global::Multiplier => amax / most,
        Global::Divisor => most / amax,
    }) as f32
}

impl<'a> Rule<'a> {
    /// The rule for a tensor whose largest magnitude has these bits.
    pub(super) fn of_amax(plan: &'a Resolved, amax: u32) -> Self {
        let (scheme, source) = (&plan.scheme, plan.source.dtype());
        let (mut global, mut inverse) = (1.0, 1.0);
        if let ScaleType::E4M3(kind) = scheme.scale
            && amax != 0
        {
            let amax = f32::from_bits(amax);
            match scheme.rule {
                ScaleRule::Amax { over }
                | ScaleRule::AmaxTwice { over }
                | ScaleRule::AmaxOverProduct { over } => {
                    global = tensor_scale(kind, f64::from(amax), over);
                }
                ScaleRule::AmaxTimesInverse { range, .. } => {
                    inverse = (range / amax).min(f32::MAX);
                    global = if kind == Global::Divisor { inverse } else { 1.0 / inverse };
                }
                ScaleRule::AmaxTimesInverseSource { range, .. } => {
                    // The library divides by no subnormal number.
                    let least = source.finfo().map_or(0.0, |float| float.smallest_normal as f32);
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
    pub(super) fn of_wide_amax(plan: &'a Resolved, amax: f64) -> Self {
        let scheme = &plan.scheme;
        let global = match (scheme.scale, scheme.rule) {
            (ScaleType::E4M3(kind), ScaleRule::Amax { over }) if amax != 0.0 => {
                tensor_scale(kind, amax, over).clamp(f32::from_bits(1), f32::MAX)
            }
            _ => 1.0,
        };
        Self { scheme, codes: plan.codes, source: plan.source.dtype(), global, inverse: 1.0 }
    }

    /// The rule for a tensor whose scale is given.
    pub(super) fn of_global(plan: &'a Resolved, global: f32) -> Self {
        let scheme = &plan.scheme;
        let inverse = match scheme.scale {
            ScaleType::E4M3(Global::Divisor) => global,
            _ => 1.0 / global,
        };
        Self { scheme, codes: plan.codes, source: plan.source.dtype(), global, inverse }
    }

    /// The exact value of a scale, with the tensor's scale included.
    pub(super) fn value(&self, code: u32) -> f64 {
        let block = decode(self.scheme.scale, code);
        match self.scheme.scale {
            ScaleType::E4M3(Global::Multiplier) => block * f64::from(self.global),
            ScaleType::E4M3(Global::Divisor) => block / f64::from(self.global),
            _ => block,
        }
    }

    /// The value of a scale, and the value of the tensor's scale.
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

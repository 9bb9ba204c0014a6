//! Scales of all blocks of a slab at once, by the loops of a tier.

use super::{
    super::{
        report::Report,
        resolved::{INFINITY, Resolved},
        rule::{NORMAL, Rule},
        scheme::{Empty, Global, Quotient, ScaleRule, ScaleType},
    },
    amaxes::Amaxes,
    factors::SlabFactors,
};
use lanecast_kernels::scaled::{Factors, Step, Word};

impl Resolved {
    /// Computes the scales of blocks from their largest magnitudes. `false` if [`Rule::scale`] has to do that, because of the scheme or of a
    /// block; `scales` and `factors` then hold nothing of use.
    pub(super) fn scales_at_once(
        &self,
        rule: &Rule<'_>,
        amaxes: &Amaxes,
        scales: &mut [u8],
        factors: &mut SlabFactors,
        report: &mut Report,
    ) -> bool {
        let amaxes = amaxes.words();
        let divides = self.scheme.quotient == Quotient::Divide;
        if !(divides || self.scheme.quotient == Quotient::Exact)
            || self.scheme.empty != Empty::One
            || factors.step.is_none()
        {
            return false;
        }
        let Some(loops) = self.kernels.loops else { return false };
        let mut largest = [0];
        loops.amax_32(amaxes, amaxes.len(), &mut largest);
        if largest[0] >= INFINITY {
            return false;
        }
        let empty = amaxes.iter().filter(|x| **x == [0; 4]).count();
        let done = match (self.scheme.scale, self.scheme.rule) {
            (ScaleType::E8M0, ScaleRule::Pow2(power)) => match rule.power_rule(power) {
                Some(power) => {
                    factors.factor.resize(amaxes.len(), 0.0);
                    loops.powers(bytemuck::cast_slice(amaxes), power, scales, &mut factors.factor);
                    true
                }
                None => false,
            },
            (ScaleType::E4M3(Global::Multiplier), ScaleRule::Amax { over }) => {
                self.blocks_of_tensor(rule, over, amaxes, scales, factors)
            }
            (ScaleType::Float32, ScaleRule::Amax { over }) => {
                self.quotients_of_amax(over, amaxes, scales, factors)
            }
            _ => false,
        };
        if !done {
            return false;
        }
        if divides {
            self.divisors(rule, factors);
        }
        report.empty += empty as u64;
        true
    }

    /// Factors to divide by in place of those to multiply with.
    fn divisors(&self, rule: &Rule<'_>, factors: &mut SlabFactors) {
        match self.scheme.scale {
            ScaleType::E8M0 => factors.factor.iter_mut().for_each(|factor| *factor = 1.0 / *factor),
            ScaleType::E4M3(_) => {
                factors.factor.clear();
                factors.factor.extend(factors.block.iter().map(|block| match *block == 0.0 {
                    true => f32::NAN,
                    false => block * rule.global,
                }));
            }
            _ => core::mem::swap(&mut factors.factor, &mut factors.scale),
        }
    }

    /// Scales of `float8_e4m3fn` beside the tensor's scale.
    fn blocks_of_tensor(
        &self,
        rule: &Rule<'_>,
        over: f32,
        amaxes: &[Word],
        scales: &mut [u8],
        factors: &mut SlabFactors,
    ) -> bool {
        let n = amaxes.len();
        // A number of few bits: the loop's part of the scale that makes an exact product.
        let short = over.to_bits().trailing_zeros() >= 20;
        let normal = NORMAL.contains(&over) && NORMAL.contains(&rule.global);
        let (Some(loops), true) = (self.kernels.loops, short && normal) else {
            return false;
        };
        let divisor =
            Factors { factor: &[1.0 / (over * rule.global)], block: &[over], scale: &[rule.global] };
        factors.scale.resize(n, 0.0);
        let quotients: &mut [Word] = bytemuck::cast_slice_mut(&mut factors.scale);
        if !loops.step(Step::Quotient { block: true }, amaxes, quotients, n, &divisor)
            || self.kernels.store_scales.run(bytemuck::cast_slice(&factors.scale), scales, n).is_err()
        {
            return false;
        }
        factors.block.resize(n, 0.0);
        if self.kernels.load_scales.run(scales, bytemuck::cast_slice_mut(&mut factors.block), n).is_err() {
            return false;
        }
        factors.scale.fill(rule.global);
        factors.factor.clear();
        factors.factor.extend(factors.block.iter().map(|block| match *block == 0.0 {
            true => f32::NAN,
            false => 1.0 / (block * rule.global),
        }));
        factors.any_nan = factors.block.contains(&0.0);
        true
    }

    /// Scales of `float32`.
    fn quotients_of_amax(
        &self,
        over: f32,
        amaxes: &[Word],
        scales: &mut [u8],
        factors: &mut SlabFactors,
    ) -> bool {
        let n = amaxes.len();
        let Some(loops) = self.kernels.loops else { return false };
        factors.scale.resize(n, 0.0);
        let quotients: &mut [Word] = bytemuck::cast_slice_mut(&mut factors.scale);
        let divisor = Factors { factor: &[over], ..Factors::default() };
        if !loops.step(Step::Divide, amaxes, quotients, n, &divisor) {
            return false;
        }
        for (amax, scale) in amaxes.iter().zip(&mut factors.scale) {
            if u32::from_ne_bytes(*amax) == 0 {
                *scale = 1.0;
            }
        }
        if !factors.scale.iter().all(|scale| NORMAL.contains(scale)) {
            return false;
        }
        factors.factor.clear();
        factors.factor.extend(factors.scale.iter().map(|scale| 1.0 / scale));
        scales.copy_from_slice(bytemuck::cast_slice(&factors.scale));
        true
    }
}

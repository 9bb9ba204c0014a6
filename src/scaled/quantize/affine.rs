//! The loops of casts with zero points, which run in the default floating-point environment.

use super::{
    super::{
        error::ScaledError,
        packing::{CHUNK, chunks, put},
        quantized::Parts,
        report::Report,
        resolved::Resolved,
        rule::{Rule, Scale},
        scheme::NonFinite,
    },
    done::Done,
    load::Buffer,
};
use crate::stochastic::truncated_quotient;
use alloc::{vec, vec::Vec};
use core::ops::Range;
use lanecast_kernels::Encoding;

/// Rounds to an integer, ties to even: adding leaves no bits for the fraction.
fn nearest(x: f64) -> f64 {
    const INTEGERS: f64 = 6_755_399_441_055_744.0;
    (x.clamp(-1e9, 1e9) + INTEGERS) - INTEGERS
}

/// `high - low`, with enough bits that every quotient by the number of codes is on the right side of the midpoints of scales. The last bit
/// says whether lower bits were dropped.
fn width(high: f32, low: f32) -> f64 {
    let (high, low) = (f64::from(high), -f64::from(low));
    let (large, small) = if high > low { (high, low) } else { (low, high) };
    let sum = large + small;
    let lost = small - (sum - large);
    // Both are positive. What was rounded up is a little less.
    let bits = sum.to_bits() - u64::from(lost < 0.0);
    let behind = (1 << 7) - 1;
    f64::from_bits(match bits & behind != 0 || lost != 0.0 {
        true => (bits & !behind) | (behind + 1),
        false => bits,
    })
}

/// The range of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Limits {
    low: f32,
    high: f32,
    non_finite: bool,
}

impl Limits {
    /// Whether an element of the block is NaN or infinite.
    pub(super) fn has_non_finite(&self) -> bool {
        self.non_finite
    }

    /// Widens the range by that of another part of the block.
    pub(super) fn add(&mut self, other: Limits) {
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
        self.non_finite |= other.non_finite;
    }
}

/// The scale of a block, NaN if its codes are 0, and its zero point.
#[derive(Clone, Copy)]
pub(super) struct Affine {
    factor: f64,
    zero: f64,
}

impl Resolved {
    /// Casts slab by slab: first the scales and zero points of its blocks, then its elements. Zero points have whole bytes.
    pub(super) fn quantize_with_zeros(
        &self,
        src: &[u8],
        rule: &Rule<'_>,
        [data, scales, zeros]: [&mut [u8]; 3],
    ) -> Result<Done, ScaledError> {
        let mut done = Done::new(self);
        let (mut limits, mut made) = (Vec::new(), Vec::new());
        let (of_scale, of_zero) = (self.scale_size(), self.scheme.element.size());
        for (elements, blocks) in self.blocks.slabs() {
            limits.clear();
            limits.resize(blocks.len(), Limits::default());
            self.limits(src, elements.clone(), blocks.start, &mut limits)?;
            let its = [
                &mut scales[blocks.start * of_scale..blocks.end * of_scale],
                &mut zeros[blocks.start * of_zero..blocks.end * of_zero],
            ];
            self.affine(rule, &limits, its, &mut made, &mut done.report)
                .map_err(|error| error.after(blocks.start))?;
            self.affine_codes(src, elements, blocks.start, &made, data, &mut done)?;
        }
        Ok(done)
    }

    /// Widens the ranges of blocks, from block `first` on, by elements.
    pub(super) fn limits(
        &self,
        src: &[u8],
        elements: Range<usize>,
        first: usize,
        limits: &mut [Limits],
    ) -> Result<(), ScaledError> {
        let mut x = Buffer([[0; 4]; CHUNK]);
        for range in chunks(elements) {
            let x = self.load(src, range.clone(), &mut x)?;
            for (run, block) in self.runs(range.clone()) {
                let limits = &mut limits[block - first];
                for x in &x[run.start - range.start..run.end - range.start] {
                    let x = f32::from_ne_bytes(*x);
                    limits.non_finite |= !x.is_finite();
                    if x.is_finite() {
                        (limits.low, limits.high) = (limits.low.min(x), limits.high.max(x));
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes and stores the scales and zero points of blocks.
    pub(super) fn affine(
        &self,
        rule: &Rule<'_>,
        limits: &[Limits],
        [scales, zeros]: [&mut [u8]; 2],
        made: &mut Vec<Affine>,
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let (least, largest) = self.integers();
        made.clear();
        for (block, limits) in limits.iter().enumerate() {
            let poisoned = limits.non_finite && self.scheme.non_finite != NonFinite::Saturate;
            if poisoned && self.scheme.non_finite == NonFinite::Refuse {
                return Err(ScaledError::NonFinite { block });
            }
            let empty = limits.low == limits.high;
            report.poisoned += u64::from(poisoned);
            report.empty += u64::from(empty && !limits.non_finite);
            let scale = match (empty, poisoned) {
                (_, true) => Scale { factor: f64::NAN, ..rule.scale(0x7F80_0000) },
                (true, _) => rule.scale(0),
                _ => rule.with_factor(rule.not_zero(width(limits.high, limits.low) / (largest - least))),
            };
            let zero = match poisoned {
                true => 0.0,
                false => (least + nearest(-f64::from(limits.low) / scale.factor)).clamp(least, largest),
            };
            self.put_scale(scales, block, scale.code);
            made.push(Affine { factor: scale.factor, zero });
        }
        let mut values = [0.0; CHUNK];
        for range in chunks(0..made.len()) {
            let values = &mut values[..range.len()];
            values.iter_mut().zip(&made[range.clone()]).for_each(|(value, made)| *value = made.zero);
            self.put_integers(values, Encoding::new(self.scheme.element), range, zeros)?;
        }
        Ok(())
    }

    /// Casts elements. `made` has the scales and zero points of their blocks, from block `first` on.
    pub(super) fn affine_codes(
        &self,
        src: &[u8],
        elements: Range<usize>,
        first: usize,
        made: &[Affine],
        data: &mut [u8],
        done: &mut Done,
    ) -> Result<(), ScaledError> {
        let (least, largest) = self.integers();
        let (mut x, mut q) = (Buffer([[0; 4]; CHUNK]), [0.0_f64; CHUNK]);
        done.report.elements += elements.len() as u64;
        for range in chunks(elements) {
            let x = self.load(src, range.clone(), &mut x)?;
            let q = &mut q[..range.len()];
            for (run, block) in self.runs(range.clone()) {
                let factor = made[block - first].factor;
                let at = run.start - range.start..run.end - range.start;
                for (x, q) in x[at.clone()].iter().zip(&mut q[at]) {
                    let x = f64::from(f32::from_ne_bytes(*x));
                    *q = match self.random {
                        _ if factor.is_nan() || x.is_nan() => 0.0,
                        Some(_) => truncated_quotient(x, factor),
                        None => x / factor,
                    };
                }
            }
            if let Some(random) = &self.random {
                random.round(range.start, q);
            }
            for (run, block) in self.runs(range.clone()) {
                let Affine { factor, zero } = made[block - first];
                let at = run.start - range.start..run.end - range.start;
                for (x, q) in x[at.clone()].iter().zip(&mut q[at]) {
                    let x = f64::from(f32::from_ne_bytes(*x));
                    let code = nearest(*q) + zero;
                    *q = code.clamp(least, largest);
                    let report = &mut done.report;
                    if let (Some(clipped), Some(underflowed)) = (&mut report.clipped, &mut report.underflowed)
                    {
                        *clipped += u64::from(*q != code);
                        *underflowed += u64::from(x != 0.0 && *q == zero);
                    }
                    if let Some(sum) = &mut done.errors
                        && x.is_finite()
                        && factor.is_finite()
                    {
                        sum.add_squared_difference(x, (*q - zero) * factor);
                    }
                }
            }
            self.put_integers(q, self.data, range, data)?;
        }
        Ok(())
    }

    /// The scales and zero points of all blocks, which are given. Those whose codes are 0 have no zero point.
    pub(super) fn given_affine(&self, rule: &Rule<'_>, by: Parts<'_>) -> Result<Vec<Affine>, ScaledError> {
        let decoder = self.decoder()?;
        let mut zeros = vec![0.0; self.scales()];
        for range in chunks(0..self.scales()) {
            self.decode_codes(&decoder, by.zeros, range.clone(), &mut zeros[range])?;
        }
        let made = zeros.into_iter().enumerate();
        Ok(made
            .map(|(block, zero)| Affine {
                factor: rule.with_factor(self.scale(by.scales, block)).factor,
                zero,
            })
            .collect())
    }

    /// The least and the largest code.
    fn integers(&self) -> (f64, f64) {
        self.scheme.element.iinfo().map_or((0.0, 0.0), |int| (int.min as f64, int.max as f64))
    }

    fn put_integers(
        &self,
        values: &[f64],
        of: Encoding,
        range: Range<usize>,
        data: &mut [u8],
    ) -> Result<(), ScaledError> {
        let mut codes = [0; 2 * CHUNK];
        let codes = &mut codes[..values.len() * self.scheme.element.size()];
        self.kernels.encode_wide.run(bytemuck::cast_slice(values), codes, values.len())?;
        put(of, codes, range, data);
        Ok(())
    }
}

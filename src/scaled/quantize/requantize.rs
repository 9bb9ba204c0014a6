//! From one scheme to another, with one rounding.
//!
//! The value of a code is exact in double precision: codes have at most 16 bits, and scales 24 and 4. So are the largest magnitudes of blocks,
//! and a quotient of such a value by a scale of at most 28 bits is on the right side of every midpoint.

use super::{
    super::{
        error::ScaledError,
        kernels::Plain,
        packing::{CHUNK, chunks},
        quantized::{Parts, PartsMut},
        report::Report,
        resolved::{Resolved, guarded},
        rule::{Rule, Scale},
        scheme::{NonFinite, Quotient, ScaleRule},
    },
    exact_sum::ExactSum,
};
use crate::stochastic::truncated_quotient;
use alloc::vec::Vec;
use core::ops::Range;

/// What values are decoded from.
struct Values<'a> {
    plan: &'a Resolved,
    decoder: Plain,
    rule: Rule<'a>,
    of: (&'a [u8], &'a [u8]),
}

impl Values<'_> {
    /// Calls `each` with the values of a range, in order, in chunks.
    fn chunks(
        &self,
        range: Range<usize>,
        mut each: impl FnMut(Range<usize>, &mut [f64]) -> Result<(), ScaledError>,
    ) -> Result<(), ScaledError> {
        let mut values = [0.0; CHUNK];
        for range in chunks(range) {
            let values = &mut values[..range.len()];
            self.plan.values_between(&self.decoder, &self.rule, self.of, range.clone(), values)?;
            each(range, values)?;
        }
        Ok(())
    }
}

impl Resolved {
    /// Refuses pairs of schemes that cannot be cast with one rounding.
    pub(in crate::scaled) fn check_requantize(&self, from: &Resolved) -> Result<(), ScaledError> {
        if from.elements() != self.elements() {
            return Err(ScaledError::OtherShape);
        }
        let by_magnitude = matches!(self.scheme.rule, ScaleRule::Amax { .. } | ScaleRule::Pow2(_));
        let why = if self.scheme.quotient != Quotient::Exact || !by_magnitude {
            "only schemes of exact quotients, by Amax or Pow2, can be cast to from others; dequantize to float32 first"
        } else if from.scheme.has_zero_points() {
            "codes with zero points cannot be cast to another scheme; dequantize to float32 first"
        } else {
            return Ok(());
        };
        Err(ScaledError::Scheme { why })
    }

    /// Casts codes of another plan.
    pub(in crate::scaled) fn requantize(
        &self,
        from: &Resolved,
        src: Parts<'_>,
        to: PartsMut<'_>,
    ) -> Result<Report, ScaledError> {
        let PartsMut { data, scales, .. } = to;
        guarded(|| {
            let rule = Rule::of_global(from, src.global);
            let values = Values { plan: from, decoder: from.decoder()?, rule, of: (src.data, src.scales) };
            self.quantize_values(&values, data, scales)
        })
    }

    fn quantize_values(
        &self,
        values: &Values<'_>,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let n = self.elements();
        let mut amax = 0.0_f64;
        if self.needs_amax() {
            values.chunks(0..n, |_, values| {
                let finite = values.iter().map(|x| x.abs()).filter(|x| x.is_finite());
                amax = finite.fold(amax, f64::max);
                Ok(())
            })?;
        }
        let rule = self.rule(|| Rule::of_wide_amax(self, amax));
        let counted = self.counts.then_some(0);
        let mut report = Report { clipped: counted, underflowed: counted, ..Report::default() };
        let (mut amaxes, mut made) = (Vec::new(), Vec::<Scale>::new());
        for (elements, blocks) in self.blocks.slabs() {
            amaxes.clear();
            amaxes.resize(blocks.len(), 0.0_f64);
            values.chunks(elements.clone(), |range, values| {
                for (run, block) in self.runs(range.clone()) {
                    let amax = &mut amaxes[block - blocks.start];
                    for x in &values[run.start - range.start..run.end - range.start] {
                        // NaN stays: it is the largest of all.
                        if x.is_finite() || !rule.ignores_non_finite() {
                            *amax = if amax.is_nan() || x.is_nan() { f64::NAN } else { amax.max(x.abs()) };
                        }
                    }
                }
                Ok(())
            })?;
            made.clear();
            for (i, &amax) in amaxes.iter().enumerate() {
                let block = blocks.start + i;
                if !amax.is_finite() && self.scheme.non_finite == NonFinite::Refuse {
                    return Err(ScaledError::NonFinite { block });
                }
                let scale = rule.scale_of(amax);
                report.empty += u64::from(amax == 0.0);
                report.poisoned += u64::from(!amax.is_finite());
                self.put_scale(scales, block, scale.code);
                made.push(scale);
            }
            values.chunks(elements, |range, values| {
                // All that is asked of the elements is whether they are zero.
                let mut x = [[0; 4]; CHUNK];
                for (x, value) in x.iter_mut().zip(&*values) {
                    *x = if *value == 0.0 { 0.0_f32 } else { 1.0 }.to_ne_bytes();
                }
                for (run, block) in self.runs(range.clone()) {
                    let factor = made[block - blocks.start].factor;
                    for q in &mut values[run.start - range.start..run.end - range.start] {
                        *q = match self.random {
                            _ if factor.is_nan() => 0.0,
                            Some(_) => truncated_quotient(*q, factor),
                            None => *q / factor,
                        };
                    }
                }
                self.round(values, &x[..range.len()], range, data, &mut report)
            })?;
        }
        (report.elements, report.global) = (n as u64, self.has_global().then_some(rule.global));
        if self.errors {
            let (decoder, mut sum) = (self.decoder()?, ExactSum::default());
            let mut others = [0.0; CHUNK];
            values.chunks(0..n, |range, values| {
                let others = &mut others[..range.len()];
                self.values_between(&decoder, &rule, (data, scales), range, others)?;
                for (x, y) in values.iter().zip(others).filter(|(x, y)| x.is_finite() && y.is_finite()) {
                    sum.add_squared_difference(*x, *y);
                }
                Ok(())
            })?;
            report.squared_error = Some(sum.value());
        }
        Ok(report)
    }
}

//! The loops of [`ScaledPlan`], which run in the default floating-point environment.

use super::{
    error::{ScaledError, byte_len, check_len},
    packing::{CHUNK, chunks, put},
    plan::{INFINITY, MAGNITUDE, ScaledPlan},
    report::Report,
    rule::{Rule, Scale, ScaleRule},
    scheme::{NonFinite, Quotient, ScaleType},
};
use crate::{BufferType, CastOptions, CastPlan, DType, Kind, half::bf16, stochastic::truncated_quotient};
use alloc::vec::Vec;
use core::ops::Range;

/// The scales of a cast.
pub(super) enum Source<'a> {
    /// They are made of the elements, and written here.
    Elements(&'a mut [u8]),
    /// They are given.
    Given(&'a [u8]),
    /// What stands for them in the arithmetic of the scheme is known already.
    Factors(&'a [f64]),
}

impl ScaledPlan {
    /// Casts with given scales.
    pub(super) fn quantize_by(
        &self,
        src: &[u8],
        scales: &[u8],
        global: f32,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        check_len("scales", self.scales_len(), scales.len())?;
        let rule = Rule::of_global(&self.scheme, self.codes, self.global(global)?);
        Ok(self.cast_and_compare(src, &rule, Source::Given(scales), scales, data)?.report())
    }

    pub(super) fn global(&self, given: f32) -> Result<f32, ScaledError> {
        match self.scheme.scale {
            ScaleType::E4M3(_) if !(given > 0.0 && given < f32::INFINITY) => {
                Err(ScaledError::Global { given })
            }
            ScaleType::E4M3(_) => Ok(given),
            _ => Ok(1.0),
        }
    }

    /// Casts with scales that are made of the elements. `amax` has the bits of the largest magnitude that shares the tensor's scale;
    /// without it, that of the source.
    pub(super) fn quantize_of_amax(
        &self,
        src: &[u8],
        amax: Option<u32>,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        if self.scheme.rule == ScaleRule::Given {
            return Err(ScaledError::Scheme { why: "the scales of this scheme have to be given" });
        }
        let amax = match (amax, self.scheme.scale) {
            (Some(amax), _) => amax,
            (None, ScaleType::E4M3(_)) => self.amax_bits(src, INFINITY)?,
            (None, _) => 0,
        };
        let rule = Rule::of_amax(&self.scheme, self.codes, amax);
        check_len("scales", self.scales_len(), scales.len())?;
        Ok(self.cast_and_compare(src, &rule, Source::Elements(scales), &[], data)?.report())
    }

    /// The bits of the largest magnitude whose bits are below `limit`.
    pub(super) fn amax_bits(&self, src: &[u8], limit: u32) -> Result<u32, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        let (mut amax, mut x) = (0, [0.0; CHUNK]);
        for first in (0..n).step_by(CHUNK) {
            let x = self.load(src, first..n.min(first + CHUNK), &mut x)?;
            amax = x.iter().map(|x| x.to_bits() & MAGNITUDE).filter(|x| *x < limit).fold(amax, u32::max);
        }
        Ok(amax)
    }

    /// The elements of a range as `float32`.
    pub(super) fn load<'x>(
        &self,
        src: &[u8],
        range: Range<usize>,
        x: &'x mut [f32; CHUNK],
    ) -> Result<&'x [f32], ScaledError> {
        let size = self.from.dtype().size();
        let x = &mut x[..range.len()];
        let bytes = &src[range.start * size..range.end * size];
        self.load.run(bytes, bytemuck::cast_slice_mut(x), range.len())?;
        Ok(x)
    }

    /// Casts slab by slab: first the scales of its blocks, then its elements.
    pub(super) fn cast(
        &self,
        src: &[u8],
        rule: Rule<'_>,
        mut scales: Source<'_>,
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let n = self.elements();
        check_len("source", byte_len(self.from, n)?, src.len())?;
        check_len("data", self.data_len(), data.len())?;
        let mut report = Report { global: rule.global, ..Report::default() };
        let (mut amaxes, mut factors) = (Vec::new(), Vec::new());
        let mut x = [0.0; CHUNK];
        for (elements, blocks) in self.blocks.slabs() {
            factors.clear();
            match &mut scales {
                Source::Elements(scales) => {
                    amaxes.clear();
                    amaxes.resize(blocks.len(), 0_u32);
                    for range in chunks(elements.clone()) {
                        let x = self.load(src, range.clone(), &mut x)?;
                        self.amaxes(x, range, blocks.start, rule.ignores_non_finite(), &mut amaxes);
                    }
                    for (i, &amax) in amaxes.iter().enumerate() {
                        if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                            return Err(ScaledError::NonFinite { block: blocks.start + i });
                        }
                        let scale = rule.scale(amax);
                        report.empty += u64::from(amax == 0);
                        report.poisoned += u64::from(amax >= INFINITY);
                        self.put_scale(scales, blocks.start + i, scale);
                        factors.push(scale.factor);
                    }
                }
                Source::Factors(known) => factors.extend_from_slice(&known[blocks.clone()]),
                Source::Given(scales) => {
                    factors.extend(blocks.clone().map(|i| rule.with_factor(self.scale(scales, i)).factor));
                }
            }
            for range in chunks(elements) {
                let x = self.load(src, range.clone(), &mut x)?;
                self.codes(x, range, blocks.start, &factors, data, &mut report)?;
            }
        }
        report.elements = n as u64;
        Ok(report)
    }

    /// Raises the largest magnitudes of the blocks that the elements of a range belong to.
    pub(super) fn amaxes(
        &self,
        x: &[f32],
        range: Range<usize>,
        first: usize,
        finite: bool,
        amaxes: &mut [u32],
    ) {
        let mut rest = x;
        for (len, block) in self.blocks.runs(range) {
            let (run, behind) = rest.split_at(len);
            let magnitudes = run.iter().map(|x| x.to_bits() & MAGNITUDE);
            let amax = match finite {
                true => magnitudes.map(|x| if x < INFINITY { x } else { 0 }).fold(0, u32::max),
                false => magnitudes.fold(0, u32::max),
            };
            amaxes[block - first] = amaxes[block - first].max(amax);
            rest = behind;
        }
    }

    /// Casts the elements of a range by the factors of their blocks, the first of which is `first`.
    fn codes(
        &self,
        x: &[f32],
        range: Range<usize>,
        first: usize,
        factors: &[f64],
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let (mut q, n) = ([0.0; CHUNK], x.len());
        let mut done = 0;
        for (len, block) in self.blocks.runs(range.clone()) {
            let (x, q) = (&x[done..done + len], &mut q[done..done + len]);
            done += len;
            let (factor, narrow) = (factors[block - first], factors[block - first] as f32);
            if factor.is_nan() {
                continue;
            }
            let each = x.iter().zip(q);
            match self.scheme.quotient {
                Quotient::Exact if self.random.is_some() => {
                    each.for_each(|(x, q)| *q = truncated_quotient(f64::from(*x), factor));
                }
                Quotient::Exact => each.for_each(|(x, q)| *q = f64::from(*x) / factor),
                Quotient::Divide => each.for_each(|(x, q)| *q = f64::from(*x / narrow)),
                Quotient::DivideBFloat16 => {
                    each.for_each(|(x, q)| *q = f64::from(bf16::from_f32(*x / narrow)));
                }
                Quotient::TimesReciprocal | Quotient::TimesGlobalReciprocal | Quotient::TimesMultiplier => {
                    // The reciprocal of a scale of zero is infinity, and zero has to stay what it is.
                    each.for_each(|(x, q)| {
                        *q = if *x == 0.0 { f64::from(*x) } else { f64::from(*x * narrow) }
                    });
                }
            }
        }
        let q = &mut q[..n];
        let max = self.codes.max * self.codes.unit;
        if self.codes.unit != 1.0 {
            // Microscaled integers have as many negative values as positive ones.
            q.iter_mut().for_each(|q| *q *= self.codes.unit);
            report.clipped += q.iter().filter(|q| q.abs() > max).count() as u64;
            q.iter_mut().for_each(|q| *q = q.clamp(-max, max));
        } else {
            report.clipped += q.iter().filter(|q| q.abs() > max).count() as u64;
        }
        if let Some(random) = &self.random {
            random.round(range.start, q);
        }
        self.put_codes(q, x, range, data, report)
    }

    /// Rounds quotients and stores the codes.
    fn put_codes(
        &self,
        q: &[f64],
        x: &[f32],
        range: Range<usize>,
        data: &mut [u8],
        report: &mut Report,
    ) -> Result<(), ScaledError> {
        let mut codes = [0_u8; 2 * CHUNK];
        let size = self.scheme.element.size();
        let codes = &mut codes[..q.len() * size];
        self.encode.run(bytemuck::cast_slice(q), codes, q.len())?;
        if size == 1 {
            let magnitude = match self.scheme.element.kind() {
                Kind::Float => (1 << (self.scheme.element.bits() - 1)) - 1,
                _ => u8::MAX,
            };
            let lost = codes.iter().zip(x).filter(|(code, x)| **code & magnitude == 0 && **x != 0.0).count();
            report.underflowed += lost as u64;
        }
        put(self.data, codes, range, data);
        Ok(())
    }

    /// The code of a scale.
    pub(super) fn scale(&self, scales: &[u8], i: usize) -> u32 {
        match self.scheme.scale.dtype().size() {
            1 => u32::from(scales[i]),
            2 => u32::from(u16::from_ne_bytes([scales[2 * i], scales[2 * i + 1]])),
            _ => u32::from_ne_bytes(core::array::from_fn(|k| scales[4 * i + k])),
        }
    }

    pub(super) fn put_scale(&self, scales: &mut [u8], i: usize, scale: Scale) {
        match self.scheme.scale.dtype().size() {
            1 => scales[i] = scale.code as u8,
            2 => scales[2 * i..2 * i + 2].copy_from_slice(&(scale.code as u16).to_ne_bytes()),
            _ => scales[4 * i..4 * i + 4].copy_from_slice(&scale.code.to_ne_bytes()),
        }
    }

    /// [`dequantize`](Self::dequantize) in the default floating-point environment.
    pub(super) fn decode(
        &self,
        data: &[u8],
        scales: &[u8],
        global: f32,
        to: BufferType,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let n = self.elements();
        if !matches!(to.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(ScaledError::Source { dtype: to.dtype() });
        }
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("destination", byte_len(to, n)?, dst.len())?;
        let rule = Rule::of_global(&self.scheme, self.codes, self.global(global)?);
        let decoder = self.decoder()?;
        let store = CastPlan::new(DType::Float64, to, &CastOptions::RUST)?;
        let mut q = [0.0_f64; CHUNK];
        for range in chunks(0..n) {
            let q = &mut q[..range.len()];
            self.values(&decoder, &rule, (data, scales), range.clone(), q)?;
            let bytes = &mut dst[range.start * to.dtype().size()..range.end * to.dtype().size()];
            store.run(bytemuck::cast_slice(q), bytes, range.len())?;
        }
        Ok(())
    }
}

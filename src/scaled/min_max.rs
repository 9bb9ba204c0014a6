//! Integers with a zero point: asymmetric quantisation.
//!
//! A value is `(q - z) s`. The range of a block, widened to contain 0, becomes the range of the integers: `s` is its width over theirs, rounded
//! once to the dtype of the scales, and `z` the integer nearest to `least - lo / s`. A code is `round(x / s) + z`, saturated, rounded before `z`
//! is added, as in ONNX.

use super::{
    cast::Buffer,
    error::{ScaledError, byte_len, check_len},
    exact_sum::ExactSum,
    packing::{CHUNK, put, take},
    plan::ScaledPlan,
    report::Report,
    rule::{Rule, Scale, ScaleRule},
    scheme::{NonFinite, Quotient, ScaleType, Scheme},
    split::guarded,
    values::positive_nan,
};
use crate::{BufferType, CastOptions, CastPlan, DType, iinfo, stochastic::truncated_quotient};
use alloc::vec::Vec;
use core::ops::Range;

/// Whether a scheme with zero points fits itself.
pub(super) fn check(scheme: &Scheme) -> Result<(), ScaledError> {
    if scheme.rule != ScaleRule::MinMax {
        return Ok(());
    }
    let float = matches!(scheme.scale, ScaleType::Float32 | ScaleType::Float16 | ScaleType::BFloat16);
    if iinfo(scheme.element).is_none() || !float || scheme.quotient != Quotient::Exact {
        let why = "zero points need integers, scales of a wide float and Quotient::Exact";
        return Err(ScaledError::Scheme { why });
    }
    Ok(())
}

/// Rounds to an integer, ties to even: adding leaves no bits for the fraction.
fn nearest(x: f64) -> f64 {
    const INTEGERS: f64 = 6_755_399_441_055_744.0;
    (x.clamp(-1e9, 1e9) + INTEGERS) - INTEGERS
}

/// `high - low`, with so many bits that every quotient by the number of codes is on the right side of the midpoints of scales, and a last one
/// that says whether there were more.
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
struct Limits {
    low: f32,
    high: f32,
    non_finite: bool,
}

impl ScaledPlan {
    /// Refuses schemes with zero points.
    pub(super) fn without_zeros(&self) -> Result<(), ScaledError> {
        match self.scheme.rule {
            ScaleRule::MinMax => Err(ScaledError::Scheme {
                why: "a scheme with zero points is cast by quantize_min_max and dequantize_min_max",
            }),
            _ => Ok(()),
        }
    }

    fn with_zeros(&self) -> Result<(), ScaledError> {
        match self.scheme.rule {
            ScaleRule::MinMax => Ok(()),
            _ => Err(ScaledError::Scheme { why: "zero points need ScaleRule::MinMax" }),
        }
    }

    /// Bytes of the zero points: one for each scale, stored as the codes are.
    pub fn zeros_len(&self) -> usize {
        self.data.byte_len(self.scales()).unwrap_or(usize::MAX)
    }

    /// Scales and casts a tensor to integers with zero points, by [`ScaleRule::MinMax`].
    ///
    /// A value of a code is `(code - zero) * scale`. NaN becomes the zero point, if the scheme does not poison its block or refuse it.
    ///
    /// ```
    /// use lanecast::DType;
    /// use lanecast::scaled::{ScaleRule, ScaledPlan, Scheme};
    /// let scheme = Scheme { rule: ScaleRule::MinMax, ..Scheme::INT8_ROW }.with_element(DType::UInt8);
    /// let plan = ScaledPlan::new(DType::Float32, &scheme, &[1, 3])?;
    /// let src = [-1.0_f32, 0.0, 4.1].map(f32::to_ne_bytes).concat();
    /// let (mut codes, mut scales, mut zeros) = ([0; 3], [0; 4], [0; 1]);
    /// plan.quantize_min_max(&src, &mut codes, &mut scales, &mut zeros)?;
    /// assert_eq!((codes, zeros), ([0, 50, 255], [50]));
    /// assert_eq!(f32::from_ne_bytes(scales), 0.02);
    /// # Ok::<(), lanecast::scaled::ScaledError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`quantize_dynamic`](Self::quantize_dynamic); [`ScaledError::Scheme`] if the rule is another one.
    pub fn quantize_min_max(
        &self,
        src: &[u8],
        data: &mut [u8],
        scales: &mut [u8],
        zeros: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.with_zeros()?;
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("zero points", self.zeros_len(), zeros.len())?;
        guarded(|| self.quantize_with_zeros(src, [data, scales, zeros]))
    }

    fn quantize_with_zeros(
        &self,
        src: &[u8],
        [data, scales, zeros]: [&mut [u8]; 3],
    ) -> Result<Report, ScaledError> {
        let rule = Rule::of_global(&self.scheme, self.codes, 1.0);
        let (least, largest) = self.integers();
        let counted = self.counts.then_some(0);
        let mut report = Report { global: 1.0, clipped: counted, underflowed: counted, ..Report::default() };
        let mut sum = self.errors.then(ExactSum::default);
        let (mut limits, mut made) = (Vec::<Limits>::new(), Vec::<(f64, f64)>::new());
        let mut x = Buffer([[0; 4]; CHUNK]);
        for (elements, blocks) in self.blocks.slabs() {
            limits.clear();
            limits.resize(blocks.len(), Limits::default());
            for range in chunks(&elements) {
                let x = self.load(src, range.clone(), &mut x)?;
                for (run, block) in self.runs(range.clone()) {
                    let limits = &mut limits[block - blocks.start];
                    for x in &x[run.start - range.start..run.end - range.start] {
                        let x = f32::from_ne_bytes(*x);
                        limits.non_finite |= !x.is_finite();
                        if x.is_finite() {
                            (limits.low, limits.high) = (limits.low.min(x), limits.high.max(x));
                        }
                    }
                }
            }
            made.clear();
            for (i, limits) in limits.iter().enumerate() {
                let block = blocks.start + i;
                let poisoned = limits.non_finite && self.scheme.non_finite != NonFinite::Saturate;
                if poisoned && self.scheme.non_finite == NonFinite::Refuse {
                    return Err(ScaledError::NonFinite { block });
                }
                report.poisoned += u64::from(poisoned);
                report.empty += u64::from(limits.low == limits.high && !limits.non_finite);
                let scale = match (limits.low == limits.high, poisoned) {
                    (_, true) => Scale { factor: f64::NAN, ..rule.scale(0x7F80_0000) },
                    (true, _) => rule.scale(0),
                    _ => rule.with_factor(rule.not_zero(width(limits.high, limits.low) / (largest - least))),
                };
                let zero = match poisoned {
                    true => 0.0,
                    false => (least + nearest(-f64::from(limits.low) / scale.factor)).clamp(least, largest),
                };
                self.put_scale(scales, block, scale);
                self.put_integers(&[zero], block..block + 1, zeros)?;
                made.push((scale.factor, zero));
            }
            for range in chunks(&elements) {
                let x = self.load(src, range.clone(), &mut x)?;
                let mut q = [0.0_f64; CHUNK];
                let q = &mut q[..range.len()];
                for (run, block) in self.runs(range.clone()) {
                    let (factor, _) = made[block - blocks.start];
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
                    let (factor, zero) = made[block - blocks.start];
                    let at = run.start - range.start..run.end - range.start;
                    for (x, q) in x[at.clone()].iter().zip(&mut q[at]) {
                        let x = f64::from(f32::from_ne_bytes(*x));
                        let code = nearest(*q) + zero;
                        *q = code.clamp(least, largest);
                        if let (Some(clipped), Some(underflowed)) =
                            (&mut report.clipped, &mut report.underflowed)
                        {
                            *clipped += u64::from(*q != code);
                            *underflowed += u64::from(x != 0.0 && *q == zero);
                        }
                        if let Some(sum) = &mut sum
                            && x.is_finite()
                            && factor.is_finite()
                        {
                            sum.add_squared_difference(x, (*q - zero) * factor);
                        }
                    }
                }
                self.put_integers(q, range, data)?;
            }
        }
        report.elements = self.elements() as u64;
        report.squared_error = sum.map(|sum| sum.value());
        Ok(report)
    }

    /// The values that integers with zero points stand for: `(code - zero) * scale`, rounded once.
    ///
    /// # Errors
    ///
    /// As [`dequantize`](Self::dequantize); [`ScaledError::Scheme`] if the rule of the scheme is not [`ScaleRule::MinMax`].
    pub fn dequantize_min_max(
        &self,
        data: &[u8],
        scales: &[u8],
        zeros: &[u8],
        to: impl Into<BufferType>,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        let to = to.into();
        self.with_zeros()?;
        if !matches!(to.dtype(), DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(ScaledError::Source { dtype: to.dtype() });
        }
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("zero points", self.zeros_len(), zeros.len())?;
        check_len("destination", byte_len(to, self.elements())?, dst.len())?;
        let store = CastPlan::new(DType::Float64, to, &CastOptions::RUST)?;
        let decoder = self.decoder()?;
        guarded(|| {
            let rule = Rule::of_global(&self.scheme, self.codes, 1.0);
            let mut q = [0.0; CHUNK];
            for range in chunks(&(0..self.elements())) {
                let q = &mut q[..range.len()];
                self.integers_of(&decoder, data, range.clone(), q)?;
                for (run, block) in self.runs(range.clone()) {
                    let mut zero = [0.0];
                    self.integers_of(&decoder, zeros, block..block + 1, &mut zero)?;
                    let (scale, _) = rule.parts(self.scale(scales, block));
                    q[run.start - range.start..run.end - range.start]
                        .iter_mut()
                        .for_each(|q| *q = positive_nan(*q, (*q - zero[0]) * scale));
                }
                let size = to.dtype().size();
                let dst = &mut dst[range.start * size..range.end * size];
                store.run(bytemuck::cast_slice(q), dst, range.len())?;
            }
            Ok(())
        })
    }

    /// The least and the largest code.
    fn integers(&self) -> (f64, f64) {
        iinfo(self.scheme.element).map_or((0.0, 0.0), |int| (int.min as f64, int.max as f64))
    }

    fn put_integers(&self, values: &[f64], range: Range<usize>, data: &mut [u8]) -> Result<(), ScaledError> {
        let mut codes = [0; 2 * CHUNK];
        let codes = &mut codes[..values.len() * self.scheme.element.size()];
        self.casts.encode_wide.run(bytemuck::cast_slice(values), codes, values.len())?;
        put(self.data, codes, range, data);
        Ok(())
    }

    fn integers_of(
        &self,
        decoder: &CastPlan,
        data: &[u8],
        range: Range<usize>,
        values: &mut [f64],
    ) -> Result<(), ScaledError> {
        let (mut codes, n) = ([0; 2 * CHUNK], values.len());
        let codes = &mut codes[..n * self.scheme.element.size()];
        take(self.data, data, range, codes);
        Ok(decoder.run(codes, bytemuck::cast_slice_mut(values), n)?)
    }
}

fn chunks(range: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let end = range.end;
    range.clone().step_by(CHUNK).map(move |start| start..end.min(start + CHUNK))
}

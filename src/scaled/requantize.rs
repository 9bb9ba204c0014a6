//! From one scheme to another, with one rounding.
//!
//! The value of a code is exact in double precision: codes have at most 16 bits, and scales 24 and 4. So are the largest magnitudes of blocks,
//! and a quotient of such a value by a scale of at most 28 bits is on the right side of every midpoint.

use super::{
    error::{ScaledError, check_len},
    exact_sum::ExactSum,
    packing::CHUNK,
    plan::ScaledPlan,
    report::Report,
    rule::{Rule, Scale, ScaleRule},
    scheme::{NonFinite, Quotient},
    split::guarded,
};
use crate::{CastPlan, stochastic::truncated_quotient};
use alloc::vec::Vec;
use core::ops::Range;

/// Codes with their scales.
#[derive(Clone, Copy, Debug)]
pub struct Quantized<'a> {
    /// The codes, as the plan stores them.
    pub data: &'a [u8],
    /// The scales.
    pub scales: &'a [u8],
    /// The scale of the tensor; ignored by schemes without one.
    pub global: f32,
}

/// What values are decoded from.
struct Values<'a> {
    plan: &'a ScaledPlan,
    decoder: CastPlan,
    rule: Rule<'a>,
    of: Quantized<'a>,
}

impl Values<'_> {
    /// Calls `each` with the values of a range, in order, in chunks.
    fn chunks(
        &self,
        range: Range<usize>,
        mut each: impl FnMut(Range<usize>, &mut [f64]) -> Result<(), ScaledError>,
    ) -> Result<(), ScaledError> {
        let mut values = [0.0; CHUNK];
        for start in range.clone().step_by(CHUNK) {
            let range = start..range.end.min(start + CHUNK);
            let values = &mut values[..range.len()];
            self.plan.values_between(
                &self.decoder,
                &self.rule,
                (self.of.data, self.of.scales),
                range.clone(),
                values,
            )?;
            each(range, values)?;
        }
        Ok(())
    }
}

/// Casts codes of one scheme to those of another: every value is decoded exactly, scales are made of the exact magnitudes, and every code is
/// rounded once. Both plans must be for tensors of the same shape; their granularities may differ.
///
/// ```
/// use lanecast::DType;
/// use lanecast::scaled::{Quantized, ScaledPlan, Scheme, requantize};
/// let weights: Vec<u8> = (0..64).flat_map(|i| (i as f32 / 7.0).to_ne_bytes()).collect();
/// let fp8 = ScaledPlan::new(DType::Float32, &Scheme::FP8_ROW, &[2, 32])?;
/// let (mut data, mut scales) = (vec![0; fp8.data_len()], vec![0; fp8.scales_len()]);
/// let global = fp8.quantize_dynamic(&weights, &mut data, &mut scales)?.global;
/// let mx = ScaledPlan::new(DType::Float32, &Scheme::MX.with_element(DType::Float4E2M1FN), &[2, 32])?;
/// let (mut codes, mut powers) = (vec![0; mx.data_len()], vec![0; mx.scales_len()]);
/// requantize(&fp8, Quantized { data: &data, scales: &scales, global }, &mx, &mut codes, &mut powers)?;
/// # Ok::<(), lanecast::scaled::ScaledError>(())
/// ```
///
/// # Errors
///
/// [`ScaledError::OtherShape`] if the numbers of elements differ; [`ScaledError::Scheme`] if the scheme of `to` is not one of exact quotients
/// and of one rounding for each scale; otherwise as [`ScaledPlan::quantize_dynamic`] and [`ScaledPlan::dequantize`].
pub fn requantize(
    from: &ScaledPlan,
    src: Quantized<'_>,
    to: &ScaledPlan,
    data: &mut [u8],
    scales: &mut [u8],
) -> Result<Report, ScaledError> {
    if from.elements() != to.elements() {
        return Err(ScaledError::OtherShape);
    }
    if to.scheme.quotient != Quotient::Exact
        || !matches!(to.scheme.rule, ScaleRule::Amax { .. } | ScaleRule::Pow2(_))
    {
        let why = "only schemes of exact quotients, by Amax or Pow2, can be cast to from others; dequantize to float32 first";
        return Err(ScaledError::Scheme { why });
    }
    from.without_zeros()?;
    check_len("source data", from.data_len(), src.data.len())?;
    check_len("source scales", from.scales_len(), src.scales.len())?;
    check_len("data", to.data_len(), data.len())?;
    check_len("scales", to.scales_len(), scales.len())?;
    let global = from.global(src.global)?;
    guarded(|| {
        let rule = Rule::of_global(from, global);
        let values = Values { plan: from, decoder: from.decoder()?, rule, of: src };
        to.quantize_values(&values, data, scales)
    })
}

impl ScaledPlan {
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
        let rule = self.rule_or(|| Rule::of_wide_amax(self, amax));
        let counted = self.counts.then_some(0);
        let mut report =
            Report { global: rule.global, clipped: counted, underflowed: counted, ..Report::default() };
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
                self.put_scale(scales, block, scale);
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
        report.elements = n as u64;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::scaled::{ScaleType, Scheme};
    use alloc::{vec, vec::Vec};

    /// Codes whose values float32 has are cast as those values are: scales, codes and reports.
    #[test]
    fn as_float32_where_that_is_exact() {
        let (rows, cols) = (5, 70);
        let n = rows * cols;
        let named = Scheme::NAMED.iter().map(|(_, scheme)| *scheme);
        let exact = |scheme: &Scheme| scheme.quotient == Quotient::Exact && !scheme.has_zero_points();
        for scheme in named.filter(exact) {
            for source in [Scheme::MX, Scheme::MX_OCP.with_element(DType::Float4E2M1FN)] {
                let from = ScaledPlan::new(DType::Float32, &source, &[rows, cols]).expect("fits");
                let data: Vec<u8> =
                    (0..from.data_len()).map(|i| (i * 37 % 120 + i % 2 * 128) as u8).collect();
                let powers: Vec<u8> = (0..from.scales_len()).map(|i| 110 + (i * 7 % 40) as u8).collect();
                let mut values = vec![0; 4 * n];
                from.dequantize(&data, &powers, 1.0, DType::Float32, &mut values).expect("casts");
                for to in [0, 1] {
                    let to = match to {
                        0 => ScaledPlan::new(DType::Float32, &scheme, &[rows, cols]).expect("fits"),
                        _ => ScaledPlan::new(DType::Float32, &scheme, &[rows, cols])
                            .expect("fits")
                            .stochastic(Default::default())
                            .starting_at(3),
                    };
                    let to = to.with_counts().with_squared_error();
                    let (mut want, mut scales) = (vec![0; to.data_len()], vec![0; to.scales_len()]);
                    let report = to.quantize_dynamic(&values, &mut want, &mut scales).expect("casts");
                    let (mut codes, mut its) = (vec![1; want.len()], vec![1; scales.len()]);
                    let src = Quantized { data: &data, scales: &powers, global: 1.0 };
                    let got = requantize(&from, src, &to, &mut codes, &mut its).expect("casts");
                    assert!(codes == want && its == scales, "{source:?} to {scheme:?}");
                    assert_eq!(got, report, "{source:?} to {scheme:?}");
                }
            }
        }
    }

    /// Values of 28 bits and more are not rounded on the way: their codes are the nearest, and so are the scales.
    #[test]
    fn values_are_exact() {
        let from = ScaledPlan::new(DType::Float32, &Scheme::NVFP4, &[64]).expect("fits");
        let to = Scheme { scale: ScaleType::Float32, ..Scheme::FP8_GROUP128 };
        let to = ScaledPlan::new(DType::Float32, &to, &[64]).expect("fits").with_squared_error();
        let data: Vec<u8> = (0..32).map(|i| (i * 41 % 256) as u8).collect();
        let mut checked = 0;
        for seed in 0..200_u32 {
            let scales: Vec<u8> = (0..4).map(|i| 0x31 + (seed * 5 + i * 11) as u8 % 64).collect();
            let global = f32::from_bits(0x3A80_0001 + seed * 0x2_4681);
            let mut values = vec![0; 8 * 64];
            from.dequantize(&data, &scales, global, DType::Float64, &mut values).expect("casts");
            let values: Vec<f64> =
                values.chunks(8).map(|x| f64::from_ne_bytes(x.try_into().expect("8 bytes"))).collect();
            let (mut codes, mut scale) = (vec![0; 64], vec![0; 4]);
            let src = Quantized { data: &data, scales: &scales, global };
            let report = requantize(&from, src, &to, &mut codes, &mut scale).expect("casts");
            let amax = values.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            let s = f64::from(f32::from_ne_bytes(scale[..].try_into().expect("4 bytes")));
            // Half a unit of a float32, from below and above.
            let ulp = f64::from(f32::from_bits((s as f32).to_bits() + 1)) - s;
            assert!((s - ulp / 2.0) * 448.0 <= amax && amax <= (s + ulp / 2.0) * 448.0);
            let mut back = vec![0; 8 * 64];
            to.dequantize(&codes, &scale, 1.0, DType::Float64, &mut back).expect("casts");
            let back = back.chunks(8).map(|x| f64::from_ne_bytes(x.try_into().expect("8 bytes")));
            for ((x, y), code) in values.iter().zip(back).zip(&codes) {
                // No neighbour of the code is nearer.
                for other in [code.wrapping_sub(1), code + 1] {
                    if other & 0x7F == 0x7F || (code & 0x7F == 0 && other < *code) {
                        continue;
                    }
                    let mut value = vec![0; 8];
                    let one = ScaledPlan::new(DType::Float32, &Scheme::FP8_TENSOR, &[1]).expect("fits");
                    one.dequantize(&[other], &scale, 1.0, DType::Float64, &mut value).expect("casts");
                    let other = f64::from_ne_bytes(value.try_into().expect("8 bytes"));
                    assert!((x - y).abs() <= (x - other).abs(), "{x:e}: {y:e}, {other:e}");
                    checked += 1;
                }
            }
            assert!(report.squared_error.is_some_and(|error| error > 0.0));
        }
        assert!(checked > 20_000);
    }

    #[test]
    fn refusals() {
        let plan = |scheme: &Scheme, n| ScaledPlan::new(DType::Float32, scheme, &[n]).expect("fits");
        let (from, to) = (plan(&Scheme::MX, 32), plan(&Scheme::FP8_TENSOR, 32));
        let src = Quantized { data: &[0x38; 32], scales: &[0xFF], global: 1.0 };
        let cast = |from: &ScaledPlan, src, to: &ScaledPlan| {
            let (mut data, mut scales) = (vec![1; to.data_len()], vec![1; to.scales_len()]);
            requantize(from, src, to, &mut data, &mut scales).map(|report| (report.poisoned, data, scales))
        };
        let nan = f32::NAN.to_ne_bytes().to_vec();
        assert_eq!(cast(&from, src, &to), Ok((1, vec![0; 32], nan)));
        let refusing = plan(&Scheme::FP8_TENSOR.with_non_finite(NonFinite::Refuse), 32);
        assert_eq!(cast(&from, src, &refusing), Err(ScaledError::NonFinite { block: 0 }));
        assert_eq!(cast(&from, src, &plan(&Scheme::FP8_TENSOR, 33)), Err(ScaledError::OtherShape));
        let divided = plan(&Scheme::FP8_TENSOR.with_quotient(Quotient::Divide), 32);
        assert!(matches!(cast(&from, src, &divided), Err(ScaledError::Scheme { .. })));
        let short = Quantized { data: &[0; 31], ..src };
        assert!(matches!(cast(&from, short, &to), Err(ScaledError::Length { which: "source data", .. })));
    }
}

//! Scaled casts part by part: over threads, and from sources whose elements are not in C order.
//!
//! A part with whole blocks is cast as a tensor of its own. Where blocks are too large for that, the largest magnitudes come first, part by
//! part, then the scales, and then the codes. Magnitudes and counts are merged by operations that do not depend on an order, so the answer
//! does not depend on the parts either.

use super::{
    cast::{Amaxes, Source},
    error::{ScaledError, byte_len, check_len},
    exact_sum::ExactSum,
    parts::{Cut, Part},
    plan::{INFINITY, ScaledPlan},
    report::Report,
    rule::{Rule, Scale},
    scheme::NonFinite,
};
#[cfg(any(feature = "rayon", test))]
use crate::Encoding;
use alloc::{boxed::Box, vec, vec::Vec};
use core::{mem, ops::Range};
use lanecast_kernels::in_default_environment;

/// Blocks of this many parts are cast part by part.
pub(super) const TOO_LARGE: usize = 4;

/// Calls a function in the default floating-point environment.
pub(super) fn guarded<R, W: FnMut() -> R>(mut work: W) -> R {
    in_default_environment(|(): &(), work: &mut W| work(), &(), &mut work)
}

/// The elements of a source in C order.
pub(super) trait Elements: Sync {
    /// The bytes of a range, which may be copied to `memory`.
    fn get<'m>(&'m self, range: Range<usize>, memory: &'m mut Vec<u8>) -> Result<&'m [u8], ScaledError>;
}

/// Elements in C order, of so many bytes each.
pub(super) struct InOrder<'a>(pub(super) &'a [u8], pub(super) usize);

impl Elements for InOrder<'_> {
    fn get<'m>(&'m self, range: Range<usize>, _: &'m mut Vec<u8>) -> Result<&'m [u8], ScaledError> {
        Ok(&self.0[range.start * self.1..range.end * self.1])
    }
}

/// What runs the parts of a cast.
pub(super) trait Run {
    /// Calls `work` for every job, with memory that it may use, and `take` with each result. If some fail, the error is that of the first.
    fn run<J: Send, R: Send>(
        &self,
        jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(J, &mut Vec<u8>) -> Result<R, ScaledError> + Sync,
        take: impl FnMut(R) + Send,
    ) -> Result<(), ScaledError>;
}

/// The calling thread.
pub(super) struct Alone;

impl Run for Alone {
    fn run<J: Send, R: Send>(
        &self,
        mut jobs: impl Iterator<Item = J> + Send,
        work: impl Fn(J, &mut Vec<u8>) -> Result<R, ScaledError> + Sync,
        mut take: impl FnMut(R) + Send,
    ) -> Result<(), ScaledError> {
        let mut memory = Vec::new();
        jobs.try_for_each(|job| work(job, &mut memory).map(&mut take))
    }
}

/// The report of a part, and its squared errors if they are wanted.
pub(super) struct Done {
    pub(super) report: Report,
    pub(super) errors: Option<Box<ExactSum>>,
}

impl Done {
    pub(super) fn new(plan: &ScaledPlan, report: Report) -> Done {
        let counted = plan.counts.then_some(0);
        let report = Report { clipped: counted, underflowed: counted, ..report };
        Done { report, errors: plan.errors.then(Box::default) }
    }

    pub(super) fn add(&mut self, other: Done) {
        let Report { global: _, elements, empty, poisoned, clipped, underflowed, squared_error: _ } =
            other.report;
        self.report.elements += elements;
        self.report.empty += empty;
        self.report.poisoned += poisoned;
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        self.report.clipped = sum(self.report.clipped, clipped);
        self.report.underflowed = sum(self.report.underflowed, underflowed);
        match (&mut self.errors, other.errors) {
            (Some(sum), Some(errors)) => sum.add(&errors),
            (sum, errors) => *sum = sum.take().or(errors),
        }
    }

    pub(super) fn report(&self) -> Report {
        Report { squared_error: self.errors.as_ref().map(|sum| sum.value()), ..self.report }
    }
}

/// The next bytes of a buffer.
pub(super) fn next<'b>(buffer: &mut &'b mut [u8], len: usize) -> &'b mut [u8] {
    let (here, behind) = mem::take(buffer).split_at_mut(len);
    *buffer = behind;
    here
}

impl ScaledPlan {
    /// The cast of a part.
    pub(super) fn of_part(&self, part: &Part) -> ScaledPlan {
        let random = self.random.map(|random| random.after(part.elements.start));
        ScaledPlan { blocks: part.blocks, random, ..self.clone() }
    }

    /// Casts, and sums the errors if they are wanted. `stored` has the scales, unless they are made here.
    pub(super) fn cast_and_compare(
        &self,
        src: &[u8],
        rule: &Rule<'_>,
        scales: Source<'_>,
        stored: &[u8],
        data: &mut [u8],
    ) -> Result<Done, ScaledError> {
        let sum = |data: &[u8], scales: &[u8]| match self.errors {
            true => self.squared_errors(src, rule, (data, scales)).map(|sum| Some(Box::new(sum))),
            false => Ok(None),
        };
        let (report, errors) = match scales {
            Source::Elements(scales) => {
                (self.cast(src, *rule, Source::Elements(&mut *scales), data)?, sum(data, scales)?)
            }
            known => (self.cast(src, *rule, known, data)?, sum(data, stored)?),
        };
        Ok(Done { report, errors })
    }

    pub(super) fn codes_in(&self, elements: usize) -> usize {
        self.data.byte_len(elements).unwrap_or(0)
    }

    pub(super) fn cut(&self, target: usize, within: bool) -> Cut {
        Cut::new(self.blocks, target, within, self.data.bits_per_element() as usize)
    }

    /// The bits of the largest magnitude below `limit`.
    pub(super) fn amax_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        limit: u32,
    ) -> Result<u32, ScaledError> {
        let mut amax = 0;
        run.run(
            Cut::new(self.blocks, target, true, 8).parts(),
            |part, memory| {
                let plan = self.of_part(&part);
                plan.amax_bits(from.get(part.elements, memory)?, limit)
            },
            |bits| amax = amax.max(bits),
        )?;
        Ok(amax)
    }

    /// [`quantize_dynamic`](Self::quantize_dynamic) in parts of about `target` elements.
    pub(super) fn quantize_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        data: &mut [u8],
        scales: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.makes_scales()?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        let amax = match self.needs_amax() {
            true => self.amax_split(from, run, target, INFINITY)?,
            false => 0,
        };
        let rule = guarded(|| self.rule_or(|| Rule::of_amax(self, amax)));
        let mut report = Report { global: rule.global, ..Report::default() };
        let (with_blocks, within) = (self.cut(target, false), self.cut(target, true));
        if with_blocks.largest() > target.saturating_mul(TOO_LARGE)
            && within.largest() < with_blocks.largest()
        {
            let made = self.scales_split(from, run, target, &rule, scales, &mut report)?;
            return self.codes_split((from, run), within, &rule, (scales, Some(&made)), data, report);
        }
        let mut all = Done::new(self, report);
        let (mut data, mut scales) = (data, scales);
        let jobs = with_blocks.parts().map(|part| {
            let codes = next(&mut data, self.codes_in(part.elements.len()));
            let its = next(&mut scales, part.scales.len() * self.scale_size());
            (part, codes, its)
        });
        run.run(
            jobs,
            |(part, codes, scales), memory| {
                let (plan, first) = (self.of_part(&part), part.scales.start);
                let src = from.get(part.elements, memory)?;
                let cast =
                    guarded(|| plan.cast_and_compare(src, &rule, Source::Elements(&mut *scales), &[], codes));
                cast.map_err(|error| error.after(first))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report()))
    }

    /// Makes and stores all scales.
    fn scales_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        rule: &Rule<'_>,
        scales: &mut [u8],
        report: &mut Report,
    ) -> Result<Vec<Scale>, ScaledError> {
        let mut amaxes = vec![0_u32; self.scales()];
        run.run(
            Cut::new(self.blocks, target, true, 8).parts(),
            |part, memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements.clone(), memory)?);
                check_len("source", byte_len(self.from, part.elements.len())?, src.len())?;
                let (mut amaxes, n) = (Amaxes::new(), part.elements.len());
                let blocks = 0..part.scales.len();
                guarded(|| plan.amaxes(src, 0..n, &blocks, rule.ignores_non_finite(), &mut amaxes))?;
                Ok((part.scales, amaxes.words))
            },
            |(blocks, part)| {
                amaxes[blocks].iter_mut().zip(part).for_each(|(all, amax)| *all = amax.max(*all))
            },
        )?;
        guarded(|| {
            let mut made = Vec::with_capacity(amaxes.len());
            for (block, &amax) in amaxes.iter().enumerate() {
                if amax >= INFINITY && self.scheme.non_finite == NonFinite::Refuse {
                    return Err(ScaledError::NonFinite { block });
                }
                let scale = rule.scale(amax);
                report.empty += u64::from(amax == 0);
                report.poisoned += u64::from(amax >= INFINITY);
                self.put_scale(scales, block, scale);
                made.push(scale);
            }
            Ok(made)
        })
    }

    /// Casts all elements with scales that are there.
    fn codes_split(
        &self,
        (from, run): (&impl Elements, &impl Run),
        cut: Cut,
        rule: &Rule<'_>,
        (scales, made): (&[u8], Option<&[Scale]>),
        mut data: &mut [u8],
        report: Report,
    ) -> Result<Report, ScaledError> {
        let size = self.scale_size();
        let mut all = Done::new(self, report);
        run.run(
            cut.parts().map(|part| {
                let codes = next(&mut data, self.codes_in(part.elements.len()));
                (part, codes)
            }),
            |(part, codes), memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                let scales = &scales[part.scales.start * size..part.scales.end * size];
                guarded(|| {
                    let known = match made {
                        Some(made) => Source::Made(&made[part.scales.clone()]),
                        None => Source::Given(scales),
                    };
                    plan.cast_and_compare(src, rule, known, scales, codes)
                })
                .map_err(|error| error.after(part.scales.start))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report()))
    }

    /// [`quantize`](Self::quantize) in parts of about `target` elements.
    #[cfg(any(feature = "rayon", test))]
    pub(super) fn quantize_given_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        (scales, global): (&[u8], f32),
        data: &mut [u8],
    ) -> Result<Report, ScaledError> {
        self.without_zeros()?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        let global = self.global(global)?;
        let rule = guarded(|| Rule::of_global(self, global));
        let report = Report { global, ..Report::default() };
        self.codes_split((from, run), self.cut(target, true), &rule, (scales, None), data, report)
    }

    /// [`dequantize`](Self::dequantize) in parts of about `target` elements.
    #[cfg(any(feature = "rayon", test))]
    pub(super) fn dequantize_split(
        &self,
        run: &impl Run,
        target: usize,
        (data, scales, global): (&[u8], &[u8], f32),
        to: Encoding,
        mut dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("destination", byte_len(to, self.elements())?, dst.len())?;
        let (size, bits) = (self.scale_size(), self.data.bits_per_element() as usize);
        run.run(
            self.cut(target, true).parts().map(|part| {
                let values = next(&mut dst, part.elements.len() * to.dtype().size());
                (part, values)
            }),
            |(part, values), _| {
                let first = part.elements.start * bits / 8;
                let data = &data[first..first + self.codes_in(part.elements.len())];
                let scales = &scales[part.scales.start * size..part.scales.end * size];
                self.of_part(&part).dequantize(data, scales, global, to, values)
            },
            |()| {},
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::DType;
    use crate::scaled::{Granularity, Scheme};
    use crate::stochastic::Stochastic;

    /// Elements with runs of zeros and magnitudes that grow, and the same with a NaN and an infinity.
    pub(in super::super) fn samples(n: usize) -> [Vec<f32>; 2] {
        let floats: Vec<f32> = (0..n as u32)
            .map(|i| {
                let bits = i.wrapping_mul(0x9E37_79B1);
                if i % 60 < 20 { 0.0 } else { f32::from_bits(bits & 0x807F_FFFF | (110 + i / 60 * 3) << 23) }
            })
            .collect();
        let mut poisoned = floats.clone();
        (poisoned[25], poisoned[300]) = (f32::NAN, f32::INFINITY);
        [floats, poisoned]
    }

    /// Every named scheme, cut in many ways, gives what it gives in one go: codes, scales, reports and values.
    #[test]
    fn parts_change_nothing() {
        let (rows, cols) = (7, 52);
        let n = rows * cols;
        let [floats, poisoned] = samples(n);
        let named = Scheme::NAMED.iter().map(|(_, scheme)| *scheme);
        let named = named.filter(|scheme| !scheme.has_zero_points());
        let more = [
            Granularity::Axis(1),
            Granularity::Block { axis: 0, len: 3 },
            Granularity::Tile { rows: 2, cols: 8 },
        ]
        .map(|granularity| Scheme { granularity, ..Scheme::INT4_GROUP128 });
        for scheme in named.chain(more) {
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols])
                .expect("fits")
                .with_squared_error()
                .with_counts();
            for (plan, floats) in [
                (plan.clone(), &floats),
                (plan.clone().stochastic(Stochastic::default()).starting_at(9), &floats),
                (plan.clone(), &poisoned),
                (plan.clone().with_global(3e-4).unwrap_or(plan), &poisoned),
            ] {
                let src: &[u8] = bytemuck::cast_slice(floats);
                let (mut data, mut scales) = (vec![0; plan.data_len()], vec![0; plan.scales_len()]);
                let report = plan.quantize_dynamic(src, &mut data, &mut scales).expect("casts");
                let mut given = vec![0; data.len()];
                let given_report = plan.quantize(src, &scales, report.global, &mut given).expect("casts");
                let mut values = vec![0; 2 * n];
                plan.dequantize(&data, &scales, report.global, DType::BFloat16, &mut values).expect("casts");
                for target in [8, 52, 130, 1000] {
                    let from = InOrder(src, 4);
                    let (mut codes, mut its) = (vec![1; data.len()], vec![1; scales.len()]);
                    let got =
                        plan.quantize_split(&from, &Alone, target, &mut codes, &mut its).expect("casts");
                    assert!(
                        got == report && codes == data && its == scales,
                        "{scheme:?} by {target}: {got:?} {report:?}"
                    );
                    let got = plan
                        .quantize_given_split(&from, &Alone, target, (&scales, report.global), &mut codes)
                        .expect("casts");
                    assert!(got == given_report && codes == given, "{scheme:?} by {target}: {got:?}");
                    let mut back = vec![0; 2 * n];
                    let of = (&data[..], &scales[..], report.global);
                    plan.dequantize_split(&Alone, target, of, DType::BFloat16.into(), &mut back)
                        .expect("casts");
                    assert!(back == values, "{scheme:?} by {target}");
                    let amax = plan.amax_split(&from, &Alone, target, INFINITY).expect("casts");
                    assert_eq!(amax, plan.amax_bits(src, INFINITY).expect("casts"));
                }
            }
        }
    }

    /// The sum of squares is that of the values in double precision, computed as integers.
    #[test]
    fn squared_errors_are_exact() {
        let src: Vec<f32> = (0..96).map(|i| (i as f32 - 40.0) / 7.0).collect();
        let plan = ScaledPlan::new(DType::Float32, &Scheme::MX, &[96]).expect("fits").with_squared_error();
        let (mut data, mut scales) = (vec![0; 96], vec![0; 3]);
        let report =
            plan.quantize_dynamic(bytemuck::cast_slice(&src), &mut data, &mut scales).expect("casts");
        let mut values = vec![0.0_f32; 96];
        let out = bytemuck::cast_slice_mut(&mut values);
        plan.dequantize(&data, &scales, 1.0, DType::Float32, out).expect("casts");
        // All values are multiples of 2^-30, and errors less than 1.
        let unit = 1_073_741_824.0;
        let sum: i128 = src
            .iter()
            .zip(&values)
            .map(|(x, y)| ((f64::from(*x) - f64::from(*y)) * unit) as i128)
            .map(|error| error * error)
            .sum();
        assert!(sum > 0);
        assert_eq!(report.squared_error, Some(sum as f64 / unit / unit));
    }

    /// The first block that is refused is reported, whichever part it is in.
    #[test]
    fn refusals_name_blocks_of_the_whole() {
        let mut src = vec![1.0_f32; 256];
        src[200] = f32::NAN;
        for granularity in [Granularity::Block { axis: -1, len: 32 }, Granularity::Tensor] {
            let scheme = Scheme { granularity, ..Scheme::MX }.with_non_finite(NonFinite::Refuse);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[256]).expect("fits");
            let block = if granularity == Granularity::Tensor { 0 } else { 6 };
            let (mut data, mut scales) = (vec![0; 256], vec![0; plan.scales()]);
            let from = InOrder(bytemuck::cast_slice(&src), 4);
            let got = plan.quantize_split(&from, &Alone, 32, &mut data, &mut scales);
            assert_eq!(got, Err(ScaledError::NonFinite { block }));
            scales.fill(127);
            let got = plan.quantize_given_split(&from, &Alone, 32, (&scales, 1.0), &mut data);
            assert_eq!(got, Err(ScaledError::NonFinite { block }));
        }
    }
}

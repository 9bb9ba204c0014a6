//! Integers with a zero point: asymmetric quantisation.
//!
//! A value is `(q - z) s`. The range of a block, widened to contain 0, becomes the range of the integers: `s` is its width over theirs, rounded
//! once to the dtype of the scales, and `z` the integer nearest to `least - lo / s`. A code is `round(x / s) + z`, saturated, rounded before `z`
//! is added, as in ONNX.

mod loops;

use super::{
    error::{ScaledError, byte_len, check_len},
    packing::put,
    parts::Cut,
    plan::ScaledPlan,
    report::Report,
    rule::{Rule, ScaleRule},
    scheme::{Quotient, ScaleType, Scheme},
    split::{Alone, Done, Elements, InOrder, Run, TOO_LARGE, guarded, next},
    view::Gathered,
};
use crate::{CastOptions, CastPlan, DType, Encoding, iinfo, strided::View};
use alloc::{vec, vec::Vec};
use loops::Limits;

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
    /// use lanecast::scaled::{ScaledPlan, Scheme};
    /// let plan = ScaledPlan::new(DType::Float32, &Scheme::UINT8_ROW, &[1, 3])?;
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
        check_len("source", byte_len(self.from, self.elements())?, src.len())?;
        let from = InOrder(src, self.from.dtype().size());
        self.quantize_min_max_split(&from, &Alone, self.elements(), [data, scales, zeros])
    }

    /// [`quantize_min_max`](Self::quantize_min_max) of elements in any layout, as
    /// [`quantize_dynamic_view`](Self::quantize_dynamic_view) casts them.
    ///
    /// # Errors
    ///
    /// As [`quantize_min_max`](Self::quantize_min_max) and [`quantize_dynamic_view`](Self::quantize_dynamic_view).
    pub fn quantize_min_max_view(
        &self,
        src: &View<'_>,
        data: &mut [u8],
        scales: &mut [u8],
        zeros: &mut [u8],
    ) -> Result<Report, ScaledError> {
        let from = Gathered::new(self, src)?;
        self.quantize_min_max_split(&from, &Alone, self.panel(), [data, scales, zeros])
    }

    /// [`quantize_min_max`](Self::quantize_min_max) in parts of about `target` elements.
    pub(super) fn quantize_min_max_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        [data, scales, zeros]: [&mut [u8]; 3],
    ) -> Result<Report, ScaledError> {
        self.with_zeros()?;
        check_len("data", self.data_len(), data.len())?;
        check_len("scales", self.scales_len(), scales.len())?;
        check_len("zero points", self.zeros_len(), zeros.len())?;
        // The zero points of a part need not begin at a whole byte: they are packed at the end.
        let mut apart = Vec::new();
        let its = match self.data == Encoding::new(self.scheme.element) {
            true => &mut *zeros,
            false => {
                apart.resize(self.scales(), 0);
                &mut apart[..]
            }
        };
        let report = self.quantize_min_max_parts(from, run, target, [data, scales, its])?;
        if !apart.is_empty() {
            put(self.data, &apart, 0..self.scales(), zeros);
        }
        Ok(report)
    }

    /// The same with zero points of whole bytes.
    fn quantize_min_max_parts(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
        [mut data, mut scales, mut zeros]: [&mut [u8]; 3],
    ) -> Result<Report, ScaledError> {
        let rule = guarded(|| Rule::of_global(self, 1.0));
        let mut all = Done::new(self, Report { global: 1.0, ..Report::default() });
        let (of_scale, of_zero) = (self.scale_size(), self.scheme.element.size());
        let (with_blocks, within) = (self.cut(target, false), self.cut(target, true));
        let large = with_blocks.largest() > target.saturating_mul(TOO_LARGE);
        if large && within.largest() < with_blocks.largest() {
            let limits = self.limits_split(from, run, target)?;
            let mut made = Vec::new();
            guarded(|| self.affine(&rule, &limits, [scales, zeros], &mut made, &mut all.report))?;
            let jobs = within.parts().map(|part| {
                let codes = next(&mut data, self.codes_in(part.elements.len()));
                (part, codes)
            });
            run.run(
                jobs,
                |(part, codes), memory| {
                    let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                    let mut done = Done::new(self, Report::default());
                    let made = &made[part.scales];
                    guarded(|| plan.affine_codes(src, 0..plan.elements(), 0, made, codes, &mut done))?;
                    Ok(done)
                },
                |done| all.add(done),
            )?;
            return Ok(guarded(|| all.report()));
        }
        let jobs = with_blocks.parts().map(|part| {
            let codes = next(&mut data, self.codes_in(part.elements.len()));
            let its = next(&mut scales, part.scales.len() * of_scale);
            let points = next(&mut zeros, part.scales.len() * of_zero);
            (part, [codes, its, points])
        });
        run.run(
            jobs,
            |(part, [codes, scales, zeros]), memory| {
                let (plan, first) = (self.of_part(&part), part.scales.start);
                let src = from.get(part.elements, memory)?;
                guarded(|| plan.quantize_with_zeros(src, &rule, [&mut *codes, &mut *scales, &mut *zeros]))
                    .map_err(|error| error.after(first))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report()))
    }

    /// The ranges of all blocks, part by part.
    fn limits_split(
        &self,
        from: &impl Elements,
        run: &impl Run,
        target: usize,
    ) -> Result<Vec<Limits>, ScaledError> {
        let mut all = vec![Limits::default(); self.scales()];
        run.run(
            Cut::new(self.blocks, target, true, 8).parts(),
            |part, memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                let mut limits = vec![Limits::default(); part.scales.len()];
                guarded(|| plan.limits(src, 0..plan.elements(), 0, &mut limits))?;
                Ok((part.scales, limits))
            },
            |(blocks, part)| all[blocks].iter_mut().zip(part).for_each(|(all, part)| all.add(part)),
        )?;
        Ok(all)
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
        to: impl Into<Encoding>,
        dst: &mut [u8],
    ) -> Result<(), ScaledError> {
        self.dequantize_min_max_split(&Alone, self.elements(), [data, scales, zeros], to.into(), dst)
    }

    /// [`dequantize_min_max`](Self::dequantize_min_max) in parts of about `target` elements.
    pub(super) fn dequantize_min_max_split(
        &self,
        run: &impl Run,
        target: usize,
        [data, scales, zeros]: [&[u8]; 3],
        to: Encoding,
        mut dst: &mut [u8],
    ) -> Result<(), ScaledError> {
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
        let (size, bits) = (self.scale_size(), self.data.bits_per_element() as usize);
        run.run(
            self.cut(target, true).parts().map(|part| {
                let values = next(&mut dst, part.elements.len() * to.dtype().size());
                (part, values)
            }),
            |(part, values), _| {
                let first = part.elements.start * bits / 8;
                let data = &data[first..first + self.codes_in(part.elements.len())];
                let its = &scales[part.scales.start * size..part.scales.end * size];
                let (plan, first) = (self.of_part(&part), part.scales.start);
                guarded(|| plan.affine_values([&decoder, &store], [data, its, zeros], first, &mut *values))
            },
            |()| {},
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Storage;
    use crate::scaled::{Granularity, NonFinite, split::tests::samples};
    use crate::stochastic::Stochastic;

    /// Casts cut in many ways give what they give in one go: codes, scales, zero points, reports and values.
    #[test]
    fn parts_change_nothing() {
        let (rows, cols) = (7, 52);
        let n = rows * cols;
        let [floats, poisoned] = samples(n);
        let granularities = [
            Granularity::Tensor,
            Granularity::Axis(0),
            Granularity::Axis(1),
            Granularity::Block { axis: -1, len: 4 },
            Granularity::Block { axis: -1, len: 40 },
            Granularity::Block { axis: 0, len: 3 },
            Granularity::Tile { rows: 2, cols: 8 },
        ];
        let stored = [
            (DType::UInt8, Storage::Byte),
            (DType::Int16, Storage::Byte),
            (DType::UInt4, Storage::Packed),
            (DType::Int4, Storage::Byte),
            (DType::Int2, Storage::Packed),
        ];
        for (granularity, (element, storage)) in
            granularities.into_iter().flat_map(|granularity| stored.map(|stored| (granularity, stored)))
        {
            let scheme = Scheme { granularity, element, ..Scheme::UINT8_ROW };
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[rows, cols])
                .expect("fits")
                .with_storage(storage)
                .with_squared_error()
                .with_counts();
            for (plan, floats) in [
                (plan.clone(), &floats),
                (plan.clone().stochastic(Stochastic::default()).starting_at(9), &floats),
                (plan, &poisoned),
            ] {
                let src: &[u8] = bytemuck::cast_slice(floats);
                let buffers = || [plan.data_len(), plan.scales_len(), plan.zeros_len()].map(|n| vec![1; n]);
                let [mut data, mut scales, mut zeros] = buffers();
                let report = plan.quantize_min_max(src, &mut data, &mut scales, &mut zeros).expect("casts");
                let mut values = vec![0; 2 * n];
                let to = Encoding::from(DType::BFloat16);
                plan.dequantize_min_max(&data, &scales, &zeros, to, &mut values).expect("casts");
                for target in [8, 52, 130, 1000] {
                    let [mut codes, mut its, mut points] = buffers();
                    let of = [&mut codes[..], &mut its[..], &mut points[..]];
                    let got = plan.quantize_min_max_split(&InOrder(src, 4), &Alone, target, of);
                    assert!(
                        got == Ok(report) && codes == data && its == scales && points == zeros,
                        "{scheme:?} by {target}: {got:?} {report:?}"
                    );
                    let mut back = vec![0; 2 * n];
                    plan.dequantize_min_max_split(&Alone, target, [&data, &scales, &zeros], to, &mut back)
                        .expect("casts");
                    assert!(back == values, "{scheme:?} by {target}");
                }
            }
        }
    }

    /// The first block that is refused is reported, whichever part it is in.
    #[test]
    fn refusals_name_blocks_of_the_whole() {
        let mut src = vec![1.0_f32; 9000];
        (src[8000], src[8900]) = (f32::NAN, f32::NAN);
        for (granularity, block) in
            [(Granularity::Block { axis: -1, len: 32 }, 250), (Granularity::Tensor, 0)]
        {
            let scheme = Scheme { granularity, ..Scheme::UINT8_ROW }.with_non_finite(NonFinite::Refuse);
            let plan = ScaledPlan::new(DType::Float32, &scheme, &[9000]).expect("fits");
            let (mut data, mut scales) = (vec![0; 9000], vec![0; plan.scales_len()]);
            let mut zeros = vec![0; plan.zeros_len()];
            for target in [32, 6000, 9000] {
                let from = InOrder(bytemuck::cast_slice(&src), 4);
                let buffers = [&mut data[..], &mut scales[..], &mut zeros[..]];
                let got = plan.quantize_min_max_split(&from, &Alone, target, buffers);
                assert_eq!(got, Err(ScaledError::NonFinite { block }), "{granularity:?} by {target}");
            }
        }
    }
}

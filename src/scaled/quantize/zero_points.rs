//! Integers with a zero point: asymmetric quantization.
//!
//! A value is `(q - z) s`. The range of a block, widened to contain 0, becomes the range of the integers: `s` is its width over theirs, rounded
//! once to the dtype of the scales, and `z` the integer nearest to `least - lo / s`. A code is `round(x / s) + z`, saturated, rounded before `z`
//! is added, as in ONNX.

use super::{
    super::{
        elements::Elements,
        error::ScaledError,
        packing::put,
        parts::{Cut, TOO_LARGE, next},
        quantized::{Parts, PartsMut},
        report::Report,
        resolved::{Resolved, guarded},
        rule::Rule,
        scheme::NonFinite,
        team::Team,
    },
    affine::{Affine, Limits},
    done::Done,
};
use alloc::{vec, vec::Vec};
use lanecast_kernels::Encoding;

impl Resolved {
    /// Scales and casts a tensor to integers with zero points.
    pub(super) fn quantize_zero_points(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        to: PartsMut<'_>,
    ) -> Result<Report, ScaledError> {
        // The zero points of a part need not begin at a whole byte: they are packed at the end.
        let mut unpacked = Vec::new();
        let PartsMut { data, scales, zeros } = to;
        let its = match self.data == Encoding::new(self.scheme.element) {
            true => &mut *zeros,
            false => {
                unpacked.resize(self.scales(), 0);
                &mut unpacked[..]
            }
        };
        let report = self.quantize_unpacked(from, team, [data, scales, its])?;
        if !unpacked.is_empty() {
            put(self.data, &unpacked, 0..self.scales(), zeros);
        }
        Ok(report)
    }

    /// The same with zero points of whole bytes.
    fn quantize_unpacked(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        [mut data, mut scales, mut zeros]: [&mut [u8]; 3],
    ) -> Result<Report, ScaledError> {
        let rule = guarded(|| Rule::of_global(self, 1.0));
        let mut all = Done::new(self);
        let (of_scale, of_zero) = (self.scale_size(), self.scheme.element.size());
        let (with_blocks, within) = (self.cut(team.part, false), self.cut(team.part, true));
        let large = with_blocks.largest() > team.part.saturating_mul(TOO_LARGE);
        if large && within.largest() < with_blocks.largest() {
            let limits = self.limits_by_parts(from, team)?;
            let mut made = Vec::new();
            guarded(|| self.affine(&rule, &limits, [scales, zeros], &mut made, &mut all.report))?;
            return self.affine_by_parts((from, team), &rule, &made, data, all);
        }
        let jobs = with_blocks.parts().map(|part| {
            let codes = next(&mut data, self.codes_in(part.elements.len()));
            let its = next(&mut scales, part.scales.len() * of_scale);
            let points = next(&mut zeros, part.scales.len() * of_zero);
            (part, [codes, its, points])
        });
        team.run(
            jobs,
            |(part, [codes, scales, zeros]), memory| {
                let (plan, first) = (self.of_part(&part), part.scales.start);
                let src = from.get(part.elements, memory)?;
                guarded(|| plan.quantize_with_zeros(src, &rule, [&mut *codes, &mut *scales, &mut *zeros]))
                    .map_err(|error| error.after(first))
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report(self, &rule)))
    }

    /// Casts with given scales and zero points.
    pub(super) fn quantize_by_zero_points(
        &self,
        from: &Elements<'_>,
        team: &Team<'_>,
        (data, by): (&mut [u8], Parts<'_>),
    ) -> Result<Report, ScaledError> {
        let rule = guarded(|| Rule::of_global(self, 1.0));
        let made = guarded(|| self.given_affine(&rule, by))?;
        if self.scheme.non_finite == NonFinite::Refuse {
            let limits = self.limits_by_parts(from, team)?;
            if let Some(block) = limits.iter().position(Limits::has_non_finite) {
                return Err(ScaledError::NonFinite { block });
            }
        }
        self.affine_by_parts((from, team), &rule, &made, data, Done::new(self))
    }

    /// Casts all elements with scales and zero points that are there.
    fn affine_by_parts(
        &self,
        (from, team): (&Elements<'_>, &Team<'_>),
        rule: &Rule<'_>,
        made: &[Affine],
        mut data: &mut [u8],
        mut all: Done,
    ) -> Result<Report, ScaledError> {
        let jobs = self.cut(team.part, true).parts().map(|part| {
            let codes = next(&mut data, self.codes_in(part.elements.len()));
            (part, codes)
        });
        team.run(
            jobs,
            |(part, codes), memory| {
                let (plan, src) = (self.of_part(&part), from.get(part.elements, memory)?);
                let mut done = Done::new(self);
                let made = &made[part.scales];
                guarded(|| plan.affine_codes(src, 0..plan.elements(), 0, made, codes, &mut done))?;
                Ok(done)
            },
            |done| all.add(done),
        )?;
        Ok(guarded(|| all.report(self, rule)))
    }

    /// The ranges of all blocks, part by part.
    fn limits_by_parts(&self, from: &Elements<'_>, team: &Team<'_>) -> Result<Vec<Limits>, ScaledError> {
        let mut all = vec![Limits::default(); self.scales()];
        team.run(
            Cut::new(self.blocks, team.part, true, 8).parts(),
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
}
